//! A run that other programs step: settings by name as the `hydro` command takes them, an engine, and a clock.

mod given;

pub use given::{Given, WrongSetting};

use crate::commands::ranks::{Prepared, Stop, prepare};
use crate::commands::restart::same_files;
use crate::commands::run::RestartState;
use crate::commands::saving::Saving;
use crate::commands::settings::Settings;
use crate::commands::watch::{Watch, walls_move};
use crate::commands::{checks, mark, ranks};
use crate::engine::{State, Timings};
use crate::output::checkpoint::{self, Checkpoint, Input};
use crate::problem::Problem;
use crate::time::stepping::{Clock, Report, Termination};
use greenup_app::{AppError, Result, interrupt, print};
use greenup_ranks::Ranks;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run between two steps. GPU sessions stay on their thread; with several ranks, all call the same methods.
pub struct Session {
    settings: Settings,
    inputs: Vec<Input>,
    prepared: Prepared,
    clock: Clock,
    /// Total energy at the start.
    start: f64,
    /// Whether a wall of any rank does work.
    walls_move: bool,
    ranks: Arc<dyn Ranks>,
}

/// Numbers of zones, nodes and coefficients of the part of this rank.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Dimension of the mesh.
    pub dim: usize,
    /// Zones.
    pub zones: usize,
    /// Kinematic nodes.
    pub nodes: usize,
    /// Energy coefficients of a zone.
    pub energies: usize,
    /// Unknowns of all ranks.
    pub unknowns: usize,
}

impl Session {
    /// Prepares a run at t = 0.
    ///
    /// # Errors
    /// A setting is invalid, a file cannot be read, the run does not fit into memory, or the device is not there.
    pub fn new(given: &Given, ranks: Arc<dyn Ranks>) -> Result<Self> {
        let (problem, settings) = given.0.resolved()?;
        Self::of(problem, settings, None, ranks)
    }

    /// Continues a run from a checkpoint, with identical digits.
    ///
    /// # Errors
    /// The checkpoint is damaged or cannot be read, or one of its input files changed.
    pub fn load(path: &Path, ranks: Arc<dyn Ranks>) -> Result<Self> {
        let Checkpoint {
            setup,
            inputs,
            energy,
            clock,
            state,
        } = checkpoint::read::<Settings>(path)?;
        setup.check()?;
        same_files(&setup, &inputs)?;
        let settings = mark::marked(setup, &inputs);
        let clock = Clock {
            dt: clock.free,
            ..clock
        };
        let named = Settings {
            problem: settings.problem.clone(),
            ..Settings::default()
        };
        let (problem, _) = named.resolved()?;
        let from = RestartState {
            energy,
            clock,
            state,
            snapshots_every: settings.snapshots_every(),
        };
        Self::of(problem, settings, Some(from), ranks)
    }

    fn of(
        problem: Problem,
        settings: Settings,
        from: Option<RestartState>,
        ranks: Arc<dyn Ranks>,
    ) -> Result<Self> {
        ranks::check(&settings, &*ranks)?;
        let inputs = checks::inputs(&settings)?;
        let settings = mark::marked(settings, &inputs);
        let mut prepared = prepare(problem, &settings, &ranks)?;
        if ranks.rank() == 0 {
            prepared.hydro.notes.iter().for_each(print::warn);
        }
        let (start, clock) = match from {
            Some(from) => {
                let state = from.part(&prepared)?;
                prepared.engine.start(&state)?;
                (from.energy, from.clock)
            }
            None => {
                let rate = prepared.engine.start(&prepared.state)?;
                let (internal, kinetic) = prepared.engine.energies()?;
                (internal + kinetic, Clock::new(rate, prepared.hydro.cfl)?)
            }
        };
        Ok(Self {
            walls_move: walls_move(&prepared.hydro, &*ranks),
            settings,
            inputs,
            prepared,
            clock,
            start,
            ranks,
        })
    }

