//! `hydro study`: time, power and energy of steps and their parts, for both assemblies and several orders, as in
//! figures 14 to 16 and table 7 of the BLAST paper.

pub mod compare;
mod figures;
mod page;
mod record;
pub mod report;
mod text;

use crate::HydroError;
use crate::engine::{Engine, Part};
use crate::hydro::Hydro;
use crate::mesh::Mesh;
use crate::session::checks;
use crate::session::prepare::engine;
use crate::session::settings::{Assembly, Settings};
use crate::time::stepping::Clock;
use crate::tuning::cost_model::of_part;
use clap::Args;
use greenup_app::args::{DeviceArg, FigureArgs, MachineArg, SensorArg, ThreadsArg};
use greenup_app::output::write_chart;
use greenup_app::progress::Bars;
use greenup_app::{AppError, Result, interrupt, print, sensors};
use greenup_device::DeviceSpec;
use greenup_files::Outputs;
use greenup_meter::choose::found;
use greenup_meter::sensor::{Quantity, Sensor};
use greenup_meter::{Measurement, Meter, Policy, Run};
use greenup_model::{Machine, predict};
use greenup_report::provenance::Provenance;
use record::{Row, Study, Trace, Traced, WORK};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

#[derive(Args)]
pub struct StudyArgs {
    /// Kinematic intervals per direction, held constant across orders
    #[arg(long, value_name = "N", default_value_t = 48)]
    intervals: usize,
    /// Dimension of the mesh: 1, 2 or 3
    #[arg(long, value_name = "D", default_value_t = 3)]
    dim: usize,
    /// Kinematic orders; the number of zones is rounded
    #[arg(
        long,
        value_name = "K,...",
        value_delimiter = ',',
        default_value = "2,3,4"
    )]
    orders: Vec<usize>,
    /// Assembly of the operators [default: both]
    #[arg(long, value_enum)]
    assembly: Option<Assembly>,
    /// Kinds of work: whole steps, the corner force alone, the solve for accelerations alone
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "step,corner,solve",
        value_parser = clap::builder::PossibleValuesParser::new(WORK.map(|w| w.0))
    )]
    work: Vec<String>,
    #[command(flatten)]
    device: DeviceArg,
    /// Duration of each measurement, s
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    window: f64,
    #[command(flatten)]
    machine: MachineArg,
    #[command(flatten)]
    sensor: SensorArg,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Write the rows as JSON, and files of the same name: an HTML page, and the traces of power as .csv and .png
    #[arg(short, long, value_name = "FILE.json")]
    out: Option<PathBuf>,
    /// Print the rows as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: FigureArgs,
}

/// Steps before a measurement.
const STEPS_BEFORE: usize = 5;

/// An energy meter, a power sensor for traces, and the energy counter of the CPU while a GPU computes.
struct Meters {
    meter: Meter,
    power: Option<Box<dyn Sensor>>,
    host: Option<Box<dyn Sensor>>,
}

impl StudyArgs {
    fn check(&self) -> Result {
        if !(1..=3).contains(&self.dim) {
            return Err(AppError::new(format!("--dim {}: use 1, 2 or 3", self.dim)));
        }
        if let Some(order) = self.orders.iter().find(|o| !(1..=8).contains(*o)) {
            return Err(AppError::new(format!("--orders {order}: use 1 to 8")));
        }
        if !(self.window > 0.0 && self.window.is_finite()) {
            return Err(AppError::new(format!(
                "--window {}: it must be above 0",
                self.window
            )));
        }
        if let Some(path) = &self.out {
            let mut o = Outputs::new();
            for ending in ["json", "html", "csv", "png"] {
                // All have the same name.
                let path = match ending {
                    "json" => path.clone(),
                    _ => path.with_extension(ending),
                };
                o.file(path, &[ending])?;
            }
        }
        Ok(())
    }

