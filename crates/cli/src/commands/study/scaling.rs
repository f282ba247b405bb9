//! `greenup study --scaling`: applications on 1, 2, 4, … devices.

use super::{programs, setup};
use crate::args::StudyArgs;
use crate::commands::scaling::print_columns;
use greenup_app::args::{Device, Devices};
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::provenance::Provenance;
use greenup_app::{interrupt, machine, print};
use greenup_device::CpuFacts;
use greenup_files::{Journal, Outputs, write};
use greenup_model::Machine;
use greenup_model::machine::Label;
use greenup_process::capture::output;
use greenup_report::chart::FileStyle;
use greenup_study::pages::scaling_study::{columns, figure, page};
use greenup_study::scaling::study::{self, ScalingOptions, ScalingStudy};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const FILES: [&str; 4] = ["scaling.json", "scaling.html", "scaling.svg", "scaling.png"];
/// A measurement of the link that takes longer is killed.
const LINK_LIMIT: Duration = Duration::from_secs(300);

pub fn run(args: &StudyArgs) -> Result {
    let scaling = &args.scaling;
    let mut outputs = Outputs::new();
    let named = scaling
        .machine
        .as_deref()
        .map(|name| machine::input(name, &mut outputs))
        .transpose()?;
    let (gpus, device, mut missing) = devices(args.device)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let all = if gpus.is_empty() { cores } else { gpus.len() };
    let most = scaling.most.unwrap_or(all);
    if !gpus.is_empty() && most > all {
        return Err(AppError::new(format!(
            "--most {most}: there are {all} GPUs"
        )));
    }
    if gpus.is_empty() && most > cores {
        print::warn(format!(
            "{most} ranks of one thread on {cores} cores: they wait for each other"
        ));
    }
    let temporary = tempfile::Builder::new()
        .prefix("greenup-scaling-")
        .tempdir()?;
    let (applications, absent) = programs::find(scaling, !gpus.is_empty(), temporary.path())?;
    for why in &absent {
        print::warn(why);
    }
    missing.extend(absent);
    if applications.is_empty() {
        return Err(AppError::new("there is no application to measure").hint(missing.join("; ")));
    }
    outputs.folder(&args.out)?;
    for name in FILES {
        outputs.file(args.out.join(name), &[])?;
    }
    let (machine, link) = match named {
        Some(m) => {
            let link = format!("of {}", m.name);
            (m, link)
        }
        None if most < 2 => (no_link(), "none".into()),
        None => measured_link(&gpus, most, temporary.path()),
    };
    if machine.link.is_none() && most > 1 {
        print::warn("without a link the predicted messages cost nothing");
    }
    let options = ScalingOptions {
        applications,
        counts: counts(most),
        gpus,
        device,
        rounds: scaling.rounds,
        machine,
        link,
        missing,
        provenance: Provenance::of_process(),
    };
    let mut journal = Journal::create(&args.out, "scaling-unfinished", "jsonl")?;
    let measured = study::run(options, &Bars::new(), &mut journal).map_err(|e| {
        let path = journal.path().display().to_string();
        match journal.lines() {
            0 => AppError::new(e.to_string()),
            _ => AppError::new(e.to_string()).hint(format!("the runs so far are in {path}")),
        }
    })?;
    if measured.applications.is_empty() {
        if measured.interrupted {
            return Err(AppError::interrupted("stopped before the first run ended"));
        }
        return Err(AppError::new("no application ran").hint(measured.missing.join("; ")));
    }
    let _saving = interrupt::saving();
    let saved = save(&measured, &args.out);
    if args.json {
        print::json(&measured)?;
    } else {
        show(&measured);
    }
    saved.map_err(|e| {
        let path = journal.path().display().to_string();
        AppError::new(e.message).hint(format!("the runs are in {path}"))
    })?;
    journal.done();
    let page = args.out.join("scaling.html");
    print::note(format!("\nopen {}", page.display()));
    Ok(())
}

