//! The best rate of a class of operations that records hold.

use crate::record::Record;
use greenup_meter::Summary;
use greenup_model::{Estimate, Label, Op};

/// A rate of a class: the record of the best, its time and the time's interval, s.
pub(crate) struct Roof<'a> {
    pub record: &'a Record,
    time_s: f64,
    interval: Option<(f64, f64)>,
}

impl<'a> Roof<'a> {
    /// That of one record, with the interval that it holds.
    pub fn of(record: &'a Record, time_s: f64) -> Self {
        let end = |name: &str| record.note(name).unwrap_or(record.time_s);
        let (lo, hi) = (end("_time_lo_s").min(time_s), end("_time_hi_s").max(time_s));
        // A single repeat says nothing of its spread.
        Self {
            record,
            time_s,
            interval: (lo < hi).then_some((lo, hi)),
        }
    }

    /// The time of one operation.
    pub fn cost(&self, op: Op) -> Estimate {
        let n = self.record.work.count(op);
        let mut tau = match self.interval {
            Some((lo, hi)) => Estimate::with_interval(self.time_s / n, lo / n, hi / n),
            None => Estimate::new(self.time_s / n),
        };
        tau.label = Some(Label::Measured);
        tau.source = Some(format!("best rate: {}", self.record.benchmark));
        tau
    }
}

/// The best rate of a class on the whole device. Rows of one benchmark with the same work and clock are its repeats: their median counts. Of a
/// row that is a median itself, the fastest window counts where the median was disturbed or the benchmark faster when it was measured
/// again.
pub(crate) fn roof(records: &[Record], op: Op) -> Option<Roof<'_>> {
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for r in (records.iter()).filter(|r| r.occupancy >= 1.0 && r.work.count(op) > 0.0) {
        let same = |g: &Vec<&Record>| {
            let clock = |r: &Record| r.note("_clock_hz");
            (&g[0].benchmark, &g[0].setting, &g[0].work) == (&r.benchmark, &r.setting, &r.work)
                && clock(g[0]) == clock(r)
        };
        match groups.iter_mut().find(|g| same(g)) {
            Some(g) => g.push(r),
            None => groups.push(vec![r]),
        }
    }
    let roofs = groups.into_iter().filter_map(|g| match g.as_slice() {
        [r] => Some(Roof::of(r, r.note("_time_best_s").unwrap_or(r.time_s))),
        all => {
            let times: Vec<f64> = all.iter().map(|r| r.time_s).collect();
            let s = Summary::of(&times)?;
            Some(Roof {
                record: all[0],
                time_s: s.median,
                interval: (s.lo < s.hi).then_some((s.lo, s.hi)),
            })
        }
    });
    let cost = |r: &Roof<'_>| r.time_s / r.record.work.count(op);
    roofs.min_by(|a, b| cost(a).total_cmp(&cost(b)))
}

/// Classes whose roof rests on a record that was disturbed, and why.
pub fn not_clean(records: &[Record]) -> Vec<(Op, String)> {
    (Op::ALL.into_iter())
        .filter_map(|op| {
            let r = roof(records, op)?.record;
            let (_, flags) = r.notes.iter().find(|(name, _)| name == "_flags")?;
            let why = flags.split("disturbed: ").nth(1)?;
            Some((op, format!("{}: {why}", r.benchmark)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_model::Work;

    fn row(benchmark: &str, bytes: f64, time_s: f64) -> Record {
        Record {
            benchmark: benchmark.into(),
            setting: "all".into(),
            work: Work::new().with(Op::Dram, bytes).unwrap(),
            time_s,
            energy_j: None,
            occupancy: 1.0,
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_roof_is_the_median_of_the_repeats_of_the_best_benchmark() {
        let mut all: Vec<Record> = [1.00, 1.02, 0.90, 1.01, 1.03]
            .map(|t| row("a", 1e9, t))
            .to_vec();
        all.extend([2.2, 2.1, 2.3].map(|t| row("b", 2e9, t)));
        let roof = roof(&all, Op::Dram).unwrap().cost(Op::Dram);
        assert!((roof.value / 1.01e-9 - 1.0).abs() < 1e-12, "{roof:?}");
        assert!(roof.lo.unwrap() < roof.value && roof.hi.unwrap() > roof.value);
        // At several clocks the fastest counts.
        let clocked: Vec<Record> = [0.6, 1.0, 1.4]
            .map(|f| {
                let mut r = row("a", 1e9, 1.0 / f);
                r.notes.push(("_clock_hz".into(), format!("{}", f * 1e9)));
                r
            })
            .to_vec();
        let fastest = super::roof(&clocked, Op::Dram).unwrap();
        assert_eq!(fastest.record.note("_clock_hz"), Some(1.4e9));
        // One row has no interval.
        let one = super::roof(&all[..1], Op::Dram).unwrap().cost(Op::Dram);
        assert_eq!((one.value, one.lo, one.hi), (1e-9, None, None));
    }
}
