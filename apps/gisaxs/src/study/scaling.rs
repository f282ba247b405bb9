//! One case on 1 to N GPUs or threads, in interleaved rounds: times, energy, and whether all digits are equal.

use super::row::Case;
use super::work::paper_flops;
use crate::GisaxsError;
use crate::form::Polyhedron;
use crate::mesh_form_factor::{
    Accelerator, Blocks, DeviceTimes, MakeMeter, Several, Watch, prepare,
};
use greenup_device::affinity::Pin;
use greenup_meter::Measurement;
use greenup_meter::stats::median;
use greenup_ranks::Alone;
use num_complex::Complex64;
use rayon::ThreadPool;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// GPUs or threads that compute a case together.
#[derive(Default)]
pub struct Team {
    size: usize,
    pin: Pin,
    blocks: Blocks,
    gpus: Option<Arc<dyn Accelerator>>,
    pool: Option<ThreadPool>,
}

impl Team {
    /// Some GPUs.
    pub fn gpus(all: &[Arc<dyn Accelerator>]) -> Self {
        Self {
            size: all.len(),
            gpus: Several::of(all.to_vec()),
            ..Self::default()
        }
    }

    /// Some threads; `pinned` pins the threads of the pool that it runs in.
    ///
    /// # Errors
    /// They cannot be started or pinned.
    pub fn threads(
        (size, pin): (usize, Pin),
        blocks: Blocks,
        pinned: impl Fn(Pin) -> Result<(), GisaxsError> + Sync,
    ) -> Result<Self, GisaxsError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(size).build();
        let pool = pool.map_err(|e| format!("{size} threads cannot be started: {e}"))?;
        pool.install(|| pinned(pin))?;
        Ok(Self {
            size,
            pin,
            blocks,
            pool: Some(pool),
            gpus: None,
        })
    }

    /// Their number and how they are pinned.
    pub fn devices(&self) -> (usize, Pin) {
        (self.size, self.pin)
    }

    fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

/// A case on a team. Times are medians of interleaved rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scaled<D> {
    /// The case.
    pub case: Case,
    /// Number of triangles.
    pub triangles: usize,
    /// Number of q.
    pub points: usize,
    /// Preparation and evaluation, s.
    pub whole_s: f64,
    /// Evaluation, with transfers, s.
    pub evaluation_s: f64,
    /// Shortest and longest evaluation of the rounds, s.
    pub evaluation_range_s: [f64; 2],
    /// Whether F has the bits that the first team gives.
    pub same_bits: bool,
    /// Time of each round, s: of the kernels of GPUs, which the energy is of, or of the evaluation; not in JSON.
    #[serde(skip)]
    pub times_s: Vec<f64>,
    /// What only these devices have.
    #[serde(flatten)]
    pub on: D,
}

/// Of a team of GPUs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OnGpus {
    /// Number of GPUs.
    pub gpus: usize,
    /// Quadrature nodes and moments on the host, and for the nonuniform FFT spreading, s.
    pub prepare_s: f64,
    /// Of the evaluation: kernels loaded, memory allocated, nodes and q copied, on the slowest GPU, s.
    pub upload_s: f64,
    /// Of the evaluation: kernels on the slowest GPU, s.
    pub kernel_s: f64,
    /// Of the evaluation: F copied and converted, on the slowest GPU, s.
    pub download_s: f64,
    /// The rest of the evaluation, s.
    pub host_s: f64,
    /// Of the preparation: kernels that spread nodes, on the slowest GPU, s.
    pub prepare_kernel_s: f64,
    /// Time of the repeated kernels of each GPU, s.
    pub time_s: Vec<f64>,
    /// Energy of the repeated kernels of each GPU, J; `None` without a sensor.
    pub energy_j: Option<Vec<f64>>,
    /// Sum of the energies, J.
    pub total_j: Option<f64>,
    /// Time of all kernels, of preparation and evaluation, on one GPU over that on these.
    pub kernel_speedup: f64,
    /// The same of the evaluation with transfers.
    pub evaluation_speedup: f64,
    /// The same of preparation and evaluation.
    pub whole_speedup: f64,
    /// Energy on one GPU over that on these; `None` without a sensor.
    pub greenup: Option<f64>,
}

