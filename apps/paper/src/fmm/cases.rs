//! Inputs of a study with their measured energies (thesis, table 10).

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::si::{percent, si};
use greenup_report::table::{Cell, Header, Table};
use greenup_space::Value;
use greenup_tune::sweep::{Folder, Trial};
use serde::Deserialize;

/// The table of a sweep of `fmm study`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// The sweep.
    pub record: String,
}

impl Cases {
    /// A row an evaluation.
    ///
    /// # Errors
    /// The sweep is missing.
    pub fn table(&self, records: &Records) -> Result<Table, PaperError> {
        let path = records.path(&self.record)?;
        let sweep = Folder::read(&path).map_err(|e| broken(&path, e))?;
        let mut header: Vec<Header> = (sweep.facts.parameters.iter())
            .map(|p| Header::new(p, ""))
            .collect();
        for (name, about) in [
            ("time", "of an evaluation on the GPU"),
            ("energy", "of the board"),
            (
                "spread",
                "standard deviation of the energy over its mean, where repeats allow it",
            ),
            ("counters", "whether instructions and bytes were counted"),
        ] {
            header.push(Header::new(name, about));
        }
        let number = |v: Option<f64>, text: &dyn Fn(f64) -> String| match v {
            Some(v) => Cell::number(v, text(v)),
            None => Cell::missing(),
        };
        let row = |t: &Trial| {
            let mut row: Vec<Cell> = t.config.iter().map(|v| Cell::text(text(v))).collect();
            let (cost, metric) = (t.cost(), |name: &str| t.metrics.get(name).copied());
            row.push(number(cost.map(|c| c.time_s), &|v| si(v, "s")));
            row.push(number(cost.and_then(|c| c.energy_j), &|v| si(v, "J")));
            row.push(number(metric("energy_sd"), &percent));
            let counted = metric("dram_bytes").is_some();
            row.push(Cell::text(if counted { "yes" } else { "no" }));
            row
        };
        Ok(Table {
            caption: format!("Evaluations on {}", sweep.facts.device),
            header,
            rows: sweep.trials.iter().map(row).collect(),
        })
    }
}

fn text(v: &Value) -> String {
    match v {
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        other => other.to_string(),
    }
}
