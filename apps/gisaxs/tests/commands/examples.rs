//! Examples of the help texts.

use greenup_testing::examples::{Examples, Plan};

const PLAN: Plan = Plan {
    elsewhere: &[("cuda", "a GPU")],
    slow: &["gisaxs study"],
    instead: &[],
};

fn examples() -> Examples {
    Examples::of(assert_cmd::cargo::cargo_bin!("gisaxs"), "gisaxs")
}

#[test]
fn every_help_has_examples_that_are_understood() {
    examples().are_understood();
}

#[test]
fn examples_run() {
    examples().run(&PLAN, false);
}

#[test]
#[ignore = "slow: minutes"]
fn long_examples_run_at_length() {
    examples().run(&PLAN, true);
}
