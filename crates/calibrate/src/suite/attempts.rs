//! Measuring on a host that others use too: disturbed measurements are noticed and repeated.

use super::noise::{Noise, SLOW};
use super::probes::{Levels, Probes};
use super::{Point, Runner};
use crate::bench::window::{REPEATS, Repeatable, Window, window};
use crate::bench::{Bench, HostBenchmark, Level};
use crate::record::Record;
use greenup_files::FileError;
use greenup_meter::{Measurement, Meter, Observer};
use greenup_model::Op;
use std::cell::RefCell;
use std::convert::Infallible;

/// Known work between two benchmarks, s.
const PROBE_S: f64 = 0.025;
/// Time for repetitions over that of the first round.
const BUDGET: f64 = 0.5;
/// Repetitions of one benchmark at most.
const MOST: usize = 3;
/// The median window may be this much slower than the fastest.
const SPREAD: f64 = 0.05;
/// With a sensor: time lost to others before their power counts as part of a measured energy.
const FOREIGN: f64 = 0.05;

/// What a plan measured.
pub struct Measured {
    /// One point a benchmark: its best attempt.
    pub points: Vec<Point>,
    /// What disturbed it.
    pub noise: Noise,
    /// Stopped before the last benchmark.
    pub interrupted: bool,
}

/// A measurement of work that repeats itself, and how much of it was disturbed.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Time, energy and power of a pass.
    pub measurement: Measurement,
    /// Whether most windows had enough undisturbed passes.
    clean: bool,
    /// Share of the time that others took.
    lost: f64,
    /// Fastest window, s a pass.
    pub fastest_s: f64,
    /// Windows that were repeated.
    pub windows: usize,
}

impl Observed {
    /// Measures; `None` if the observer cancelled before the first window.
    pub fn of(work: &dyn Repeatable, meter: &mut Meter, observer: &dyn Observer) -> Option<Self> {
        // Data of a large host, or a window of a slow sensor, take longer than the user waits for the end.
        let go = || !observer.cancelled();
        let windows = RefCell::new(Vec::<Window>::new());
        let mut run = |seconds: f64| {
            // Where two windows were not clean in spite of it, repeating more of them takes time for nothing.
            let in_vain = windows.borrow().iter().filter(|w| !w.clean).count() >= 2;
            let most = if in_vain { 0 } else { REPEATS };
            let w = window(work, seconds, most, &go);
            let run = w.run;
            windows.borrow_mut().push(w);
            Ok::<_, Infallible>(run)
        };
        let measurement = match meter.measure(observer, &mut run) {
            Ok(m) => m?,
            Err(never) => match never {},
        };
        let windows = windows.into_inner();
        // The first ones warmed up.
        let own = &windows[windows.len().saturating_sub(measurement.time_s.n)..];
        Some(Self {
            clean: own.iter().filter(|w| w.clean).count() * 2 > own.len(),
            lost: own.iter().map(|w| w.lost).sum::<f64>() / own.len().max(1) as f64,
            fastest_s: (own.iter()).fold(f64::INFINITY, |f, w| w.pass_s.median.min(f)),
            windows: own.iter().map(|w| w.repeats).sum(),
            measurement,
        })
    }

    /// Why it may be slower than the machine, where known work next to it ran at `slowest` of its best rate; `None` if
    /// nothing disturbed it.
    pub fn doubt(&self, slowest: f64) -> Option<String> {
        let percent = |s: f64| format!("{:.0} %", 100.0 * s);
        if !self.clean {
            return Some(format!(
                "other programs took {} of its cores' time",
                percent(self.lost)
            ));
        }
        if self.measurement.energy_j.is_some() && self.lost > FOREIGN {
            return Some(format!(
                "its energy holds that of other programs, which took {} of its cores' time",
                percent(self.lost)
            ));
        }
        if slowest < SLOW {
            return Some(format!(
                "known work next to it ran at {} of its best rate",
                percent(slowest)
            ));
        }
        let spread = self.measurement.time_s.median / self.fastest_s - 1.0;
        (spread > SPREAD).then(|| format!("its windows differ by {}", percent(spread)))
    }

