//! Figures of X-ray scattering: time over one parameter, maps of a JSON record, speedups.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit,
};
use greenup_report::heat_figure::{Heat, heats};
use greenup_report::si::si;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Time over the values of one parameter, over that at its smallest; a curve for each setting of the others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverParameter {
    /// The sweep.
    pub record: String,
    /// The parameter.
    pub parameter: String,
    /// Its name on the axis.
    pub label: String,
    /// Parameters that name the curves.
    pub curves: Vec<String>,
}

/// Maps over two numbers of the rows of a JSON record, side by side.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Maps {
    /// The record.
    pub record: String,
    /// Pointer to a list of objects.
    pub rows: String,
    /// Title.
    pub title: String,
    /// Key of the numbers along x.
    pub x: String,
    /// Key of the numbers along y.
    pub y: String,
    /// Key of the times.
    pub value: String,
    /// Key that names the map of a row.
    pub panel: String,
}

/// Speedup and efficiency over a number of threads or GPUs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speedups {
    /// The record.
    pub record: String,
    /// Pointer to a list of objects.
    pub rows: String,
    /// Title.
    pub title: String,
    /// Pointer to the number of units in an object.
    pub units: String,
    /// Name of the units.
    pub label: String,
    /// Pointer to the time.
    pub time: String,
    /// Pointer to the name of the curve.
    pub curve: Option<String>,
}

fn lacks(record: &str, what: &str) -> PaperError {
    broken(Path::new(record), format!("it has no {what}"))
}

/// A value of a row as a number.
fn number(row: &Value, pointer: &str) -> Option<f64> {
    row.pointer(pointer).and_then(Value::as_f64)
}

/// Points by the name of their curve, in the order of the rows.
type Curves = Vec<(String, Vec<(f64, f64)>)>;

fn put(curves: &mut Curves, name: String, point: (f64, f64)) {
    match curves.iter_mut().find(|(n, _)| *n == name) {
        Some((_, points)) => points.push(point),
        None => curves.push((name, vec![point])),
    }
}

fn curves_of(title: &str, x: &Axis, y: Axis, curves: &Curves) -> Panel {
    let mut panel = Panel::new(title, x.clone(), y);
    panel.height = Height::Ratio(0.6);
    for (k, (name, points)) in curves.iter().enumerate() {
        panel.push(Layer::line(k, points.clone(), name.clone()));
        let marks = (points.iter())
            .map(|&(x, y)| Mark {
                x,
                y,
                interval: None,
                tip: format!("{name}: {y:.3} at {x}"),
            })
            .collect();
        panel.push(Layer::points(k, marks, 7.0));
    }
    panel
}

fn series(curves: &Curves) -> Vec<Series> {
    (curves.iter().enumerate())
        .map(|(k, (name, _))| Series::new(name.clone(), Ink::Series(k), Sign::Line))
        .collect()
}

impl OverParameter {
    /// The chart.
    ///
    /// # Errors
    /// The sweep is missing or lacks the parameter.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let s = records.sweep(&self.record)?;
        let names = &s.sweep.facts.parameters;
        let place = |name: &String| {
            (names.iter().position(|n| n == name)).ok_or_else(|| lacks(&self.record, name))
        };
        let x = place(&self.parameter)?;
        let by = (self.curves.iter().map(place)).collect::<Result<Vec<_>, _>>()?;
        let mut curves = Curves::new();
        for (trial, cost) in s.sweep.measured() {
            let at = trial.config[x].as_float();
            let at = at.ok_or_else(|| lacks(&self.record, "numbers of this parameter"))?;
            let name: Vec<String> = (by.iter())
                .map(|&k| format!("{} = {}", names[k], trial.config[k]))
                .collect();
            put(&mut curves, name.join(", "), (at, cost.time_s));
        }
        curves.sort_by(|a, b| a.0.cmp(&b.0));
        for (_, points) in &mut curves {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let first = points[0].1;
            points.iter_mut().for_each(|p| p.1 /= first);
        }
        let y = Axis::new("time over that of no unrolling", Unit::None, Scale::Linear).from_zero();
        let axis = Axis::new(&self.label, Unit::None, Scale::Log2);
        Ok(Chart {
            title: format!("Time over the {} ({})", self.label, s.sweep.facts.device),
            series: series(&curves),
            panels: vec![curves_of("", &axis, y, &curves)],
            ..Chart::default()
        })
    }
}

impl Maps {
    /// The chart: all maps over the best of all.
    ///
    /// # Errors
    /// The record is missing or has no such rows.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let json = records.json(&self.record)?;
        let rows = json.pointer(&self.rows).and_then(Value::as_array);
        let rows = rows.ok_or_else(|| lacks(&self.record, "such rows"))?;
        let key = |row: &Value, key: &str| number(row, &format!("/{key}"));
        let mut all: Vec<(String, f64, f64, f64)> = Vec::new();
        for row in rows {
            let found = (key(row, &self.x), key(row, &self.y), key(row, &self.value));
            if let ((Some(x), Some(y), Some(v)), Some(name)) =
                (found, row.get(&self.panel).and_then(Value::as_str))
            {
                all.push((name.to_owned(), x, y, v));
            }
        }
        let best = (all.iter().map(|r| r.3)).min_by(f64::total_cmp);
        let best = best.ok_or_else(|| lacks(&self.record, "such rows"))?;
        let axis = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.dedup();
            values
        };
        let xs = axis(all.iter().map(|r| r.1).collect());
        let ys = axis(all.iter().map(|r| r.2).collect());
        let mut names: Vec<&String> = Vec::new();
        for (name, ..) in &all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let text = |all: &[f64]| all.iter().map(f64::to_string).collect::<Vec<_>>();
        let maps = (names.into_iter())
            .map(|name| {
                let at = |x: f64, y: f64| {
                    let mut of = all.iter().filter(|r| r.0 == *name);
                    of.find(|r| (r.1, r.2) == (x, y)).map(|r| r.3 / best)
                };
                Heat {
                    title: name.clone(),
                    x: (self.x.clone(), text(&xs)),
                    y: (self.y.clone(), text(&ys)),
                    ratios: (ys.iter())
                        .map(|y| xs.iter().map(|x| at(*x, *y)).collect())
                        .collect(),
                    quantity: "time over the best".into(),
                }
            })
            .collect::<Vec<_>>();
        let title = format!("{}: time over the best of {}", self.title, si(best, "s"));
        Ok(heats(&title, &maps))
    }
}

