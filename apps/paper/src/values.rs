//! Our number beside one of a paper.

use crate::PaperError;
use crate::platforms;
use crate::records::{Records, broken, machine};
use greenup_model::tradeoff::Tradeoff;
use greenup_model::{EnergyRoofline, Machine, Op};
use greenup_scaling::published;
use greenup_tune::analyze::Analysis;
use serde::Deserialize;

/// Where our number comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ours {
    /// The analysis of a sweep.
    Sweep {
        /// The sweep.
        record: String,
        /// Name of the value, such as `best performance`; another name has no value.
        value: String,
        /// Multiplied with it.
        #[serde(default = "one")]
        scale: f64,
    },
    /// A shipped machine.
    Machine {
        /// Its name, or `N*NAME`.
        machine: String,
        /// The flop class.
        flop: Op,
        /// Name of the value, such as `time balance`; another name has no value.
        value: String,
        /// Another machine that it is relative to.
        over: Option<String>,
        /// Intensity, flop/B, for values at one.
        #[serde(default = "one")]
        intensity: f64,
        /// Usable power divided by this before.
        #[serde(default = "one")]
        throttle: f64,
        /// That of the other machine.
        #[serde(default = "one")]
        over_throttle: f64,
        /// Multiplied with it.
        #[serde(default = "one")]
        scale: f64,
    },
    /// Cost of one operation on a shipped machine.
    Cost {
        /// The machine.
        machine: String,
        /// The operation.
        op: Op,
        /// `energy` or `time`.
        value: String,
    },
    /// A value of a JSON record.
    Json {
        /// The record.
        record: String,
        /// JSON pointer.
        pointer: String,
        /// Pointer to another value there that it is divided by.
        over: Option<String>,
        /// Multiplied with it.
        #[serde(default = "one")]
        scale: f64,
    },
    /// A number in a text of the repository.
    Stated {
        /// The file.
        record: String,
        /// Part of one of its lines that holds the number.
        phrase: String,
        /// The number as it is written there.
        number: String,
        /// Another number there that it is divided by.
        over: Option<String>,
        /// Whether its inverse is meant.
        #[serde(default)]
        inverse: bool,
        /// Multiplied with it.
        #[serde(default = "one")]
        scale: f64,
        /// Added then.
        #[serde(default)]
        offset: f64,
    },
    /// Energies of applications from counters.
    Explained {
        /// Applications.
        names: Vec<String>,
        /// Folder of their sweeps.
        sweeps: String,
        /// The machine.
        machine: String,
        /// `mean error`, `largest error`, `standard deviation`, `least constant share` or `largest constant share`.
        value: String,
    },
    /// Number of platforms whose errors in performance differ with and without the power cap.
    CapErrors(platforms::caps::Platforms),
    /// Time of the model in a published scaling study, s.
    Scaling {
        /// Name of the study.
        study: String,
        /// Number of nodes.
        nodes: usize,
    },
}

fn one() -> f64 {
    1.0
}

