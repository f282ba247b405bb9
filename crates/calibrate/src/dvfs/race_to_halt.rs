//! Race-to-halt: whether the fastest setting is the one of lowest energy, and which setting a power model would
//! choose (thesis, §5.3.2 and table 8).
//!
//! Power data has no times. They follow from utilisations: the busiest unit of each domain needs the longer the lower its
//! clock, and what no unit was busy with passes at the clock of the core:
//! T ∝ max(u_c f_c⁰/f_c, u_m f_m⁰/f_m) + (1 − max(u_c, u_m)) f_c⁰/f_c.

use super::{PowerData, PowerFit, PowerModel, PowerSample, kernel_key};
use serde::Serialize;
use std::collections::BTreeMap;

/// Folds of the kernels; the model that chooses for one fold was fitted to the others.
const PARTS: usize = 10;

/// Excess energy of one rule for choosing settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ExcessEnergy {
    /// Kernels for which it did not choose the setting of lowest energy.
    pub wrong: usize,
    /// Mean excess energy over those kernels, as a fraction.
    pub mean: f64,
    /// Smallest excess energy, as a fraction.
    pub least: f64,
    /// Largest excess energy, as a fraction.
    pub largest: f64,
}

/// Both rules on the same kernels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RaceToHalt {
    /// Number of kernels.
    pub kernels: usize,
    /// Setting chosen by the power model.
    pub model: ExcessEnergy,
    /// Race-to-halt: the setting with the shortest time.
    pub fastest: ExcessEnergy,
    /// Whether race-to-halt saves energy: the fastest setting spends least for most kernels.
    pub pays: bool,
}

/// Modelled time of a sample's kernel at its setting, divided by that at the default setting.
pub fn relative_time(data: &PowerData, s: &PowerSample) -> f64 {
    let busiest = |u: &[f64]| u.iter().copied().fold(0.0, f64::max);
    let (core, memory) = s
        .utilisation
        .split_at(data.core_components.min(s.utilisation.len()));
    let (core, memory) = (busiest(core), busiest(memory));
    let slower = data.default_mhz.0 / s.core_mhz;
    let idle = (1.0 - core.max(memory)).max(0.0);
    (core * slower).max(memory * data.default_mhz.1 / s.mem_mhz) + idle * slower
}

impl ExcessEnergy {
    fn of(lost: &[f64]) -> Self {
        let wrong: Vec<f64> = lost.iter().copied().filter(|&x| x > 0.0).collect();
        if wrong.is_empty() {
            return Self::default();
        }
        Self {
            wrong: wrong.len(),
            mean: wrong.iter().sum::<f64>() / wrong.len() as f64,
            least: wrong.iter().copied().fold(f64::INFINITY, f64::min),
            largest: wrong.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// Chooses a setting for every kernel that was measured at two or more; for none unless two were.
pub fn race_to_halt(data: &PowerData, model: PowerModel) -> RaceToHalt {
    let mut kernels: BTreeMap<Vec<u64>, Vec<&PowerSample>> = BTreeMap::new();
    for s in &data.samples {
        kernels.entry(kernel_key(s)).or_default().push(s);
    }
    let mut kernels: Vec<Vec<&PowerSample>> =
        kernels.into_values().filter(|k| k.len() > 1).collect();
    // One alone would be chosen by a fit that has seen it.
    if kernels.len() == 1 {
        kernels.clear();
    }
    let (mut chosen, mut fastest) = (Vec::new(), Vec::new());
    for part in 0..PARTS.min(kernels.len()) {
        let seen: Vec<&PowerSample> = (kernels.iter().enumerate())
            .filter(|(i, _)| i % PARTS != part)
            .flat_map(|(_, k)| k.iter().copied())
            .collect();
        let fit = PowerFit::new(data, &seen, model);
        for k in kernels.iter().skip(part).step_by(PARTS) {
            let energy = |s: &PowerSample| s.power_w * relative_time(data, s);
            let by = |cost: &dyn Fn(&PowerSample) -> f64| {
                let best = k.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
                best.map_or(0.0, |s| energy(s))
            };
            let least = by(&energy);
            chosen.push(by(&|s| fit.power_w(s) * relative_time(data, s)) / least - 1.0);
            // Of settings that are as fast, the lower clocks.
            fastest.push(
                by(&|s| relative_time(data, s) * (1.0 + 1e-9 * (s.core_mhz + s.mem_mhz))) / least
                    - 1.0,
            );
        }
    }
    let lost = ExcessEnergy::of(&fastest);
    RaceToHalt {
        kernels: chosen.len(),
        model: ExcessEnergy::of(&chosen),
        fastest: lost,
        pays: !chosen.is_empty() && 2 * lost.wrong < chosen.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Power that grows with the cube of the core's clock: the fastest setting never has the lowest energy.
    #[test]
    fn a_cubic_device_should_not_race() {
        let mut samples = Vec::new();
        for i in 0..24 {
            let u = 0.5 + 0.02 * f64::from(i);
            for core_mhz in [400.0, 700.0, 1000.0] {
                let c = core_mhz / 1000.0;
                samples.push(PowerSample {
                    power_w: 5.0 + 200.0 * u * c * c * c,
                    core_mhz,
                    mem_mhz: 3000.0,
                    utilisation: vec![u, 0.0],
                });
            }
        }
        let data = PowerData {
            default_mhz: (1000.0, 3000.0),
            core_components: 1,
            components: vec![],
            samples,
        };
        let halt = race_to_halt(&data, PowerModel::FittedVoltage);
        assert_eq!(
            (
                halt.kernels,
                halt.model.wrong,
                halt.fastest.wrong,
                halt.pays
            ),
            (24, 0, 24, false)
        );
        // At 0.4 of the clock: (5 + 200 u 0.064) / 0.4 against 5 + 200 u.
        let lost = |u: f64| (5.0 + 200.0 * u) * 0.4 / (5.0 + 200.0 * u * 0.064) - 1.0;
        assert!((halt.fastest.least - lost(0.5)).abs() < 1e-9);
    }
}
