//! Time, power and energy of steps and of their parts, over operators and orders: figures 14 to 16 and table 7 of the
//! BLAST paper.

use crate::checks;
use crate::go::engine;
use crate::settings::{OperatorKind, Settings};
use clap::Args;
use greenup_app::{interrupt, machine, stdout};
use greenup_device::cuda::Gpu;
use greenup_files::Outputs;
use greenup_hydro::HydroError;
use greenup_hydro::engine::{Engine, Part};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::Mesh;
use greenup_hydro::run::Clock;
use greenup_hydro::work::of_part;
use greenup_meter::Problem;
use greenup_meter::choose::{Target, sensors};
use greenup_meter::sensor::{Quantity, Sensor};
use greenup_model::predict;
use greenup_report::scaling_figure::{Panel, Series, over_time};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
pub struct StudyArgs {
    /// Kinematic intervals per direction, held constant across orders
    #[arg(long, default_value_t = 48)]
    nodes: usize,
    #[arg(long, default_value_t = 3)]
    dim: usize,
    /// Orders; those that do not divide the nodes take the nearest number of zones
    #[arg(long, value_delimiter = ',', default_value = "2,3,4")]
    orders: Vec<usize>,
    /// cpu, or cuda or cuda:N for a GPU
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 3.0)]
    window: f64,
    /// Machine to predict the matrix-free parts by: its name (`greenup machines` lists them), or a file as `greenup fit`
    /// writes it
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Energy sensor; none: time alone
    #[arg(long, value_name = "ID")]
    sensor: Option<String>,
    /// Threads [default: all cores]
    #[arg(long)]
    threads: Option<usize>,
    /// Keep rows as JSON, and beside them the traces of power as .csv and .png
    #[arg(short, long, value_name = "FILE.json")]
    out: Option<PathBuf>,
}

/// What was measured of one kind of work.
#[derive(Clone, Debug, Serialize)]
struct Row {
    order: usize,
    operator: OperatorKind,
    /// `step`, `corner`, `solve`
    work: String,
    zones: usize,
    unknowns: usize,
    repetitions: usize,
    seconds: f64,
    watts: Option<f64>,
    joules: Option<f64>,
    /// Of whole steps.
    joules_per_unknown: Option<f64>,
    /// By the machine: seconds and joules.
    predicted: Option<(f64, Option<f64>)>,
}

/// A counter of joules, whose means are right, and a meter of watts, which follows changes.
struct Sensors {
    energy: Option<Box<dyn Sensor>>,
    power: Option<Box<dyn Sensor>>,
}

/// Times, and joules or watts.
type Trace = Vec<(f64, f64)>;

/// What sensors said while something ran.
#[derive(Default)]
struct Traces {
    energy: Trace,
    power: Trace,
}

impl StudyArgs {
    /// # Errors
    /// Values that are not valid, or an output that cannot be written.
    fn check(&self) -> Result<(), HydroError> {
        if !(1..=3).contains(&self.dim) {
            return Err(HydroError(format!("--dim {}: 1, 2 or 3", self.dim)));
        }
        if let Some(order) = self.orders.iter().find(|o| !(1..=8).contains(*o)) {
            return Err(HydroError(format!("--orders {order}: orders are 1 to 8")));
        }
        if !(self.window > 0.0 && self.window.is_finite()) {
            return Err(HydroError(format!(
                "--window {}: it must be above 0",
                self.window
            )));
        }
        if let Some(path) = &self.out {
            let mut o = Outputs::new();
            for ending in ["json", "csv", "png"] {
                // The traces lie beside it under its name.
                let path = match ending {
                    "json" => path.clone(),
                    _ => path.with_extension(ending),
                };
                o.file(path, &[ending])?;
            }
        }
        Ok(())
    }
}

pub fn study(args: &StudyArgs) -> Result<(), HydroError> {
    args.check()?;
    checks::start_threads(args.threads)?;
    rayon::scope(|_| within(args))
}

