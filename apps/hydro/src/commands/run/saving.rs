//! What a run writes on its way: history, snapshots, frames of an animation, checkpoints. The first rank says what is due, and
//! all take part.

use crate::HydroError;
use crate::commands::run::animation::Animation;
use crate::commands::run::history::History;
use crate::commands::run::snapshots::{self, Snapshots};
use crate::commands::run::watch::Watch;
use crate::engine::{Engine, State};
use crate::hydro::Hydro;
use crate::mesh::Mesh;
use crate::session::restart::Restart;
use crate::session::run::Run;
use crate::time::stepping::Clock;
use greenup_ranks::Ranks;
use std::sync::Arc;

/// What is due after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Due {
    pub energies: bool,
    /// Number of the snapshot.
    pub snapshot: Option<usize>,
    pub frame: bool,
    pub checkpoint: bool,
    /// The state of any rank may have negative fields.
    pub suspect: bool,
}

impl Due {
    /// What is due on the first rank, and whether the state of any is suspect.
    fn of_first(self, ranks: &dyn Ranks) -> Self {
        let flag = |b: bool| f64::from(u8::from(b));
        let mut all = [0.0; 5];
        all[4] = flag(self.suspect);
        if ranks.rank() == 0 {
            let number = self.snapshot.map_or(0.0, |n| n as f64 + 1.0);
            all[0] = flag(self.energies);
            all[1] = number;
            all[2] = flag(self.frame);
            all[3] = flag(self.checkpoint);
        }
        ranks.max(&mut all);
        Self {
            energies: all[0] > 0.0,
            snapshot: (all[1] > 0.0).then(|| all[1] as usize - 1),
            frame: all[2] > 0.0,
            checkpoint: all[3] > 0.0,
            suspect: all[4] > 0.0,
        }
    }

    fn state(self) -> bool {
        self.snapshot.is_some() || self.frame || self.checkpoint || self.suspect
    }
}

/// What a run writes on its way.
pub struct Saving {
    pub run: Arc<Run>,
    /// The problem of the whole on the first rank, if it is drawn.
    pub drawn: Option<Arc<Hydro>>,
    pub watch: Watch,
    /// On the first rank:
    history: Option<History>,
    snapshots: Option<Snapshots>,
    pub animation: Option<Animation>,
}

type Result<T = ()> = std::result::Result<T, HydroError>;

/// The problem of the whole on the first rank, if it is drawn.
fn drawn(run: &Run) -> Result<Option<Arc<Hydro>>> {
    let s = &run.settings;
    if run.whole.is_none() {
        return Ok(Some(Arc::clone(&run.hydro)));
    }
    if !run.is_first() || !s.draws() {
        return Ok(None);
    }
    let mesh = Mesh::open(s.mesh(), s.refine())?;
    let (hydro, _) = Hydro::new(&mesh, run.hydro.problem.clone(), &s.orders(), s.e0())?;
    Ok(Some(Arc::new(hydro)))
}

impl Saving {
    /// Opens the outputs of a run, or continues those of the run that is restarted.
    ///
    /// # Errors
    /// An output cannot be written, or is of another run.
    pub fn open(run: Arc<Run>, clock: &Clock, from: Option<&Restart>) -> greenup_app::Result<Self> {
        let mut out = Self {
            drawn: drawn(&run)?,
            watch: Watch::new(Arc::clone(&run), clock),
            history: None,
            snapshots: None,
            animation: None,
            run,
        };
        let s = &out.run.settings;
        if out.run.is_first() {
            let continued = from.map(|f| (f.clock.t, f.snapshots_every));
            Snapshots::check(s, continued)?;
            let mark = s.mark.as_deref().unwrap_or_default();
            let history = s.history.as_ref();
            out.history = history
                .map(|path| History::new(path, mark, from.map(|f| &f.clock)))
                .transpose()?;
            out.snapshots = Snapshots::new(s, continued)?;
            out.animation = Animation::new(s, clock.t)?;
        }
        Ok(out)
    }

    /// What is due at a time. `energies` says whether something else needs them.
    fn due(&self, c: &Clock, energies: bool, checkpoint: bool, suspect: bool) -> Due {
        let snapshots = self.snapshots.as_ref().filter(|s| s.due(c.t));
        Due {
            energies: energies || self.history.is_some(),
            snapshot: snapshots.map(Snapshots::number),
            frame: self.animation.as_ref().is_some_and(|a| a.due(c.t)),
            checkpoint,
            suspect,
        }
        .of_first(&*self.run.ranks)
    }

    /// Writes what is due before the first step.
    ///
    /// # Errors
    /// An output cannot be written, or the device is lost.
    pub fn begin(&mut self, c: &Clock, engine: &mut dyn Engine) -> Result {
        let due = Due {
            energies: false,
            ..self.due(c, false, false, false)
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
        let s = &self.run.settings;
        let saves = s.checkpoint.is_some() && c.steps.is_multiple_of(s.every());
        // From time to time for the watch.
        let energies = energies || c.steps.is_power_of_two() || c.steps.is_multiple_of(100);
        let suspect = self.watch.is_suspect(c, engine)?;
        let due = self.due(c, energies, saves, suspect);
        self.write(due, c, engine)
    }

    fn write(
        &mut self,
        due: Due,
        c: &Clock,
        engine: &mut dyn Engine,
    ) -> Result<Option<(f64, f64)>> {
        let energies = due.energies.then(|| engine.energies()).transpose()?;
        let drift = energies.and_then(|e| self.run.drift(e));
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
        if let (Some(number), Some(folder)) = (due.snapshot, &self.run.settings.vtu) {
            let stem = snapshots::stem(number);
            let name =
                snapshots::fields(folder, &stem, (&self.run.hydro, &state), &*self.run.ranks)?;
            if let Some(s) = &mut self.snapshots {
                s.add(name, c.t)?;
            }
        }
        if due.frame {
            let at = (c.t, c.steps);
            let all = self.run.whole.as_ref().map(|w| w.state(&state));
            let all = all.as_ref().map_or(Some(&state), Option::as_ref);
            if let (Some(a), Some(h), Some(all)) = (&mut self.animation, &self.drawn, all) {
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
        match &self.run.settings.checkpoint {
            Some(path) => self.run.checkpoint(path, c, state),
            None => Ok(()),
        }
    }
}
