//! Examples of the help texts.

use greenup_testing::examples::Plan;

const PLAN: Plan = Plan {
    elsewhere: &[("cuda", "a GPU")],
    slow: &["gisaxs study"],
    instead: &[],
};

greenup_testing::tests_of_examples!("gisaxs", "gisaxs", PLAN);
