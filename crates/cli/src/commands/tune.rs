//! `greenup tune`.

use crate::args::{BudgetArg, TuneArgs};
use crate::commands::space::facts;
use crate::error::{CliError, Result};
use crate::progress::Bars;
use crate::{choose, error, interrupt, lookup, out};
use greenup_model::predict;
use greenup_report::si::si;
use greenup_space::{Index, Limits, Stop};
use greenup_tune::run::parent::Launcher;
use greenup_tune::sweep::{to_csv, to_t4};
use greenup_tune::{Cost, Found, Objective, Plan, Problem, Sweep, TuneError, strategy, tune};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Answer<'a> {
    name: &'a str,
    out: String,
    objective: String,
    strategy: &'a str,
    points: u64,
    parameters: &'a [String],
    #[serde(flatten)]
    found: &'a Found,
}

pub fn run(args: &TuneArgs) -> Result {
    let problem = Problem::read(&args.problem, &facts()).map_err(|e| {
        let out = CliError::new(e.to_string());
        match e.hint {
            Some(h) => out.hint(h),
            None => out,
        }
    })?;
    let limits = Limits {
        cancelled: &interrupt::requested,
        ..Limits::default()
    };
    let index = Index::build(&problem.space, &limits).map_err(|e| match e {
        Stop::Fault(e) => CliError::new(format!("{}: {e}", args.problem.display())),
        Stop::Memory => CliError::new("the space is too large to index")
            .hint("add filters; `greenup space` says what each leaves"),
        Stop::Cancelled => CliError::new("stopped"),
    })?;
    if index.is_empty() {
        return Err(CliError::new(format!(
            "{}: no point of the space passes its filters",
            args.problem.display()
        ))
        .hint(format!(
            "`greenup space {}` says which filter leaves nothing",
            args.problem.display()
        )));
    }
    let objectives = if args.objective.is_empty() {
        vec![problem.objective]
    } else {
        args.objective.clone()
    };
    let chosen = choose::sensors(args.sensor.sensor.as_deref(), false, 0.5)?;
    let sensor = chosen.sensors.first().map(|s| s.info().id.clone());
    if sensor.is_none()
        && let Some(o) = objectives.iter().find(|o| o.needs_energy())
    {
        return Err(CliError::new(format!(
            "`{o}` needs energy: {}",
            chosen.missing.as_deref().unwrap_or("no sensor")
        ))
        .hint("tune for time, or name a meter with --sensor"));
    }
    let dir = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("sweeps").join(&problem.space.name));
    if dir.join("sweep.json").exists() && !args.resume {
        return Err(
            CliError::new(format!("{} holds a sweep already", dir.display()))
                .hint("go on with it by --resume, or choose another folder with --out"),
        );
    }
    let mut search = strategy(
        &args.strategy,
        steering(args, &problem, &index, objectives[0])?,
    )
    .map_err(CliError::new)?;
    let n = index.len();
    let (trials, seconds) = match args.budget {
        BudgetArg::Evaluations(k) => (k, f64::INFINITY),
        BudgetArg::Seconds(s) => (usize::MAX, s),
        BudgetArg::Share(x) => (((n as f64 * x).round() as usize).max(1), f64::INFINITY),
    };
    let mut launch = vec!["trial-worker".to_owned()];
    if let Some(id) = &sensor {
        launch.extend([
            "--sensor".to_owned(),
            id.clone(),
            "--period".to_owned(),
            chosen.period_s.to_string(),
        ]);
    }
    let cpu = greenup_device::CpuFacts::read();
    let mut more = BTreeMap::from([
        ("greenup".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("strategy".to_owned(), args.strategy.clone()),
        ("seed".to_owned(), args.seed.to_string()),
        ("cores".to_owned(), cpu.cores.len().to_string()),
        (
            "sensor".to_owned(),
            sensor.clone().unwrap_or_else(|| "none: time only".into()),
        ),
        (
            "command".to_owned(),
            std::env::args().skip(1).collect::<Vec<_>>().join(" "),
        ),
    ]);
    if let Some(g) = &cpu.governor {
        more.insert("governor".into(), g.clone());
    }
    let plan = Plan {
        objectives: objectives.clone(),
        trials,
        seconds,
        seed: args.seed,
        out: &dir,
        resume: args.resume,
        launcher: Launcher {
            program: std::env::current_exe()?,
            arguments: launch,
        },
        finalists: args.finalists,
        facts: more,
        device: cpu.model.clone(),
    };
    if !args.json {
        out::note(format!(
            "{}: {} points, {} by `{}`, into {}",
            problem.space.name,
            super::space::grouped(u128::from(n)),
            objectives[0],
            args.strategy,
            dir.display()
        ));
    }
    // Ended before anything is printed, so that the bar leaves no trace.
    let result = {
        let bars = Bars::new();
        tune(&problem, &index, search.as_mut(), &plan, &bars)
    };
    let (found, sweep) = result.map_err(|e| failed(e, &dir))?;
    exports(&sweep, &dir)?;
    if args.json {
        out::json(&Answer {
            name: &problem.space.name,
            out: dir.display().to_string(),
            objective: objectives[0].to_string(),
            strategy: &args.strategy,
            points: n,
            parameters: &sweep.facts.parameters,
            found: &found,
        })?;
    } else {
        print(&found, &sweep, objectives[0]);
    }
    if found.interrupted {
        out::note(format!(
            "stopped; {} trials are kept, go on with --resume",
            found.trials
        ));
    }
    Ok(())
}

/// The model's prediction of a point, for the `steered` strategy.
fn steering(
    args: &TuneArgs,
    problem: &Problem,
    index: &Index,
    objective: Objective,
) -> Result<Option<greenup_tune::strategy::Steering>> {
    let Some(name) = &args.machine else {
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

fn failed(e: TuneError, dir: &Path) -> CliError {
    use greenup_tune::sweep::FolderError;
    match e {
        TuneError::Folder(FolderError::Io { path, cause }) => error::cannot_write(&path, &cause),
        TuneError::Folder(e @ FolderError::Other { .. }) => {
            CliError::new(e.to_string()).hint("choose another folder with --out")
        }
        TuneError::Nothing(m) => CliError::new(format!("no trial succeeded: {m}")).hint(format!(
            "every failure stands in {}",
            dir.join("trials.csv").display()
        )),
        e => CliError::new(e.to_string()),
    }
}

/// T4 and CSV beside the sweep.
fn exports(sweep: &Sweep, dir: &Path) -> Result {
    error::write(&dir.join("results-t4.json"), to_t4(sweep).text.as_bytes())?;
    let path = dir.join("trials.csv");
    let file = std::fs::File::create(&path).map_err(|e| error::cannot_write(&path, &e))?;
    to_csv(sweep, file).map_err(|e| CliError::new(format!("{}: {e}", path.display())))
}

fn print(found: &Found, sweep: &Sweep, objective: Objective) {
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
}
