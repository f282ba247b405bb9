//! Errors against direct sums in double precision.

use crate::error::FmmError;
use crate::kernel::Kernel;
use crate::options::Options;
use crate::pair;
use crate::points::Points;
use crate::precision::Real;
use greenup_ranks::{Alone, Ranks};
use greenup_setting::setting;
use rayon::prelude::*;
use serde::Serialize;

/// Relative L2 errors at a sample of the targets.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Errors {
    /// Of potentials.
    pub potential: f64,
    /// Of gradients, if they were computed.
    pub gradient: Option<f64>,
    /// Size of the sample.
    pub targets: usize,
}

/// Direct sums in double precision, `[component][target]`, with the kernel's factor; compensated, so that contributions that
/// cancel keep their digits.
fn direct_sums(
    (kernel, gradient): (Kernel, bool),
    (sources, charges): (&Points, &[f64]),
    at: &Points,
) -> Vec<f64> {
    let (n, d, outputs) = (at.len(), kernel.inputs(), kernel.outputs(gradient));
    // Differences of the largest numbers need room: lengths over four.
    let is_huge = |p: &Points| p.x.iter().flatten().any(|x| x.abs() > 1e307);
    let scale = if is_huge(sources) || is_huge(at) {
        0.25
    } else {
        1.0
    };
    let how = (kernel, kernel.parameter(1.0) / scale, gradient);
    let sums: Vec<[f64; 8]> = (0..n)
        .into_par_iter()
        .map(|i| {
            let x = at.at(i);
            let (mut sum, mut rest) = ([0.0f64; 8], [0.0; 8]);
            for j in 0..sources.len() {
                let y = [0, 1, 2].map(|a| scale * x[a] - scale * sources.x[a][j]);
                pair::add(how, &charges[j * d..][..d], y, |c, v| {
                    let v = v * if c < d { scale } else { scale * scale };
                    let all = sum[c] + v;
                    let (large, small) = if sum[c].abs() >= v.abs() {
                        (sum[c], v)
                    } else {
                        (v, sum[c])
                    };
                    rest[c] += (large - all) + small;
                    sum[c] = all;
                });
            }
            std::array::from_fn(|c| kernel.factor() * (sum[c] + rest[c]))
        })
        .collect();
    (0..outputs)
        .flat_map(|c| sums.iter().map(move |s| s[c]))
        .collect()
}

/// Compares results with direct sums at `samples` targets, evenly spaced among all.
pub fn errors(
    kernel: Kernel,
    gradient: bool,
    (sources, charges): (&Points, &[f64]),
    targets: &Points,
    results: &[f64],
    samples: usize,
) -> Errors {
    let n = targets.len();
    let count = samples.min(n);
    let which: Vec<usize> = (0..count).map(|i| i * n / count).collect();
    let at = targets.some(&which);
    let computed: Vec<f64> = (0..results.len() / n.max(1))
        .flat_map(|c| which.iter().map(move |&i| results[c * n + i]))
        .collect();
    errors_at(
        &Alone,
        (kernel, gradient),
        (sources, charges),
        &at,
        &computed,
    )
}

/// Compares results at targets with direct sums over the sources of all ranks. All ranks call it with the same targets and
/// results, and their own sources.
pub fn errors_at(
    ranks: &dyn Ranks,
    (kernel, gradient): (Kernel, bool),
    (sources, charges): (&Points, &[f64]),
    at: &Points,
    computed: &[f64],
) -> Errors {
    let count = at.len();
    let mut exact = direct_sums((kernel, gradient), (sources, charges), at);
    ranks.sum(&mut exact);
    let relative = |components: std::ops::Range<usize>| {
        let range = components.start * count..components.end * count;
        let (exact, computed) = (&exact[range.clone()], &computed[range]);
        // So that no square overflows.
        let most = largest(exact).max(largest(computed));
        let (mut wrong, mut all) = (0.0, 0.0);
        for (x, y) in exact.iter().zip(computed) {
            wrong += (x / most - y / most).powi(2);
            all += (x / most).powi(2);
        }
        if most == 0.0 || wrong == 0.0 {
            0.0
        } else {
            (wrong / all).sqrt()
        }
    };
    let d = kernel.inputs();
    Errors {
        potential: relative(0..d),
        gradient: gradient.then(|| relative(d..4 * d)),
        targets: count,
    }
}

/// The largest magnitude; infinite if one is not a number.
fn largest(values: &[f64]) -> f64 {
    let size = |x: &f64| {
        if x.is_finite() {
            x.abs()
        } else {
            f64::INFINITY
        }
    };
    values
        .par_iter()
        .map(size)
        .with_min_len(1 << 14)
        .reduce(|| 0.0, f64::max)
}

