//! A search on this host or its GPU, as the commands `tune` and `gemm` start it.

use crate::args::{BudgetArg, SearchArgs};
use crate::error::{self, CliError, Result};
use crate::progress::Bars;
use crate::{facts, interrupt, lookup, out, rig};
use greenup_device::CpuFacts;
use greenup_files::AtomicFile;
use greenup_meter::Summary;
use greenup_model::predict;
use greenup_report::si::si;
use greenup_space::{Index, Limits, Stop};
use greenup_tune::sweep::{FolderError, read_any, to_csv, to_t4};
use greenup_tune::{Cost, Found, Objective, Plan, Problem, Sweep, TuneError, strategy, tune};
use std::collections::BTreeMap;
use std::path::Path;

/// What a search gave.
pub struct Searched {
    pub found: Found,
    pub sweep: Sweep,
    /// Of the space.
    pub points: u64,
    pub objective: Objective,
}

/// Reads a problem with some constants changed; the error carries its cure.
pub fn problem(
    file: &Path,
    constants: &[(String, toml::Value)],
    gpu: Option<&str>,
) -> Result<Problem> {
    let facts = facts::facts_for(file, gpu)?;
    Problem::read_with(file, &facts, constants).map_err(|e| {
        let out = CliError::new(e.to_string());
        match e.hint {
            Some(h) => out.hint(h),
            None => out,
        }
    })
}

/// Searches the space of a problem, measures on this host, and writes the sweep into `dir`.
pub fn sweep(
    problem: &Problem,
    file: &Path,
    search: &SearchArgs,
    dir: &Path,
    quiet: bool,
) -> Result<Searched> {
    let limits = Limits {
        cancelled: &interrupt::requested,
        ..Limits::default()
    };
    let index = Index::build(&problem.space, &limits).map_err(|e| match e {
        Stop::Fault(e) => CliError::new(format!("{}: {e}", file.display())),
        Stop::Memory => CliError::new("the space is too large to index")
            .hint("add filters; `greenup space` says what each leaves"),
        Stop::Cancelled => CliError::new("stopped"),
    })?;
    if index.is_empty() {
        return Err(CliError::new(format!(
            "{}: no point of the space passes its filters",
            file.display()
        ))
        .hint(format!(
            "`greenup space {}` says which filter leaves nothing",
            file.display()
        )));
    }
    let objectives = if search.objective.is_empty() {
        vec![problem.objective]
    } else {
        search.objective.clone()
    };
    let rig = rig::rig(
        problem,
        search.gpu.as_deref(),
        search.sensor.sensor.as_deref(),
    )?;
    if rig.sensor.is_none()
        && let Some(o) = objectives.iter().find(|o| o.needs_energy())
    {
        return Err(CliError::new(format!(
            "`{o}` needs energy: {}",
            rig.missing.as_deref().unwrap_or("no sensor")
        ))
        .hint("tune for time, or name a meter with --sensor"));
    }
    if dir.join("sweep.json").exists() && !search.resume {
        return Err(failed(FolderError::Exists(dir.to_owned()).into(), dir));
    }
    let mut method = strategy(
        &search.strategy,
        steering(search, problem, &index, objectives[0])?,
    )
    .map_err(CliError::new)?;
    let n = index.len();
    let (trials, seconds) = match search.budget {
        BudgetArg::Evaluations(k) => (k, f64::INFINITY),
        BudgetArg::Seconds(s) => (usize::MAX, s),
        BudgetArg::Share(x) => (((n as f64 * x).round() as usize).max(1), f64::INFINITY),
    };
    let bars = Bars::new();
    let cpu = CpuFacts::read();
    let plan = Plan {
        objectives: objectives.clone(),
        trials,
        seconds,
        seed: search.seed,
        out: dir,
        resume: search.resume,
        accept: search.accept.clone(),
        launcher: rig.launcher,
        finalists: search.finalists,
        facts: facts(search, &cpu, rig.sensor.as_deref()),
        device: rig.device,
        gpu: rig.gpu,
        control: rig.control,
        observer: &bars,
    };
    if !quiet {
        out::note(format!(
            "{}: {} points, {} by `{}`, into {}",
            problem.space.name,
            out::grouped(u128::from(n)),
            objectives[0],
            search.strategy,
            dir.display()
        ));
    }
    if problem.reference.is_none() {
        out::warn(UNVERIFIED);
    }
    // Ended before anything is printed, so that the bar leaves no trace.
    let result = tune(problem, &index, method.as_mut(), &plan);
    drop(bars);
    let (found, sweep) = result.map_err(|e| failed(e, dir))?;
    exports(&sweep, dir)?;
    Ok(Searched {
        found,
        sweep,
        points: n,
        objective: objectives[0],
    })
}

