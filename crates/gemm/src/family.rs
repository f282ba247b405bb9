//! The kernel family as a tuning problem, and its default config.

use crate::{GemmError, Size};
use greenup_device::CpuFacts;
use greenup_files::Cache;
use greenup_space::Value;
use greenup_tune::Problem;
use greenup_tune::session::device_facts;
use std::path::{Path, PathBuf};

/// The files of the problem, as shipped.
const FILES: [(&str, &str); 3] = [
    ("problem.toml", include_str!("kernels/problem.toml")),
    ("dgemm.c", include_str!("kernels/dgemm.c")),
    ("reference.c", include_str!("kernels/reference.c")),
];

/// Constants of the problem that set the size.
pub fn constants(size: Size) -> Vec<(String, toml::Value)> {
    [("size_m", size.m), ("size_n", size.n), ("size_k", size.k)]
        .map(|(name, v)| {
            (
                name.to_owned(),
                toml::Value::Integer(i64::try_from(v).unwrap_or(i64::MAX)),
            )
        })
        .into()
}

/// Writes the problem's files into `dir`; returns the problem file.
///
/// # Errors
/// The folder cannot be written.
pub fn unpack(dir: &Path) -> Result<PathBuf, GemmError> {
    write(dir, &FILES)
}

/// Writes files into `dir`; returns the path of the first. The folder is private, as its files are compiled and run.
pub(crate) fn write(dir: &Path, files: &[(&str, &str)]) -> Result<PathBuf, GemmError> {
    let cache = Cache::open(dir)?;
    for (name, text) in files {
        let path = cache.folder().join(name);
        // Another process may be reading them: leave them alone when they are right.
        if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            greenup_files::write(&path, text)?;
        }
    }
    Ok(dir.join(files[0].0))
}

/// Writes the problem's files into `dir` and reads the problem for a size.
///
/// # Errors
/// The folder cannot be written, or the problem is invalid.
pub fn problem(dir: &Path, size: Size, cpu: &CpuFacts) -> Result<Problem, GemmError> {
    let problem = unpack(dir)?;
    Ok(Problem::read_with(
        &problem,
        &device_facts::of_cpu(cpu),
        &constants(size),
    )?)
}

/// A default config for use without wisdom, in the order of the problem's parameters: the widest register tile that
/// fits, and a block of A that fills half of the level-2 cache.
pub fn untuned(problem: &Problem, cpu: &CpuFacts) -> Vec<Value> {
    let named = |name: &str| {
        cpu.named()
            .into_iter()
            .find_map(|(n, v)| (n == name).then_some(v))
    };
    let many = named("vector_registers").unwrap_or(16) >= 32;
    let (mr, nv) = if many { (8, 3) } else { (4, 3) };
    let kc = 256;
    let l2 = named("l2_bytes").unwrap_or(256 << 10);
    let tiles = [32, 24, 16, 12, 8, 6]
        .into_iter()
        .find(|t| 8 * kc * mr * t <= l2 / 2)
        .unwrap_or(4);
    problem
        .space
        .names()
        .map(|name| match name {
            "mr" => Value::Int(mr),
            "nv" => Value::Int(nv),
            "kc" => Value::Int(kc),
            "mc_tiles" => Value::Int(tiles),
            "nc" => Value::Int(2048),
            "nthreads" => Value::Int(cpu.cores.len() as i64),
            "unroll_by" => Value::Int(1),
            "ahead" => Value::Int(0),
            _ => Value::Bool(true),
        })
        .collect()
}
