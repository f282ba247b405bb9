//! Memory that a computation needs, checked before it is allocated.

use crate::FmmError;
use crate::kernel::Kernel;
use crate::operators::fourier::{BLOCK, frequencies};
use crate::operators::surface;
use crate::options::M2l;
use crate::precision::Real;
use greenup_setting::setting;

/// Bytes of a point, its key, and where it came from, while points are sorted.
const SORTED: usize = 16 + 2 * 12;

pub(crate) fn bytes(n: usize, each: usize) -> u64 {
    (n as u64).saturating_mul(each as u64)
}

/// Checks that points and results fit into memory.
///
/// # Errors
/// They do not.
pub fn check_points<R: Real>(
    kernel: Kernel,
    gradient: bool,
    sources: usize,
    targets: usize,
) -> Result<(), FmmError> {
    let (d, out) = (kernel.inputs(), kernel.outputs(gradient));
    let source = 8 * (3 + d) + SORTED + size_of::<R>() * (3 + d);
    // Sorted positions, and results in both precisions.
    let target = SORTED + size_of::<R>() * (3 + 2 * out) + 8 * out;
    let all = bytes(sources, source).saturating_add(bytes(targets, target));
    let what = format!("a sum over {sources} sources at {targets} targets");
    let single = setting("precision").to("f32");
    check(&what, all, format!("use fewer points, or {single}"))
}

/// Checks that the operators fit into memory.
///
/// # Errors
/// As [`check_points`].
pub(crate) fn check_operators<R: Real>(
    kernel: Kernel,
    m2l: M2l,
    p: usize,
    levels: usize,
) -> Result<(), FmmError> {
    let d = kernel.inputs();
    let m = surface::count(p) * d;
    // Two factors of two inverses, and matrices of eight children each way.
    let near = bytes(m * m, 20 * size_of::<R>());
    let (far, once) = match m2l {
        M2l::Fft => (bytes(frequencies(p) * d * d, BLOCK * size_of::<R>()), 0),
        // The matrices that are compressed, in double precision.
        M2l::Compressed => (0, bytes(m * m, 316 * 8)),
    };
    let operators = near.saturating_add(far).saturating_mul(levels as u64);
    // Singular values of a matrix and its transpose, in double precision.
    let once = once.saturating_add(bytes(m * m, 16 * 8));
    let what = format!("operators of {levels} levels with surface order {p}");
    check(
        &what,
        operators.saturating_add(once),
        "use a lower accuracy",
    )
}

/// Checks that `bytes` fit into memory.
///
/// # Errors
/// They do not; `fix` is the suggestion.
pub(crate) fn check(what: &str, bytes: u64, fix: impl Into<String>) -> Result<(), FmmError> {
    greenup_process::memory::check(what, bytes).map_err(|cause| FmmError::Memory {
        cause,
        fix: fix.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_fit_is_refused_with_both_numbers() {
        check_points::<f32>(Kernel::Laplace, false, 1000, 1000).unwrap();
        let e = check_points::<f64>(Kernel::Laplace, true, usize::MAX, 1).unwrap_err();
        assert_eq!(e.to_string().matches("GiB").count(), 2, "{e}");
        let kernel = Kernel::Stokes { mu: 1.0 };
        check_operators::<f32>(kernel, M2l::Fft, 4, 3).unwrap();
        assert!(check_operators::<f64>(kernel, M2l::Fft, 16, 100_000).is_err());
    }
}
