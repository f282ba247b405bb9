//! Errors against direct sums in double precision.

use crate::direct;
use crate::kernel::Kernel;
use crate::points::Points;
use crate::real::unit;
use greenup_device::HostIsa;
use serde::Serialize;

/// Relative L2 errors: of potentials, and of gradients where there are.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Errors {
    pub potential: f64,
    pub gradient: Option<f64>,
    pub targets: usize,
}

fn largest<'a>(x: impl IntoIterator<Item = &'a f64>) -> f64 {
    x.into_iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

/// Compares results at some targets, evenly taken from all.
pub fn errors(
    kernel: Kernel,
    gradient: bool,
    (sources, charges): (&Points, &[f64]),
    targets: &Points,
    results: &[f64],
    most: usize,
) -> Errors {
    let n = targets.len();
    let count = most.min(n);
    let which: Vec<usize> = (0..count).map(|i| i * n / count).collect();
    let at = targets.some(&which);
    // In units of the points and charges, so that no square overflows.
    let (far, strong) = (
        unit(largest(at.x.iter().chain(&sources.x).flatten())),
        unit(largest(charges)),
    );
    let scaled = |x: &[Vec<f64>; 3]| [0, 1, 2].map(|a| x[a].iter().map(|x| x / far).collect());
    let (places, from): ([Vec<f64>; 3], [Vec<f64>; 3]) = (scaled(&at.x), scaled(&sources.x));
    let own: Vec<f64> = charges.iter().map(|q| q / strong).collect();
    let exact = direct::sums::<f64>(
        kernel,
        gradient,
        kernel.parameter(far),
        &places,
        &from,
        &own,
        HostIsa::PORTABLE,
    );
    let relative = |components: std::ops::Range<usize>, lengths: i32| {
        let (mut wrong, mut all) = (0.0, 0.0);
        for c in components {
            for (k, &i) in which.iter().enumerate() {
                let x = exact[c * count + k] * kernel.factor();
                let own = (0..lengths).fold(results[c * n + i] / strong, |r, _| r * far);
                wrong += (x - own).powi(2);
                all += x * x;
            }
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
