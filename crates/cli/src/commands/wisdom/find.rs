//! `greenup wisdom find`.

use crate::args::WisdomFindArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{print, sensors, wisdom};
use greenup_device::CpuFacts;
use greenup_wisdom::lookup::Used;
use greenup_wisdom::{Device, DeviceKind, Entry, Query, Wisdom, fits};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct LookupJson<'a> {
    problem: &'a str,
    device: &'a Device,
    /// `null` where a default is used.
    choice: Option<Used>,
    config: Option<&'a BTreeMap<String, greenup_space::Value>>,
    /// Nearer entries that the device cannot run, and why.
    rejected: Vec<(String, String)>,
}

/// The device that is named.
fn device(wisdom: &Wisdom, args: &WisdomFindArgs) -> Result<Device> {
    let cpu = || Device::of_cpu(&CpuFacts::read());
    let gpu = |n: Option<&str>| Ok::<_, AppError>(Device::of_gpu(&sensors::gpu(n)?));
    match args.on.as_deref() {
        Some("cpu") => Ok(cpu()),
        Some("cuda") => gpu(None),
        Some(name) if name.starts_with("cuda:") => gpu(name.strip_prefix("cuda:")),
        Some(name) => {
            let lower = name.to_lowercase();
            let mut all = wisdom.known.iter().map(|(e, _)| &e.device);
            let found = all.find(|d| d.name.to_lowercase().contains(&lower));
            found.cloned().ok_or_else(|| {
                AppError::new(format!("no entry is of a device `{name}`"))
                    .hint("`greenup wisdom list` shows the devices; cpu and cuda:N are those here")
            })
        }
        None => {
            let on_gpu = (wisdom.known.iter())
                .any(|(e, _)| e.problem == args.problem && e.device.kind == DeviceKind::Gpu);
            if on_gpu {
                Ok(gpu(None).unwrap_or_else(|_| cpu()))
            } else {
                Ok(cpu())
            }
        }
    }
}

pub fn run(args: &WisdomFindArgs) -> Result {
    let known = wisdom::load()?;
    if !known.known.iter().any(|(e, _)| e.problem == args.problem) {
        return Err(
            AppError::new(format!("there is no entry for `{}`", args.problem))
                .hint("`greenup wisdom list` shows the problems"),
        );
    }
    let device = device(&known, args)?;
    let sizes: Vec<(&str, i64)> = (args.size.iter())
        .filter_map(|(n, v)| Some((n.as_str(), v.as_integer()?)))
        .collect();
    let space = match &args.check {
        None => None,
        Some(file) => {
            let text = greenup_files::read_text(file)?;
            let named =
                |e: greenup_space::SpaceError| AppError::new(format!("{}: {e}", file.display()));
            let constants = (sizes.iter())
                .map(|(n, v)| ((*n).to_owned(), greenup_space::Value::Int(*v)))
                .collect();
            Some(fits::space(&text, &device, &constants).map_err(named)?)
        }
    };
    let query = Query {
        problem: &args.problem,
        precision: &args.precision,
        objective: &args.objective,
        device: &device,
        exact: &[],
        size: &sizes,
    };
    let of = |e: &Entry| !args.others || !e.device.same(&device);
    let mut rejected = Vec::new();
    let found = known.choose_of(&query, &of, |e| {
        let checked = match &space {
            None => Ok(()),
            Some(s) => fits::complete(s, &e.config).and_then(|c| fits::check(s, &c)),
        };
        checked.inspect_err(|reason| rejected.push((e.id(), reason.clone())))
    });
    let choice = found.as_ref().map(|(c, ())| c);
    if args.json {
        return print::json(&LookupJson {
            problem: &args.problem,
            device: &device,
            choice: choice.map(greenup_wisdom::Choice::used),
            config: choice.map(|c| &c.entry.config),
            rejected,
        });
    }
    print::line(format!("{} on {}", args.problem, device.title()));
    for (id, reason) in &rejected {
        print::line(format!("entry {id} is passed over: {reason}"));
    }
    match choice {
        Some(c) => {
            print::line(format!(
                "entry {}: {}; {}",
                c.entry.id(),
                c.text(),
                c.origin
            ));
            print::line(c.entry.config_text());
        }
        None => print::line("no entry fits: the default config is used"),
    }
    Ok(())
}
