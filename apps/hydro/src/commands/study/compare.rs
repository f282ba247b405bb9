//! `hydro compare`: speedup, powerup and greenup of studies over a first one, as in table 7 of the BLAST paper.
//!
//! Powers are those that the studies measured. Where the CPU had no sensor, a machine file with its constant and usable
//! power estimates them; every number that depends on it is labelled so and has the interval of the machine's two ends.

use super::record::{Row, read};
use clap::Args;
use greenup_app::args::MachineArg;
use greenup_app::{AppError, Result, print};
use greenup_model::{Machine, machine::Label};
use greenup_report::provenance::Provenance;
use greenup_report::table::{Cell, Columns};
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub struct CompareArgs {
    /// Study that is compared with, e.g. of the CPU
    #[arg(value_name = "BASE.json")]
    base: PathBuf,
    /// Studies of the same meshes and orders, e.g. of a GPU
    #[arg(value_name = "STUDY.json", required = true)]
    others: Vec<PathBuf>,
    /// Machine whose constant and usable power stand for a CPU that had no sensor: a name of `greenup machines`, or a file
    #[command(flatten)]
    machine: MachineArg,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
}

/// A value with the ends of its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Range {
    value: f64,
    lo: f64,
    hi: f64,
}

impl Range {
    fn exact(value: f64) -> Self {
        Self {
            value,
            lo: value,
            hi: value,
        }
    }

    fn of(self, f: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (f(self.lo), f(self.hi));
        Self {
            value: f(self.value),
            lo: a.min(b),
            hi: a.max(b),
        }
    }

    fn with(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        // Both ends of a machine belong together.
        let (a, b) = (f(self.lo, other.lo), f(self.hi, other.hi));
        Self {
            value: f(self.value, other.value),
            lo: a.min(b),
            hi: a.max(b),
        }
    }
}

/// What a step costs on a device.
#[derive(Clone, Debug, Serialize)]
struct Side {
    device: String,
    seconds: f64,
    /// CPU and GPU together, W.
    watts: Option<Range>,
    /// Of one step, J.
    joules: Option<Range>,
    label: Label,
}

/// A study over the first one, at one order.
#[derive(Clone, Debug, Serialize)]
struct Pair {
    spaces: String,
    zones: usize,
    assembly: &'static str,
    base: Side,
    other: Side,
    speedup: f64,
    /// Power of the base over power of the other.
    powerup: Option<Range>,
    /// Energy of the base over energy of the other.
    greenup: Option<Range>,
    label: Label,
}

/// Power of the CPU, W, busy on all its cores or while one of them waits for a GPU.
#[derive(Clone, Copy, Debug)]
struct CpuPower {
    busy: Range,
    waiting: Range,
}

impl CpuPower {
    fn of(m: &Machine) -> Result<Self> {
        let (Some(idle), Some(usable)) = (&m.constant_power_w, &m.usable_power_w) else {
            return Err(AppError::new(format!(
                "machine `{}` has no constant_power_w and usable_power_w",
                m.name
            ))
            .hint("give both in the machine file, with lo and hi and where they come from"));
        };
        let cores = (m.facts.get("threads"))
            .and_then(|t| t.parse().ok())
            .filter(|n: &f64| *n >= 1.0)
            .unwrap_or(1.0);
        let at = |share: f64| Range {
            value: idle.value + share * usable.value,
            lo: idle.low() + share * usable.low(),
            hi: idle.high() + share * usable.high(),
        };
        Ok(Self {
            busy: at(1.0),
            waiting: at(1.0 / cores),
        })
    }
}

fn side(r: &Row, cpu: Option<CpuPower>) -> Side {
    let on_cpu = r.device == "cpu";
    let (watts, label) = if on_cpu {
        match r.watts {
            Some(w) => (Some(Range::exact(w)), Label::Measured),
            None => (cpu.map(|c| c.busy), Label::Estimated),
        }
    } else {
        let host = match r.host_watts {
            Some(w) => (Some(Range::exact(w)), Label::Measured),
            None if r.device.ends_with("+cpu") => (cpu.map(|c| c.busy), Label::Estimated),
            None => (cpu.map(|c| c.waiting), Label::Estimated),
        };
        let both = r.watts.zip(host.0);
        (both.map(|(board, h)| h.of(|h| board + h)), host.1)
    };
    Side {
        device: if on_cpu {
            "cpu".into()
        } else {
            r.device.clone()
        },
        seconds: r.seconds,
        watts,
        joules: watts.map(|w| w.of(|w| w * r.seconds)),
        label,
    }
}

/// Steps that both have, at the same order, assembly and number of zones.
fn pairs(base: &[Row], other: &[Row], cpu: Option<CpuPower>) -> Vec<Pair> {
    let steps = |rows: &'_ [Row]| -> Vec<Row> {
        rows.iter().filter(|r| r.work == "step").cloned().collect()
    };
    let base = steps(base);
    let mut out = Vec::new();
    for new in steps(other) {
        let same =
            |b: &&Row| (b.order, b.zones, b.assembly) == (new.order, new.zones, new.assembly);
        let Some(old) = base.iter().find(same) else {
            continue;
        };
        let (base, other) = (side(old, cpu), side(&new, cpu));
        let both = base.watts.zip(other.watts);
        let speedup = base.seconds / other.seconds;
        let powerup = both.map(|(a, b)| a.with(b, |a, b| a / b));
        let measured = [&base, &other].iter().all(|s| s.label == Label::Measured);
        out.push(Pair {
            spaces: new.spaces(),
            zones: new.zones,
            assembly: new.assembly.name(),
            speedup,
            powerup,
            greenup: powerup.map(|p| p.of(|p| p * speedup)),
            label: if measured {
                Label::Measured
            } else {
                Label::Estimated
            },
            base,
            other,
        });
    }
    out
}

