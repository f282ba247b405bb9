//! What a run writes on its way: history, snapshots, frames of an animation, checkpoints. The first rank says what is due, and
//! all take part.

use crate::commands::animation::Animation;
use crate::commands::history::History;
use crate::commands::settings::Settings;
use crate::commands::snapshots::{self, Snapshots};
use crate::commands::watch::Watch;
use greenup_app::interrupt;
use greenup_hydro::HydroError;
use greenup_hydro::engine::{Engine, State};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::output::checkpoint::{self, Input};
use greenup_hydro::part::Whole;
use greenup_hydro::time::stepping::Clock;
use greenup_ranks::Ranks;
use std::convert::Infallible;

/// What is due after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Due {
    pub energies: bool,
    /// Number of the snapshot.
    pub snapshot: Option<usize>,
    pub frame: bool,
    pub checkpoint: bool,
}

impl Due {
    /// What is due on the first rank.
    fn of_first(self, ranks: &dyn Ranks) -> Self {
        let flag = |b: bool| f64::from(u8::from(b));
        let mut all = [0.0; 4];
        if ranks.rank() == 0 {
            let number = self.snapshot.map_or(0.0, |n| n as f64 + 1.0);
            all = [
                flag(self.energies),
                number,
                flag(self.frame),
                flag(self.checkpoint),
            ];
        }
        ranks.max(&mut all);
        Self {
            energies: all[0] > 0.0,
            snapshot: (all[1] > 0.0).then(|| all[1] as usize - 1),
            frame: all[2] > 0.0,
            checkpoint: all[3] > 0.0,
        }
    }

    fn state(self) -> bool {
        self.snapshot.is_some() || self.frame || self.checkpoint
    }
}

/// What a run writes on its way.
pub struct Saving<'a> {
    pub s: &'a Settings,
    pub inputs: &'a [Input],
    pub ranks: &'a dyn Ranks,
    /// Where the part of this rank lies; `None` if it has the whole.
    pub whole: Option<&'a Whole>,
    /// The problem of this rank.
    pub hydro: &'a Hydro,
    /// The problem of the whole on the first rank, if it is drawn.
    pub drawn: Option<&'a Hydro>,
    /// Total energy at the start.
    pub start: f64,
    pub watch: Watch<'a>,
    /// On the first rank:
    pub history: Option<History>,
    pub snapshots: Option<Snapshots>,
    pub animation: Option<Animation>,
}

type Result<T = ()> = std::result::Result<T, HydroError>;

impl Saving<'_> {
    /// What is due at a time. `energies` says whether something else needs them.
    fn due(&self, c: &Clock, energies: bool, checkpoint: bool) -> Due {
        let snapshots = self.snapshots.as_ref().filter(|s| s.due(c.t));
        Due {
            energies: energies || self.history.is_some(),
            snapshot: snapshots.map(Snapshots::number),
            frame: self.animation.as_ref().is_some_and(|a| a.due(c.t)),
            checkpoint,
        }
        .of_first(self.ranks)
    }

    /// Relative change of the total energy since the start; `None` if a wall moves, whose work is not known.
    pub fn drift(&self, (internal, kinetic): (f64, f64)) -> Option<f64> {
        let start = self.watch.conserved(self.start)?;
        Some((internal + kinetic - start) / start)
    }

    /// Writes what is due before the first step.
    ///
    /// # Errors
    /// An output cannot be written, or the device is lost.
    pub fn begin(&mut self, c: &Clock, engine: &mut dyn Engine) -> Result {
        let due = Due {
            energies: false,
            ..self.due(c, false, false)
        };
        self.write(due, c, engine)?;
        Ok(())
    }

    /// Writes what is due after a step; returns the energies, if they were needed.
    ///
    /// # Errors
    /// An output cannot be written, or the device is lost.
    pub fn step(
        &mut self,
        c: &Clock,
        energies: bool,
        engine: &mut dyn Engine,
    ) -> Result<Option<(f64, f64)>> {
        let saves = self.s.checkpoint.is_some() && c.steps.is_multiple_of(self.s.every());
        // From time to time for the watch.
        let energies = energies || c.steps.is_power_of_two() || c.steps.is_multiple_of(100);
        let due = self.due(c, energies, saves);
        self.write(due, c, engine)
    }

    fn write(
        &mut self,
        due: Due,
        c: &Clock,
        engine: &mut dyn Engine,
    ) -> Result<Option<(f64, f64)>> {
        let energies = due.energies.then(|| engine.energies()).transpose()?;
        let drift = energies.and_then(|e| self.drift(e));
        if let (Some(h), Some(energies)) = (&mut self.history, energies) {
            h.add(c, energies, drift)?;
        }
        if let Some(drift) = drift {
            self.watch.drift(c, drift)?;
        }
        let collapsed = self.watch.is_collapsed(c);
        if !due.state() && !collapsed {
            return Ok(energies);
        }
        let state = engine.state()?;
        if collapsed {
            self.watch.collapsed(c, &state);
        }
        if due.state() {
            self.watch.state(c, &state);
        }
        if let (Some(number), Some(folder)) = (due.snapshot, &self.s.vtu) {
            let stem = snapshots::stem(number);
            let name = snapshots::fields(folder, &stem, (self.hydro, &state), self.ranks)?;
            if let Some(s) = &mut self.snapshots {
                s.add(name, c.t)?;
            }
        }
        if due.frame {
            let at = (c.t, c.steps);
            let all = self.whole.map(|w| w.state(&state));
            let all = all.as_ref().map_or(Some(&state), Option::as_ref);
            if let (Some(a), Some(h), Some(all)) = (&mut self.animation, self.drawn, all) {
                a.add(h, all, at);
            }
        }
        if due.checkpoint {
            self.checkpoint(c, &state)?;
        }
        Ok(energies)
    }

    /// Writes a checkpoint, if one is asked for.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn checkpoint(&self, c: &Clock, state: &State) -> Result {
        let Some(path) = &self.s.checkpoint else {
            return Ok(());
        };
        let _saving = interrupt::saving();
        let run = (self.s, self.inputs);
        match self.whole {
            None => checkpoint::write(path, run, self.start, (c, state)),
            Some(w) if self.ranks.rank() > 0 => {
                let Ok(()) = w.pass_state(state, &mut |_| Ok::<_, Infallible>(()));
                Ok(())
            }
            Some(w) => {
                let counts = (w.dim * w.nodes.all, w.energies * w.zones.all);
                checkpoint::write_by(path, run, self.start, (c, counts), &mut |put| {
                    w.pass_state(state, put)
                })
            }
        }
    }
}
