//! Precisions, and the C kernels of each.

use greenup_device::memory::Plain;
use greenup_device::{HostIsa, Isa};
use std::ffi::{c_int, c_long, c_uint};
use std::fmt::{Debug, Display};
use std::ops::{AddAssign, Mul};

/// Sums over sources at targets, as `direct.c` defines them.
#[repr(C)]
pub struct Sums<R> {
    /// Number of targets.
    pub targets: c_long,
    /// Coordinates of the targets.
    pub x: [*const R; 3],
    /// Results, added to `out[component * stride + target]`.
    pub out: *mut R,
    /// Distance between components.
    pub stride: c_long,
    /// Number of ranges of sources.
    pub ranges: c_long,
    /// Ranges, from the first, whose sources may coincide with targets.
    pub shared: c_long,
    /// Begin and end of each range.
    pub range: *const c_uint,
    /// Coordinates of the sources.
    pub sources: [*const R; 3],
    /// Charges, source by source.
    pub charge: *const R,
    /// Parameter of the kernel.
    pub parameter: R,
}

/// The functions of `fmm.c`, which documents their parameters.
#[repr(C)]
#[allow(clippy::type_complexity)]
pub struct Kernels<R> {
    /// Rows of a panel of packed matrices.
    pub panel: c_long,
    /// Sums, by kernel and gradient.
    pub sums: [unsafe extern "C" fn(*const Sums<R>); 7],
    /// The arithmetic of so many pairs of a sum without loads, in 1, 2, 3, 4 or 8 chains, for its peak.
    pub mix: unsafe extern "C" fn(c_long, c_int) -> R,
    /// A packed matrix times vectors.
    pub apply: unsafe extern "C" fn(
        c_long,
        c_long,
        *const R,
        c_long,
        *const *const R,
        *const *mut R,
        c_int,
    ),
    /// Fourier transforms of eight grids.
    pub forward: unsafe extern "C" fn(c_int, c_int, *const R, *const R, *mut R, c_long, *mut R),
    /// Inverse transforms of eight spectra.
    pub back: unsafe extern "C" fn(c_int, *const R, *const R, c_long, *mut R, *mut R),
    /// Products of spectra.
    pub hadamard:
        unsafe extern "C" fn(c_int, *const c_uint, *const c_uint, *const R, *const R, *mut R),
}

macro_rules! sets {
    ($($isa:ident $single:ident $double:ident),*) => {
        unsafe extern "C" {
            $(static $single: Kernels<f32>; static $double: Kernels<f64>;)*
        }
        fn single(isa: Isa) -> &'static Kernels<f32> {
            match isa {
                // SAFETY: a constant of the library, never written.
                $(Isa::$isa => unsafe { &$single },)*
                #[allow(unreachable_patterns)]
                _ => single(Isa::Portable),
            }
        }
        fn double(isa: Isa) -> &'static Kernels<f64> {
            match isa {
                // SAFETY: as above.
                $(Isa::$isa => unsafe { &$double },)*
                #[allow(unreachable_patterns)]
                _ => double(Isa::Portable),
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
sets!(
    Portable fmm_portable_f32 fmm_portable_f64,
    Avx2 fmm_avx2_f32 fmm_avx2_f64,
    Avx512 fmm_avx512_f32 fmm_avx512_f64
);
#[cfg(not(target_arch = "x86_64"))]
sets!(Portable fmm_portable_f32 fmm_portable_f64);

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A precision: f32 or f64. Sealed, as unchecked kernels rely on its constants.
pub trait Real:
    sealed::Sealed
    + Plain
    + Default
    + Debug
    + Display
    + PartialOrd
    + AddAssign
    + Mul<Output = Self>
    + Sync
{
    /// `f32` or `f64`.
    const NAME: &'static str;
    /// Spacing of the numbers next to 1.
    const EPSILON: f64;
    /// Whether it is f64.
    const DOUBLE: bool;
    /// Rounds a double.
    fn of(x: f64) -> Self;
    /// The same number as a double.
    fn wide(self) -> f64;
    /// Its kernels for an instruction set.
    fn kernels(isa: HostIsa) -> &'static Kernels<Self>;
}

/// A power of two near the largest magnitude, or 1 if all are zero: scaling by it is exact.
pub(crate) fn unit(largest: f64) -> f64 {
    match largest {
        0.0 => 1.0,
        m => m.log2().floor().clamp(-1022.0, 1023.0).exp2(),
    }
}

impl Real for f32 {
    /// `f32` or `f64`.
    const NAME: &'static str = "f32";
    const EPSILON: f64 = f32::EPSILON as f64;
    const DOUBLE: bool = false;
    fn of(x: f64) -> Self {
        x as f32
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn kernels(isa: HostIsa) -> &'static Kernels<Self> {
        single(isa.get())
    }
}

impl Real for f64 {
    /// `f32` or `f64`.
    const NAME: &'static str = "f64";
    const EPSILON: f64 = f64::EPSILON;
    const DOUBLE: bool = true;
    fn of(x: f64) -> Self {
        x
    }
    fn wide(self) -> f64 {
        self
    }
    fn kernels(isa: HostIsa) -> &'static Kernels<Self> {
        double(isa.get())
    }
}
