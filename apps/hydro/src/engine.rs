//! What advances a state: on CPUs or GPUs, by one operator or the other.

use crate::HydroError;

/// Places and velocities [component][node], energies [zone][Bernstein].
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub x: Vec<f64>,
    pub v: Vec<f64>,
    pub e: Vec<f64>,
}

/// Seconds that parts of steps took, and iterations of the solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Spent {
    /// Stresses at the points.
    pub stress_s: f64,
    /// Forces on the nodes and work on the energies.
    pub force_s: f64,
    /// Solves for accelerations.
    pub solve_s: f64,
    /// Sums of states.
    pub update_s: f64,
    /// Iterations of the solves, all components together, over the dimension.
    pub iterations: f64,
    pub solves: u64,
    /// Evaluations of the stresses.
    pub evaluations: u64,
}

/// A state with what follows from it, which steps advance. Rates are one over the largest stable time step, but for
/// Courant's number; infinite where a zone is inverted or a number is none.
pub trait Engine {
    /// Takes a state; returns its rate.
    ///
    /// # Errors
    /// The device is lost, or has not the memory.
    fn start(&mut self, s: &State) -> Result<f64, HydroError>;

    /// Makes a step, which is neither accepted nor rejected yet; the largest rate of its later stages and of its end.
    ///
    /// # Errors
    /// The device is lost.
    fn step(&mut self, dt: f64) -> Result<f64, HydroError>;

    /// Keeps the step.
    ///
    /// # Errors
    /// The device is lost.
    fn accept(&mut self) -> Result<(), HydroError>;

    /// Forgets the step; the rate of where it began.
    ///
    /// # Errors
    /// The device is lost.
    fn reject(&mut self) -> Result<f64, HydroError>;

    /// The state that was last accepted.
    ///
    /// # Errors
    /// The device is lost.
    fn state(&mut self) -> Result<State, HydroError>;

    /// Its internal and kinetic energy.
    ///
    /// # Errors
    /// The device is lost.
    fn energies(&mut self) -> Result<(f64, f64), HydroError>;

    fn spent(&self) -> Spent;
}