impl Ours {
    /// The number, in the unit of the paper's.
    ///
    /// # Errors
    /// The record is missing or has no such value.
    pub fn value(&self, records: &Records) -> Result<f64, PaperError> {
        Ok(match self {
            Self::Sweep {
                record,
                value,
                scale,
            } => {
                let path = records.path(record)?;
                let a = &records.sweep(record)?.analysis;
                let known = of_sweep(a, value);
                scale * known.ok_or_else(|| broken(&path, format!("it has no `{value}`")))?
            }
            Self::Machine {
                machine: name,
                flop,
                value,
                over,
                intensity,
                throttle,
                over_throttle,
                scale,
            } => {
                let at = |m: &Machine, k: f64| -> Result<f64, PaperError> {
                    // Throttling gives a machine without a cap one.
                    let m = match k {
                        1.0 => m.clone(),
                        k => m.throttled(k)?,
                    };
                    of_machine(&m.roofline(*flop, Op::Dram)?, value, *intensity)
                        .ok_or_else(|| PaperError::NoValue(format!("{name} with {value}")))
                };
                let m = platforms::machine_of(records, name)?;
                scale
                    * match (over, value.as_str()) {
                        (Some(big), "nodes for the power") => {
                            m.nodes_for_power_of(&platforms::machine_of(records, big)?)?
                        }
                        (Some(other), _) => {
                            at(&m, *throttle)?
                                / at(&platforms::machine_of(records, other)?, *over_throttle)?
                        }
                        (None, _) => at(&m, *throttle)?,
                    }
            }
            Self::Cost {
                machine: name,
                op,
                value,
            } => {
                let m = machine(name)?;
                let cost = m.cost_of(*op)?;
                let known = match value.as_str() {
                    "energy" => cost.energy_j.as_ref(),
                    "time" => cost.time_s.as_ref(),
                    _ => None,
                };
                let none = || PaperError::NoValue(format!("{name} with {value} of {op}"));
                known.ok_or_else(none)?.value
            }
            Self::Json {
                record,
                pointer,
                over,
                scale,
            } => {
                let path = records.path(record)?;
                let all = records.json(record)?;
                let at = |pointer: &str| {
                    let found = all.pointer(pointer).and_then(serde_json::Value::as_f64);
                    found.ok_or_else(|| broken(&path, format!("no number at {pointer}")))
                };
                scale * at(pointer)? / over.as_ref().map_or(Ok(1.0), |p| at(p))?
            }
            Self::Stated {
                record,
                phrase,
                number,
                over,
                inverse,
                scale,
                offset,
            } => {
                let path = records.path(record)?;
                let text = records.text(record)?;
                let there = text.lines().any(|l| l.contains(phrase.as_str()));
                let read = |number: &str| {
                    let known = there && phrase.contains(number);
                    let v = number.replace(',', "").replace('−', "-").parse::<f64>();
                    v.ok().filter(|_| known).ok_or_else(|| {
                        broken(&path, format!("it does not state `{number}` in `{phrase}`"))
                    })
                };
                let mut v = read(number)?;
                if let Some(over) = over {
                    v /= read(over)?;
                }
                if *inverse {
                    v = 1.0 / v;
                }
                scale * v + offset
            }
            Self::Explained {
                names,
                sweeps,
                machine,
                value,
            } => {
                let all = records.explained(names, sweeps, machine)?;
                let of = |f: &dyn Fn(&greenup_tune::analyze::counted::FromCounters) -> f64| {
                    (all.applications.iter().flat_map(|a| &a.cases))
                        .map(f)
                        .collect::<Vec<f64>>()
                };
                let errors = of(&|c| 100.0 * c.error().abs());
                let shares = of(&|c| 100.0 * c.constant_j / c.predicted_j);
                let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
                let m = mean(&errors);
                match value.as_str() {
                    "mean error" => m,
                    "largest error" => errors.iter().copied().fold(0.0, f64::max),
                    "standard deviation" => {
                        let n = errors.len() as f64 - 1.0;
                        (errors.iter().map(|e| (e - m).powi(2)).sum::<f64>() / n).sqrt()
                    }
                    "least constant share" => shares.iter().copied().fold(f64::NAN, f64::min),
                    "largest constant share" => shares.iter().copied().fold(f64::NAN, f64::max),
                    other => return Err(broken(&records.path(sweeps)?, format!("no `{other}`"))),
                }
            }
            Self::CapErrors(p) => platforms::caps::different(records, &p.platforms)?,
            Self::Scaling { study, nodes } => {
                let none = || PaperError::NoValue(format!("{study} at {nodes} nodes"));
                let all = published::all()?;
                let s = all
                    .into_iter()
                    .find(|s| s.name == *study)
                    .ok_or_else(none)?;
                let of = machine(&s.machine)?;
                let at = s.points.iter().position(|p| p.nodes == *nodes);
                s.beside(&of)?.predicted_s[at.ok_or_else(none)?]
            }
        })
    }
}