    fn meters(&self) -> Result<Meters> {
        let target = match self.device.device.gpu() {
            None => sensors::Target::Host,
            Some(n) => sensors::on_gpu(&sensors::gpu(Some(&n.to_string()))?)?,
        };
        let named = self.sensor.sensor.as_deref();
        let chosen = sensors::sensors(named, target, 0.3)?;
        if let Some(why) = &chosen.missing {
            print::note(format!("no energy: {why}"));
        }
        // A second sensor of the same device that follows changes of power.
        let power = chosen.main().and_then(|main| {
            let device = main.rsplit(':').next().unwrap_or_default().to_owned();
            found(named)
                .into_iter()
                .flatten()
                .find(|s| s.info().quantity == Quantity::Power && s.info().id.ends_with(&device))
        });
        let host = match (self.device.device.gpu(), named) {
            (None, _) | (_, Some(_)) => None,
            // Without a sensor of the CPU there is nothing to tell: the host's power is estimated later, if at all.
            _ => (sensors::sensors(None, sensors::Target::Host, 0.3).ok())
                .and_then(|chosen| chosen.sensors.into_iter().next())
                .filter(|s| s.info().quantity == Quantity::Energy),
        };
        let policy = Policy {
            window_s: self.window / 3.0,
            warmup_s: self.window / 5.0,
            max_warmups: 1,
            min_repeats: 3,
            max_repeats: 3,
            ..Policy::quick()
        };
        Ok(Meters {
            meter: chosen.meter(policy),
            power,
            host,
        })
    }
}

pub fn study(args: &StudyArgs) -> Result {
    args.check()?;
    args.threads.start()?;
    // Inside the pool, tasks start without waking a thread.
    rayon::scope(|_| run_in_pool(args))
}

fn run_in_pool(args: &StudyArgs) -> Result {
    let mut provenance = Provenance::of_process();
    let start = Instant::now();
    let machine = args.machine.load()?;
    let mut meters = args.meters()?;
    let device = args.device.device.of_rank((0, 1), 1);
    let mut rows = Vec::new();
    let mut traces: Vec<(Traced, Trace)> = Vec::new();
    'all: for order in &args.orders {
        let assemblies = [Assembly::Full, Assembly::Partial].into_iter();
        for assembly in assemblies.filter(|a| args.assembly.is_none_or(|only| only == *a)) {
            let mut prepared = prepared(args, *order, assembly)?;
            let wanted = |(name, _): &(&str, _)| args.work.iter().any(|w| w == name);
            for (work, part) in WORK.into_iter().filter(wanted) {
                let of = Traced {
                    order: *order,
                    assembly,
                    work,
                };
                let by = (&device, machine.as_ref());
                let Some((row, trace)) = row(&of, part, &mut prepared, &mut meters, by)? else {
                    break 'all;
                };
                rows.push(row);
                traces.push((of, trace));
                // A kill loses only the measurement under way.
                provenance.took("measurements", start.elapsed().as_secs_f64());
                if let Some(path) = &args.out {
                    record::write(path, &rows, &traces, &provenance)?;
                }
            }
        }
    }
    let _saving = interrupt::saving();
    if args.json {
        print::json(&record::value(&rows, &provenance))?;
    } else {
        text::print(&rows);
    }
    if let Some(path) = &args.out {
        record::write(path, &rows, &traces, &provenance)?;
        let study = Study {
            rows: rows.clone(),
            traces,
            provenance: provenance.facts(),
        };
        write_drawings(path, &study, &provenance, args)?;
    }
    if interrupt::requested() {
        return Err(AppError::interrupted(format!(
            "stopped after {} measurements",
            rows.len()
        )));
    }
    Ok(())
}

/// Measures one kind of work on a device, and predicts it; `None` if the user asked to stop.
fn row(
    of: &Traced,
    part: Option<Part>,
    Prepared {
        hydro,
        engine,
        dt,
        unknowns,
    }: &mut Prepared,
    meters: &mut Meters,
    (device, machine): (&DeviceSpec, Option<&Machine>),
) -> Result<Option<(Row, Trace)>> {
    if interrupt::requested() {
        return Ok(None);
    }
    let mut once = |e: &mut dyn Engine| match part {
        Some(part) => e.part(part),
        None => e.step(*dt).and_then(|_| e.accept()),
    };
    let mut trace = Trace::new();
    let begin = Counted::read(&mut meters.host);
    let measured = measured(meters, &mut **engine, &mut once, &mut trace)?;
    let host_watts = begin.and_then(|b| b.power_until(Counted::read(&mut meters.host)?));
    // An interrupted measurement is dropped.
    let Some(m) = measured.filter(|_| !interrupt::requested()) else {
        return Ok(None);
    };
    let timings = engine.timings();
    let iterations = timings.iterations / timings.solves.max(1) as f64;
    let predicted = machine
        .zip(part)
        .filter(|_| of.assembly == Assembly::Partial)
        .and_then(|(m, part)| predict(m, &of_part(hydro, part, iterations)).ok())
        .map(|p| (p.time_s, p.energy_j));
    let joules = m.energy_j.map(|e| e.median);
    let row = Row {
        order: of.order,
        assembly: of.assembly,
        work: of.work.to_owned(),
        zones: hydro.space.zones,
        unknowns: *unknowns,
        seconds: m.time_s.median,
        seconds_error: m.time_s.relative_error(),
        watts: m.power_w.map(|w| w.median),
        joules,
        device: device.to_string(),
        host_watts,
        joules_per_unknown: joules
            .filter(|_| of.work == "step")
            .map(|j| j / *unknowns as f64),
        predicted,
    };
    Ok(Some((row, trace)))
}