fn within(args: &StudyArgs) -> Result<(), HydroError> {
    let unusable = |p: Problem| HydroError(format!("{}: {}; {}", p.id, p.cause, p.cure));
    let target = if args.device == "cpu" {
        Target::Host
    } else {
        let n = args.device.split_once(':').map_or(Ok(0), |d| d.1.parse());
        let n = n.map_err(|_| HydroError(format!("invalid device: {}", args.device)))?;
        let gpu = Gpu::numbered(n).map_err(|e| HydroError(e.to_string()))?;
        Target::Gpu(gpu.bus_id.parse().map_err(unusable)?)
    };
    let machine = args
        .machine
        .as_deref()
        .map(machine::load)
        .transpose()
        .map_err(|e| {
            let hint = e.hint().map_or_else(String::new, |h| format!("; {h}"));
            HydroError(format!("{e}{hint}"))
        })?;
    let mut busy = |s: f64| {
        let begin = Instant::now();
        while begin.elapsed().as_secs_f64() < s {
            std::hint::spin_loop();
        }
    };
    let chosen = sensors(args.sensor.as_deref(), target, 0.3, &mut busy).map_err(unusable)?;
    if let Some(why) = &chosen.missing {
        let _ = writeln!(std::io::stderr(), "no energy: {why}");
    }
    let mut sensors = Sensors {
        energy: None,
        power: None,
    };
    for s in chosen.sensors {
        let place = match s.info().quantity {
            Quantity::Energy => &mut sensors.energy,
            Quantity::Power => &mut sensors.power,
        };
        place.get_or_insert(s);
    }
    let mut rows = Vec::new();
    let mut traces: Vec<(String, Traces)> = Vec::new();
    'all: for order in &args.orders {
        for operator in [OperatorKind::Full, OperatorKind::MatrixFree] {
            let zones = (args.nodes as f64 / *order as f64).round().max(1.0) as usize;
            let name = vec![zones.to_string(); args.dim].join("x");
            let s = Settings {
                mesh: Some(name.clone()),
                refine: Some(0),
                order: Some(*order),
                operator: Some(operator),
                device: Some(args.device.clone()),
                cg_tol: Some(1e-8),
                ..Settings::default()
            };
            let (problem, s) = s.resolved()?;
            let mesh = Mesh::open_if(&name, 0, &mut |shape, zones| checks::size(&s, shape, zones))?;
            let (hydro, state) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
            let mut engine = engine(&hydro, &s)?;
            let rate = engine.start(&state)?;
            let mut clock = Clock::new(rate, hydro.cfl)?;
            // A few steps, so that matter moves.
            clock
                .go(
                    &mut *engine,
                    hydro.cfl,
                    (f64::MAX, Some(5)),
                    interrupt::flag(),
                    &mut |_, _| Ok(()),
                )
                .map_err(|e| HydroError(e.to_string()))?;
            let dt = 0.3 * clock.dt;
            for (work, part) in [
                ("step", None),
                ("corner", Some(Part::Corner)),
                ("solve", Some(Part::Solve)),
            ] {
                if interrupt::requested() {
                    break 'all;
                }
                let mut once = |e: &mut dyn Engine| match part {
                    Some(part) => e.part(part),
                    None => e.step(dt).and_then(|_| e.accept()),
                };
                let (n, seconds, trace) =
                    measured(&mut *engine, &mut once, args.window, &mut sensors)?;
                // It was cut short.
                if interrupt::requested() {
                    break 'all;
                }
                let watts = mean_power(&trace.energy);
                let joules = watts.map(|w| w * seconds);
                let spent = engine.spent();
                let iterations = spent.iterations / spent.solves.max(1) as f64;
                let predicted = machine
                    .as_ref()
                    .zip(part)
                    .filter(|_| operator == OperatorKind::MatrixFree)
                    .and_then(|(m, part)| predict(m, &of_part(&hydro, part, iterations)).ok())
                    .map(|p| (p.time_s, p.energy_j));
                let unknowns = state.v.len() + state.e.len();
                rows.push(Row {
                    order: *order,
                    operator,
                    work: work.to_owned(),
                    zones: hydro.space.zones,
                    unknowns,
                    repetitions: n,
                    seconds,
                    watts,
                    joules,
                    joules_per_unknown: joules
                        .filter(|_| work == "step")
                        .map(|j| j / unknowns as f64),
                    predicted,
                });
                traces.push((format!("Q{order} {operator:?} {work}"), trace));
                // A kill loses only what is being measured.
                keep_numbers(args, &rows, &traces)?;
            }
        }
    }
    let _saving = interrupt::saving();
    print(&rows);
    keep(args, &rows, &traces)?;
    if interrupt::requested() {
        return Err(HydroError(format!(
            "stopped after {} measurements",
            rows.len()
        )));
    }
    Ok(())
}

/// Repeats for a while: how often, seconds each, joules over time.
fn measured(
    engine: &mut dyn Engine,
    once: &mut dyn FnMut(&mut dyn Engine) -> Result<(), HydroError>,
    window: f64,
    sensors: &mut Sensors,
) -> Result<(usize, f64, Traces), HydroError> {
    once(engine)?;
    let mut trace = Traces::default();
    let mut read = |trace: &mut Traces| {
        for (sensor, to) in [
            (&mut sensors.energy, &mut trace.energy),
            (&mut sensors.power, &mut trace.power),
        ] {
            if let Some(r) = sensor.as_mut().and_then(|s| s.read().ok()) {
                to.push((r.at_s, r.value));
            }
        }
    };
    read(&mut trace);
    let begin = Instant::now();
    let (mut n, mut last) = (0, 0.0);
    loop {
        once(engine)?;
        n += 1;
        let now = begin.elapsed().as_secs_f64();
        if now - last > 0.1 {
            last = now;
            read(&mut trace);
        }
        if now >= window || interrupt::requested() {
            break;
        }
    }
    let seconds = begin.elapsed().as_secs_f64() / n as f64;
    read(&mut trace);
    Ok((n, seconds, trace))
}

