//! `greenup doctor`.

use crate::args::DoctorArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::load::Load;
use greenup_app::progress::Bars;
use greenup_app::{print, sensors};
use greenup_device::CpuFacts;
use greenup_device::cuda::{Compiler, Gpu};
use greenup_device::opencl::Device;
use greenup_meter::probe::{Diagnosis, probe};
use greenup_meter::sensor::OpenedSensor;
use greenup_meter::square_wave::{SquareWave, WaveRow, square_wave};
use greenup_meter::{Quantity, Sensor};
use greenup_report::si::si;
use greenup_report::table::Columns;
use serde_json::json;

/// Seconds of each half-period's test, and how often with a shifted phase.
const WAVE_S: f64 = 4.0;
const WAVE_PHASES: usize = 2;

pub fn run(args: &DoctorArgs) -> Result {
    if !(0.05..=60.0).contains(&args.seconds) {
        return Err(AppError::new("--seconds must lie between 50ms and 60s"));
    }
    let found = wanted(args.sensor.as_deref())?;
    let mut load = match &args.load {
        Some(command) => Load::command(command)?,
        None => Load::cpu(),
    };
    let (mut usable, diagnoses) = probe(found, args.seconds, args.seconds, &mut |s| load.run(s));
    let wave = if args.square_wave {
        Some(test_wave(&mut usable, &mut load)?)
    } else {
        None
    };
    if args.json {
        let count = diagnoses.iter().filter(|d| d.usable).count();
        let all = json!({
            "cpu": CpuFacts::read(),
            "cuda": cuda_json(),
            "opencl": opencl_json(),
            "sensors": diagnoses,
            "usable": count,
            "square_wave": wave,
        });
        return print::json(&all);
    }
    print(&diagnoses);
    if let Some(wave) = &wave {
        print_wave(wave);
    }
    Ok(())
}

/// All sensors, a named meter first; or those that a name picks.
fn wanted(named: Option<&str>) -> Result<Vec<OpenedSensor>> {
    if named == Some("none") {
        return Err(AppError::new("--sensor none leaves nothing to look at").hint("leave it out"));
    }
    let found = sensors::found(named);
    let Some(name) = named.filter(|n| open_named_form(n).is_none()) else {
        return Ok(found);
    };
    let id = |f: &OpenedSensor| match f {
        Ok(s) => s.info().id.clone(),
        Err(p) => p.id.clone(),
    };
    let fits = |id: &str| {
        let below = |a: &str, b: &str| a == b || a.starts_with(&format!("{b}:"));
        // A whole GPU without sensors is one entry.
        below(id, name) || below(name, id)
    };
    let ids: Vec<String> = found.iter().map(id).collect();
    let picked: Vec<OpenedSensor> = found.into_iter().filter(|f| fits(&id(f))).collect();
    if picked.is_empty() {
        return Err(AppError::new(format!("unknown sensor `{name}`"))
            .hint(format!("this host has {}", ids.join(", "))));
    }
    Ok(picked)
}

/// The part behind `external:` or `recorded:`.
fn open_named_form(name: &str) -> Option<&str> {
    name.strip_prefix("external:")
        .or_else(|| name.strip_prefix("recorded:"))
}

fn test_wave(usable: &mut [Box<dyn Sensor>], load: &mut Load) -> Result<SquareWave> {
    if usable.is_empty() {
        return Err(AppError::new("no usable sensor to test with a square wave")
            .hint("`greenup doctor` says what is missing; an external meter works everywhere"));
    }
    let bars = Bars::new();
    Ok(square_wave(
        usable,
        WAVE_S,
        WAVE_PHASES,
        &mut |s| load.run(s),
        &bars,
    ))
}

/// Driver and compiler of CUDA, or what is missing.
fn cuda_json() -> serde_json::Value {
    let gpus = Gpu::all();
    let nvrtc = Compiler::new(None);
    let missing: Vec<String> = [gpus.as_ref().err(), nvrtc.as_ref().err()]
        .into_iter()
        .flatten()
        .map(ToString::to_string)
        .collect();
    json!({
        "gpus": gpus.unwrap_or_default(),
        "nvrtc": nvrtc.ok().map(|c| format!("{}.{}", c.version.0, c.version.1)),
        "missing": missing,
    })
}