    fn time_s(&self) -> f64 {
        self.measurement.time_s.median
    }
}

/// Attempts at one measurement, each with the speed of known work before and after it.
#[derive(Default)]
pub struct Attempts {
    tried: Vec<(Observed, [Levels; 2])>,
    /// Why the first was repeated.
    why: Option<String>,
}

impl Attempts {
    /// Adds an attempt.
    pub fn push(&mut self, observed: Observed, around: [Levels; 2]) {
        self.tried.push((observed, around));
    }

    /// The fastest attempt: noise only slows. With the speed of known work around it.
    pub fn best(&self) -> Option<(&Observed, &[Levels; 2])> {
        (self.tried.iter())
            .min_by(|a, b| a.0.time_s().total_cmp(&b.0.time_s()))
            .map(|(o, around)| (o, around))
    }

    /// Why the best time is doubtful: no undisturbed attempt comes near to it. Whether it needs memory beyond the caches of
    /// a core.
    pub fn doubt(&self, probes: &Probes, memory: bool) -> Option<String> {
        let (best, _) = self.best()?;
        let doubts = (self.tried.iter())
            .filter(|(o, _)| o.time_s() <= (1.0 + SPREAD) * best.time_s())
            .map(|(o, around)| {
                let shares = around.iter().map(|l| probes.share(memory, l));
                o.doubt(shares.fold(1.0, f64::min))
            });
        // All are doubtful, or there is no doubt.
        doubts.reduce(|a, b| a.and(b)).flatten()
    }

    /// Notes the repetitions.
    pub fn note(&self, what: &str, noise: &mut Noise) {
        let windows: usize = self.tried.iter().map(|(o, _)| o.windows).sum();
        let why = self.why.as_deref();
        noise.repeated(
            what,
            self.tried.len().saturating_sub(1) + windows,
            why.unwrap_or("too few of its passes were undisturbed"),
        );
    }

    /// Remembers why it is repeated.
    pub fn repeated_for(&mut self, why: &str) {
        self.why.get_or_insert_with(|| why.to_owned());
    }

    /// Fastest window of all attempts, s a pass.
    pub fn fastest_s(&self) -> f64 {
        (self.tried.iter()).fold(f64::INFINITY, |f, (o, _)| o.fastest_s.min(f))
    }
}

/// A benchmark and its attempts.
struct Tried {
    bench: Bench,
    work: Vec<(Op, f64)>,
    attempts: Attempts,
}

impl Tried {
    fn doubt(&self, probes: &Probes) -> Option<String> {
        let memory = matches!(self.bench.level, Level::L3 | Level::Dram);
        self.attempts.doubt(probes, memory)
    }

    /// Whether a roof rests on it: on all threads, and more than a point between two roofs.
    fn is_roof(&self, threads: usize) -> bool {
        let between = matches!(
            self.bench.kind,
            HostBenchmark::F64(_) | HostBenchmark::F32(_)
        ) && self.bench.level == Level::Dram;
        self.bench.threads == threads && !between
    }

    fn point(&self, observed: &Observed) -> Point {
        let m = observed.measurement.clone();
        Point {
            name: self.bench.name(),
            threads: self.bench.threads,
            work: self.work.clone(),
            time_s: m.time_s,
            energy_j: m.energy_j,
            power_w: m.power_w,
            flags: m.flags,
            best_s: None,
            disturbed: None,
        }
    }

    /// Its best attempt, with what disturbed it.
    fn best(&self, probes: &Probes) -> Option<Point> {
        let mut point = self.point(self.attempts.best()?.0);
        point.disturbed = self.doubt(probes);
        if point.disturbed.is_some() {
            point.was_faster(self.attempts.fastest_s());
        }
        if let Some((_, pass_s)) = probes.best().find(|(b, _)| **b == self.bench) {
            point.was_faster(pass_s);
        }
        Some(point)
    }
}

