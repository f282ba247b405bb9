//! Time integrators and adaptive time stepping.
//!
//! | module | contents |
//! |---|---|
//! | [`integrator`] | Runge–Kutta methods as instructions for an engine |
//! | [`stepping`] | time stepping with rejected steps, to the final time |

pub mod integrator;
pub mod stepping;
