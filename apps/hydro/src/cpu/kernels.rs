//! The C kernels: one set per instruction set, dimension and order.

use crate::fem::element::Factors;
use crate::hydro::PointRules;
use greenup_device::Isa;
use std::ffi::{c_int, c_long};

/// One-dimensional basis tables in the memory layout of the kernels.
#[repr(C)]
pub struct Tables {
    n: c_int,
    e: c_int,
    q: c_int,
    value: *const f64,
    gradient: *const f64,
    energy: *const f64,
    value_t: *const f64,
    slope_t: *const f64,
    energy_t: *const f64,
}

type T = *const Tables;
type In = *const f64;
type Out = *mut f64;
type Index = *const u32;

/// The functions of `zone.c`, which documents their arguments.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Kernels {
    pub scratch: unsafe extern "C" fn(T) -> c_long,
    #[allow(clippy::type_complexity)]
    pub stresses: unsafe extern "C" fn(
        T,
        *const PointRules,
        Index,
        Index,
        c_long,
        In,
        In,
        In,
        In,
        In,
        In,
        In,
        In,
        c_int,
        Out,
        Out,
        Out,
    ) -> f64,
    pub forces: unsafe extern "C" fn(T, In, Out, Out),
    pub work: unsafe extern "C" fn(T, Index, Index, c_long, In, In, In, In, Out, c_int, Out),
    pub mass_times: unsafe extern "C" fn(T, Index, c_long, In, In, c_int, Out, Out, Out),
    pub sums: unsafe extern "C" fn(T, Index, Index, c_long, In, In, In, c_int, Out, Out),
}

macro_rules! sets {
    ($($name:ident)*) => {
        unsafe extern "C" {
            $(static $name: Kernels;)*
        }
        fn find(name: &str) -> Option<Kernels> {
            $(if name == stringify!($name) {
                // SAFETY: a constant of the library, never written.
                return Some(unsafe { $name });
            })*
            None
        }
    };
}

#[cfg(target_arch = "x86_64")]
sets!(
    hydro_portable_1_0 hydro_portable_2_0 hydro_portable_2_1 hydro_portable_2_2 hydro_portable_2_3 hydro_portable_2_4
    hydro_portable_3_0 hydro_portable_3_1 hydro_portable_3_2 hydro_portable_3_3 hydro_portable_3_4
    hydro_avx2_1_0 hydro_avx2_2_0 hydro_avx2_2_1 hydro_avx2_2_2 hydro_avx2_2_3 hydro_avx2_2_4
    hydro_avx2_3_0 hydro_avx2_3_1 hydro_avx2_3_2 hydro_avx2_3_3 hydro_avx2_3_4
    hydro_avx512_1_0 hydro_avx512_2_0 hydro_avx512_2_1 hydro_avx512_2_2 hydro_avx512_2_3 hydro_avx512_2_4
    hydro_avx512_3_0 hydro_avx512_3_1 hydro_avx512_3_2 hydro_avx512_3_3 hydro_avx512_3_4
);
#[cfg(not(target_arch = "x86_64"))]
sets!(
    hydro_portable_1_0 hydro_portable_2_0 hydro_portable_2_1 hydro_portable_2_2 hydro_portable_2_3 hydro_portable_2_4
    hydro_portable_3_0 hydro_portable_3_1 hydro_portable_3_2 hydro_portable_3_3 hydro_portable_3_4
);

impl Kernels {
    /// Kernels of a dimension and orders: compiled for these orders if available, else for any order.
    pub fn of(isa: Isa, dim: usize, order: usize, energy_order: usize) -> Self {
        let own = if dim > 1 && order <= 4 && energy_order + 1 == order {
            order
        } else {
            0
        };
        // Every set that an instruction set of this target has was built.
        find(&format!("hydro_{isa}_{dim}_{own}"))
            .or_else(|| find(&format!("hydro_portable_{dim}_{own}")))
            .unwrap_or_else(|| unreachable!("kernels of dimension {dim}"))
    }
}

/// Tables with the memory that they point to.
pub struct OwnedTables {
    tables: Tables,
    _kept: [Vec<f64>; 6],
}

// SAFETY: the pointers are to vectors that the value owns and never changes.
unsafe impl Send for OwnedTables {}
// SAFETY: as above; kernels only read them.
unsafe impl Sync for OwnedTables {}

impl OwnedTables {
    pub fn new(f: &Factors) -> Self {
        let q = f.points;
        let transposed = |m: &[f64]| -> Vec<f64> {
            let n = m.len() / q;
            (0..n)
                .flat_map(|i| (0..q).map(move |r| m[r * n + i]))
                .collect()
        };
        let kept = [
            f.value.clone(),
            f.gradient.clone(),
            f.energy.clone(),
            transposed(&f.value),
            transposed(&f.gradient),
            transposed(&f.energy),
        ];
        let [value, gradient, energy, value_t, slope_t, energy_t] =
            [0, 1, 2, 3, 4, 5].map(|i| kept[i].as_ptr());
        Self {
            tables: Tables {
                n: (f.value.len() / q) as c_int,
                e: (f.energy.len() / q) as c_int,
                q: q as c_int,
                value,
                gradient,
                energy,
                value_t,
                slope_t,
                energy_t,
            },
            _kept: kept,
        }
    }

    pub fn get(&self) -> *const Tables {
        &raw const self.tables
    }
}
