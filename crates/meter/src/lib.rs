//! Sensors and the measuring protocol: time, energy, power, clock, temperature.
//!
//! This room does not know what it measures: work comes in as a closure that runs for about so
//! many seconds, or as a command line.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sensor`] | the [`Sensor`] trait, readings, errors, problems with their cure |
//! | [`sensors`] | NVML, RAPL, hwmon, battery, external meter, recorded trace |
//! | [`control`] | clocks and power limit of a GPU, always given back |
//! | [`wrap`] | counters that wrap around or go backwards |
//! | [`sampler`] | a background thread that reads sensors while work runs |
//! | [`window`] | tick-aligned power out of samples |
//! | [`choose`] | which sensors watch a CPU or a GPU |
//! | [`probe`] | what a sensor can really do: does it move under load? |
//! | [`square_wave`] | the aliasing error of a sensor |
//! | [`policy`] | how long and how often to measure |
//! | [`protocol`] | warm-up, windows, repetition to a requested error, cross-check, flags |
//! | [`measurement`] | what a measurement gives, and what is doubtful of it |
//! | [`command`], [`race`], [`race_result`] | running commands, and comparing two of them |
//! | [`stats`] | medians, bootstrap intervals, outliers |
//! | [`observe`] | progress and cancellation |

pub mod choose;
pub mod command;
pub mod control;
pub mod measurement;
pub mod observe;
pub mod policy;
pub mod probe;
pub mod protocol;
pub mod race;
pub mod race_result;
pub mod sampler;
pub mod sensor;
pub mod sensors;
pub mod square_wave;
pub mod stats;
pub mod window;
pub mod wrap;

pub use measurement::{Flag, Measurement};
pub use observe::Observer;
pub use policy::Policy;
pub use protocol::{Meter, Run};
pub use sensor::{DeviceState, Problem, Quantity, Reading, Sensor, SensorError, SensorInfo};
pub use stats::Summary;
