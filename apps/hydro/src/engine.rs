//! The interface of the engines that advance a state on CPUs or GPUs, with full or partial assembly.

use crate::HydroError;
use std::borrow::Cow;

/// Unknowns of the equations at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Positions of the kinematic nodes, `[component][node]`.
    pub x: Vec<f64>,
    /// Velocities of the kinematic nodes, `[component][node]`.
    pub v: Vec<f64>,
    /// Specific internal energies, [zone][Bernstein coefficient].
    pub e: Vec<f64>,
}

/// Accumulated times of the parts of the steps, and counts of solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Timings {
    /// Time of the stresses at the quadrature points, s.
    pub stress_s: f64,
    /// Time of the forces on the nodes and the work on the energies, s.
    pub force_s: f64,
    /// Time of the solves for accelerations, s.
    pub solve_s: f64,
    /// Time of the linear combinations of states, s.
    pub update_s: f64,
    /// Number of CG iterations, summed over the components and divided by the dimension.
    pub iterations: f64,
    /// Number of solves for accelerations.
    pub solves: u64,
    /// Number of evaluations of the stresses.
    pub evaluations: u64,
}

/// A part of a step that can be measured alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Stresses, forces and work: BLAST's corner force
    Corner,
    /// The solve for accelerations: BLAST's PCG
    Solve,
}

/// Advances a state in time steps.
///
/// A rate is the inverse of the largest stable time step at CFL number 1. It is infinite if a zone is inverted or a
/// value is not finite.
pub trait Engine {
    /// Sets the state; returns its rate.
    ///
    /// # Errors
    /// The device is lost or runs out of memory.
    fn start(&mut self, s: &State) -> Result<f64, HydroError>;

    /// Makes a tentative step of `dt`; returns the largest rate of its later stages and of its final state.
    ///
    /// # Errors
    /// The device is lost.
    fn step(&mut self, dt: f64) -> Result<f64, HydroError>;

    /// Accepts the tentative step.
    ///
    /// # Errors
    /// The device is lost.
    fn accept(&mut self) -> Result<(), HydroError>;

    /// Discards the tentative step; returns the rate of the state before it.
    ///
    /// # Errors
    /// The device is lost.
    fn reject(&mut self) -> Result<f64, HydroError>;

    /// The last accepted state.
    ///
    /// # Errors
    /// The device is lost.
    fn state(&mut self) -> Result<State, HydroError>;

    /// The energy coefficients of the last accepted state alone.
    ///
    /// # Errors
    /// The device is lost.
    fn energy_coefficients(&mut self) -> Result<Cow<'_, [f64]>, HydroError>;

    /// Total internal and kinetic energy of the last accepted state.
    ///
    /// # Errors
    /// The device is lost.
    fn energies(&mut self) -> Result<(f64, f64), HydroError>;

    /// Euclidean norm of the energy coefficients of the last accepted state.
    ///
    /// # Errors
    /// The device is lost.
    fn energy_norm(&mut self) -> Result<f64, HydroError> {
        let e = self.energy_coefficients()?;
        Ok(e.iter().map(|e| e * e).sum::<f64>().sqrt())
    }

    /// Times and counts since the engine was made.
    fn timings(&self) -> Timings;

    /// Computes a part of a step for the last accepted state, which stays unchanged; returns once it is done.
    ///
    /// # Errors
    /// The device is lost.
    fn part(&mut self, part: Part) -> Result<(), HydroError>;

    /// Kernel configs that an online tuner can choose from; the first is the initial one.
    fn candidates(&self) -> Vec<String> {
        Vec::new()
    }

    /// Uses one of the candidates from now on; the state stays unchanged.
    ///
    /// # Errors
    /// The candidate cannot be built, or the device is lost.
    fn choose(&mut self, _candidate: usize) -> Result<(), HydroError> {
        Ok(())
    }

    /// Ends a period of load balancing: redistributes the zones between the devices by the measured times; returns a
    /// message, or `None` if only one device is used.
    ///
    /// # Errors
    /// The device is lost.
    fn balance(&mut self) -> Result<Option<String>, HydroError> {
        Ok(None)
    }
}
