//! Drift of the machine, seen by the baseline that is measured around each trial.

use super::bench::Bench;
use crate::sweep::Trial;
use greenup_meter::stats::median;

impl Bench<'_> {
    /// Compares the baseline with its first measurement.
    pub(crate) fn watch_drift(&mut self, baseline_s: &[f64], trial: &mut Trial) {
        // At clocks that the configs set, the baseline's time is theirs too.
        if baseline_s.is_empty() || self.control.is_some() {
            return;
        }
        let own = median(baseline_s);
        let first = *self.first_baseline_s.get_or_insert(own);
        let drift = own / first;
        trial.set_drift(drift);
        // A few batches say too little for more.
        if trial.stopped {
            return;
        }
        let (lo, hi) = self.drift.unwrap_or((drift, drift));
        self.drift = Some((lo.min(drift), hi.max(drift)));
        if (drift - 1.0).abs() > 0.05 {
            trial.flags.push(format!(
                "the machine drifted by {:+.0} %",
                100.0 * (drift - 1.0)
            ));
        }
    }
}
