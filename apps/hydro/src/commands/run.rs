//! A run from its settings to its report.

use crate::commands::animation::Animation;
use crate::commands::checks;
use crate::commands::figures::{self, Final};
use crate::commands::history::History;
use crate::commands::page::{self, Work};
use crate::commands::ranks::{self, Needs, Prepared};
use crate::commands::settings::Settings;
use crate::commands::snapshots::Snapshots;
use greenup_app::args::Device;
use greenup_app::progress::bar;
use greenup_app::provenance::Provenance;
use greenup_app::ranks::Boards;
use greenup_app::{AppError, Result};
use greenup_app::{interrupt, print, sensors, stdout};
use greenup_device::cuda::Gpu as Found;
use greenup_hydro::cpu::{Cpu, FullAssembly, PartialAssembly};
use greenup_hydro::engine::{Engine, State, Timings};
use greenup_hydro::gpu::Gpu;
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::Mesh;
use greenup_hydro::output::checkpoint;
use greenup_hydro::output::checkpoint::Input;
use greenup_hydro::output::{Line, vtu};
use greenup_hydro::problem::Problem;
use greenup_hydro::time::stepping::{Clock, Termination};
use greenup_hydro::tuning::tuner::{Next, Tuner};
use greenup_meter::Sensor;
use greenup_ranks::Ranks;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The point from which a run continues.
#[derive(Clone)]
pub struct RestartState {
    /// Total energy at the start of the run.
    pub energy: f64,
    pub clock: Clock,
    pub state: State,
}

/// An engine for a problem.
pub fn engine(hydro: &Arc<Hydro>, s: &Settings, device: Device) -> Result<Box<dyn Engine>> {
    let full = s.is_full(hydro.space.element.shape);
    if let Some(ordinal) = device.gpu() {
        let parameters = s.kernels.as_deref().unwrap_or_default();
        let mut gpu = Gpu::open(Arc::clone(hydro), ordinal, s.ode(), full, parameters)?;
        gpu.profile = s.profile;
        if matches!(device, Device::CudaAndCpu(_)) {
            gpu.share(s.share)?;
        }
        return Ok(Box::new(gpu));
    }
    Ok(if full {
        let operator = FullAssembly::new(Arc::clone(hydro))?;
        Box::new(Cpu::new(operator, s.ode(), hydro))
    } else {
        let operator = PartialAssembly::new(Arc::clone(hydro))?;
        Box::new(Cpu::new(operator, s.ode(), hydro))
    })
}

/// Runs a problem, from the initial state or from a checkpoint.
pub fn run(problem: Problem, s: &Settings, from: Option<RestartState>, json: bool) -> Result {
    ranks::on_all(s, |team| {
        ranks::check(s, &**team)?;
        // The first rank writes.
        if team.rank() == 0 {
            checks::outputs(s)?;
        }
        let inputs = checks::inputs(s)?;
        of_rank((s, &inputs), problem.clone(), from.clone(), json, team)
    })
}

