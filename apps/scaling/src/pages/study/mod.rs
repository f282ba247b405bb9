//! The figure, the tables and the page of measured scaling.
//!
//! | module | contents |
//! |---|---|
//! | `figure` | speedup, powerup and greenup over the number of devices |
//! | `table` | of a case, of all cases, and as Markdown |

mod figure;
mod table;

pub use figure::figure;
pub use table::{devices, limits, markdown, rounds, table};

use crate::study::ScalingStudy;
use crate::study::measured::Series as Measured;
use figure::by_application;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::{percent, si, three};
use table::{limit_table, mean_error, summary};

/// Builds the page.
pub fn page(study: &ScalingStudy) -> Page {
    let what = devices(study.gpus);
    let most = study.counts.iter().copied().max().unwrap_or(1);
    let headline = (study.applications.iter())
        .filter_map(|a| {
            let last = a.largest()?;
            let greenup = last
                .greenup
                .map_or_else(String::new, |g| format!(", greenup {}", three(g.median)));
            let value = format!(
                "{} × on {}{greenup}",
                three(last.speedup.median),
                last.devices
            );
            Some(Fact::new(&a.case, value))
        })
        .collect();
    let mut about = vec![format!(
        "Each case runs on 1 to {most} {what}: {}. Speedup, powerup and greenup compare with one that does the same \
         work: T₁/T, P₁/P and E₁/E.",
        rounds(study.rounds)
    )];
    about.push(if study.gpus { "Energies are those of the GPUs' own counters, without the host. hydro's are of its steps, those of images and tuning of the \
                 whole process; those of the others are of an evaluation that is repeated on all GPUs at the same time, whose time can \
                 differ from the evaluation that the speedup compares."
            .into() } else { "A rank has one thread. Energies of ranks are not measured.".to_owned() });
    about.push(format!(
        "Predictions are made before any run on several {what}: from the first run on one, and from messages over the link ({}). {}",
        study.link,
        if study.gpus { "They leave out that GPUs share the power of a host." } else { "They have the bandwidth of memory and caches and the clock that the ranks share, where the link's measurement has them." }
    ));
    if study.applications.iter().any(|a| a.weak) {
        about.push(
            "In weak scaling the work of each device stays the same: the speedup is T₁/T times the ratio of the sizes. hydro's times are for \
             as many evaluations of the forces as on one: a finer mesh may reject more steps."
                .into(),
        );
    }
    if let Some(e) = mean_error(study) {
        about.push(format!(
            "Mean error of the predicted times on several {what}: {}.",
            percent(e)
        ));
    }
    if study.interrupted {
        about.push("Interrupted: these are the measurements so far.".into());
    }
    let mut sections = vec![Section {
        id: "scaling".into(),
        title: "Speedup, powerup, greenup".into(),
        label: Some("measured"),
        paragraphs: about,
        figures: vec![Figure::chart(&figure(study), "").wide()],
        tables: vec![summary(study), limit_table(study)],
        ..Section::default()
    }];
    sections.extend(by_application(study).into_iter().map(|a| section(a, what)));
    if let Some(link) = &study.constants {
        sections.push(Section {
            id: "link".into(),
            title: "Link".into(),
            paragraphs: vec![format!("Between the {what}: {}.", study.link)],
            items: (link.constants().into_iter())
                .map(|(name, unit, e)| Fact::new(name, si(e.value, unit)))
                .collect(),
            ..Section::default()
        });
    }
    if !(study.missing.is_empty() && study.unfinished.is_empty()) {
        sections.push(Section {
            id: "missing".into(),
            title: "Not measured".into(),
            paragraphs: (study.missing.iter().cloned())
                .chain(study.without_time())
                .collect(),
            ..Section::default()
        });
    }
    Page {
        title: format!("Scaling over {what}"),
        subtitle: study.device.clone(),
        headline,
        sections,
        footer: "Medians; ranges are those of the rounds.".into(),
        provenance: study.provenance.facts(),
        ..Page::default()
    }
}

fn section(a: &Measured, what: &str) -> Section {
    let mut paragraphs = vec![format!("{}: {}", a.problem, a.command)];
    paragraphs.extend(limits(a, what));
    Section {
        id: a.case.clone(),
        title: a.case.clone(),
        label: Some("measured"),
        paragraphs,
        tables: vec![table(a, what)],
        ..Section::default()
    }
}
