//! Form factors on a CUDA GPU, found at run time.
//!
//! | module | contents |
//! |---|---|
//! | `service` | a thread that owns the GPU and computes for other threads |
//! | `tensor_grid` | F on tensor grids, by one of the methods below |
//! | `direct`, `nufft` | direct sums, the nonuniform FFT |
//! | `spread` | nodes spread onto the cells of the nonuniform FFT |
//! | `gemm`, `gemm_f16x2` | matrix products without and with tensor cores |
//! | `direct_list` | direct sums at any q, with overlapped copies |
//! | `nufft_detector` | the nonuniform FFT on rows of a detector |
//! | `config` | tuning parameters of the direct kernels |

mod config;
mod direct;
mod direct_list;
mod gemm;
mod gemm_f16x2;
mod nufft;
mod nufft_detector;
mod route;
mod service;
mod spread;
mod tensor_grid;

pub use config::{DirectConfig, ListConfig};
pub use service::Service;
pub(crate) use tensor_grid::OnGrid;

use greenup_device::cuda::{Compiler, CudaError, Gpu, Module, Session, Shape, Source, cubins};

// Sources of the kernels.
const DIRECT: &str = include_str!("../kernels/gpu/direct.cu");
const COPIES: &str = include_str!("../kernels/gpu/copies.cuh");
const SINE: &str = include_str!("../kernels/gpu/sine.cuh");
const LIST: &str = include_str!("../kernels/gpu/direct_list.cu");
const GEMM_F16X2: &str = include_str!("../kernels/gpu/gemm_f16x2.cu");
const NUFFT_DETECTOR: &str = include_str!("../kernels/gpu/nufft_detector.cu");
const GRID: &str = include_str!("../kernels/gpu/grid.cu");

/// An open GPU, with the compiler for it.
pub struct Device {
    /// Name, architecture and properties of the GPU.
    pub gpu: Gpu,
    session: Session,
    compiler: Compiler,
}

impl Device {
    /// Opens a GPU by its number, from 0.
    ///
    /// # Errors
    /// There is no driver, no such GPU, or no compiler.
    pub fn open(ordinal: usize) -> Result<Self, CudaError> {
        let gpu = Gpu::numbered(ordinal)?;
        let session = Session::open(gpu.ordinal)?;
        Ok(Self {
            gpu,
            session,
            compiler: Compiler::new(cubins().as_deref())?,
        })
    }

    /// Whether the tensor cores of this GPU support f16x2 GEMM.
    pub fn has_f16x2(&self) -> bool {
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

/// A grid of `down` rows of blocks with 128 threads each, one thread for each of `across`.
fn grid_of_threads(across: usize, down: usize) -> Shape {
    Shape {
        grid: [
            across.div_ceil(128).max(1) as u32,
            down.clamp(1, 65_535) as u32,
            1,
        ],
        block: [128, 1, 1],
        shared: 0,
    }
}
