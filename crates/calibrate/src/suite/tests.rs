//! Calibrations of a simulated host of two cores with its own clock: quiet, and disturbed in the ways of real hosts.

use super::attempts::{self, Measured};
use super::*;
use crate::bench::window::Repeatable;
use crate::roof::not_clean;
use greenup_device::load::Shares;
use greenup_device::team::Passes;
use greenup_meter::Policy;
use greenup_meter::observe::Silent;
use greenup_model::Op;
use greenup_model::Work;
use std::cell::Cell;

/// Rates of the quiet host on both cores: flop/s, B/s of each level, accesses/s.
fn rate(op: Op) -> f64 {
    match op {
        Op::F64 => 80e9,
        Op::F32 => 160e9,
        Op::L1 => 400e9,
        Op::L2 => 200e9,
        Op::L3 => 120e9,
        Op::Dram => 40e9,
        Op::Random => 2e7,
        _ => 10e9,
    }
}

/// What happens on the host at a moment.
struct Scenario {
    /// Whether another program has the core.
    taken: fn(core: usize, t: f64) -> bool,
    /// Speed of memory and of arithmetic over those of the quiet host.
    speed: fn(t: f64) -> (f64, f64),
    /// Whether the system tells when a thread has no core.
    tells: bool,
}

struct Simulated {
    now_s: Cell<f64>,
    rng: std::cell::RefCell<fastrand::Rng>,
    scenario: Scenario,
}

/// Step of the simulated clock, s.
const STEP: f64 = 1e-4;

impl Simulated {
    fn new(scenario: Scenario) -> Self {
        Self {
            now_s: Cell::new(0.0),
            rng: fastrand::Rng::with_seed(7).into(),
            scenario,
        }
    }

    /// A pass of `quiet_s` on all threads: (wall, lost), s. Each advances while it has its core.
    fn pass(&self, threads: usize, work: &Work, quiet_s: f64) -> (f64, f64) {
        let memory = work
            .iter()
            .any(|(op, _)| matches!(op, Op::Dram | Op::Random));
        // An ordinary host varies by half a percent.
        let jitter = 1.0 + 0.005 * self.rng.borrow_mut().f64();
        let (start, mut lost) = (self.now_s.get(), 0.0_f64);
        let mut end = start;
        for core in 0..threads {
            let (mut t, mut done, mut without) = (start, 0.0, 0.0);
            while done < quiet_s * jitter {
                let (bytes, flops) = (self.scenario.speed)(t);
                let speed = if memory { bytes.min(flops) } else { flops };
                let step = STEP.min((quiet_s * jitter - done) / speed).max(1e-7);
                if (self.scenario.taken)(core, t) {
                    without += STEP;
                    t += STEP;
                } else {
                    done += step * speed;
                    t += step;
                }
            }
            end = end.max(t);
            lost = lost.max(without);
        }
        self.now_s.set(end);
        (end - start, if self.scenario.tells { lost } else { 0.0 })
    }
}

struct Prepared<'a> {
    host: &'a Simulated,
    threads: usize,
    work: Work,
    quiet_s: f64,
}

impl Repeatable for Prepared<'_> {
    fn work(&self) -> &Work {
        &self.work
    }

    fn passes(&self, seconds: f64, go: &(dyn Fn() -> bool + Sync)) -> Passes {
        let start = self.host.now_s.get();
        let mut passes = Passes::default();
        while passes.seconds.is_empty() || self.host.now_s.get() - start < seconds && go() {
            let (wall, lost) = self.host.pass(self.threads, &self.work, self.quiet_s);
            passes.seconds.push(wall);
            passes.lost_s.push(lost);
        }
        passes
    }
}

impl Runner for Simulated {
    fn prepare(
        &self,
        bench: &Bench,
        _: &(dyn Fn() -> bool + Sync),
    ) -> Option<Box<dyn Repeatable + '_>> {
        let quiet_s = 3e-3;
        let level = bench.level.op();
        // On half of the cores half of the work in the same time.
        let share = bench.threads as f64 / 2.0;
        let (op, intensity) = match bench.kind {
            HostBenchmark::F64(k) => (Op::F64, f64::from(k.max(1)) / 4.0),
            HostBenchmark::F32(k) => (Op::F32, f64::from(k.max(1)) / 2.0),
            HostBenchmark::Integer => (Op::Int, 100.0),
            HostBenchmark::SquareRoots => (Op::Special, 1.0 / 16.0),
            HostBenchmark::Chase => (Op::Random, f64::INFINITY),
            _ => (level, 1.0),
        };
        let mut work = Work::new();
        let mut add = |op, n: f64| work.add(op, share * n).unwrap();
        match bench.kind {
            HostBenchmark::Chase => add(op, quiet_s * rate(op)),
            HostBenchmark::Read
            | HostBenchmark::Write
            | HostBenchmark::Copy
            | HostBenchmark::Triad => add(op, quiet_s * rate(op)),
            _ => {
                let bytes = quiet_s * rate(level).min(rate(op) / intensity);
                add(op, bytes * intensity);
                add(level, bytes);
            }
        }
        Some(Box::new(Prepared {
            host: self,
            threads: bench.threads,
            work,
            quiet_s,
        }))
    }

    fn now_s(&self) -> f64 {
        self.now_s.get()
    }

    fn others(&self) -> Option<Shares> {
        None
    }
}

