//! Kernel launches for the parts of a step.

use super::arguments::{CornerArguments, SolveArguments};
use super::memory::Register;
use super::{Done, Gpu};
use crate::time::integrator::Op;
use greenup_device::cuda::{Arg, Memory, Pointer, Shape};

impl Gpu {
    pub(super) fn zones(&self) -> usize {
        self.h.space.zones
    }

    fn rules(&self) -> Arg {
        let r = self.h.rules();
        let values = [
            r.h0.to_bits(),
            r.order.to_bits(),
            r.viscous as u64,
            r.vorticity as u64,
            r.source as u64,
        ];
        let mut words = [0; 17];
        words[..values.len()].copy_from_slice(&values);
        Arg::Words(words)
    }

    /// Launch shape of the corner-force kernel for a number of zones.
    fn at_points(&self, zones: usize) -> Shape {
        Shape {
            shared: self.kernels.corner_bytes,
            ..Shape::line(
                zones.div_ceil(self.config.zones) as u32,
                self.config.threads as u32,
            )
        }
    }

    fn wide(n: usize) -> Shape {
        Shape::line((n.div_ceil(256) as u32).clamp(1, 1 << 20), 256)
    }

    pub(super) fn stress(&self, state: usize) -> Done {
        self.stress_of(state, self.zones())
    }

    /// Computes the stresses of the first `zones` zones.
    pub(super) fn stress_of(&self, state: usize, zones: usize) -> Done {
        let (f, s) = (&self.fixed, &self.states[state]);
        // SAFETY: (of all launches here) arguments are those of the kernels in their order, with memory allocated for
        // this problem.
        unsafe {
            self.kernels.corner.call_with(
                &self.at_points(zones),
                &CornerArguments {
                    rules: self.h.rules(),
                    zones: zones as i64,
                    nodes: self.h.space.nodes as i64,
                    index: (&f.index).into(),
                    x: (&s.x).into(),
                    v: (&s.v).into(),
                    e: (&s.e).into(),
                    gamma: (&f.gamma).into(),
                    p_inf: (&f.p_inf).into(),
                    mass: (&f.mass).into(),
                    start: (&f.start).into(),
                    stress: (&f.stress).into(),
                    source: (&f.source).into(),
                    zone_forces: (&f.zone_forces).into(),
                    right: (&f.right).into(),
                    rate: Pointer::new(self.control.address() + 8),
                },
            )?;
            if self.full {
                self.kernels.corner_matrix.call(
                    &Shape::line(
                        (self.zones() * self.kernels.matrix.pieces).min(1 << 20) as u32,
                        self.kernels.matrix.threads as u32,
                    ),
                    &[self.zones().into(), (&f.stress).into(), (&f.corner).into()],
                )?;
            }
        }
        Ok(())
    }

    pub(super) fn accelerate(&self, k: usize) -> Done {
        let (f, kernels) = (&self.fixed, &self.kernels);
        let e = &self.h.space.element;
        // SAFETY: as in `stress`.
        unsafe {
            if self.full {
                let n = self.zones() * self.h.space.dim * e.local;
                kernels.corner_ones.call(
                    &Self::wide(n),
                    &[
                        self.zones().into(),
                        (&f.corner).into(),
                        (&f.zone_forces).into(),
                    ],
                )?;
            } else if !self.config.fused {
                kernels.force.call(
                    &self.at_points(self.zones()),
                    &[
                        self.zones().into(),
                        (&f.stress).into(),
                        (&f.zone_forces).into(),
                    ],
                )?;
            }
            let csr = |i: usize| f.csr.as_ref().map(|c| &c[i]);
            // Its blocks wait for each other, so all of them must run at the same time.
            let shape = Shape {
                shared: kernels.solve_bytes,
                ..Shape::line(kernels.resident, self.config.solve_threads as u32)
            };
            let arguments = SolveArguments {
                zones: self.zones() as i64,
                nodes: self.h.space.nodes as i64,
                index: (&f.index).into(),
                begin: (&f.begin).into(),
                shares: (&f.shares).into(),
                mass: f.matrix_mass.as_ref().unwrap_or(&f.mass).into(),
                zone_forces: (&f.zone_forces).into(),
                gravity: or_null(f.gravity.as_ref()),
                over: (&f.over).into(),
                constrained: (&f.constrained).into(),
                row: or_null(csr(0)),
                columns: or_null(csr(1)),
                values: or_null(csr(2)),
                out: (&self.rates[k].v).into(),
                solution: (&f.solution).into(),
                residual: (&f.residual).into(),
                direction: (&f.direction).into(),
                image: (&f.image).into(),
                products: (&f.products).into(),
                grid_barrier: (&f.grid_barrier).into(),
                counted: (&f.counted).into(),
                tolerance: self.h.cg_tol,
                max_iterations: self.h.cg_max as i64,
            };
            match &self.team {
                None => kernels.solve.call_cooperative_with(&shape, &arguments),
                Some(team) => team.solve((kernels, &shape), arguments, f, self.h.space.dim),
            }
        }
    }

