//! `greenup gemm`.

mod wisdom;

use crate::args::GemmArgs;
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::{folders, pool, print, sensors, wisdom as user};
use greenup_calibrate::bench::Bench;
use greenup_device::{CpuFacts, Team};
use greenup_files::Outputs;
use greenup_gemm::{
    Cblas, Comparison, Faer, GemmError, Kernel, Matrices, Product, Size, compare, family,
    wisdom::choose,
};
use greenup_model::Op;
use greenup_report::si::si;
use greenup_report::text;
use greenup_space::Value;
use greenup_study::pages::study::tuning::columns;
use greenup_tune::problem::ProblemFile;
use greenup_wisdom::lookup::Used;
use serde::Serialize;

#[derive(Serialize)]
struct GemmJson<'a> {
    size: Size,
    threads: usize,
    device: &'a str,
    /// Where the config of the first entry comes from.
    source: String,
    /// The entry of wisdom.
    wisdom: Option<Used>,
    config: Vec<(String, Value)>,
    flops: f64,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

fn failed(e: GemmError) -> AppError {
    let out = AppError::new(e.to_string());
    match e {
        GemmError::File(e) => e.into(),
        GemmError::Compile(_) => {
            out.hint("`greenup gemm` builds its kernels with `cc`, which must know -fopenmp")
        }
        GemmError::Library { .. } => {
            out.hint("give the path of a shared library with the C interface of BLAS")
        }
        _ => out,
    }
}

pub fn run(args: &GemmArgs) -> Result {
    let cpu = CpuFacts::read();
    let threads = cpu.cores.len();
    if args.tune {
        let mut outputs = Outputs::new();
        sensors::input(args.search.sensor.sensor.as_deref(), &mut outputs);
        if let Some(path) = user::path()? {
            outputs.file(&path, &[])?;
        }
        // A file that cannot be used ends the command before the search.
        user::load()?;
    }
    if args.list {
        return crate::commands::wisdom::list_problem("dgemm", args.json);
    }
    let size = Size {
        m: args.m.unwrap_or(args.n),
        n: args.n,
        k: args.k.unwrap_or(args.n),
    };
    fits(size, &cpu)?;
    // Of faer's kernel.
    pool::start(None)?;
    let cache = folders::cache()?.join("gemm");
    let file = family::unpack(&cache.join("family")).map_err(failed)?;
    let file = ProblemFile::read(&file)?;
    let mut problem = search::problem(&file, &family::constants(size), None)?;
    let objective = args
        .search
        .objective
        .first()
        .copied()
        .unwrap_or(problem.objective)
        .to_string();
    if args.tune {
        let used = choose(&user::load()?, &problem, &cpu, size, &objective).config;
        let Some(same) = wisdom::tuned(args, problem, file.path, size, &cache, used)? else {
            return Ok(());
        };
        problem = same;
    }
    let known = user::load()?;
    let chosen = choose(&known, &problem, &cpu, size, &objective);
    for (id, reason) in &chosen.rejected {
        print::warn(format!("entry {id} of the wisdom is passed over: {reason}"));
    }
    if let Some(used) = &chosen.used {
        print::note(format!("wisdom: entry {}, {}", used.id, used.origin));
    }
    let (config, source) = (chosen.config, chosen.source);

    let own =
        Kernel::build(&problem, &config, "greenup", &cache.join("kernels")).map_err(failed)?;
    let faer = Faer { threads };
    let libraries: Vec<Cblas> = args
        .against
        .iter()
        .map(|p| Cblas::open(p, threads).map_err(failed))
        .collect::<Result<_>>()?;
    let mut all: Vec<&dyn Product> = vec![&own, &faer];
    all.extend(libraries.iter().map(|r| r as &dyn Product));
    let team = Team::new(&cpu.cores);
    let fma = Bench::f64_peak(threads).prepare(&cpu, &team, &|| true);
    let peak = fma.as_ref().map(|b| || b.rate(Op::F64, 0.05));
    let mut x = Matrices::random(size, args.search.seed);
    let result = {
        let bars = Bars::new();
        compare(
            &all,
            &mut x,
            args.search.rounds.unwrap_or(15),
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
        return print::json(&GemmJson {
            size,
            threads,
            device: &cpu.model,
            source,
            wisdom: chosen.used,
            config: named,
            flops: size.flops(),
            comparison: &result,
        });
    }
    print(size, threads, &cpu.model, &source, &named, &result);
    Ok(())
}

/// Refuses sizes that mean nothing or that do not fit in memory.
fn fits(size: Size, cpu: &CpuFacts) -> Result {
    if size.m == 0 || size.n == 0 || size.k == 0 {
        return Err(AppError::new("a matrix with no rows or columns")
            .hint("give --n, --m and --k of at least 1"));
    }
    let bytes = size.bytes();
    let memory = cpu.memory_bytes.unwrap_or(u64::MAX) as f64;
    if bytes > 0.8 * memory {
        return Err(AppError::new(format!(
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
    result: &Comparison,
) {
    print::line(format!(
        "C += A·B, {size}, f64, {threads} threads on {device}"
    ));
    let config = text::named(config.iter().map(|(n, v)| (n, v)));
    print::line(format!("kernel: {} ({source})", config));
    print::table(&columns(size, result).table("", &result.entries));
    if let Some(p) = &result.peak_flops_per_s {
        print::line(format!(
            "peak: {} of multiply–adds in registers, in the same rounds [{} … {}]",
            si(p.median, "flop/s"),
            si(p.lo, "flop/s"),
            si(p.hi, "flop/s")
        ));
    }
}
