//! Figures of searches and of models of whole sweeps: recorded tables of strategies, predicted against measured times.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::chart::{
    Axis, Chart, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_study::pages::sweep::predicted::{self, times};
use serde::Deserialize;
use std::path::Path;

/// Strategies on recorded sweeps, as `greenup replay … -o FILE.csv` writes them: a panel a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strategies {
    /// The table.
    record: String,
    /// Those shown, in the order of the legend.
    strategies: Vec<String>,
    /// Smallest sweep that is shown, configs.
    #[serde(default)]
    least_configs: usize,
}

/// Times of all configs of sweeps, predicted from a share of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicted {
    /// The sweeps.
    sweeps: Vec<String>,
    /// Share of the configs that teaches the model.
    share: f64,
    /// Seed of the sample.
    seed: u64,
}

/// A row of the table.
struct Line {
    sweep: String,
    configs: usize,
    budget: f64,
    strategy: String,
    mean: f64,
    half_width_95: f64,
}

impl Strategies {
    /// Draws the table.
    ///
    /// # Errors
    /// The record is missing, is no such table, or has none of the strategies.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let text = records.text(&self.record)?;
        let lines = rows(&text).map_err(|e| broken(Path::new(&self.record), e))?;
        let mut sweeps: Vec<&str> = Vec::new();
        for l in lines.iter().filter(|l| l.configs >= self.least_configs) {
            if !sweeps.contains(&l.sweep.as_str()) {
                sweeps.push(&l.sweep);
            }
        }
        let mut panels = Vec::new();
        for sweep in sweeps {
            let name = sweep.strip_prefix("sweeps/").unwrap_or(sweep);
            let mut panel = Panel::new(
                name,
                Axis::new("measured configs", Unit::Percent, Scale::Log),
                Axis::new("optimum over best found", Unit::Percent, Scale::Linear),
            );
            for (k, strategy) in self.strategies.iter().enumerate() {
                let own = lines
                    .iter()
                    .filter(|l| l.sweep == sweep && l.strategy == *strategy);
                // Side by side, so that intervals do not cover each other.
                let beside = 1.0 + 0.03 * (k as f64 - 0.5 * (self.strategies.len() as f64 - 1.0));
                let points: Vec<Mark> = own
                    .map(|l| Mark {
                        x: l.budget * beside,
                        y: l.mean,
                        interval: Some((l.mean - l.half_width_95, l.mean + l.half_width_95)),
                        tip: format!("{strategy}: {:.4} ± {:.4}", l.mean, l.half_width_95),
                    })
                    .collect();
                let line = points.iter().map(|p| (p.x, p.y)).collect();
                panel.push(Layer::dashed(k, line, 1.5, "", strategy.clone()));
                let what = What::Points {
                    points,
                    size: 5.0,
                    hollow: false,
                };
                panel.push(Layer::of(k, what));
            }
            panels.push(panel);
        }
        if !(lines.iter()).any(|l| self.strategies.contains(&l.strategy)) {
            return Err(broken(Path::new(&self.record), "none of the strategies"));
        }
        Ok(Chart {
            title: "Search strategies: how near to the optimum".into(),
            series: (self.strategies.iter().enumerate())
                .map(|(k, name)| Series::new(name, Ink::Series(k), Sign::Line))
                .collect(),
            panels,
            ..Chart::default()
        })
    }
}

fn rows(text: &str) -> Result<Vec<Line>, String> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
    let at = |name: &str| {
        let found = head.iter().position(|h| *h == name);
        found.ok_or_else(|| format!("no column `{name}`"))
    };
    let places = [
        at("sweep")?,
        at("configs")?,
        at("budget")?,
        at("strategy")?,
        at("mean")?,
        at("half_width_95")?,
    ];
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let cell = |k: usize| cells.get(places[k]).copied().unwrap_or("");
            let number = |k: usize| {
                let found = cell(k).parse::<f64>();
                found.map_err(|_| format!("`{}` is not a number", cell(k)))
            };
            Ok(Line {
                sweep: cell(0).to_owned(),
                configs: number(1)? as usize,
                budget: number(2)?,
                strategy: cell(3).to_owned(),
                mean: number(4)?,
                half_width_95: number(5)?,
            })
        })
        .collect()
}

impl Predicted {
    /// Learns and draws.
    ///
    /// # Errors
    /// A sweep is missing or too small.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let mut all = Vec::new();
        for record in &self.sweeps {
            let s = records.sweep(record)?;
            let found = times(&s.analysis, &s.sweep, self.share, self.seed);
            let (learnt, each) =
                found.ok_or_else(|| broken(Path::new(record), "too few configs"))?;
            let name = record.strip_prefix("sweeps/").unwrap_or(record);
            all.push((name.to_owned(), learnt, each));
        }
        Ok(predicted::chart(&all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_bad_tables_are_refused() {
        let text = "strategy,sweep,configs,budget,mean,half_width_95\nforest,a,20,0.1,0.9,0.01\n";
        let all = rows(text).unwrap();
        assert_eq!((all[0].sweep.as_str(), all[0].configs), ("a", 20));
        assert_eq!((all[0].mean, all[0].half_width_95), (0.9, 0.01));
        assert!(rows("sweep,mean\n").is_err());
        assert!(rows(&text.replace("0.9", "x")).is_err());
    }
}
