//! What one microbenchmark measured.

use crate::record::Record;
use greenup_meter::{Flag, Summary};
use greenup_model::Op;
use serde::Serialize;

/// What one microbenchmark measured.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Name of the microbenchmark.
    pub name: String,
    /// Number of threads.
    pub threads: usize,
    /// Work of one pass: (class, count).
    pub work: Vec<(Op, f64)>,
    /// Time of one pass, s.
    pub time_s: Summary,
    /// Energy of one pass, J, if a sensor measured it.
    pub energy_j: Option<Summary>,
    /// Mean power, W, if a sensor measured it.
    pub power_w: Option<Summary>,
    /// Doubts about the measurement.
    pub flags: Vec<Flag>,
    /// Time of one pass in the fastest window, s, where that is what the machine sustained: the median was disturbed, or the
    /// benchmark was faster when it was measured again.
    pub best_s: Option<f64>,
    /// What disturbed it in all attempts; `None` if it was measured cleanly.
    pub disturbed: Option<String>,
}

/// A rate that is measured again counts as higher from this excess on.
pub const HIGHER: f64 = 1.02;

impl Point {
    /// Takes the time of a pass in another window, s, if it is clearly faster.
    pub fn was_faster(&mut self, pass_s: f64) {
        if pass_s * HIGHER < self.best_s.unwrap_or(self.time_s.median) {
            self.best_s = Some(pass_s);
        }
    }

    /// Operations per second of a class, by the median time.
    pub fn rate(&self, op: Op) -> f64 {
        self.work
            .iter()
            .find(|(o, _)| *o == op)
            .map_or(0.0, |(_, n)| n / self.time_s.median)
    }

    /// The record that the fit reads.
    pub fn record(&self, all_threads: usize) -> Record {
        let mut work = greenup_model::Work::new();
        for &(op, n) in &self.work {
            // Counts of our own kernels are never negative.
            let _ = work.add(op, n);
        }
        let flags: Vec<String> = self
            .flags
            .iter()
            .filter(|f| **f != Flag::NoEnergy)
            .map(ToString::to_string)
            .chain(self.disturbed.iter().map(|why| format!("disturbed: {why}")))
            .collect();
        Record {
            benchmark: self.name.clone(),
            setting: format!("{} threads", self.threads),
            work,
            time_s: self.time_s.median,
            energy_j: self.energy_j.map(|e| e.median),
            occupancy: self.threads as f64 / all_threads as f64,
            notes: vec![
                ("_time_lo_s".into(), format!("{:e}", self.time_s.lo)),
                ("_time_hi_s".into(), format!("{:e}", self.time_s.hi)),
                ("_repeats".into(), self.time_s.n.to_string()),
                (
                    "_time_best_s".into(),
                    self.best_s.map_or_else(String::new, |s| format!("{s:e}")),
                ),
                ("_flags".into(), flags.join("; ")),
            ],
        }
    }
}
