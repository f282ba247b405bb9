//! What `fmm study` measures.

use super::StudyArgs;
use crate::commands::input::{Input, KernelName, PrecisionArg};
use crate::commands::measure::measured;
use crate::options::M2l;
use crate::plan::Plan;
use crate::points::Distribution;
use crate::precision::Real;
use crate::session::engines::engine;
use greenup_app::{AppError, Result, study};
use greenup_device::DeviceSpec;
use greenup_meter::Meter;
use greenup_space::Value;
use greenup_tune::sweep::Trial;
use std::sync::Arc;
use std::time::Instant;

/// Distribution, number of points, ncrit.
const INPUTS: &[(Distribution, usize, usize)] = &[
    (Distribution::Cube, 250_000, 128),
    (Distribution::Cube, 250_000, 1024),
    (Distribution::Cube, 1_000_000, 64),
    (Distribution::Cube, 1_000_000, 384),
    (Distribution::Plummer, 250_000, 96),
    (Distribution::Plummer, 1_000_000, 256),
    (Distribution::Sphere, 500_000, 128),
    (Distribution::Clusters, 1_000_000, 192),
];

/// Precision, accuracy, gradients.
const SETTINGS: &[(PrecisionArg, f64, bool)] = &[
    (PrecisionArg::F32, 1e-4, false),
    (PrecisionArg::F64, 1e-6, false),
    (PrecisionArg::F32, 1e-3, true),
    (PrecisionArg::F64, 1e-6, true),
];

/// Seed of points and charges.
pub const SEED: u64 = 1;

/// What differs between cases, and the names of its values in a sweep.
pub const PARAMETERS: [&str; 6] = ["points", "n", "ncrit", "precision", "accuracy", "gradient"];

/// An evaluation.
pub struct Case {
    input: Input,
    device: DeviceSpec,
    ncrit: usize,
}

fn name<T: clap::ValueEnum>(x: &T) -> String {
    x.to_possible_value()
        .map_or_else(String::new, |v| v.get_name().to_owned())
}

impl Case {
    /// Values of [`PARAMETERS`].
    pub fn config(&self) -> Vec<Value> {
        vec![
            Value::Str(name(&self.input.distribution)),
            Value::Int(self.input.n as i64),
            Value::Int(self.ncrit as i64),
            Value::Str(name(&self.input.precision)),
            Value::Float(self.input.accuracy()),
            Value::Bool(self.input.gradient),
        ]
    }

    /// Of `fmm run`, for one evaluation.
    pub fn arguments(&self) -> Vec<String> {
        let i = &self.input;
        let line = format!(
            "run --distribution {} -n {} --ncrit {} --precision {} -a {:e} --device {}{}",
            name(&i.distribution),
            i.n,
            self.ncrit,
            name(&i.precision),
            i.accuracy(),
            self.device,
            if i.gradient { " --gradient" } else { "" }
        );
        line.split(' ').map(str::to_owned).collect()
    }

    /// Measures time and energy some times.
    pub fn measure(&self, meter: &mut Meter, repeat: usize) -> Result<Trial> {
        match self.input.precision {
            PrecisionArg::F32 => self.measured::<f32>(meter, repeat),
            PrecisionArg::F64 => self.measured::<f64>(meter, repeat),
        }
    }

    fn measured<R: Real>(&self, meter: &mut Meter, repeat: usize) -> Result<Trial> {
        let begun = Instant::now();
        let l = self.input.load()?;
        let options = self.input.options(self.ncrit, M2l::Fft);
        let plan = Plan::<R>::new(&l.sources, None, &options)?;
        let (mut engine, _) = engine(Arc::new(plan), &self.device, "")?;
        engine.evaluate(&l.charges)?;
        let built = Instant::now();
        let all = (0..repeat.max(1))
            .map(|_| measured(meter, &mut *engine))
            .collect::<Result<Vec<_>>>()?;
        let took = (built - begun, built.elapsed());
        Ok(study::trial(self.config(), &all, took))
    }
}

/// The cases that the user wants.
/// # Errors
/// The scale is invalid, or no case is left.
pub fn cases(args: &StudyArgs) -> Result<Vec<Case>> {
    if !(args.scale.is_finite() && args.scale > 0.0) {
        let why = format!("invalid --scale {}: use a factor above 0", args.scale);
        return Err(AppError::new(why));
    }
    let case = |(precision, accuracy, gradient), (distribution, n, ncrit)| Case {
        ncrit,
        device: args.device.of_rank((0, 1), 1),
        input: Input {
            points: None,
            targets: None,
            distribution,
            n: ((n as f64 * args.scale) as usize).max(1),
            seed: SEED,
            kernel: KernelName::Laplace,
            kappa: None,
            k: None,
            mu: None,
            accuracy: Some(accuracy),
            gradient,
            precision,
            order: None,
            threads: Default::default(),
        },
    };
    let wanted: Vec<Case> = (SETTINGS.iter())
        .flat_map(|s| INPUTS.iter().map(move |i| case(*s, *i)))
        .take(args.first.unwrap_or(usize::MAX))
        .skip(args.skip)
        .collect();
    if wanted.is_empty() {
        let all = SETTINGS.len() * INPUTS.len();
        let first = args.first.unwrap_or(all).min(all);
        let why = format!("no case is left of the first {first} without {}", args.skip);
        return Err(AppError::new(why).hint(format!("there are {all} cases")));
    }
    Ok(wanted)
}