pub fn compare(args: &CompareArgs) -> Result {
    let cpu = args.machine.load()?;
    let cpu = cpu.as_ref().map(CpuPower::of).transpose()?;
    let base = read(&args.base)?;
    let mut all = Vec::new();
    for path in &args.others {
        let found = pairs(&base.rows, &read(path)?.rows, cpu);
        if found.is_empty() {
            return Err(AppError::new(format!(
                "{} and {} have no step in common",
                args.base.display(),
                path.display()
            ))
            .hint("measure both with the same --dim, --intervals, --orders and --assembly"));
        }
        all.extend(found);
    }
    if all.iter().any(|p| p.greenup.is_none()) {
        print::note(
            "no greenup where the power of the CPU is unknown: name a machine file with its power by --machine",
        );
    }
    if args.json {
        let provenance = Provenance::of_process();
        return print::json(&json!({"provenance": provenance, "rows": all}));
    }
    print::line(text(&all));
    Ok(())
}

fn text(all: &[Pair]) -> String {
    let ratio = |r: Option<Range>| {
        Cell::shown(r.map(|r| r.value), |v| match r {
            Some(r) if r.lo < r.hi => format!("{v:.3} [{:.3} … {:.3}]", r.lo, r.hi),
            _ => format!("{v:.3}"),
        })
    };
    let columns = Columns::<Pair>::new()
        .text("spaces", "", |p| p.spaces.clone())
        .count("zones", "", |p| p.zones as u64)
        .text("assembly", "", |p| p.assembly.into())
        .text("device", "", |p| p.other.device.clone())
        .text("over", "", |p| p.base.device.clone())
        .si("time", "", "s", |p| p.other.seconds)
        .si("over time", "", "s", |p| p.base.seconds)
        .three("speedup", "", |p| p.speedup)
        .cell("powerup", "", move |p| ratio(p.powerup))
        .cell("greenup", "", move |p| ratio(p.greenup))
        .text("power", "", |p| {
            p.greenup.map_or("unknown", |_| p.label.name()).into()
        });
    columns.table("", all).lines().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::settings::Assembly;

    fn row(device: &str, seconds: f64, watts: Option<f64>, host: Option<f64>) -> Row {
        Row {
            order: 2,
            assembly: Assembly::Partial,
            work: "step".into(),
            zones: 64,
            unknowns: 1000,
            seconds,
            seconds_error: 0.0,
            watts,
            joules: watts.map(|w| w * seconds),
            joules_per_unknown: None,
            device: device.into(),
            host_watts: host,
            predicted: None,
            trace: Vec::new(),
        }
    }

    fn machine() -> Machine {
        Machine::from_toml(
            "name = \"m\"\ntitle = \"M\"\nfacts = { threads = \"10\" }\n\
             constant_power_w = { value = 40.0, lo = 20.0, hi = 50.0 }\n\
             usable_power_w = { value = 60.0, lo = 40.0, hi = 70.0 }\n\
             cost.f64 = { time_s = { value = 1e-12 } }\n",
        )
        .unwrap()
    }

    #[test]
    fn measured_powers_need_no_machine() {
        let p = pairs(
            &[row("cpu", 1.0, Some(100.0), None)],
            &[row("cuda:0", 0.25, Some(120.0), Some(30.0))],
            None,
        );
        let p = &p[0];
        assert_eq!((p.speedup, p.label), (4.0, Label::Measured));
        let (powerup, greenup) = (p.powerup.unwrap(), p.greenup.unwrap());
        assert!((powerup.value - 100.0 / 150.0).abs() < 1e-12 && powerup.lo == powerup.hi);
        assert!((greenup.value - 4.0 * powerup.value).abs() < 1e-12);
    }

    #[test]
    fn without_a_sensor_the_cpu_is_estimated_with_its_interval() {
        let cpu = Some(CpuPower::of(&machine()).unwrap());
        let base = [row("cpu", 1.0, None, None)];
        let all = [
            row("cuda:0", 0.25, Some(100.0), None),
            row("cuda:0+cpu", 0.5, Some(100.0), None),
        ];
        let p = pairs(&base, &all, cpu);
        // One of ten cores waits: 40 + 6 W.
        let g = p[0].greenup.unwrap();
        assert!((g.value - 100.0 / (0.25 * 146.0)).abs() < 1e-12);
        assert!((g.lo - 60.0 / (0.25 * 124.0)).abs() < 1e-12);
        assert!((g.hi - 120.0 / (0.25 * 157.0)).abs() < 1e-12);
        assert!((p[1].powerup.unwrap().value - 0.5).abs() < 1e-12);
        assert!(p.iter().all(|p| p.label == Label::Estimated));
        assert!(text(&p).contains("estimated"));
        // Without a machine only the speedup is known.
        let p = pairs(&base, &all, None);
        assert!(p[0].greenup.is_none() && p[0].speedup == 4.0);
        assert!(text(&p).contains("unknown"));
        // Other zones are not compared.
        let mut other = all[0].clone();
        other.zones = 65;
        assert!(pairs(&base, &[other], cpu).is_empty());
    }

    #[test]
    fn a_machine_without_powers_is_refused() {
        let mut m = machine();
        m.usable_power_w = None;
        let e = format!("{:?}", CpuPower::of(&m).unwrap_err());
        assert!(e.contains("usable_power_w"), "{e}");
    }
}
