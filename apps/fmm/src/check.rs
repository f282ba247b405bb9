//! Errors against direct sums in double precision.

use crate::direct;
use crate::kernel::Kernel;
use crate::points::Points;
use crate::precision::unit;
use greenup_device::HostIsa;
use greenup_ranks::{Alone, Ranks};
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

fn largest<'a>(x: impl IntoIterator<Item = &'a f64>) -> f64 {
    x.into_iter().fold(0.0f64, |m, x| m.max(x.abs()))
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
    // In units of the points and charges, so that no square overflows.
    let mut most = [
        largest(at.x.iter().chain(&sources.x).flatten()),
        largest(charges),
    ];
    ranks.max(&mut most);
    let [length, charge] = most.map(unit);
    let scaled = |x: &[Vec<f64>; 3]| [0, 1, 2].map(|a| x[a].iter().map(|x| x / length).collect());
    let (targets_at, sources_at): ([Vec<f64>; 3], [Vec<f64>; 3]) =
        (scaled(&at.x), scaled(&sources.x));
    let scaled_charges: Vec<f64> = charges.iter().map(|q| q / charge).collect();
    let mut exact = direct::sums::<f64>(
        kernel,
        gradient,
        kernel.parameter(length),
        &targets_at,
        &sources_at,
        &scaled_charges,
        HostIsa::PORTABLE,
    );
    ranks.sum(&mut exact);
    let relative = |components: std::ops::Range<usize>, lengths: i32| {
        let (mut wrong, mut all) = (0.0, 0.0);
        for i in components.start * count..components.end * count {
            let x = exact[i] * kernel.factor();
            let computed = (0..lengths).fold(computed[i] / charge, |r, _| r * length);
            wrong += (x - computed).powi(2);
            all += x * x;
        }
        if wrong == 0.0 {
            0.0
        } else {
            (wrong / all).sqrt()
        }
    };
    let d = kernel.inputs();
    Errors {
        potential: relative(0..d, 1),
        gradient: gradient.then(|| relative(d..4 * d, 2)),
        targets: count,
    }
}
