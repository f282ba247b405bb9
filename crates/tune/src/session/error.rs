//! Why a session cannot start.

use crate::error::TuneError;
use crate::objective::Objective;
use crate::strategy::StrategyError;
use greenup_setting::setting;
use greenup_space::{SpaceError, Stop};

/// Why a session cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// An expression of the space is invalid.
    #[error("{0}")]
    Space(SpaceError),
    /// The index of the space exceeds its memory limit.
    #[error("the space is too large to index: restrict parameters, as {}, or add filters", setting("set").to("tile=16,32"))]
    OutOfMemory,
    /// The observer cancelled.
    #[error("stopped")]
    Interrupted,
    /// The filters reject every point.
    #[error(
        "no point of the space passes its filters: `greenup space FILE` shows what each one removes"
    )]
    Empty,
    /// The shard has no points.
    #[error("shard {shard} has no points: the space has {points}; use fewer shards")]
    EmptyShard {
        /// The shard.
        shard: crate::shard::Shard,
        /// Points of the whole space.
        points: u64,
    },
    /// An objective needs energy and there is no energy sensor.
    #[error("`{objective}` needs energy: {reason}")]
    NoEnergy {
        /// The objective.
        objective: Objective,
        /// Why no sensor was found.
        reason: String,
    },
    /// An objective is a metric that the problem does not have.
    #[error(transparent)]
    Objective(#[from] crate::problem::ValueError),
    /// A metric beside another objective.
    #[error("a metric cannot be one of several objectives: name it alone")]
    MetricAlone,
    /// The machine model cannot predict the objective.
    #[error("`{machine}` cannot predict `{objective}` of this problem's work")]
    Unpredictable {
        /// Name of the machine.
        machine: String,
        /// The objective.
        objective: Objective,
    },
    /// The strategy is unknown or lacks an input.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// The sweep folder cannot be used.
    #[error(transparent)]
    Tune(#[from] TuneError),
}

impl From<Stop> for SessionError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Fault(e) => Self::Space(e),
            Stop::Memory => Self::OutOfMemory,
            Stop::Cancelled => Self::Interrupted,
        }
    }
}
