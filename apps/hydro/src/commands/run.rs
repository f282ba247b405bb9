//! A run from its settings to its report.

pub mod engine;

use crate::commands::animation::Animation;
use crate::commands::figures::{self, Final};
use crate::commands::history::History;
use crate::commands::page::{self, Work};
use crate::commands::ranks::{self, Prepared};
use crate::commands::saving::Saving;
use crate::commands::settings::Settings;
use crate::commands::snapshots::Snapshots;
use crate::commands::watch::Watch;
use crate::commands::{checks, mark, tuned};

use super::page::shown_drift;
use crate::commands::termination::{inverted_error, stopped};
use greenup_app::progress::bar;
use greenup_app::ranks::Boards;
use greenup_app::{AppError, Result, interrupt, print, sensors, stdout};
use greenup_device::cuda::Gpu as Found;
use greenup_hydro::engine::{State, Timings};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::Mesh;
use greenup_hydro::output::Line;
use greenup_hydro::output::checkpoint::{Input, Saved};
use greenup_hydro::problem::Problem;
use greenup_hydro::time::stepping::{Clock, Termination};
use greenup_hydro::tuning::tuner::{Next, Tuner};
use greenup_meter::Sensor;
use greenup_ranks::Ranks;
use greenup_report::provenance::Provenance;
use std::sync::Arc;
use std::time::Instant;

/// The point from which a run continues.
#[derive(Clone)]
pub struct RestartState {
    /// Total energy at the start of the run.
    pub energy: f64,
    pub clock: Clock,
    pub state: Saved,
    /// Time between the snapshots of the run that wrote it.
    pub snapshots_every: f64,
}

impl RestartState {
    /// The state of the part of this rank.
    ///
    /// # Errors
    /// It cannot be read, or belongs to another mesh.
    pub fn part(&self, p: &Prepared) -> Result<State> {
        let fits =
            (self.state.coordinates, self.state.energies) == (p.state.x.len(), p.state.e.len());
        let part = match &p.whole {
            Some(w) => self.state.part(w)?,
            None => fits.then(|| self.state.whole()).transpose()?,
        };
        part.ok_or_else(|| AppError::new("the checkpoint is of another mesh"))
    }
}

