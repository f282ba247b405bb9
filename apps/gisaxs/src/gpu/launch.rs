//! Launches.

use super::Device;
pub(super) use greenup_device::cuda::Arg;
use greenup_device::cuda::{CudaError, Function, Memory, Shape};

/// Puts a kernel on the stream.
///
/// # Safety
/// As [`Function::call`].
pub(super) unsafe fn launch(
    f: &Function,
    shape: &Shape,
    arguments: &[Arg],
) -> Result<(), CudaError> {
    // SAFETY: the caller's promise.
    unsafe { f.call(shape, arguments) }
}

impl Device {
    /// Memory with these doubles.
    pub(super) fn doubles(&self, from: &[f64]) -> Result<Memory, CudaError> {
        self.session.doubles(from)
    }

    /// Memory with these floats.
    pub(super) fn floats(&self, from: &[f32]) -> Result<Memory, CudaError> {
        let bytes: Vec<u8> = from.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.session.kept(&bytes)
    }
}

/// Blocks of 128 threads over one direction, `down` rows of them.
pub(super) fn sheet(across: usize, down: usize) -> Shape {
    Shape {
        grid: [
            across.div_ceil(128).max(1) as u32,
            down.clamp(1, 65_535) as u32,
            1,
        ],
        block: [128, 1, 1],
        shared: 0,
    }
}
