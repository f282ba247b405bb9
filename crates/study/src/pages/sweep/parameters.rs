//! Configs by the values of their parameters: as lines, and as distributions.

use greenup_report::box_figure::{self, Spread, boxes};
use greenup_report::chart::{Axis, Chart, Scale, Unit};
use greenup_report::dumbbell_figure::{Row, dumbbells};
use greenup_report::parallel_figure::{self, Parallel};
use greenup_space::Value;
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, MeasuredConfig};

/// Rows of boxes a parameter; neighbouring values of more share one.
const BOXES: usize = 6;

/// Values of the parameter at a place of the configs: numbers rising, then texts.
pub fn values(sweep: &Sweep, at: usize) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for t in &sweep.trials {
        if !all.contains(&t.config[at]) {
            all.push(t.config[at].clone());
        }
    }
    let number = |v: &Value| v.as_float().unwrap_or(f64::INFINITY);
    all.sort_by(|a, b| {
        (number(a).total_cmp(&number(b))).then_with(|| a.to_string().cmp(&b.to_string()))
    });
    all
}

/// Places of the parameters that have several values, with these.
pub(super) fn varied(sweep: &Sweep) -> Vec<(usize, Vec<Value>)> {
    (0..sweep.facts.parameters.len())
        .map(|p| (p, values(sweep, p)))
        .filter(|(_, v)| v.len() > 1)
        .collect()
}

/// What is minimised, with its name.
pub fn parallel(
    a: &Analysis,
    sweep: &Sweep,
    what: &str,
    value: impl Fn(&MeasuredConfig) -> Option<f64>,
) -> Chart {
    let varied = varied(sweep);
    let configs = (a.rows.iter())
        .map(|r| {
            let config = &sweep.trials[r.trial].config;
            let at = |(p, all): &(usize, Vec<Value>)| all.iter().position(|v| *v == config[*p]);
            let places: Option<Vec<usize>> = varied.iter().map(at).collect();
            (value(r).unwrap_or(f64::NAN), places.unwrap_or_default())
        })
        .collect();
    Parallel {
        title: format!("{}: parameters of the configs of least {what}", a.name),
        parameters: varied
            .iter()
            .map(|(p, all)| parallel_figure::Parameter {
                name: sweep.facts.parameters[*p].clone(),
                values: all.iter().map(Value::to_string).collect(),
            })
            .collect(),
        configs,
    }
    .chart()
}

/// The larger share of the variation of time and energy that a parameter explains.
fn share(a: &Analysis, p: usize) -> f64 {
    let of = |all: &[f64]| all.get(p).copied().unwrap_or(0.0);
    of(&a.importance_time).max(of(a.importance_energy.as_deref().unwrap_or_default()))
}

/// Places of the parameters, those that explain most of the variation of time or energy first.
pub fn ranked(a: &Analysis) -> Vec<usize> {
    let mut order: Vec<usize> = (0..a.parameters.len()).collect();
    order.sort_by(|p, q| share(a, *q).total_cmp(&share(a, *p)));
    order
}

/// Parameters with their importance on a page at most.
const IMPORTANT: usize = 10;

/// Those of the page; what explains nothing is left out.
pub(super) fn important(a: &Analysis) -> Vec<usize> {
    let mut order = ranked(a);
    order.retain(|p| share(a, *p) > 0.0);
    order.truncate(IMPORTANT);
    order
}

/// What each parameter explains of the variation of time and energy, the most important first; `None` where it is not
/// known.
pub fn importance(a: &Analysis) -> Option<Chart> {
    if important(a).is_empty() {
        return None;
    }
    let energy = a.importance_energy.as_deref();
    let series = match energy {
        Some(_) => &["time", "energy"][..],
        None => &["time"],
    };
    let row = |p: usize| {
        let mut values = vec![a.importance_time.get(p).copied()];
        values.extend(energy.map(|all| all.get(p).copied()));
        Row {
            name: a.parameters[p].clone(),
            values,
        }
    };
    let order = important(a);
    let rows: Vec<Row> = order.iter().map(|p| row(*p)).collect();
    let most = rows.iter().flat_map(|r| &r.values).flatten();
    let most = most.copied().fold(0.0, f64::max);
    let axis = Axis::new("share of the variation", Unit::Percent, Scale::Linear);
    let title = format!("{}: importance of parameters", a.name);
    let axis = axis.over(0.0, 1.06 * most.max(0.01));
    let mut chart = dumbbells(&title, axis, series, &rows);
    if order.len() == IMPORTANT && ranked(a).len() > IMPORTANT {
        chart.notes.push(format!(
            "The {IMPORTANT} most important of {} parameters.",
            a.parameters.len()
        ));
    }
    Some(chart)
}

