//! A run from its settings to its report.

use crate::checks;
use crate::frames::{self, Frames};
use crate::history::History;
use crate::settings::{OperatorKind, Settings};
use greenup_app::{interrupt, stdout};
use greenup_hydro::checkpoint::Input;
use greenup_hydro::cpu::{Cpu, Full, MatrixFree};
use greenup_hydro::engine::{Engine, Spent, State};
use greenup_hydro::gpu::Gpu;
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::Mesh;
use greenup_hydro::output::{drawable, vtu};
use greenup_hydro::problem::Problem;
use greenup_hydro::run::{Clock, Ended};
use greenup_hydro::tuner::{Next, Tuner};
use greenup_hydro::{HydroError, checkpoint};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where a run goes on: its energy at the start, its clock and its state.
pub struct Kept {
    pub energy: f64,
    pub clock: Clock,
    pub state: State,
}

/// An engine for a problem.
pub fn engine<'a>(hydro: &'a Hydro, s: &Settings) -> Result<Box<dyn Engine + 'a>, HydroError> {
    let tensor = hydro.space.element.shape.tensor();
    let kind = s.operator.unwrap_or(if tensor {
        OperatorKind::MatrixFree
    } else {
        OperatorKind::Full
    });
    let device = s.device.as_deref().unwrap_or("cpu");
    if device != "cpu" {
        let (gpu, shared) = match device.strip_suffix("+cpu") {
            Some(gpu) => (gpu, true),
            None => (device, false),
        };
        let number = match gpu.strip_prefix("cuda") {
            Some("") => Some(0),
            Some(n) => n.strip_prefix(':').and_then(|n| n.parse().ok()),
            None => None,
        };
        let ordinal = number.ok_or_else(|| {
            HydroError(format!(
                "there is no device {device}: cpu, cuda, cuda:N, or cuda+cpu for both"
            ))
        })?;
        let full = kind == OperatorKind::Full;
        let choices = s.kernels.as_deref().unwrap_or_default();
        let mut gpu = Gpu::open(hydro, ordinal, s.ode(), full, choices)?;
        gpu.profile = s.profile;
        if shared {
            gpu.share(s.share)?;
        }
        return Ok(Box::new(gpu));
    }
    Ok(match kind {
        OperatorKind::Full => Box::new(Cpu::new(Full::new(hydro)?, s.ode(), hydro)),
        OperatorKind::MatrixFree => Box::new(Cpu::new(MatrixFree::new(hydro)?, s.ode(), hydro)),
    })
}

/// Runs, from the start or from what a checkpoint holds.
pub fn run(
    problem: Problem,
    s: &Settings,
    kept: Option<Kept>,
    json: bool,
) -> Result<(), HydroError> {
    checks::outputs(s)?;
    let inputs = checks::inputs(s)?;
    checks::start_threads(s.threads)?;
    // From within the pool, parts begin without waking anyone.
    rayon::scope(|_| within((s, &inputs), problem, kept, json))
}

