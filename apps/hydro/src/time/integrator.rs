//! Explicit time integrators as short programs on registers; the mesh moves in every stage.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Time integrator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ode {
    /// Forward Euler, order 1
    Euler,
    /// Midpoint method, order 2
    Rk2,
    /// Conserves energy to rounding
    Rk2avg,
    /// Strong-stability-preserving, order 3
    SspRk3,
    /// Classical Runge–Kutta, order 4
    #[default]
    Rk4,
    /// Verner's method, order 6, eight stages
    Rk6,
}

/// An instruction of a step. Its registers are two states, 0 at the start of the step and 1 for the stages and the end,
/// and the rates of the stages.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Stresses of state 1.
    Stress,
    /// Accelerations from the last stresses, into the velocities of a rate.
    Accelerate(usize),
    /// Energy rates from the last stresses and the velocities of a state.
    Work {
        /// State with the velocities.
        state: usize,
        /// Rate that receives the energy rates.
        rate: usize,
    },
    /// Energy rates from the last stresses and the velocities in the positions of the same rate.
    WorkAtRate(usize),
    /// Copies the velocities of a state into the positions of a rate.
    Carry {
        /// State with the velocities.
        state: usize,
        /// Rate that receives them.
        rate: usize,
    },
    /// Sets the positions of a rate to v + ½ Δt a, with the velocities of state 0 and the accelerations of the rate.
    Half(usize),
    /// State 1 = state 0 + Δt Σ factor · rate, over pairs of a rate and its factor.
    Combine(Vec<(usize, f64)>),
}

impl Ode {
    /// Butcher tableau: the rows below the diagonal, then the weights.
    fn table(self) -> Vec<Vec<f64>> {
        match self {
            Self::Euler => vec![vec![1.0]],
            Self::Rk2 | Self::Rk2avg => vec![vec![0.5], vec![0.0, 1.0]],
            Self::SspRk3 => vec![
                vec![1.0],
                vec![0.25, 0.25],
                vec![1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0],
            ],
            Self::Rk4 => vec![
                vec![0.5],
                vec![0.0, 0.5],
                vec![0.0, 0.0, 1.0],
                vec![1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
            ],
            // J. H. Verner's efficient 9-stage pair 6(5), without its embedded method.
            Self::Rk6 => vec![
                vec![0.06],
                vec![0.019_239_962_962_962_962, 0.076_693_370_370_370_37],
                vec![0.035_975, 0.0, 0.107_925],
                vec![
                    1.318_683_415_233_148_3,
                    0.0,
                    -5.042_058_063_628_562,
                    4.220_674_648_395_414,
                ],
                vec![
                    -41.872_591_664_327_516,
                    0.0,
                    159.432_562_163_137_5,
                    -122.119_213_565_010_03,
                    5.531_743_066_200_054,
                ],
                vec![
                    -54.430_156_935_316_504,
                    0.0,
                    207.067_251_365_016_46,
                    -158.610_813_784_59,
                    6.991_816_585_950_242,
                    -0.018_597_231_062_203_234,
                ],
                vec![
                    -54.663_741_787_281_98,
                    0.0,
                    207.952_806_255_389_36,
                    -159.288_957_474_499_5,
                    7.018_743_740_796_944,
                    -0.018_338_785_905_045_722,
                    -0.000_511_948_499_788_209_9,
                ],
                vec![
                    0.034_389_578_683_570_36,
                    0.0,
                    0.0,
                    0.258_262_455_563_350_3,
                    0.420_937_118_967_353_7,
                    4.405_396_469_669_31,
                    -176.483_119_024_298_66,
                    172.364_133_401_415_08,
                ],
            ],
        }
    }

    /// Number of rates that a step stores.
    pub fn rates(self) -> usize {
        match self {
            Self::Rk2avg => 1,
            _ => self.table().len(),
        }
    }

    /// Instructions of a step.
    pub fn program(self) -> Vec<Op> {
        if self == Self::Rk2avg {
            // The forces of each stage work on the mean of the velocities before and after: what momentum loses, energy
            // gains.
            let half = [Op::Accelerate(0), Op::Half(0), Op::WorkAtRate(0)];
            let end = |c| [Op::Combine(vec![(0, c)]), Op::Stress];
            return [half.as_slice(), &end(0.5), &half, &end(1.0)].concat();
        }
        let table = self.table();
        let mut out = Vec::new();
        for (rate, row) in table.iter().enumerate() {
            let state = usize::from(rate > 0);
            out.extend([
                Op::Carry { state, rate },
                Op::Accelerate(rate),
                Op::Work { state, rate },
            ]);
            let terms = row
                .iter()
                .copied()
                .enumerate()
                .filter(|(_, c)| *c != 0.0)
                .collect();
            out.extend([Op::Combine(terms), Op::Stress]);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y' = y with the program's meaning of a table.
    fn grows(ode: Ode, dt: f64) -> f64 {
        let mut k: Vec<f64> = Vec::new();
        let mut y = 1.0;
        for row in ode.table() {
            k.push(y);
            y = 1.0 + dt * row.iter().zip(&k).map(|(c, k)| c * k).sum::<f64>();
        }
        y
    }

    #[test]
    fn tables_are_of_their_order() {
        for (ode, order) in [
            (Ode::Euler, 1),
            (Ode::Rk2, 2),
            (Ode::SspRk3, 3),
            (Ode::Rk4, 4),
            (Ode::Rk6, 6),
        ] {
            let error = |dt: f64| (grows(ode, dt) - dt.exp()).abs();
            // Large enough that the error of high order is above rounding.
            let dt = if order > 4 { 1.0 } else { 0.05 };
            let rate = (error(dt) / error(dt / 2.0)).log2();
            assert!(rate > (order + 1) as f64 - 0.3, "{ode:?}: {rate}");
            let last = ode.table().pop().unwrap();
            assert!((last.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