/// Measures the benchmarks in their order, with known work before and after each; then those again that were disturbed,
/// within half of the time that they all took. Each record is given to `keep` at once.
///
/// # Errors
/// Those of `keep`.
pub fn run(
    runner: &dyn Runner,
    order: &[Bench],
    threads: usize,
    meter: &mut Meter,
    observer: &dyn Observer,
    keep: &mut dyn FnMut(&Record) -> Result<(), FileError>,
) -> Result<Measured, FileError> {
    let go = || !observer.cancelled();
    let mut session = Session {
        runner,
        threads,
        probes: Probes::new(runner, threads, &[HostBenchmark::Read], &go),
        meter,
        observer,
        keep,
    };
    let start = runner.now_s();
    let mut tried: Vec<Tried> = Vec::new();
    let mut before = session.probes.read(PROBE_S, &go);
    for &bench in order {
        if !go() {
            break;
        }
        let mut one = Tried {
            bench,
            work: Vec::new(),
            attempts: Attempts::default(),
        };
        before = session.attempt(&mut one, before)?;
        if one.attempts.best().is_some() {
            tried.push(one);
        }
    }
    let end = runner.now_s() + BUDGET * (runner.now_s() - start);
    session.repeat(&mut tried, end)?;

    let probes = &session.probes;
    let mut noise = Noise {
        slow_share: probes.slow_share(),
        ..Noise::default()
    };
    let mut points = Vec::new();
    for t in &tried {
        t.attempts.note(&t.bench.name(), &mut noise);
        points.extend(t.best(probes));
    }
    let records: Vec<Record> = points.iter().map(|p| p.record(threads)).collect();
    noise.roofs(&records);
    Ok(Measured {
        points,
        noise,
        interrupted: observer.cancelled(),
    })
}

/// A run under way.
struct Session<'a> {
    runner: &'a dyn Runner,
    threads: usize,
    probes: Probes<'a>,
    meter: &'a mut Meter,
    observer: &'a dyn Observer,
    keep: &'a mut dyn FnMut(&Record) -> Result<(), FileError>,
}

impl Session<'_> {
    /// Measures a benchmark once; returns the speed of known work after it.
    fn attempt(&mut self, one: &mut Tried, before: Levels) -> Result<Levels, FileError> {
        let go = || !self.observer.cancelled();
        let prepared = self.runner.prepare(&one.bench, &go);
        let found = (prepared.as_ref())
            .and_then(|p| Some((p, Observed::of(p.as_ref(), self.meter, self.observer)?)));
        let after = self.probes.read(PROBE_S, &go);
        if let Some((prepared, observed)) = found {
            one.work = prepared.work().iter().collect();
            (self.keep)(&one.point(&observed).record(self.threads))?;
            one.attempts.push(observed, [before, after.clone()]);
        }
        self.observer.step(&one.bench.name());
        Ok(after)
    }

    /// Measures what was disturbed again until `end`: first what roofs rest on.
    fn repeat(&mut self, tried: &mut [Tried], end: f64) -> Result<(), FileError> {
        let over = |s: &Self| s.observer.cancelled() || s.runner.now_s() >= end;
        for _ in 0..MOST {
            let mut doubtful: Vec<usize> = (0..tried.len())
                .filter(|&i| tried[i].doubt(&self.probes).is_some())
                .collect();
            if doubtful.is_empty() || over(self) {
                break;
            }
            doubtful.sort_by_key(|&i| !tried[i].is_roof(self.threads));
            self.observer
                .stage("repeating what was disturbed", doubtful.len());
            let observer = self.observer;
            let mut before = self.probes.read(PROBE_S, &|| !observer.cancelled());
            for i in doubtful {
                if over(self) {
                    break;
                }
                if let Some(why) = tried[i].doubt(&self.probes) {
                    tried[i].attempts.repeated_for(&why);
                    before = self.attempt(&mut tried[i], before)?;
                }
            }
        }
        Ok(())
    }
}
