//! Examples of the help texts and the guide.

use greenup_testing::examples::Plan;

const PLAN: Plan = Plan {
    elsewhere: &[
        ("cuda", "a GPU"),
        ("--scaling", "many minutes"),
        ("--cases paper", "many minutes"),
        ("q.csv", "a file of the user"),
        ("blend.toml", "a file of the user"),
        ("host.toml", "a machine of the user"),
        ("wisdom mine", "sweeps of the user"),
    ],
    slow: &["gisaxs study"],
    instead: &[],
    pages: &[
        "docs/commands.md",
        "docs/gisaxs.md",
        "docs/gisaxs/input.md",
        "docs/gisaxs/parallel.md",
    ],
};

greenup_testing::tests_of_examples!("gisaxs", "gisaxs", PLAN);
