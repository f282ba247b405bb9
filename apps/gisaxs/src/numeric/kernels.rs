//! The C kernels of this CPU's instruction set.

use greenup_device::Isa;
use std::ffi::{c_int, c_long};

type Direct<T> = unsafe extern "C" fn(
    points: c_long,
    x: *const T,
    y: *const T,
    z: *const T,
    d: *const T,
    nodes: c_long,
    node: *const T,
    out: *mut f64,
    stride: c_long,
    damped: c_int,
    corrected: c_int,
    unroll: c_int,
);
type Wave =
    unsafe extern "C" fn(n: c_long, turns: *const f64, d: *const f64, re: *mut f64, im: *mut f64);
type Spread = unsafe extern "C" fn(
    nodes: c_long,
    y: *const f64,
    z: *const f64,
    sums: *const f64,
    coefficients: *const f64,
    degree: c_long,
    width: c_long,
    grid: *mut f64,
    columns: c_long,
);
type Read = unsafe extern "C" fn(
    points: c_long,
    place: *const f64,
    coefficients: *const f64,
    degree: c_long,
    width: c_long,
    panels: c_long,
    scaled: *const f64,
    table: *const f64,
    rows: c_long,
    values: c_long,
    out: *mut f64,
);

/// The kernels of one instruction set; see `direct.c` and `band.c` for what they take.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub direct_32: Direct<f32>,
    pub direct_64: Direct<f64>,
    pub wave: Wave,
    pub spread: Spread,
    pub read: Read,
}

/// The pointers that the C files of one instruction set export.
macro_rules! set {
    ($d32:ident, $d64:ident, $wave:ident, $spread:ident, $read:ident) => {{
        unsafe extern "C" {
            static $d32: Direct<f32>;
            static $d64: Direct<f64>;
            static $wave: Wave;
            static $spread: Spread;
            static $read: Read;
        }
        // SAFETY: constants of these types in `direct.c` and `band.c`.
        unsafe {
            Kernels {
                direct_32: $d32,
                direct_64: $d64,
                wave: $wave,
                spread: $spread,
                read: $read,
            }
        }
    }};
}

impl Kernels {
    /// The kernels of an instruction set, if they were built.
    pub fn of(isa: Isa) -> Option<Self> {
        match isa {
            Isa::Portable => Some(set!(
                direct_at_portable_32,
                direct_at_portable_64,
                wave_at_portable_64,
                spread_at_portable,
                read_at_portable
            )),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Some(set!(
                direct_at_avx2_32,
                direct_at_avx2_64,
                wave_at_avx2_64,
                spread_at_avx2,
                read_at_avx2
            )),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Some(set!(
                direct_at_avx512_32,
                direct_at_avx512_64,
                wave_at_avx512_64,
                spread_at_avx512,
                read_at_avx512
            )),
            _ => None,
        }
    }

    /// The widest that this CPU runs.
    pub fn best() -> Self {
        Isa::ALL
            .into_iter()
            .rev()
            .filter(|i| i.available())
            .find_map(Self::of)
            .unwrap_or_else(|| unreachable!("the portable kernels are always built"))
    }

    /// 2^d e^{2πi turns}, real and imaginary parts.
    pub fn waves(&self, turns: &[f64], d: &[f64], re: &mut [f64], im: &mut [f64]) {
        let n = turns.len();
        assert!(d.len() == n && re.len() == n && im.len() == n);
        // SAFETY: four arrays of n numbers.
        unsafe {
            (self.wave)(
                n as _,
                turns.as_ptr(),
                d.as_ptr(),
                re.as_mut_ptr(),
                im.as_mut_ptr(),
            )
        }
    }
}
