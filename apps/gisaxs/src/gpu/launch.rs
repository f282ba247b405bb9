//! Arguments and launches.

use super::Device;
use greenup_device::cuda::{CudaError, Function, Memory, Shape};
use std::ffi::c_void;

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(super) enum Arg {
    At(u64),
    Long(i64),
    Int(i32),
    Double(f64),
    Float(f32),
}

impl From<&Memory> for Arg {
    fn from(m: &Memory) -> Self {
        Self::At(m.address())
    }
}

impl From<usize> for Arg {
    fn from(n: usize) -> Self {
        Self::Long(n as i64)
    }
}

impl From<f64> for Arg {
    fn from(x: f64) -> Self {
        Self::Double(x)
    }
}

/// Puts a kernel on the stream.
///
/// # Safety
/// The arguments are those that the kernel takes, and their memory is as large as it uses.
pub(super) unsafe fn launch(
    f: &Function,
    shape: &Shape,
    arguments: &[Arg],
) -> Result<(), CudaError> {
    let mut own = arguments.to_vec();
    let mut places: Vec<*mut c_void> = own
        .iter_mut()
        .map(|a| match a {
            Arg::At(x) => std::ptr::from_mut(x).cast(),
            Arg::Long(x) => std::ptr::from_mut(x).cast(),
            Arg::Int(x) => std::ptr::from_mut(x).cast(),
            Arg::Double(x) => std::ptr::from_mut(x).cast(),
            Arg::Float(x) => std::ptr::from_mut(x).cast(),
        })
        .collect();
    // SAFETY: the caller's promise; each place holds a value of its kind.
    unsafe { f.launch(shape, &mut places) }
}

impl Device {
    /// Memory with these doubles.
    pub(super) fn doubles(&self, from: &[f64]) -> Result<Memory, CudaError> {
        self.kept(from.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    /// Memory with these floats.
    pub(super) fn floats(&self, from: &[f32]) -> Result<Memory, CudaError> {
        self.kept(from.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    fn kept(&self, bytes: Vec<u8>) -> Result<Memory, CudaError> {
        let m = self.session.alloc(bytes.len())?;
        m.upload(&bytes)?;
        Ok(m)
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
