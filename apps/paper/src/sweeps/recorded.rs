//! Charts of records that need work of their own: replayed searches, curves through the rows of a JSON record.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::chart::Chart;
use greenup_report::scaling_figure::Series;
use greenup_study::pages::replay::{Repeated, figure};
use greenup_tune::Objective;
use greenup_tune::replay::replay;
use greenup_tune::search::Budget;
use greenup_tune::strategy::strategy;
use serde_json::Value;

/// Search strategies for time on a recorded sweep: a share of its configs, with seeds from 1.
///
/// # Errors
/// The record is missing or has no times, or a strategy is unknown.
pub fn replayed(
    records: &Records,
    record: &str,
    strategies: &[String],
    share: f64,
    seeds: u64,
) -> Result<Chart, PaperError> {
    let path = records.path(record)?;
    let s = records.sweep(record)?;
    let trials = (s.sweep.trials.len() as f64 * share).round().max(1.0);
    let budget = Budget::Evaluations(trials as usize);
    let once = |name: &str, seed: u64| {
        let mut by = strategy(name, None).map_err(|e| broken(&path, e))?;
        replay(&s.sweep, &[Objective::Time], by.as_mut(), budget, seed)
            .map_err(|e| broken(&path, e))
    };
    let all = (strategies.iter())
        .map(|name| {
            Ok(Repeated {
                strategy: name.clone(),
                runs: (1..=seeds)
                    .map(|seed| once(name, seed))
                    .collect::<Result<_, PaperError>>()?,
            })
        })
        .collect::<Result<Vec<_>, PaperError>>()?;
    Ok(figure(&s.sweep, "time", &all))
}

/// Curves through rows: pointers to x and y, and to the parts of the name; rows without numbers are left out.
pub fn curves(rows: Option<&Value>, (x, y): (&str, &str), name: &[String]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in rows.and_then(Value::as_array).into_iter().flatten() {
        let number = |pointer: &str| row.pointer(pointer).and_then(Value::as_f64);
        let (Some(x), Some(y)) = (number(x), number(y)) else {
            continue;
        };
        let parts: Vec<String> = (name.iter())
            .filter_map(|p| match row.pointer(p)? {
                Value::String(s) => Some(s.clone()),
                other => Some(other.to_string()),
            })
            .collect();
        let name = parts.join(" ");
        let k = all.iter().position(|s| s.name == name).unwrap_or_else(|| {
            all.push(Series {
                name,
                points: Vec::new(),
            });
            all.len() - 1
        });
        all[k].points.push((x, y, y, y));
    }
    for series in &mut all {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_become_curves_by_name_in_order() {
        let rows = json!([
            { "n": 4, "t": 2.0, "by": "a" },
            { "n": 2, "t": 1.0, "by": "a" },
            { "n": 2, "t": 3.0, "by": "b" },
            { "n": 8, "by": "b" },
        ]);
        let all = curves(Some(&rows), ("/n", "/t"), &["/by".to_owned()]);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].points, [(2.0, 1.0, 1.0, 1.0), (4.0, 2.0, 2.0, 2.0)]);
        assert_eq!(all[1].points.len(), 1);
        assert!(curves(None, ("/n", "/t"), &[]).is_empty());
    }
}
