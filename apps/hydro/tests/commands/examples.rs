//! Examples of the help texts.

use greenup_testing::examples::{Examples, Plan};

const PLAN: Plan = Plan {
    elsewhere: &[("cuda", "a GPU"), ("mpirun", "an MPI")],
    slow: &[],
    instead: &[
        ("--refine 3", "--refine 1"),
        ("--problem noh", "--problem noh --refine 1"),
        ("--orders 2,3 --window 500ms", "--orders 2 --window 50ms"),
        ("--window 300ms", "--window 50ms"),
    ],
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
