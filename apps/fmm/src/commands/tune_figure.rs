//! The figure of `fmm tune`: parts of an evaluation and its energy over ncrit.

use super::drawing::Drawing;
use super::time;
use super::tune::MeasuredSetting;
use greenup_report::chart::{
    Axis, Bar, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit,
};
use greenup_report::page::Answer;
use greenup_report::scaling_figure::{self, scaling};
use greenup_report::si::si;
use greenup_report::table::Columns;

fn methods(rows: &[MeasuredSetting]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for r in rows {
        if !out.contains(&r.method()) {
            out.push(r.method());
        }
    }
    out
}

/// A part of a repetition: its name, and its time, s.
type Part = (&'static str, fn(&MeasuredSetting) -> f64);

/// Parts of an evaluation: name and value.
const PARTS: [Part; 3] = [
    ("P2P", |r| r.p2p_s),
    ("M2L", |r| r.m2l_s),
    ("other", |r| r.other_s),
];

/// Of each M2L method the parts of an evaluation over ncrit, and below them the energies.
fn chart(rows: &[MeasuredSetting]) -> Chart {
    let all = methods(rows);
    let parts = (rows.iter()).map(|r| PARTS.iter().map(|(_, of)| of(r)).sum::<f64>());
    let highest = parts.filter(|s| s.is_finite()).fold(1e-9, f64::max);
    let own = |method: &str| -> Vec<&MeasuredSetting> {
        let mut own: Vec<_> = rows.iter().filter(|r| r.method() == method).collect();
        own.sort_by_key(|r| r.ncrit);
        own
    };
    let mut panels: Vec<Panel> = (all.iter())
        .map(|method| stacked(method, &own(method), 1.05 * highest))
        .collect();
    let energies: Vec<scaling_figure::Series> = (all.iter())
        .map(|method| {
            let points = own(method).into_iter().filter_map(|r| {
                let j = r.energy_j?;
                Some((r.ncrit as f64, j, j, j))
            });
            scaling_figure::Series {
                name: method.clone(),
                points: points.collect(),
            }
        })
        .filter(|s| !s.points.is_empty())
        .collect();
    let energy = scaling_figure::Panel {
        label: "energy".into(),
        unit: "J".into(),
        series: energies,
    };
    let mut series = Series::all(PARTS.map(|p| p.0), Sign::Area);
    if !energy.series.is_empty() {
        let lines = scaling("", "ncrit", &[energy]);
        for (k, s) in lines.series.into_iter().enumerate() {
            series.push(Series::new(s.name, Ink::Series(PARTS.len() + k), s.sign));
        }
        for mut panel in lines.panels {
            for layer in &mut panel.layers {
                layer.series += PARTS.len();
            }
            panels.push(panel);
        }
    }
    Chart {
        title: "an evaluation, by ncrit and M2L method".into(),
        series,
        panels,
        least_width: 360.0,
        ..Chart::default()
    }
}

/// A column an ncrit, split into the parts of one repetition.
fn stacked(method: &str, rows: &[&MeasuredSetting], highest: f64) -> Panel {
    let names = rows.iter().map(|r| r.ncrit.to_string()).collect();
    let mut panel = Panel::new(
        method,
        Axis::new("ncrit", Unit::None, Scale::Names(names)),
        Axis::new("time of a repetition", Unit::si("s"), Scale::Linear).over(0.0, highest),
    );
    panel.height = Height::Ratio(0.55);
    let mut from = vec![0.0; rows.len()];
    for (part, (name, of)) in PARTS.iter().enumerate() {
        let bars = (rows.iter().zip(&mut from).enumerate())
            .map(|(i, (r, from))| {
                let start = *from;
                *from += of(r);
                Bar {
                    at: i as f64,
                    thick: 0.8,
                    from: start,
                    to: *from,
                    tip: format!("{method}, ncrit {}: {name} {}", r.ncrit, time(of(r))),
                    ..Bar::default()
                }
            })
            .collect();
        panel.push(Layer::columns(part, bars));
    }
    panel
}

/// The fastest setting and that with the lowest energy.
fn answer(rows: &[MeasuredSetting]) -> Answer {
    let named = |r: &MeasuredSetting| format!("ncrit {} with M2L by {}", r.ncrit, r.method());
    let by_time = || {
        let mut all: Vec<&MeasuredSetting> = rows.iter().collect();
        all.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        all
    };
    let order = by_time();
    let Some(fast) = order.first() else {
        return Answer::new(
            "No setting was measured.",
            "Nothing is known.",
            "`fmm tune`.",
        );
    };
    let mut says = vec![format!(
        "Fastest: {}, {}.",
        named(fast),
        si(fast.time_s, "s")
    )];
    let with = rows.iter().filter_map(|r| r.energy_j.map(|j| (j, r)));
    if let Some((j, low)) = with.min_by(|a, b| a.0.total_cmp(&b.0)) {
        says.push(
            if (low.ncrit, low.method()) == (fast.ncrit, fast.method()) {
                format!("It has the lowest energy too: {}.", si(j, "J"))
            } else {
                format!("Lowest energy: {}, {}.", named(low), si(j, "J"))
            },
        );
    }
    let near = (order.iter().skip(1)).filter(|r| r.time_s < NEAR * fast.time_s);
    let near: Vec<String> = near.map(|r| named(r)).collect();
    let sure = match near.is_empty() {
        true if order.len() == 1 => "No other setting was tried.".to_owned(),
        true => "Every other setting takes more than repetitions usually differ.".to_owned(),
        false => format!(
            "Nearly as fast, which repetitions may not tell apart: {}.",
            near.join("; ")
        ),
    };
    let next = format!(
        "Evaluate with it: `fmm run --ncrit {} --m2l {}`, with the same points, accuracy and device.",
        fast.ncrit,
        fast.method()
    );
    Answer {
        says,
        sure: vec![sure],
        next: vec![next],
    }
}

/// Times within this factor are near each other.
const NEAR: f64 = 1.05;

/// What the page and the figure show.
pub fn drawing(rows: &[MeasuredSetting]) -> Drawing {
    let table = Columns::<MeasuredSetting>::new()
        .text("M2L method", "", MeasuredSetting::method)
        .count("ncrit", "", |r| r.ncrit as u64)
        .si("time", "median of the repetitions", "s", |r| r.time_s)
        .and_each(PARTS, |columns, (name, of)| {
            columns.si(name, "of one repetition", "s", of)
        })
        .si("energy", "", "J", |r| r.energy_j)
        .where_known()
        .table("", rows);
    Drawing {
        title: "Fast multipole method: tuning".into(),
        subtitle: "ncrit is the maximum number of points per leaf".into(),
        answer: answer(rows),
        charts: vec![(
            chart(rows),
            "P2P grows with ncrit, M2L shrinks: their sum has a minimum. Parts are those of the repetition nearest to the median.",
        )],
        tables: vec![table],
        footer: "Medians of repeated evaluations, without set-up.",
        ..Drawing::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::M2l;

    #[test]
    fn methods_are_drawn_and_texts_are_clear() {
        let row = |ncrit: usize, m2l: M2l, energy_j: Option<f64>| MeasuredSetting {
            ncrit,
            m2l,
            time_s: 1e-3 * ncrit as f64,
            energy_j,
            p2p_s: 5e-4 * ncrit as f64,
            m2l_s: 1.0 / ncrit as f64,
            other_s: 1e-3,
        };
        let all = |energy: Option<f64>| -> Vec<MeasuredSetting> {
            [M2l::Fft, M2l::Compressed]
                .into_iter()
                .flat_map(|m| [16, 64, 100, 1024].map(|n| row(n, m, energy)))
                .collect()
        };
        for (rows, panels) in [
            (all(None), 2),
            (all(Some(2.0)), 3),
            (vec![row(64, M2l::Fft, Some(f64::NAN))], 2),
            (vec![], 0),
        ] {
            let d = drawing(&rows);
            assert_eq!(d.charts[0].0.panels.len(), panels);
            for width in [300.0, 400.0, 900.0] {
                assert_eq!(d.charts[0].0.faults(width), Vec::<String>::new());
            }
        }
    }
}
