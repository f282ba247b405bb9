//! Hardware counters with what each is for (thesis, table 9).

use crate::PaperError;
use greenup_report::table::{Cell, Columns, Table};
use greenup_tune::counters::table::{COUNTERS, Counter};
use serde::Deserialize;

/// The table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterTable {
    /// What is counted, one row each.
    pub rows: Vec<Row>,
}

/// One counted quantity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Our name of the counter.
    pub ours: String,
    /// What it is for.
    pub purpose: String,
    /// The counters of the paper that it stands for, as the paper prints them.
    #[serde(default)]
    pub paper: String,
}

impl CounterTable {
    /// The table: our name, the metrics of the profiler whose sum it is, what one count is worth, the paper's counters.
    ///
    /// # Errors
    /// There is no such counter.
    pub fn table(&self) -> Result<Table, PaperError> {
        let rows = self.rows.iter().map(|row| {
            let counter = COUNTERS.iter().find(|c| c.name == row.ours);
            let counter =
                counter.ok_or_else(|| PaperError::NoValue(format!("the counter {}", row.ours)))?;
            Ok((row, counter))
        });
        let rows = rows.collect::<Result<Vec<_>, PaperError>>()?;
        let purpose = "what the model needs it for";
        Ok(Columns::<(&Row, &Counter)>::new()
            .wrapped("what", purpose, |(r, _)| r.purpose.clone())
            .text("name here", "in records and figures", |(r, _)| {
                r.ours.clone()
            })
            .wrapped("metrics of ncu", "their sum", |(_, c)| {
                c.metrics.join(" + ")
            })
            .text("worth", "of one count", |(_, c)| match c.worth {
                1.0 => String::new(),
                w => format!("× {w}"),
            })
            .cell(
                "counters of the paper",
                "nvprof on a Jetson TK1; as its section 6.2 prints them",
                |(r, _)| {
                    if r.paper.is_empty() {
                        Cell::missing()
                    } else {
                        Cell::wrapped(&r.paper)
                    }
                },
            )
            .table("Counters that make up the work of a kernel", rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_counters_are_refused() {
        let row = |ours: &str| Row {
            ours: ours.into(),
            purpose: "work".into(),
            paper: String::new(),
        };
        let table = CounterTable {
            rows: vec![row("dram_bytes")],
        };
        assert_eq!(table.table().unwrap().rows.len(), 1);
        let none = CounterTable {
            rows: vec![row("dram_byte")],
        };
        assert!(none.table().is_err());
    }
}
