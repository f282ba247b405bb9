//! `greenup gemm`.

mod wisdom;

use crate::args::GemmArgs;
use crate::error::{CliError, Result};
use crate::progress::Bars;
use crate::{choose, folders, out, search};
use greenup_calibrate::bench::Bench;
use greenup_device::{CpuFacts, Team};
use greenup_files::Outputs;
use greenup_gemm::{
    Cblas, Contest, Faer, GemmError, Kernel, Matrices, Product, Size, Wisdom, contest, family,
};
use greenup_model::Op;
use greenup_report::si::{percent, si};
use greenup_space::Value;
use serde::Serialize;

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
        GemmError::File(e) => e.into(),
        GemmError::Compile(_) => {
            out.hint("`greenup gemm` builds its kernels with `cc`, which must know -fopenmp")
        }
        GemmError::Library { .. } => {
            out.hint("give the path of a shared library with the C interface of BLAS")
        }
        GemmError::Wisdom { .. } => {
            out.hint("fix or remove the file, or name another with --wisdom")
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
    let mut kept = Wisdom::read(&path).map_err(failed)?;
    if args.tune {
        let mut outputs = Outputs::new();
        choose::input(args.search.sensor.sensor.as_deref(), &mut outputs);
        outputs.file(&path, &[])?;
    }
    if args.list {
        return wisdom::list(&kept, &path, args.json);
    }
    let size = Size {
        m: args.m.unwrap_or(args.n),
        n: args.n,
        k: args.k.unwrap_or(args.n),
    };
    fits(size, &cpu)?;
    let cache = folders::cache()?.join("gemm");
    let file = family::unpack(&cache.join("family")).map_err(failed)?;
    let problem = search::problem(&file, &family::constants(size), None)?;
    let objective = args
        .search
        .objective
        .first()
        .copied()
        .unwrap_or(problem.objective)
        .to_string();
    if args.tune {
        let Some(known) = wisdom::tuned(args, &problem, &file, size, &cpu, &cache)? else {
            return Ok(());
        };
        // Another process may have added to it in the meantime.
        kept = Wisdom::read(&path).map_err(failed)?;
        kept.keep(known);
        kept.write(&path).map_err(failed)?;
        out::note(format!("kept in {}", path.display()));
    }
    let (config, source) = wisdom::choose(&kept, &problem, &cpu, size, &objective)?;

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
    let fma = Bench::f64_peak(threads).prepare(&cpu, &team);
    let peak = fma.as_ref().map(|b| || b.rate(Op::F64, 0.05));
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
    let config = out::named(config.iter().map(|(n, v)| (n, v)));
    out::line(format!("kernel: {} ({source})", config));
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
