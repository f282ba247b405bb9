//! Sensors and the measuring protocol: time, energy, power, clock, temperature.
//!
//! This crate does not know what it measures: work is a closure that runs for a requested number
//! of seconds, or a command line.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sensor`] | the [`Sensor`] trait, readings, errors, problems with their fix |
//! | [`sensors`] | the kinds of sensors, one file each, and finding those of this host |
//! | [`control`] | clocks and power limit of a GPU, always restored |
//! | [`mod@perf`] | counters of Linux's perf events |
//! | [`wrap`] | counters that wrap around or go backwards |
//! | [`sampler`] | a background thread that reads sensors while work runs |
//! | [`window`] | tick-aligned power out of samples |
//! | [`choose`] | which sensors watch a CPU or a GPU |
//! | [`probe`] | does a sensor follow the load? |
//! | [`square_wave`] | the aliasing error of a sensor |
//! | [`policy`] | how long and how often to measure |
//! | [`protocol`] | warm-up, windows, repetition to a requested error, cross-check, flags |
//! | [`measurement`] | results and flags |
//! | [`command`], [`interleaved`], [`comparison`] | running commands in interleaved order, and comparing them |
//! | [`energy`] | the energy of work that happens once |
//! | [`stats`] | medians, bootstrap intervals, outliers |
//! | [`observe`] | progress and cancellation |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod compare;
pub mod control;
mod diagnose;
mod measure;
#[cfg(target_os = "linux")]
pub mod perf;
pub mod sensor;
pub mod sensors;
mod signal;

pub use compare::{command, energy, interleaved, parameters, result as comparison};
pub use diagnose::{choose, probe, square_wave};
pub use measure::{measurement, observe, policy, protocol};
pub use signal::{sampler, stats, window, wrap};

pub use measurement::{Flag, Measurement};
pub use observe::Observer;
pub use policy::Policy;
pub use protocol::{Meter, Run};
pub use sensor::{DeviceState, Problem, Quantity, Reading, Sensor, SensorError, SensorInfo};
pub use stats::Summary;
