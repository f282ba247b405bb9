//! The HTML page of the analysis of a sweep.

pub mod course;
pub mod figures;
pub mod findings;
pub mod heat;
pub mod metrics;
pub mod parameters;
pub mod predicted;
pub mod tables;

use figures::{bars, ranking, scaling, scatter, split_scatter};
use findings::{against_baseline, gain, headline, learnt};
use greenup_report::chart::Chart;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::si;
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Correlation, MeasuredConfig, Split};
use greenup_tune::sweep::disturbance::Disturbance;
use greenup_tune::trial::scaling::Scaling;
use tables::as_known;

/// Builds the page: best configs, Pareto front, correlations, importance of parameters; with heat maps by name and
/// measurements at other sizes if there are any.
pub fn page(
    a: &Analysis,
    sweep: &Sweep,
    sizes: Option<&Scaling>,
    maps: &[(String, Chart)],
) -> Page {
    let f = &a.rows[a.fastest];
    let mut paragraphs = headline(a);
    let baseline = sweep.against_baseline();
    paragraphs.extend(baseline.map(|b| format!("baseline: {}", against_baseline(sweep, &b))));
    paragraphs.extend(sweep.gain().map(|g| format!("gain {}", gain(sweep, &g))));
    if a.by_finals {
        paragraphs.push("The best configs and their times are those of the final rounds, in which the finalists were measured again, interleaved. Charts show single trials, among which a lucky one may be faster.".into());
    }
    let mut sections = vec![Section {
        id: "winners".into(),
        title: "Best configs".into(),
        label: Some("measured"),
        paragraphs,
        figures: vec![match scatter(a, sweep) {
            Some(s) => Figure::chart(
                &s.chart(),
                "Each dot is a config. The line is the convex hull; dashed lines mark the fastest and the lowest-energy config.",
            ),
            None => Figure::chart(
                &ranking(a, sweep).chart(),
                "Each dot is a config. No energy was measured.",
            ),
        }],
        tables: vec![tables::best(a, sweep)],
        ..Section::default()
    }];
    if let Some(front) = &a.front {
        sections.push(Section {
            id: "front".into(),
            title: "Time against energy".into(),
            label: Some("measured"),
            paragraphs: vec!["Configs that no other beats in both time and energy. Each minimises α·t/t₀ + (1 − α)·e/e₀ for the range of weights α shown, with t₀ and e₀ the minimum time and energy.".into()],
            tables: vec![tables::front(a, sweep, &front.points)],
            ..Section::default()
        });
    }
    if let Some(d) = &sweep.facts.disturbance {
        sections.push(neighbours(d));
    }
    sections.push(course(a, sweep));
    sections.push(by_parameter(a, sweep));
    let mut figures = vec![Figure::chart(
        &bars("with performance", a, |c| Some(c.performance)),
        "",
    )];
    if a.lowest_energy.is_some() {
        for (title, value) in [
            (
                "with efficiency",
                (|c: &Correlation| c.efficiency) as fn(&Correlation) -> Option<f64>,
            ),
            ("with performance × efficiency", |c| c.product),
        ] {
            figures.push(Figure::chart(&bars(title, a, value), ""));
        }
    }
    sections.push(Section {
        id: "correlations".into(),
        title: "Correlations".into(),
        label: Some("derived"),
        paragraphs: vec!["Pearson's correlation coefficient of every parameter and metric. Marked: its rank differs between performance and efficiency. In brackets: the number of configs with this metric, if not all.".into()],
        figures,
        ..Section::default()
    });
    let mut strongest: Vec<_> = a.splits.iter().collect();
    strongest.sort_by(|x, y| {
        let gap = |s: &Split| (s.performance.0 / s.performance.1).ln().abs();
        gap(y).total_cmp(&gap(x))
    });
    sections.push(Section {
        id: "splits".into(),
        title: "Above and below the mean".into(),
        label: Some("derived"),
        figures: strongest
            .iter()
            .take(6)
            .filter_map(|s| {
                Some(Figure::chart(
                    &split_scatter(a, sweep, &s.name, s.mean)?,
                    "",
                ))
            })
            .collect(),
        tables: vec![tables::splits(a)],
        ..Section::default()
    });
    sections.push(Section {
        id: "importance".into(),
        title: "Importance of parameters, and prediction from a sample".into(),
        label: Some("derived"),
        paragraphs: [("time", &a.learnt_time), ("energy", &a.learnt_energy)]
            .into_iter()
            .filter_map(|(what, l)| Some(learnt(what, l.as_ref()?)))
            .collect(),
        tables: vec![tables::importance(a)],
        ..Section::default()
    });
    if !maps.is_empty() {
        sections.push(Section {
            id: "maps".into(),
            title: "Time over two parameters".into(),
            label: Some("measured"),
            figures: maps
                .iter()
                .map(|(_, map)| {
                    Figure::chart(
                        map,
                        "Minimum time over the other parameters, divided by the best.",
                    )
                })
                .collect(),
            ..Section::default()
        });
    }
    if let Some(s) = sizes {
        sections.push(Section {
            id: "scaling".into(),
            title: "Selected configs over problem size".into(),
            label: Some("measured"),
            paragraphs: vec!["Each config was built, verified and measured at every size; bars are 95 % intervals.".into()],
            figures: vec![Figure::chart(&scaling(a, s), "")],
            ..Section::default()
        });
    }
    let mut facts = vec![
        Fact::new("trials", a.trials.to_string()),
        Fact::new("failed", a.failed.to_string()),
        Fact::new("fastest", si(as_known(sweep, f).time_s, "s")),
    ];
    if let Some(e) = (a.lowest_energy).and_then(|g| as_known(sweep, &a.rows[g]).energy_j) {
        facts.push(Fact::new("lowest energy", si(e, "J")));
    }
    Page {
        title: format!("{}: tuning sweep", a.name),
        subtitle: a.device.clone(),
        headline: facts,
        sections,
        footer: sweep
            .facts
            .more
            .iter()
            .map(|(k, v)| format!("{k}: {v}"))
            .collect::<Vec<_>>()
            .join(" · "),
        provenance: Vec::new(),
        ..Page::default()
    }
}

