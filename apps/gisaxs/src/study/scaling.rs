//! One case on 1 to N GPUs: time, energy, and whether all digits are equal.

use super::row::{ACCURACY, Case};
use crate::GisaxsError;
use crate::form::Polyhedron;
use crate::mesh::Mesh;
use crate::mesh_form_factor::{
    Accelerator, DeviceTimes, MakeMeter, Quadrature, QuadratureChoice, Settings, Several, Watch,
    prepare,
};
use greenup_meter::Measurement;
use greenup_meter::stats::median;
use greenup_ranks::Alone;
use num_complex::Complex64;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// A case on some GPUs. Times are medians of interleaved rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Scaled {
    /// The case.
    pub case: Case,
    /// Number of triangles.
    pub triangles: usize,
    /// Number of q.
    pub points: usize,
    /// Number of GPUs.
    pub gpus: usize,
    /// Preparation and evaluation, s.
    pub whole_s: f64,
    /// Quadrature nodes and moments on the host, and for the nonuniform FFT spreading, s.
    pub prepare_s: f64,
    /// Evaluation with transfers, s.
    pub evaluation_s: f64,
    /// Shortest and longest evaluation of the rounds, s.
    pub evaluation_range_s: [f64; 2],
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
    /// Whether F has the bits that one GPU gives.
    pub same_bits: bool,
}

/// 1, 2, 4, … up to all devices.
pub fn counts(devices: usize) -> Vec<usize> {
    let mut out: Vec<usize> = std::iter::successors(Some(1), |n| Some(2 * n))
        .take_while(|n| *n < devices)
        .collect();
    out.push(devices);
    out
}

/// What rounds on some devices found.
#[derive(Default)]
struct Rounds {
    prepare_s: Vec<f64>,
    evaluation_s: Vec<f64>,
    prepare_kernel_s: Vec<f64>,
    /// Of the slowest device.
    device: Vec<DeviceTimes>,
    measured: Vec<Measurement>,
    same_bits: bool,
}

/// Runs a case on 1, 2, 4, … and all devices, in `rounds` interleaved rounds, and measures the energy of each once if there
/// is a meter; `None` if stopped.
///
/// # Errors
/// A device does not support the case or fails, or a measurement fails.
pub fn scale(
    case: &Case,
    devices: &[Arc<dyn Accelerator>],
    (rounds, meter): (usize, Option<&Arc<MakeMeter>>),
    watch: &Watch,
) -> Result<Option<Vec<Scaled>>, GisaxsError> {
    let mesh = Mesh::ball(10.0, case.ball.0, case.ball.1);
    let form = Polyhedron::new(&mesh)?;
    let grids = [case.grid()];
    let counts = counts(devices.len());
    let settings = |gpus: usize| Settings {
        method: Some(case.method),
        accuracy: ACCURACY,
        precision: Some(case.precision),
        quadrature: QuadratureChoice::Rule(Quadrature::Centroid),
        memory: u64::MAX,
        on: Several::of(devices[..gpus].to_vec()),
        ..Settings::default()
    };
    let mut first: Vec<Complex64> = Vec::new();
    let mut found: Vec<Rounds> = counts.iter().map(|_| Rounds::default()).collect();
    // The first round compiles the kernels and compares the digits.
    for round in 0..=rounds.max(1) {
        for (gpus, to) in counts.iter().zip(&mut found) {
            let settings = settings(*gpus);
            let begin = Instant::now();
            let Some(ready) = prepare(&form, &grids, &settings, &Alone, watch)? else {
                return Ok(None);
            };
            let prepare_s = begin.elapsed().as_secs_f64();
            let spread = slowest(&ready.take_times());
            let begin = Instant::now();
            let Some(values) = ready.grids(&grids, watch)? else {
                return Ok(None);
            };
            let evaluation_s = begin.elapsed().as_secs_f64();
            let device = slowest(&ready.take_times());
            if round == 0 {
                let values = values.concat();
                if *gpus == 1 {
                    first = values;
                    to.same_bits = true;
                } else {
                    to.same_bits = same(&first, &values);
                }
                if let Some(meter) = meter {
                    to.measured = ready.measure(&grids, &Alone, meter)?;
                }
                continue;
            }
            to.prepare_s.push(prepare_s);
            to.evaluation_s.push(evaluation_s);
            to.prepare_kernel_s.push(spread.kernels_s);
            to.device.push(device);
        }
    }
    Ok(Some(rows(case, &counts, &found)))
}

