//! Form factors on a CUDA GPU, found at run time.
//!
//! | module | what it holds |
//! |---|---|
//! | [`service`] | a thread that holds the GPU and computes for the others |
//! | [`grid`] | F on tensor grids, by one of the ways below |
//! | [`direct`], [`product`], [`halves`], [`nufft`] | direct sums, products of matrices on both kinds of units, the nonuniform transform |
//! | [`list`] | direct sums at any q, with copies under way |
//! | [`band`] | the nonuniform transform on a detector's rows |
//! | [`config`] | what of the direct kernels is tuned |

mod band;
mod config;
mod direct;
mod grid;
mod halves;
mod launch;
mod list;
mod nufft;
mod product;
mod service;

pub use config::{DirectConfig, ListConfig};
pub use grid::{OnGrid, Ran};
pub use service::Service;

use greenup_device::cuda::{Compiler, CudaError, Gpu, Module, Session, Source, cubins};

/// The kernels, as shipped.
const DIRECT: &str = include_str!("../kernels/gpu/direct.cu");
const COPIES: &str = include_str!("../kernels/gpu/copies.cuh");
const SINE: &str = include_str!("../kernels/gpu/sine.cuh");
const LIST: &str = include_str!("../kernels/gpu/list.cu");
const HALVES: &str = include_str!("../kernels/gpu/halves.cu");
const BAND: &str = include_str!("../kernels/gpu/band.cu");
const GRID: &str = include_str!("../kernels/gpu/grid.cu");

/// A GPU held, with the compiler for it.
pub struct Device {
    pub gpu: Gpu,
    session: Session,
    compiler: Compiler,
}

/// Why a GPU cannot be used, with what can be done about it.
pub fn words(e: &CudaError) -> String {
    e.words()
}

impl Device {
    /// Takes a GPU by its number.
    ///
    /// # Errors
    /// No driver, no such GPU, or no compiler.
    pub fn open(ordinal: usize) -> Result<Self, CudaError> {
        let gpu = Gpu::numbered(ordinal)?;
        let session = Session::open(gpu.ordinal)?;
        Ok(Self {
            gpu,
            session,
            compiler: Compiler::new(cubins().as_deref())?,
        })
    }

    /// Whether products of halves run on its tensor cores.
    pub fn multiplies_halves(&self) -> bool {
        self.gpu.arch == "sm_90"
    }

    fn module(&self, name: &str, text: &str, options: &[String]) -> Result<Module, CudaError> {
        let cubin = self.compiled(name, text, options, &self.gpu.arch)?;
        self.session.load(&cubin)
    }

    fn compiled(
        &self,
        name: &str,
        text: &str,
        options: &[String],
        arch: &str,
    ) -> Result<Vec<u8>, CudaError> {
        let source = Source {
            name,
            text,
            arch,
            options,
        };
        Ok(self.compiler.compile(&source)?.cubin)
    }
}