fn of_rank(
    (s, inputs): (&Settings, &[Input]),
    problem: Problem,
    from: Option<RestartState>,
    json: bool,
    team: &Arc<dyn Ranks>,
) -> Result {
    let first = team.rank() == 0;
    let mesh = Mesh::open_if(s.mesh(), s.refine(), &mut |shape, zones| {
        checks::size(s, shape, zones)
    })?;
    s.figures.check_mesh(&mesh)?;
    let line = Line::through(&mesh);
    let (hydro, state) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
    drop(mesh);
    let unknowns = state.v.len() + state.e.len();
    let zones = hydro.space.zones;
    let Prepared {
        hydro,
        mut engine,
        stop,
    } = ranks::prepare(Arc::new(hydro), s, team)?;
    let restart = from.as_ref().map(|k| k.clock);
    let (start, mut clock) = match from {
        Some(k)
            if k.state.x.len() == state.x.len()
                && k.state.v.len() == state.v.len()
                && k.state.e.len() == state.e.len() =>
        {
            engine.start(&k.state)?;
            (k.energy, k.clock)
        }
        Some(_) => return Err(AppError::new("the checkpoint is of another mesh")),
        None => {
            let rate = engine.start(&state)?;
            let (internal, kinetic) = engine.energies()?;
            (internal + kinetic, Clock::new(rate, hydro.cfl)?)
        }
    };
    drop(state);
    let before = clock.steps;
    let mut history = match s.history.as_ref().filter(|_| first) {
        None => None,
        Some(path) => Some(History::new(path, restart.map(|c| c.steps))?),
    };
    let (mut snapshots, mut animation) = match first {
        true => (
            Snapshots::new(s, restart.map(|c| c.t))?,
            Animation::new(s, clock.t)?,
        ),
        false => (None, None),
    };
    let needs = Needs {
        state: animation.is_some() || snapshots.as_ref().is_some_and(|f| f.due(clock.t)),
        energies: false,
    };
    if let Some(state) = needs.get(&**team, &mut *engine)?.state.filter(|_| first) {
        if let Some(f) = snapshots.as_mut().filter(|f| f.due(clock.t)) {
            f.add(&hydro, &state, clock.t)?;
        }
        if let Some(a) = &mut animation {
            a.add(&hydro, &state, (clock.t, clock.steps));
        }
    }
    let counter = match ranks::device(s, &**team)?.gpu() {
        Some(n) => Found::all()?.get(n).and_then(sensors::energy_counter),
        None => None,
    };
    let mut energy = Energy(counter, None);
    energy.read();
    let bar = bar(1000, "");
    let mut provenance = Provenance::of_process();
    let begin = Instant::now();
    let write_checkpoint = |c: &Clock, state: &State| match &s.checkpoint {
        Some(path) => {
            let _saving = interrupt::saving();
            checkpoint::write(path, (s, inputs), start, (c, state))
        }
        None => Ok(()),
    };
    let (end, cfl) = (s.t_final(), hydro.cfl);
    let period = s.period.unwrap_or(40).max(1);
    let mut tuner = s.tune.then(|| Tuner::new(engine.candidates(), period));
    let mut stepped = Instant::now();
    let mut messages: Vec<String> = Vec::new();
    let termination = clock.advance(
        &mut *engine,
        cfl,
        (end, s.steps),
        stop.flag(),
        &mut |c, engine| {
            let step_s = stepped.elapsed().as_secs_f64();
            if let Some(next) = tuner.as_mut().map(|t| t.step(step_s)) {
                match next {
                    Next::Same => {}
                    Next::Try(n) => engine.choose(n)?,
                    Next::Keep(n, message) => {
                        engine.choose(n)?;
                        bar.println(&message);
                        messages.push(message);
                    }
                }
            }
            if c.steps.is_multiple_of(period)
                && s.share.is_none()
                && let Some(message) = engine.balance()?
            {
                bar.println(&message);
                messages.push(message);
            }
            bar.set_position((1000.0 * c.t / end) as u64);
            let saves = s.checkpoint.is_some() && c.steps.is_multiple_of(s.every());
            let needs = Needs {
                energies: history.is_some() || !bar.is_hidden() && c.steps.is_multiple_of(10),
                state: saves
                    || snapshots.as_ref().is_some_and(|f| f.due(c.t))
                    || animation.as_ref().is_some_and(|a| a.due(c.t)),
            };
            let got = needs.get(&**team, engine)?;
            if let Some(energies) = got.energies.filter(|_| first) {
                let drift = (energies.0 + energies.1 - start) / start;
                bar.set_message(format!(
                    "step {}, t {:.5}, dt {:.3e}, drift {drift:.1e}",
                    c.steps, c.t, c.dt
                ));
                if let Some(h) = &mut history {
                    h.add(c, energies, start)?;
                }
            }
            if let Some(state) = got.state.filter(|_| first) {
                if let Some(f) = snapshots.as_mut().filter(|f| f.due(c.t)) {
                    f.add(&hydro, &state, c.t)?;
                }
                if let Some(a) = animation.as_mut().filter(|a| a.due(c.t)) {
                    a.add(&hydro, &state, (c.t, c.steps));
                }
                if saves {
                    write_checkpoint(c, &state)?;
                }
            }
            stepped = Instant::now();
            Ok(())
        },
    );
    bar.finish_and_clear();
    let wall = begin.elapsed().as_secs_f64();
    let energy_j = energy.since(wall);
    if let Err(Termination::Failed(e)) = termination {
        // Other ranks may be elsewhere.
        if team.size() == 1 {
            write_checkpoint(&clock, &engine.state()?)?;
        }
        return Err(e.into());
    }
    let state = engine.state()?;
    if first {
        write_checkpoint(&clock, &state)?;
    }
    if let Err(inverted @ Termination::Inverted { .. }) = termination {
        return Err(match first {
            true => inverted_error(&inverted, s, &hydro, &state),
            false => AppError::new(inverted.to_string()),
        });
    }
    let boards = match ranks::device(s, &**team)?.gpu() {
        Some(_) => Boards::of(&**team, wall, energy_j)?,
        None => None,
    };
    let report = clock.report(&mut *engine, start)?;
    if !first {
        return stopped(s, &clock);
    }
    // The result is printed even if an output fails.
    let saving = interrupt::saving();
    provenance.took("steps", wall);
    let origin = provenance.pairs();
    let end_state = Final {
        h: &hydro,
        state: &state,
        clock: &clock,
        line: &line,
    };
    let last = figures::write(s, &end_state, &origin);
    let animated = animation.map_or(Ok(()), |a| a.write(&origin));
    drop(saving);
    if let Ok(lines) = &last {
        messages.extend(lines.iter().cloned());
    }
    let page = match &s.figures.html {
        Some(path) => {
            let work = Work {
                unknowns,
                steps: clock.steps - before,
                wall_s: wall,
            };
            page::page(s, &end_state, (&report, work), &messages, &provenance).and_then(|html| {
                greenup_files::write(path, html)?;
                print::note(format!("wrote {}", path.display()));
                Ok(())
            })
        }
        None => Ok(()),
    };
    let rate = 1e-6 * (unknowns * (clock.steps - before)) as f64 / wall;
    let text = if json {
        let mut value = serde_json::to_value(&report)?;
        value["wall_s"] = wall.into();
        value["mdof_steps_per_s"] = rate.into();
        value["messages"] = messages.clone().into();
        value["ranks"] = team.size().into();
        value["zones"] = zones.into();
        if let Some(boards) = &boards {
            value["boards"] = serde_json::to_value(boards)?;
        }
        value["unknowns"] = unknowns.into();
        value["timings"] = serde_json::to_value(engine.timings())?;
        value["provenance"] = serde_json::to_value(&provenance)?;
        value.to_string()
    } else {
        format!(
            "{} zones, {unknowns} unknowns: {} steps to t = {}, dt {:.6}, |e| {:.10e}\n\
             energy {:.12} internal + {:.12} kinetic, drift {:.1e}; {wall:.2} s, {rate:.3} Mdof steps/s",
            zones,
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
        for line in &messages {
            stdout::line(line);
        }
        if s.profile {
            stdout::bytes(parts(&engine.timings(), wall).as_bytes());
        }
    }
    last?;
    animated?;
    page?;
    stopped(s, &clock)
}

/// The energy counter of a GPU, and what it read before the steps, J.
struct Energy(Option<Box<dyn Sensor>>, Option<f64>);

impl Energy {
    /// Shortest steps whose energy is known: counters are updated every tenth of a second at best, s.
    const SHORTEST_S: f64 = 1.0;

    fn value(&mut self) -> Option<f64> {
        Some(self.0.as_mut()?.read().ok()?.value)
    }

    fn read(&mut self) {
        self.1 = self.value();
    }

    /// Energy since then, J; `None` without a counter, or of shorter steps.
    fn since(&mut self, seconds: f64) -> Option<f64> {
        (seconds >= Self::SHORTEST_S).then_some(())?;
        Some(self.value()? - self.1?)
    }
}

/// The error of a run that was stopped before its end.
fn stopped(s: &Settings, clock: &Clock) -> Result {
    if clock.t < s.t_final() && (s.steps.is_none() || interrupt::requested()) {
        let go_on = s.checkpoint.as_ref().map_or_else(String::new, |p| {
            format!("; `hydro restart {}` continues", p.display())
        });
        return Err(AppError::new(format!("stopped at t = {}{go_on}", clock.t)));
    }
    Ok(())
}

/// The error of a run whose zones inverted; the last state is written next to the checkpoint.
fn inverted_error(inverted: &Termination, s: &Settings, h: &Hydro, state: &State) -> AppError {
    let path = unused_name(s.checkpoint.as_deref());
    let written = match vtu(&path, h, state) {
        Ok(()) => format!("the last accepted state is in {}", path.display()),
        Err(e) => e.to_string(),
    };
    let (zone, j, position) = h.most_distorted_zone(state);
    AppError::new(format!(
        "{inverted}: the most distorted zone is {zone}, near {position:.4?}, with |J| {j:.2e} of its start; {written}. Fix: a smaller --cfl, a lower --order, a mesh that follows the flow, or an earlier --t-final"
    ))
}

/// An unused name next to the checkpoint.
fn unused_name(checkpoint: Option<&Path>) -> PathBuf {
    let mut stem = checkpoint.map_or_else(Default::default, |p| {
        let mut name = p.as_os_str().to_owned();
        name.push(".");
        name
    });
    stem.push("inverted");
    greenup_files::outputs::unused(stem, "vtu")
}

/// A table of the parts of the steps.
fn parts(timings: &Timings, wall: f64) -> String {
    let rows = [
        ("stress at quadrature points", timings.stress_s),
        ("corner forces, work", timings.force_s),
        ("CG solves", timings.solve_s),
        ("Runge–Kutta updates", timings.update_s),
    ];
    let mut out = String::new();
    for (name, s) in rows {
        out.push_str(&format!(
            "{name:<24}{s:>10.3} s {:>5.1} %\n",
            100.0 * s / wall
        ));
    }
    out.push_str(&format!(
        "{:.1} CG iterations per solve, {} evaluations\n",
        timings.iterations / timings.solves.max(1) as f64,
        timings.evaluations
    ));
    out
}
