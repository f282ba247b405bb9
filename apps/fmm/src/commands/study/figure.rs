//! The cases of `fmm study` as page and figure.

use super::row::{Row, columns, rows};
use crate::commands::drawing::Drawing;
use crate::commands::time;
use greenup_report::chart::Chart;
use greenup_report::cost_figure::{Case, costs};
use greenup_report::page::Answer;
use greenup_report::si::si;
use greenup_tune::sweep::Sweep;

/// Time, energy and power: a row for each input, a bar for each setting.
fn chart(all: &[Row]) -> Chart {
    let quantities = [
        ("time per point", "s"),
        ("energy per point", "J"),
        ("power", "W"),
    ];
    let case = |c: &Row| {
        let each = |v: f64| v / c.points();
        let values = [Some(each(c.time_s)), c.energy_j.map(each), c.power_w()];
        Case {
            row: c.input(),
            bar: c.setting(),
            costs: values.map(|v| Some((v?, 0.0))).to_vec(),
        }
    };
    let all: Vec<Case> = all.iter().map(case).collect();
    let mut settings: Vec<String> = Vec::new();
    for case in &all {
        if !settings.contains(&case.bar) {
            settings.push(case.bar.clone());
        }
    }
    costs(
        "evaluations, by input and setting",
        &quantities,
        &settings,
        &all,
    )
}

/// What the page and the figure show.
pub fn drawing(sweep: &Sweep) -> Drawing {
    let all = rows(sweep);
    let each = |c: &Row| c.time_s / c.points();
    let mut says = Vec::new();
    if let Some(c) = all.iter().min_by(|a, b| each(a).total_cmp(&each(b))) {
        says.push(format!(
            "The least time per point is {}: {}, {}.",
            time(each(c)),
            c.input(),
            c.setting()
        ));
    }
    let energies = all
        .iter()
        .filter_map(|c| Some((c.energy_j? / c.points(), c)));
    if let Some((j, c)) = energies.min_by(|a, b| a.0.total_cmp(&b.0)) {
        let at = format!("{}, {}", c.input(), c.setting());
        says.push(format!(
            "The least energy per point is {}: {at}.",
            si(j, "J")
        ));
    }
    if says.is_empty() {
        says.push("Nothing was measured.".into());
    }
    let answer = Answer {
        says,
        sure: vec![
            "Medians of repeated evaluations on one device; a few percent between settings may be noise."
                .into(),
        ],
        next: vec!["`fmm tune` finds the fastest setting for points of your own.".into()],
    };
    Drawing {
        title: "Fast multipole method: time and energy of evaluations".into(),
        subtitle: sweep.facts.device.clone(),
        answer,
        charts: vec![(
            chart(&all),
            "Names: distribution, number of points, maximum number of points per leaf.",
        )],
        tables: vec![columns().table("", &all)],
        footer: "Medians of repeated evaluations of the Laplace kernel, without set-up and transfers.",
        ..Drawing::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_drawn_and_texts_are_clear() {
        let case = |k: usize, gradient: bool, energy_j: Option<f64>| Row {
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
        let many = |energy: Option<f64>| -> Vec<Row> {
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
            let named = |s: &greenup_report::chart::Series| s.name == "f32 to 1e-4, gradients";
            assert_eq!(c.series.iter().any(named), !all.is_empty());
            assert_eq!(c.panels.len(), panels);
            for width in [300.0, 400.0, 900.0, 1200.0] {
                assert_eq!(c.faults(width), Vec::<String>::new());
            }
        }
    }
}
