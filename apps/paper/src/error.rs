//! Errors of the papers.

use greenup_setting::setting;
use greenup_study::pages::sweep::heat::HeatError;
use std::path::PathBuf;

/// Why a paper cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// No such paper.
    #[error("there is no paper `{name}`; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Names of the papers.
        known: String,
    },
    /// No such item.
    #[error("{paper} has no figure `{name}`; it has {known}")]
    NoItem {
        /// Name of the paper.
        paper: String,
        /// What was asked for.
        name: String,
        /// All items of the paper.
        known: String,
    },
    /// The shipped data is broken.
    #[error("papers/{paper}.toml: {cause}")]
    Data {
        /// Name of the paper.
        paper: String,
        /// What is wrong.
        cause: String,
    },
    /// A number of the paper has no position in our figure.
    #[error("{item}: `{number}` has no position in the figure: name a panel, and one of x and y")]
    NoPosition {
        /// The item.
        item: String,
        /// The number.
        number: String,
    },
    /// A record is not there.
    #[error(
        "the record {} is missing. Fix: run the command in a checkout of Greenup, or name one with {}",
        .0.display(),
        setting("records")
    )]
    NoRecord(PathBuf),
    /// A record cannot be used.
    #[error("{}: {cause}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// No item asked for can be measured anew.
    #[error(
        "nothing of {} that was asked for is measured by a command. Fix: leave {} out, or run the item's own command",
        .0,
        setting("measure")
    )]
    NothingToMeasure(String),
    /// A machine is not shipped.
    #[error("there is no machine `{0}`: `greenup machines` lists them")]
    NoMachine(String),
    /// The data of a paper names a value that there is not.
    #[error("there is no value of {0}")]
    NoValue(String),
    /// A machine lacks a cost.
    #[error(transparent)]
    Machine(#[from] greenup_model::MachineError),
    /// A machine cannot be changed as asked.
    #[error(transparent)]
    WhatIf(#[from] greenup_model::whatif::WhatIfError),
    /// A scaling study cannot be computed.
    #[error(transparent)]
    Scaling(#[from] greenup_scaling::ScalingError),
    /// A heat map cannot be drawn.
    #[error(transparent)]
    Heat(#[from] HeatError),
    /// Energies cannot be predicted.
    #[error(transparent)]
    Explain(#[from] greenup_study::applications::ExplainError),
}
