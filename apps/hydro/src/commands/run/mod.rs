//! A run from its settings to its report, on a session.
//!
//! | module | contents |
//! |---|---|
//! | `ranks` | the ranks of this process |
//! | `steps` | the steps: tuning, load balance, progress |
//! | `tuned` | kernels that an earlier run tuned |
//! | `saving` | what is written on the way: `history`, `snapshots`, `animation`, checkpoints |
//! | `watch` | what makes results wrong |
//! | `termination` | runs that end early |
//! | `figures`, `page` | the final state |
//! | `energy` | energy of the steps, by the sensor of the host or the counter of the GPU |
//! | `prediction` | time and energy by a machine model |
//! | `report` | the result as text or JSON |

mod animation;
mod energy;
mod figures;
mod history;
mod page;
mod prediction;
mod ranks;
mod report;
mod saving;
mod snapshots;
mod steps;
mod termination;
mod tuned;
mod watch;

use crate::engine::State;
use crate::output::Line;
use crate::problem::Problem;
use crate::session::Session;
use crate::session::restart::Restart;
use crate::session::run::Run;
use crate::session::settings::Settings;
use crate::time::stepping::Termination;
use animation::Animation;
use energy::Energy;
use figures::Final;
use greenup_app::args::{MachineArg, SensorArg};
use greenup_app::ranks::Boards;
use greenup_app::{Result, interrupt, print};
use greenup_model::Machine;
use greenup_report::provenance::Provenance;
use prediction::Prediction;
use report::Outcome;
use saving::Saving;
use std::sync::Arc;
use steps::Steps;
use termination::{inverted_error, stopped};

/// What is measured, predicted and printed of a run.
#[derive(clap::Args)]
pub struct How {
    #[command(flatten)]
    machine: MachineArg,
    #[command(flatten)]
    sensor: SensorArg,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Runs a problem, from the initial state or from a checkpoint.
pub fn run(problem: &Problem, s: &Settings, from: Option<&Restart>, how: &How) -> Result {
    let machine = how.machine.load()?;
    let named = how.sensor.sensor.as_deref();
    Energy::check(s, named)?;
    ranks::on_all(s, |team| {
        let settings = s.clone();
        let session = Session::open(problem.clone(), settings, from.cloned(), Arc::clone(team))?;
        to_the_end(session, from, (machine.as_ref(), named, how.json))
    })
}

/// Takes all steps of a session and writes its outputs; the first rank prints the result.
fn to_the_end(
    mut session: Session,
    from: Option<&Restart>,
    (machine, sensor, json): (Option<&Machine>, Option<&str>, bool),
) -> Result {
    let run = Arc::clone(&session.run);
    if let Some(machine) = machine {
        Prediction::check(machine, &run)?;
    }
    let before = session.clock.steps;
    let mut saving = Saving::open(Arc::clone(&run), &session.clock, from)?;
    let mut energy = Energy::of(&run, sensor)?;
    saving.begin(&session.clock, &mut *session.engine)?;
    let mut provenance = Provenance::of_process();
    let mut steps = Steps::new(&mut session)?;
    let ((ended, wall_s), measured) = energy.of_steps(|| {
        let ended = steps.take(&mut session, &mut saving);
        (ended, steps.finish(&run))
    });
    let state = last_state(ended, &mut session, &saving)?;
    let boards = match run.device.gpu() {
        Some(_) => Boards::of(&*run.ranks, wall_s, measured.energy_j)?,
        None => None,
    };
    let report = session.report()?;
    let unstable = saving
        .watch
        .ended(&session.clock, &state, &report, session.timings());
    let whole = match &run.whole {
        Some(w) if run.settings.draws() => w.state(&state),
        Some(_) => None,
        None => Some(state),
    };
    if !run.is_first() {
        return stopped(&run.settings, &session.clock);
    }
    provenance.took("steps", wall_s);
    let mut messages = steps.messages;
    messages.append(&mut saving.watch.messages);
    let mut outcome = Outcome {
        report,
        timings: session.timings(),
        predicted: machine
            .map(|m| Prediction::of(m, &run.hydro, &session.timings()))
            .transpose()?,
        cpu: run.device.gpu().is_none().then_some(measured),
        boards,
        messages,
        provenance,
        ranks: run.ranks.size(),
        counts: run.counts(),
        steps: session.clock.steps - before,
        wall_s,
    };
    let line = Line::through(&run.bounds);
    let end = saving.drawn.as_deref().zip(whole.as_ref());
    let end = end.map(|(h, state)| Final {
        h,
        state,
        clock: &session.clock,
        line: &line,
    });
    // The result is printed even if an output fails.
    let written = write(&run, end.as_ref(), saving.animation.take(), &mut outcome);
    outcome.print(run.settings.profile, json)?;
    unstable?;
    written?;
    stopped(&run.settings, &session.clock)
}

/// The state in which a run ended, also as a checkpoint.
fn last_state(
    ended: std::result::Result<(), Termination>,
    session: &mut Session,
    saving: &Saving,
) -> Result<State> {
    if let Err(Termination::Failed(e)) = ended {
        // Other ranks may be elsewhere.
        if session.ranks() == 1 {
            saving.checkpoint(&session.clock, &session.engine.state()?)?;
        }
        return Err(e.into());
    }
    let state = session.engine.state()?;
    saving.checkpoint(&session.clock, &state)?;
    match ended {
        Err(inverted) => Err(inverted_error(&inverted, &session.run, &state)?),
        Ok(()) => Ok(state),
    }
}

/// Writes figures, animation and page of the final state; their first error, once all were tried.
fn write(
    run: &Run,
    end: Option<&Final>,
    animation: Option<Animation>,
    outcome: &mut Outcome,
) -> Result {
    let s = &run.settings;
    let origin = outcome.provenance.pairs();
    let saving = interrupt::saving();
    let figures = end.map_or(Ok(Vec::new()), |e| figures::write(s, e, &origin));
    let animated = animation.map_or(Ok(()), |a| a.write(&origin));
    drop(saving);
    if let Ok(lines) = &figures {
        outcome.messages.extend(lines.iter().cloned());
    }
    let page = match s.figures.html.as_ref().zip(end) {
        Some((path, end)) => page::page(s, end, outcome).and_then(|html| {
            greenup_files::write(path, html)?;
            print::note(format!("wrote {}", path.display()));
            Ok(())
        }),
        None => Ok(()),
    };
    figures?;
    animated?;
    page
}
