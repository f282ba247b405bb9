//! Zones that the CPU computes while the GPU computes the others.

use super::memory::{Fixed, Register};
use crate::HydroError;
use crate::cpu::Corner;
use crate::hydro::Hydro;
use crate::tuning::balance::Balance;
use greenup_device::HostIsa;
use greenup_device::cuda::{CudaError, Memory};
use greenup_device::memory::{bytes, bytes_mut};
use std::time::Instant;

/// The last zones of a problem, which the CPU computes.
pub(super) struct HostZones {
    /// First of these zones.
    pub from: usize,
    /// Their first node.
    first: usize,
    /// Largest rate of the step.
    pub rate: f64,
    corner: Corner,
    x: Vec<f64>,
    v: Vec<f64>,
    e: Vec<f64>,
    right: Vec<f64>,
    own: Vec<f64>,
    by_zone: Vec<f64>,
    /// Load balance between GPU and CPU.
    pub balance: Balance,
    /// Times in the current period, s: GPU, CPU (in parallel), and copies for which the GPU waits.
    pub took: [f64; 3],
}

impl HostZones {
    /// Splits the zones by the share of the GPU.
    ///
    /// # Errors
    /// The zones are not tensor products.
    pub fn new(h: &Hydro, balance: Balance) -> Result<Self, HydroError> {
        let (s, e) = (&h.space, &h.space.element);
        let from = ((balance.share() * s.zones as f64).round() as usize).clamp(1, s.zones - 1);
        let corner = Corner::new(h, HostIsa::best(), false, from..s.zones)?;
        let first = s.of_zone[from * e.local..]
            .iter()
            .min()
            .copied()
            .unwrap_or(0);
        let nodes = vec![0.0; s.dim * s.nodes];
        let energies = vec![0.0; s.zones * e.energies];
        Ok(Self {
            from,
            first: first as usize,
            rate: 0.0,
            own: vec![0.0; corner.forces_len()],
            by_zone: vec![0.0; (s.zones - from) * e.local * s.dim],
            corner,
            x: nodes.clone(),
            v: nodes,
            right: energies.clone(),
            e: energies,
            balance,
            took: [0.0; 3],
        })
    }

    /// Downloads the part of a state that these zones need.
    pub fn fetch(&mut self, h: &Hydro, s: &Register) -> Result<(), CudaError> {
        let begin = Instant::now();
        let n = h.space.nodes;
        for c in 0..h.space.dim {
            let part = c * n + self.first..(c + 1) * n;
            s.x.download_from(8 * part.start, bytes_mut(&mut self.x[part.clone()]))?;
            s.v.download_from(8 * part.start, bytes_mut(&mut self.v[part]))?;
        }
        let first = self.from * h.space.element.energies;
        s.e.download_from(8 * first, bytes_mut(&mut self.e[first..]))?;
        self.took[2] += begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// Computes stresses, forces and work, while the GPU computes its zones.
    pub fn compute(&mut self) {
        let begin = Instant::now();
        let rate = self.corner.stresses(&self.x, &self.v, &self.e);
        self.rate = self.rate.max(rate);
        self.corner.forces(&mut self.own);
        self.corner.by_zone(&self.own, &mut self.by_zone);
        self.corner.work(&self.v, None, &mut self.right);
        self.took[1] += begin.elapsed().as_secs_f64();
    }

    /// Uploads forces and work, after the GPU has finished its zones.
    pub fn give(&mut self, h: &Hydro, f: &Fixed) -> Result<(), CudaError> {
        let begin = Instant::now();
        let e = &h.space.element;
        let put = |m: &Memory, from: usize, x: &[f64]| m.upload_at(8 * from, bytes(x));
        put(
            &f.zone_forces,
            self.from * e.local * h.space.dim,
            &self.by_zone,
        )?;
        let first = self.from * e.energies;
        put(&f.right, first, &self.right[first..])?;
        self.took[2] += begin.elapsed().as_secs_f64();
        Ok(())
    }
}
