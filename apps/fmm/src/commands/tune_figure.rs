//! The figure of `fmm tune`: time and energy over ncrit.

use super::drawing::Drawing;
use super::time;
use super::tune::MeasuredSetting;
use greenup_report::chart::Chart;
use greenup_report::page::Fact;
use greenup_report::scaling_figure::{Panel, Series, scaling};
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

/// Time and energy of an evaluation over ncrit, a line for each M2L method, and the phases that ncrit balances.
fn chart(rows: &[MeasuredSetting]) -> Chart {
    let line = |name: String, method: &str, of: &dyn Fn(&MeasuredSetting) -> Option<f64>| {
        let mut points: Vec<(f64, f64, f64, f64)> = (rows.iter())
            .filter(|r| r.method() == method)
            .filter_map(|r| of(r).map(|v| (r.ncrit as f64, v, v, v)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name, points }
    };
    let all = methods(rows);
    let panel = |label: &str, unit: &str, of: &dyn Fn(&MeasuredSetting) -> Option<f64>| Panel {
        label: label.into(),
        unit: unit.into(),
        series: (all.iter())
            .map(|m| line(m.clone(), m, of))
            .filter(|s| !s.points.is_empty())
            .collect(),
    };
    let mut panels = vec![
        panel("time", "s", &|r| Some(r.time_s)),
        panel("energy", "J", &|r| r.energy_j),
        panel("time of P2P", "s", &|r| Some(r.p2p_s)),
        panel("time of M2L", "s", &|r| Some(r.m2l_s)),
    ];
    panels.retain(|p| !p.series.is_empty());
    Chart {
        // Three in a row, four in two rows.
        least_width: if panels.len() > 3 { 420.0 } else { 280.0 },
        ..scaling("an evaluation, by ncrit and M2L method", "ncrit", &panels)
    }
}

/// What the page and the figure show.
pub fn drawing(rows: &[MeasuredSetting]) -> Drawing {
    let named = |r: &MeasuredSetting| format!("ncrit {}, {}", r.ncrit, r.method());
    let mut headline = Vec::new();
    if let Some(r) = rows.iter().min_by(|a, b| a.time_s.total_cmp(&b.time_s)) {
        headline.push(Fact::new(
            &format!("fastest ({})", named(r)),
            time(r.time_s),
        ));
    }
    let with = rows.iter().filter_map(|r| r.energy_j.map(|j| (j, r)));
    if let Some((j, r)) = with.min_by(|a, b| a.0.total_cmp(&b.0)) {
        headline.push(Fact::new(
            &format!("lowest energy ({})", named(r)),
            si(j, "J"),
        ));
    }
    let table = Columns::<MeasuredSetting>::new()
        .text("M2L method", "", MeasuredSetting::method)
        .count("ncrit", "", |r| r.ncrit as u64)
        .si("time", "", "s", |r| r.time_s)
        .si("P2P", "", "s", |r| r.p2p_s)
        .si("M2L", "", "s", |r| r.m2l_s)
        .si("energy", "", "J", |r| r.energy_j)
        .where_known()
        .table("", rows);
    Drawing {
        title: "Fast multipole method: tuning".into(),
        subtitle: "ncrit is the maximum number of points per leaf".into(),
        headline,
        charts: vec![(
            chart(rows),
            "P2P grows with ncrit, M2L shrinks: their sum has a minimum.",
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
        };
        let all = |energy: Option<f64>| -> Vec<MeasuredSetting> {
            [M2l::Fft, M2l::Compressed]
                .into_iter()
                .flat_map(|m| [16, 64, 100, 1024].map(|n| row(n, m, energy)))
                .collect()
        };
        for (rows, panels) in [
            (all(None), 3),
            (all(Some(2.0)), 4),
            (vec![row(64, M2l::Fft, Some(f64::NAN))], 4),
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
