//! Operations of each way, for the machine model.

use crate::numeric::{Precision, Way};
use greenup_model::{Op, Work};

/// Flops a paper-style count gives a direct sum over `triangles` at `points` q: 42 n_t + 2 on GPUs, 85 n_t + 16
/// on CPUs (section on GPUs, and on multicore CPUs).
pub fn paper_flops(triangles: f64, points: f64, gpu: bool) -> f64 {
    if gpu {
        (42.0 * triangles + 2.0) * points
    } else {
        (85.0 * triangles + 16.0) * points
    }
}

/// Size of a computation.
pub struct Size {
    pub nodes: f64,
    pub points: f64,
    /// Cells of the small grid along y and z, and of a window.
    pub cells: (f64, f64),
    pub width: f64,
    /// Of q_y and q_z.
    pub grid: (f64, f64),
    pub damped: bool,
}

/// What a way executes. An instruction that is no multiply-add counts as one: it takes its place.
pub fn work(way: Way, precision: Precision, gpu: bool, s: &Size) -> Work {
    let flop = match precision {
        Precision::Single => Op::F32,
        Precision::Double => Op::F64,
        // Halves run at bf16's rate.
        Precision::Split => Op::TensorBf16,
    };
    let mut out = Work::new();
    let mut add = |op: Op, count: f64| {
        // Counts are finite and not negative.
        let _ = out.add(op, count);
    };
    let pairs = s.nodes * s.points;
    let bytes = if precision == Precision::Double {
        16.0
    } else {
        8.0
    };
    match way {
        // direct.cu: phase, whole turns off, scale, four sums; sine and cosine in hardware, the exponential once for
        // the points of a thread that share it.
        Way::Direct if gpu => {
            add(flop, 2.0 * pairs * if s.damped { 11.5 } else { 10.0 });
            add(Op::Special, pairs * if s.damped { 2.25 } else { 2.0 });
        }
        // direct.c: 25 instructions a pair, 40 with the exponential.
        Way::Direct | Way::Exact => add(flop, 2.0 * pairs * if s.damped { 40.0 } else { 25.0 }),
        // Real factors of two q each (8), three products for one (24).
        Way::Product if precision == Precision::Split => add(flop, 24.0 * pairs),
        // The same on a CPU, one product.
        Way::Product if !gpu => add(flop, 8.0 * pairs),
        Way::Product => add(flop, 16.0 * pairs),
        Way::Nufft => {
            let (cy, cz) = s.cells;
            add(
                Op::F64,
                s.nodes * 12.0 * s.width * s.width + 24.0 * s.grid.0 * cy * cz,
            );
            add(if gpu { flop } else { Op::F64 }, 16.0 * s.points * cz);
        }
    }
    add(Op::Dram, s.points * if gpu { bytes } else { 16.0 });
    out
}
