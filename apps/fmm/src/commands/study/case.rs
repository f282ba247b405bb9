//! A case of `fmm study`: an evaluation, measured some times.

use crate::commands::input::{Input, PrecisionArg};
use crate::commands::measure::measured;
use crate::options::M2l;
use crate::plan::Plan;
use crate::precision::Real;
use crate::session::engines::engine;
use greenup_app::Result;
use greenup_app::study::{self, Found};
use greenup_device::DeviceSpec;
use greenup_meter::Meter;
use greenup_space::Value;
use std::sync::Arc;
use std::time::Instant;

/// What differs between cases, and the names of its values in a sweep.
pub const PARAMETERS: [&str; 6] = ["points", "n", "ncrit", "precision", "accuracy", "gradient"];

/// An evaluation.
pub struct Case {
    pub input: Input,
    pub device: DeviceSpec,
    pub ncrit: usize,
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

    /// Measures time and energy some times; the trial tells all.
    pub fn measure(&self, meter: &mut Meter, repeat: usize) -> Found<()> {
        match self.input.precision {
            PrecisionArg::F32 => self.measured::<f32>(meter, repeat),
            PrecisionArg::F64 => self.measured::<f64>(meter, repeat),
        }
    }

    fn measured<R: Real>(&self, meter: &mut Meter, repeat: usize) -> Found<()> {
        let begun = Instant::now();
        let l = self.input.load()?;
        let options = self.input.options(self.ncrit, M2l::Fft);
        let plan = Plan::<R>::new(&l.sources, None, &options)?;
        let (mut engine, _) = engine(Arc::new(plan), &self.device, "")?;
        engine.evaluate(&l.charges)?;
        let built = begun.elapsed();
        let all = (0..repeat.max(1))
            .map(|_| measured(meter, &mut *engine))
            .collect::<Result<Vec<_>>>()?;
        let mut trial = study::trial(self.config(), &all);
        trial.build_s = built.as_secs_f64();
        Ok(Some(vec![(trial, ())]))
    }
}

impl study::Case for Case {
    fn name(&self) -> String {
        self.arguments().join(" ")
    }

    fn configs(&self) -> Vec<Vec<Value>> {
        vec![self.config()]
    }
}
