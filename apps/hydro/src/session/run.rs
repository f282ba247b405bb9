//! What stays the same from the start of a run to its end.

use crate::HydroError;
use crate::engine::State;
use crate::hydro::Hydro;
use crate::mesh::Bounds;
use crate::output::checkpoint::{self, Input};
use crate::part::Whole;
use crate::session::settings::Settings;
use crate::time::stepping::Clock;
use greenup_app::interrupt;
use greenup_device::DeviceSpec;
use greenup_ranks::Ranks;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

/// A run on this rank.
pub struct Run {
    /// With the mark of the run.
    pub settings: Settings,
    pub inputs: Vec<Input>,
    pub ranks: Arc<dyn Ranks>,
    /// That of this rank.
    pub device: DeviceSpec,
    /// The problem of this rank's part.
    pub hydro: Arc<Hydro>,
    /// Where the part lies in the whole; `None` if this rank has the whole.
    pub whole: Option<Arc<Whole>>,
    /// Bounds of the whole mesh.
    pub bounds: Bounds,
    /// Total energy at the start.
    pub energy: f64,
    /// Whether a wall of any rank does work.
    pub walls_move: bool,
}

/// Whether a wall of any rank moves, so that it does work. All ranks call it.
pub fn walls_move(hydro: &Hydro, ranks: &dyn Ranks) -> bool {
    let mut driven = [hydro.space.driven.len() as f64];
    ranks.sum(&mut driven);
    driven[0] > 0.0
}

impl Run {
    /// Whether this is the first rank, which prints and writes.
    pub fn is_first(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// Zones and unknowns of the whole.
    pub fn counts(&self) -> (usize, usize) {
        let space = &self.hydro.space;
        match &self.whole {
            None => (
                space.zones,
                space.dim * space.nodes + space.element.energies * space.zones,
            ),
            Some(w) => (w.zones.all, w.dim * w.nodes.all + w.energies * w.zones.all),
        }
    }

    /// Number of a zone in the whole.
    pub fn number(&self, zone: usize) -> usize {
        let whole = self.whole.as_ref();
        whole.map_or(zone, |w| w.zones.of[zone] as usize)
    }

    /// The total energy at the start, from which it drifts; `None` if walls do work, which is not known.
    pub fn conserved(&self) -> Option<f64> {
        (!self.walls_move).then_some(self.energy)
    }

    /// Relative change of the total energy since the start; `None` if walls do work.
    pub fn drift(&self, (internal, kinetic): (f64, f64)) -> Option<f64> {
        let start = self.conserved()?;
        Some((internal + kinetic - start) / start)
    }

    /// Writes a checkpoint. All ranks call it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn checkpoint(&self, path: &Path, c: &Clock, state: &State) -> Result<(), HydroError> {
        let _saving = interrupt::saving();
        let run = (&self.settings, &self.inputs[..]);
        match &self.whole {
            None => checkpoint::write(path, run, self.energy, (c, state)),
            Some(w) if !self.is_first() => {
                let Ok(()) = w.pass_state(state, &mut |_| Ok::<_, Infallible>(()));
                Ok(())
            }
            Some(w) => {
                let counts = (w.dim * w.nodes.all, w.energies * w.zones.all);
                checkpoint::write_by(path, run, self.energy, (c, counts), &mut |put| {
                    w.pass_state(state, put)
                })
            }
        }
    }
}
