//! Errors of predicted energies, with the spread of the measured ones (thesis, fig. 20).

use crate::PaperError;
use crate::records::{Records, broken, machine};
use greenup_report::chart::{Axis, Bar, Chart, Height, Layer, Panel, Scale, Series, Sign, Unit};
use greenup_report::si::percent;
use greenup_tune::analyze::counted::predict;
use greenup_tune::sweep::Folder;
use serde::Deserialize;

/// Errors of the cases of a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Energies {
    /// A sweep with counters and energies.
    pub record: String,
    /// The machine whose costs predict.
    pub machine: String,
}

/// A case: its name, (predicted − measured) / measured, standard deviation of the measured energy over its mean.
type Case = (String, f64, Option<f64>);

impl Energies {
    fn cases(&self, records: &Records) -> Result<Vec<Case>, PaperError> {
        let path = records.path(&self.record)?;
        let sweep = Folder::read(&path).map_err(|e| broken(&path, e))?;
        let all: Vec<Case> = (predict(&sweep, &machine(&self.machine)?)?.iter())
            .map(|c| {
                let spread = sweep.trials[c.trial].metrics.get("energy_sd").copied();
                let config = sweep.trials[c.trial].config.iter();
                let name: Vec<String> = config.map(ToString::to_string).collect();
                (name.join(" "), c.error(), spread)
            })
            .collect();
        if all.is_empty() {
            Err(broken(&path, "it has no counters with energies"))
        } else {
            Ok(all)
        }
    }

    /// A bar a case.
    ///
    /// # Errors
    /// The sweep is missing or has no counters, or the machine lacks a cost.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let cases = self.cases(records)?;
        let names = cases.iter().rev().map(|c| c.0.clone()).collect();
        let mut panel = Panel::new(
            "",
            Axis::new(
                "(predicted − measured) / measured energy",
                Unit::Percent,
                Scale::Linear,
            ),
            Axis::new("", Unit::None, Scale::Names(names)),
        );
        panel.height = Height::Rows(22.0);
        let bars = (cases.iter().rev().enumerate())
            .map(|(i, (name, error, spread))| Bar {
                at: i as f64,
                thick: 0.7,
                to: *error,
                // One standard deviation of the measured energy on each side.
                interval: spread.map(|s| (error - s * (1.0 + error), error + s * (1.0 + error))),
                tip: match spread {
                    Some(s) => format!("{name}: {}, sd {}", percent(*error), percent(*s)),
                    None => format!("{name}: {}", percent(*error)),
                },
                ..Bar::default()
            })
            .collect();
        panel.push(Layer::bars(0, bars));
        Ok(Chart {
            title: "Error of predicted energies".into(),
            series: Series::all(["error"], Sign::Area),
            panels: vec![panel],
            ..Chart::default()
        })
    }

    /// Mean and standard deviation of the errors, and the median spread of the energies.
    ///
    /// # Errors
    /// As [`Energies::chart`].
    pub fn caption(&self, records: &Records) -> Result<String, PaperError> {
        let cases = self.cases(records)?;
        let errors: Vec<f64> = cases.iter().map(|c| c.1.abs()).collect();
        let n = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / n;
        let squares: f64 = errors.iter().map(|e| (e - mean).powi(2)).sum();
        let mut spreads: Vec<f64> = cases.iter().filter_map(|c| c.2).collect();
        spreads.sort_by(f64::total_cmp);
        let spread = match spreads.get(spreads.len() / 2) {
            Some(s) => format!(
                " Whiskers: one standard deviation of the measured energy, {} in the median.",
                percent(*s)
            ),
            None => String::new(),
        };
        Ok(format!(
            "{} cases: mean error {}, standard deviation {}, largest {}.{spread}",
            cases.len(),
            percent(mean),
            percent((squares / n).sqrt()),
            percent(errors.iter().copied().fold(0.0, f64::max)),
        ))
    }
}
