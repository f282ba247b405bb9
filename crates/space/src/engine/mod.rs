//! Runs a nest: counts it, indexes it, walks through it.

mod count;
mod estimate;
mod funnel;
mod index;
mod prune;
mod walk;

pub use count::{Limits, count, count_unfiltered};
pub use estimate::Estimate;
pub use funnel::{Funnel, FunnelRow, funnel};
pub use index::Index;
pub use prune::{Branch, Fate, Pruning, pruning};
pub use walk::visit;

/// Why a run of the engine ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The caller's time is up, or it asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The memory limit was exceeded.
    #[error("the memory limit was exceeded")]
    Memory,
    /// The space is invalid.
    #[error(transparent)]
    Fault(#[from] crate::SpaceError),
}
