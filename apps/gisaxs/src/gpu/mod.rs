//! Form factors on a CUDA GPU, found at run time.
//!
//! | module | contents |
//! |---|---|
//! | `service` | form factors on a GPU, for any thread |
//! | `worker` | a thread that owns the GPU and runs tasks of others |
//! | `tensor_grid` | F on tensor grids, by one of the methods below |
//! | `direct`, `nufft` | direct sums, the nonuniform FFT |
//! | `spread` | nodes spread onto the cells of the nonuniform FFT |
//! | `gemm`, `gemm_f16x2` | matrix products without and with tensor cores |
//! | `direct_list` | direct sums at any q, with overlapped copies |
//! | `nufft_detector` | the nonuniform FFT on rows of a detector |
//! | `staging` | copies through pinned memory, which overlap work of the host |
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
mod staging;
mod tensor_grid;
mod worker;

pub use config::{DirectConfig, ListConfig};
pub use service::Service;
pub(crate) use tensor_grid::OnGrid;

use crate::mesh_form_factor::Surface;
use greenup_device::cuda::{
    Compiler, CudaError, Gpu, Memory, Module, Session, Shape, Source, cubins,
};
use staging::Staging;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Weak};

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
    /// Loaded modules, by name, architecture and options.
    modules: RefCell<HashMap<String, Module>>,
    /// Pinned memory for copies.
    staging: RefCell<Option<Staging>>,
    /// The last surface whose nodes were all copied, and its nodes.
    nodes: RefCell<Option<(Weak<Surface>, Rc<Memory>)>>,
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
            modules: RefCell::default(),
            staging: RefCell::default(),
            nodes: RefCell::default(),
        })
    }

    /// Whether the tensor cores of this GPU support f16x2 GEMM.
    pub fn has_f16x2(&self) -> bool {
        self.gpu.arch == "sm_90"
    }

    fn module(&self, name: &str, text: &str, options: &[String]) -> Result<Module, CudaError> {
        self.module_for(name, text, options, &self.gpu.arch)
    }

    /// A module for an architecture, loaded once. Texts of the same name are equal.
    fn module_for(
        &self,
        name: &str,
        text: &str,
        options: &[String],
        arch: &str,
    ) -> Result<Module, CudaError> {
        let key = format!("{name} {arch} {}", options.join(" "));
        if let Some(module) = self.modules.borrow().get(&key) {
            return Ok(module.clone());
        }
        let module = self
            .session
            .load(&self.compiled(name, text, options, arch)?)?;
        self.modules.borrow_mut().insert(key, module.clone());
        Ok(module)
    }

    /// Copies through pinned memory, in chunks of at least `bytes`. The memory is kept.
    fn staged<T>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut Staging) -> Result<T, CudaError>,
    ) -> Result<T, CudaError> {
        let mut kept = self.staging.borrow_mut();
        let staging = match kept.take() {
            Some(staging) if staging.chunk() >= bytes => staging,
            // Frees the smaller one first.
            smaller => {
                drop(smaller);
                Staging::new(&self.session, bytes.max(staging::CHUNK))?
            }
        };
        work(kept.insert(staging))
    }

    /// All nodes of a surface, as kernels read them; kept until there is another surface.
    fn all_nodes(&self, surface: &Arc<Surface>) -> Result<Rc<Memory>, CudaError> {
        let mut kept = self.nodes.borrow_mut();
        let weak = Arc::downgrade(surface);
        if let Some((of, nodes)) = &*kept
            && of.ptr_eq(&weak)
        {
            return Ok(Rc::clone(nodes));
        }
        // Frees the old ones first.
        *kept = None;
        let all = 0..surface.nodes.len();
        let nodes = Rc::new(spread::copied(self, &surface.nodes, all, None)?);
        *kept = Some((weak, Rc::clone(&nodes)));
        Ok(nodes)
    }

    /// Frees the nodes of a surface that no longer exists.
    fn forget_nodes(&self) {
        let mut kept = self.nodes.borrow_mut();
        if kept.as_ref().is_some_and(|(of, _)| of.strong_count() == 0) {
            *kept = None;
        }
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
