//! One case on 1 to N threads of this host, pinned in each order.

use super::row::{ACCURACY, Case};
use super::scaling::{counts, same};
use super::work::paper_flops;
use crate::GisaxsError;
use crate::form::Polyhedron;
use crate::mesh::Mesh;
use crate::mesh_form_factor::{Blocks, Quadrature, QuadratureChoice, Settings, Watch, prepare};
use greenup_device::affinity::Pin;
use greenup_meter::stats::median;
use greenup_ranks::Alone;
use num_complex::Complex64;
use serde::Serialize;
use std::time::Instant;

/// A case on some threads. Times are medians of interleaved rounds.
#[derive(Clone, Debug, Serialize)]
pub struct OnThreads {
    /// The case.
    pub case: Case,
    /// Number of triangles.
    pub triangles: usize,
    /// Number of q.
    pub points: usize,
    /// Number of threads.
    pub threads: usize,
    /// How they are pinned.
    pub pin: Pin,
    /// Preparation and evaluation, s.
    pub whole_s: f64,
    /// Evaluation, s.
    pub evaluation_s: f64,
    /// Shortest and longest evaluation of the rounds, s.
    pub evaluation_range_s: [f64; 2],
    /// GFLOP/s of the evaluation, by the operation counts of the paper for direct sums.
    pub gflops: f64,
    /// Evaluation on one thread over that on these.
    pub speedup: f64,
    /// The speedup over the number of threads.
    pub efficiency: f64,
    /// Whether F has the bits that one thread gives.
    pub same_bits: bool,
}

/// What rounds on some threads found.
#[derive(Default)]
struct Rounds {
    whole_s: Vec<f64>,
    evaluation_s: Vec<f64>,
    same_bits: bool,
}

/// Runs a case on 1, 2, 4, … and `most` threads with each way of pinning, in `rounds` interleaved rounds; `pinned` pins the
/// threads of the pool that it runs in. `None` if stopped.
///
/// # Errors
/// Threads cannot be started or pinned, or the method does not support the case.
pub fn scale_threads(
    case: &Case,
    (most, pins, rounds): (usize, &[Pin], usize),
    blocks: Blocks,
    pinned: &(dyn Fn(Pin) -> Result<(), GisaxsError> + Sync),
    watch: &Watch,
) -> Result<Option<Vec<OnThreads>>, GisaxsError> {
    let mesh = Mesh::ball(10.0, case.ball.0, case.ball.1);
    let form = Polyhedron::new(&mesh)?;
    let grids = [case.grid()];
    let settings = Settings {
        method: Some(case.method),
        accuracy: ACCURACY,
        precision: Some(case.precision),
        quadrature: QuadratureChoice::Rule(Quadrature::Centroid),
        blocks,
        ..Settings::default()
    };
    let mut teams = Vec::new();
    for threads in counts(most) {
        for pin in pins {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|e| format!("{threads} threads cannot be started: {e}"))?;
            pool.install(|| pinned(*pin))?;
            teams.push((threads, *pin, pool, Rounds::default()));
        }
    }
    let mut first: Vec<Complex64> = Vec::new();
    // The first round warms up and compares the digits.
    for round in 0..=rounds.max(1) {
        for (_, _, pool, to) in &mut teams {
            let begin = Instant::now();
            let ran = pool.install(|| -> Result<_, GisaxsError> {
                let ready = prepare(&form, &grids, &settings, &Alone, watch)?;
                let begin = Instant::now();
                let values = ready.map(|r| r.grids(&grids, watch)).transpose()?;
                Ok((values.flatten(), begin.elapsed().as_secs_f64()))
            })?;
            let whole_s = begin.elapsed().as_secs_f64();
            let (Some(values), evaluation_s) = ran else {
                return Ok(None);
            };
            if round == 0 {
                let values = values.concat();
                to.same_bits = first.is_empty() || same(&first, &values);
                if first.is_empty() {
                    first = values;
                }
                continue;
            }
            to.whole_s.push(whole_s);
            to.evaluation_s.push(evaluation_s);
        }
    }
    let found: Vec<(usize, Pin, Rounds)> = (teams.into_iter())
        .map(|(threads, pin, _, rounds)| (threads, pin, rounds))
        .collect();
    Ok(Some(rows(case, &found)))
}

fn rows(case: &Case, found: &[(usize, Pin, Rounds)]) -> Vec<OnThreads> {
    let (triangles, points) = (case.triangles(), case.grid.0 * case.grid.1);
    let flops = paper_flops(triangles as f64, points as f64, false);
    found
        .iter()
        .map(|(threads, pin, r)| {
            let evaluation_s = median(&r.evaluation_s);
            // Of one thread that is pinned alike.
            let one = (found.iter().find(|(n, p, _)| *n == 1 && p == pin))
                .map_or(f64::NAN, |(_, _, r)| median(&r.evaluation_s));
            let ends =
                (r.evaluation_s.iter()).fold([f64::MAX, 0.0], |[lo, hi], s| [s.min(lo), s.max(hi)]);
            OnThreads {
                case: *case,
                triangles,
                points,
                threads: *threads,
                pin: *pin,
                whole_s: median(&r.whole_s),
                evaluation_s,
                evaluation_range_s: ends,
                gflops: flops / evaluation_s * 1e-9,
                speedup: one / evaluation_s,
                efficiency: one / evaluation_s / *threads as f64,
                same_bits: r.same_bits,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh_form_factor::{Method, Precision};
    use std::sync::atomic::AtomicBool;

    const CASE: Case = Case {
        ball: (9, 10),
        grid: (40, 30),
        im_qz: 0.01,
        method: Method::Direct,
        precision: Precision::F32,
    };

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
        let pins = [Pin::None, Pin::Compact];
        let all = scale_threads(&CASE, (3, &pins, 2), Blocks::default(), &pinned, &watch);
        let all = all.unwrap().unwrap();
        let of: Vec<(usize, Pin)> = all.iter().map(|r| (r.threads, r.pin)).collect();
        let want: Vec<(usize, Pin)> = [1, 2, 3]
            .into_iter()
            .flat_map(|n| pins.map(|p| (n, p)))
            .collect();
        assert_eq!((&of, &*asked.lock().unwrap()), (&want, &want));
        assert!(all.iter().all(|r| r.same_bits && r.evaluation_s > 0.0));
        assert!((all[0].speedup, all[0].efficiency) == (1.0, 1.0));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let none = scale_threads(&CASE, (1, &pins, 1), Blocks::default(), &pinned, &watch);
        assert!(none.unwrap().is_none());
    }

    #[test]
    fn speedups_are_over_one_thread_pinned_alike() {
        let of = |threads, pin, s| {
            let rounds = Rounds {
                whole_s: vec![s],
                evaluation_s: vec![s],
                same_bits: true,
            };
            (threads, pin, rounds)
        };
        let all = rows(
            &CASE,
            &[
                of(1, Pin::None, 4.0),
                of(1, Pin::Compact, 3.0),
                of(2, Pin::None, 2.5),
                of(2, Pin::Compact, 1.5),
            ],
        );
        assert_eq!((all[2].speedup, all[3].speedup), (1.6, 2.0));
        assert_eq!((all[2].efficiency, all[3].efficiency), (0.8, 1.0));
    }
}
