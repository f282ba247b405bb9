//! Board power as a function of two clocks and unit utilisation, with the voltage of each domain
//! fitted as a function of its clock (eqs 39–48 of the thesis without a voltage table).
//!
//! P = π_misc + C₁c V_c + C₁m V_m + V_c² f_c (c₀ + Σ cᵢ g(uᵢ)) + V_m² f_m (m₀ + Σ mᵢ g(uᵢ)),
//! V(f) = 1 + slope·max(0, f/f_max − knee). Coefficients by relative NNLS; the four voltage
//! parameters by Nelder–Mead around it. g(u) is u, and in the saturating form also √u, since the
//! power of a unit does not grow in proportion to its utilisation.

mod constants;
mod data;
mod race_to_halt;
mod validate;

pub use constants::PowerConstants;
pub use data::{PowerData, PowerDataError, PowerSample, parse};
pub use race_to_halt::{ExcessEnergy, RaceToHalt, race_to_halt, relative_time};
pub use validate::{PowerErrors, validate};

use crate::linalg::{nelder_mead, nnls_gram};
use greenup_model::dvfs::VoltageCurve;
use nalgebra::DMatrix;
use serde::Serialize;
use std::collections::BTreeMap;

/// How the fit is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerModel {
    /// V = 1 and power in proportion to utilisation: the plain NNLS baseline.
    FixedVoltage,
    /// Voltage a fitted function of clock.
    FittedVoltage,
    /// The same, and utilisation that saturates.
    Saturating,
    /// The same, and each kernel scaled by its own mean ratio at the settings seen (the activity
    /// factor A of eq 39): for predicting a known kernel at a new setting.
    KnownKernel,
}

impl PowerModel {
    /// All models, simplest first.
    pub const ALL: [PowerModel; 4] = [
        PowerModel::FixedVoltage,
        PowerModel::FittedVoltage,
        PowerModel::Saturating,
        PowerModel::KnownKernel,
    ];

    fn features(self, u: f64) -> Vec<f64> {
        match self {
            PowerModel::FixedVoltage | PowerModel::FittedVoltage => vec![u],
            PowerModel::Saturating | PowerModel::KnownKernel => vec![u, u.sqrt()],
        }
    }
}

/// A fitted power model.
#[derive(Clone, Debug)]
pub struct PowerFit {
    /// Which model was fitted.
    pub model: PowerModel,
    /// Voltage of the core domain relative to its floor (`floor_volt` is 1), over its clock.
    pub core_voltage: VoltageCurve,
    /// Voltage of the memory domain relative to its floor (`floor_volt` is 1), over its clock.
    pub mem_voltage: VoltageCurve,
    coefficients: Vec<f64>,
    core_components: usize,
    activity: BTreeMap<Vec<u64>, f64>,
}

/// Identity of a kernel: its utilisations, which do not change with the setting in such data.
fn kernel_key(s: &PowerSample) -> Vec<u64> {
    s.utilisation.iter().map(|u| u.to_bits()).collect()
}

/// Gram matrices per setting, so that a change of voltage costs no pass over the samples.
struct Grams {
    model: PowerModel,
    core_components: usize,
    /// (core share, mem share of maximum clock, FᵀWF, FᵀW·1)
    settings: Vec<(f64, f64, DMatrix<f64>, Vec<f64>)>,
    width: usize,
}

const CONSTANT_COLUMNS: usize = 5;

impl Grams {
    fn new(
        data: &[&PowerSample],
        core_components: usize,
        max: (f64, f64),
        model: PowerModel,
        weights: &[f64],
    ) -> Self {
        let mut by_setting: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
        for (i, s) in data.iter().enumerate() {
            by_setting
                .entry((s.core_mhz.to_bits(), s.mem_mhz.to_bits()))
                .or_default()
                .push(i);
        }
        let width = data.first().map_or(0, |s| raw(s, model).len());
        let settings = by_setting
            .into_values()
            .map(|rows| {
                let first = data[rows[0]];
                let features: Vec<Vec<f64>> = rows.iter().map(|&r| raw(data[r], model)).collect();
                let f = DMatrix::from_fn(rows.len(), width, |i, j| {
                    features[i][j] / data[rows[i]].power_w * weights[rows[i]].sqrt()
                });
                let h = (0..width)
                    .map(|j| {
                        (0..rows.len())
                            .map(|i| f[(i, j)] * weights[rows[i]].sqrt())
                            .sum()
                    })
                    .collect();
                (
                    first.core_mhz / max.0,
                    first.mem_mhz / max.1,
                    f.transpose() * &f,
                    h,
                )
            })
            .collect();
        Self {
            model,
            core_components,
            settings,
            width,
        }
    }

    fn solve(&self, v: &Voltages) -> (Vec<f64>, f64) {
        let mut g = DMatrix::<f64>::zeros(self.width, self.width);
        let mut h = vec![0.0; self.width];
        for (c, m, gram, rhs) in &self.settings {
            let d = scales(*c, *m, v, self.width, self.core_components, self.model);
            for j in 0..self.width {
                for i in 0..self.width {
                    g[(i, j)] += d[i] * gram[(i, j)] * d[j];
                }
                h[j] += d[j] * rhs[j];
            }
        }
        let x = nnls_gram(&g, &h);
        // ‖Ax − 1‖² up to the constant Σw.
        let mut cost = 0.0;
        for j in 0..self.width {
            let gx: f64 = (0..self.width).map(|i| g[(j, i)] * x[i]).sum();
            cost += x[j] * (gx - 2.0 * h[j]);
        }
        (x, cost)
    }
}