fn within(
    (s, inputs): (&Settings, &[Input]),
    problem: Problem,
    kept: Option<Kept>,
    json: bool,
) -> Result<(), HydroError> {
    let mesh = Mesh::open_if(s.mesh(), s.refine(), &mut |shape, zones| {
        checks::size(s, shape, zones)
    })?;
    if s.png.is_some() {
        drawable(&mesh)?;
    }
    let (hydro, state) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
    drop(mesh);
    let unknowns = state.v.len() + state.e.len();
    let mut engine = engine(&hydro, s)?;
    let restart = kept.as_ref().map(|k| k.clock);
    let (start, mut clock) = match kept {
        Some(k)
            if k.state.x.len() == state.x.len()
                && k.state.v.len() == state.v.len()
                && k.state.e.len() == state.e.len() =>
        {
            engine.start(&k.state)?;
            (k.energy, k.clock)
        }
        Some(_) => return Err(HydroError("the checkpoint is of another mesh".into())),
        None => {
            let rate = engine.start(&state)?;
            let (inner, outer) = engine.energies()?;
            (inner + outer, Clock::new(rate, hydro.cfl)?)
        }
    };
    drop(state);
    let before = clock.steps;
    let mut history = match &s.history {
        None => None,
        Some(path) => Some(History::new(path, restart.map(|c| c.steps))?),
    };
    let mut frames = Frames::new(s, restart.map(|c| c.t))?;
    if let Some(f) = frames.as_mut().filter(|f| f.due(clock.t)) {
        f.add(&hydro, &engine.state()?, clock.t)?;
    }
    let bar = progress();
    let begin = Instant::now();
    let keep = |c: &Clock, e: &mut dyn Engine| match &s.checkpoint {
        Some(path) => {
            let _saving = interrupt::saving();
            checkpoint::write(path, (s, inputs), start, (c, &e.state()?))
        }
        None => Ok(()),
    };
    let (end, cfl) = (s.t_final(), hydro.cfl);
    let period = s.period.unwrap_or(40).max(1);
    let mut tuner = s.tune.then(|| Tuner::new(engine.candidates(), period));
    let mut stepped = Instant::now();
    let mut said: Vec<String> = Vec::new();
    let ended = clock.go(
        &mut *engine,
        cfl,
        (end, s.steps),
        interrupt::flag(),
        &mut |c, engine| {
            let took = stepped.elapsed().as_secs_f64();
            if let Some(next) = tuner.as_mut().map(|t| t.seen(took)) {
                match next {
                    Next::Same => {}
                    Next::Try(n) => engine.choose(n)?,
                    Next::Keep(n, words) => {
                        engine.choose(n)?;
                        bar.println(&words);
                        said.push(words);
                    }
                }
            }
            if c.steps.is_multiple_of(period)
                && s.share.is_none()
                && let Some(words) = engine.balance()?
            {
                bar.println(&words);
                said.push(words);
            }
            bar.set_position((1000.0 * c.t / end) as u64);
            if history.is_some() || !bar.is_hidden() && c.steps.is_multiple_of(10) {
                let energies = engine.energies()?;
                let drift = (energies.0 + energies.1 - start) / start;
                bar.set_message(format!(
                    "step {}, t {:.5}, dt {:.3e}, drift {drift:.1e}",
                    c.steps, c.t, c.dt
                ));
                if let Some(h) = &mut history {
                    h.add(c, energies, start)?;
                }
            }
            if let Some(f) = frames.as_mut().filter(|f| f.due(c.t)) {
                f.add(&hydro, &engine.state()?, c.t)?;
            }
            if c.steps.is_multiple_of(s.every()) {
                keep(c, engine)?;
            }
            stepped = Instant::now();
            Ok(())
        },
    );
    bar.finish_and_clear();
    let wall = begin.elapsed().as_secs_f64();
    keep(&clock, &mut *engine)?;
    match ended {
        Ok(()) => {}
        Err(Ended::Wrong(e)) => return Err(e),
        Err(inverted @ Ended::Inverted { .. }) => {
            return Err(dumped(&inverted, s, &hydro, &engine.state()?));
        }
    }
    // The numbers are printed also where an output fails.
    let last = frames::last(s, &hydro, &engine.state()?, clock.t);
    if let Ok(lines) = &last {
        said.extend(lines.iter().cloned());
    }
    let report = clock.report(&mut *engine, start)?;
    let rate = 1e-6 * (unknowns * (clock.steps - before)) as f64 / wall;
    let text = if json {
        let mut value = serde_json::to_value(&report).map_err(|e| HydroError(e.to_string()))?;
        value["wall_s"] = wall.into();
        value["mdof_steps_per_s"] = rate.into();
        value["said"] = said.clone().into();
        value["zones"] = hydro.space.zones.into();
        value["unknowns"] = unknowns.into();
        value["spent"] =
            serde_json::to_value(engine.spent()).map_err(|e| HydroError(e.to_string()))?;
        value.to_string()
    } else {
        format!(
            "{} zones, {unknowns} unknowns: {} steps to t = {}, dt {:.6}, |e| {:.10e}\n\
             energy {:.12} internal + {:.12} kinetic, drift {:.1e}; {wall:.2} s, {rate:.3} Mdof steps/s",
            hydro.space.zones,
            report.steps,
            report.t,
            report.dt,
            report.e_norm,
            report.internal,
            report.kinetic,
            report.energy_drift
        )
    };
    stdout::line(text);
    if !json {
        for line in &said {
            stdout::line(line);
        }
        if s.profile {
            stdout::bytes(parts(&engine.spent(), wall).as_bytes());
        }
    }
    last?;
    if clock.t < end && (s.steps.is_none() || interrupt::requested()) {
        let go_on = s.checkpoint.as_ref().map_or_else(String::new, |p| {
            format!("; `hydro restart {}` goes on", p.display())
        });
        return Err(HydroError(format!("stopped at t = {}{go_on}", clock.t)));
    }
    Ok(())
}

/// The end of a run whose zones invert, with the last state beside the checkpoint.
fn dumped(inverted: &Ended, s: &Settings, h: &Hydro, state: &State) -> HydroError {
    let path = dump(s.checkpoint.as_deref());
    let kept = match vtu(&path, h, state) {
        Ok(()) => format!("the last state that was accepted is in {}", path.display()),
        Err(e) => e.to_string(),
    };
    let (zone, j, place) = h.narrowest(state);
    HydroError(format!(
        "{inverted}: the most distorted zone is {zone}, around {place:.4?}, with |J| {j:.2e} of its start; {kept}. Fix: a smaller --cfl, a lower --order, a mesh that follows the flow, or an earlier --t-final"
    ))
}

/// A name beside the checkpoint that no file has.
fn dump(checkpoint: Option<&Path>) -> PathBuf {
    let mut stem = checkpoint.map_or_else(Default::default, |p| {
        let mut name = p.as_os_str().to_owned();
        name.push(".");
        name
    });
    stem.push("inverted");
    greenup_files::outputs::unused(stem, "vtu")
}

/// A table of the parts of the steps.
fn parts(spent: &Spent, wall: f64) -> String {
    let rows = [
        ("stresses at the points", spent.stress_s),
        ("forces and work", spent.force_s),
        ("solves", spent.solve_s),
        ("sums of states", spent.update_s),
    ];
    let mut out = String::new();
    for (name, s) in rows {
        out.push_str(&format!(
            "{name:<24}{s:>10.3} s {:>5.1} %\n",
            100.0 * s / wall
        ));
    }
    out.push_str(&format!(
        "{:.1} iterations a solve, {} evaluations\n",
        spent.iterations / spent.solves.max(1) as f64,
        spent.evaluations
    ));
    out
}

fn progress() -> ProgressBar {
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% {msg}, {eta} left") {
        bar.set_style(style);
    }
    bar
}
