//! Records that cannot be fitted.

use greenup_model::Op;
use greenup_setting::setting;
use serde::Serialize;

/// How energy is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Eq 9: ordinary least squares on E with the measured T; a cost may come out negative.
    Linear,
    /// Eq 48: the same with every cost ≥ 0.
    Nnls,
    /// Eqs 32–38: times, energies and the cap together, nonlinear.
    Capped,
}

/// Records that cannot be fitted.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Fewer records than constants.
    #[error("there are {have} records{of_kind} for {need} constants; measure at least {need}")]
    TooFew {
        /// Usable records.
        have: usize,
        /// Constants to fit.
        need: usize,
        /// Which records count, for the message.
        of_kind: &'static str,
    },
    /// A clock that no processor has.
    #[error("{benchmark}: a clock of {hertz} Hz; `_clock_hz` is in Hz, 1e6 to 1e11")]
    Clock {
        /// Name of the benchmark.
        benchmark: String,
        /// Its clock, Hz.
        hertz: f64,
    },
    /// All counts are zero.
    #[error("no record does any operation")]
    NoWork,
    /// The method needs energies.
    #[error("the {0:?} fit needs energies, and no record has one")]
    NoEnergy(Method),
    /// The constants are not identifiable from the records.
    #[error(
        "the constants cannot be distinguished: the columns of the fit are linearly dependent; \
         add records in which the counts vary independently"
    )]
    Singular,
    /// A fitted cost is not a valid number.
    #[error(transparent)]
    Machine(#[from] greenup_model::MachineError),
    /// The unconstrained fit is not a machine.
    #[error(
        "the linear fit gives `{op}` a negative energy ({energy_j:e} J); use {} or capped",
        setting("method").to("nnls")
    )]
    NegativeEnergy {
        /// The class.
        op: Op,
        /// Its fitted energy, J.
        energy_j: f64,
    },
}
