//! Runs a nest: counts it, indexes it, walks through it.

mod arena;
mod build;
mod count;
mod domain;
mod estimate;
mod funnel;
mod index;
mod memo;
mod parallel;
mod prune;
mod recall;
mod scan;
mod walk;

pub use count::{Limits, count, count_unfiltered};
pub use estimate::Estimate;
pub use funnel::{Funnel, FunnelRow, funnel};
pub use index::Index;
pub use prune::{Branch, Fate, Pruning, pruning};
pub use walk::visit;

/// Why a run of the engine ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The caller's time is up, or it asked to stop.
    Cancelled,
    /// More was to be held than allowed.
    Memory,
    /// The space has a fault.
    Fault(crate::SpaceError),
}

impl From<crate::SpaceError> for Stop {
    fn from(e: crate::SpaceError) -> Self {
        Self::Fault(e)
    }
}
