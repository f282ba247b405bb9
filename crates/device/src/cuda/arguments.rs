//! Arguments of kernels.

use super::{CudaError, Function, Memory, Shape};
use std::ffi::c_void;
use std::marker::PhantomData;

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
// Passed by reference to the driver, a few at a time.
#[allow(clippy::large_enum_variant)]
pub enum Arg {
    /// An address in the memory of the GPU.
    At(u64),
    /// `long long`.
    Long(i64),
    /// `int`.
    Int(i32),
    /// `double`.
    Double(f64),
    /// `float`.
    Float(f32),
    /// A structure of up to 136 bytes; the kernel reads as many as it declares.
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
    /// Enqueues a kernel.
    ///
    /// # Safety
    /// The arguments are those that the kernel takes, and their memory is as large as it uses.
    ///
    /// # Errors
    /// The shape is impossible, or the GPU is lost.
    pub unsafe fn call(&self, shape: &Shape, arguments: &[Arg]) -> Result<(), CudaError> {
        let mut values = arguments.to_vec();
        // SAFETY: the caller's promise; each address is of a value of its type.
        unsafe { self.launch(shape, &mut addresses(&mut values)) }
    }

    /// Enqueues a kernel whose blocks wait for each other.
    ///
    /// # Safety
    /// As [`Self::call`].
    ///
    /// # Errors
    /// As [`Self::call`], or the GPU cannot run all blocks at the same time.
    pub unsafe fn call_cooperative(
        &self,
        shape: &Shape,
        arguments: &[Arg],
    ) -> Result<(), CudaError> {
        let mut values = arguments.to_vec();
        // SAFETY: the caller's promise; each address is of a value of its type.
        unsafe { self.launch_cooperative(shape, &mut addresses(&mut values)) }
    }
}

/// Addresses of the values.
fn addresses(arguments: &mut [Arg]) -> Vec<*mut c_void> {
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

/// Maximum size of the parameters of a kernel, bytes.
pub const MAX_BYTES: usize = 4096;

/// A structure that a kernel takes by value as its only parameter, at most [`MAX_BYTES`].
///
/// # Safety
/// It is `repr(C)` and has the fields of the kernel's structure: numbers and [`Pointer`]s, of the same sizes and in the same
/// order.
pub unsafe trait Arguments: Copy {
    /// Fails to compile if the structure is too large.
    const FITS: () = assert!(size_of::<Self>() <= MAX_BYTES);
}

/// A typed address in the memory of a device; the default is null. A copy of the address: it does not own the memory.
#[repr(transparent)]
pub struct Pointer<T> {
    address: u64,
    values: PhantomData<fn() -> T>,
}

impl<T> Pointer<T> {
    /// A pointer to this address.
    pub fn new(address: u64) -> Self {
        Self {
            address,
            values: PhantomData,
        }
    }

    /// The address.
    pub fn address(self) -> u64 {
        self.address
    }
}

impl<T> Clone for Pointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pointer<T> {}

impl<T> Default for Pointer<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T> std::fmt::Debug for Pointer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

impl<T> From<&Memory> for Pointer<T> {
    fn from(m: &Memory) -> Self {
        Self::new(m.address())
    }
}

impl Function {
    /// Enqueues a kernel that takes one structure.
    ///
    /// # Safety
    /// The kernel takes this structure, and its addresses are of memory as large as the kernel uses.
    ///
    /// # Errors
    /// The shape is impossible, or the GPU is lost.
    pub unsafe fn call_with<A: Arguments>(
        &self,
        shape: &Shape,
        arguments: &A,
    ) -> Result<(), CudaError> {
        let () = A::FITS;
        let at = std::ptr::from_ref(arguments).cast::<c_void>().cast_mut();
        // SAFETY: the caller's promise; the driver only reads the structure.
        unsafe { self.launch(shape, &mut [at]) }
    }

    /// Enqueues a kernel that takes one structure and whose blocks wait for each other.
    ///
    /// # Safety
    /// As [`Self::call_with`].
    ///
    /// # Errors
    /// As [`Self::call_with`], or the GPU cannot run all blocks at the same time.
    pub unsafe fn call_cooperative_with<A: Arguments>(
        &self,
        shape: &Shape,
        arguments: &A,
    ) -> Result<(), CudaError> {
        let () = A::FITS;
        let at = std::ptr::from_ref(arguments).cast::<c_void>().cast_mut();
        // SAFETY: the caller's promise; the driver only reads the structure.
        unsafe { self.launch_cooperative(shape, &mut [at]) }
    }
}
