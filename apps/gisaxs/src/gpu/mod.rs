//! Form factors on a CUDA GPU, found at run time.
//!
//! | module | what it holds |
//! |---|---|
//! | [`grid`] | F on tensor grids by the direct, product and nonuniform ways |
//! | [`config`] | what of the direct kernel is tuned |

mod config;
mod grid;
mod launch;

pub use config::DirectConfig;
pub use grid::{OnGrid, Ran};

use greenup_device::cuda::{Compiler, CudaError, Gpu, Module, Session, Source};
use std::path::PathBuf;

/// The kernels, as shipped.
const DIRECT: &str = include_str!("../kernels/gpu/direct.cu");
const COPIES: &str = include_str!("../kernels/gpu/copies.cuh");
const GRID: &str = include_str!("../kernels/gpu/grid.cu");

/// A GPU held, with the compiler for it.
pub struct Device {
    pub gpu: Gpu,
    session: Session,
    compiler: Compiler,
}

/// Why a GPU cannot be used, with what can be done about it.
pub fn words(e: &CudaError) -> String {
    match e.cure() {
        Some(cure) => format!("{e}; {cure}"),
        None => e.to_string(),
    }
}

impl Device {
    /// Takes a GPU by its number.
    ///
    /// # Errors
    /// No driver, no such GPU, or no compiler.
    pub fn open(ordinal: usize) -> Result<Self, CudaError> {
        let gpu = Gpu::all()?
            .into_iter()
            .nth(ordinal)
            .ok_or_else(|| CudaError::Driver {
                what: "there is no such GPU",
                cause: ordinal.to_string(),
            })?;
        let session = Session::open(gpu.ordinal)?;
        Ok(Self {
            gpu,
            session,
            compiler: Compiler::new(cubins().as_deref())?,
        })
    }

    fn module(&self, name: &str, text: &str, options: &[String]) -> Result<Module, CudaError> {
        let compiled = self.compiler.compile(&Source {
            name,
            text,
            arch: &self.gpu.arch,
            options,
        })?;
        self.session.load(&compiled.cubin)
    }
}

/// Where compiled kernels are kept, with those of other problems.
fn cubins() -> Option<PathBuf> {
    let from = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let base = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("greenup/cubins"))
}
