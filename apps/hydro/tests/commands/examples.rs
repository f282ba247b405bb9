//! Examples of the help texts and the guide.

use greenup_testing::examples::Plan;

const PLAN: Plan = Plan {
    elsewhere: &[
        ("cuda", "a GPU"),
        ("mpirun", "an MPI"),
        ("gpu.json", "a study on a GPU"),
    ],
    slow: &[],
    instead: &[
        ("--refine 3", "--refine 1"),
        ("--problem noh", "--problem noh --refine 1"),
        ("--orders 2,3 --window 500ms", "--orders 2 --window 50ms"),
        ("--window 0.5", "--window 0.05"),
        ("--window 300ms", "--window 50ms"),
    ],
    pages: &[
        "docs/commands.md",
        "docs/hydro.md",
        "docs/hydro/pictures.md",
    ],
};

greenup_testing::tests_of_examples!("hydro", "hydro", PLAN);
