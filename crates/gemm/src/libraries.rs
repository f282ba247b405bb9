//! Any library with `cblas_dgemm`, loaded at run time, as a baseline.

use crate::{GemmError, Matrices, Product};
use greenup_device::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

/// `cblas_dgemm` with integers of type `I`.
type Call<I> = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    I,
    I,
    I,
    f64,
    *const f64,
    I,
    *const f64,
    I,
    f64,
    *mut f64,
    I,
);

enum Entry {
    Int32(Call<i32>),
    Int64(Call<i64>),
}

/// A library with the C interface of BLAS.
pub struct Cblas {
    entry: Entry,
    name: String,
}

const ROW_MAJOR: c_int = 101;
const NO_TRANSPOSE: c_int = 111;

impl Cblas {
    /// Loads a library and sets its number of threads, if it has a known function for that.
    ///
    /// # Errors
    /// The library cannot be loaded, or has no `cblas_dgemm`.
    pub fn open(path: &Path, threads: usize) -> Result<Self, GemmError> {
        let failed = |cause: String| GemmError::Library {
            path: path.display().to_string(),
            cause,
        };
        let library = Library::open(path).map_err(|e| failed(e.to_string()))?;
        // OpenBLAS as Python packages ship it has names of its own.
        let find = |names: &[&str]| names.iter().find_map(|n| library.symbol(n).ok());
        let entry = if let Some(f) = find(&["scipy_cblas_dgemm64_", "cblas_dgemm64_"]) {
            // SAFETY: names that end in 64_ take integers of 64 bits.
            Entry::Int64(unsafe { std::mem::transmute::<*mut c_void, Call<i64>>(f) })
        } else if let Some(f) = find(&["cblas_dgemm", "scipy_cblas_dgemm"]) {
            // SAFETY: the C interface of BLAS, with integers of 32 bits.
            Entry::Int32(unsafe { std::mem::transmute::<*mut c_void, Call<i32>>(f) })
        } else {
            return Err(failed("it has no cblas_dgemm".into()));
        };
        let set = find(&[
            "MKL_Set_Num_Threads",
            "openblas_set_num_threads",
            "openblas_set_num_threads64_",
            "scipy_openblas_set_num_threads",
            "scipy_openblas_set_num_threads64_",
            "bli_thread_set_num_threads",
        ]);
        if let Some(f) = set {
            // SAFETY: all of them take one integer, and registers hold either width.
            unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(i64)>(f)(threads as i64);
            }
        }
        let core = find(&[
            "openblas_get_corename",
            "openblas_get_corename64_",
            "scipy_openblas_get_corename",
            "scipy_openblas_get_corename64_",
        ])
        .map(|f| {
            // SAFETY: gives a static string.
            unsafe {
                let name =
                    std::mem::transmute::<*mut c_void, extern "C" fn() -> *const c_char>(f)();
                CStr::from_ptr(name).to_string_lossy().into_owned()
            }
        });
        let file = path
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let name = match core {
            Some(core) => format!("OpenBLAS, {core} kernels"),
            None if file.contains("mkl") => "MKL".into(),
            None => file,
        };
        Ok(Self { entry, name })
    }
}

impl Product for Cblas {
    fn name(&self) -> &str {
        &self.name
    }

    fn multiply(&self, x: &mut Matrices) {
        let s = x.size;
        let (a, b) = (x.a.as_slice().as_ptr(), x.b.as_slice().as_ptr());
        let c = x.c.as_mut_slice().as_mut_ptr();
        macro_rules! call {
            ($f:expr, $i:ty) => {{
                let [m, n, k] = [s.m, s.n, s.k].map(|v| v as $i);
                // SAFETY: the matrices have these sizes, without gaps between rows.
                unsafe {
                    $f(
                        ROW_MAJOR,
                        NO_TRANSPOSE,
                        NO_TRANSPOSE,
                        m,
                        n,
                        k,
                        1.0,
                        a,
                        k,
                        b,
                        n,
                        1.0,
                        c,
                        n,
                    )
                }
            }};
        }
        match self.entry {
            Entry::Int32(f) => call!(f, i32),
            Entry::Int64(f) => call!(f, i64),
        }
    }
}
