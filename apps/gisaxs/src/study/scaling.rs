//! One case on 1 to N GPUs: time, energy, and whether all digits are equal.

use super::row::{ACCURACY, Case};
use crate::GisaxsError;
use crate::form::Polyhedron;
use crate::mesh::Mesh;
use crate::mesh_form_factor::{
    Accelerator, MakeMeter, Prepared, QGrid, Quadrature, Settings, Several, Watch, prepare,
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
    /// Kernels of preparation and evaluation on the slowest GPU, without transfers, s.
    pub kernel_s: f64,
    /// Shortest and longest of the rounds, s.
    pub kernel_range_s: [f64; 2],
    /// Time of the repeated kernels of each GPU, s.
    pub time_s: Vec<f64>,
    /// Energy of the repeated kernels of each GPU, J; `None` without a sensor.
    pub energy_j: Option<Vec<f64>>,
    /// Sum of the energies, J.
    pub total_j: Option<f64>,
    /// Time of the kernels on one GPU over that on these.
    pub speedup: f64,
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
    kernel_s: Vec<f64>,
    measured: Vec<Measurement>,
    same_bits: bool,
}

/// Runs a case on 1, 2, 4, … and all devices, in `rounds` interleaved rounds, and measures each once; `None` if stopped.
///
/// # Errors
/// A device does not support the case or fails, or a measurement fails.
pub fn scale(
    case: &Case,
    devices: &[Arc<dyn Accelerator>],
    (rounds, meter): (usize, &Arc<MakeMeter>),
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
        quadrature: Some(Some(Quadrature::Centroid)),
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
            let ready = prepare(&form, &grids, &settings, &Alone)?;
            let prepare_s = begin.elapsed().as_secs_f64();
            let spread_s = ready.take_device_s();
            let begin = Instant::now();
            let Some(values) = ready.grids(&grids, watch)? else {
                return Ok(None);
            };
            let evaluation_s = begin.elapsed().as_secs_f64();
            let kernels = ready.take_device_s();
            let kernel_s = kernels
                .iter()
                .enumerate()
                .map(|(n, s)| s + spread_s.get(n).unwrap_or(&0.0));
            let kernel_s = kernel_s.fold(0.0, f64::max);
            if round == 0 {
                let values = values.concat();
                if *gpus == 1 {
                    first = values;
                    to.same_bits = true;
                } else {
                    to.same_bits = same(&first, &values);
                }
                to.measured = measured(&ready, &grids, meter)?;
                continue;
            }
            to.prepare_s.push(prepare_s);
            to.evaluation_s.push(evaluation_s);
            to.kernel_s.push(kernel_s);
        }
    }
    Ok(Some(rows(case, &counts, &found)))
}

fn measured(
    ready: &Prepared,
    grids: &[QGrid],
    meter: &Arc<MakeMeter>,
) -> Result<Vec<Measurement>, GisaxsError> {
    ready.measure(grids, &Alone, meter)
}

fn same(a: &[Complex64], b: &[Complex64]) -> bool {
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
        all.collect()
    };
    let total = |r: &Rounds| energies(r).map(|all| all.iter().sum::<f64>());
    let one = &found[0];
    counts
        .iter()
        .zip(found)
        .map(|(gpus, r)| {
            let kernel_s = median(&r.kernel_s);
            let ends = r
                .kernel_s
                .iter()
                .fold([f64::MAX, 0.0], |[lo, hi], s| [s.min(lo), s.max(hi)]);
            Scaled {
                case: *case,
                triangles: case.triangles(),
                points: case.grid.0 * case.grid.1,
                gpus: *gpus,
                whole_s: whole(r),
                prepare_s: median(&r.prepare_s),
                evaluation_s: median(&r.evaluation_s),
                kernel_s,
                kernel_range_s: ends,
                time_s: r.measured.iter().map(|m| m.time_s.median).collect(),
                energy_j: energies(r),
                total_j: total(r),
                speedup: median(&one.kernel_s) / kernel_s,
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

    #[test]
    fn numbers_of_gpus_are_doubled_up_to_all() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(6), [1, 2, 4, 6]);
        assert_eq!(counts(8), [1, 2, 4, 8]);
    }

    #[test]
    fn bits_are_compared() {
        let zero = [Complex64::new(0.0, 1.0)];
        assert!(
            same(&zero, &zero) && !same(&zero, &[Complex64::new(-0.0, 1.0)]) && !same(&zero, &[])
        );
    }
}
