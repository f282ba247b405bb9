//! A run that programs step: settings by name as the `hydro` command takes them, an engine, and a clock. The command is one
//! of these programs.
//!
//! | module | contents |
//! |---|---|
//! | `settings`, `figures` | settings of a run, and of its figures |
//! | `named`, `help` | settings that other programs give by name; help of flags |
//! | `checks`, `mark` | what is refused before a run starts |
//! | `prepare` | the engine of a rank |
//! | `run` | what stays the same during a run |
//! | `restart` | the point from which a run continues |

pub(crate) mod checks;
pub(crate) mod figures;
pub(crate) mod help;
pub(crate) mod mark;
mod named;
pub(crate) mod prepare;
pub(crate) mod restart;
pub(crate) mod run;
pub(crate) mod settings;

pub use named::{NamedSettings, WrongSetting};

use crate::HydroError;
use crate::engine::{Engine, State, Timings};
use crate::problem::Problem;
use crate::time::stepping::{Clock, Report, Termination};
use greenup_app::{AppError, Result, interrupt, print};
use greenup_device::cuda::Gpu;
use greenup_ranks::Ranks;
use prepare::{Prepared, prepare};
use restart::Restart;
use run::{Run, walls_move};
use serde_json::Value;
use settings::Settings;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run between two steps. GPU sessions stay on their thread; with several ranks, all call the same methods.
pub struct Session {
    pub(crate) run: Arc<Run>,
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) clock: Clock,
    /// Whether a rank was asked to stop, if zones are shared by ranks.
    stop: Option<Arc<AtomicBool>>,
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
    pub fn new(given: &NamedSettings, ranks: Arc<dyn Ranks>) -> Result<Self> {
        let (problem, settings) = given.0.resolved()?;
        Self::open(problem, settings, None, ranks)
    }

    /// Continues a run from a checkpoint, with identical digits.
    ///
    /// # Errors
    /// The checkpoint is damaged or cannot be read, or one of its input files changed.
    pub fn load(path: &Path, ranks: Arc<dyn Ranks>) -> Result<Self> {
        let (settings, inputs, from) = Restart::read(path)?;
        let problem = restart::problem(&settings, &inputs)?;
        Self::open(problem, settings, Some(from.uncut()), ranks)
    }

    /// Prepares a run with complete settings, from the initial state or from a checkpoint.
    ///
    /// # Errors
    /// As [`Session::new`]; an output cannot be written.
    pub(crate) fn open(
        problem: Problem,
        settings: Settings,
        from: Option<Restart>,
        ranks: Arc<dyn Ranks>,
    ) -> Result<Self> {
        let device = settings.device().of_rank(ranks.local(), Gpu::count());
        prepare::check(&settings, &device, &*ranks)?;
        let inputs = checks::inputs(&settings)?;
        let settings = mark::marked(settings, &inputs);
        // The first rank writes.
        if ranks.rank() == 0 {
            checks::outputs(&settings)?;
        }
        let Prepared {
            hydro,
            state,
            mut engine,
            stop,
            whole,
            bounds,
        } = prepare(problem, &settings, &device, &ranks)?;
        if ranks.rank() == 0 {
            hydro.notes.iter().for_each(print::warn);
        }
        let (energy, clock) = match from {
            Some(from) => {
                engine.start(&from.part(&state, whole.as_deref())?)?;
                (from.energy, from.clock)
            }
            None => {
                let rate = engine.start(&state)?;
                let (internal, kinetic) = engine.energies()?;
                (internal + kinetic, Clock::new(rate, hydro.cfl)?)
            }
        };
        let run = Run {
            walls_move: walls_move(&hydro, &*ranks),
            settings,
            inputs,
            ranks,
            device,
            hydro,
            whole,
            bounds,
            energy,
        };
        Ok(Self {
            run: Arc::new(run),
            engine,
            clock,
            stop,
        })
    }

    /// Takes steps to time `end`, until `most` steps in total, or until `stop`. Calls `seen` after each accepted step; its
    /// error ends the run.
    ///
    /// # Errors
    /// As of [`Clock::advance`].
    pub(crate) fn take_steps(
        &mut self,
        until: (f64, Option<usize>),
        stop: &AtomicBool,
        seen: &mut dyn FnMut(&Clock, &mut dyn Engine) -> std::result::Result<(), HydroError>,
    ) -> std::result::Result<(), Termination> {
        let stop = self.stop.as_deref().unwrap_or(stop);
        let cfl = self.run.hydro.cfl;
        self.clock
            .advance(&mut *self.engine, cfl, until, stop, seen)
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
        let shared = self.stop.is_some();
        if let Some(agreed) = &self.stop {
            agreed.store(false, Ordering::Relaxed);
        }
        let ended = self.take_steps((end, most), stop, &mut |c, _| {
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
        if self.run.is_first() {
            checks::outputs(&Settings {
                checkpoint: Some(path.to_owned()),
                ..self.run.settings.clone()
            })?;
        }
        let state = self.engine.state()?;
        Ok(self.run.checkpoint(path, &self.clock, &state)?)
    }

    /// Time and step counts.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Final time of the problem or the settings.
    pub fn t_final(&self) -> f64 {
        self.run.settings.t_final()
    }

    /// The last accepted state of the part of this rank.
    ///
    /// # Errors
    /// The device is lost.
    pub fn state(&mut self) -> Result<State> {
        Ok(self.engine.state()?)
    }

    /// Total internal and kinetic energy of all ranks.
    ///
    /// # Errors
    /// The device is lost.
    pub fn energies(&mut self) -> Result<(f64, f64)> {
        Ok(self.engine.energies()?)
    }

    /// Results so far.
    ///
    /// # Errors
    /// The device is lost.
    pub fn report(&mut self) -> Result<Report> {
        Ok(self.clock.report(&mut *self.engine, self.run.conserved())?)
    }

    /// Times and counts of the engine.
    pub fn timings(&self) -> Timings {
        self.engine.timings()
    }

    /// Sizes of the arrays of [`Session::state`].
    pub fn sizes(&self) -> Sizes {
        let space = &self.run.hydro.space;
        Sizes {
            dim: space.dim,
            zones: space.zones,
            nodes: space.nodes,
            energies: space.element.energies,
            unknowns: self.run.counts().1,
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.run.ranks.size()
    }

    /// The settings, completed by those of the problem, as names and values.
    ///
    /// # Errors
    /// They cannot be written as JSON.
    pub fn settings(&self) -> Result<Value> {
        let mut all = serde_json::to_value(&self.run.settings)?;
        all.as_object_mut().map(|all| all.remove("mark"));
        Ok(all)
    }

    /// Nodes of each zone, `[zone][local]`.
    pub fn zone_nodes(&self) -> Vec<u32> {
        let space = &self.run.hydro.space;
        (0..space.zones)
            .flat_map(|z| space.zone(z).iter().copied())
            .collect()
    }
}