/// What is recorded beside a sweep, to make it reproducible.
fn facts(search: &SearchArgs, cpu: &CpuFacts, sensor: Option<&str>) -> BTreeMap<String, String> {
    let mut more = BTreeMap::from([
        ("greenup".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("strategy".to_owned(), search.strategy.clone()),
        ("seed".to_owned(), search.seed.to_string()),
        ("cores".to_owned(), cpu.cores.len().to_string()),
        (
            "sensor".to_owned(),
            sensor.unwrap_or("none: time only").to_owned(),
        ),
        (
            "command".to_owned(),
            std::env::args_os()
                .skip(1)
                .map(|a| a.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" "),
        ),
    ]);
    if let Some(g) = &cpu.governor {
        more.insert("governor".into(), g.clone());
    }
    more
}

/// The model's prediction of a point, for the `steered` strategy.
fn steering(
    search: &SearchArgs,
    problem: &Problem,
    index: &Index,
    objective: Objective,
) -> Result<Option<greenup_tune::strategy::Steering>> {
    let Some(name) = &search.machine else {
        return Ok(None);
    };
    if !problem.has_work() {
        return Ok(None);
    }
    let machine = lookup::machine(name)?;
    // Predicted here, so that the strategy holds numbers only.
    let n = index.len().min(1_000_000);
    let table: Vec<Option<f64>> = (0..n)
        .map(|i| {
            let work = problem.work(&index.get(i)?).ok()?;
            let p = predict(&machine, &work).ok()?;
            let cost = Cost {
                time_s: p.time_s,
                energy_j: p.energy_j,
            };
            objective.value(cost, Some(work.flops()))
        })
        .collect();
    if table.iter().all(Option::is_none) {
        return Err(CliError::new(format!(
            "`{name}` cannot predict `{objective}` of this problem's work"
        ))
        .hint("the machine must have every operation class of [work], and energy for energy"));
    }
    Ok(Some(Box::new(move |p| {
        usize::try_from(p).ok().and_then(|i| table.get(i).copied()?)
    })))
}

/// A sweep that ended, with its cure.
pub fn failed(e: TuneError, dir: &Path) -> CliError {
    match e {
        TuneError::File(e) | TuneError::Folder(FolderError::File(e)) => e.into(),
        TuneError::Folder(e) => folder(&e),
        TuneError::Nothing(m) => CliError::new(format!("no trial succeeded: {m}")).hint(format!(
            "every failure stands in {}",
            dir.join("trials.csv").display()
        )),
        e @ TuneError::Environment(_) => CliError::new(e.to_string()).hint(
            "what was measured is kept; repair that and run the command again (a tune with --resume)",
        ),
        e => CliError::new(e.to_string()),
    }
}

/// Said of problems that have no reference.
const UNVERIFIED: &str = "the problem has no [reference]: results are not verified";

/// A sweep's folder that cannot be used, with the fix.
pub fn folder(e: &FolderError) -> CliError {
    let out = CliError::new(e.to_string());
    match e {
        FolderError::File(file) => match file.hint() {
            Some(h) => out.hint(h),
            None => out,
        },
        FolderError::Exists(_) => {
            out.hint("go on with it by --resume, or choose another folder with --out")
        }
        FolderError::Other { .. } => out.hint(
            "choose another folder with --out; or, if trials stay comparable, go on with --resume --accept NAME,… (or all)",
        ),
        FolderError::NoFacts(_) => out.hint(
            "restore its sweep.json, or choose another folder with --out; nothing was changed",
        ),
        FolderError::Broken { .. } => out.hint("restore the file, or choose another folder"),
    }
}

/// Reads a recorded sweep, with a warning for each line that is left out.
pub fn recorded(path: &Path) -> Result<Sweep> {
    let sweep = read_any(path).map_err(|e| CliError::new(e.to_string()))?;
    for w in &sweep.warnings {
        out::warn(w);
    }
    if sweep.facts.verified == Some(false) {
        out::warn("the sweep's results were not verified: its problem had no [reference]");
    }
    Ok(sweep)
}

/// T4 and CSV beside the sweep.
fn exports(sweep: &Sweep, dir: &Path) -> Result {
    error::write(&dir.join("results-t4.json"), to_t4(sweep).text.as_bytes())?;
    csv(sweep, &dir.join("trials.csv"))
}

/// Writes a sweep as CSV.
pub fn csv(sweep: &Sweep, path: &Path) -> Result {
    let mut file = AtomicFile::create(path)?;
    to_csv(sweep, &mut file).map_err(|e| CliError::new(format!("{}: {e}", path.display())))?;
    Ok(file.commit()?)
}

/// What was found, for people.
pub fn print(searched: &Searched) {
    let Searched {
        found,
        sweep,
        objective,
        ..
    } = searched;
    let failures: Vec<String> = found
        .failures
        .iter()
        .map(|(k, n)| format!("{n} {k}"))
        .collect();
    out::line(format!(
        "{} trials, {}",
        found.trials,
        if failures.is_empty() {
            "none failed".to_owned()
        } else {
            format!("failed: {}", failures.join(", "))
        }
    ));
    if let Some((lo, hi)) = found.drift
        && (lo < 0.95 || hi > 1.05)
    {
        out::warn(format!(
            "the machine drifted: the baseline took {:+.0} % to {:+.0} % of its first time; trust the finalists",
            100.0 * (lo - 1.0),
            100.0 * (hi - 1.0)
        ));
    }
    if found.finalists.is_empty() {
        return;
    }
    let flops = sweep.facts.flops;
    let mut header = vec!["", "time", "[95 %]"];
    let energy = found.finalists.iter().any(|f| f.energy_j.is_some());
    if energy {
        header.push("energy");
    }
    if flops.is_some() {
        header.push("Gflop/s");
    }
    header.push("to best");
    header.extend(sweep.facts.parameters.iter().map(String::as_str));
    let rows = found
        .finalists
        .iter()
        .enumerate()
        .map(|(i, f)| {
            let mut row = vec![
                if i == 0 {
                    "best".to_owned()
                } else if f.tie {
                    "tie".to_owned()
                } else {
                    String::new()
                },
                si(f.time_s.median, "s"),
                format!("{} … {}", si(f.time_s.lo, "s"), si(f.time_s.hi, "s")),
            ];
            if energy {
                row.push(
                    f.energy_j
                        .as_ref()
                        .map_or_else(String::new, |e| si(e.median, "J")),
                );
            }
            if let Some(w) = flops {
                row.push(format!("{:.2}", w / f.time_s.median * 1e-9));
            }
            row.push(f.ratio.as_ref().map_or_else(String::new, |r| {
                format!("×{:.3} [{:.3} … {:.3}]", r.median, r.lo, r.hi)
            }));
            row.extend(f.config.iter().map(ToString::to_string));
            row
        })
        .collect();
    out::line(format!(
        "\nfinalists by {objective}, measured again in turns:"
    ));
    out::table(&header, rows);
    if let Some(r) = &found.rival {
        let ratio = |s: &Option<Summary>| {
            s.as_ref().map_or_else(String::new, |s| {
                format!("×{:.3} [{:.3} … {:.3}]", s.median, s.lo, s.hi)
            })
        };
        let energy = r.energy_j.as_ref().map_or_else(String::new, |e| {
            format!(
                ", {}; the best takes {} of its energy",
                si(e.median, "J"),
                ratio(&r.energy_ratio)
            )
        });
        out::line(format!(
            "\nrival, in the same rounds: {}; the best takes {} of its time{energy}",
            si(r.time_s.median, "s"),
            ratio(&r.time_ratio)
        ));
    }
}

/// Says so when the user stopped it.
pub fn interrupted(found: &Found) {
    if found.interrupted {
        out::note(format!(
            "stopped; {} trials are kept, go on with --resume",
            found.trials
        ));
    }
}