/// A value of an analysis by name; flop rates in Gflop/s, efficiencies in Gflop/J.
fn of_sweep(a: &Analysis, name: &str) -> Option<f64> {
    const GIGA: f64 = 1e-9;
    let fast = &a.rows[a.fastest];
    let n = a.rows.len() as f64;
    let mean = |f: &dyn Fn(&greenup_tune::analyze::MeasuredConfig) -> Option<f64>| {
        let v: Vec<f64> = a.rows.iter().filter_map(f).collect();
        (!v.is_empty()).then(|| v.iter().sum::<f64>() / v.len() as f64)
    };
    let green = a.lowest_energy.map(|g| &a.rows[g]);
    match name {
        "configs" => Some(n),
        "best performance" => Some(GIGA * fast.performance),
        "efficiency of the fastest" => Some(GIGA * fast.efficiency?),
        "least performance" => (a.rows.iter().map(|r| GIGA * r.performance)).reduce(f64::min),
        "mean performance" => mean(&|r| Some(GIGA * r.performance)),
        "best efficiency" => Some(GIGA * green?.efficiency?),
        "mean efficiency" => mean(&|r| Some(GIGA * r.efficiency?)),
        "efficiency gained, %" => Some(100.0 * (green?.efficiency? / fast.efficiency? - 1.0)),
        "performance lost, %" => Some(100.0 * (1.0 - green?.performance / fast.performance)),
        "faster than the most efficient, %" => Some(100.0 * a.quadrants.as_ref()?.right as f64 / n),
        "more efficient than the fastest" => Some(a.quadrants.as_ref()?.above as f64),
        "corners of the hull" => Some(a.hull.as_ref()?.corners.len() as f64),
        _ => None,
    }
}

/// A value of a two-class machine by name, in SI units.
pub fn of_machine(r: &EnergyRoofline, name: &str, i: f64) -> Option<f64> {
    let new = |f: f64, m: f64| {
        r.tradeoff(Tradeoff {
            intensity: i,
            extra_work: f,
            less_traffic: m,
        })
    };
    Some(match name {
        "peak" => 1.0 / r.tau_flop,
        "bandwidth" => 1.0 / r.tau_mem,
        "time per flop" => r.tau_flop,
        "time per byte" => r.tau_mem,
        "energy per flop" => r.eps_flop,
        "energy per byte" => r.eps_mem,
        "time balance" => r.time_balance(),
        "energy balance" => r.energy_balance(),
        "balance gap" => r.balance_gap(),
        "half-efficiency balance" => r.half_efficiency_intensity(),
        "best efficiency" => r.best_flop_per_joule(),
        "best bytes per joule" => 1.0 / r.streaming_energy(),
        "streaming energy" => r.streaming_energy(),
        "constant energy per byte" => r.pi0 * r.tau_mem,
        "constant power" => r.pi0,
        "largest power" => r.max_power(),
        "constant-flop efficiency" => r.eta(),
        "constant energy per flop" => r.pi0 * r.tau_flop,
        "actual energy per flop" => r.eps_hat(),
        "power of flops" => r.pi_flop(),
        "performance" => 1.0 / r.time_per_flop(i),
        "efficiency" => 1.0 / r.energy_per_flop(i),
        "power" => r.power(i),
        "peak power of flops and bytes" => r.pi_flop() + r.pi_mem(),
        "largest extra work" => new(2.0, 2.0).max_extra_work_any_traffic,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_ours_is_finite() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let records = Records::new(root);
        let mut known = 0;
        for p in crate::list().unwrap() {
            for (i, q) in (p.items.iter()).flat_map(|i| i.quoted.iter().map(move |q| (i, q))) {
                let Some(ours) = &q.ours else { continue };
                let v = ours.value(&records);
                let name = format!("{} {}: {}", p.name, i.id, q.name);
                let v = v.unwrap_or_else(|e| panic!("{name}: {e}"));
                assert!(v.is_finite(), "{name}: {v}");
                known += 1;
            }
        }
        assert!(known > 60, "{known}");
    }

    #[test]
    fn a_number_must_stand_where_it_is_said_to_stand() {
        let records = Records::new(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let stated = |phrase: &str, number: &str| Ours::Stated {
            record: "machines/gtx-titan.toml".into(),
            phrase: phrase.into(),
            number: number.into(),
            over: None,
            inverse: true,
            scale: 288.0,
            offset: 1.0,
        };
        let good = stated("thesis_peak_bw_gbs = \"288", "288").value(&records);
        assert_eq!(good.unwrap(), 2.0);
        for (phrase, number) in [
            ("thesis_peak_bw_gbs = \"288", "287"),
            ("no such line 288", "288"),
        ] {
            let e = stated(phrase, number).value(&records).unwrap_err();
            assert!(e.to_string().contains("does not state"), "{e}");
        }
        let gone = Ours::Json {
            record: "sweeps/none.json".into(),
            pointer: String::new(),
            over: None,
            scale: 1.0,
        };
        let e = gone.value(&records).unwrap_err().to_string();
        assert!(
            e.contains("none.json is missing") && e.contains("--records"),
            "{e}"
        );
    }
}