/// The times of the device that took longest.
fn slowest(all: &[DeviceTimes]) -> DeviceTimes {
    let longer = |a: DeviceTimes, b: DeviceTimes| if b.sum() > a.sum() { b } else { a };
    all.iter().copied().fold(DeviceTimes::default(), longer)
}

/// Whether all bits are equal.
pub(super) fn same(a: &[Complex64], b: &[Complex64]) -> bool {
    let bits = |f: &Complex64| [f.re.to_bits(), f.im.to_bits()];
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| bits(a) == bits(b))
}

fn rows(case: &Case, counts: &[usize], found: &[Rounds]) -> Vec<Scaled> {
    let whole = |r: &Rounds| {
        let sums = r.prepare_s.iter().zip(&r.evaluation_s).map(|(a, b)| a + b);
        median(&sums.collect::<Vec<_>>())
    };
    let energies = |r: &Rounds| -> Option<Vec<f64>> {
        let all = r
            .measured
            .iter()
            .map(|m| m.energy_j.as_ref().map(|e| e.median));
        all.collect::<Option<Vec<_>>>()
            .filter(|all| !all.is_empty())
    };
    let of = |r: &Rounds, time: &dyn Fn(&DeviceTimes) -> f64| {
        median(&r.device.iter().map(time).collect::<Vec<_>>())
    };
    let kernels = |r: &Rounds| {
        let sums = r.prepare_kernel_s.iter().zip(&r.device);
        median(&sums.map(|(a, b)| a + b.kernels_s).collect::<Vec<_>>())
    };
    let host = |r: &Rounds| {
        let rest = r.evaluation_s.iter().zip(&r.device);
        median(&rest.map(|(all, d)| all - d.sum()).collect::<Vec<_>>())
    };
    let total = |r: &Rounds| energies(r).map(|all| all.iter().sum::<f64>());
    let one = &found[0];
    counts
        .iter()
        .zip(found)
        .map(|(gpus, r)| {
            let evaluation_s = median(&r.evaluation_s);
            let ends = r
                .evaluation_s
                .iter()
                .fold([f64::MAX, 0.0], |[lo, hi], s| [s.min(lo), s.max(hi)]);
            Scaled {
                case: *case,
                triangles: case.triangles(),
                points: case.grid.0 * case.grid.1,
                gpus: *gpus,
                whole_s: whole(r),
                prepare_s: median(&r.prepare_s),
                evaluation_s,
                evaluation_range_s: ends,
                upload_s: of(r, &|d| d.upload_s),
                kernel_s: of(r, &|d| d.kernels_s),
                download_s: of(r, &|d| d.download_s),
                host_s: host(r),
                prepare_kernel_s: median(&r.prepare_kernel_s),
                time_s: r.measured.iter().map(|m| m.time_s.median).collect(),
                energy_j: energies(r),
                total_j: total(r),
                kernel_speedup: kernels(one) / kernels(r),
                evaluation_speedup: median(&one.evaluation_s) / evaluation_s,
                whole_speedup: whole(one) / whole(r),
                greenup: total(one).zip(total(r)).map(|(a, b)| a / b),
                same_bits: r.same_bits,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh_form_factor::{Method, Precision};

    #[test]
    fn numbers_of_gpus_are_doubled_up_to_all() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(6), [1, 2, 4, 6]);
        assert_eq!(counts(8), [1, 2, 4, 8]);
    }

    #[test]
    fn times_are_split_and_compared() {
        let rounds = |scale: f64, more: f64| {
            let device = DeviceTimes {
                upload_s: 0.1,
                kernels_s: 2.0 * scale,
                download_s: 0.2,
            };
            Rounds {
                prepare_s: vec![1.0; 3],
                evaluation_s: vec![0.4 + 2.0 * scale + more; 3],
                prepare_kernel_s: vec![scale; 3],
                device: vec![device; 3],
                ..Rounds::default()
            }
        };
        let case = Case {
            ball: (3, 4),
            grid: (5, 6),
            im_qz: 0.0,
            method: Method::Gemm,
            precision: Precision::F32,
        };
        let all = rows(&case, &[1, 2], &[rounds(1.0, 0.0), rounds(0.5, 0.2)]);
        assert_eq!((all[0].kernel_s, all[0].prepare_kernel_s), (2.0, 1.0));
        assert!((all[0].host_s - 0.1).abs() < 1e-12 && (all[1].host_s - 0.3).abs() < 1e-12);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(all[1].kernel_speedup, 2.0));
        assert!(near(all[1].evaluation_speedup, 2.4 / 1.6));
        assert!(near(all[1].whole_speedup, 3.4 / 2.6));
        assert!(all[1].energy_j.is_none() && all[1].total_j.is_none());
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
}
