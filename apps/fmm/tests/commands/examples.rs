//! Examples of the help texts and the guide.

use greenup_testing::examples::Plan;

const PLAN: Plan = Plan {
    elsewhere: &[
        ("cuda", "a GPU"),
        ("explain", "the program greenup"),
        ("mine.toml", "a machine of the user"),
    ],
    slow: &["fmm tune"],
    instead: &[
        ("1000000", "20000"),
        ("-n 5000", "-n 500"),
        ("tune -n 100000", "tune -n 10000"),
    ],
    pages: &[
        "docs/commands.md",
        "docs/fmm.md",
        "docs/fmm/methods.md",
        "docs/fmm/parallel.md",
    ],
};

greenup_testing::tests_of_examples!("fmm", "fmm", PLAN);