impl Speedups {
    /// The chart.
    ///
    /// # Errors
    /// The record is missing or has no such rows.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let json = records.json(&self.record)?;
        let rows = json.pointer(&self.rows).and_then(Value::as_array);
        let mut curves = Curves::new();
        for row in rows.into_iter().flatten() {
            if let (Some(n), Some(s)) = (number(row, &self.units), number(row, &self.time)) {
                let name = self.curve.as_ref().and_then(|c| row.pointer(c)?.as_str());
                put(&mut curves, name.unwrap_or("measured").to_owned(), (n, s));
            }
        }
        if curves.is_empty() {
            return Err(lacks(&self.record, "such rows"));
        }
        let mut most = 1.0_f64;
        for (_, points) in &mut curves {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            // Over the time of the fewest, as if those were perfect.
            let (n, s) = points[0];
            points.iter_mut().for_each(|p| p.1 = n * s / p.1);
            most = points.iter().fold(most, |m, p| m.max(p.0));
        }
        let efficiency: Curves = (curves.iter())
            .map(|(name, p)| (name.clone(), p.iter().map(|&(n, s)| (n, s / n)).collect()))
            .collect();
        let x = Axis::new(&self.label, Unit::None, Scale::Log2);
        let mut speed = curves_of(
            "",
            &x,
            Axis::new("speedup", Unit::None, Scale::Log2),
            &curves,
        );
        speed.layers.insert(
            0,
            Layer::dashed(
                curves.len(),
                vec![(1.0, 1.0), (most, most)],
                1.2,
                "4 3",
                "perfect",
            ),
        );
        let y = Axis::new("efficiency", Unit::None, Scale::Linear).over(0.0, 1.15);
        let mut all = series(&curves);
        all.push(Series::new("perfect", Ink::Quiet, Sign::Dashed));
        Ok(Chart {
            title: self.title.clone(),
            series: all,
            panels: vec![speed, curves_of("", &x, y, &efficiency)],
            least_width: 330.0,
            ..Chart::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn folder(name: &str, value: &Value) -> (tempfile::TempDir, Records) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(name), value.to_string()).unwrap();
        let records = Records::new(dir.path());
        (dir, records)
    }

    #[test]
    fn maps_are_over_the_best_of_all() {
        let row = |p: u32, t: u32, pin: &str, s: f64| json!({ "processes": p, "threads": t, "pin": pin, "time_s": s });
        let rows = json!({ "rows": [row(1, 2, "none", 2.0), row(2, 1, "none", 3.0), row(1, 2, "compact", 1.0)] });
        let (_dir, records) = folder("a.json", &rows);
        let maps = Maps {
            record: "a.json".into(),
            rows: "/rows".into(),
            title: "t".into(),
            x: "processes".into(),
            y: "threads".into(),
            value: "time_s".into(),
            panel: "pin".into(),
        };
        let chart = maps.chart(&records).unwrap();
        let titles: Vec<&str> = chart.panels.iter().map(|p| p.title.as_str()).collect();
        assert_eq!(titles, ["none", "compact"]);
        let svg = chart.svg(greenup_report::chart::Style::Light, 900.0);
        for text in [">1.00<", ">2.00<", ">3.00<"] {
            assert!(svg.contains(text), "{text}");
        }
        let none = Maps {
            rows: "/other".into(),
            ..maps
        };
        assert!(none.chart(&records).is_err());
    }

    #[test]
    fn speedups_are_over_the_fewest_units() {
        let rows = json!({ "rows": [{ "n": 1, "t": 4.0 }, { "n": 4, "t": 2.0 }] });
        let (_dir, records) = folder("s.json", &rows);
        let speedups = Speedups {
            record: "s.json".into(),
            rows: "/rows".into(),
            title: "t".into(),
            units: "/n".into(),
            label: "threads".into(),
            time: "/t".into(),
            curve: None,
        };
        let chart = speedups.chart(&records).unwrap();
        let lines: Vec<&Vec<(f64, f64)>> = (chart.panels.iter())
            .flat_map(|p| &p.layers)
            .filter_map(|l| match &l.what {
                greenup_report::chart::What::Line { points, .. } => Some(points),
                _ => None,
            })
            .collect();
        assert_eq!(lines[1], &[(1.0, 1.0), (4.0, 2.0)]);
        assert_eq!(lines[2], &[(1.0, 1.0), (4.0, 0.5)]);
    }
}
