//! `greenup study --scaling`: applications on 1, 2, 4, … devices.

use super::args::StudyArgs;
use super::cases;
use crate::pages::study::{devices as devices_of, figure, limits, page, rounds, table};
use crate::study::runs_file::{self, Line, RunsFile, Start};
use crate::study::{self, ScalingOptions, ScalingStudy};
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::study::counts as numbers_of_devices;
use greenup_app::{interrupt, machine, present, print, programs, sensors};
use greenup_device::cuda::Gpu;
use greenup_device::{CpuFacts, DeviceSpec};
use greenup_files::ours::{self, write};
use greenup_files::{FileError, Outputs};
use greenup_model::Machine;
use greenup_model::machine::Label;
use greenup_process::capture::output;
use greenup_report::chart::FileStyle;
use greenup_report::provenance::Provenance;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const FILES: [&str; 4] = ["scaling.json", "scaling.html", "scaling.svg", "scaling.png"];
/// A measurement of the link that takes longer is killed.
const LINK_LIMIT: Duration = Duration::from_secs(300);

pub fn run(args: &StudyArgs) -> Result {
    let begin = Instant::now();
    let scaling = &args.scaling;
    let mut outputs = Outputs::new();
    let named = scaling
        .machine
        .as_deref()
        .map(|name| machine::input(name, &mut outputs))
        .transpose()?;
    let (gpus, device, mut missing) = devices(&args.device)?;
    let counts = counts(args, gpus.len())?;
    let temporary = tempfile::Builder::new()
        .prefix("greenup-scaling-")
        .tempdir()?;
    let numbers: Vec<usize> = gpus.iter().map(|g| g.0).collect();
    let on = cases::On {
        gpus: &numbers,
        counts: &counts,
        folder: temporary.path(),
    };
    let (found, absent) = cases::find(scaling, &on)?;
    for why in &absent {
        print::warn(why);
    }
    missing.extend(absent);
    if found.is_empty() {
        return Err(AppError::new("there is no application to measure").hint(missing.join("; ")));
    }
    outputs.folder(&args.out)?;
    ours::check(&args.out, FILES)?;
    let mut file = runs_file(&args.out, scaling.resume)?;
    let provenance = Provenance::of_process();
    let (machine, link) = match file.start() {
        Some(before) => continued(before, &device, gpus.is_empty())?,
        None => {
            let most = counts.last().copied().unwrap_or(1);
            let (machine, link) = match named {
                Some(m) => {
                    let link = format!("of {}", m.name);
                    (m, link)
                }
                None if most < 2 => (no_link(), "none".into()),
                None => measured_link(&numbers, most, temporary.path()),
            };
            if machine.link.is_none() && most > 1 {
                print::warn("without a link the predicted messages cost nothing");
            }
            file.add(Line::Study(Start {
                device: device.clone(),
                gpus: !gpus.is_empty(),
                link: link.clone(),
                machine: machine
                    .to_toml()
                    .map_err(|e| AppError::new(e.to_string()))?,
                provenance: provenance.clone(),
            }))?;
            (machine, link)
        }
    };
    let options = ScalingOptions {
        cases: found,
        counts,
        gpus: !gpus.is_empty(),
        // All or none: their order is that of the GPUs.
        counters: (gpus.iter())
            .map(|g| sensors::energy_counter(&g.1))
            .collect::<Option<_>>()
            .unwrap_or_default(),
        folder: temporary.path().to_owned(),
        device,
        rounds: scaling.rounds,
        until: scaling.budget.map(|s| begin + Duration::from_secs_f64(s)),
        machine,
        link,
        missing,
        provenance,
    };
    let mut save = |s: &ScalingStudy| save(s, &args.out);
    let measured = study::run(options, &Bars::new(), &mut file, &mut save).map_err(|e| {
        let path = file.path().display().to_string();
        AppError::new(e.to_string()).hint(format!("{path} has the runs so far; --resume continues"))
    })?;
    if measured.applications.is_empty() {
        if measured.interrupted {
            return Err(AppError::interrupted("stopped before the first run ended"));
        }
        let late = measured.without_time();
        let why: Vec<String> = measured.missing.into_iter().chain(late).collect();
        let why = why.join("; ");
        return Err(AppError::new("no application ran").hint(why));
    }
    let _saving = interrupt::saving();
    if args.json {
        print::json(&measured)?;
    } else {
        show(&measured);
    }
    if let Some(text) = measured.without_time() {
        print::warn(format!("{text}: the same command with --resume continues"));
    }
    let page = args.out.join("scaling.html");
    print::note(format!("\nopen {}", page.display()));
    Ok(())
}

/// The file of the runs: that of an earlier study to continue it, else a new one.
fn runs_file(folder: &Path, resume: bool) -> Result<RunsFile> {
    let path = folder.join(runs_file::NAME);
    if !resume && path.exists() {
        let stem = folder.join("scaling-runs-before");
        let aside = greenup_files::outputs::unused(stem, "jsonl");
        std::fs::rename(&path, &aside)?;
        print::note(format!(
            "the runs of an earlier study are in {}; --resume continues one",
            aside.display()
        ));
    }
    RunsFile::open(folder).map_err(|e| AppError::new(e.to_string()))
}

