//! The cases of a matrix product, by precision and transposition, next to the vendor's library.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::table::{Cell, Columns, Table};
use serde::Deserialize;

/// A table of recorded cases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gemms {
    /// Cases with what `greenup tune --json` printed for each.
    pub record: String,
}

#[derive(Debug, Deserialize)]
struct Record {
    device: String,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Case {
    /// Precision and transpositions, such as `dnt`.
    case: String,
    /// Real flops of a product.
    flops: f64,
    tune: Tuned,
}

#[derive(Debug, Deserialize)]
struct Tuned {
    parameters: Vec<String>,
    finalists: Vec<Finalist>,
    baseline: Baseline,
}

#[derive(Debug, Deserialize)]
struct Finalist {
    config: Vec<serde_json::Value>,
    time_s: Interval,
}

#[derive(Debug, Deserialize)]
struct Baseline {
    time_s: Interval,
    time_ratio: Interval,
    energy_ratio: Option<Interval>,
}

#[derive(Debug, Deserialize)]
struct Interval {
    median: f64,
    lo: f64,
    hi: f64,
}

impl Interval {
    fn cell(&self) -> Cell {
        let text = format!("× {:.3} [{:.3} … {:.3}]", self.median, self.lo, self.hi);
        Cell::number(self.median, text)
    }
}

impl Gemms {
    /// The table.
    ///
    /// # Errors
    /// The record is missing or broken.
    pub fn table(&self, records: &Records) -> Result<Table, PaperError> {
        let record: Record = serde_json::from_value(records.json(&self.record)?)
            .map_err(|e| broken(std::path::Path::new(&self.record), e))?;
        let rows = (record.cases.iter()).filter_map(|c| Some((c, c.tune.finalists.first()?)));
        Ok(Columns::<(&Case, &Finalist)>::new()
            .text("case", "", |(c, _)| name(&c.case))
            .si("tuned", "", "flop/s", |(c, best)| {
                c.flops / best.time_s.median
            })
            .si("cuBLAS", "", "flop/s", |(c, _)| {
                c.flops / c.tune.baseline.time_s.median
            })
            .cell("time over cuBLAS [95 %]", "", |(c, _)| {
                c.tune.baseline.time_ratio.cell()
            })
            .cell("energy over cuBLAS [95 %]", "", |(c, _)| {
                let ratio = c.tune.baseline.energy_ratio.as_ref();
                ratio.map_or_else(Cell::missing, Interval::cell)
            })
            .wrapped("config", "", |(c, best)| {
                config(&c.tune.parameters, &best.config)
            })
            .table(
                format!("The best of each case and cuBLAS, {}", record.device),
                rows,
            ))
    }
}

/// `dnt` as DGEMM NT.
fn name(case: &str) -> String {
    let upper = case.to_uppercase();
    match upper.split_at_checked(1) {
        Some((precision, transposed)) => format!("{precision}GEMM {transposed}"),
        None => upper,
    }
}

/// The parameters that the paper has too, and those that say which kernel it is.
fn config(parameters: &[String], values: &[serde_json::Value]) -> String {
    const SHOWN: [&str; 10] = [
        "use_mma",
        "way_copy",
        "dim_m",
        "dim_n",
        "blk_m",
        "blk_n",
        "blk_k",
        "stage_count",
        "parts_ahead",
        "blocks_wanted",
    ];
    (parameters.iter().zip(values))
        .filter(|(p, _)| SHOWN.contains(&p.as_str()))
        .map(|(p, v)| format!("{p}={v}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_a_name_and_a_config() {
        assert_eq!(name("ztn"), "ZGEMM TN");
        let parameters = ["use_mma", "pad_a", "blk_k"].map(str::to_owned);
        let values = [8.into(), 2.into(), 16.into()];
        assert_eq!(config(&parameters, &values), "use_mma=8 blk_k=16");
    }
}
