//! The cases of `fmm study` as text, JSON, page and figure.

use super::drawing::{Drawing, header, number};
use super::time;
use greenup_app::print;
use greenup_report::chart::axis::short;
use greenup_report::chart::{
    Axis, Bar, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::page::Fact;
use greenup_report::provenance::Provenance;
use greenup_report::si::{prefix_of, si};
use greenup_report::table::{Cell, Table};
use greenup_tune::sweep::Sweep;
use serde_json::{Value, json};

/// A measured case.
struct Case {
    config: Vec<String>,
    time_s: f64,
    energy_j: Option<f64>,
}

impl Case {
    fn power_w(&self) -> Option<f64> {
        self.energy_j.map(|j| j / self.time_s)
    }

    /// Number of points.
    fn points(&self) -> f64 {
        self.config
            .get(1)
            .and_then(|n| n.parse().ok())
            .unwrap_or(f64::NAN)
    }

    fn gradients(&self) -> bool {
        (self.config.get(5)).is_some_and(|v| v.eq_ignore_ascii_case("true"))
    }

    /// Distribution, points, ncrit.
    fn input(&self) -> String {
        let c = |i: usize| self.config.get(i).map_or("", String::as_str);
        let (factor, prefix) = prefix_of(self.points());
        let points = format!("{} {prefix}", short(self.points() / factor));
        format!("{} {}, ncrit {}", c(0), points.trim_end(), c(2))
    }

    /// Precision, accuracy, gradients.
    fn setting(&self) -> String {
        let c = |i: usize| self.config.get(i).map_or("", String::as_str);
        let gradients = if self.gradients() { ", gradients" } else { "" };
        format!("{} to {}{gradients}", c(3), accuracy(c(4)))
    }
}

/// An accuracy as its flag is given: `1e-4`.
fn accuracy(text: &str) -> String {
    (text.parse::<f64>()).map_or_else(|_| text.to_owned(), |v| format!("{v:e}"))
}

fn cases(sweep: &Sweep) -> Vec<Case> {
    (sweep.trials.iter())
        .filter_map(|t| {
            let cost = t.cost()?;
            Some(Case {
                config: t.config.iter().map(ToString::to_string).collect(),
                time_s: cost.time_s,
                energy_j: cost.energy_j,
            })
        })
        .collect()
}

/// Prints a line a case.
pub fn print(sweep: &Sweep) {
    print::line("points           n ncrit prec.  accuracy  gradient      time    energy     power");
    for case in cases(sweep) {
        let c = &case.config;
        let of = |x: Option<f64>, unit| x.map_or_else(|| "-".to_owned(), |x| si(x, unit));
        print::line(format!(
            "{:<8} {:>9} {:>5}  {:<4}  {:>8}  {:<8} {:>9} {:>9} {:>9}",
            c[0],
            c[1],
            c[2],
            c[3],
            c[4],
            c[5],
            time(case.time_s),
            of(case.energy_j, "J"),
            of(case.power_w(), "W")
        ));
    }
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

type Quantity = (&'static str, &'static str, fn(&Case) -> Option<f64>);

const QUANTITIES: [Quantity; 3] = [
    ("time per point", "s", |c| Some(c.time_s / c.points())),
    ("energy per point", "J", |c| Some(c.energy_j? / c.points())),
    ("power", "W", Case::power_w),
];

/// Time, energy and power: a row for each input, a bar for each setting.
fn chart(all: &[Case]) -> Chart {
    let distinct = |of: &dyn Fn(&Case) -> String| {
        let mut out: Vec<String> = Vec::new();
        for c in all {
            let name = of(c);
            if !out.contains(&name) {
                out.push(name);
            }
        }
        out
    };
    let (inputs, settings) = (distinct(&Case::input), distinct(&Case::setting));
    let thick = 0.84 / settings.len().max(1) as f64;
    let panel = |(title, unit, of): &Quantity| {
        let value = |c: &Case| of(c).filter(|v| v.is_finite() && *v > 0.0);
        let most = all.iter().filter_map(value).fold(0.0, f64::max);
        if most <= 0.0 {
            return None;
        }
        let names = inputs.iter().rev().cloned().collect();
        let mut panel = Panel::new(
            "",
            Axis::new(title, Unit::si(unit), Scale::Linear).over(0.0, 1.3 * most),
            Axis::new("", Unit::None, Scale::Names(names)),
        );
        panel.height = Height::Rows(16.0 * settings.len() as f64 + 8.0);
        for (k, setting) in settings.iter().enumerate() {
            let bars = (all.iter().filter(|c| c.setting() == *setting))
                .filter_map(|c| {
                    let row = inputs.iter().rev().position(|i| *i == c.input())?;
                    let v = value(c)?;
                    let text = Unit::si(unit).show(v);
                    Some(Bar {
                        // The first setting on top.
                        at: row as f64 + 0.42 - thick * (k as f64 + 0.5),
                        thick: 0.94 * thick,
                        from: 0.0,
                        to: v,
                        interval: None,
                        ink: None,
                        tip: format!("{}; {setting}: {title} {text}", c.input()),
                        text,
                    })
                })
                .collect();
            panel.push(Layer::of(
                k,
                What::Bars {
                    bars,
                    along_x: true,
                },
            ));
        }
        Some(panel)
    };
    Chart {
        title: "evaluations, by input and setting".into(),
        series: (settings.iter().enumerate())
            .map(|(k, s)| Series::new(s.clone(), Ink::Series(k), Sign::Area))
            .collect(),
        panels: QUANTITIES.iter().filter_map(panel).collect(),
        least_width: 400.0,
        ..Chart::default()
    }
}

fn row(c: &Case, energy: bool) -> Vec<Cell> {
    let text = |i: usize| c.config.get(i).cloned().unwrap_or_default();
    let count = |i: usize| match text(i).parse::<f64>() {
        Ok(n) => Cell::number(n, text(i)),
        Err(_) => Cell::text(text(i)),
    };
    let mut row = vec![
        Cell::text(text(0)),
        count(1),
        count(2),
        Cell::text(text(3)),
        number(text(4).parse().ok(), |v| format!("{v:e}")),
        Cell::text(if c.gradients() { "yes" } else { "no" }),
        number(Some(c.time_s), time),
    ];
    if energy {
        row.push(number(c.energy_j, |v| si(v, "J")));
        row.push(number(c.power_w(), |v| si(v, "W")));
    }
    row
}

/// What the page and the figure show.
pub fn drawing(sweep: &Sweep) -> Drawing {
    let all = cases(sweep);
    let mut headline = Vec::new();
    let each = |c: &Case| c.time_s / c.points();
    if let Some(c) = all.iter().min_by(|a, b| each(a).total_cmp(&each(b))) {
        let name = format!("least time per point ({}; {})", c.input(), c.setting());
        headline.push(Fact::new(&name, time(each(c))));
    }
    let energies = all
        .iter()
        .filter_map(|c| Some((c.energy_j? / c.points(), c)));
    if let Some((j, c)) = energies.min_by(|a, b| a.0.total_cmp(&b.0)) {
        let name = format!("least energy per point ({}; {})", c.input(), c.setting());
        headline.push(Fact::new(&name, si(j, "J")));
    }
    let energy = all.iter().any(|c| c.energy_j.is_some());
    let mut names = vec![
        "points",
        "n",
        "ncrit",
        "precision",
        "accuracy",
        "gradients",
        "time",
    ];
    if energy {
        names.extend(["energy", "power"]);
    }
    let table = Table {
        caption: String::new(),
        header: header(&names),
        rows: all.iter().map(|c| row(c, energy)).collect(),
    };
    Drawing {
        title: "Fast multipole method: time and energy of evaluations".into(),
        subtitle: sweep.facts.device.clone(),
        headline,
        charts: vec![(
            chart(&all),
            "Names: distribution, number of points, maximum number of points per leaf.",
        )],
        tables: vec![table],
        footer: "Medians of repeated evaluations of the Laplace kernel, without set-up and transfers.",
        ..Drawing::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_drawn_and_texts_are_clear() {
        let case = |k: usize, gradient: bool, energy_j: Option<f64>| Case {
            config: [
                "clusters",
                &(250_000 * (k + 1)).to_string(),
                "1024",
                "f32",
                "1e-4",
                &gradient.to_string(),
            ]
            .map(str::to_owned)
            .to_vec(),
            time_s: 0.01 * (k + 1) as f64,
            energy_j,
        };
        let many = |energy: Option<f64>| -> Vec<Case> {
            (0..8)
                .flat_map(|k| [case(k, false, energy), case(k, true, energy)])
                .collect()
        };
        for (all, panels) in [
            (many(Some(3.0)), 3),
            (many(None), 1),
            (vec![case(0, true, Some(f64::NAN))], 1),
            (vec![], 0),
        ] {
            let c = chart(&all);
            let named = |s: &Series| s.name == "f32 to 1e-4, gradients";
            assert_eq!(c.series.iter().any(named), !all.is_empty());
            assert_eq!(c.panels.len(), panels);
            for width in [300.0, 400.0, 900.0, 1200.0] {
                assert_eq!(c.faults(width), Vec::<String>::new());
            }
        }
    }
}
