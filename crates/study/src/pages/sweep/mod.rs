//! The HTML page of the analysis of a sweep.

pub mod answer;
mod best;
pub mod course;
pub mod figures;
pub mod findings;
pub mod folded;
pub mod heat;
pub mod metrics;
pub mod parameters;
pub mod plane;
pub mod predicted;
pub mod tables;
pub mod winners;

use answer::answer;
use figures::scaling;
use greenup_report::chart::Chart;
use greenup_report::page::{Figure, Page, Section};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, MeasuredConfig};
use greenup_tune::sweep::disturbance::Disturbance;
use greenup_tune::trial::scaling::Scaling;
use winners::Winners;

/// Builds the page: what was gained, the best configs, importance of parameters, the search, the Pareto front; `source`
/// is the sweep as a command line names it. With heat maps by name and measurements at other sizes if there are any.
pub fn page(
    a: &Analysis,
    sweep: &Sweep,
    source: &str,
    sizes: Option<&Scaling>,
    maps: &[(String, Chart)],
) -> Page {
    let w = Winners::of(a, sweep);
    let mut sections = vec![w.section(source)];
    sections.extend(importance(a));
    sections.extend(by_parameter(a, sweep));
    sections.push(Section {
        id: "search".into(),
        title: "Course of the search".into(),
        short: "Search".into(),
        label: Some("measured"),
        figures: vec![Figure::chart(&course::chart(a, sweep), &course::caption(sweep)).wide()],
        ..Section::default()
    });
    sections.extend(front(a, sweep));
    if !maps.is_empty() {
        let caption = "Minimum time over the other parameters, divided by the best.";
        let figures = maps.iter().map(|(_, map)| Figure::chart(map, caption));
        sections.push(Section {
            id: "maps".into(),
            title: "Time over two parameters".into(),
            label: Some("measured"),
            figures: figures.collect(),
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
    sections.extend(sweep.facts.disturbance.as_ref().map(neighbours));
    sections.extend(folded::sections(a, sweep));
    let failed = match a.failed {
        0 => "none failed".to_owned(),
        n => format!("{n} failed"),
    };
    let stopped = sweep.stopped_in_words();
    let stopped = stopped.map_or(String::new(), |text| format!("; {text}"));
    Page {
        title: format!("{}: tuning sweep", a.name),
        subtitle: format!("{}; {} trials, {failed}{stopped}", a.device, a.trials),
        answer: answer(&w, source),
        sections,
        footer: sweep
            .facts
            .more
            .iter()
            .map(|(k, v)| format!("{k}: {v}"))
            .collect::<Vec<_>>()
            .join(" · "),
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

/// Configs that no other beats in both; `None` where one beats all.
fn front(a: &Analysis, sweep: &Sweep) -> Option<Section> {
    let front = a.front.as_ref().filter(|f| f.points.len() > 1)?;
    Some(Section {
        id: "front".into(),
        title: "Pareto front: time against energy".into(),
        short: "Pareto front".into(),
        label: Some("measured"),
        paragraphs: vec!["Configs that no other beats in both time and energy, with the parameters in which they differ. Each minimises α·t/t₀ + (1 − α)·e/e₀ for the range of weights α shown, with t₀ and e₀ the minimum time and energy.".into()],
        tables: vec![tables::front(a, sweep, &front.points)],
        ..Section::default()
    })
}

/// What each parameter explains; `None` where that is not known.
fn importance(a: &Analysis) -> Option<Section> {
    let chart = parameters::importance(a)?;
    let of = match a.importance_energy {
        Some(_) => "logarithms of time and energy",
        None => "logarithm of the time",
    };
    Some(Section {
        id: "importance".into(),
        title: "Importance of parameters".into(),
        short: "Importance".into(),
        label: Some("derived"),
        figures: vec![Figure::chart(
            &chart,
            &format!(
                "What each parameter explains of the variation of the {of}, by a random forest."
            ),
        )],
        tables: vec![tables::importance(a, parameters::important(a))],
        beside: true,
        ..Section::default()
    })
}

/// What each value of the most important parameters reaches; `None` where none varies.
fn by_parameter(a: &Analysis, sweep: &Sweep) -> Option<Section> {
    if parameters::varied(sweep).is_empty() {
        return None;
    }
    let spreads = "For each value the configs that have it, their number in brackets: the box is the middle half, the mark in it the median, whiskers reach to the farthest config within 1.5 boxes, the dot is the best config.";
    let rate = |r: &MeasuredConfig| Some(r.performance);
    let unit = ("performance", a.unit, parameters::SHOWN);
    let chart = parameters::distributions(a, sweep, unit, rate);
    let mut figures = vec![Figure::chart(&chart, spreads)];
    if a.lowest_energy.is_some() {
        let unit = tables::per_j(a);
        let unit = ("efficiency", unit.as_str(), parameters::SHOWN);
        let chart = parameters::distributions(a, sweep, unit, |r| r.efficiency);
        figures.push(Figure::chart(&chart, ""));
    }
    Some(Section {
        id: "parameters".into(),
        title: "Configs by parameter".into(),
        short: "Parameters".into(),
        label: Some("measured"),
        figures,
        ..Section::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_tune::analyze::analyze;
    use greenup_tune::sweep::{DefaultConfig, DefaultOrigin, SweepFacts, Trial};

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

    /// The page of a sweep.
    fn page_of(sweep: &Sweep) -> Page {
        let a = analyze(sweep, 0.5, 1).unwrap();
        page(&a, sweep, "sweeps/p", None, &[])
    }

    #[test]
    fn energy_has_figures_of_its_own_where_it_was_measured() {
        for (energy, figures) in [(true, 2), (false, 1)] {
            let page = page_of(&sweep(energy, true));
            for id in ["parameters", "parallel"] {
                let section = page.sections.iter().find(|s| s.id == id).unwrap();
                assert_eq!(section.figures.len(), figures, "{id}");
            }
            assert!(page.sections.iter().any(|s| s.id == "search"));
        }
    }

    /// Numbers with a unit in the answer are those of the tables and items below.
    #[test]
    fn the_answer_has_the_digits_of_the_page() {
        for energy in [true, false] {
            let page = page_of(&sweep(energy, true));
            let cells = page.sections.iter().flat_map(|s| &s.tables);
            let cells = cells.flat_map(|t| t.rows.iter().flatten().map(|c| c.text.as_str()));
            let items = page.sections.iter().flat_map(|s| &s.items);
            let below: Vec<&str> = cells.chain(items.map(|f| f.value.as_str())).collect();
            let text: Vec<&str> = page.answer.sentences().map(String::as_str).collect();
            let text = text.join(" ");
            let words: Vec<&str> = text.split([' ', ',', ';']).collect();
            let units = ["s", "ms", "µs", "J", "mJ", "%"];
            for pair in words
                .windows(2)
                .filter(|p| units.contains(&p[1].trim_end_matches('.')))
            {
                let number = format!("{} {}", pair[0], pair[1].trim_end_matches('.'));
                assert!(
                    below.iter().any(|b| b.contains(&number)),
                    "{number}: {text}"
                );
            }
        }
    }

    #[test]
    fn the_best_config_is_copied_with_what_changed_and_its_command() {
        let mut sweep = sweep(true, true);
        sweep.facts.default = Some(DefaultConfig {
            config: sweep.trials[3].config.clone(),
            origin: DefaultOrigin::Problem,
        });
        let page = page_of(&sweep);
        let copied = &page.sections[0].copied;
        assert_eq!(copied[0].name, "Best config: 1 of 3 values changed");
        assert_eq!(
            copied[0].value,
            "tile = 1  # before: 8\nkind = \"b\"\nn = 5"
        );
        assert_eq!(copied[copied.len() - 1].value, "greenup best sweeps/p");
    }

    #[test]
    fn a_parameter_alone_and_a_config_alone_have_a_page() {
        let mut one = sweep(true, true);
        one.facts.parameters.truncate(1);
        one.trials.iter_mut().for_each(|t| t.config.truncate(1));
        one.trials.truncate(20);
        assert!(page_of(&one).sections.iter().all(|s| s.id != "parallel"));
        one.trials.truncate(1);
        assert!(page_of(&one).render().is_ok());
    }
}
