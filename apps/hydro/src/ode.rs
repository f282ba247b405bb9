//! Explicit integrators; the mesh follows every stage.

use crate::hydro::{Hydro, State, Stresses};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// How a step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ode {
    Euler,
    Rk2,
    /// Conserves energy to rounding
    Rk2avg,
    SspRk3,
    Rk4,
}

/// A step's end, and the least time step that its later stages allow.
pub struct Step {
    pub state: State,
    pub dt: f64,
}

fn rates(h: &Hydro, s: &State, stresses: &Stresses) -> State {
    State {
        x: s.v.clone(),
        v: h.accelerations(stresses),
        e: h.energy_rates(stresses, &s.x, &s.v),
    }
}

impl Ode {
    /// A step from a state whose stresses are known.
    pub fn step(self, h: &Hydro, s: &State, first: &Stresses, dt: f64) -> Step {
        let mut least = f64::INFINITY;
        let mut stage = |s: &State| {
            let stresses = h.stresses(s);
            least = least.min(stresses.dt);
            rates(h, s, &stresses)
        };
        let state = match self {
            Self::Rk2avg => return averaged(h, s, first, dt),
            Self::Euler => s.moved(dt, &rates(h, s, first)),
            Self::Rk2 => {
                let k = rates(h, s, first);
                s.moved(dt, &stage(&s.moved(0.5 * dt, &k)))
            }
            Self::SspRk3 => {
                let mix = |a: f64, x: &State, b: f64, y: &State| {
                    let zero = State {
                        x: vec![0.0; x.x.len()],
                        v: vec![0.0; x.v.len()],
                        e: vec![0.0; x.e.len()],
                    };
                    zero.moved(a, x).moved(b, y)
                };
                let one = s.moved(dt, &rates(h, s, first));
                let k = stage(&one);
                let two = mix(0.75, s, 0.25, &one.moved(dt, &k));
                let k = stage(&two);
                mix(1.0 / 3.0, s, 2.0 / 3.0, &two.moved(dt, &k))
            }
            Self::Rk4 => {
                let a = rates(h, s, first);
                let b = stage(&s.moved(0.5 * dt, &a));
                let c = stage(&s.moved(0.5 * dt, &b));
                let d = stage(&s.moved(dt, &c));
                s.moved(dt / 6.0, &a)
                    .moved(dt / 3.0, &b)
                    .moved(dt / 3.0, &c)
                    .moved(dt / 6.0, &d)
            }
        };
        Step { state, dt: least }
    }
}

/// Two stages, each of whose forces work on the mean of the velocities before and after: what momentum loses,
/// energy gains.
fn averaged(h: &Hydro, s: &State, first: &Stresses, dt: f64) -> Step {
    let half = |stresses: &Stresses, x: &[f64]| -> State {
        let dv = h.accelerations(stresses);
        let v: Vec<f64> = s.v.iter().zip(&dv).map(|(v, a)| v + 0.5 * dt * a).collect();
        let e = h.energy_rates(stresses, x, &v);
        State { x: v, v: dv, e }
    };
    let middle = s.moved(0.5 * dt, &half(first, &s.x));
    let stresses = h.stresses(&middle);
    Step {
        state: s.moved(dt, &half(&stresses, &middle.x)),
        dt: stresses.dt,
    }
}
