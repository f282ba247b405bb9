//! Bytes that applications move in the memory of a host, counted in their sources.

use crate::record::RecordedRun;

/// Bytes that a rank moves in its caches for each byte of a contribution that it sends: it collects its own contributions,
/// packs those to send, and adds its own and as many that it received in the order of zones, by lists of indices. Counted in
/// `apps/hydro/src/part/halo.rs`.
pub const PACKED: f64 = 16.0;

/// Bytes of a zone in an iteration of conjugate gradients, with partial assembly. Counted in `apps/hydro/src/cpu`.
pub struct Zone {
    /// Moved to and from the caches that hold its data.
    pub moved: f64,
    /// Used in each iteration.
    pub kept: f64,
}

impl Zone {
    /// Of a space of this order.
    pub fn new(dim: usize, order: usize) -> Self {
        let (d, power) = (dim as f64, |n: usize| (n as f64).powi(dim as i32));
        let local = power(order + 1);
        let nodes = power(order);
        let points = power(2 * order);
        // Product: masses at points, indices, the direction; contributions are written, then added by their lists.
        let product = 8.0 * points + 4.0 * local + 8.0 * d * nodes;
        let contributions = 24.0 * d * local + 4.0 * local + 4.0 * nodes;
        // Solution and residual are read and written; direction read, then read and written; residual and diagonal read twice.
        let vectors = 8.0 * d * nodes * (2.0 + 2.0 + 1.0 + 2.0 + 1.0 + 2.0);
        Self {
            moved: product + contributions + vectors,
            kept: 8.0 * points + (8.0 + 8.0 * d) * local + (8.0 * d * 5.0 + 4.0) * nodes,
        }
    }
}

/// Bytes of a point of fmm in an evaluation. Counted in `apps/fmm/src/plan` and `apps/fmm/src/commands/gather.rs`.
pub struct PointBytes {
    /// Results of a point.
    pub outputs: f64,
    /// Moved in the host's memory to convert its charges.
    pub charge: f64,
    /// The same of its results.
    pub result: f64,
    /// Copied to a device.
    pub charge_copied: f64,
    /// Copied back.
    pub result_copied: f64,
    /// Moved to gather its results: an index and a value are read; a line is read and written.
    pub gathered: f64,
}

impl PointBytes {
    /// Of points like those of a run.
    pub fn new(precision: &str, like: Option<&RecordedRun>) -> Self {
        let size = if precision == "f32" { 4.0 } else { 8.0 };
        let of = |f: fn(&RecordedRun) -> f64| like.map_or(1.0, f).max(1.0);
        let (inputs, outputs) = (of(|r| r.inputs), of(|r| r.outputs));
        Self {
            outputs,
            // Read for the largest and read to convert; what is written is read first.
            charge: inputs * (16.0 + 2.0 * size),
            result: outputs * (size + 16.0),
            charge_copied: inputs * size,
            result_copied: outputs * size,
            gathered: outputs * 28.0,
        }
    }
}
