//! Examples of the help texts.

use greenup_testing::examples::Plan;

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

greenup_testing::tests_of_examples!("hydro", "hydro", PLAN);
