//! One config of the family, compiled and loaded.

use crate::{GemmError, Matrices, Product};
use greenup_space::Value;
use greenup_tune::Problem;
use greenup_tune::run::compile::Unit;
use greenup_tune::run::library::Library;
use std::ffi::c_void;
use std::path::Path;

type Entry = unsafe extern "C" fn(i64, i64, i64, *mut f64, i64, *const f64, i64, *const f64, i64);

/// A compiled config. It serves any size, though it may have been tuned for another. One product
/// at a time: its packed panels are the library's own.
pub struct Kernel {
    entry: Entry,
    name: String,
    pub config: Vec<Value>,
}

impl Kernel {
    /// Compiles into `dir`, where a library of the same sources and config is taken again.
    ///
    /// # Errors
    /// The compiler's or the loader's words.
    pub fn build(
        problem: &Problem,
        config: &[Value],
        name: &str,
        dir: &Path,
    ) -> Result<Self, GemmError> {
        std::fs::create_dir_all(dir).map_err(|cause| GemmError::Io {
            path: dir.display().to_string(),
            cause,
        })?;
        let path = Unit::of_config(problem, config)
            .and_then(|u| u.compile(dir))
            .map_err(|e| GemmError::Compile(e.0))?;
        let library = |cause| GemmError::Library {
            path: path.display().to_string(),
            cause,
        };
        let symbol = Library::open(&path)
            .and_then(|l| l.symbol("dgemm"))
            .map_err(library)?;
        Ok(Self {
            // SAFETY: the family's source defines `dgemm` with this signature.
            entry: unsafe { std::mem::transmute::<*mut c_void, Entry>(symbol) },
            name: name.to_owned(),
            config: config.to_vec(),
        })
    }
}

impl Product for Kernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn multiply(&self, x: &mut Matrices) {
        let [m, n, k] = [x.size.m, x.size.n, x.size.k].map(|v| v as i64);
        // SAFETY: the matrices have these sizes, without gaps between rows, and do not overlap.
        unsafe {
            (self.entry)(
                m,
                n,
                k,
                x.c.as_mut_slice().as_mut_ptr(),
                n,
                x.a.as_slice().as_ptr(),
                k,
                x.b.as_slice().as_ptr(),
                n,
            );
        }
    }
}