/// The machine and the link of the study that is continued.
fn continued(before: &Start, device: &str, ranks: bool) -> Result<(Machine, String)> {
    if (before.device.as_str(), before.gpus) != (device, !ranks) {
        return Err(AppError::new(format!(
            "--resume: the folder has runs on {} of {}, and this study is on {} of {device}",
            devices_of(before.gpus),
            before.device,
            devices_of(!ranks)
        ))
        .hint("name a new folder by --out"));
    }
    let machine = Machine::from_toml(&before.machine).map_err(|e| AppError::new(e.to_string()))?;
    Ok((machine, before.link.clone()))
}

/// The numbers of devices, of the user or 1, 2, 4, … and the largest.
fn counts(args: &StudyArgs, gpus: usize) -> Result<Vec<usize>> {
    let scaling = &args.scaling;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let all = if gpus == 0 { cores } else { gpus };
    let mut counts = match scaling.counts.as_slice() {
        [] => numbers_of_devices(scaling.most.unwrap_or(all)),
        some => [&[1], some].concat(),
    };
    counts.sort_unstable();
    counts.dedup();
    let most = counts.last().copied().unwrap_or(1);
    if gpus > 0 && most > all {
        let flag = if scaling.counts.is_empty() {
            "--most"
        } else {
            "--counts"
        };
        return Err(AppError::new(format!(
            "{flag} {most}: there are {all} GPUs"
        )));
    }
    if gpus == 0 && most > cores {
        print::warn(format!(
            "{most} ranks of one thread on {cores} cores: they wait for each other"
        ));
    }
    Ok(counts)
}

/// GPUs with their numbers.
type Numbered = Vec<(usize, Gpu)>;

/// The GPUs with their numbers, none for ranks; the name of the devices; what is left out.
fn devices(named: &DeviceSpec) -> Result<(Numbered, String, Vec<String>)> {
    let found = present::find(named)?;
    if let DeviceSpec::Gpus(list) = named
        && list[0] > 0
    {
        return Err(
            AppError::new(format!("--device {named} is one GPU: there is nothing to compare"))
                .hint("--scaling takes all GPUs; `--device cpu` takes ranks, CUDA_VISIBLE_DEVICES chooses GPUs"),
        );
    }
    let name = match found.gpus.first() {
        Some(gpu) => gpu.name.clone(),
        None => CpuFacts::read().model,
    };
    let gpus = match named {
        // `cuda` stands for all GPUs here.
        DeviceSpec::Gpu | DeviceSpec::Gpus(_) => Gpu::all()?,
        _ => found.gpus,
    };
    let gpus = (gpus.into_iter())
        .filter_map(|g| Some((usize::try_from(g.ordinal).ok()?, g)))
        .collect();
    Ok((gpus, name, found.missing))
}

fn no_link() -> Machine {
    Machine::without_constants("this-host".into(), CpuFacts::read().model, Label::Measured)
}

/// The link between GPUs or ranks, by `greenup calibrate --network`; a machine without one if that fails.
fn measured_link(gpus: &[usize], most: usize, temporary: &Path) -> (Machine, String) {
    let file = temporary.join("link.toml");
    let run = || -> Result<Machine> {
        let mut command = Command::new(programs::needed("greenup")?);
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
        if out.success() {
            Ok(machine::read(&file)?)
        } else {
            let last = out.stderr.lines().find(|l| l.starts_with("error:"));
            Err(AppError::new(last.unwrap_or("it did not end")))
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

fn save(study: &ScalingStudy, dir: &Path) -> std::result::Result<(), FileError> {
    if study.applications.is_empty() {
        return Ok(());
    }
    let figure = figure(study);
    let look = FileStyle {
        width: 1200.0,
        ..FileStyle::default()
    };
    for name in FILES {
        let bytes = match name {
            "scaling.json" => serde_json::to_vec_pretty(study).map_err(|e| e.to_string()),
            "scaling.html" => page(study)
                .render()
                .map(String::into_bytes)
                .map_err(|e| e.to_string()),
            _ => figure
                .file(name.rsplit('.').next().unwrap_or("svg"), &look)
                .map_err(|e| e.to_string()),
        };
        let path = dir.join(name);
        let bytes = bytes.map_err(std::io::Error::other);
        write(&path, bytes.map_err(FileError::write(&path))?)?;
    }
    Ok(())
}

fn show(study: &ScalingStudy) {
    let what = devices_of(study.gpus);
    for a in &study.applications {
        print::line(print::bold(&format!("{}: {}", a.case, a.problem)));
        print::table(&table(a, what));
        if let Some(text) = limits(a, what) {
            print::line(text);
        }
        print::line("");
    }
    print::line(format!(
        "On {}, {}; predictions from the first run on one, and the link ({}).",
        study.device,
        rounds(study.rounds),
        study.link
    ));
    if study.interrupted {
        print::warn("interrupted: these are the measurements so far");
    }
}
