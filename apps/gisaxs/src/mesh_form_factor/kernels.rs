//! The C kernels of this CPU's instruction set.

use greenup_device::Isa;
use num_complex::Complex64;
use std::ffi::{c_int, c_long};

/// Highest power of q in the moments, from the build script.
pub(super) const ORDER: usize = match usize::from_str_radix(env!("GISAXS_MOMENT_ORDER"), 10) {
    Ok(n) => n,
    Err(_) => panic!("GISAXS_MOMENT_ORDER is not a number"),
};

/// Number of terms up to the highest power.
pub(super) const TERMS: usize = (ORDER + 1) * (ORDER + 2) * (ORDER + 3) / 6;

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
    position: *const f64,
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

type Moments = unsafe extern "C" fn(
    nodes: c_long,
    x: *const f64,
    y: *const f64,
    z: *const f64,
    weight: *const f64,
    terms: *mut f64,
);
type Finish = unsafe extern "C" fn(
    positions: c_long,
    xy: *const f64,
    z_re: f64,
    z_im: f64,
    along: *const f64,
    up: *const f64,
    out: *mut f64,
);

/// The kernels of one instruction set; `direct.c`, `nufft_detector.c` and `surface.c` describe their arguments.
#[derive(Clone, Copy)]
pub(super) struct Kernels {
    pub direct_32: Direct<f32>,
    pub direct_64: Direct<f64>,
    pub wave: Wave,
    pub spread: Spread,
    pub read: Read,
    moments: Moments,
    finish: Finish,
}

/// The function pointers that the C files of one instruction set export.
macro_rules! set {
    ($d32:ident, $d64:ident, $wave:ident, $spread:ident, $read:ident, $moments:ident, $finish:ident) => {{
        unsafe extern "C" {
            static $d32: Direct<f32>;
            static $d64: Direct<f64>;
            static $wave: Wave;
            static $spread: Spread;
            static $read: Read;
            static $moments: Moments;
            static $finish: Finish;
        }
        // SAFETY: constants of these types in the C files.
        unsafe {
            Kernels {
                direct_32: $d32,
                direct_64: $d64,
                wave: $wave,
                spread: $spread,
                read: $read,
                moments: $moments,
                finish: $finish,
            }
        }
    }};
}

impl Kernels {
    /// The kernels of an instruction set, if they were built and this CPU runs them.
    fn of(isa: Isa) -> Option<Self> {
        if !isa.available() {
            return None;
        }
        match isa {
            Isa::Portable => Some(set!(
                direct_at_portable_32,
                direct_at_portable_64,
                wave_at_portable_64,
                spread_at_portable,
                read_at_portable,
                moments_at_portable,
                finish_at_portable
            )),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Some(set!(
                direct_at_avx2_32,
                direct_at_avx2_64,
                wave_at_avx2_64,
                spread_at_avx2,
                read_at_avx2,
                moments_at_avx2,
                finish_at_avx2
            )),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Some(set!(
                direct_at_avx512_32,
                direct_at_avx512_64,
                wave_at_avx512_64,
                spread_at_avx512,
                read_at_avx512,
                moments_at_avx512,
                finish_at_avx512
            )),
            _ => None,
        }
    }

    /// The kernels of the widest instruction set that this CPU runs.
    pub fn best() -> Self {
        Isa::ALL
            .into_iter()
            .rev()
            .find_map(Self::of)
            .unwrap_or_else(|| unreachable!("the portable kernels are always built"))
    }

    /// Real and imaginary parts of 2^d e^{2πi turns}.
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

    /// Adds the moments of weighted positions to the terms, ordered as in [`super::moments`].
    pub fn moments(&self, positions: &[Vec<f64>; 3], weight: &[f64], terms: &mut [f64; TERMS]) {
        let n = weight.len();
        assert!(n.is_multiple_of(8) && positions.iter().all(|p| p.len() == n));
        let [x, y, z] = positions;
        // SAFETY: arrays of n numbers, whole vectors of any kernel.
        unsafe {
            (self.moments)(
                n as _,
                x.as_ptr(),
                y.as_ptr(),
                z.as_ptr(),
                weight.as_ptr(),
                terms.as_mut_ptr(),
            );
        }
    }

    /// F at positions (q_x, q_y) with the same q_z, from both of their sums.
    pub fn finish(
        &self,
        xy: &[[f64; 2]],
        z: Complex64,
        (along, up): (&[[f64; 2]], &[[f64; 2]]),
        out: &mut [Complex64],
    ) {
        let n = xy.len();
        assert!(along.len() == n && up.len() == n && out.len() == n);
        // SAFETY: n pairs each; a complex number is one.
        unsafe {
            (self.finish)(
                n as _,
                xy.as_ptr().cast(),
                z.re,
                z.im,
                along.as_ptr().cast(),
                up.as_ptr().cast(),
                out.as_mut_ptr().cast(),
            );
        }
    }
}
