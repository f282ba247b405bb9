//! Bytes that sums take, estimated before they are taken.

use crate::FmmError;
use crate::cpu;
use crate::kernel::Kernel;
use crate::operators::fourier::{BLOCK, frequencies};
use crate::operators::surface;
use crate::plan::{M2l, Options, Plan};
use crate::real::Real;

/// Bytes of a point, its key, and where it came from, while points are sorted.
const SORTED: usize = 16 + 2 * 12;

fn bytes(n: usize, each: usize) -> u64 {
    (n as u64).saturating_mul(each as u64)
}

/// Refuses sums over so many points where not even the points and the results fit into memory.
///
/// # Errors
/// They do not fit; both numbers are named.
pub fn check_points<R: Real>(
    kernel: Kernel,
    gradient: bool,
    sources: usize,
    targets: usize,
) -> Result<(), FmmError> {
    let (d, out) = (kernel.inputs(), kernel.outputs(gradient));
    let source = 8 * (3 + d) + SORTED + size_of::<R>() * (3 + d);
    // The same places once more, and results in both precisions.
    let target = SORTED + size_of::<R>() * (3 + 2 * out) + 8 * out;
    let all = bytes(sources, source).saturating_add(bytes(targets, target));
    let what = format!("a sum over {sources} sources at {targets} targets");
    check(&what, all, "take fewer points, or --real f32")
}

/// Refuses an evaluation on this host whose boxes do not fit into memory.
///
/// # Errors
/// As [`check_points`].
pub fn check_evaluation<R: Real>(plan: &Plan<R>) -> Result<(), FmmError> {
    let o = plan.options();
    let boxes = cpu::bytes(plan);
    let results = bytes(
        plan.targets(),
        o.kernel.outputs(o.gradient) * (8 + 2 * size_of::<R>()),
    );
    let what = format!(
        "an evaluation of {} boxes with {} points on a surface",
        plan.tree().nodes.len(),
        plan.surface()
    );
    let fix = "take fewer points, a larger -q, --real f32, or less accuracy";
    check(&what, boxes.saturating_add(results), fix)
}

/// Refuses operators of so many levels that do not fit into memory.
///
/// # Errors
/// As [`check_points`].
pub(crate) fn check_operators<R: Real>(
    o: &Options,
    p: usize,
    levels: usize,
) -> Result<(), FmmError> {
    let d = o.kernel.inputs();
    let m = surface::count(p) * d;
    // Two factors of two inverses, and matrices of eight children each way.
    let near = bytes(m * m, 20 * size_of::<R>());
    let (far, once) = match o.m2l {
        M2l::Fft => (bytes(frequencies(p) * d * d, BLOCK * size_of::<R>()), 0),
        // The matrices that are compressed, in double precision.
        M2l::Compressed => (0, bytes(m * m, 316 * 8)),
    };
    let kept = near.saturating_add(far).saturating_mul(levels as u64);
    // Singular values of a matrix and its transpose, in double precision.
    let once = once.saturating_add(bytes(m * m, 16 * 8));
    let what = format!("operators of {levels} levels with {p} points on an edge");
    check(&what, kept.saturating_add(once), "ask for less accuracy")
}

fn check(what: &str, bytes: u64, fix: &str) -> Result<(), FmmError> {
    greenup_app::memory::check(what, bytes).map_err(|e| FmmError(format!("{e}; {fix}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_fit_is_refused_with_both_numbers() {
        check_points::<f32>(Kernel::Laplace, false, 1000, 1000).unwrap();
        let e = check_points::<f64>(Kernel::Laplace, true, usize::MAX, 1).unwrap_err();
        assert_eq!(e.0.matches("GiB").count(), 2, "{e}");
        let o = Options {
            kernel: Kernel::Stokes { mu: 1.0 },
            tolerance: 1e-3,
            gradient: false,
            most: 10,
            m2l: M2l::Fft,
            edge: None,
        };
        check_operators::<f32>(&o, 4, 3).unwrap();
        assert!(check_operators::<f64>(&o, 16, 100_000).is_err());
    }
}
