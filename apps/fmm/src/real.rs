//! The two precisions, and the C kernels of each.

use greenup_device::memory::Plain;
use greenup_device::{HostIsa, Isa};
use std::ffi::{c_int, c_long, c_uint};
use std::fmt::{Debug, Display};
use std::ops::{AddAssign, Mul};

/// Sums over sources as `direct.c` takes them.
#[repr(C)]
pub struct Sums<R> {
    pub targets: c_long,
    pub x: [*const R; 3],
    pub out: *mut R,
    pub stride: c_long,
    pub ranges: c_long,
    pub shared: c_long,
    pub range: *const c_uint,
    pub sources: [*const R; 3],
    pub charge: *const R,
    pub parameter: R,
}

/// The functions of `fmm.c`; what they take is said there.
#[repr(C)]
#[allow(clippy::type_complexity)]
pub struct Kernels<R> {
    pub panel: c_long,
    pub sums: [unsafe extern "C" fn(*const Sums<R>); 7],
    pub mix: unsafe extern "C" fn(c_long) -> R,
    pub apply: unsafe extern "C" fn(
        c_long,
        c_long,
        *const R,
        c_long,
        *const *const R,
        *const *mut R,
        c_int,
    ),
    pub forward: unsafe extern "C" fn(c_int, c_int, *const R, *const R, *mut R, c_long, *mut R),
    pub back: unsafe extern "C" fn(c_int, *const R, *const R, c_long, *mut R, *mut R),
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

/// A precision. There are no others: unchecked kernels rest on what it says of itself.
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
    const NAME: &'static str;
    /// Spacing of the numbers next to 1.
    const EPSILON: f64;
    const DOUBLE: bool;
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
    fn kernels(isa: HostIsa) -> &'static Kernels<Self>;
}

/// A power of two near the largest size, or 1 where all are zero: in that unit numbers keep their digits.
pub(crate) fn unit(largest: f64) -> f64 {
    match largest {
        0.0 => 1.0,
        m => m.log2().floor().clamp(-1022.0, 1023.0).exp2(),
    }
}

impl Real for f32 {
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
