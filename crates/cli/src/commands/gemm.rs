//! `greenup gemm`.

use crate::args::GemmArgs;
use crate::error::{CliError, Result};
use crate::progress::Bars;
use crate::{folders, out, search};
use greenup_calibrate::bench::{Bench, Kind, Level};
use greenup_device::{CpuFacts, Team};
use greenup_gemm::{
    Cblas, Contest, Faer, GemmError, Kernel, Known, Matrices, Product, Size, Wisdom, contest,
    family,
};
use greenup_model::Op;
use greenup_report::si::{percent, si};
use greenup_space::Value;
use greenup_tune::Problem;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Serialize)]
struct Answer<'a> {
    size: Size,
    threads: usize,
    device: &'a str,
    /// Where the config of the first entry comes from.
    source: String,
    config: Vec<(String, Value)>,
    flops: f64,
    #[serde(flatten)]
    contest: &'a Contest,
}

fn failed(e: GemmError) -> CliError {
    let out = CliError::new(e.to_string());
    match e {
        GemmError::Compile(_) => {
            out.hint("`greenup gemm` builds its kernels with `cc`, which must know -fopenmp")
        }
        GemmError::Library { .. } => {
            out.hint("give the path of a shared library with the C interface of BLAS")
        }
        GemmError::Wisdom { .. } => {
            out.hint("mend or remove the file, or name another with --wisdom")
        }
        _ => out,
    }
}

pub fn run(args: &GemmArgs) -> Result {
    let cpu = CpuFacts::read();
    let threads = cpu.cores.len();
    let path = match &args.wisdom {
        Some(p) => p.clone(),
        None => folders::data()?.join("gemm.toml"),
    };
    let mut wisdom = Wisdom::read(&path).map_err(failed)?;
    if args.list {
        return list(&wisdom, &path, args.json);
    }
    let size = Size {
        m: args.m.unwrap_or(args.n),
        n: args.n,
        k: args.k.unwrap_or(args.n),
    };
    fits(size, &cpu)?;
    let cache = folders::cache()?.join("gemm");
    let file = family::unpack(&cache.join("family")).map_err(failed)?;
    let problem = search::problem(&file, &family::constants(size))?;
    let objective = args
        .search
        .objective
        .first()
        .copied()
        .unwrap_or(problem.objective)
        .to_string();
    if args.tune {
        let Some(known) = tuned(args, &problem, &file, size, &cpu, &cache)? else {
            return Ok(());
        };
        wisdom.keep(known);
        wisdom.write(&path).map_err(failed)?;
        out::note(format!("kept in {}", path.display()));
    }
    let (config, source) = choose(&wisdom, &problem, &cpu, size, &objective)?;

    let own =
        Kernel::build(&problem, &config, "greenup", &cache.join("kernels")).map_err(failed)?;
    let faer = Faer { threads };
    let rivals: Vec<Cblas> = args
        .against
        .iter()
        .map(|p| Cblas::open(p, threads).map_err(failed))
        .collect::<Result<_>>()?;
    let mut all: Vec<&dyn Product> = vec![&own, &faer];
    all.extend(rivals.iter().map(|r| r as &dyn Product));
    let team = Team::new(&cpu.cores);
    let fma = Bench {
        kind: Kind::F64(480),
        level: Level::L1,
        threads,
    }
    .prepare(&cpu, &team);
    let peak = fma.as_ref().map(|b| {
        || {
            let run = b.run(0.05);
            b.work.count(Op::F64) * run.iterations / run.seconds
        }
    });
    let mut x = Matrices::random(size, args.search.seed);
    let result = {
        let bars = Bars::new();
        contest(
            &all,
            &mut x,
            args.rounds.max(1),
            0.1,
            peak.as_ref().map(|p| p as &dyn Fn() -> f64),
            &bars,
        )
        .map_err(failed)?
    };
    let named: Vec<(String, Value)> = problem
        .space
        .names()
        .map(str::to_owned)
        .zip(config)
        .collect();
    if args.json {
        return out::json(&Answer {
            size,
            threads,
            device: &cpu.model,
            source,
            config: named,
            flops: size.flops(),
            contest: &result,
        });
    }
    print(size, threads, &cpu.model, &source, &named, &result);
    Ok(())
}

/// Refuses sizes that mean nothing or that do not fit in memory.
fn fits(size: Size, cpu: &CpuFacts) -> Result {
    if size.m == 0 || size.n == 0 || size.k == 0 {
        return Err(CliError::new("a matrix with no rows or columns")
            .hint("give --n, --m and --k of at least 1"));
    }
    let bytes = size.bytes();
    let memory = cpu.memory_bytes.unwrap_or(u64::MAX) as f64;
    if bytes > 0.8 * memory {
        return Err(CliError::new(format!(
            "the matrices take {}, this host has {}",
            si(bytes, "B"),
            si(memory, "B")
        ))
        .hint("choose smaller ones"));
    }
    Ok(())
}

/// Tunes for a size; `None` when the user stopped it before anything was found.
fn tuned(
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
    let done = search::sweep(problem, file, &args.search, &dir, args.json)?;
    if !args.json {
        search::print(&done);
    }
    search::interrupted(&done.found);
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
fn choose(
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
            None => out::warn(format!(
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

fn list(wisdom: &Wisdom, path: &Path, json: bool) -> Result {
    if json {
        return out::json(wisdom);
    }
    out::note(format!("{}", path.display()));
    if wisdom.known.is_empty() {
        out::note("holds nothing yet; `greenup gemm --n 2048 --tune` adds to it");
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
                k.config
                    .iter()
                    .map(|(n, v)| format!("{n}={v}"))
                    .collect::<Vec<_>>()
                    .join(" "),
            ]
        })
        .collect();
    out::table(
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

fn print(
    size: Size,
    threads: usize,
    device: &str,
    source: &str,
    config: &[(String, Value)],
    result: &Contest,
) {
    out::line(format!(
        "C += A·B, {size}, f64, {threads} threads on {device}"
    ));
    let config: Vec<String> = config.iter().map(|(n, v)| format!("{n}={v}")).collect();
    out::line(format!("kernel: {} ({source})", config.join(" ")));
    let peak = result.peak_flops_per_s.as_ref().map(|p| p.median);
    let rows = result
        .entries
        .iter()
        .map(|e| {
            let rate = size.flops() / e.time_s.median;
            vec![
                e.name.clone(),
                si(e.time_s.median, "s"),
                format!("{} … {}", si(e.time_s.lo, "s"), si(e.time_s.hi, "s")),
                si(rate, "flop/s"),
                peak.map_or("–".into(), |p| percent(rate / p)),
                e.ratio.as_ref().map_or("".into(), |s| {
                    format!("×{:.3} [{:.3} … {:.3}]", s.median, s.lo, s.hi)
                }),
                format!("{:.1e}", e.error),
            ]
        })
        .collect();
    out::table(
        &[
            "",
            "time",
            "[95 %]",
            "rate",
            "of peak",
            "time to greenup's",
            "error",
        ],
        rows,
    );
    if let Some(p) = &result.peak_flops_per_s {
        out::line(format!(
            "peak: {} of multiply–adds in registers, in the same rounds [{} … {}]",
            si(p.median, "flop/s"),
            si(p.lo, "flop/s"),
            si(p.hi, "flop/s")
        ));
    }
}
