//! Instructions and data of evaluations by kind (thesis, fig. 19), from the counters of a sweep of `fmm study`.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::bar_rows::{self, Bars, RowBar};
use greenup_report::chart::{Chart, Panel, Series, Sign, Unit};
use greenup_report::si::si;
use greenup_space::Value;
use greenup_tune::analyze::counted::l2_bytes;
use greenup_tune::sweep::{Counters, Folder, Sweep, Trial};
use serde::Deserialize;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Instructions of threads.
    Instructions,
    /// Bytes from the levels of memory.
    Data,
}

/// Counts of evaluations by kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// A sweep of `fmm study` with counters.
    pub record: String,
    /// What is counted.
    pub of: Of,
}

/// Threads of a warp.
const WARP: f64 = 32.0;

impl Of {
    fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::Instructions => &[
                "f64: FMA",
                "f64: add, multiply",
                "f32: FMA",
                "f32: add, multiply",
                "integer",
                "special function",
                "loads, branches, other",
            ],
            Self::Data => &["L1 and shared memory", "L2", "DRAM"],
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Instructions => "Instructions per point by kind",
            Self::Data => "Bytes per point by level of memory",
        }
    }

    fn axis(self) -> (&'static str, Unit) {
        match self {
            Self::Instructions => ("instructions per point", Unit::si("")),
            Self::Data => ("bytes per point", Unit::si("B")),
        }
    }

    /// Counts in the order of the kinds; `None` where a counter is missing.
    fn counts(self, c: &Counters) -> Option<Vec<f64>> {
        let of = |name: &str| c.get(name).copied();
        Some(match self {
            Self::Instructions => {
                let known = [
                    of("f64_fma")?,
                    of("f64_other")?,
                    of("f32_fma")?,
                    of("f32_other")?,
                    of("integer_ops")?,
                    of("special_ops")?,
                ];
                let all = WARP * of("instructions")?;
                let other = (all - known.iter().sum::<f64>()).max(0.0);
                known.into_iter().chain([other]).collect()
            }
            Self::Data => {
                let (l2, dram) = (l2_bytes(c)?, of("dram_bytes")?);
                vec![of("shared_traffic_bytes")?, (l2 - dram).max(0.0), dram]
            }
        })
    }
}

/// One evaluation.
struct Case {
    /// Precision and whether there are gradients: a panel each.
    panel: String,
    name: String,
    /// Per point.
    counts: Vec<f64>,
}

fn parameter<'a>(sweep: &Sweep, t: &'a Trial, name: &str) -> Option<&'a Value> {
    let at = sweep.facts.parameters.iter().position(|p| p == name)?;
    t.config.get(at)
}

fn case(sweep: &Sweep, t: &Trial, of: Of) -> Option<Case> {
    let text = |name| parameter(sweep, t, name).map(ToString::to_string);
    let points = match parameter(sweep, t, "n")? {
        Value::Int(n) => *n as f64,
        _ => return None,
    };
    let gradient = parameter(sweep, t, "gradient")? == &Value::Bool(true);
    let counts = of.counts(&t.metrics)?;
    Some(Case {
        panel: format!(
            "{}{}",
            text("precision")?,
            if gradient { " with gradients" } else { "" }
        ),
        name: format!(
            "{} {}, ncrit {}",
            text("points")?,
            si(points, ""),
            text("ncrit")?
        ),
        counts: counts.iter().map(|c| c / points).collect(),
    })
}

impl Counts {
    /// A bar an evaluation, stacked by kind; a panel a precision.
    ///
    /// # Errors
    /// The sweep is missing or has no counters.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let path = records.path(&self.record)?;
        let sweep = Folder::read(&path).map_err(|e| broken(&path, e))?;
        let all: Vec<Case> = (sweep.trials.iter())
            .filter_map(|t| case(&sweep, t, self.of))
            .collect();
        if all.is_empty() {
            return Err(broken(&path, "it has no counters"));
        }
        let mut names: Vec<&str> = Vec::new();
        for c in &all {
            if !names.contains(&c.panel.as_str()) {
                names.push(&c.panel);
            }
        }
        let panels = names.iter().map(|name| self.panel(name, &all)).collect();
        Ok(Chart {
            title: self.of.title().into(),
            series: Series::all(self.of.kinds().iter().copied(), Sign::Area),
            panels,
            least_width: 380.0,
            ..Chart::default()
        })
    }

    fn panel(&self, name: &str, all: &[Case]) -> Panel {
        let rows: Vec<_> = (all.iter().filter(|c| c.panel == name))
            .map(|c| {
                let bars = (self.of.kinds().iter().zip(&c.counts)).map(|(kind, n)| {
                    let bar = RowBar {
                        value: *n,
                        interval: None,
                        tip: format!("{}: {kind} {}", c.name, si(*n, "")),
                    };
                    Some(bar).filter(|_| *n > 0.0)
                });
                (c.name.clone(), bars.collect())
            })
            .collect();
        let (label, unit) = self.of.axis();
        bar_rows::panel(name, label, unit, Bars::Summed, &rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_add_up_to_all_instructions() {
        let c: Counters = [
            ("f64_fma", 64.0),
            ("f64_other", 32.0),
            ("f32_fma", 0.0),
            ("f32_other", 0.0),
            ("integer_ops", 96.0),
            ("special_ops", 32.0),
            ("instructions", 10.0),
            ("l2_bytes", 100.0),
            ("dram_bytes", 40.0),
            ("shared_traffic_bytes", 500.0),
        ]
        .map(|(n, v)| (n.to_owned(), v))
        .into();
        let all = Of::Instructions.counts(&c).unwrap();
        assert_eq!(all.iter().sum::<f64>(), 320.0);
        assert_eq!(all[6], 96.0);
        assert_eq!(Of::Data.counts(&c).unwrap(), [500.0, 60.0, 40.0]);
        assert_eq!(all.len(), Of::Instructions.kinds().len());
        assert!(Of::Data.counts(&Counters::new()).is_none());
    }
}
