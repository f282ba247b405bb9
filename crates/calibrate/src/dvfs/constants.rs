//! Which constants of a power model the samples determine.

use super::{PowerData, PowerFit, PowerModel, PowerSample, raw, scales};
use crate::fit::identify;
use greenup_model::dvfs::VoltageCurve;
use nalgebra::DMatrix;
use serde::Serialize;

/// The constants of a fit; `None` is one that its samples do not determine.
#[derive(Clone, Debug, Serialize)]
pub struct PowerConstants {
    /// Which model was fitted.
    pub model: PowerModel,
    /// Voltage of the core domain over its clock, relative to its floor: known from three clocks on.
    pub core_voltage: Option<VoltageCurve>,
    /// The same of the memory domain.
    pub mem_voltage: Option<VoltageCurve>,
    /// Voltage at the highest clock over that at the lowest, of core and memory: known from two clocks on.
    pub voltage_ratio: (Option<f64>, Option<f64>),
    /// Power of all other components, π_misc, W.
    pub misc_w: Option<f64>,
    /// Leakage at floor voltage of core and memory, W.
    pub leakage_w: (Option<f64>, Option<f64>),
    /// All coefficients: the three above, the clocks' own, and g(u) of each component, W.
    pub coefficients: Vec<Option<f64>>,
}

impl PowerFit {
    /// What the samples of this fit determine.
    pub fn constants(&self, data: &PowerData) -> PowerConstants {
        let samples: Vec<&PowerSample> = data.samples.iter().collect();
        let width = self.coefficients.len();
        let rows: Vec<Vec<f64>> = (samples.iter())
            .map(|s| {
                let (c, m) = self.shares(s);
                let v = self.voltages();
                let d = scales(c, m, &v, width, self.core_components, self.model);
                let f = raw(s, self.model);
                (f.iter().zip(&d).map(|(f, d)| f * d / s.power_w)).collect()
            })
            .collect();
        let a = DMatrix::from_fn(rows.len(), width, |i, j| rows[i][j]);
        let errors = (rows.iter()).map(|r| -> f64 {
            let sum: f64 = r.iter().zip(&self.coefficients).map(|(a, x)| a * x).sum();
            (sum - 1.0).powi(2)
        });
        let columns = identify::columns(&a, errors.sum());
        let coefficients: Vec<Option<f64>> = (columns.iter().zip(&self.coefficients))
            .map(|(c, x)| c.is_known().then_some(*x))
            .collect();
        let domain = |clock: fn(&PowerSample) -> f64, curve: &VoltageCurve| {
            let mut clocks: Vec<f64> = samples.iter().map(|s| clock(s)).collect();
            clocks.sort_by(f64::total_cmp);
            clocks.dedup();
            let volt = |mhz: f64| curve.volt(mhz * 1e6);
            let ratio = match clocks.as_slice() {
                [lo, .., hi] => Some(volt(*hi) / volt(*lo)),
                _ => None,
            };
            ((clocks.len() > 2).then_some(*curve), ratio)
        };
        let (core_voltage, core_ratio) = domain(|s| s.core_mhz, &self.core_voltage);
        let (mem_voltage, mem_ratio) = domain(|s| s.mem_mhz, &self.mem_voltage);
        PowerConstants {
            model: self.model,
            core_voltage,
            mem_voltage,
            voltage_ratio: (core_ratio, mem_ratio),
            misc_w: coefficients[0],
            leakage_w: (coefficients[1], coefficients[2]),
            coefficients,
        }
    }
}
