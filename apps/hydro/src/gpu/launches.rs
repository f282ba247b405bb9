//! Parts of a step, put on the stream.

use super::memory::Register;
use super::{Done, Gpu};
use crate::ode::Op;
use greenup_device::cuda::{Arg, Memory, Shape};

impl Gpu<'_> {
    pub(super) fn zones(&self) -> usize {
        self.h.space.zones
    }

    fn rules(&self) -> Arg {
        let r = self.h.rules();
        let own = [
            r.h0.to_bits(),
            r.order.to_bits(),
            r.viscous as u64,
            r.turning as u64,
            r.source as u64,
        ];
        let mut words = [0; 17];
        words[..own.len()].copy_from_slice(&own);
        Arg::Words(words)
    }

    /// Blocks of the configured zones.
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

    /// Stresses of the first zones.
    pub(super) fn stress_of(&self, state: usize, zones: usize) -> Done {
        let (f, s) = (&self.fixed, &self.states[state]);
        // SAFETY: (of all launches here) arguments are those of the kernels in their order, of memory made for this problem.
        unsafe {
            self.kernels.corner.call(
                &self.at_points(zones),
                &[
                    self.rules(),
                    zones.into(),
                    self.h.space.nodes.into(),
                    (&f.index).into(),
                    (&s.x).into(),
                    (&s.v).into(),
                    (&s.e).into(),
                    (&f.gamma).into(),
                    (&f.stiff).into(),
                    (&f.mass).into(),
                    (&f.start).into(),
                    (&f.stress).into(),
                    (&f.source).into(),
                    (&f.own).into(),
                    (&f.right).into(),
                    Arg::At(self.control.address() + 8),
                ],
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
                    &[self.zones().into(), (&f.corner).into(), (&f.own).into()],
                )?;
            } else if !self.config.fused {
                kernels.force.call(
                    &self.at_points(self.zones()),
                    &[self.zones().into(), (&f.stress).into(), (&f.own).into()],
                )?;
            }
            let null = Arg::At(0);
            let or_null = |m: &Option<Memory>| m.as_ref().map_or(null, Arg::from);
            let csr = f.csr.as_ref();
            // Its blocks wait for each other, so all of them must run at once.
            let shape = Shape {
                shared: kernels.solve_bytes,
                ..Shape::line(kernels.resident, self.config.solve_threads as u32)
            };
            kernels.solve.call_cooperative(
                &shape,
                &[
                    self.zones().into(),
                    self.h.space.nodes.into(),
                    (&f.index).into(),
                    (&f.begin).into(),
                    (&f.shares).into(),
                    f.given.as_ref().unwrap_or(&f.mass).into(),
                    (&f.own).into(),
                    or_null(&f.gravity),
                    (&f.over).into(),
                    (&f.held).into(),
                    csr.map_or(null, |c| (&c[0]).into()),
                    csr.map_or(null, |c| (&c[1]).into()),
                    csr.map_or(null, |c| (&c[2]).into()),
                    (&self.rates[k].v).into(),
                    (&f.solution).into(),
                    (&f.residual).into(),
                    (&f.direction).into(),
                    (&f.image).into(),
                    (&f.products).into(),
                    (&f.gate).into(),
                    (&f.counted).into(),
                    self.h.cg_tol.into(),
                    Arg::Int(self.h.cg_max as i32),
                ],
            )
        }
    }

    /// Energies' rates with velocities of the last stressed state, or any where stresses are stored.
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

    /// Stresses, of the last zones by the host.
    pub(super) fn stress_shared(&mut self, state: usize) -> Done {
        let Some(mut host) = self.host.take() else {
            return self.stress(state);
        };
        let mut shared = || -> Done {
            host.fetch(self.h, &self.states[state])?;
            let (begin, end) = (self.session.event()?, self.session.event()?);
            begin.record()?;
            // The GPU's part is told by the host's.
            let zones = host.from;
            self.stress_of(state, zones)?;
            end.record()?;
            host.compute();
            end.wait()?;
            host.took[0] += end.since(&begin)?;
            host.give(self.h, &self.fixed)
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