/// Of a team of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OnThreads {
    /// Number of threads.
    pub threads: usize,
    /// How they are pinned.
    pub pin: Pin,
    /// GFLOP/s of the evaluation, by the operation counts of the paper for direct sums.
    pub gflops: f64,
    /// Evaluation on one thread over that on these.
    pub speedup: f64,
    /// The speedup over the number of threads.
    pub efficiency: f64,
}

/// What only some devices have.
pub trait Devices: Clone + Serialize + DeserializeOwned {
    /// Of a case on a team, whose rounds are compared with those of `one` device.
    fn of(case: &Case, team: &Team, one: &Rounds, these: &Rounds) -> Self;

    /// The time of each round, s.
    fn times_s(rounds: &Rounds) -> Vec<f64>;

    /// Energy in this time, J; `None` if it was not measured.
    fn energy_j(&self) -> Option<f64>;
}

/// Times of a round, s.
#[derive(Clone, Copy, Default)]
struct Round {
    prepare_s: f64,
    evaluation_s: f64,
    prepare_kernel_s: f64,
    /// Of the slowest device.
    device: DeviceTimes,
}

/// What the rounds of a team found.
#[derive(Default)]
pub struct Rounds {
    all: Vec<Round>,
    measured: Vec<Measurement>,
    same_bits: bool,
}

impl Rounds {
    fn each(&self, of: impl Fn(&Round) -> f64) -> Vec<f64> {
        self.all.iter().map(of).collect()
    }

    fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        median(&self.each(of))
    }

    fn evaluation_s(&self) -> f64 {
        self.median(|r| r.evaluation_s)
    }

    fn whole_s(&self) -> f64 {
        self.median(|r| r.prepare_s + r.evaluation_s)
    }

    fn kernels_s(&self) -> f64 {
        self.median(|r| r.prepare_kernel_s + r.device.kernels_s)
    }

    fn energy_j(&self) -> Option<Vec<f64>> {
        let each = self
            .measured
            .iter()
            .map(|m| Some(m.energy_j.as_ref()?.median));
        (each.collect::<Option<Vec<f64>>>()).filter(|all| !all.is_empty())
    }

    fn total_j(&self) -> Option<f64> {
        self.energy_j().map(|all| all.iter().sum())
    }
}

impl Devices for OnGpus {
    fn of(_: &Case, team: &Team, one: &Rounds, r: &Rounds) -> Self {
        Self {
            gpus: team.size,
            prepare_s: r.median(|r| r.prepare_s),
            upload_s: r.median(|r| r.device.upload_s),
            kernel_s: r.median(|r| r.device.kernels_s),
            download_s: r.median(|r| r.device.download_s),
            host_s: r.median(|r| r.evaluation_s - r.device.sum()),
            prepare_kernel_s: r.median(|r| r.prepare_kernel_s),
            time_s: r.measured.iter().map(|m| m.time_s.median).collect(),
            energy_j: r.energy_j(),
            total_j: r.total_j(),
            kernel_speedup: one.kernels_s() / r.kernels_s(),
            evaluation_speedup: one.evaluation_s() / r.evaluation_s(),
            whole_speedup: one.whole_s() / r.whole_s(),
            greenup: one.total_j().zip(r.total_j()).map(|(a, b)| a / b),
        }
    }

    fn times_s(rounds: &Rounds) -> Vec<f64> {
        rounds.each(|r| r.prepare_kernel_s + r.device.kernels_s)
    }

    fn energy_j(&self) -> Option<f64> {
        self.total_j
    }
}

impl Devices for OnThreads {
    fn of(case: &Case, team: &Team, one: &Rounds, r: &Rounds) -> Self {
        let flops = paper_flops(case.triangles() as f64, case.points() as f64, false);
        let speedup = one.evaluation_s() / r.evaluation_s();
        Self {
            threads: team.size,
            pin: team.pin,
            gflops: flops / r.evaluation_s() * 1e-9,
            speedup,
            efficiency: speedup / team.size as f64,
        }
    }

    fn times_s(rounds: &Rounds) -> Vec<f64> {
        rounds.each(|r| r.evaluation_s)
    }

    fn energy_j(&self) -> Option<f64> {
        None
    }
}

