//! Evaluation on a GPU and the host's cores at the same time: U lists (P2P), which are compute bound, on the GPU; the tree,
//! with its V, W and X lists, on the cores. `ncrit` moves work from one to the other (thesis, §6.1); `balance` chooses it.

mod balance;

pub use balance::{FIRST_NCRIT, Trial, balance};

use crate::FmmError;
use crate::cpu::Cpu;
use crate::engine::{Engine, PhaseTimes};
use crate::gpu::{Config, Gpu, Lists};
use crate::plan::Plan;
use crate::precision::Real;
use greenup_device::cuda::{Backend, GpuBackend};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// Seconds of both sides of an evaluation.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sides {
    /// The host's cores: ordering the charges, and all phases but P2P.
    pub cpu_s: f64,
    /// The GPU: P2P with its copies.
    pub gpu_s: f64,
}

impl Sides {
    /// Seconds of the slower side.
    pub fn longest_s(&self) -> f64 {
        self.cpu_s.max(self.gpu_s)
    }
}

/// A plan on a GPU and the host's cores.
pub struct Hybrid<R: Real, B: Backend = GpuBackend> {
    plan: Arc<Plan<R>>,
    cpu: Cpu<R>,
    gpu: Gpu<R, B>,
    phases: PhaseTimes,
    sides: Sides,
}

impl<R: Real> Hybrid<R> {
    /// Opens a GPU by its number.
    ///
    /// # Errors
    /// No driver, compiler or GPU; not enough memory.
    pub fn open(plan: Arc<Plan<R>>, ordinal: usize, config: Config) -> Result<Self, FmmError> {
        let gpu = Gpu::open_for(Arc::clone(&plan), ordinal, config, Lists::U)?;
        Ok(Self::of(plan, gpu))
    }

    /// Name of the GPU.
    pub fn gpu_name(&self) -> &str {
        self.gpu.name()
    }
}

impl<R: Real, B: Backend> Hybrid<R, B> {
    /// Puts the U lists of a plan on a backend.
    ///
    /// # Safety
    /// The backend has the kernels of [`source`](crate::gpu::source) for this plan and config.
    ///
    /// # Errors
    /// Not enough memory.
    pub unsafe fn on(backend: B, plan: Arc<Plan<R>>, config: Config) -> Result<Self, FmmError> {
        // SAFETY: the caller's promise.
        let gpu = unsafe { Gpu::on_for(backend, Arc::clone(&plan), config, Lists::U) }?;
        Ok(Self::of(plan, gpu))
    }

    fn of(plan: Arc<Plan<R>>, gpu: Gpu<R, B>) -> Self {
        Self {
            cpu: Cpu::new(Arc::clone(&plan)),
            gpu,
            phases: PhaseTimes::default(),
            sides: Sides::default(),
            plan,
        }
    }

    /// Seconds of both sides of the last evaluation.
    pub fn sides(&self) -> Sides {
        self.sides
    }
}

/// Seconds that two spans have in common, each by its end and its seconds.
fn overlap_s(a: (Instant, f64), b: (Instant, f64)) -> f64 {
    let (first, last) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    let between_s = (last.0 - first.0).as_secs_f64();
    (last.1 - between_s).clamp(0.0, first.1)
}

impl<R: Real, B: Backend> Engine for Hybrid<R, B> {
    fn evaluate_into(&mut self, charges: &[f64], out: &mut Vec<f64>) -> Result<(), FmmError> {
        let Self { plan, cpu, gpu, .. } = self;
        let start = Instant::now();
        let unit = plan.unit_of_charges(charges)?;
        gpu.stage(charges, unit)?;
        let staged_s = start.elapsed().as_secs_f64();
        // The session of a GPU belongs to this thread; the cores are those of the pool.
        let (far, near) = std::thread::scope(|scope| {
            let far = scope.spawn(|| {
                let start = Instant::now();
                let sums = cpu.far(charges, unit);
                (sums, start.elapsed().as_secs_f64(), Instant::now())
            });
            let near = gpu.near();
            let far = far.join().unwrap_or_else(|e| std::panic::resume_unwind(e));
            (far, near)
        });
        let ((mut sums, cpu_s, far_end), (near, times)) = (far, near?);
        let joined = Instant::now();
        (sums.par_iter_mut().zip(near))
            .with_min_len(1 << 14)
            .for_each(|(sum, near)| *sum += *near);
        plan.results(&plan.restored(&sums), charges, unit, out);
        let mut phases = cpu.phases();
        // The phases of the cores are the end of their side.
        phases.overlapped_s = overlap_s((far_end, phases.total_s()), (times.p2p_end, times.p2p_s));
        phases.p2p_s = times.p2p_s;
        phases.transfers_s = times.transfers_s;
        phases.permutation_s += times.permutation_s;
        phases.permutation_s += staged_s + joined.elapsed().as_secs_f64();
        self.phases = phases;
        self.sides = Sides {
            cpu_s,
            gpu_s: times.total_s(),
        };
        Ok(())
    }

    fn phases(&self) -> PhaseTimes {
        self.phases
    }

    fn repeat(&mut self, times: usize) -> Result<(), FmmError> {
        let Self { cpu, gpu, .. } = self;
        for _ in 0..times {
            std::thread::scope(|scope| {
                let far = scope.spawn(|| cpu.repeat_far());
                let near = gpu.repeat_near();
                far.join().unwrap_or_else(|e| std::panic::resume_unwind(e));
                near
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::overlap_s;
    use std::time::{Duration, Instant};

    #[test]
    fn the_overlap_of_two_spans() {
        let start = Instant::now();
        let at = |s: f64| start + Duration::from_secs_f64(s);
        for ((a, b), want) in [
            // Apart, touching, in part, one within the other, alike.
            (((1.0, 0.5), (3.0, 1.0)), 0.0),
            (((1.0, 0.5), (3.0, 2.0)), 0.0),
            (((2.0, 1.5), (3.0, 1.75)), 0.75),
            (((2.0, 0.5), (3.0, 2.5)), 0.5),
            (((2.0, 1.0), (2.0, 1.0)), 1.0),
        ] {
            let (a, b) = ((at(a.0), a.1), (at(b.0), b.1));
            assert!((overlap_s(a, b) - want).abs() < 1e-6, "{want}");
            assert!((overlap_s(b, a) - want).abs() < 1e-6, "{want}");
        }
    }
}