/// Parameters with boxes on a page at most: those that explain most of the variation of time or
/// energy.
pub const SHOWN: usize = 6;

/// The distribution of what is maximised over the configs of each value, for `most` parameters at most, those that
/// explain most of the variation of time or energy.
pub fn distributions(
    a: &Analysis,
    sweep: &Sweep,
    (quantity, unit, most): (&str, &str, usize),
    value: impl Fn(&MeasuredConfig) -> Option<f64>,
) -> Chart {
    let varied = varied(sweep);
    let mut order = ranked(a);
    order.retain(|p| varied.iter().any(|v| v.0 == *p));
    order.truncate(most);
    let left_out = varied.len() - order.len();
    let mut shown: Vec<(usize, Vec<Value>)> = varied;
    shown.retain(|(p, _)| order.contains(p));
    shown.sort_by_key(|(p, _)| order.iter().position(|o| o == p));
    let all: Vec<box_figure::Parameter> = (shown.into_iter())
        .map(|(p, all)| {
            let each = all.len().div_ceil(BOXES).max(1);
            let groups = all.chunks(each).filter_map(|group| {
                let of_group =
                    |r: &&MeasuredConfig| group.contains(&sweep.trials[r.trial].config[p]);
                let spread =
                    Spread::of(a.rows.iter().filter(of_group).filter_map(&value).collect())?;
                let name = match group {
                    [first, .., last] => format!("{first} … {last}"),
                    one => one.iter().map(Value::to_string).collect(),
                };
                Some((name, spread))
            });
            box_figure::Parameter {
                name: sweep.facts.parameters[p].clone(),
                values: groups.collect(),
            }
        })
        .collect();
    let title = format!("{}: {quantity} by value of each parameter", a.name);
    let mut chart = boxes(&title, quantity, unit, &all);
    if left_out > 0 {
        chart.notes.push(format!(
            "The {most} parameters that explain most; left out here: {left_out}."
        ));
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::sweep::tests::sweep;
    use greenup_tune::analyze::analyze;

    #[test]
    fn numbers_rise_and_parameters_of_one_value_are_left_out() {
        let sweep = sweep(true, true);
        let texts =
            |p: usize| -> Vec<String> { values(&sweep, p).iter().map(Value::to_string).collect() };
        assert_eq!(texts(0)[..3], ["1", "2", "4"]);
        assert_eq!(texts(1), ["a", "b"]);
        assert_eq!(varied(&sweep).len(), 2, "the third has one value");
    }

    #[test]
    fn many_values_share_boxes_and_no_config_is_lost() {
        let sweep = sweep(false, true);
        let a = analyze(&sweep, 0.5, 1).unwrap();
        let chart = distributions(&a, &sweep, ("performance", a.unit, SHOWN), |r| {
            Some(r.performance)
        });
        let unit = ("performance", a.unit, 1);
        let one = distributions(&a, &sweep, unit, |r| Some(r.performance));
        assert_eq!(one.notes.len(), 1);
        let greenup_report::chart::Scale::Names(rows) = &chart.panels[0].y.scale else {
            panic!("named rows");
        };
        assert!(
            rows.len() <= 2 * BOXES + 1 && rows.iter().any(|r| r.contains('…')),
            "{rows:?}"
        );
        let of = |row: &String| -> usize {
            let n = row.rsplit_once('(').unwrap().1;
            n.trim_end_matches(')').parse().unwrap()
        };
        // Each of two parameters, with a gap between them.
        let named = rows.iter().filter(|r| !r.is_empty());
        assert_eq!(named.map(of).sum::<usize>(), 2 * a.rows.len());
    }
}
