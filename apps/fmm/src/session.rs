//! A plan and its engine, as the `fmm` command makes them, for other programs.

use crate::commands::device;
use crate::commands::input::{PrecisionArg, default_ncrit};
use crate::engine::{Engine, PhaseTimes};
use crate::memory;
use crate::options::{M2l, Options};
use crate::plan::Plan;
use crate::points::Points;
use crate::precision::Real;
use crate::{FmmError, kernel::Kernel};
use greenup_app::args::Device;
use greenup_app::{AppError, Result};
use std::sync::Arc;

/// What a session computes, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// Interaction kernel.
    pub kernel: Kernel,
    /// Relative L2 error.
    pub accuracy: f64,
    /// Whether gradients are computed too.
    pub gradient: bool,
    /// Whether the computation is in single precision.
    pub single: bool,
    /// Maximum number of points per leaf; `None`: by device and precision.
    pub ncrit: Option<usize>,
    /// Surface order p; `None`: by the accuracy.
    pub order: Option<usize>,
    /// `cpu`, `cuda`, `cuda:N`, or `cuda+cpu`.
    pub device: String,
}

/// A plan with the memory of its evaluation. GPU sessions stay on their thread.
pub struct Session {
    engine: Box<dyn Engine>,
    device: String,
    order: usize,
    ncrit: usize,
    setup_s: f64,
}

impl Session {
    /// Plans the sums at `targets`, or at the sources themselves, and opens the device.
    ///
    /// # Errors
    /// As of [`Plan::new`]; the device is invalid or not there.
    pub fn new(sources: &Points, targets: Option<&Points>, request: &Request) -> Result<Self> {
        match request.single {
            true => Self::of::<f32>(sources, targets, request),
            false => Self::of::<f64>(sources, targets, request),
        }
    }

    fn of<R: Real>(sources: &Points, targets: Option<&Points>, r: &Request) -> Result<Self> {
        let device: Device = r.device.parse()?;
        let precision = match r.single {
            true => PrecisionArg::F32,
            false => PrecisionArg::F64,
        };
        let options = Options {
            kernel: r.kernel,
            tolerance: r.accuracy,
            gradient: r.gradient,
            ncrit: r
                .ncrit
                .unwrap_or_else(|| default_ncrit(device.gpu().is_some(), precision, r.gradient)),
            m2l: M2l::Fft,
            order: r.order,
        };
        if !(r.accuracy > 0.0 && r.accuracy < 1.0) {
            return Err(AppError::new(format!(
                "invalid accuracy {}: it must lie between 0 and 1",
                r.accuracy
            )));
        }
        let count = targets.map_or(sources, |t| t).len();
        memory::check_points::<R>(r.kernel, r.gradient, sources.len(), count)?;
        let plan = Arc::new(Plan::<R>::new(sources, targets, &options)?);
        let (order, setup_s) = (plan.order(), plan.setup_times().total_s());
        let (engine, device) = device::any_engine(plan, device, "")?;
        Ok(Self {
            engine,
            device,
            order,
            ncrit: options.ncrit,
            setup_s,
        })
    }

    /// Results at the targets, as of [`Engine::evaluate`].
    ///
    /// # Errors
    /// As of [`Engine::evaluate`].
    pub fn evaluate(&mut self, charges: &[f64]) -> std::result::Result<Vec<f64>, FmmError> {
        self.engine.evaluate(charges)
    }

    /// Seconds of the phases of the last evaluation.
    pub fn phases(&self) -> PhaseTimes {
        self.engine.phases()
    }

    /// Name of the device, or the instruction set of the CPU.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Surface order p.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Maximum number of points per leaf.
    pub fn ncrit(&self) -> usize {
        self.ncrit
    }

    /// Seconds of the plan's set-up.
    pub fn setup_s(&self) -> f64 {
        self.setup_s
    }
}
