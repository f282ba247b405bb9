//! Known work between the measurements: it tells when the machine is slower than it can be.

use super::{Point, Runner};
use crate::bench::window::{REPEATS, Repeatable, window};
use crate::bench::{Bench, HostBenchmark, Level};
use greenup_meter::{Summary, stats};
use greenup_model::Op;

/// A microbenchmark that is measured again and again.
struct Known<'a> {
    bench: Bench,
    work: Box<dyn Repeatable + 'a>,
    /// The pass of the fastest window.
    best: Option<Summary>,
    /// Rate of each window, passes/s.
    rates: Vec<f64>,
}

/// Known work: arithmetic in registers, and streams of slow memory.
pub struct Probes<'a> {
    known: Vec<Known<'a>>,
}

/// Passes per second of each known work at one moment.
#[derive(Clone, Debug, Default)]
pub struct Levels(Vec<f64>);

impl<'a> Probes<'a> {
    /// Prepares arithmetic and these streams of slow memory on all threads, without those that `go` stopped.
    pub fn new(
        runner: &'a dyn Runner,
        threads: usize,
        streams: &[HostBenchmark],
        go: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let stream = |kind: &HostBenchmark| Bench {
            kind: *kind,
            level: Level::Dram,
            threads,
        };
        let benches = [Bench::f64_peak(threads)].into_iter();
        let known = benches
            .chain(streams.iter().map(stream))
            .filter_map(|bench| {
                Some(Known {
                    work: runner.prepare(&bench, go)?,
                    bench,
                    best: None,
                    rates: Vec::new(),
                })
            })
            .collect();
        Self { known }
    }

    /// Takes what a calibration measured as the best so far.
    pub fn expect(&mut self, points: &[Point]) {
        for k in &mut self.known {
            let of = |p: &&Point| p.name == k.bench.name() && p.threads == k.bench.threads;
            if let Some(p) = points.iter().find(of) {
                let best = p.best_s.unwrap_or(p.time_s.median);
                k.best = Some(p.time_s.scaled(best / p.time_s.median));
            }
        }
    }

    /// Runs each for about `seconds`.
    pub fn read(&mut self, seconds: f64, go: &(dyn Fn() -> bool + Sync)) -> Levels {
        let of = |k: &mut Known| {
            let w = window(k.work.as_ref(), seconds, REPEATS, go);
            let rate = 1.0 / w.pass_s.median;
            k.rates.push(rate);
            // A few passes of a disturbed window are no sustained rate.
            if w.clean && k.best.is_none_or(|b| w.pass_s.median < b.median) {
                k.best = Some(w.pass_s);
            }
            rate
        };
        Levels(self.known.iter_mut().map(of).collect())
    }

    /// Rate at that moment over the best of the whole run: of arithmetic, and of memory if it is asked for; the lowest. Below
    /// 1 where the machine was slower.
    pub fn share(&self, memory: bool, levels: &Levels) -> f64 {
        self.shares(levels)
            .filter(|(k, _)| memory || k.bench.level == Level::L1)
            .fold(1.0, |low, (_, share)| share.min(low))
    }

    /// The same for one operation class, by the better of its known works; `None` without one.
    pub fn share_of(&self, op: Op, levels: &Levels) -> Option<f64> {
        self.shares(levels)
            .filter(|(k, _)| {
                (op == Op::F64 && k.bench.level == Level::L1) || op == k.bench.level.op()
            })
            .map(|(_, share)| share)
            .reduce(f64::max)
    }

    fn shares<'b>(&'b self, levels: &'b Levels) -> impl Iterator<Item = (&'b Known<'a>, f64)> {
        self.known.iter().zip(&levels.0).map(|(k, rate)| {
            let best = k.best.as_ref().map_or(*rate, |b| 1.0 / b.median);
            (k, rate / best)
        })
    }

    /// The slower moments of each over its best, the lowest tenth; `None` before a reading.
    pub fn slow_share(&self) -> Option<f64> {
        let of = |k: &Known| {
            let best = 1.0 / k.best.as_ref()?.median;
            (!k.rates.is_empty()).then(|| stats::quantile(&k.rates, 0.1) / best)
        };
        self.known.iter().filter_map(of).reduce(f64::min)
    }

    /// Each benchmark with its fastest pass, s.
    pub fn best(&self) -> impl Iterator<Item = (&Bench, f64)> {
        self.known
            .iter()
            .filter_map(|k| Some((&k.bench, k.best.as_ref()?.median)))
    }
}
