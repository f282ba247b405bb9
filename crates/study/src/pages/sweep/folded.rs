//! Sections that are closed at first: parallel coordinates, correlations, splits, predictions, trials.

use super::figures::short;
use super::findings::learnt;
use super::parameters::{parallel, values};
use super::plane::split_scatter;
use super::tables;
use greenup_report::chart::{Axis, Chart, Scale, Unit};
use greenup_report::dumbbell_figure::{Row, dumbbells};
use greenup_report::page::{Figure, Section};
use greenup_space::Value;
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Correlation, Split};

/// Correlations on a page at most.
const CAUSES: usize = 12;
/// Planes that are split at a mean, at most.
const PLANES: usize = 4;
/// A parameter of fewer values is a category: its mean says nothing.
const CATEGORY: usize = 4;

/// All that have something to show.
pub fn sections(a: &Analysis, sweep: &Sweep) -> Vec<Section> {
    let all = [
        configs(a, sweep),
        correlated(a),
        split(a, sweep),
        predicted(a),
        trials(a, sweep),
    ];
    let folded = |s: Section| Section { folded: true, ..s };
    all.into_iter().flatten().map(folded).collect()
}

fn section(id: &str, title: &str, label: &'static str) -> Section {
    Section {
        id: id.into(),
        title: title.into(),
        // Its first word.
        short: title.split(' ').next().unwrap_or_default().into(),
        label: Some(label),
        ..Section::default()
    }
}

/// Configs as lines through their values.
fn configs(a: &Analysis, sweep: &Sweep) -> Option<Section> {
    let lines = "Each line is a config, from the value of its first parameter to that of its last; colours are its rank. Boxes hold values, those of the best config are filled.";
    if sweep.facts.parameters.len() < 2 {
        return None;
    }
    let time = parallel(a, sweep, "time", |r| Some(r.time_s));
    let mut figures = vec![Figure::chart(&time, lines)];
    if a.lowest_energy.is_some() {
        let energy = parallel(a, sweep, "energy", |r| r.energy_j);
        figures.push(Figure::chart(&energy, lines));
    }
    Some(Section {
        figures,
        ..section("parallel", "Parallel coordinates", "measured")
    })
}

/// Correlations of what may be a cause, the strongest first.
pub fn causes(a: &Analysis) -> Option<Chart> {
    let strength = |c: &Correlation| c.performance.abs().max(c.efficiency.unwrap_or(0.0).abs());
    let mut all: Vec<&Correlation> = a.correlations.iter().filter(|c| c.is_cause()).collect();
    all.sort_by(|x, y| strength(y).total_cmp(&strength(x)));
    if all.is_empty() {
        return None;
    }
    let with_energy = a.lowest_energy.is_some();
    let row = |c: &&Correlation| {
        let mut values = vec![Some(c.performance)];
        values.extend(with_energy.then_some(c.efficiency));
        Row {
            name: short(&c.label(a.rows.len()), 40),
            values,
        }
    };
    let rows: Vec<Row> = all.iter().take(CAUSES).map(row).collect();
    let series = match with_energy {
        true => &["performance", "efficiency"][..],
        false => &["performance"],
    };
    let axis = Axis::new("correlation", Unit::None, Scale::Linear).over(-1.0, 1.0);
    let title = format!("{}: correlations of parameters and counters", a.name);
    Some(dumbbells(&title, axis, series, &rows))
}

fn correlated(a: &Analysis) -> Option<Section> {
    let with = match a.lowest_energy {
        Some(_) => "performance and efficiency",
        None => "performance",
    };
    Some(Section {
        paragraphs: vec![format!(
            "Pearson's correlation coefficient with {with}, at most {CAUSES} of the strongest. Cycles, clock, power and other metrics that follow from the time are left out; `analysis.json` has all. In brackets: the number of configs with this metric, if not all."
        )],
        figures: vec![Figure::chart(&causes(a)?, "")],
        ..section("correlations", "Correlations", "derived")
    })
}

/// Whether a mean of a column says something: numbers of several values.
fn has_mean(sweep: &Sweep, name: &str) -> bool {
    let Some(p) = sweep.facts.parameters.iter().position(|n| n == name) else {
        return true;
    };
    let all = values(sweep, p);
    let number = |v: &Value| matches!(v, Value::Int(_) | Value::Float(_));
    all.len() >= CATEGORY && all.iter().all(number)
}

fn split(a: &Analysis, sweep: &Sweep) -> Option<Section> {
    let cause = |s: &&Split| {
        let own = a.correlations.iter().find(|c| c.name == s.name);
        own.is_some_and(Correlation::is_cause) && has_mean(sweep, &s.name)
    };
    let mut strongest: Vec<&Split> = a.splits.iter().filter(cause).collect();
    if strongest.is_empty() {
        return None;
    }
    let gap = |s: &Split| (s.performance.0 / s.performance.1).ln().abs();
    strongest.sort_by(|x, y| gap(y).total_cmp(&gap(x)));
    let figures = (strongest.iter().take(PLANES))
        .filter_map(|s| split_scatter(a, sweep, &s.name, s.mean))
        .map(|chart| Figure::chart(&chart, ""));
    Some(Section {
        figures: figures.collect(),
        tables: vec![tables::splits(a, &strongest)],
        ..section("splits", "Splits above and below the mean", "derived")
    })
}

/// How well a sample predicts the others.
fn predicted(a: &Analysis) -> Option<Section> {
    let all = [("Time", &a.learnt_time), ("Energy", &a.learnt_energy)];
    let paragraphs: Vec<String> = (all.into_iter())
        .filter_map(|(what, l)| Some(format!("{}.", learnt(what, l.as_ref()?))))
        .collect();
    (!paragraphs.is_empty()).then(|| Section {
        paragraphs,
        ..section("prediction", "Prediction from a sample", "derived")
    })
}

fn trials(a: &Analysis, sweep: &Sweep) -> Option<Section> {
    Some(Section {
        tables: vec![tables::trials(a, sweep)],
        ..section("trials", "Trials", "measured")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::sweep::tests::sweep;

    #[test]
    fn categories_have_no_mean() {
        let sweep = sweep(true, true);
        assert!(has_mean(&sweep, "tile"), "numbers of twenty values");
        assert!(!has_mean(&sweep, "kind") && !has_mean(&sweep, "n"));
        assert!(has_mean(&sweep, "registers"), "a metric");
    }
}
