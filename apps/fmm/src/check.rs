//! Errors against direct sums in double precision.

use crate::direct;
use crate::kernel::Kernel;
use crate::points::Points;
use greenup_device::Isa;
use serde::Serialize;

/// Relative L2 errors: of potentials, and of gradients where there are.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Errors {
    pub potential: f64,
    pub gradient: Option<f64>,
    pub targets: usize,
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
    let exact = direct::sums::<f64>(
        kernel,
        gradient,
        kernel.parameter(1.0),
        &at.x,
        &sources.x,
        charges,
        Isa::Portable,
    );
    let relative = |components: std::ops::Range<usize>| {
        let (mut wrong, mut all) = (0.0, 0.0);
        for c in components {
            for (k, &i) in which.iter().enumerate() {
                let x = exact[c * count + k] * kernel.factor();
                wrong += (x - results[c * n + i]).powi(2);
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
        potential: relative(0..d),
        gradient: gradient.then(|| relative(d..4 * d)),
        targets: count,
    }
}
