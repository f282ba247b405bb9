//! What of the direct kernel is tuned; `direct.cu` says what each means.

use serde::{Deserialize, Serialize};

/// A point of the space in `kernels/gpu/problem.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectConfig {
    pub dim_y: u32,
    pub dim_z: u32,
    pub per_y: u32,
    pub per_z: u32,
    pub tile: u32,
    pub buffers: u32,
    pub steps: u32,
    pub sine: u32,
    pub by_hand: u32,
    pub h_y: u32,
    pub h_z: u32,
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

impl DirectConfig {
    /// Macros of the kernel.
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

    /// Blocks along both directions, for so many q.
    pub(super) fn blocks(&self, ny: usize, nz: usize) -> [u32; 2] {
        let along = |most: u32, n: usize, block: u32| {
            (most as usize).min(n).div_ceil(block as usize) as u32
        };
        [
            along(self.h_y, ny, self.dim_y * self.per_y),
            along(self.h_z, nz, self.dim_z * self.per_z),
        ]
    }
}

/// A point of the space in `kernels/gpu/list.toml`, with what is around the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListConfig {
    pub threads: u32,
    pub points: u32,
    pub tile: u32,
    pub by_hand: u32,
    /// q of a tile, and tiles on their way at once.
    pub q: usize,
    pub buffers: usize,
}

impl Default for ListConfig {
    fn default() -> Self {
        Self {
            // Found on an H200 (sweeps/form_factor_list_h200; buffers by docs/results).
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
    /// Macros of the kernel.
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
