//! Evaluations in two steps, between which ranks exchange equivalent charges.

use super::Gpu;
use crate::FmmError;
use crate::engine::{PhaseTimes, Steps};
use crate::precision::Real;
use greenup_device::cuda::Backend;
use std::time::Instant;

impl<R: Real, B: Backend> Steps<R> for Gpu<R, B> {
    fn begin(&mut self, fill: &mut dyn FnMut(&mut [R]), sent: &mut Vec<R>) -> Result<(), FmmError> {
        let (mut phases, start) = (PhaseTimes::default(), Instant::now());
        let charges = self.plan.sources[0].len() * self.plan.options.kernel.inputs();
        let staged = self.staging.values::<R>(charges)?;
        fill(staged);
        let filled = Instant::now();
        self.backend.upload(self.layout.charges, staged)?;
        phases.permutation_s = (filled - start).as_secs_f64();
        phases.transfers_s = filled.elapsed().as_secs_f64();
        let laps = &mut self.laps(true);
        self.first(laps, &mut phases)?;
        self.pack_sent()?;
        laps.lap(&mut phases.permutation_s)?;
        let start = Instant::now();
        let values = self.plan.sent().len() * self.plan.surface_values();
        let staged = self.staging.values::<R>(values)?;
        self.backend.download(self.layout.sent.values, staged)?;
        sent.clear();
        sent.extend_from_slice(staged);
        phases.transfers_s += start.elapsed().as_secs_f64();
        self.phases = phases;
        Ok(())
    }

    fn finish(&mut self, received: &[R], take: &mut dyn FnMut(&[R])) -> Result<(), FmmError> {
        let (mut phases, start) = (self.phases, Instant::now());
        let staged = self.staging.values::<R>(received.len())?;
        staged.copy_from_slice(received);
        self.backend.upload(self.layout.received.values, staged)?;
        phases.transfers_s += start.elapsed().as_secs_f64();
        self.rest(&mut self.laps(true), &mut phases)?;
        let start = Instant::now();
        let o = &self.plan.options;
        let values = self.plan.share.len() * o.kernel.outputs(o.gradient);
        let staged = self.staging.values::<R>(values)?;
        self.backend.download(self.layout.out, staged)?;
        let copied = Instant::now();
        take(staged);
        phases.transfers_s += (copied - start).as_secs_f64();
        phases.permutation_s += copied.elapsed().as_secs_f64();
        self.phases = phases;
        Ok(())
    }
}