/// Runs a problem, from the initial state or from a checkpoint.
pub fn run(problem: Problem, s: &Settings, from: Option<RestartState>, json: bool) -> Result {
    ranks::on_all(s, |team| {
        ranks::check(s, &**team)?;
        let inputs = checks::inputs(s)?;
        let s = &mark::marked(s.clone(), &inputs);
        // The first rank writes.
        if team.rank() == 0 {
            checks::outputs(s)?;
        }
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
    let mut prepared = ranks::prepare(problem.clone(), s, team)?;
    let line = Line::through(&prepared.bounds);
    let (zones, unknowns) = prepared.counts();
    let restart = from.as_ref().map(|k| k.clock);
    let continued = from.as_ref().map(|k| (k.clock.t, k.snapshots_every));
    let (start, mut clock) = match from {
        Some(k) => {
            let state = k.part(&prepared)?;
            prepared.engine.start(&state)?;
            (k.energy, k.clock)
        }
        None => {
            let rate = prepared.engine.start(&prepared.state)?;
            let (internal, kinetic) = prepared.engine.energies()?;
            let clock = Clock::new(rate, prepared.hydro.cfl)?;
            (internal + kinetic, clock)
        }
    };
    let Prepared {
        hydro,
        mut engine,
        stop,
        whole,
        ..
    } = prepared;
    // Only pictures need the whole.
    let drawn = match &whole {
        None => Some(Arc::clone(&hydro)),
        Some(_) if first && s.draws() => {
            let mesh = Mesh::open(s.mesh(), s.refine())?;
            let (hydro, _) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
            Some(Arc::new(hydro))
        }
        Some(_) => None,
    };
    let before = clock.steps;
    let mut saving = Saving {
        s,
        inputs,
        ranks: &**team,
        whole: whole.as_deref(),
        hydro: &hydro,
        drawn: drawn.as_deref(),
        start,
        watch: Watch::new((&hydro, whole.as_deref()), &**team, (&clock, s.t_final())),
        history: None,
        snapshots: None,
        animation: None,
    };
    if first {
        Snapshots::check(s, continued)?;
        let history = s.history.as_ref();
        saving.history = history
            .map(|path| {
                History::new(
                    path,
                    s.mark.as_deref().unwrap_or_default(),
                    restart.as_ref(),
                )
            })
            .transpose()?;
        saving.snapshots = Snapshots::new(s, continued)?;
        saving.animation = Animation::new(s, clock.t)?;
    }
    let counter = match ranks::device(s, &**team)?.gpu() {
        Some(n) => Found::all()?.get(n).and_then(sensors::energy_counter),
        None => None,
    };
    let mut energy = Energy(counter, None);
    saving.begin(&clock, &mut *engine)?;
    energy.read();
    let bar = bar(1000, "");
    let mut provenance = Provenance::of_process();
    let begin = Instant::now();
    let (end, cfl) = (s.t_final(), hydro.cfl);
    let period = s.period.unwrap_or(40).max(1);
    let mut tuner = s.tune.then(|| Tuner::new(engine.candidates(), period));
    let mut winner = None;
    let mut stepped = Instant::now();
    let mut messages: Vec<String> = hydro.notes.clone();
    if first {
        messages.iter().for_each(print::warn);
    }
    let tuned_for = tuned::Tuned::new(&hydro, s, ranks::device(s, &**team)?)?;
    messages.extend(tuned_for.choose(&mut *engine)?);
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
                        winner = Some(n);
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
            let shown = !bar.is_hidden() && c.steps.is_multiple_of(10);
            if let Some(energies) = saving.step(c, shown, engine)? {
                let drift = saving.drift(energies);
                let drift = drift.map_or_else(String::new, |d| format!(", drift {d:.1e}"));
                bar.set_message(format!(
                    "step {}, t {:.5}, dt {:.3e}{drift}",
                    c.steps, c.t, c.dt
                ));
            }
            stepped = Instant::now();
            Ok(())
        },
    );
    bar.finish_and_clear();
    if team.size() == 1
        && let (Some(n), Some(tuner)) = (winner, &tuner)
    {
        tuned_for.keep(tuner, n);
    }
    let wall = begin.elapsed().as_secs_f64();
    let energy_j = energy.since(wall);
    if let Err(Termination::Failed(e)) = termination {
        // Other ranks may be elsewhere.
        if team.size() == 1 {
            saving.checkpoint(&clock, &engine.state()?)?;
        }
        return Err(e.into());
    }
    let state = engine.state()?;
    saving.checkpoint(&clock, &state)?;
    if let Err(ended) = termination {
        return Err(inverted_error(&ended, s, &saving, &state)?);
    }
    let boards = match ranks::device(s, &**team)?.gpu() {
        Some(_) => Boards::of(&**team, wall, energy_j)?,
        None => None,
    };
    let report = clock.report(&mut *engine, saving.watch.conserved(start))?;
    saving.watch.state(&clock, &state);
    let timings = engine.timings();
    let solves = (timings.iterations, timings.solves);
    let drift = report.energy_drift.unwrap_or_default();
    saving.watch.end(drift, solves);
    messages.append(&mut saving.watch.messages);
    let unstable = saving.watch.drift(&clock, drift);
    let animation = saving.animation.take();
    let all = match &whole {
        Some(w) if s.draws() => w.state(&state),
        Some(_) => None,
        None => Some(state),
    };
    if !first {
        return stopped(s, &clock);
    }
    // The result is printed even if an output fails.
    let saving = interrupt::saving();
    provenance.took("steps", wall);
    let origin = provenance.pairs();
    let end_state = drawn.as_deref().zip(all.as_ref()).map(|(h, state)| Final {
        h,
        state,
        clock: &clock,
        line: &line,
    });
    let last = (end_state.as_ref()).map_or(Ok(Vec::new()), |e| figures::write(s, e, &origin));
    let animated = animation.map_or(Ok(()), |a| a.write(&origin));
    drop(saving);
    if let Ok(lines) = &last {
        messages.extend(lines.iter().cloned());
    }
    let page = match s.figures.html.as_ref().zip(end_state.as_ref()) {
        Some((path, end_state)) => {
            let work = Work {
                unknowns,
                steps: clock.steps - before,
                wall_s: wall,
            };
            page::page(s, end_state, (&report, work), &messages, &provenance).and_then(|html| {
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
            "{} zones, {unknowns} unknowns: {} steps to t = {}, dt {}, |e| {:.10e}\n\
             energy {} internal + {} kinetic, drift {}; {wall:.2} s, {rate:.3} Mdof steps/s",
            zones,
            report.steps,
            report.t,
            digits(report.dt, 6),
            report.e_norm,
            digits(report.internal, 12),
            digits(report.kinetic, 12),
            shown_drift(&report)
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
    unstable?;
    last?;
    animated?;
    page?;
    stopped(s, &clock)
}

/// A number with so many decimals, or with as many significant digits where these would show few of them.
fn digits(x: f64, decimals: usize) -> String {
    match x.abs() {
        0.0 | 1e-3..1e9 => format!("{x:.decimals$}"),
        _ => format!("{x:.decimals$e}"),
    }
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