/// How much the workers disturb each other.
fn neighbours(d: &Disturbance) -> Section {
    let mut paragraphs = vec![d.sentences()];
    if d.matters() {
        paragraphs.push("This is more than the noise: trials of several workers differ by it. One worker measured the finalists, so they can be compared.".into());
    }
    Section {
        id: "neighbours".into(),
        title: "Workers at the same time".into(),
        label: Some("measured"),
        paragraphs,
        ..Section::default()
    }
}

/// The search itself.
fn course(a: &Analysis, sweep: &Sweep) -> Section {
    let caption = "Each dot is a config when it was measured; the line is the best single trial until then, which the final rounds may not confirm. Times are when measurements ended, without pauses of an interrupted search.";
    Section {
        id: "search".into(),
        title: "Course of the search".into(),
        label: Some("measured"),
        figures: vec![Figure::chart(&course::chart(a, sweep), caption).wide()],
        ..Section::default()
    }
}

/// What parameters the good configs have in common, and what each value reaches.
fn by_parameter(a: &Analysis, sweep: &Sweep) -> Section {
    let lines = "Each line is a config, from the value of its first parameter to that of its last; colours are its rank. Boxes hold values, those of the best config are filled.";
    let spreads = "For each value the configs that have it, their number in brackets: the box is the middle half, the mark in it the median, whiskers reach to the farthest config within 1.5 boxes, the dot is the best config.";
    let time = |r: &MeasuredConfig| Some(r.time_s);
    let mut figures = vec![Figure::chart(
        &parameters::parallel(a, sweep, "time", time),
        lines,
    )];
    if a.lowest_energy.is_some() {
        let chart = parameters::parallel(a, sweep, "energy", |r| r.energy_j);
        figures.push(Figure::chart(&chart, lines));
    }
    let rate = |r: &MeasuredConfig| Some(r.performance);
    let shown = parameters::SHOWN;
    let chart = parameters::distributions(a, sweep, ("performance", a.unit, shown), rate);
    figures.push(Figure::chart(&chart, spreads).wide());
    if a.lowest_energy.is_some() {
        let unit = format!("{}/J", a.unit.trim_end_matches("/s"));
        let chart =
            parameters::distributions(a, sweep, ("efficiency", &unit, shown), |r| r.efficiency);
        figures.push(Figure::chart(&chart, spreads).wide());
    }
    Section {
        id: "parameters".into(),
        title: "Configs by parameter".into(),
        label: Some("measured"),
        figures,
        ..Section::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_tune::analyze::analyze;
    use greenup_tune::sweep::{SweepFacts, Trial};

    /// Forty configs of two parameters with several values and one with a single one.
    pub(super) fn sweep(energy: bool, clock: bool) -> Sweep {
        let trial = |i: u32| -> Trial {
            let (tile, kind) = (1_u64 << (i % 20), ["b", "a"][(i / 20) as usize]);
            let time = 1.0 + f64::from((7 * i) % 40);
            let joules = energy.then(|| format!(r#","energy_j":{}"#, 3.0 * time + f64::from(i)));
            let at = if clock { 1e9 + f64::from(i) } else { 0.0 };
            serde_json::from_str(&format!(
                r#"{{"config":[{tile},"{kind}",5],"measured":{{"times_s":[{time}],"time_s":{time}{}}},"at":{at}}}"#,
                joules.unwrap_or_default()
            ))
            .unwrap()
        };
        Sweep {
            facts: SweepFacts {
                name: "p".into(),
                parameters: ["tile", "kind", "n"].map(str::to_owned).to_vec(),
                ..SweepFacts::default()
            },
            trials: (0..40).map(trial).collect(),
            ..Sweep::default()
        }
    }

    #[test]
    fn energy_has_figures_of_its_own_where_it_was_measured() {
        for (energy, figures) in [(true, 4), (false, 2)] {
            let sweep = sweep(energy, true);
            let a = analyze(&sweep, 0.5, 1).unwrap();
            let page = page(&a, &sweep, None, &[]);
            let section = page.sections.iter().find(|s| s.id == "parameters").unwrap();
            assert_eq!(section.figures.len(), figures);
            assert!(page.sections.iter().any(|s| s.id == "search"));
        }
    }
}