/// Writes the page, and the figure of the traces if there are any.
fn write_drawings(path: &Path, study: &Study, provenance: &Provenance, args: &StudyArgs) -> Result {
    let page = path.with_extension("html");
    greenup_files::write(&page, page::page(study)?)?;
    print::note(format!("wrote {} and {}", path.display(), page.display()));
    let Some(mut chart) = figures::power(&study.traces) else {
        return Ok(());
    };
    chart.origin = provenance.pairs();
    write_chart(&path.with_extension("png"), &chart, &args.look.look())
}

/// The Sedov problem after a few steps.
struct Prepared {
    hydro: Arc<Hydro>,
    engine: Box<dyn Engine>,
    /// The time step of the measured work.
    dt: f64,
    /// Number of velocities and energies.
    unknowns: usize,
}

/// Sets up the Sedov problem and takes a few steps.
fn prepared(args: &StudyArgs, order: usize, assembly: Assembly) -> Result<Prepared> {
    let zones = (args.intervals as f64 / order as f64).round().max(1.0) as usize;
    let name = vec![zones.to_string(); args.dim].join("x");
    let s = Settings {
        mesh: Some(name.clone()),
        refine: Some(0),
        order: Some(order),
        assembly: Some(assembly),
        device: Some(args.device.device.clone()),
        cg_tol: Some(1e-8),
        ..Settings::default()
    };
    let (problem, s) = s.resolved()?;
    let mesh = Mesh::open_if(&name, 0, &mut |shape, zones| checks::size(&s, shape, zones))?;
    let (hydro, state) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
    let hydro = Arc::new(hydro);
    let mut engine = engine(&hydro, &s, s.device())?;
    let rate = engine.start(&state)?;
    let mut clock = Clock::new(rate, hydro.cfl)?;
    // A few steps, so that the fluid moves.
    clock.advance(
        &mut *engine,
        hydro.cfl,
        (f64::MAX, Some(STEPS_BEFORE)),
        interrupt::flag(),
        &mut |_, _| Ok(()),
    )?;
    let unknowns = state.v.len() + state.e.len();
    Ok(Prepared {
        hydro,
        engine,
        dt: 0.3 * clock.dt,
        unknowns,
    })
}

/// A reading of the CPU's energy counter.
#[derive(Clone, Copy)]
struct Counted {
    at_s: f64,
    joules: f64,
}

impl Counted {
    fn read(sensor: &mut Option<Box<dyn Sensor>>) -> Option<Self> {
        let r = sensor.as_mut()?.read().ok()?;
        Some(Self {
            at_s: r.at_s,
            joules: r.value,
        })
    }

    /// Mean power between two readings, W.
    fn power_until(self, end: Self) -> Option<f64> {
        let watts = (end.joules - self.joules) / (end.at_s - self.at_s);
        (watts.is_finite() && watts > 0.0).then_some(watts)
    }
}

/// Time and energy of one repetition; the trace of power goes to `trace`.
fn measured(
    meters: &mut Meters,
    engine: &mut dyn Engine,
    once: &mut dyn FnMut(&mut dyn Engine) -> std::result::Result<(), HydroError>,
    trace: &mut Trace,
) -> Result<Option<Measurement>> {
    let Meters { meter, power, .. } = meters;
    let mut last = 0.0;
    let begin = Instant::now();
    meter.measure(&Bars::quiet(), &mut |seconds: f64| {
        let start = Instant::now();
        let mut n = 0usize;
        loop {
            once(engine)?;
            n += 1;
            let now = begin.elapsed().as_secs_f64();
            if now - last > 0.1 {
                last = now;
                trace.extend(
                    power
                        .as_mut()
                        .and_then(|s| s.read().ok())
                        .map(|r| (r.at_s, r.value)),
                );
            }
            if start.elapsed().as_secs_f64() >= seconds || interrupt::requested() {
                break;
            }
        }
        Ok::<_, AppError>(Run {
            iterations: n as f64,
            seconds: start.elapsed().as_secs_f64(),
        })
    })
}
