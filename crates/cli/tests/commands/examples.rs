//! Examples of the help texts.

use greenup_testing::examples::Plan;

const PLAN: Plan = Plan {
    elsewhere: &[
        ("cuda", "a GPU"),
        ("sm_90", "NVRTC"),
        ("kernel.cu", "NVRTC, and a file of the user"),
        ("FILE", "a file of the user"),
        ("./app", "a program of the user"),
        ("train", "a program of the user"),
        ("words.txt", "a file of the user"),
        ("regions.jsonl", "a file of the user"),
        ("rank-", "files of the user"),
        ("…", "a part of a command"),
        ("libopenblas", "libraries"),
        ("dgemm_gpu", "a GPU"),
        ("sweeps/part-", "sweeps of the user"),
        ("sweeps/all", "sweeps of the user"),
        ("sweeps/mine", "a sweep of the user"),
        ("SLURM", "a job array"),
        ("cluster.toml", "a file of the user"),
        ("ssh", "another host"),
        ("cc $(greenup best", "a source of the user"),
        ("gpu.csv", "a log of the user"),
        ("dmon.txt", "a log of the user"),
        ("meter.csv", "a log of the user"),
        ("counted.csv", "a table of the user"),
        ("clblast_", "a file of the user"),
        ("database.json", "a file of the user"),
        ("ktt-results", "a file of the user"),
        ("--install", "the library of regions"),
        ("convolution_", "recordings on several devices"),
        ("3f9a", "an entry of the user"),
    ],
    slow: &[
        "greenup study",
        "study/machine.toml",
        "greenup calibrate",
        "--tune",
        "greenup scale ",
        "--clocked",
        "zen5_dgemm_2048 --out",
        "decoy:1",
    ],
    instead: &[
        ("--budget 60s", "--budget 6"),
        ("--budget 20s", "--budget 4"),
        ("--n 2048", "--n 128"),
    ],
};

greenup_testing::tests_of_examples!("greenup", "greenup", PLAN);
