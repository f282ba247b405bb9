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

/// What a step is made of, to be measured alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Stresses, forces and work: BLAST's corner force
    Corner,
    /// The solve for accelerations: BLAST's PCG
    Solve,
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

    /// Computes a part for the state that was last accepted, and waits for it; the state stays.
    ///
    /// # Errors
    /// The device is lost.
    fn part(&mut self, part: Part) -> Result<(), HydroError>;

    /// Other ways to compute the same, the one in use first at the start.
    fn candidates(&self) -> Vec<String> {
        Vec::new()
    }

    /// Computes by one of them from now on; the state stays.
    ///
    /// # Errors
    /// It cannot be made, or the device is lost.
    fn choose(&mut self, _candidate: usize) -> Result<(), HydroError> {
        Ok(())
    }

    /// Ends a period of an engine that shares its zones out among devices: shares them anew by what it measured, and says
    /// how; none where nothing is shared.
    ///
    /// # Errors
    /// The device is lost.
    fn balance(&mut self) -> Result<Option<String>, HydroError> {
        Ok(None)
    }
}
