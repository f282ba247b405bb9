//! Whole steps, online tuning and load balance.

use super::config::{Config, Sizes};
use super::host_zones::HostZones;
use super::kernels::built;
use super::ranks::GpuTeam;
use super::{Done, Gpu, memory};
use crate::HydroError;
use crate::engine::{Engine, Part, State, Timings};
use crate::time::integrator::{Ode, Op};
use crate::tuning::balance::Balance;
use greenup_device::cuda::{CudaError, Shape};
use greenup_report::si::si;
use greenup_setting::setting;
use std::borrow::Cow;
use std::time::Instant;

impl Gpu {
    /// Sets the time step, and resets the rate.
    fn control(&mut self, dt: f64) -> Done {
        if let Some(h) = &mut self.host {
            h.rate = 0.0;
        }
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&dt.to_le_bytes());
        self.control.upload(&bytes)
    }

    fn rate(&self) -> Result<f64, CudaError> {
        let mut bytes = [[0; 8]; 2];
        self.control.download(bytes.as_flattened_mut())?;
        if let Some(team) = &self.team {
            team.check(&self.fixed)?;
        }
        let host = self.host.as_ref().map_or(0.0, |h| h.rate);
        Ok(f64::from_le_bytes(bytes[1]).max(host))
    }

    fn stressed(&mut self, state: usize) -> Result<f64, CudaError> {
        self.control(0.0)?;
        self.stress_shared(state)?;
        self.timings.evaluations += 1;
        self.rate()
    }

    /// Launches and times each part of a step.
    fn profiled(&mut self) -> Done {
        let program = self.program.clone();
        for op in &program {
            let begin = Instant::now();
            match op {
                Op::Stress => self.stress_shared(1)?,
                _ => self.run(op)?,
            }
            self.session.synchronize()?;
            let took = begin.elapsed().as_secs_f64();
            let s = &mut self.timings;
            *match op {
                Op::Stress => &mut s.stress_s,
                Op::Accelerate(_) => &mut s.solve_s,
                Op::Work { .. } | Op::WorkAtRate(_) => &mut s.force_s,
                Op::Carry { .. } | Op::Half(_) | Op::Combine(_) => &mut s.update_s,
            } += took;
        }
        Ok(())
    }

    fn stepped(&mut self, dt: f64) -> Result<f64, CudaError> {
        self.timings.evaluations +=
            self.program.iter().filter(|o| **o == Op::Stress).count() as u64;
        let launched = self.team.as_ref().is_some_and(|t| !t.in_a_graph());
        if self.profile || self.host.is_some() || launched {
            self.control(dt)?;
            self.profiled()?;
            return self.rate();
        }
        if self.graph.is_none() {
            let this = &*self;
            let graph = (this.session)
                .graph(&mut || this.program.iter().try_for_each(|op| this.run(op)))?;
            if let Some(team) = &self.team {
                // The driver may wait for all GPUs when it allocates: before kernels wait for each other.
                graph.upload()?;
                team.ready();
            }
            self.graph = Some(graph);
        }
        self.control(dt)?;
        if let Some(g) = &self.graph {
            // SAFETY: it was recorded from this solver's memory, which lives as long as the graph.
            unsafe { g.launch() }?;
        }
        self.rate()
    }

    fn summed(&mut self) -> Result<(f64, f64), CudaError> {
        let (f, s) = (&self.fixed, &self.states[0]);
        let blocks = 512;
        // SAFETY: as in `stress`.
        unsafe {
            self.kernels.sums.call(
                &Shape::line(blocks, self.config.solve_threads as u32),
                &[
                    self.zones().into(),
                    self.h.space.nodes.into(),
                    (&f.index).into(),
                    (&s.v).into(),
                    (&s.e).into(),
                    f.matrix_mass.as_ref().unwrap_or(&f.mass).into(),
                    (&f.sums).into(),
                ],
            )?;
        }
        let all = memory::read(&f.sums)?;
        Ok(all
            .chunks(2)
            .fold((0.0, 0.0), |a, b| (a.0 + b[0], a.1 + b[1])))
    }
}

impl Gpu {
    /// Shares the zones with the CPU, starting with a share for the GPU between 0 and 1 (default 0.9).
    ///
    /// # Errors
    /// The share is out of range, the config or the integrator stores stresses, or there are fewer than 16 zones.
    pub fn share(&mut self, share: Option<f64>) -> Result<(), HydroError> {
        let share = share.unwrap_or(0.9);
        if !(share > 0.0 && share < 1.0) {
            return Err(HydroError::Device(format!(
                "{}: it must be between 0 and 1",
                setting("share").to(share)
            )));
        }
        if !self.config.fused || self.zones() < 16 {
            return Err(HydroError::Device(format!(
                "{} needs at least 16 zones and fused kernels: not {}, {} or {}",
                setting("device").to("cuda+cpu"),
                setting("ode").to("rk2avg"),
                setting("assembly").to("full"),
                setting("kernels").to("fused=0")
            )));
        }
        self.host = Some(HostZones::new(&self.h, Balance::new(share, self.zones()))?);
        Ok(())
    }

