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

macro_rules! set {
    ($d32:ident, $d64:ident, $wave:ident, $spread:ident, $read:ident) => {{
        unsafe extern "C" {
            fn $d32(
                points: c_long,
                x: *const f32,
                y: *const f32,
                z: *const f32,
                d: *const f32,
                nodes: c_long,
                node: *const f32,
                out: *mut f64,
                stride: c_long,
                damped: c_int,
                corrected: c_int,
                unroll: c_int,
            );
            fn $d64(
                points: c_long,
                x: *const f64,
                y: *const f64,
                z: *const f64,
                d: *const f64,
                nodes: c_long,
                node: *const f64,
                out: *mut f64,
                stride: c_long,
                damped: c_int,
                corrected: c_int,
                unroll: c_int,
            );
            fn $wave(n: c_long, turns: *const f64, d: *const f64, re: *mut f64, im: *mut f64);
            fn $spread(
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
            fn $read(
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
        }
        Kernels {
            direct_32: $d32,
            direct_64: $d64,
            wave: $wave,
            spread: $spread,
            read: $read,
        }
    }};
}

impl Kernels {
    /// The kernels of an instruction set, if they were built.
    pub fn of(isa: Isa) -> Option<Self> {
        match isa {
            Isa::Portable => Some(set!(
                direct_portable_32,
                direct_portable_64,
                wave_portable_64,
                spread_portable,
                read_portable
            )),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Some(set!(
                direct_avx2_32,
                direct_avx2_64,
                wave_avx2_64,
                spread_avx2,
                read_avx2
            )),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Some(set!(
                direct_avx512_32,
                direct_avx512_64,
                wave_avx512_64,
                spread_avx512,
                read_avx512
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
