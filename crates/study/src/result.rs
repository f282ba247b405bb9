//! The result of one kernel.

use crate::energy::EnergySplit;
use greenup_calibrate::Record;
use greenup_calibrate::suite::HIGHER;
use greenup_calibrate::suite::noise::SLOW;
use greenup_meter::{Measurement, Summary};
use greenup_model::{Bound, Prediction, Work};
use serde::Serialize;

/// A library that computes the same, in the same rounds. Its result is not verified.
#[derive(Clone, Debug, Serialize)]
pub struct Library {
    /// Its name.
    pub name: String,
    /// Time of one run, s.
    pub time_s: Summary,
    /// Energy of one run, J; `None` if it was not measured.
    pub energy_j: Option<Summary>,
}

/// One kernel, measured and predicted.
#[derive(Clone, Debug, Serialize)]
pub struct KernelResult {
    /// Name of the kernel.
    pub name: String,
    /// Operation and problem size in a phrase.
    pub about: String,
    /// Work of one iteration.
    #[serde(skip)]
    pub work: Work,
    /// Operations of one iteration, flop.
    pub flops: f64,
    /// Minimum traffic of one iteration to main memory, bytes.
    pub bytes: f64,
    /// Arithmetic intensity, flop/B.
    pub intensity: f64,
    /// Largest error against the reference, and its bound.
    pub verification: (f64, f64),
    /// Time, power and energy of one iteration; `None` if the run was interrupted.
    pub measured: Option<Measurement>,
    /// Prediction of the calibrated machine model: at the roof.
    pub predicted: Prediction,
    /// The predicted energy for the measured time, split by its causes; `None` if the machine has no energies.
    pub explained: Option<EnergySplit>,
    /// A library measured next to it.
    pub library: Option<Library>,
    /// Doubts about the measurement, besides its flags.
    pub doubts: Vec<String>,
    /// What disturbed it in all attempts; `None` if it was measured cleanly.
    pub disturbed: Option<String>,
    /// Predicted time / measured time: 1 is the roof, above 1 is faster than the model allows.
    pub share_of_roof: Option<f64>,
    /// Speed of known work next to the kernel over its best (mean of before and after): work that the binding roof bounds.
    /// `None` without such work.
    pub roof_then: Option<f64>,
    /// Relative error of the predicted time, (predicted − measured) / measured.
    pub time_error: Option<f64>,
    /// Relative error of the energy predicted for the measured time, (predicted − measured) / measured.
    pub energy_error: Option<f64>,
    /// Prediction of the assumed machine, kept separate from the measured results; `None` without one.
    pub assumed: Option<Prediction>,
    /// Findings and suggestions.
    pub advice: Vec<String>,
}

impl KernelResult {
    /// Whether known work next to the kernel was clearly slower than at its best.
    pub fn roof_moved(&self) -> bool {
        self.roof_then.is_some_and(|r| r < SLOW)
    }

    /// How well its time is known: half of the 95 % interval over the median; 0 of a single window, which has no interval.
    /// `None` if it was not measured.
    pub fn noise(&self) -> Option<f64> {
        let t = &self.measured.as_ref()?.time_s;
        Some(if t.n < 2 { 0.0 } else { t.relative_error() })
    }

    /// Takes the prediction of a machine, and the errors against it.
    pub fn explained_by(&mut self, predicted: Prediction, explained: Option<EnergySplit>) {
        let time = self.measured.as_ref().map(|m| m.time_s.median);
        let energy = (self.measured.as_ref()).and_then(|m| Some(m.energy_j?.median));
        self.share_of_roof = time.map(|t| predicted.time_s / t);
        self.time_error = time.map(|t| predicted.time_s / t - 1.0);
        self.energy_error = (energy.zip(explained.as_ref())).map(|(m, e)| e.total_j / m - 1.0);
        self.predicted = predicted;
        self.explained = explained;
    }

    /// Its record, if it is clearly faster than its roof: the roof is at least as high. One without an energy, which
    /// leaves the energies of the machine as they are. Not where part of the bytes may have stayed in a cache: data smaller
    /// than `beyond_caches`, bytes.
    pub fn above_roof(&self, data_bytes: f64, beyond_caches: f64) -> Option<Record> {
        let t = &self.measured.as_ref()?.time_s;
        let Bound::Op(op) = self.predicted.bound else {
            return None;
        };
        if t.median * HIGHER > self.predicted.time_s || op.is_bytes() && data_bytes < beyond_caches
        {
            return None;
        }
        let mut record = record(&format!("kernel {}", self.name), self.work.clone(), t);
        // What was disturbed may be faster still: a roof that rests on it is a lower bound.
        let why = self.disturbed.iter();
        (record.notes).extend(why.map(|why| ("_flags".into(), format!("disturbed: {why}"))));
        Some(record)
    }
}

/// A record of work on the whole device that took `time_s`, without an energy.
pub fn record(name: &str, work: Work, time_s: &Summary) -> Record {
    let number = |name: &str, v: f64| (name.to_owned(), format!("{v:e}"));
    Record {
        benchmark: name.to_owned(),
        setting: "study".into(),
        work,
        time_s: time_s.median,
        energy_j: None,
        occupancy: 1.0,
        notes: vec![
            number("_time_lo_s", time_s.lo),
            number("_time_hi_s", time_s.hi),
            ("_repeats".into(), time_s.n.to_string()),
        ],
    }
}
