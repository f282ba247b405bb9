//! Examples of the help texts.

use greenup_testing::examples::{Examples, Plan};

const PLAN: Plan = Plan {
    elsewhere: &[
        ("one.json", "runs of the user"),
        ("scaling study", "the applications"),
        ("--study", "a study of the user"),
    ],
    slow: &[],
    instead: &[],
};

#[test]
fn every_help_has_examples_that_are_understood_and_run() {
    let program = assert_cmd::cargo::cargo_bin!("greenup-scaling");
    let examples = Examples::of(program, "greenup scaling");
    examples.are_understood();
    examples.run(&PLAN, false);
}
