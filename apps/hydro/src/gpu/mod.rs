//! Steps on a CUDA GPU: everything stays there, and a step is one recorded graph.
//!
//! | module | what it holds |
//! |---|---|
//! | [`config`], [`kernels`] | choices of the kernels, their source, compiled |
//! | [`memory`] | what of a problem lies on the GPU |
//! | [`need`] | whether a problem fits a GPU, before anything is put there |
//! | [`launches`] | parts of a step |
//! | [`steps`] | whole steps, and choices inside a run |
//! | [`host`] | zones that the host computes |

mod config;
mod host;
mod kernels;
mod launches;
mod memory;
mod need;
mod steps;

use crate::HydroError;
use crate::csr::Csr;
use crate::engine::Spent;
use crate::hydro::Hydro;
use crate::ode::{Ode, Op};
use greenup_device::cuda::{Compiler, CudaError, Gpu as Found, Graph, Memory, Session, cubins};
use host::Host;
use kernels::{Kernels, built};
use memory::{Fixed, Register};
use need::Need;

pub use config::{Config, Matrix, Sizes, source};

/// A GPU with a problem on it.
pub struct Gpu<'a> {
    h: &'a Hydro,
    pub name: String,
    session: Session,
    kernels: Kernels,
    config: Config,
    first: Config,
    full: bool,
    fixed: Fixed,
    states: [Register; 2],
    rates: Vec<Register>,
    /// The time step, then the largest rate as it is raised.
    control: Memory,
    program: Vec<Op>,
    graph: Option<Graph>,
    /// Whether parts are timed one by one, without a graph.
    pub profile: bool,
    host: Option<Host>,
    /// Forces of the state when a solve alone was first measured.
    kept: Option<Memory>,
    ode: Ode,
    compiler: Compiler,
    arch: String,
    processors: u32,
    shared: usize,
    spent: Spent,
}

/// Shared memory that a block of a GPU may have.
fn shared_bytes(gpu: &Found) -> usize {
    gpu.named()
        .iter()
        .find(|f| f.0 == "shared_bytes_per_block")
        .map_or(48 << 10, |f| f.1 as usize)
}

fn wrong(e: &CudaError) -> HydroError {
    HydroError(e.words())
}

type Done = Result<(), CudaError>;

impl<'a> Gpu<'a> {
    /// Takes a GPU by its number, with choices of the kernels such as `zones=2`.
    ///
    /// # Errors
    /// No driver, compiler or GPU, not enough memory, invalid choices, or zones that are no products of segments.
    pub fn open(
        h: &'a Hydro,
        ordinal: usize,
        ode: Ode,
        full: bool,
        choices: &str,
    ) -> Result<Self, HydroError> {
        let e = &h.space.element;
        if !e.shape.tensor() {
            return Err(HydroError(format!(
                "GPUs take quadrilaterals and hexahedra: take --device cpu for a {:?}",
                e.shape
            )));
        }
        h.consistent()?;
        let gpu = Found::numbered(ordinal).map_err(|e| wrong(&e))?;
        let shared = shared_bytes(&gpu);
        let config = Config::default_for(e, shared)
            .with(choices)
            .map_err(|e| HydroError(format!("--kernels {e}")))?;
        config.check(e, shared).map_err(HydroError)?;
        // What is worked with other velocities must be stored.
        let stored = full || ode == Ode::Rk2avg;
        let config = Config {
            fused: config.fused && !stored,
            ..config
        };
        let session = Session::open(gpu.ordinal).map_err(|e| wrong(&e))?;
        let csr = full.then(|| Csr::of_mass(h));
        let need = Need::of(h, !config.fused, csr.as_ref(), ode.rates());
        need.check(session.free_bytes().map_err(|e| wrong(&e))?)
            .map_err(HydroError)?;
        Self::held(h, (&gpu, session), ode, csr.as_ref(), config).map_err(|e| wrong(&e))
    }

    fn held(
        h: &'a Hydro,
        (gpu, session): (&Found, Session),
        ode: Ode,
        csr: Option<&Csr>,
        config: Config,
    ) -> Result<Self, CudaError> {
        let compiler = Compiler::new(cubins().as_deref())?;
        let full = csr.is_some();
        let stored = full || ode == Ode::Rk2avg;
        let processors = gpu.multiprocessors as u32;
        let kernels = built(
            (&compiler, &session, &gpu.arch),
            h,
            &config,
            stored,
            processors,
        )?;
        let fixed = Fixed::new(&session, h, !config.fused, csr, kernels.resident)?;
        let register = || Register::new(&session, h);
        let mut out = Self {
            name: gpu.name.clone(),
            kernels,
            config,
            first: config,
            full,
            fixed,
            states: [register()?, register()?],
            rates: (0..ode.rates())
                .map(|_| register())
                .collect::<Result<_, _>>()?,
            control: session.doubles(&[0.0; 2])?,
            program: ode.program(),
            graph: None,
            profile: false,
            host: None,
            kept: None,
            ode,
            compiler,
            arch: gpu.arch.clone(),
            processors,
            shared: shared_bytes(gpu),
            spent: Spent::default(),
            session,
            h,
        };
        out.gravity()?;
        Ok(out)
    }

    /// The mass matrix times gravity, by a solve of no iterations that begins from the image.
    fn gravity(&mut self) -> Done {
        let Some(g) = self.h.gravity else {
            return Ok(());
        };
        let s = &self.h.space;
        let field: Vec<f64> = (0..s.dim).flat_map(|c| vec![g[c]; s.nodes]).collect();
        let mut image = vec![0.0; field.len()];
        Csr::of_mass(self.h).multiply(&field, &mut image);
        self.fixed.gravity = Some(self.session.doubles(&image)?);
        Ok(())
    }
}
