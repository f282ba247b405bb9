//! Engines on CPUs: states in host memory, and an operator with full or partial assembly.

mod assembled;
mod batches;
mod corner;
mod full_assembly;
mod kernels;
mod partial_assembly;
mod parts;
mod rank_sums;
mod solve;
mod thread_choice;
mod zone_matrices;

use crate::HydroError;
use crate::engine::{Engine, Part, State, Timings};
use crate::hydro::Hydro;
use crate::time::integrator::{Ode, Op};
use parts::{BLOCK, blocks};
use rayon::prelude::*;
use std::borrow::Cow;
use std::time::Instant;

pub use corner::Corner;
pub use full_assembly::FullAssembly;
pub use partial_assembly::PartialAssembly;
pub(crate) use parts::Shared;
pub use rank_sums::RankSums;

/// The semi-discrete equations. `stresses` sets the stresses that the other methods use.
pub trait Operator {
    /// Computes the stresses of a state; returns its rate (see [`Engine`]).
    fn stresses(&mut self, s: &State) -> f64;

    /// Computes the accelerations dv/dt, `[component][node]`.
    fn accelerations(&mut self, out: &mut [f64]);

    /// Computes the energy rates de/dt with velocities `v`, `[zone][energy]`.
    fn energy_rates(&mut self, v: &[f64], out: &mut [f64]);

    /// Total internal and kinetic energy of a state.
    fn energies(&mut self, s: &State) -> (f64, f64);

    /// Number of CG iterations (summed over the components and divided by the dimension), and number of solves.
    fn iterations(&self) -> (f64, u64);

    /// Kernel configs that an online tuner can choose from.
    fn candidates(&self) -> Vec<String> {
        Vec::new()
    }

    /// Uses one of the candidates from now on.
    ///
    /// # Errors
    /// The candidate cannot be built.
    fn choose(&mut self, _candidate: usize) -> Result<(), HydroError> {
        Ok(())
    }
}

/// An engine that advances a state with an operator on the CPU.
pub struct Cpu<O> {
    operator: O,
    program: Vec<Op>,
    states: [State; 2],
    rates: Vec<State>,
    timings: Timings,
}

impl<O: Operator> Cpu<O> {
    /// An engine with an operator and an integrator; its state is zero until it starts.
    pub fn new(operator: O, ode: Ode, hydro: &Hydro) -> Self {
        let s = &hydro.space;
        let zero = State {
            x: vec![0.0; s.dim * s.nodes],
            v: vec![0.0; s.dim * s.nodes],
            e: vec![0.0; s.zones * s.element.energies],
        };
        Self {
            operator,
            program: ode.program(),
            states: [zero.clone(), zero.clone()],
            rates: vec![zero; ode.rates()],
            timings: Timings::default(),
        }
    }

    fn stress(&mut self, state: usize) -> f64 {
        let begin = Instant::now();
        let rate = self.operator.stresses(&self.states[state]);
        self.timings.stress_s += begin.elapsed().as_secs_f64();
        self.timings.evaluations += 1;
        rate
    }

    fn run(&mut self, op: &Op, dt: f64) -> f64 {
        let begin = Instant::now();
        match op {
            Op::Stress => return self.stress(1),
            Op::Accelerate(k) => {
                self.operator.accelerations(&mut self.rates[*k].v);
                self.timings.solve_s += begin.elapsed().as_secs_f64();
            }
            Op::Work { state, rate } => {
                self.operator
                    .energy_rates(&self.states[*state].v, &mut self.rates[*rate].e);
                self.timings.force_s += begin.elapsed().as_secs_f64();
            }
            Op::WorkAtRate(k) => {
                let rate = &mut self.rates[*k];
                self.operator.energy_rates(&rate.x, &mut rate.e);
                self.timings.force_s += begin.elapsed().as_secs_f64();
            }
            Op::Carry { state, rate } => {
                self.rates[*rate].x.copy_from_slice(&self.states[*state].v);
                self.timings.update_s += begin.elapsed().as_secs_f64();
            }
            Op::Half(k) => {
                let (v, rate) = (&self.states[0].v, &mut self.rates[*k]);
                for ((x, v), a) in rate.x.iter_mut().zip(v).zip(&rate.v) {
                    *x = v + 0.5 * dt * a;
                }
                self.timings.update_s += begin.elapsed().as_secs_f64();
            }
            Op::Combine(terms) => {
                let [from, to] = &mut self.states;
                let parts: [fn(&State) -> &Vec<f64>; 3] = [|s| &s.x, |s| &s.v, |s| &s.e];
                for (part, to) in parts.iter().zip([&mut to.x, &mut to.v, &mut to.e]) {
                    let from = part(from);
                    let rates: Vec<(&[f64], f64)> = terms
                        .iter()
                        .map(|(k, c)| (part(&self.rates[*k]).as_slice(), c * dt))
                        .collect();
                    blocks(to).for_each(|(i, to)| {
                        let begin = i * BLOCK;
                        to.copy_from_slice(&from[begin..begin + to.len()]);
                        for (k, c) in &rates {
                            for (to, k) in to.iter_mut().zip(&k[begin..]) {
                                *to += c * k;
                            }
                        }
                    });
                }
                self.timings.update_s += begin.elapsed().as_secs_f64();
            }
        }
        0.0
    }
}

impl<O: Operator> Engine for Cpu<O> {
    fn start(&mut self, s: &State) -> Result<f64, HydroError> {
        self.states[0].clone_from(s);
        self.states[1].clone_from(s);
        Ok(self.stress(0))
    }

    fn step(&mut self, dt: f64) -> Result<f64, HydroError> {
        let program = std::mem::take(&mut self.program);
        let rate = program
            .iter()
            .fold(0.0_f64, |most, op| most.max(self.run(op, dt)));
        self.program = program;
        Ok(rate)
    }

    fn accept(&mut self) -> Result<(), HydroError> {
        self.states.swap(0, 1);
        Ok(())
    }

    fn reject(&mut self) -> Result<f64, HydroError> {
        Ok(self.stress(0))
    }

    fn state(&mut self) -> Result<State, HydroError> {
        Ok(self.states[0].clone())
    }

    fn energy_coefficients(&mut self) -> Result<Cow<'_, [f64]>, HydroError> {
        Ok(Cow::Borrowed(&self.states[0].e))
    }

    fn energies(&mut self) -> Result<(f64, f64), HydroError> {
        Ok(self.operator.energies(&self.states[0]))
    }

    fn part(&mut self, part: Part) -> Result<(), HydroError> {
        match part {
            Part::Corner => {
                self.stress(0);
                self.run(&Op::Work { state: 0, rate: 0 }, 0.0);
            }
            Part::Solve => {
                self.run(&Op::Accelerate(0), 0.0);
            }
        }
        Ok(())
    }

    fn candidates(&self) -> Vec<String> {
        self.operator.candidates()
    }

    fn choose(&mut self, candidate: usize) -> Result<(), HydroError> {
        self.operator.choose(candidate)?;
        self.stress(0);
        Ok(())
    }

    fn timings(&self) -> Timings {
        let (iterations, solves) = self.operator.iterations();
        Timings {
            iterations,
            solves,
            ..self.timings
        }
    }
}