/// [core slope, core knee, memory slope, memory knee].
type Voltages = [f64; 4];

fn volt(share: f64, slope: f64, knee: f64) -> f64 {
    1.0 + slope * f64::max(0.0, share - knee)
}

/// Features before clocks and voltages: five ones, then g(u) of each component.
fn raw(s: &PowerSample, model: PowerModel) -> Vec<f64> {
    let mut f = vec![1.0; CONSTANT_COLUMNS];
    f.extend(s.utilisation.iter().flat_map(|&u| model.features(u)));
    f
}

/// What clocks and voltages multiply each feature by.
fn scales(c: f64, m: f64, v: &Voltages, width: usize, core: usize, model: PowerModel) -> Vec<f64> {
    let (vc, vm) = (volt(c, v[0], v[1]), volt(m, v[2], v[3]));
    let (dc, dm) = (vc * vc * c, vm * vm * m);
    let mut d = vec![1.0, vc, vm, dc, dm];
    let each = model.features(1.0).len();
    d.extend((0..width - CONSTANT_COLUMNS).map(|j| if j / each < core { dc } else { dm }));
    d
}

impl PowerFit {
    /// Fits the model to samples.
    pub fn new(data: &PowerData, samples: &[&PowerSample], model: PowerModel) -> Self {
        let max = samples.iter().fold((0.0_f64, 0.0_f64), |m, s| {
            (m.0.max(s.core_mhz), m.1.max(s.mem_mhz))
        });
        let core = data.core_components;
        let mut weights = vec![1.0; samples.len()];
        let grams = Grams::new(samples, core, max, model, &weights);
        let mut v: Voltages = [0.0; 4];
        if model != PowerModel::FixedVoltage {
            // No supply voltage more than doubles between the lowest and the highest clock; without
            // this a domain seen at two clocks only would take any value.
            let domain = |slope: f64, knee: f64| {
                let knee = knee.clamp(0.0, 0.98);
                (slope.clamp(0.0, 1.0 / (1.0 - knee)), knee)
            };
            let bounded = |x: &[f64]| -> Voltages {
                let (core, mem) = (domain(x[0], x[1]), domain(x[2], x[3]));
                [core.0, core.1, mem.0, mem.1]
            };
            let mut best = f64::INFINITY;
            for knee in [0.4, 0.75] {
                let found = nelder_mead(&[1.0, knee, 0.3, 0.3], &[0.5, 0.1, 0.3, 0.2], 150, &|x| {
                    grams.solve(&bounded(x)).1
                });
                if let Some((x, cost)) = found
                    && cost < best
                {
                    (best, v) = (cost, bounded(&x));
                }
            }
        }
        let mut coefficients = grams.solve(&v).0;
        let predict = |x: &[f64], s: &PowerSample| -> f64 {
            let f = raw(s, model);
            let d = scales(
                s.core_mhz / max.0,
                s.mem_mhz / max.1,
                &v,
                f.len(),
                core,
                model,
            );
            f.iter().zip(&d).zip(x).map(|((f, d), x)| f * d * x).sum()
        };
        if model != PowerModel::FixedVoltage {
            // The error that counts is the mean absolute one: reweighting leads from squares to it.
            for _ in 0..6 {
                for (w, s) in weights.iter_mut().zip(samples) {
                    let r = (predict(&coefficients, s) / s.power_w - 1.0).abs();
                    *w = 1.0 / r.max(0.01);
                }
                coefficients = Grams::new(samples, core, max, model, &weights).solve(&v).0;
            }
        }
        let mut activity: BTreeMap<Vec<u64>, (f64, f64)> = BTreeMap::new();
        if model == PowerModel::KnownKernel {
            for s in samples {
                let e = activity.entry(kernel_key(s)).or_default();
                e.0 += (s.power_w / predict(&coefficients, s)).ln();
                e.1 += 1.0;
            }
        }
        let curve = |max_mhz: f64, slope: f64, knee: f64| VoltageCurve {
            floor_volt: 1.0,
            max_clock_hz: max_mhz * 1e6,
            knee,
            slope,
        };
        Self {
            model,
            core_voltage: curve(max.0, v[0], v[1]),
            mem_voltage: curve(max.1, v[2], v[3]),
            coefficients,
            core_components: core,
            activity: activity
                .into_iter()
                .map(|(k, (sum, n))| (k, (sum / n).exp()))
                .collect(),
        }
    }

    /// Clocks of core and memory over the highest.
    fn shares(&self, s: &PowerSample) -> (f64, f64) {
        (
            s.core_mhz * 1e6 / self.core_voltage.max_clock_hz,
            s.mem_mhz * 1e6 / self.mem_voltage.max_clock_hz,
        )
    }

    fn voltages(&self) -> Voltages {
        let (c, m) = (&self.core_voltage, &self.mem_voltage);
        [c.slope, c.knee, m.slope, m.knee]
    }

    /// Predicted power of a kernel at the sample's setting, W.
    pub fn power_w(&self, s: &PowerSample) -> f64 {
        let f = raw(s, self.model);
        let (c, m) = self.shares(s);
        let v = self.voltages();
        let d = scales(c, m, &v, f.len(), self.core_components, self.model);
        let p: f64 = f
            .iter()
            .zip(&d)
            .zip(&self.coefficients)
            .map(|((f, d), x)| f * d * x)
            .sum();
        p * self.activity.get(&kernel_key(s)).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests;
