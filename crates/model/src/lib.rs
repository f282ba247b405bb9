//! Energy rooflines: what time, energy and power a computation must cost on a machine.
//!
//! Pure mathematics: no I/O, no devices. Equation numbers are those of Choi's thesis
//! (*On the Analysis of Algorithms and Machines for Energy*, Georgia Tech); where the thesis has
//! an error the corrected form is implemented and the item's documentation says so.
//!
//! | module | what it holds |
//! |---|---|
//! | [`op`], [`work`] | operation classes and how many of each a computation does |
//! | [`machine`] | costs of one device with intervals and provenance; TOML form |
//! | [`mod@predict`] | work + machine → time, energy, power and what binds |
//! | [`network`] | several nodes: messages, partitions, time and energy |
//! | [`roofline`] | the two-class model: roofline, arch line, power line (eqs 1–8) |
//! | [`cap`] | the power cap and the throttling factors it implies (eqs 32–38) |
//! | [`clocked`] | the cap as it acts through the clock and the voltage |
//! | [`tradeoff`] | work–communication trade-offs and their bounds (eqs 13–32) |
//! | [`dvfs`] | costs as functions of voltage and clock (eqs 39–48) |
//! | [`whatif`] | throttling, power bounds, iso-power clusters, streaming energy |
//! | [`refined`] | refined peak from an instruction mix (§3.4.4) |
//! | [`map`] | dimensionless map of machines and the distance between them |
//! | [`shipped`] | the published machines that come with the program |
//! | [`compare`] | speedup, powerup, greenup |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod analysis;
pub mod clocked;
pub mod dvfs;
pub mod machine;
pub mod network;
pub mod op;
pub mod predict;
pub mod roofline;
pub mod work;

pub use analysis::{compare, map, tradeoff, whatif};
pub use machine::shipped;
pub use roofline::{cap, refined};

pub use clocked::{ClockedPrediction, predict_clocked};
pub use compare::Comparison;
pub use machine::{Clocking, Estimate, Label, Machine, MachineError, OpCost};
pub use network::{Link, Network};
pub use op::{Op, Unit};
pub use predict::{Bound, Prediction, predict};
pub use roofline::EnergyRoofline;
pub use work::{Work, WorkError};