fn print_cuda() {
    match Gpu::all() {
        Ok(gpus) if gpus.is_empty() => print::line("CUDA: a driver, but no GPU"),
        Ok(gpus) => {
            for g in gpus {
                print::line(format!(
                    "GPU {}: {}, {}, {} multiprocessors, {}",
                    g.ordinal,
                    g.name,
                    g.arch,
                    g.multiprocessors,
                    si(g.memory_bytes as f64, "B")
                ));
            }
        }
        Err(e) => print::line(format!("CUDA: no GPU can be used: {e}")),
    }
    match Compiler::new(None) {
        Ok(c) => print::line(format!("CUDA: NVRTC {}.{}", c.version.0, c.version.1)),
        Err(e) => {
            print::line(format!("CUDA: no kernels can be compiled: {e}"));
            if let Some(hint) = e.hint() {
                print::line(format!("      {hint}"));
            }
        }
    }
}

/// Devices of OpenCL, or what is missing.
fn opencl_json() -> serde_json::Value {
    let devices = Device::all();
    json!({
        "missing": devices.as_ref().err().map(ToString::to_string),
        "devices": devices.unwrap_or_default(),
    })
}

fn print_opencl() {
    match Device::all() {
        Ok(devices) if devices.is_empty() => print::line("OpenCL: a platform, but no device"),
        Ok(devices) => {
            for d in devices {
                print::line(format!(
                    "OpenCL {}: {}, {}, {} compute units, {}, driver {}",
                    d.address,
                    d.name,
                    d.kind,
                    d.fact("compute_units").unwrap_or(0),
                    d.platform,
                    d.driver
                ));
            }
        }
        Err(e) => {
            print::line(format!("OpenCL: no device can be used: {e}"));
            if let Some(hint) = e.hint() {
                print::line(format!("      {hint}"));
            }
        }
    }
}

fn print(diagnoses: &[Diagnosis]) {
    let facts = CpuFacts::read();
    print::line(format!(
        "{}: {} cores, {}{}",
        facts.model,
        facts.cores.len(),
        facts.isa,
        if facts.virtual_machine {
            ", a virtual machine"
        } else {
            ""
        }
    ));
    print_cuda();
    print_opencl();
    for d in diagnoses {
        let verdict = if d.usable {
            "usable"
        } else if d.present {
            "not usable"
        } else {
            "absent"
        };
        print::line("");
        print::line(format!("{}  {verdict}", print::bold(&d.id)));
        let mut facts = Vec::new();
        if !d.scope.is_empty() {
            facts.push(d.scope.clone());
        }
        if let Some(moves) = d.moves_under_load {
            facts.push(
                if moves {
                    "moves under load"
                } else {
                    "does not move under load"
                }
                .to_owned(),
            );
        }
        if let (Some(idle), Some(load)) = (d.idle_w, d.load_w) {
            facts.push(format!(
                "{} idle, {} under load",
                si(idle, "W"),
                si(load, "W")
            ));
        }
        if let Some(p) = d.period_s {
            facts.push(format!("changes every {}", si(p, "s")));
        }
        if let Some(c) = d.read_cost_s {
            facts.push(format!("a read costs {}", si(c, "s")));
        }
        if let Some(r) = d.resolution {
            let unit = if d.quantity == Some(Quantity::Power) {
                "W"
            } else {
                "J"
            };
            facts.push(format!("smallest step {}", si(r, unit)));
        }
        for f in facts {
            print::line(format!("  {f}"));
        }
        if let Some(cause) = &d.cause {
            print::line(format!("  cause: {cause}"));
        }
        if let Some(fix) = &d.fix {
            print::line(format!("  fix:   {fix}"));
        }
    }
    let usable = diagnoses.iter().filter(|d| d.usable).count();
    print::line("");
    print::line(if usable == 0 {
        "No usable energy sensor: time can be measured, energy cannot.".to_owned()
    } else {
        format!("{usable} usable sensor(s).")
    });
}

fn print_wave(wave: &SquareWave) {
    print::line("");
    print::line("Square wave, 50 % duty: measured over duty-weighted mean of the steady levels");
    for (id, low, high) in &wave.levels {
        print::line(format!(
            "  {id}: {} idle, {} under load",
            si(*low, "W"),
            si(*high, "W")
        ));
        if (high / low - 1.0).abs() < 0.05 {
            print::warn(format!(
                "{id} hardly moves under this load, so the test says little: give one with --load"
            ));
        }
    }
    let columns = Columns::<WaveRow>::new()
        .text("sensor", "", |r| r.id.clone())
        .si("half-period", "", "s", |r| r.half_period_s)
        .text("ratios", "", |r| {
            let ratios: Vec<String> = r.ratios.iter().map(|x| format!("{x:.3}")).collect();
            ratios.join(" ")
        })
        .percent("error", "", |r| r.error);
    print::table(&columns.table("", &wave.rows));
}