/// Checks that results are numbers with the digits that the accuracy needs; `unit` is half the extent of the points.
///
/// # Errors
/// They overflow, or are too small.
pub(crate) fn in_range(o: &Options, results: &[f64], unit: f64) -> Result<(), FmmError> {
    let n = results.len() / o.kernel.outputs(o.gradient);
    let (potentials, gradients) = results.split_at(n * o.kernel.inputs());
    let (p, g) = (largest(potentials), largest(gradients));
    // Below this, the smallest step of numbers is coarser than the accuracy.
    let least = f64::from_bits(1) / o.tolerance;
    if p == f64::INFINITY || (p > 0.0 && p < least) {
        return Err(FmmError::Range("the sums"));
    }
    // Gradients have the size of p over the distances; they may be 0 by symmetry.
    let small = !gradients.is_empty() && p > 0.0 && g < least && p / unit < 1e-290;
    if g == f64::INFINITY || small {
        return Err(FmmError::Range("the gradients"));
    }
    Ok(())
}

/// Pairs that [`verify`] adds up at least, and its least number of targets.
const PAIRS: usize = 4_000_000;
const TARGETS: usize = 16;

/// Compares results with direct sums: at all targets if there are few, else at those with large results and at evenly spaced
/// ones. Charges can cancel, and points can lie, so that no order of the surfaces reaches the accuracy.
///
/// # Errors
/// The results are less accurate than asked for.
pub(crate) fn verify<R: Real>(
    o: &Options,
    (sources, charges): (&Points, &[f64]),
    targets: &Points,
    results: &[f64],
) -> Result<(), FmmError> {
    let n = targets.len();
    if n == 0 || sources.is_empty() {
        return Ok(());
    }
    let count = (PAIRS / sources.len()).max(TARGETS).min(n);
    let d = o.kernel.inputs();
    let size = |i: usize| (0..d).fold(0.0f64, |m, c| m.max(results[c * n + i].abs()));
    let (mut large, mut even): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..n).collect());
    if count < n {
        let each = n.div_ceil(count / 2);
        large = (0..n.div_ceil(each))
            .into_par_iter()
            .filter_map(|k| {
                (k * each..n.min((k + 1) * each)).max_by(|a, b| size(*a).total_cmp(&size(*b)))
            })
            .collect();
        even = (0..count - count / 2)
            .map(|k| k * n / (count - count / 2))
            .filter(|i| large.binary_search(i).is_err())
            .collect();
    }
    let which = [large.as_slice(), &even].concat();
    let exact = direct_sums(
        (o.kernel, o.gradient),
        (sources, charges),
        &targets.some(&which),
    );
    // An even target stands for as many.
    let weight = (n - large.len()) as f64 / even.len().max(1) as f64;
    let allowed = o.tolerance * if count < n { 2.0 } else { 1.0 };
    for (what, components) in [
        ("potentials", 0..d),
        ("gradients", d..o.kernel.outputs(o.gradient)),
    ] {
        let values = &results[components.start * n..components.end * n];
        let most = largest(values).max(largest(&exact[components.start * which.len()..]));
        if most == 0.0 {
            continue;
        }
        let all: f64 = values.par_iter().map(|x| (x / most).powi(2)).sum();
        let mut wrong = 0.0;
        for c in components {
            for (k, i) in which.iter().enumerate() {
                let e = (results[c * n + i] / most - exact[c * which.len() + k] / most).powi(2);
                wrong += if k < large.len() { e } else { weight * e };
            }
        }
        let error = if wrong == 0.0 {
            0.0
        } else {
            (wrong / all).sqrt()
        };
        if error.is_nan() || error > allowed {
            return Err(FmmError::Inaccurate {
                what,
                error,
                targets: which.len(),
                accuracy: o.tolerance,
                hint: if R::DOUBLE {
                    format!(
                        "use a larger {}, which then decides; contributions that cancel lose their digits",
                        setting("order")
                    )
                } else {
                    format!("use {}", setting("precision").to("f64"))
                },
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{Distribution, charges, generate};

    #[test]
    fn wrong_results_are_refused_at_few_and_many_targets() {
        for n in [300, 5000] {
            let points = generate(Distribution::Cube, n, 3);
            let q = charges(n, false, 3);
            let mut o = Options {
                kernel: Kernel::Laplace,
                tolerance: 1e-6,
                gradient: true,
                ncrit: 50,
                m2l: crate::options::M2l::Fft,
                order: None,
            };
            let mut out = direct_sums((o.kernel, true), (&points, &q), &points);
            verify::<f64>(&o, (&points, &q), &points, &out).unwrap();
            out[n..].iter_mut().for_each(|x| *x *= 1.0 + 1e-5);
            let e = verify::<f64>(&o, (&points, &q), &points, &out).unwrap_err();
            assert!(e.to_string().starts_with("the gradients"), "{e}");
            o.tolerance = 1e-4;
            verify::<f64>(&o, (&points, &q), &points, &out).unwrap();
            // One large result.
            let i = (0..n)
                .max_by(|a, b| out[*a].abs().total_cmp(&out[*b].abs()))
                .unwrap();
            out[i] *= 1.1;
            let e = verify::<f64>(&o, (&points, &q), &points, &out).unwrap_err();
            assert!(e.to_string().starts_with("the potentials"), "{e}");
        }
    }
}