/// The GPUs by number, none for ranks; the name of the devices; what is left out.
fn devices(named: Devices) -> Result<(Vec<usize>, String, Vec<String>)> {
    let found = setup::find(named)?;
    let gpus: Vec<usize> = (found.gpus.iter())
        .filter_map(|g| usize::try_from(g.ordinal).ok())
        .collect();
    if let Devices::One(Device::Cuda(n)) = named
        && n > 0
    {
        return Err(
            AppError::new(format!("--device cuda:{n} is one GPU: there is nothing to compare"))
                .hint("--scaling takes all GPUs; `--device cpu` takes ranks, CUDA_VISIBLE_DEVICES chooses GPUs"),
        );
    }
    let gpus = match named {
        // `cuda` stands for all GPUs here.
        Devices::One(Device::Cuda(_)) => (greenup_device::cuda::Gpu::all()?.iter())
            .filter_map(|g| usize::try_from(g.ordinal).ok())
            .collect(),
        _ => gpus,
    };
    let name = match found.gpus.first() {
        Some(gpu) => gpu.name.clone(),
        None => CpuFacts::read().model,
    };
    Ok((gpus, name, found.missing))
}

/// 1, 2, 4, … and the largest.
fn counts(most: usize) -> Vec<usize> {
    let mut all: Vec<usize> = std::iter::successors(Some(1), |n| Some(2 * n))
        .take_while(|n| *n < most)
        .collect();
    all.push(most);
    all
}

fn no_link() -> Machine {
    Machine::without_constants("this-host".into(), CpuFacts::read().model, Label::Measured)
}

/// The link between GPUs or ranks, by `greenup calibrate --network`; a machine without one if that fails.
fn measured_link(gpus: &[usize], most: usize, temporary: &Path) -> (Machine, String) {
    let file = temporary.join("link.toml");
    let run = || -> Result<Machine> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["calibrate", "--network", "--quick", "-q", "-o"]);
        command.arg(&file);
        match gpus {
            [] => command.args(["--sensor", "none", "--ranks", &most.to_string()]),
            all => {
                let some: Vec<String> = all.iter().take(most).map(usize::to_string).collect();
                command.args(["--device", &format!("cuda:{}", some.join(","))])
            }
        };
        let out = output(&mut command, LINK_LIMIT, &interrupt::requested)?;
        match out.success() {
            true => Ok(machine::read(&file)?),
            false => {
                let last = out.stderr.lines().find(|l| l.starts_with("error:"));
                Err(AppError::new(last.unwrap_or("it did not end")))
            }
        }
    };
    match run() {
        Ok(m) => (
            m,
            "measured by `greenup calibrate --network --quick`".into(),
        ),
        Err(e) => {
            print::warn(format!("the link is not measured: {}", e.message));
            (no_link(), "not measured".into())
        }
    }
}

fn save(study: &ScalingStudy, dir: &Path) -> Result {
    let figure = figure(study);
    let look = FileStyle {
        width: 1200.0,
        ..FileStyle::default()
    };
    for name in FILES {
        let bytes = match name {
            "scaling.json" => serde_json::to_vec_pretty(study)?,
            "scaling.html" => page(study).render()?.into_bytes(),
            _ => figure.file(name.rsplit('.').next().unwrap_or("svg"), &look)?,
        };
        write(dir.join(name), bytes)?;
    }
    Ok(())
}

fn show(study: &ScalingStudy) {
    let what = if study.gpus { "GPUs" } else { "ranks" };
    for a in &study.applications {
        print::line(print::bold(&format!("{}: {}", a.application, a.problem)));
        print_columns(columns(a, what));
        print::line("");
    }
    print::line(format!(
        "Medians of {} interleaved rounds on {}; predictions from the first run on one, and the link ({}).",
        study.rounds, study.device, study.link
    ));
    if study.interrupted {
        print::warn("interrupted: these are the measurements so far");
    }
}