/// Of a counter of joules, between changes, without the first fifth, in which clocks and voltages settle.
fn mean_power(trace: &Trace) -> Option<f64> {
    let (last, first) = (trace.last()?, trace.get(trace.len() / 5)?);
    (last.0 > first.0 && last.1 > first.1).then(|| (last.1 - first.1) / (last.0 - first.0))
}

fn print(rows: &[Row]) {
    let mut out =
        String::from("order  operator     work      ms        W         J    J/unknown/step\n");
    let or = |x: Option<f64>, digits: usize| {
        x.map_or_else(|| "-".to_owned(), |x| format!("{x:.digits$}"))
    };
    for r in rows {
        let operator = format!("{:?}", r.operator);
        let each = r
            .joules_per_unknown
            .map_or_else(|| "-".to_owned(), |j| format!("{j:.3e}"));
        let _ = writeln!(
            out,
            "Q{}Q{}   {operator:<12} {:<7}{:>8.3}{:>9}{:>10}    {each}",
            r.order,
            r.order - 1,
            r.work,
            1e3 * r.seconds,
            or(r.watts, 1),
            or(r.joules, 3),
        );
        if let Some((time, energy)) = r.predicted {
            let _ = writeln!(
                out,
                "       by the machine       {:>8.3}{:>9}{:>10}",
                1e3 * time,
                or(energy.map(|e| e / time), 1),
                or(energy, 3)
            );
        }
    }
    let find = |order: usize, operator: OperatorKind| {
        rows.iter()
            .find(|r| r.order == order && r.operator == operator && r.work == "step")
    };
    let mut compare = |words: String, base: &Row, new: &Row| {
        let speedup = base.seconds / new.seconds;
        let _ = write!(out, "{words}: speedup {speedup:.2}");
        if let (Some(a), Some(b)) = (base.joules, new.joules) {
            let greenup = a / b;
            let _ = write!(
                out,
                ", powerup {:.2}, greenup {greenup:.2}",
                greenup / speedup
            );
        }
        out.push('\n');
    };
    let mut orders: Vec<usize> = rows.iter().map(|r| r.order).collect();
    orders.dedup();
    for o in &orders {
        if let (Some(a), Some(b)) = (
            find(*o, OperatorKind::Full),
            find(*o, OperatorKind::MatrixFree),
        ) {
            compare(format!("Q{o}Q{}, matrix-free over full", o - 1), a, b);
        }
    }
    for o in orders.iter().skip(1) {
        for kind in [OperatorKind::Full, OperatorKind::MatrixFree] {
            if let (Some(a), Some(b)) = (find(orders[0], kind), find(*o, kind)) {
                compare(
                    format!(
                        "Q{o}Q{} over Q{}Q{}, {kind:?}",
                        o - 1,
                        orders[0],
                        orders[0] - 1
                    ),
                    a,
                    b,
                );
            }
        }
    }
    stdout::bytes(out.as_bytes());
}

/// Writes rows and traces.
fn keep_numbers(
    args: &StudyArgs,
    rows: &[Row],
    traces: &[(String, Traces)],
) -> Result<(), HydroError> {
    let Some(path) = &args.out else {
        return Ok(());
    };
    let json = serde_json::to_vec_pretty(rows).map_err(|e| HydroError(e.to_string()))?;
    greenup_files::write(path, &json)?;
    let mut csv = String::from("work,time_s,quantity,value\n");
    for (name, trace) in traces {
        for (quantity, all) in [("joules", &trace.energy), ("watts", &trace.power)] {
            for (t, value) in all {
                let _ = writeln!(csv, "{name},{t},{quantity},{value}");
            }
        }
    }
    if traces.iter().any(|(_, t)| !t.energy.is_empty()) {
        greenup_files::write(path.with_extension("csv"), csv)?;
    }
    Ok(())
}

/// Writes rows, traces and their figure.
fn keep(args: &StudyArgs, rows: &[Row], traces: &[(String, Traces)]) -> Result<(), HydroError> {
    keep_numbers(args, rows, traces)?;
    let Some(path) = &args.out else {
        return Ok(());
    };
    let mut series = Vec::new();
    for (name, trace) in traces {
        let Some(first) = trace.power.first() else {
            continue;
        };
        series.push(Series {
            name: name.clone(),
            points: trace
                .power
                .iter()
                .map(|(t, w)| (t - first.0, *w, *w, *w))
                .collect(),
        });
    }
    if series.is_empty() {
        return Ok(());
    }
    let panels: Vec<Panel> = ["step", "corner", "solve"]
        .iter()
        .map(|work| Panel {
            label: format!("power, {work}"),
            unit: "W".into(),
            series: series
                .iter()
                .filter(|s| s.name.ends_with(work))
                .cloned()
                .collect(),
        })
        .collect();
    let svg = over_time("power over time", "time, s", &panels);
    let png = greenup_report::png::png(&svg, 1.5).map_err(|e| HydroError(e.to_string()))?;
    Ok(greenup_files::write(path.with_extension("png"), &png)?)
}
