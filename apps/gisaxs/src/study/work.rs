//! Operations of each method, for the machine model.

use crate::mesh_form_factor::{Method, Precision};
use greenup_model::{Op, Work};

/// Floating-point operations of a direct sum over `triangles` at `points` q as the paper counts them: 42 n_t + 2 per q
/// on GPUs, 85 n_t + 16 on CPUs.
pub(super) fn paper_flops(triangles: f64, points: f64, gpu: bool) -> f64 {
    if gpu {
        (42.0 * triangles + 2.0) * points
    } else {
        (85.0 * triangles + 16.0) * points
    }
}

/// Size of a computation.
pub(super) struct Size {
    /// Number of quadrature nodes.
    pub nodes: f64,
    /// Number of q.
    pub points: f64,
    /// Cells of the nonuniform FFT's grid along y and z.
    pub cells: (f64, f64),
    /// Width of the nonuniform FFT's window, cells.
    pub width: f64,
    /// Number of q_y and of q_z.
    pub grid: (f64, f64),
    /// Whether q_z is complex.
    pub damped: bool,
}

/// Operations that a method executes. Each instruction counts as a multiply-add, whose issue slot it takes.
pub(super) fn work(method: Method, precision: Precision, gpu: bool, s: &Size) -> Work {
    let flop = match precision {
        Precision::F32 => Op::F32,
        Precision::F64 => Op::F64,
        // f16 on tensor cores has the rate of bf16.
        Precision::F16x2 => Op::TensorBf16,
    };
    let mut out = Work::new();
    let mut add = |op: Op, count: f64| {
        // Counts are finite and not negative.
        let _ = out.add(op, count);
    };
    let pairs = s.nodes * s.points;
    let bytes = if precision == Precision::F64 {
        16.0
    } else {
        8.0
    };
    match method {
        // direct.cu: phase, range reduction, scale, four sums; sine and cosine in hardware, the exponential once for
        // the points of a thread that share it.
        Method::Direct if gpu => {
            add(flop, 2.0 * pairs * if s.damped { 11.5 } else { 10.0 });
            add(Op::Special, pairs * if s.damped { 2.25 } else { 2.0 });
        }
        // direct.c: 25 instructions per pair, 40 with the exponential.
        Method::Direct | Method::Exact => {
            add(flop, 2.0 * pairs * if s.damped { 40.0 } else { 25.0 })
        }
        // Real factors of two q each (8), three products instead of one (24).
        Method::Gemm if precision == Precision::F16x2 => add(flop, 24.0 * pairs),
        // The same on a CPU, one product.
        Method::Gemm if !gpu => add(flop, 8.0 * pairs),
        Method::Gemm => add(flop, 16.0 * pairs),
        Method::Nufft => {
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