    /// Computes energy rates with velocities of the last stressed state, or with any velocities if stresses are stored.
    pub(super) fn work(&self, v: &Memory, k: usize) -> Done {
        let (f, kernels) = (&self.fixed, &self.kernels);
        let (zones, nodes) = (self.zones(), self.h.space.nodes);
        let n = zones * self.h.space.element.energies;
        // SAFETY: as in `stress`.
        unsafe {
            if self.full {
                kernels.corner_transposed.call(
                    &Self::wide(n),
                    &[
                        self.rules(),
                        zones.into(),
                        nodes.into(),
                        (&f.index).into(),
                        v.into(),
                        (&f.corner).into(),
                        (&f.source).into(),
                        (&f.right).into(),
                    ],
                )?;
            } else if !self.config.fused {
                kernels.work.call(
                    &self.at_points(self.zones()),
                    &[
                        self.rules(),
                        zones.into(),
                        nodes.into(),
                        (&f.index).into(),
                        v.into(),
                        (&f.stress).into(),
                        (&f.source).into(),
                        (&f.right).into(),
                    ],
                )?;
            }
            kernels.energy_solve.call(
                &Self::wide(n),
                &[
                    zones.into(),
                    (&f.inverse).into(),
                    (&f.right).into(),
                    (&self.rates[k].e).into(),
                ],
            )
        }
    }

    /// to = from + dt Σ factor · rate.
    fn combine(&self, to: &Memory, from: &Memory, terms: &[(&Memory, f64)]) -> Done {
        let n = to.len() / 8;
        let mut words = [0_u64; 17];
        for (i, (rate, factor)) in terms.iter().enumerate() {
            words[i] = rate.address();
            words[8 + i] = factor.to_bits();
        }
        words[16] = terms.len() as u64;
        // SAFETY: as in `stress`; `terms` of the kernel is 8 pointers, 8 doubles and a count.
        unsafe {
            self.kernels.combine.call(
                &Self::wide(n),
                &[
                    n.into(),
                    (&self.control).into(),
                    from.into(),
                    Arg::Words(words),
                    to.into(),
                ],
            )
        }
    }

    /// Computes the stresses; those of the last zones on the CPU, if it shares the work.
    pub(super) fn stress_shared(&mut self, state: usize) -> Done {
        let Some(mut host) = self.host.take() else {
            return self.stress(state);
        };
        let mut shared = || -> Done {
            host.fetch(&self.h, &self.states[state])?;
            let (begin, end) = (self.session.event()?, self.session.event()?);
            begin.record()?;
            // The GPU computes the zones before the host's first one.
            let zones = host.from;
            self.stress_of(state, zones)?;
            end.record()?;
            host.compute();
            end.wait()?;
            host.took[0] += end.since(&begin)?;
            host.give(&self.h, &self.fixed)
        };
        let done = shared();
        self.host = Some(host);
        done
    }

    pub(super) fn run(&self, op: &Op) -> Done {
        match op {
            Op::Stress => self.stress(1),
            Op::Accelerate(k) => self.accelerate(*k),
            Op::Work { state, rate } => self.work(&self.states[*state].v, *rate),
            Op::WorkAtRate(k) => self.work(&self.rates[*k].x, *k),
            Op::Carry { state, rate } => self.rates[*rate].x.copy_from(&self.states[*state].v),
            Op::Half(k) => {
                let rate = &self.rates[*k];
                self.combine(&rate.x, &self.states[0].v, &[(&rate.v, 0.5)])
            }
            Op::Combine(terms) => {
                let [from, to] = &self.states;
                let parts: [fn(&Register) -> &Memory; 3] = [|r| &r.x, |r| &r.v, |r| &r.e];
                for part in parts {
                    let terms: Vec<(&Memory, f64)> = terms
                        .iter()
                        .map(|(k, c)| (part(&self.rates[*k]), *c))
                        .collect();
                    self.combine(part(to), part(from), &terms)?;
                }
                Ok(())
            }
        }
    }
}

/// A pointer to memory, or null.
fn or_null<T>(memory: Option<&Memory>) -> Pointer<T> {
    memory.map_or_else(Pointer::default, Pointer::from)
}
