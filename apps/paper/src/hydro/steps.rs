//! Shares of a time step by part, from a study of `hydro`.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::bar_rows::{self, Bars, RowBar};
use greenup_report::chart::{Chart, Series, Sign, Unit};
use greenup_report::si::percent;
use serde::Deserialize;
use serde_json::Value;

/// What the page adds to the figure.
pub(super) const CAPTION: &str = "A step of RK4 has four evaluations of the corner force and four solves, each measured alone. The rest is what the step takes more; parts that take longer alone than within a step add up to more than the step, and then to 100 %.";

/// Evaluations and solves of a step of RK4.
const STAGES: f64 = 4.0;

/// The figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// Title.
    title: String,
    /// What `hydro study --out` wrote.
    record: String,
}

/// A step: its name, and the shares of corner force, solve and the rest.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    name: String,
    shares: [f64; 3],
}

fn steps(study: &Value) -> Vec<Step> {
    let rows = || {
        study
            .get("rows")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let text = |r: &Value, key: &str| r.get(key).and_then(Value::as_str).map(str::to_owned);
    let assembly = |r: &Value| text(r, "assembly");
    let order = |r: &Value| r.get("order").and_then(Value::as_u64);
    let seconds = |r: &Value| r.get("seconds").and_then(Value::as_f64);
    rows()
        .filter(|r| text(r, "work").as_deref() == Some("step"))
        .filter_map(|step| {
            let part = |work: &str| {
                rows()
                    .find(|r| {
                        text(r, "work").as_deref() == Some(work)
                            && order(r) == order(step)
                            && assembly(r) == assembly(step)
                    })
                    .and_then(seconds)
            };
            let (corner, solve) = (STAGES * part("corner")?, STAGES * part("solve")?);
            let whole = seconds(step)?.max(corner + solve);
            let k = order(step)?;
            Some(Step {
                name: format!("Q{k}Q{}, {} assembly", k.saturating_sub(1), assembly(step)?),
                shares: [
                    corner / whole,
                    solve / whole,
                    1.0 - (corner + solve) / whole,
                ],
            })
        })
        .collect()
}

impl Steps {
    pub(super) fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let path = records.path(&self.record)?;
        let all = steps(&records.json(&self.record)?);
        if all.is_empty() {
            return Err(broken(&path, "no step with both of its parts"));
        }
        let parts = ["corner force", "solver (PCG)", "rest"];
        let rows: Vec<_> = (all.into_iter())
            .map(|s| {
                let bars = (parts.iter().zip(s.shares)).map(|(part, value)| {
                    let tip = format!("{}: {part} {}", s.name, percent(value));
                    let interval = None;
                    Some(RowBar {
                        value,
                        interval,
                        tip,
                    })
                });
                (s.name.clone(), bars.collect())
            })
            .collect();
        let label = "share of a step";
        Ok(Chart {
            title: self.title.clone(),
            series: Series::all(parts, Sign::Area),
            panels: vec![bar_rows::panel(
                "",
                label,
                Unit::Percent,
                Bars::Stacked,
                &rows,
            )],
            ..Chart::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_recorded_study_add_up() {
        let records = Records::new(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let study = records
            .json("docs/results/data/hydro/study_h200.json")
            .unwrap();
        let all = steps(&study);
        assert_eq!(all.len(), 6);
        for s in &all {
            assert!((s.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{s:?}");
            assert!(s.shares.iter().all(|x| (0.0..=1.0).contains(x)), "{s:?}");
        }
        // With stored matrices the corner force grows with the order, as in the paper.
        let corner = |name: &str| {
            all.iter()
                .find(|s| s.name.starts_with(name))
                .unwrap()
                .shares[0]
        };
        assert!(corner("Q4Q3, full") > 2.0 * corner("Q2Q1, full"));
        assert!(corner("Q4Q3, partial") < 0.5 * corner("Q4Q3, full"));
    }
}