    /// Candidates of online tuning: the initial config, and others around it.
    fn configs(&self) -> Vec<Config> {
        let c = self.first;
        let mut out = vec![c];
        let mut add = |f: &dyn Fn(&mut Config)| {
            let mut other = c;
            f(&mut other);
            let sizes = Sizes::of(&self.h.space.element);
            let fits = other.check(&self.h.space.element, self.shared).is_ok()
                && sizes.corner_bytes(&other) < 200 * 1024
                && sizes.solve_bytes(&other) * other.solve_blocks < 200 * 1024;
            if fits && !out.contains(&other) {
                out.push(other);
            }
        };
        for threads in [64, 128, 256] {
            for blocks in [2, 4, 5] {
                let zones = (threads / self.h.space.element.points()).max(1);
                add(&|c| (c.threads, c.zones, c.blocks) = (threads, zones, blocks));
            }
        }
        for zones in [1, 2, 4, 8, 16] {
            add(&|c| c.solve_zones = zones);
        }
        out
    }

    /// Repeats the solve for the last stresses; restores the forces, which a previous solve may have overwritten.
    fn repeat_solve(&mut self) -> Done {
        if self.config.fused {
            if self.kept.is_none() {
                self.stressed(0)?;
                let kept = self.session.alloc(self.fixed.zone_forces.len())?;
                kept.copy_from(&self.fixed.zone_forces)?;
                self.kept = Some(kept);
            }
            if let Some(kept) = &self.kept {
                self.fixed.zone_forces.copy_from(kept)?;
            }
        }
        self.accelerate(0)?;
        self.session.synchronize()
    }

    /// Uses another config from now on.
    fn configure(&mut self, config: Config) -> Done {
        let stored = self.full || self.ode == Ode::Rk2avg;
        self.kernels = built(
            (&self.compiler, &self.session, &self.arch),
            &self.h,
            &config,
            (stored, self.team.is_some()),
            self.processors,
        )?;
        self.config = config;
        self.graph = None;
        let products = 16 * self.kernels.resident as usize * self.h.space.dim;
        self.fixed.products = self.session.alloc(products)?;
        self.stressed(0).map(|_| ())
    }
}

impl Engine for Gpu {
    fn candidates(&self) -> Vec<String> {
        let words = |c: &Config| {
            format!(
                "zones={},threads={},blocks={},solve_zones={}",
                c.zones, c.threads, c.blocks, c.solve_zones
            )
        };
        self.configs().iter().map(words).collect()
    }

    fn choose(&mut self, candidate: usize) -> Result<(), HydroError> {
        let all = self.configs();
        let config = all
            .get(candidate)
            .copied()
            .ok_or_else(|| HydroError::Device(format!("there is no candidate {candidate}")))?;
        Ok(self.configure(config)?)
    }

    fn part(&mut self, part: Part) -> Result<(), HydroError> {
        let done = match part {
            Part::Corner => self.stressed(0).and_then(|_| {
                self.work(&self.states[0].v, 0)?;
                self.session.synchronize()
            }),
            Part::Solve => self.repeat_solve(),
        };
        Ok(done?)
    }

    fn balance(&mut self) -> Result<Option<String>, HydroError> {
        let Some(host) = &mut self.host else {
            return Ok(None);
        };
        let [gpu, cpu, alone] = std::mem::take(&mut host.took);
        let before = host.balance.share();
        let words = format!(
            "period {}: {:.2} % of the zones on the GPU in {}, the others on the CPU in {}, copies {}",
            host.balance.periods + 1,
            100.0 * before,
            si(gpu, "s"),
            si(cpu, "s"),
            si(alone, "s")
        );
        if host.balance.seen(gpu, cpu, alone).is_some() {
            let balance = host.balance.clone();
            self.host = Some(HostZones::new(&self.h, balance)?);
            self.stressed(0).map_err(HydroError::from)?;
        }
        Ok(Some(words))
    }

    fn start(&mut self, s: &State) -> Result<f64, HydroError> {
        let taken = self.states[0]
            .upload(s)
            .and_then(|()| self.states[1].upload(s))
            .and_then(|()| self.stressed(0));
        Ok(taken?)
    }

    fn step(&mut self, dt: f64) -> Result<f64, HydroError> {
        Ok(self.stepped(dt)?)
    }

    fn accept(&mut self) -> Result<(), HydroError> {
        let [to, from] = &self.states;
        Ok(to.copy_from(from)?)
    }

    fn reject(&mut self) -> Result<f64, HydroError> {
        Ok(self.stressed(0)?)
    }

    fn state(&mut self) -> Result<State, HydroError> {
        Ok(self.states[0].download()?)
    }

    fn energy_coefficients(&mut self) -> Result<Cow<'_, [f64]>, HydroError> {
        Ok(Cow::Owned(memory::read(&self.states[0].e)?))
    }

    fn energies(&mut self) -> Result<(f64, f64), HydroError> {
        Ok(self.summed()?)
    }

    fn timings(&self) -> Timings {
        let mut bytes = [[0; 8]; 2];
        let counted = self
            .fixed
            .counted
            .download(bytes.as_flattened_mut())
            .map_or([0; 2], |()| bytes.map(u64::from_le_bytes));
        let by_host = self.team.as_ref().map_or([0; 2], GpuTeam::counted);
        Timings {
            iterations: (counted[0] + by_host[0]) as f64 / self.h.space.dim as f64,
            solves: counted[1] + by_host[1],
            ..self.timings
        }
    }
}