    /// Advances to time `end`, by at most `most` steps, or until `stop`. Calls `accepted` after each accepted step. The time
    /// step after a last step that was cut to end at `end` is what it was before.
    ///
    /// # Errors
    /// Zones invert at any time step, or the device is lost. The last accepted state stays.
    pub fn advance(
        &mut self,
        (end, most): (f64, Option<usize>),
        stop: &AtomicBool,
        accepted: &dyn Fn(&Clock),
    ) -> Result {
        let most = most.map(|n| self.clock.steps.saturating_add(n));
        let cfl = self.prepared.hydro.cfl;
        let engine = &mut *self.prepared.engine;
        let own: &AtomicBool = match &self.prepared.stop {
            Stop::Own(_) => stop,
            Stop::Agreed(agreed) => {
                agreed.store(false, Ordering::Relaxed);
                agreed
            }
        };
        let shared = matches!(self.prepared.stop, Stop::Agreed(_));
        let ended = self
            .clock
            .advance(engine, cfl, (end, most), own, &mut |c, _| {
                accepted(c);
                // Ranks look at the process's flag.
                if shared && stop.load(Ordering::Relaxed) {
                    interrupt::flag().store(true, Ordering::Relaxed);
                }
                Ok(())
            });
        if shared {
            interrupt::flag().store(false, Ordering::Relaxed);
        }
        if self.clock.t >= end {
            self.clock.dt = self.clock.free;
        }
        match ended {
            Ok(()) => Ok(()),
            Err(Termination::Failed(e)) => Err(e.into()),
            Err(inverted) => Err(AppError::new(inverted.to_string()).hint(
                "a smaller cfl, a lower order, a mesh that follows the flow, or an earlier end",
            )),
        }
    }

    /// Writes a checkpoint, from which [`Session::load`] and `hydro restart` continue.
    ///
    /// # Errors
    /// It cannot be written, or is an input file.
    pub fn save(&mut self, path: &Path) -> Result {
        let settings = Settings {
            checkpoint: Some(path.to_owned()),
            ..self.settings.clone()
        };
        if self.ranks.rank() == 0 {
            checks::outputs(&settings)?;
        }
        let state = self.prepared.engine.state()?;
        let saving = Saving {
            s: &settings,
            inputs: &self.inputs,
            ranks: &*self.ranks,
            whole: self.prepared.whole.as_deref(),
            hydro: &self.prepared.hydro,
            drawn: None,
            start: self.start,
            watch: Watch::new(
                (&self.prepared.hydro, self.prepared.whole.as_deref()),
                &*self.ranks,
                (&self.clock, self.settings.t_final()),
            ),
            history: None,
            snapshots: None,
            animation: None,
        };
        Ok(saving.checkpoint(&self.clock, &state)?)
    }

    /// Time and step counts.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Final time of the problem or the settings.
    pub fn t_final(&self) -> f64 {
        self.settings.t_final()
    }

    /// The last accepted state of the part of this rank.
    ///
    /// # Errors
    /// The device is lost.
    pub fn state(&mut self) -> Result<State> {
        Ok(self.prepared.engine.state()?)
    }

    /// Total internal and kinetic energy of all ranks.
    ///
    /// # Errors
    /// The device is lost.
    pub fn energies(&mut self) -> Result<(f64, f64)> {
        Ok(self.prepared.engine.energies()?)
    }

    /// Results so far.
    ///
    /// # Errors
    /// The device is lost.
    pub fn report(&mut self) -> Result<Report> {
        let start = (!self.walls_move).then_some(self.start);
        Ok(self.clock.report(&mut *self.prepared.engine, start)?)
    }

    /// Times and counts of the engine.
    pub fn timings(&self) -> Timings {
        self.prepared.engine.timings()
    }

    /// Sizes of the arrays of [`Session::state`].
    pub fn sizes(&self) -> Sizes {
        let space = &self.prepared.hydro.space;
        Sizes {
            dim: space.dim,
            zones: space.zones,
            nodes: space.nodes,
            energies: space.element.energies,
            unknowns: self.prepared.counts().1,
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks.size()
    }

    /// The settings, completed by those of the problem, as names and values.
    ///
    /// # Errors
    /// They cannot be written as JSON.
    pub fn settings(&self) -> Result<Value> {
        let mut all = serde_json::to_value(&self.settings)?;
        all.as_object_mut().map(|all| all.remove("mark"));
        Ok(all)
    }

    /// Nodes of each zone, `[zone][local]`.
    pub fn zone_nodes(&self) -> Vec<u32> {
        let space = &self.prepared.hydro.space;
        (0..space.zones)
            .flat_map(|z| space.zone(z).iter().copied())
            .collect()
    }
}
