//! A measured case of `fmm study`, as text and JSON.

use greenup_app::print;
use greenup_report::chart::axis::short;
use greenup_report::provenance::Provenance;
use greenup_report::si::prefix_of;
use greenup_report::table::{Cell, Columns};
use greenup_tune::sweep::Sweep;
use serde_json::{Value, json};

/// A measured case.
pub struct Row {
    pub config: Vec<String>,
    pub time_s: f64,
    pub energy_j: Option<f64>,
}

impl Row {
    /// Mean power, W.
    pub fn power_w(&self) -> Option<f64> {
        self.energy_j.map(|j| j / self.time_s)
    }

    fn text(&self, parameter: usize) -> &str {
        self.config.get(parameter).map_or("", String::as_str)
    }

    fn number(&self, parameter: usize) -> f64 {
        self.text(parameter).parse().unwrap_or(f64::NAN)
    }

    /// Number of points.
    pub fn points(&self) -> f64 {
        self.number(1)
    }

    fn gradients(&self) -> bool {
        self.text(5).eq_ignore_ascii_case("true")
    }

    /// Distribution, points, ncrit.
    pub fn input(&self) -> String {
        let (factor, prefix) = prefix_of(self.points());
        let points = format!("{} {prefix}", short(self.points() / factor));
        format!(
            "{} {}, ncrit {}",
            self.text(0),
            points.trim_end(),
            self.text(2)
        )
    }

    /// Precision, accuracy, gradients.
    pub fn setting(&self) -> String {
        let gradients = if self.gradients() { ", gradients" } else { "" };
        format!("{} to {:e}{gradients}", self.text(3), self.number(4))
    }
}

/// The table of cases.
pub fn columns() -> Columns<'static, Row> {
    let of = |c: &Row, i: usize| Cell::number(c.number(i), c.text(i));
    Columns::<Row>::new()
        .text("points", "", |c| c.text(0).into())
        .cell("n", "", move |c| of(c, 1))
        .cell("ncrit", "", move |c| of(c, 2))
        .text("precision", "", |c| c.text(3).into())
        .cell("accuracy", "", |c| {
            Cell::shown(c.number(4), |v| format!("{v:e}"))
        })
        .text("gradients", "", |c| {
            if c.gradients() { "yes" } else { "no" }.into()
        })
        .si("time", "", "s", |c| c.time_s)
        .si("energy", "", "J", |c| c.energy_j)
        .where_known()
        .si("power", "", "W", Row::power_w)
        .where_known()
}

/// The measured cases.
pub fn rows(sweep: &Sweep) -> Vec<Row> {
    (sweep.trials.iter())
        .filter_map(|t| {
            let cost = t.cost()?;
            Some(Row {
                config: t.config.iter().map(ToString::to_string).collect(),
                time_s: cost.time_s,
                energy_j: cost.energy_j,
            })
        })
        .collect()
}

/// Prints a line a case.
pub fn print(sweep: &Sweep) {
    print::table(&columns().table("", rows(sweep)));
}

/// The cases as `--json` prints them: configs by the names of their parameters, times in s, energies in J.
pub fn value(sweep: &Sweep, provenance: &Provenance) -> Value {
    let names = &sweep.facts.parameters;
    let rows: Vec<Value> = (sweep.trials.iter())
        .filter_map(|t| {
            let cost = t.cost()?;
            let config: serde_json::Map<String, Value> = (names.iter().zip(&t.config))
                .map(|(n, v)| (n.clone(), json!(v)))
                .collect();
            Some(json!({"config": config, "time_s": cost.time_s, "energy_j": cost.energy_j}))
        })
        .collect();
    json!({"provenance": provenance, "device": sweep.facts.device, "cases": rows})
}