/// Runs a case on each team in `rounds` interleaved rounds, and measures the energy of each GPU once if there is a meter;
/// `None` if stopped.
///
/// # Errors
/// A device does not support the case or fails, or a measurement fails.
pub fn scale<D: Devices>(
    case: &Case,
    teams: &[Team],
    (rounds, meter): (usize, Option<&Arc<MakeMeter>>),
    watch: &Watch,
) -> Result<Option<Vec<Scaled<D>>>, GisaxsError> {
    let form = Polyhedron::new(&case.mesh())?;
    let grids = [case.grid()];
    let mut first: Option<Vec<Complex64>> = None;
    let mut found: Vec<Rounds> = teams.iter().map(|_| Rounds::default()).collect();
    // The first round compiles the kernels and compares the digits.
    for round in 0..=rounds.max(1) {
        for (team, to) in teams.iter().zip(&mut found) {
            let mut settings = case.settings(team.blocks);
            if let Some(gpus) = &team.gpus {
                (settings.on, settings.memory) = (Some(Arc::clone(gpus)), u64::MAX);
            }
            let ran = team.run(|| -> Result<_, GisaxsError> {
                let begin = Instant::now();
                let Some(ready) = prepare(&form, &grids, &settings, &Alone, watch)? else {
                    return Ok(None);
                };
                let prepare_s = begin.elapsed().as_secs_f64();
                let prepare_kernel_s = slowest(&ready.take_times()).kernels_s;
                let begin = Instant::now();
                let Some(values) = ready.grids(&grids, watch)? else {
                    return Ok(None);
                };
                let times = Round {
                    prepare_s,
                    prepare_kernel_s,
                    evaluation_s: begin.elapsed().as_secs_f64(),
                    device: slowest(&ready.take_times()),
                };
                let measured = match meter.filter(|_| round == 0) {
                    Some(meter) => ready.measure(&grids, &Alone, meter)?,
                    None => Vec::new(),
                };
                Ok(Some((times, values, measured)))
            })?;
            let Some((times, values, measured)) = ran else {
                return Ok(None);
            };
            if round > 0 {
                to.all.push(times);
                continue;
            }
            let values = values.concat();
            to.same_bits = first.as_ref().is_none_or(|first| same(first, &values));
            to.measured = measured;
            first.get_or_insert(values);
        }
    }
    Ok(Some(rows(case, teams, &found)))
}

/// The times of the device that took longest.
fn slowest(all: &[DeviceTimes]) -> DeviceTimes {
    let longer = |a: DeviceTimes, b: DeviceTimes| if b.sum() > a.sum() { b } else { a };
    all.iter().copied().fold(DeviceTimes::default(), longer)
}

/// Whether all bits are equal.
fn same(a: &[Complex64], b: &[Complex64]) -> bool {
    let bits = |f: &Complex64| [f.re.to_bits(), f.im.to_bits()];
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| bits(a) == bits(b))
}

