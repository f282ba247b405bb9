//! The engine on a CUDA GPU: all data stay on the GPU, and a step is one CUDA graph.
//!
//! | module | contents |
//! |---|---|
//! | `config`, `kernels` | tuning parameters of the kernels, their source, compilation |
//! | [`wisdom`] | tuning parameters of the nearest device |
//! | `memory` | data of a problem on the GPU |
//! | `requirements` | memory requirements, checked before allocation |
//! | `arguments`, `launches` | kernel launches for the parts of a step |
//! | `steps` | whole steps, online tuning and load balance |
//! | `host_zones` | zones that the CPU computes |
//! | `ranks` | zones shared with the GPUs of other ranks |

mod arguments;
mod config;
mod host_zones;
mod kernels;
mod launches;
mod memory;
mod ranks;
mod requirements;
mod steps;
pub mod wisdom;

use crate::HydroError;
use crate::engine::Timings;
use crate::fem::mass_matrix::Csr;
use crate::hydro::Hydro;
use crate::time::integrator::{Ode, Op};
use greenup_device::cuda::{Compiler, CudaError, Gpu as CudaGpu, Graph, Memory, Session, cubins};
use greenup_setting::setting;
use host_zones::HostZones;
use kernels::{Kernels, built};
use memory::{Done, Fixed, Register};
use ranks::GpuTeam;
use requirements::Requirements;
use std::sync::Arc;

pub use config::{Config, Matrix, Sizes, source, source_of_rank};
pub use ranks::RankPart;

/// An engine on a GPU.
pub struct Gpu {
    /// Dropped first: kernels of other GPUs may wait for this one.
    team: Option<GpuTeam>,
    h: Arc<Hydro>,
    /// Product name of the GPU.
    pub name: String,
    session: Session,
    kernels: Kernels,
    config: Config,
    first: Config,
    full: bool,
    fixed: Fixed,
    states: [Register; 2],
    rates: Vec<Register>,
    /// The time step, and the running maximum of the rate.
    control: Memory,
    program: Vec<Op>,
    graph: Option<Graph>,
    /// Whether to launch and time each part of a step, without a graph.
    pub profile: bool,
    host: Option<HostZones>,
    /// Forces of the state, saved for repeated measurements of the solve alone.
    kept: Option<Memory>,
    ode: Ode,
    compiler: Compiler,
    arch: String,
    processors: u32,
    shared: usize,
    timings: Timings,
}

/// Maximum shared memory per block of a GPU, bytes.
fn shared_bytes(gpu: &CudaGpu) -> usize {
    gpu.named()
        .iter()
        .find(|f| f.0 == "shared_bytes_per_block")
        .map_or(48 << 10, |f| f.1 as usize)
}

impl Gpu {
    /// Opens GPU number `ordinal` for a problem, with full or partial assembly and tuning parameters of the kernels
    /// such as `zones=2`.
    ///
    /// # Errors
    /// There is no driver, compiler or GPU, memory is insufficient, a parameter is invalid, or the zones are not tensor
    /// products.
    pub fn open(
        h: Arc<Hydro>,
        ordinal: usize,
        ode: Ode,
        full: bool,
        parameters: &str,
    ) -> Result<Self, HydroError> {
        Self::open_part(h, ordinal, ode, full, parameters, None)
    }

    /// As [`Gpu::open`], for the part of a rank among several; all ranks call it.
    ///
    /// # Errors
    /// As [`Gpu::open`].
    pub fn open_part(
        h: Arc<Hydro>,
        ordinal: usize,
        ode: Ode,
        full: bool,
        parameters: &str,
        part: Option<&RankPart>,
    ) -> Result<Self, HydroError> {
        let e = h.space.element.clone();
        let e = &e;
        if !e.shape.tensor() {
            return Err(HydroError::Device(format!(
                "GPUs need quadrilaterals or hexahedra: use {} for a {:?}",
                setting("device").to("cpu"),
                e.shape
            )));
        }
        h.consistent()?;
        let gpu = CudaGpu::numbered(ordinal)?;
        let shared = shared_bytes(&gpu);
        let wrong =
            |e: config::ConfigError| HydroError::Device(format!("{} {e}", setting("kernels")));
        let config = Config::default_for(e, shared)
            .with(parameters)
            .map_err(wrong)?;
        config.check(e, shared).map_err(wrong)?;
        // Stresses are stored if work is computed with other velocities.
        let stored = full || ode == Ode::Rk2avg;
        let config = Config {
            fused: config.fused && !stored,
            ..config
        };
        let session = Session::open(gpu.ordinal)?;
        if part.is_some() && u32::try_from(2 * h.space.shares.len()).is_err() {
            return Err(HydroError::Device(format!(
                "{} zones of order {} are too many for the GPU of one rank: use more GPUs, or a smaller {}",
                h.space.zones,
                e.order,
                setting("refine")
            )));
        }
        let csr = full.then(|| Csr::of_mass(&h));
        let need = Requirements::of(&h, !config.fused, csr.as_ref(), ode.rates());
        need.check(session.free_bytes()?)?;
        Ok(Self::load(
            h,
            (&gpu, session),
            ode,
            csr.as_ref(),
            config,
            part,
        )?)
    }

    fn load(
        h: Arc<Hydro>,
        (gpu, session): (&CudaGpu, Session),
        ode: Ode,
        csr: Option<&Csr>,
        config: Config,
        part: Option<&RankPart>,
    ) -> Result<Self, CudaError> {
        let compiler = Compiler::new(cubins().as_deref())?;
        let full = csr.is_some();
        let stored = full || ode == Ode::Rk2avg;
        let processors = gpu.multiprocessors as u32;
        let kernels = built(
            (&compiler, &session, &gpu.arch),
            &h,
            &config,
            (stored, part.is_some()),
            processors,
        )?;
        let fixed = Fixed::new(&session, &h, !config.fused, csr, (kernels.resident, part))?;
        let team = part
            .map(|part| GpuTeam::join((part, &h), (gpu, &session), &fixed, config.peer))
            .transpose()?;
        let register = || Register::new(&session, &h);
        let mut out = Self {
            team,
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
            timings: Timings::default(),
            session,
            h,
        };
        match part {
            Some(part) => {
                let image = part.gravity.as_ref().map(|g| out.session.doubles(g));
                out.fixed.gravity = image.transpose()?;
            }
            None => out.gravity()?,
        }
        Ok(out)
    }

    /// How it exchanges with the GPUs of other ranks.
    pub fn exchange(&self) -> Option<&'static str> {
        self.team.as_ref().map(GpuTeam::name)
    }

    /// Uploads the product of the mass matrix and gravity.
    fn gravity(&mut self) -> Done {
        let Some(g) = self.h.gravity else {
            return Ok(());
        };
        let s = &self.h.space;
        let field: Vec<f64> = (0..s.dim).flat_map(|c| vec![g[c]; s.nodes]).collect();
        let mut image = vec![0.0; field.len()];
        Csr::of_mass(&self.h).multiply(&field, &mut image);
        self.fixed.gravity = Some(self.session.doubles(&image)?);
        Ok(())
    }
}
