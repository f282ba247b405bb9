//! What was tuned before: made, found again, listed.

use crate::args::GemmArgs;
use crate::found;
use crate::search::{self, Spread};
use greenup_app::error::Result;
use greenup_app::print;
use greenup_device::CpuFacts;
use greenup_gemm::{Known, Size, Wisdom, family};
use greenup_report::si::si;
use greenup_space::Value;
use greenup_tune::Problem;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tunes for a size; `None` when the user stopped it before anything was found.
pub fn tuned(
    args: &GemmArgs,
    problem: &Problem,
    file: &Path,
    size: Size,
    cpu: &CpuFacts,
    cache: &Path,
) -> Result<Option<Known>> {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs());
    let dir: PathBuf = args
        .out
        .clone()
        .unwrap_or_else(|| cache.join(format!("sweep-{}x{}x{}-{seconds}", size.m, size.n, size.k)));
    let done = search::sweep(
        problem,
        file,
        &args.search,
        &Spread::default(),
        &dir,
        args.json,
    )?;
    if !args.json {
        found::print(&done);
    }
    found::interrupted(&done.found);
    Ok(done.found.finalists.first().map(|best| Known {
        device: cpu.model.clone(),
        threads: cpu.cores.len(),
        size,
        objective: done.objective.to_string(),
        time_s: best.time_s.median,
        energy_j: best.energy_j.as_ref().map(|e| e.median),
        compiler: done
            .sweep
            .facts
            .more
            .get("compiler")
            .cloned()
            .unwrap_or_default(),
        at: seconds,
        config: problem
            .space
            .names()
            .zip(&best.config)
            .map(|(n, v)| (n.to_owned(), toml_value(v)))
            .collect(),
    }))
}

fn toml_value(v: &Value) -> toml::Value {
    match v {
        Value::Int(i) => toml::Value::Integer(*i),
        Value::Bool(b) => toml::Value::Boolean(*b),
        Value::Float(f) => toml::Value::Float(*f),
        other => toml::Value::String(other.to_string()),
    }
}

fn space_value(v: &toml::Value) -> Option<Value> {
    match v {
        toml::Value::Integer(i) => Some(Value::Int(*i)),
        toml::Value::Boolean(b) => Some(Value::Bool(*b)),
        toml::Value::Float(f) => Some(Value::Float(*f)),
        _ => None,
    }
}

/// The config to use, and where it comes from.
pub fn choose(
    wisdom: &Wisdom,
    problem: &Problem,
    cpu: &CpuFacts,
    size: Size,
    objective: &str,
) -> Result<(Vec<Value>, String)> {
    let nearest = wisdom.nearest(&cpu.model, cpu.cores.len(), size, objective);
    if let Some(k) = nearest {
        let config: Option<Vec<Value>> = problem
            .space
            .names()
            .map(|n| k.config.get(n).and_then(space_value))
            .collect();
        match config {
            Some(c) => {
                let of = if k.size == size {
                    "wisdom of this size".to_owned()
                } else {
                    format!("wisdom of {}", k.size)
                };
                return Ok((c, of));
            }
            None => print::warn(format!(
                "the wisdom of {} is of another version of the kernels; tune again",
                k.size
            )),
        }
    }
    Ok((
        family::untuned(problem, cpu),
        "no wisdom: a guess; --tune finds better".into(),
    ))
}

/// Shows the whole file.
pub fn list(wisdom: &Wisdom, path: &Path, json: bool) -> Result {
    if json {
        return print::json(wisdom);
    }
    print::note(format!("{}", path.display()));
    if wisdom.known.is_empty() {
        print::note("holds nothing yet; `greenup gemm --n 2048 --tune` adds to it");
        return Ok(());
    }
    let rows = wisdom
        .known
        .iter()
        .map(|k| {
            vec![
                k.device.clone(),
                k.threads.to_string(),
                k.size.to_string(),
                k.objective.clone(),
                si(k.time_s, "s"),
                si(k.size.flops() / k.time_s, "flop/s"),
                k.energy_j.map_or("–".into(), |e| si(e, "J")),
                print::named(&k.config),
            ]
        })
        .collect();
    print::table(
        &[
            "device",
            "threads",
            "size",
            "objective",
            "time",
            "rate",
            "energy",
            "config",
        ],
        rows,
    );
    Ok(())
}
