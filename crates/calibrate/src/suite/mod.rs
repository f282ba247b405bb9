//! Which microbenchmarks a calibration runs, and running them.
//!
//! | module | contents |
//! |---|---|
//! | `point` | what one microbenchmark measured |
//! | `runner` | what prepares microbenchmarks: this host |
//! | [`noise`] | what disturbed a device, what was repeated, what is not clean |
//! | [`probes`] | known work between the measurements |
//! | [`attempts`] | measuring with repetitions of what was disturbed |

pub mod attempts;
pub mod noise;
mod point;
pub mod probes;
mod runner;

pub use point::{HIGHER, Point};
pub use runner::{HostRunner, Runner};

use crate::bench::{Bench, HostBenchmark, Level};
use crate::peak::{self, PeakCheck};
use crate::record::Record;
use greenup_device::{CpuFacts, Team, clock};
use greenup_files::FileError;
use greenup_meter::{Meter, Observer};
use noise::Noise;

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The intensities that fix the constants, all threads and one: about 40 s without a sensor.
    Quick,
    /// Every intensity on 1, 2, 4, … all threads.
    Full,
}

/// FMAs per element: I = k/4 flop/B in f64, k/2 in f32; −1 and 0 are the adds below them.
const INTENSITIES: [i32; 21] = [
    -1, 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 96, 192, 288, 480, 672, 960, 1056, 1536, 2064,
];
const QUICK: [i32; 10] = [0, 1, 2, 4, 8, 16, 24, 48, 192, 960];

/// The microbenchmarks of a calibration, in the order of a plan; shuffle before running.
pub fn plan(depth: Depth, cores: usize) -> Vec<Bench> {
    let all = cores.max(1);
    let counts: Vec<usize> = match depth {
        Depth::Quick if all > 1 => vec![all, 1],
        Depth::Quick => vec![1],
        Depth::Full => {
            let mut v: Vec<usize> = std::iter::successors(Some(1), |n| Some(n * 2))
                .take_while(|&n| n < all)
                .collect();
            v.push(all);
            v.reverse();
            v
        }
    };
    let mut plan = Vec::new();
    for &threads in &counts {
        let mut add = |kind, level| {
            plan.push(Bench {
                kind,
                level,
                threads,
            })
        };
        // Few threads stretch the time of the same work, which separates constant power from ε;
        // a handful of points does that.
        let sparse = depth == Depth::Quick && threads < all;
        let ks: Vec<i32> = match (depth, sparse) {
            (_, true) => vec![0, 8, 192],
            (Depth::Quick, _) => QUICK.to_vec(),
            // 512 flop/B is enough: k = 1056 reaches it in f32, 2064 in f64.
            (Depth::Full, _) => INTENSITIES.to_vec(),
        };
        for &k in &ks {
            if k >= 0 {
                add(HostBenchmark::F64(k), Level::Dram);
            }
            if k <= 1056 {
                add(HostBenchmark::F32(k), Level::Dram);
            }
        }
        add(HostBenchmark::F64(480), Level::L1);
        add(HostBenchmark::F32(480), Level::L1);
        add(HostBenchmark::Chase, Level::Dram);
        add(HostBenchmark::Read, Level::Dram);
        if sparse {
            continue;
        }
        for level in [Level::L1, Level::L2, Level::L3] {
            add(HostBenchmark::Read, level);
        }
        add(HostBenchmark::Copy, Level::Dram);
        add(HostBenchmark::Triad, Level::Dram);
        add(HostBenchmark::Write, Level::Dram);
        add(HostBenchmark::Integer, Level::L1);
        add(HostBenchmark::SquareRoots, Level::L1);
    }
    plan
}

/// A finished (or interrupted) calibration run.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// One point a microbenchmark.
    pub points: Vec<Point>,
    /// Core clock with all threads busy, before and after, Hz.
    pub clock_hz: Option<(f64, f64)>,
    /// Arithmetic peaks against what the clock allows.
    pub peaks: Vec<PeakCheck>,
    /// How far known work fell below its best rate during the run: 0.1 is a tenth.
    pub drift: Option<f64>,
    /// What disturbed the run, and what was repeated.
    pub noise: Noise,
    /// Kernels that are faster than every benchmark that a roof rests on.
    pub faster: Vec<Record>,
    /// Stopped before the last microbenchmark.
    pub interrupted: bool,
}

/// Runs the plan in random order (temperature and neighbours drift; an ordered sweep would load that on the intensity),
/// with known work between the benchmarks; what was disturbed is repeated. Each record is given to `keep` as soon as it is
/// measured.
///
/// # Errors
/// Those of `keep`.
pub fn run(
    plan: &[Bench],
    facts: &CpuFacts,
    team: &Team,
    meter: &mut Meter,
    observer: &dyn Observer,
    keep: &mut dyn FnMut(&Record) -> Result<(), FileError>,
) -> Result<Calibration, FileError> {
    let mut order = plan.to_vec();
    fastrand::Rng::with_seed(0x706c_616e).shuffle(&mut order);
    observer.stage("calibrating", order.len());
    let runner = HostRunner::new(facts, team);
    let clock_before = busy_clock(team);
    let measured = attempts::run(&runner, &order, team.len(), meter, observer, keep)?;
    let peaks = if measured.interrupted {
        Vec::new()
    } else {
        peak::check(facts, team, 0.5)
    };
    let mut noise = measured.noise;
    noise.others(runner.others());
    Ok(Calibration {
        points: measured.points,
        peaks,
        clock_hz: clock_before.zip(busy_clock(team)),
        drift: noise.slow_share.map(|s| 1.0 - s),
        noise,
        faster: Vec::new(),
        interrupted: measured.interrupted,
    })
}

/// Median clock of the team's cores while all of them are busy, Hz.
pub fn busy_clock(team: &Team) -> Option<f64> {
    let clocks = std::sync::Mutex::new(Vec::new());
    team.run(
        |_| (),
        |()| {
            if let Some(hz) = clock::measure_hz(0.01)
                && let Ok(mut all) = clocks.lock()
            {
                all.push(hz);
            }
        },
        |done, _| done < 3,
    );
    let clocks = clocks.into_inner().unwrap_or_default();
    (!clocks.is_empty()).then(|| greenup_meter::stats::median(&clocks))
}

#[cfg(test)]
mod tests;
