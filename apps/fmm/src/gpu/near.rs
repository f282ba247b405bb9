//! U lists alone, while the host's cores evaluate the others.

use super::Gpu;
use crate::FmmError;
use crate::precision::Real;
use greenup_device::cuda::Backend;
use rayon::prelude::*;
use std::time::Instant;

/// Seconds of an evaluation of U lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearTimes {
    /// Copies to and from the GPU.
    pub transfers_s: f64,
    /// Permuting the charges.
    pub permutation_s: f64,
    /// P2P.
    pub p2p_s: f64,
    /// Its end.
    pub p2p_end: Instant,
}

impl NearTimes {
    /// All of them.
    pub fn total_s(&self) -> f64 {
        self.transfers_s + self.permutation_s + self.p2p_s
    }
}

impl<R: Real, B: Backend> Gpu<R, B> {
    /// Puts the charges, in this unit, into the memory from which they are copied.
    pub(crate) fn stage(&mut self, charges: &[f64], unit: f64) -> Result<(), FmmError> {
        let staged = self.staging.values::<R>(charges.len())?;
        (staged.par_iter_mut().zip(charges))
            .with_min_len(1 << 14)
            .for_each(|(to, q)| *to = R::of(q / unit));
        Ok(())
    }

    /// Evaluates the U lists of the staged charges: sums in the order of the boxes, without the kernel's factor.
    pub(crate) fn near(&mut self) -> Result<(&[R], NearTimes), FmmError> {
        let start = Instant::now();
        let charges = self.plan.sources[0].len() * self.plan.options.kernel.inputs();
        let staged = self.staging.values::<R>(charges)?;
        self.backend.upload(self.layout.charges, staged)?;
        let mut transfers_s = start.elapsed().as_secs_f64();
        let (mut permutation_s, mut p2p_s) = (0.0, 0.0);
        let laps = &mut self.laps(true);
        self.permute_charges()?;
        laps.lap(&mut permutation_s)?;
        self.sum_near()?;
        laps.lap(&mut p2p_s)?;
        let p2p_end = Instant::now();
        let staged = self.staging.values::<R>(self.near_values())?;
        self.backend.download(self.layout.out, staged)?;
        transfers_s += p2p_end.elapsed().as_secs_f64();
        let times = NearTimes {
            transfers_s,
            permutation_s,
            p2p_s,
            p2p_end,
        };
        Ok((staged, times))
    }

    /// Repeats the last [`Gpu::near`] without copies.
    pub(crate) fn repeat_near(&self) -> Result<(), FmmError> {
        self.sum_near()?;
        Ok(self.backend.wait()?)
    }

    fn sum_near(&self) -> Result<(), FmmError> {
        self.clear(self.layout.out, self.near_values())?;
        Ok(self.p2p()?)
    }

    fn near_values(&self) -> usize {
        let o = &self.plan.options;
        self.plan.share.len() * o.kernel.outputs(o.gradient)
    }
}
