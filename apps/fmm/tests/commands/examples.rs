//! Examples of the help texts.

use greenup_testing::examples::{Examples, Plan};

const PLAN: Plan = Plan {
    elsewhere: &[("cuda", "a GPU"), ("explain", "the program greenup")],
    slow: &["fmm tune"],
    instead: &[("1000000", "20000"), ("-n 5000", "-n 500")],
};

fn examples() -> Examples {
    Examples::of(assert_cmd::cargo::cargo_bin!("fmm"), "fmm")
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
