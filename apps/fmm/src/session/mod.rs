//! A plan and its engine, for programs: the command `fmm` opens the same engines.

pub(crate) mod engines;

use crate::check::{in_range, verify};
use crate::engine::{Engine, PhaseTimes};
use crate::memory;
use crate::options::{M2l, Options, default_ncrit};
use crate::plan::{Plan, checked};
use crate::points::Points;
use crate::precision::Real;
use crate::{FmmError, kernel::Kernel};
use greenup_app::{AppError, Result};
use greenup_device::{DeviceSpec, Usable};
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
    /// The CPU, a GPU, or a GPU and the cores.
    pub device: DeviceSpec,
}

impl Request {
    /// Checks what needs no points but their numbers: the device, the accuracy, the orders, and the memory of a sum.
    ///
    /// # Errors
    /// One of them is invalid, or there is not enough memory.
    pub fn check(&self, sources: usize, targets: usize) -> Result {
        if self.single {
            self.options::<f32>(sources, targets)
        } else {
            self.options::<f64>(sources, targets)
        }
        .map(drop)
    }

    /// The same; returns the options of the plan.
    fn options<R: Real>(&self, sources: usize, targets: usize) -> Result<Options> {
        Usable::SHARED.check(&self.device)?;
        let options = Options {
            kernel: self.kernel,
            tolerance: self.accuracy,
            gradient: self.gradient,
            ncrit: self
                .ncrit
                .unwrap_or_else(|| default_ncrit::<R>(self.device.is_gpu(), self.gradient)),
            m2l: M2l::Fft,
            order: self.order,
        };
        if !(self.accuracy > 0.0 && self.accuracy < 1.0) {
            return Err(AppError::new(format!(
                "invalid accuracy {:e}: use a number between 0 and 1, such as 1e-6",
                self.accuracy
            )));
        }
        checked::<R>(&options)?;
        memory::check_points::<R>(self.kernel, self.gradient, sources, targets)?;
        Ok(options)
    }
}

/// A plan with the memory of its evaluation. GPU sessions stay on their thread.
pub struct Session {
    engine: Box<dyn Engine>,
    device: String,
    order: usize,
    ncrit: usize,
    setup_s: f64,
    /// Half width of the root cube, in the units of the points.
    unit: f64,
    options: Options,
    sources: Points,
    targets: Option<Points>,
    verify: Verify,
}

/// [`verify`] in the precision of a session.
type Verify = fn(&Options, (&Points, &[f64]), &Points, &[f64]) -> std::result::Result<(), FmmError>;

impl Session {
    /// Plans the sums at `targets`, or at the sources themselves, and opens the device.
    ///
    /// # Errors
    /// As of [`Plan::new`]; the device is invalid or not there.
    pub fn new(sources: Points, targets: Option<Points>, request: &Request) -> Result<Self> {
        if request.single {
            Self::of::<f32>(sources, targets, request)
        } else {
            Self::of::<f64>(sources, targets, request)
        }
    }

    fn of<R: Real>(sources: Points, targets: Option<Points>, r: &Request) -> Result<Self> {
        let count = targets.as_ref().unwrap_or(&sources).len();
        let options = r.options::<R>(sources.len(), count)?;
        let plan = Arc::new(Plan::<R>::new(&sources, targets.as_ref(), &options)?);
        let (order, setup_s) = (plan.order(), plan.setup_times().total_s());
        let unit = plan.unit;
        let (engine, device) = engines::any_engine(plan, &r.device, "")?;
        Ok(Self {
            engine,
            device,
            order,
            ncrit: options.ncrit,
            setup_s,
            unit,
            options,
            sources,
            targets,
            verify: verify::<R>,
        })
    }

    /// Results at the targets, as of [`Engine::evaluate`].
    ///
    /// # Errors
    /// As of [`Engine::evaluate`]; results are beyond the range of numbers, or less accurate than asked for.
    pub fn evaluate(&mut self, charges: &[f64]) -> std::result::Result<Vec<f64>, FmmError> {
        let out = self.engine.evaluate(charges)?;
        in_range(&self.options, &out, self.unit)?;
        // A surface order that is asked for has the accuracy that it has.
        if self.options.order.is_none() {
            let from = (&self.sources, charges);
            let at = self.targets.as_ref().unwrap_or(&self.sources);
            (self.verify)(&self.options, from, at, &out)?;
        }
        Ok(out)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(size: f64, charge: f64, gradient: bool) -> std::result::Result<Vec<f64>, FmmError> {
        let points: Points = [[size; 3], [-size; 3]].into_iter().collect();
        let request = Request {
            kernel: Kernel::Laplace,
            accuracy: 1e-6,
            gradient,
            single: false,
            ncrit: None,
            order: None,
            device: DeviceSpec::Cpu,
        };
        let mut session = Session::new(points, None, &request).unwrap();
        session.evaluate(&[charge; 2])
    }

    #[test]
    fn results_beyond_the_range_of_numbers_are_refused() {
        let one = 1.0 / (4.0 * std::f64::consts::PI * 12f64.sqrt());
        for (size, charge) in [(1.0, 1.0), (1e308, 1.0), (1e-300, 1.0), (1e-300, 1e-300)] {
            let found = at(size, charge, false).unwrap();
            assert!((found[0] / charge * size / one - 1.0).abs() < 1e-6);
        }
        assert!(at(1e150, 1.0, true).is_ok());
        assert!(at(1.0, 0.0, true).unwrap().iter().all(|x| *x == 0.0));
        for (size, charge, gradient, what) in [
            (1e308, 1.0, true, "the gradients"),
            (1e-200, 1.0, true, "the gradients"),
            (1e-308, 1e300, false, "the sums"),
            (1e300, 1e-20, false, "the sums"),
        ] {
            let e = at(size, charge, gradient).unwrap_err().to_string();
            assert!(e.starts_with(what), "{size} {charge}: {e}");
        }
    }
}
