//! Inputs of a study with their measured energies (thesis, table 10).

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::table::{Columns, Table};
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
        let metric = |t: &Trial, name: &str| t.metrics.get(name).copied();
        Ok(Columns::<Trial>::new()
            .and_each(sweep.facts.parameters.iter().enumerate(), |c, (k, p)| {
                c.text(p, "", move |t| text(&t.config[k]))
            })
            .si("time", "of an evaluation on the GPU", "s", |t| {
                t.cost().map(|c| c.time_s)
            })
            .si("energy", "of the board", "J", |t| t.cost()?.energy_j)
            .percent(
                "spread",
                "standard deviation of the energy over its mean, where repeats allow it",
                |t| metric(t, "energy_sd"),
            )
            .text(
                "counters",
                "whether instructions and bytes were counted",
                |t| text(&Value::Bool(metric(t, "dram_bytes").is_some())),
            )
            .table(
                format!("Evaluations on {}", sweep.facts.device),
                &sweep.trials,
            ))
    }
}

fn text(v: &Value) -> String {
    match v {
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        other => other.to_string(),
    }
}
