//! `greenup scaling study`: applications on 1, 2, 4, … devices.

pub mod args;
mod devices;
mod link;
pub mod results;
mod runs;

use super::cases;
use crate::study::runs_file::{Line, Start};
use crate::study::{self, ScalingOptions};
use args::StudyArgs;
use devices::Devices;
use greenup_app::error::{AppError, Result};
use greenup_app::progress::Bars;
use greenup_app::{interrupt, machine, print, sensors};
use greenup_files::{Outputs, ours};
use greenup_report::provenance::Provenance;
use std::time::{Duration, Instant};

pub fn run(args: &StudyArgs) -> Result {
    let begin = Instant::now();
    let mut outputs = Outputs::new();
    let named = args
        .machine
        .as_deref()
        .map(|name| machine::input(name, &mut outputs))
        .transpose()?;
    let mut devices = Devices::find(&args.device)?;
    let counts = devices.counts(args)?;
    let temporary = tempfile::Builder::new()
        .prefix("greenup-scaling-")
        .tempdir()?;
    let numbers = devices.numbers();
    let on = cases::On {
        gpus: &numbers,
        counts: &counts,
        folder: temporary.path(),
    };
    let (found, absent) = cases::find(args, &on)?;
    absent.iter().for_each(print::warn);
    devices.missing.extend(absent);
    if found.is_empty() {
        let missing = devices.missing.join("; ");
        return Err(AppError::new("there is no application to measure").hint(missing));
    }
    outputs.folder(&args.out)?;
    ours::check(&args.out, results::FILES)?;
    let mut file = runs::open(&args.out, args.resume)?;
    let provenance = Provenance::of_process();
    let (machine, link) = match file.start() {
        Some(before) => runs::continued(before, &devices.name, numbers.is_empty())?,
        None => {
            let most = counts.last().copied().unwrap_or(1);
            let (machine, link) = link::link(named, (&numbers, most), temporary.path());
            file.add(Line::Study(Start {
                device: devices.name.clone(),
                gpus: !numbers.is_empty(),
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
        gpus: !numbers.is_empty(),
        // All or none: their order is that of the GPUs.
        counters: (devices.gpus.iter())
            .map(|g| sensors::energy_counter(&g.1))
            .collect::<Option<_>>()
            .unwrap_or_default(),
        folder: temporary.path().to_owned(),
        device: devices.name,
        rounds: args.rounds,
        until: args.budget.map(|s| begin + Duration::from_secs_f64(s)),
        machine,
        link,
        missing: devices.missing,
        provenance,
    };
    let mut save = |s: &_| results::save(s, &args.out);
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
        return Err(AppError::new("no application ran").hint(why.join("; ")));
    }
    let _saving = interrupt::saving();
    if args.json {
        print::json(&measured)?;
    } else {
        results::show(&measured);
    }
    if let Some(text) = measured.without_time() {
        print::warn(format!("{text}: the same command with --resume continues"));
    }
    let page = args.out.join("scaling.html");
    print::note(format!("\nopen {}", page.display()));
    Ok(())
}