/// Roofs of a quick calibration, and what disturbed it.
fn calibrate(scenario: Scenario) -> (Vec<(Op, f64)>, Measured, f64) {
    let host = Simulated::new(scenario);
    let mut order = plan(Depth::Quick, 2);
    fastrand::Rng::with_seed(1).shuffle(&mut order);
    let mut meter = Meter::time_only(Policy::quick());
    let found = attempts::run(&host, &order, 2, &mut meter, &Silent, &mut |_| Ok(())).unwrap();
    let roof = |op: Op| {
        let rates = found.points.iter().filter(|p| p.threads == 2).map(|p| {
            let count = p.work.iter().find(|(o, _)| *o == op).map_or(0.0, |w| w.1);
            count / p.best_s.unwrap_or(p.time_s.median)
        });
        (op, rates.fold(0.0, f64::max))
    };
    let ops = [
        Op::F64,
        Op::F32,
        Op::L1,
        Op::L2,
        Op::L3,
        Op::Dram,
        Op::Random,
    ];
    let took = host.now_s.get();
    (ops.map(roof).to_vec(), found, took)
}

const QUIET: Scenario = Scenario {
    taken: |_, _| false,
    speed: |_| (1.0, 1.0),
    tells: true,
};

/// Roofs within 10 % of the quiet ones, or said not to be clean.
fn assert_right_or_said(name: &str, roofs: &[(Op, f64)], found: &Measured) {
    for (op, got) in roofs {
        let off = got / rate(*op) - 1.0;
        let said = found.noise.is_not_clean(op.name());
        assert!(
            off.abs() < 0.1 || said,
            "{name}, {op}: {off}, {:?}",
            found.noise
        );
        assert!(!said || found.noise.banner().unwrap().contains(op.name()));
    }
}

#[test]
fn a_quiet_host_is_measured_once() {
    let (roofs, found, took) = calibrate(QUIET);
    for (op, got) in &roofs {
        assert!((got / rate(*op) - 1.0).abs() < 0.01, "{op}: {got}");
    }
    assert!(
        !found.noise.disturbed && found.noise.repeated.is_empty(),
        "{:?}",
        found.noise
    );
    assert!(
        found
            .points
            .iter()
            .all(|p| p.disturbed.is_none() && p.best_s.is_none())
    );
    assert!(took < 50.0, "{took} s");
}

/// A program that never sleeps shares a core: slices of 4 ms.
fn slices(t: f64) -> bool {
    ((t / 4e-3) as u64).is_multiple_of(2)
}

#[test]
fn busy_loops_leave_the_roofs() {
    let (quiet_roofs, _, quiet_s) = calibrate(QUIET);
    let one: fn(usize, f64) -> bool = |core, t| core == 0 && slices(t);
    let both: fn(usize, f64) -> bool = |core, t| slices(t + 1.3e-3 * core as f64);
    // Out of step: no moment at which both cores are free.
    let in_turn: fn(usize, f64) -> bool = |core, t| slices(t) == (core == 0);
    for (name, taken) in [("one", one), ("both", both), ("in turn", in_turn)] {
        for tells in [true, false] {
            let (roofs, found, took) = calibrate(Scenario {
                taken,
                tells,
                ..QUIET
            });
            if tells {
                assert_right_or_said(name, &roofs, &found);
            }
            assert!(took < 6.0 * quiet_s, "{name}: {took} s");
        }
    }
    // Half of the passes have both cores: the roofs are those of the quiet host, and nothing else is said.
    let (roofs, found, _) = calibrate(Scenario {
        taken: one,
        ..QUIET
    });
    for ((op, got), (_, want)) in roofs.iter().zip(&quiet_roofs) {
        assert!((got / want - 1.0).abs() < 0.02, "{op}: {got}");
    }
    assert!(found.noise.not_clean.is_empty(), "{:?}", found.noise);
}

#[test]
fn changes_of_speed_are_noticed_and_repeated_or_said() {
    // Memory at 60 % until a third of the run; arithmetic too, from the half on; bursts; a neighbour that comes and goes.
    type Speeds = fn(f64) -> (f64, f64);
    let scenarios: [(&str, Speeds); 5] = [
        (
            "slow start",
            |t| if t < 15.0 { (0.6, 1.0) } else { (1.0, 1.0) },
        ),
        (
            "slow end",
            |t| if t > 20.0 { (0.7, 0.7) } else { (1.0, 1.0) },
        ),
        ("bursts", |t| {
            if t % 5.0 < 1.2 {
                (0.5, 0.8)
            } else {
                (1.0, 1.0)
            }
        }),
        ("mostly slow", |t| {
            if t % 6.0 < 4.5 {
                (0.6, 0.9)
            } else {
                (1.0, 1.0)
            }
        }),
        ("short bursts", |t| {
            if t % 0.4 < 0.15 {
                (0.4, 1.0)
            } else {
                (1.0, 1.0)
            }
        }),
    ];
    for (name, speed) in scenarios {
        let (roofs, found, _) = calibrate(Scenario { speed, ..QUIET });
        assert_right_or_said(name, &roofs, &found);
        assert!(
            found.noise.disturbed && found.noise.banner().is_some(),
            "{name}"
        );
        assert!(!found.noise.repeated.is_empty(), "{name}");
        for r in &found.noise.repeated {
            assert!(r.times > 0 && !r.why.is_empty(), "{r:?}");
        }
    }
}

#[test]
fn a_roof_that_is_not_clean_is_named_in_the_records() {
    // Never two threads at once.
    let (_, found, _) = calibrate(Scenario {
        taken: |core, t| slices(t) == (core == 0),
        ..QUIET
    });
    let records: Vec<Record> = found.points.iter().map(|p| p.record(2)).collect();
    let named = not_clean(&records);
    assert!(!named.is_empty());
    for (op, why) in named {
        assert!(
            found.noise.is_not_clean(op.name()) && why.contains("other programs"),
            "{why}"
        );
    }
}
