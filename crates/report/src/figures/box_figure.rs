//! How a quantity is distributed over the configs of each value of each parameter.

use crate::chart::{
    Axis, Bar, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What,
};

/// Half of the height of a box, in rows.
const HALF: f64 = 0.33;

/// A distribution: quartiles, whiskers and the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Number of values.
    pub n: usize,
    /// Farthest value below the box that is within 1.5 of its widths.
    pub low: f64,
    /// Lower quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile.
    pub q3: f64,
    /// Farthest value above the box that is within 1.5 of its widths.
    pub high: f64,
    /// Largest value.
    pub best: f64,
}

impl Spread {
    /// Of finite values, in any order; `None` without any.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.retain(|v| v.is_finite());
        values.sort_by(f64::total_cmp);
        let (first, last) = (*values.first()?, *values.last()?);
        let at = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let i = (place as usize).min(values.len().saturating_sub(2));
            let next = values.get(i + 1).copied().unwrap_or(last);
            values[i] + (next - values[i]) * (place - i as f64)
        };
        let (q1, median, q3) = (at(0.25), at(0.5), at(0.75));
        let reach = 1.5 * (q3 - q1);
        let low = values.iter().copied().find(|v| *v >= q1 - reach);
        let high = values.iter().rev().copied().find(|v| *v <= q3 + reach);
        Some(Self {
            n: values.len(),
            low: low.map_or(first, |v| v.min(q1)),
            q1,
            median,
            q3,
            high: high.map_or(last, |v| v.max(q3)),
            best: last,
        })
    }
}

/// A parameter: its values in order, each with the distribution over its configs.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name of the parameter.
    pub name: String,
    /// Value as text, and its distribution.
    pub values: Vec<(String, Spread)>,
}

/// The parameters below each other over one axis: more is better. `quantity` has the unit `unit`.
pub fn boxes(title: &str, quantity: &str, unit: &str, parameters: &[Parameter]) -> Chart {
    let all = || parameters.iter().flat_map(|p| &p.values).map(|v| &v.1);
    let most = all().map(|s| s.best).fold(0.0, f64::max);
    let least = all().map(|s| s.low).fold(0.0, f64::min);
    let mut x = Axis::new(quantity, Unit::si(unit), Scale::Linear);
    if most > least {
        x = x.over(least, 1.04 * most);
    }
    let rows = rows(parameters);
    let names = rows.iter().map(|r| r.0.clone()).collect();
    let mut panel = Panel::new("", x, Axis::new("", Unit::None, Scale::Names(names)));
    panel.height = Height::Rows(19.0);
    for (at, (_, row)) in rows.iter().enumerate() {
        if row.is_none() {
            let (x, y) = (None, Some(at as f64));
            panel.push(Layer::of(9, What::Rule { x, y, dash: "" }).inked(Ink::Grid));
        }
    }
    draw(&mut panel, unit, &rows);
    Chart {
        title: title.to_owned(),
        series: vec![
            Series::new(
                "middle half of the configs, median",
                Ink::Series(0),
                Sign::Area,
            ),
            Series::new("whiskers", Ink::Text, Sign::Line),
            Series::new("best", Ink::Series(1), Sign::Dot),
        ],
        panels: vec![panel],
        ..Chart::default()
    }
}

/// A row: its name, and what it shows; nothing between parameters.
type Row<'a> = (String, Option<(&'a Parameter, &'a str, &'a Spread)>);

/// The rows from the lowest up; the first parameter and its first value are on top.
fn rows(parameters: &[Parameter]) -> Vec<Row<'_>> {
    let mut out: Vec<Row> = Vec::new();
    for p in parameters.iter().filter(|p| !p.values.is_empty()) {
        if !out.is_empty() {
            out.push((String::new(), None));
        }
        for (k, (value, s)) in p.values.iter().enumerate() {
            let value = value.as_str();
            let name = match k {
                0 => format!("{} = {value} ({})", p.name, s.n),
                _ => format!("{value} ({})", s.n),
            };
            out.push((name, Some((p, value, s))));
        }
    }
    out.reverse();
    out
}

fn draw(panel: &mut Panel, unit: &str, rows: &[Row]) {
    let (mut whiskers, mut medians) = (Vec::new(), Vec::new());
    let (mut bars, mut best) = (Vec::new(), Vec::new());
    const BREAK: (f64, f64) = (f64::NAN, f64::NAN);
    let upright = |x: f64, row: f64, half: f64| [(x, row - half), (x, row + half), BREAK];
    for (row, shown) in rows.iter().enumerate() {
        let Some((p, value, s)) = shown.1 else {
            continue;
        };
        let row = row as f64;
        whiskers.extend([(s.low, row), (s.high, row), BREAK]);
        whiskers.extend(upright(s.low, row, 0.5 * HALF));
        whiskers.extend(upright(s.high, row, 0.5 * HALF));
        medians.extend(upright(s.median, row, HALF));
        let show = |v: f64| Unit::si(unit).show(v);
        let tip = format!(
            "{} = {value}: {} configs, median {}, middle half {} … {}, whiskers {} … {}, best {}",
            p.name,
            s.n,
            show(s.median),
            show(s.q1),
            show(s.q3),
            show(s.low),
            show(s.high),
            show(s.best)
        );
        bars.push(Bar {
            at: row,
            thick: 2.0 * HALF,
            from: s.q1,
            to: s.q3,
            tip: tip.clone(),
            ..Bar::default()
        });
        best.push(Mark {
            x: s.best,
            y: row,
            interval: None,
            tip,
        });
    }
    panel.push(Layer::dashed(1, whiskers, 1.3, "", ""));
    panel.push(Layer::bars(0, bars));
    panel.push(Layer::dashed(0, medians.clone(), 4.0, "", "").inked(Ink::Paper));
    panel.push(Layer::dashed(0, medians, 2.0, "", "").inked(Ink::Text));
    panel.push(Layer::points(2, best, 6.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_and_whiskers() {
        let s = Spread::of(vec![4.0, 1.0, 2.0, 3.0, 5.0, f64::NAN, 100.0]).unwrap();
        assert_eq!((s.n, s.q1, s.median, s.q3), (6, 2.25, 3.5, 4.75));
        // 100 is an outlier: the whisker ends before it.
        assert_eq!((s.low, s.high, s.best), (1.0, 5.0, 100.0));
        let one = Spread::of(vec![7.0]).unwrap();
        assert_eq!((one.low, one.median, one.high), (7.0, 7.0, 7.0));
        let two = Spread::of(vec![1.0, 2.0]).unwrap();
        assert_eq!((two.q1, two.median, two.q3), (1.25, 1.5, 1.75));
        assert_eq!(Spread::of(vec![f64::NAN]), None);
    }

    #[test]
    fn parameters_stand_below_each_other_with_a_gap() {
        let spread = || Spread::of(vec![1.0]).unwrap();
        let parameter = |name: &str, n: usize| Parameter {
            name: name.into(),
            values: (0..n).map(|v| (v.to_string(), spread())).collect(),
        };
        let all = [parameter("a", 2), parameter("none", 0), parameter("b", 1)];
        let names: Vec<String> = rows(&all).into_iter().map(|r| r.0).collect();
        assert_eq!(names, ["b = 0 (1)", "", "1 (1)", "a = 0 (1)"]);
    }
}
