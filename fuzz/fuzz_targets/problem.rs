//! Any text as a problem of the tuner: it is read or refused; nothing is compiled or run. Scripts are left out: they
//! may run for as long as their budget.
#![no_main]

use greenup_fuzz::Folder;
use greenup_space::{Facts, Value};
use greenup_tune::Problem;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// Sources of the problems among the seeds.
const SOURCES: [&str; 8] = [
    "kernel.c",
    "kernel.cu",
    "reference.c",
    "stencil.c",
    "spmv.c",
    "matrix.c",
    "dgemm.c",
    "tune.c",
];

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new(&SOURCES.map(|s| (s, &b""[..]))));

fuzz_target!(|text: &str| {
    if text.contains("script") {
        return;
    }
    let path = FOLDER.put("problem.toml", text.as_bytes());
    let facts: Facts = [
        ("cores", 2),
        ("threads", 2),
        ("vector_bytes", 64),
        ("vector_registers", 32),
        ("l1d_bytes", 48 << 10),
        ("l2_bytes", 1 << 20),
        ("llc_bytes", 1 << 25),
    ]
    .map(|(name, v)| (name.to_owned(), Value::Int(v)))
    .into();
    if let Ok(p) = Problem::read(&path, &facts) {
        let config: Vec<Value> = p.space.names().map(|_| Value::Int(1)).collect();
        let _ = (p.work(&config), p.defines(&config));
    }
});
