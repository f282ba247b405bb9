//! Examples of the help texts.

use greenup_testing::examples::{Examples, Plan};

const PLAN: Plan = Plan {
    elsewhere: &[("cuda", "a GPU"), ("mpirun", "an MPI")],
    slow: &[],
    instead: &[("--refine 3", "--refine 1")],
};

fn examples() -> Examples {
    Examples::of(assert_cmd::cargo::cargo_bin!("hydro"), "hydro")
}

#[test]
fn every_help_has_examples_that_are_understood() {
    examples().are_understood();
}

#[test]
fn examples_run() {
    examples().run(&PLAN, false);
}
