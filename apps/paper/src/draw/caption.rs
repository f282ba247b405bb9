//! What a figure of a paper shows beyond its axes.

use super::Draw;
use crate::PaperError;
use crate::records::Records;
use greenup_study::pages::sweep::findings;

impl Draw {
    /// What the figure shows beyond its axes.
    ///
    /// # Errors
    /// A record is missing.
    pub fn caption(&self, records: &Records) -> Result<String, PaperError> {
        Ok(match self {
            Self::Plane { record } => {
                let s = records.sweep(record)?;
                let fast = &s.analysis.rows[s.analysis.fastest];
                format!(
                    "{} configs on {}. Fastest: {}.",
                    s.analysis.rows.len(),
                    s.sweep.facts.device,
                    findings::config(&s.sweep, fast)
                )
            }
            Self::Roofline {
                points: Some(p), ..
            } => format!("Dots: microbenchmarks of {p}."),
            Self::Capped(p) if !p.measured.is_empty() => {
                let of: Vec<&str> = p.measured.iter().map(|m| m.record.as_str()).collect();
                format!(
                    "Lines: the model with the machines' constants. Dots: microbenchmarks of {}.",
                    of.join(", ")
                )
            }
            Self::Lines(l) => {
                let of: Vec<&str> = l
                    .machines
                    .iter()
                    .filter_map(|m| m.record.as_deref())
                    .collect();
                if of.is_empty() {
                    "Computed by the model from the machines' constants.".into()
                } else {
                    format!("Dots: microbenchmarks of {}.", of.join(", "))
                }
            }
            Self::Capped(_)
            | Self::Throttling { .. }
            | Self::Tradeoffs(_)
            | Self::Balances { .. } => {
                "Computed by the model from the machines' published constants.".into()
            }
            Self::Hydro(h) => h.caption(),
            Self::TreeLists(lists) => lists.caption(records)?,
            Self::Energies(energies) => energies.caption(records)?,
            Self::Metrics { .. } => {
                "The third panel of each row is the plane of performance and efficiency.".into()
            }
            _ => String::new(),
        })
    }
}
