//! Examples of the help texts.

use greenup_testing::examples::Plan;

const PLAN: Plan = Plan {
    elsewhere: &[("cuda", "a GPU"), ("explain", "the program greenup")],
    slow: &["fmm tune"],
    instead: &[("1000000", "20000"), ("-n 5000", "-n 500")],
};

greenup_testing::tests_of_examples!("fmm", "fmm", PLAN);
