//! Our tables of an item, from records.

use crate::fmm::{Cases, CounterTable};
use crate::hydro::rows::Rows;
use crate::levels::Levels;
use crate::sweeps::gemms;
use crate::{PaperError, Records, platforms};
use greenup_model::Op;
use greenup_report::table::{Columns, Table};
use greenup_study::pages::sweep::findings;
use greenup_tune::analyze::MeasuredConfig;
use serde::Deserialize;

/// A table with its input.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum List {
    /// Configs at the corners of the convex hull of performance and efficiency.
    Corners {
        /// The sweep.
        record: String,
    },
    /// Hardware counters with what each is for.
    Counters(CounterTable),
    /// Inputs of a study of the FMM with their energies.
    Cases(Cases),
    /// Costs of the levels of memory.
    Levels(Levels),
    /// Errors with and without the power cap.
    CapErrors(platforms::caps::Platforms),
    /// Symbols of the model with their values on a machine.
    Symbols {
        /// The machine.
        machine: String,
        /// The flop class.
        flop: Op,
        /// The symbols.
        symbols: Vec<platforms::tables::Symbol>,
    },
    /// Cases of a matrix product next to the vendor's library.
    Gemms(gemms::Gemms),
    /// Constants of machines.
    Constants {
        /// The machines.
        machines: Vec<String>,
        /// The flop class.
        flop: Op,
    },
    /// Peaks of machines.
    Peaks {
        /// The machines.
        machines: Vec<String>,
    },
    /// Rows of JSON records.
    Rows(Rows),
}

impl List {
    /// The table.
    ///
    /// # Errors
    /// The record is missing.
    pub fn table(&self, records: &Records) -> Result<Table, PaperError> {
        let record = match self {
            Self::Corners { record } => record,
            Self::Counters(counters) => return counters.table(),
            Self::Cases(cases) => return cases.table(records),
            Self::Levels(levels) => return levels.table(records),
            Self::CapErrors(p) => return platforms::caps::table(records, &p.platforms),
            Self::Symbols {
                machine,
                flop,
                symbols,
            } => return platforms::tables::symbols(records, machine, *flop, symbols),
            Self::Gemms(g) => return g.table(records),
            Self::Constants { machines, flop } => {
                return platforms::tables::constants(records, machines, *flop);
            }
            Self::Peaks { machines } => return platforms::tables::peaks(records, machines),
            Self::Rows(rows) => return rows.table(records),
        };
        let s = records.sweep(record)?;
        let a = &s.analysis;
        let corners = a.hull.iter().flat_map(|h| &h.corners);
        let per_j = format!("{}/J", a.unit.trim_end_matches("/s"));
        Ok(Columns::<MeasuredConfig>::new()
            .wrapped("config", "", |r| findings::config(&s.sweep, r))
            .si("performance", "", a.unit, |r| r.performance)
            .si("efficiency", "", &per_j, |r| r.efficiency)
            .table(
                format!("Corners of the convex hull, {}", s.sweep.facts.device),
                corners.map(|&i| &a.rows[i]),
            ))
    }
}
