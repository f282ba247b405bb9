//! Direct sums: every target with every source.

use crate::kernel::Kernel;
use crate::precision::{Real, Sums};
use greenup_device::{HostIsa, SharedSlice};
use rayon::prelude::*;

/// Targets per task.
const CHUNK: usize = 256;

/// Results `[component][target]` of all sources, in the unit of length of `parameter`, without the factor of the kernel.
/// A source at the position of a target does not contribute to it.
///
/// # Panics
/// Coordinates or charges of different lengths; more than 2³² sources.
pub fn sums<R: Real>(
    kernel: Kernel,
    gradient: bool,
    parameter: f64,
    targets: &[Vec<R>; 3],
    sources: &[Vec<R>; 3],
    charges: &[R],
    isa: HostIsa,
) -> Vec<R> {
    let (n, m) = (targets[0].len(), sources[0].len());
    assert_eq!(charges.len(), m * kernel.inputs());
    assert!(targets.iter().all(|x| x.len() == n) && sources.iter().all(|x| x.len() == m));
    let mut out = vec![R::default(); n * kernel.outputs(gradient)];
    let to = SharedSlice::new(&mut out);
    let run = R::kernels(isa).sums[kernel.sums(gradient)];
    let range = [0, u32::try_from(m).expect("at most 2³² sources")];
    (0..n.div_ceil(CHUNK)).into_par_iter().for_each(|c| {
        let from = c * CHUNK;
        // SAFETY: the ranges lie within the arrays; each chunk writes its own targets.
        unsafe {
            let sums = Sums {
                targets: CHUNK.min(n - from) as _,
                x: std::array::from_fn(|a| targets[a][from..].as_ptr()),
                out: to.at(from),
                stride: n as _,
                ranges: 1,
                shared: 1,
                range: range.as_ptr(),
                sources: std::array::from_fn(|a| sources[a].as_ptr()),
                charge: charges.as_ptr(),
                parameter: R::of(parameter),
            };
            run(&raw const sums);
        }
    });
    out
}
