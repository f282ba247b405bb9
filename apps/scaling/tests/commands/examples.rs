//! Examples of the help texts.

use greenup_testing::examples::Plan;

const PLAN: Plan = Plan {
    elsewhere: &[
        ("one.json", "runs of the user"),
        ("scaling study", "the applications"),
        ("--study", "a study of the user"),
    ],
    slow: &[],
    instead: &[],
};

greenup_testing::tests_of_examples!("greenup-scaling", "greenup scaling", PLAN);
