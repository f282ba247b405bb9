//! The trials of cases, as sweeps record them.

use greenup_meter::{Flag, Measurement, Summary};
use greenup_space::Value;
use greenup_tune::sweep::{Outcome, Trial};

/// The trial of a case with its times, s, and its energy, J.
pub fn timed(config: Vec<Value>, times_s: Vec<f64>, energy_j: Option<f64>) -> Trial {
    let time = Summary::of(&times_s);
    let outcome = Outcome::Measured {
        time_s: time.map_or(f64::NAN, |s| s.median),
        times_s,
        energy_j,
        time_error: time.as_ref().and_then(known),
    };
    Trial::of(config, outcome)
}

/// The trial of a case that was measured once, with the times of its windows, or several times, with the median of each. The
/// spread of energies is a metric.
pub fn trial(config: Vec<Value>, all: &[Measurement]) -> Trial {
    let (times, energy) = match all {
        [one] => (one.times_s.clone(), one.energy_j),
        _ => {
            let energies: Option<Vec<f64>> = all.iter().map(|m| Some(m.energy_j?.median)).collect();
            let times = all.iter().map(|m| m.time_s.median).collect();
            (times, Summary::of(&energies.unwrap_or_default()))
        }
    };
    let mut trial = timed(config, times, energy.map(|e| e.median));
    if let Some(last) = all.last() {
        trial.metrics = last.state_by_name();
    }
    if let Some((e, error)) = energy.and_then(|e| Some((e, known(&e)?))) {
        trial.metrics.insert("energy_error".to_owned(), error);
        trial.metrics.insert("energy_sd".to_owned(), e.sd / e.mean);
    }
    trial.flags = (all.iter().flat_map(|m| &m.flags))
        .filter(|f| !matches!(f, Flag::NoEnergy))
        .map(ToString::to_string)
        .collect();
    trial
}

/// The relative error; of one run nothing is known of it.
fn known(s: &Summary) -> Option<f64> {
    Some(s.relative_error()).filter(|e| e.is_finite())
}
