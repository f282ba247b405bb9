//! Examples of the help texts and the guide.

use greenup_testing::examples::Plan;

const PLAN: Plan = Plan {
    elsewhere: &[
        ("one.json", "runs of the user"),
        ("scaling study", "the applications"),
        ("--study", "a study of the user"),
    ],
    slow: &[],
    instead: &[],
    pages: &["docs/explain.md", "docs/study.md"],
};

greenup_testing::tests_of_examples!("greenup-scaling", "greenup scaling", PLAN);
