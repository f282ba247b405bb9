//! Arguments of kernels.

use super::{CudaError, Function, Memory, Session, Shape};
use std::ffi::c_void;
use std::path::PathBuf;

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
// Passed by reference to the driver, a few at a time.
#[allow(clippy::large_enum_variant)]
pub enum Arg {
    At(u64),
    Long(i64),
    Int(i32),
    Double(f64),
    Float(f32),
    /// A structure, eight bytes at a time; what is beyond its end is not read.
    Words([u64; 17]),
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

impl Function {
    /// Puts a kernel on the stream.
    ///
    /// # Safety
    /// The arguments are those that the kernel takes, and their memory is as large as it uses.
    ///
    /// # Errors
    /// The shape is impossible, or the GPU is lost.
    pub unsafe fn call(&self, shape: &Shape, arguments: &[Arg]) -> Result<(), CudaError> {
        let mut own = arguments.to_vec();
        // SAFETY: the caller's promise; each place holds a value of its kind.
        unsafe { self.launch(shape, &mut places(&mut own)) }
    }

    /// Puts a kernel on the stream whose blocks may wait for each other.
    ///
    /// # Safety
    /// As [`Self::call`].
    ///
    /// # Errors
    /// As [`Self::call`], or the GPU cannot run all blocks at once.
    pub unsafe fn call_cooperative(
        &self,
        shape: &Shape,
        arguments: &[Arg],
    ) -> Result<(), CudaError> {
        let mut own = arguments.to_vec();
        // SAFETY: the caller's promise; each place holds a value of its kind.
        unsafe { self.launch_cooperative(shape, &mut places(&mut own)) }
    }
}

/// Where the values of arguments are.
fn places(arguments: &mut [Arg]) -> Vec<*mut c_void> {
    arguments
        .iter_mut()
        .map(|a| match a {
            Arg::At(x) => std::ptr::from_mut(x).cast(),
            Arg::Long(x) => std::ptr::from_mut(x).cast(),
            Arg::Int(x) => std::ptr::from_mut(x).cast(),
            Arg::Double(x) => std::ptr::from_mut(x).cast(),
            Arg::Float(x) => std::ptr::from_mut(x).cast(),
            Arg::Words(x) => x.as_mut_ptr().cast(),
        })
        .collect()
}

impl Session {
    /// Memory with these bytes.
    ///
    /// # Errors
    /// The GPU has not the memory, or is lost.
    pub fn kept(&self, bytes: &[u8]) -> Result<Memory, CudaError> {
        let m = self.alloc(bytes.len())?;
        m.upload(bytes)?;
        Ok(m)
    }

    /// Memory with these doubles.
    ///
    /// # Errors
    /// As [`Self::kept`].
    pub fn doubles(&self, from: &[f64]) -> Result<Memory, CudaError> {
        // SAFETY: doubles are plain bytes; x86-64 and aarch64 are little-endian, as GPUs are.
        let bytes = unsafe { std::slice::from_raw_parts(from.as_ptr().cast(), size_of_val(from)) };
        self.kept(bytes)
    }

    /// Memory with these whole numbers.
    ///
    /// # Errors
    /// As [`Self::kept`].
    pub fn words(&self, from: &[u32]) -> Result<Memory, CudaError> {
        // SAFETY: as for doubles.
        let bytes = unsafe { std::slice::from_raw_parts(from.as_ptr().cast(), size_of_val(from)) };
        self.kept(bytes)
    }
}

/// Where compiled kernels are kept, for all programs of the workspace.
pub fn cubins() -> Option<PathBuf> {
    let from = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let base = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("greenup/cubins"))
}
