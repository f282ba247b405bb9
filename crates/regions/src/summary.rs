//! Results of a process, as they are written.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the format.
pub const FORMAT: u32 = 1;

/// All regions of a process: one line of JSON, with `"type": "summary"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Always 1.
    pub greenup_regions: u32,
    /// The process.
    #[serde(flatten)]
    pub process: Process,
    /// Whether the process has ended; else it was written while it ran.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Seconds since the first region began.
    pub wall_s: f64,
    /// Energy sensors. None: energies are null.
    pub sensors: Vec<SensorSummary>,
    /// Sensors that could not be used, with the cause and the fix.
    pub problems: Vec<SensorProblem>,
    /// What went wrong with regions.
    pub notes: Vec<String>,
    /// Regions; each comes before those within it.
    pub regions: Vec<Region>,
}

/// Which process.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Process {
    /// Name of the program.
    pub program: String,
    /// Name of the host.
    pub host: String,
    /// Process id.
    pub pid: u32,
    /// Rank, in a program that a launcher of ranks started.
    pub rank: Option<u32>,
    /// Unix time of its first region, ns.
    pub start_unix_ns: u64,
}

/// A sensor of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensorSummary {
    /// Its id, as `greenup doctor` lists it.
    pub id: String,
    /// What it covers.
    pub scope: String,
    /// Time between two changes of its value, s.
    pub tick_s: Option<f64>,
    /// Changes seen.
    pub ticks: u64,
    /// Energy since the first region began, J, in regions or not.
    pub joules: Option<f64>,
    /// Why it gave no energy, or no longer.
    pub cause: Option<String>,
}

/// A sensor that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SensorProblem {
    /// Its id.
    pub id: String,
    /// Whether the hardware or file exists at all.
    pub present: bool,
    /// Why.
    pub cause: String,
    /// Suggested fix.
    pub fix: String,
}

/// A region: all calls of one path, in all threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Names from the outermost region to this one.
    pub path: Vec<String>,
    /// Ends.
    pub calls: u64,
    /// Threads that were inside.
    pub threads: u64,
    /// Seconds inside, of all threads together.
    pub inclusive_s: f64,
    /// Seconds inside and in no region within.
    pub exclusive_s: f64,
    /// Shortest call, s.
    pub min_s: Option<f64>,
    /// Longest call, s.
    pub max_s: Option<f64>,
    /// Joules of each sensor's device while any thread was inside. Null without a sensor.
    pub joules: Option<BTreeMap<String, f64>>,
    /// The same in no region within.
    pub exclusive_joules: Option<BTreeMap<String, f64>>,
    /// Mean power of each sensor's device while any thread was inside, W.
    pub watts: Option<BTreeMap<String, f64>>,
    /// Share of the active time that the energy covers, where it is below 1: a sensor came late or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered: Option<BTreeMap<String, f64>>,
    /// Sensors whose tick is longer than the mean call: the energy is shared out by time within each tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accumulated: Option<BTreeMap<String, Accumulated>>,
}

/// What an accumulated energy is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accumulated {
    /// Calls.
    pub calls: u64,
    /// Ticks of the sensor during which the region was active.
    pub ticks: u64,
}

/// One end of a region: a line of JSON, with `"type": "region"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Names from the outermost region to this one.
    pub path: Vec<String>,
    /// Number of the thread, from 0.
    pub thread: u64,
    /// Seconds since the first region of the process began.
    pub start_s: f64,
    /// Length.
    pub seconds: f64,
    /// Joules of each sensor's device; null without a sensor.
    pub joules: Option<BTreeMap<String, f64>>,
    /// Whether the call was shorter than a sensor's tick, so that its energy is its share of the tick's time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shorter_than_tick: bool,
    /// Process id.
    pub pid: u32,
    /// Name of the host.
    pub host: String,
    /// Rank, in a program that a launcher of ranks started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Unix time of the process's first region, ns.
    pub start_unix_ns: u64,
}

/// A line of a file of regions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Entry {
    /// All regions of a process.
    Summary(Box<Summary>),
    /// One end of a region.
    Region(Box<Line>),
}
