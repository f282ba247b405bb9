//! Tuning parameters of the direct kernels.

use crate::GisaxsError;
use serde::{Deserialize, Serialize};

/// Tuning parameters of the direct kernel for tensor grids, `direct.cu`; ranges are in `kernels/gpu/problem.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectConfig {
    /// Threads of a block along q_y.
    pub dim_y: u32,
    /// Threads of a block along q_z.
    pub dim_z: u32,
    /// Values of q_y per thread.
    pub per_y: u32,
    /// Values of q_z per thread.
    pub per_z: u32,
    /// Nodes per tile in shared memory.
    pub tile: u32,
    /// Number of tiles in shared memory.
    pub buffers: u32,
    /// Unrolled iterations of the loop over nodes.
    pub steps: u32,
    /// Sine and cosine: 0 polynomials, 1 hardware, 2 hardware after range reduction.
    pub sine: u32,
    /// Number of q per thread that use polynomials even if `sine` is not 0, to keep both units busy.
    pub by_hand: u32,
    /// q_y in flight at once.
    pub h_y: u32,
    /// q_z in flight at once.
    pub h_z: u32,
    /// Nodes summed in registers before the sum is added to the result.
    pub h_t: u32,
}

impl Default for DirectConfig {
    fn default() -> Self {
        Self {
            // Found on an H200 (sweeps/form_factor_h200).
            dim_y: 64,
            dim_z: 4,
            per_y: 4,
            per_z: 2,
            tile: 256,
            buffers: 1,
            steps: 16,
            sine: 1,
            by_hand: 1,
            h_y: 2048,
            h_z: 1024,
            h_t: 2048,
        }
    }
}

/// Maximum threads of a block on CUDA GPUs.
const MAX_THREADS: u64 = 1024;
/// Maximum of every other parameter.
const MAX: u64 = 1 << 24;

/// Checks that values of parameters lie within their ranges.
fn check(values: &[(&str, u64, u64)], threads: u64) -> Result<(), GisaxsError> {
    for (name, value, min) in values {
        if !(*min..=MAX).contains(value) {
            return Err(format!("{name} = {value}: it must lie between {min} and {MAX}").into());
        }
    }
    if threads > MAX_THREADS {
        return Err(format!("a block of {threads} threads: at most {MAX_THREADS}").into());
    }
    Ok(())
}

impl DirectConfig {
    /// Whether the kernel can be compiled and launched with it.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn check(&self) -> Result<(), GisaxsError> {
        let values = [
            ("dim_y", self.dim_y, 1),
            ("dim_z", self.dim_z, 1),
            ("per_y", self.per_y, 1),
            ("per_z", self.per_z, 1),
            ("tile", self.tile, 1),
            ("buffers", self.buffers, 1),
            ("steps", self.steps, 1),
            ("sine", self.sine, 0),
            ("by_hand", self.by_hand, 0),
            ("h_y", self.h_y, 1),
            ("h_z", self.h_z, 1),
            ("h_t", self.h_t, 1),
        ];
        check(
            &values.map(|(name, value, min)| (name, value.into(), min)),
            u64::from(self.dim_y) * u64::from(self.dim_z),
        )
    }

    /// Compiler options that define the parameters; `damped`: q_z is complex.
    pub(super) fn options(&self, damped: bool) -> Vec<String> {
        [
            ("dim_y", self.dim_y),
            ("dim_z", self.dim_z),
            ("per_y", self.per_y),
            ("per_z", self.per_z),
            ("tile", self.tile),
            ("buffers", self.buffers),
            ("steps", self.steps),
            ("sine", self.sine),
            ("by_hand", self.by_hand),
            ("h_t", self.h_t),
            ("damped", u32::from(damped)),
        ]
        .map(|(name, value)| format!("-D{name}={value}"))
        .to_vec()
    }

    /// Number of blocks along q_y and q_z, for `ny` × `nz` q.
    pub(super) fn blocks(&self, ny: usize, nz: usize) -> [u32; 2] {
        let along = |most: u32, n: usize, (threads, per_thread): (u32, u32)| {
            let block = threads as usize * per_thread as usize;
            (most as usize).min(n).div_ceil(block) as u32
        };
        [
            along(self.h_y, ny, (self.dim_y, self.per_y)),
            along(self.h_z, nz, (self.dim_z, self.per_z)),
        ]
    }
}

/// Tuning parameters of the direct kernel for lists of q, `direct_list.cu` (ranges are in
/// `kernels/gpu/direct_list.toml`), and of its host code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListConfig {
    /// Threads of a block.
    pub threads: u32,
    /// Number of q per thread.
    pub points: u32,
    /// Nodes per tile in shared memory.
    pub tile: u32,
    /// In single precision, number of q per thread that use polynomials for sine and cosine instead of hardware. Above 0
    /// the digits of a q depend on its place in the list.
    pub by_hand: u32,
    /// Number of q that are copied and computed at once.
    pub q: usize,
    /// Number of such sets of q in flight.
    pub buffers: usize,
}

impl Default for ListConfig {
    fn default() -> Self {
        Self {
            // Found on an H200 (sweeps/form_factor_list_h200; buffers by docs/results/gisaxs.md).
            threads: 256,
            points: 4,
            tile: 128,
            by_hand: 0,
            q: 1 << 18,
            buffers: 4,
        }
    }
}

impl ListConfig {
    /// Whether the kernel can be compiled and launched with it.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn check(&self) -> Result<(), GisaxsError> {
        let values = [
            ("threads", self.threads.into(), 1),
            ("points", self.points.into(), 1),
            ("tile", self.tile.into(), 1),
            ("by_hand", self.by_hand.into(), 0),
            ("q", self.q as u64, 1),
            ("buffers", self.buffers as u64, 1),
        ];
        check(&values, self.threads.into())
    }

    /// Compiler options that define the parameters; `bits` is the precision, 32 or 64; `damped`: q_z is complex.
    pub(super) fn options(&self, bits: u32, damped: bool) -> Vec<String> {
        [
            ("bits", bits),
            ("threads", self.threads),
            ("points", self.points),
            ("tile", self.tile),
            ("by_hand", if bits == 32 { self.by_hand } else { 0 }),
            ("damped", u32::from(damped)),
        ]
        .map(|(name, value)| format!("-D{name}={value}"))
        .to_vec()
    }
}