fn rows<D: Devices>(case: &Case, teams: &[Team], found: &[Rounds]) -> Vec<Scaled<D>> {
    let none = Rounds::default();
    (teams.iter().zip(found))
        .map(|(team, r)| {
            // One device that is pinned alike.
            let one = teams.iter().position(|t| (t.size, t.pin) == (1, team.pin));
            let ends = (r.all.iter().map(|r| r.evaluation_s))
                .fold([f64::MAX, 0.0], |[lo, hi], s| [s.min(lo), s.max(hi)]);
            Scaled {
                case: *case,
                triangles: case.triangles(),
                points: case.points(),
                whole_s: r.whole_s(),
                evaluation_s: r.evaluation_s(),
                evaluation_range_s: ends,
                same_bits: r.same_bits,
                times_s: D::times_s(r),
                on: D::of(case, team, one.map_or(&none, |k| &found[k]), r),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh_form_factor::{Method, Precision};
    use std::sync::atomic::{AtomicBool, Ordering};

    const CASE: Case = Case {
        ball: (9, 10),
        grid: (40, 30),
        im_qz: 0.01,
        method: Method::Direct,
        precision: Precision::F32,
    };

    fn team(size: usize, pin: Pin) -> Team {
        Team {
            size,
            pin,
            ..Team::default()
        }
    }

    #[test]
    fn times_are_split_and_compared() {
        let rounds = |scale: f64, more: f64| Rounds {
            all: vec![
                Round {
                    prepare_s: 1.0,
                    evaluation_s: 0.4 + 2.0 * scale + more,
                    prepare_kernel_s: scale,
                    device: DeviceTimes {
                        upload_s: 0.1,
                        kernels_s: 2.0 * scale,
                        download_s: 0.2,
                    },
                };
                3
            ],
            ..Rounds::default()
        };
        let teams = [1, 2].map(|n| team(n, Pin::None));
        let all = rows::<OnGpus>(&CASE, &teams, &[rounds(1.0, 0.0), rounds(0.5, 0.2)]);
        let (one, two) = (&all[0].on, &all[1].on);
        assert_eq!((one.kernel_s, one.prepare_kernel_s), (2.0, 1.0));
        assert!((one.host_s - 0.1).abs() < 1e-12 && (two.host_s - 0.3).abs() < 1e-12);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(two.kernel_speedup, 2.0));
        assert!(near(two.evaluation_speedup, 2.4 / 1.6));
        assert!(near(two.whole_speedup, 3.4 / 2.6));
        assert!(two.energy_j.is_none() && two.total_j.is_none());
    }

    #[test]
    fn the_slowest_device_is_taken() {
        let one = DeviceTimes::of_kernels(2.0);
        let two = DeviceTimes {
            upload_s: 1.5,
            kernels_s: 1.0,
            download_s: 0.0,
        };
        assert_eq!(slowest(&[one, two]), two);
        assert_eq!(slowest(&[]), DeviceTimes::default());
    }

    #[test]
    fn bits_are_compared() {
        let zero = [Complex64::new(0.0, 1.0)];
        assert!(
            same(&zero, &zero) && !same(&zero, &[Complex64::new(-0.0, 1.0)]) && !same(&zero, &[])
        );
    }

    #[test]
    fn threads_give_the_same_digits_and_are_pinned_as_asked() {
        let stop = AtomicBool::new(false);
        let watch = Watch {
            progress: &|_| {},
            stop: &stop,
        };
        let asked = std::sync::Mutex::new(Vec::new());
        let pinned = |pin: Pin| {
            let of = (rayon::current_num_threads(), pin);
            asked.lock().unwrap().push(of);
            Ok(())
        };
        let want: Vec<(usize, Pin)> = [1, 2, 3]
            .into_iter()
            .flat_map(|n| [Pin::None, Pin::Compact].map(|p| (n, p)))
            .collect();
        let teams: Vec<Team> = (want.iter())
            .map(|of| Team::threads(*of, Blocks::default(), pinned).unwrap())
            .collect();
        let all = scale::<OnThreads>(&CASE, &teams, (2, None), &watch);
        let all = all.unwrap().unwrap();
        let of: Vec<(usize, Pin)> = all.iter().map(|r| (r.on.threads, r.on.pin)).collect();
        assert_eq!((&of, &*asked.lock().unwrap()), (&want, &want));
        assert!(all.iter().all(|r| r.same_bits && r.evaluation_s > 0.0));
        assert!((all[0].on.speedup, all[0].on.efficiency) == (1.0, 1.0));
        stop.store(true, Ordering::Relaxed);
        let none = scale::<OnThreads>(&CASE, &teams[..1], (1, None), &watch);
        assert!(none.unwrap().is_none());
    }

    #[test]
    fn speedups_are_over_one_thread_pinned_alike() {
        let of = |evaluation_s| Rounds {
            all: vec![Round {
                evaluation_s,
                ..Round::default()
            }],
            ..Rounds::default()
        };
        let teams = [1, 2].map(|n| [Pin::None, Pin::Compact].map(|p| team(n, p)));
        let teams: Vec<Team> = teams.into_iter().flatten().collect();
        let all = rows::<OnThreads>(&CASE, &teams, &[4.0, 3.0, 2.5, 1.5].map(of));
        assert_eq!((all[2].on.speedup, all[3].on.speedup), (1.6, 2.0));
        assert_eq!((all[2].on.efficiency, all[3].on.efficiency), (0.8, 1.0));
    }
}
