//! The figure, the tables and the page of measured scaling.
//!
//! | module | contents |
//! |---|---|
//! | `figure` | speedup, powerup and greenup over the number of devices |
//! | `table` | of a case, of all cases, and as Markdown |

mod figure;
mod table;

pub use figure::figure;
pub use table::{devices, limits, markdown, mean_error, rounds, table};

use crate::study::ScalingStudy;
use crate::study::measured::{Point, Series as Measured};
use figure::by_application;
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::si::{percent, si, three};
use table::{limit_table, lost, signed, summary};

/// Builds the page.
pub fn page(study: &ScalingStudy) -> Page {
    let what = devices(study.gpus);
    let most = study.counts.iter().copied().max().unwrap_or(1);
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
    if study.interrupted {
        about.push("Interrupted: these are the measurements so far.".into());
    }
    let mut sections = vec![Section {
        id: "scaling".into(),
        title: "Efficiency and greenup".into(),
        label: Some("measured"),
        paragraphs: about,
        items: (mean_error(study).into_iter())
            .map(|e| Fact::new("mean error of the predicted times", percent(e)))
            .collect(),
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
        answer: answer(study),
        sections,
        footer: "Medians; ranges are those of the rounds.".into(),
        provenance: study.provenance.facts(),
        ..Page::default()
    }
}

/// Which case scales worst and best on the most devices, what energy that costs, how good the predictions are, and what limits the worst.
/// Greenup of one run below which energy was lost for sure.
const SURE: f64 = 0.95;

fn answer(study: &ScalingStudy) -> Answer {
    let what = devices(study.gpus);
    let mut cases: Vec<(&Measured, &Point)> = (study.applications.iter())
        .filter_map(|a| Some((a, a.largest()?)))
        .collect();
    // On fewer devices scaling is easier.
    let most = cases.iter().map(|c| c.1.devices).max();
    cases.retain(|c| Some(c.1.devices) == most);
    cases.sort_by(|a, b| a.1.efficiency().total_cmp(&b.1.efficiency()));
    let (Some((worst, low)), Some((best, high))) = (cases.first(), cases.last()) else {
        let next = "`greenup scaling study --resume` goes on where it stopped.";
        return Answer::new("No case was measured yet.", "Nothing is known.", next);
    };
    let of = |p: &Point| {
        let greenup = p.greenup.map(|g| format!(", greenup {}", three(g.median)));
        format!("{}{}", percent(p.efficiency()), greenup.unwrap_or_default())
    };
    let mut says = vec![if cases.len() == 1 {
        format!(
            "{} on {} {what}: efficiency {}.",
            best.case,
            high.devices,
            of(high)
        )
    } else {
        format!(
            "On {} {what} `{}` scales best (efficiency {}) and `{}` worst ({}).",
            high.devices,
            best.case,
            of(high),
            worst.case,
            of(low)
        )
    }];
    if cases.iter().any(|c| c.1.greenup.is_some()) {
        says.push(
            "A greenup below 1 is more energy than one device takes for the same work.".into(),
        );
    }
    let mut sure = vec![if cases.iter().any(|c| c.1.runs == 1) {
        "Each was run once: differences of a few percent may be noise.".to_owned()
    } else {
        "Times are medians; tables have the range of the rounds.".to_owned()
    }];
    if let Some(e) = mean_error(study) {
        sure.push(format!(
            "Times predicted before any run on several {what} are off by {} on average.",
            percent(e)
        ));
    }
    if let Some((name, s)) = (worst.limits.as_ref())
        .filter(|l| l.lost_s > 0.0)
        .and_then(|l| lost(&l.measured))
    {
        says.push(format!(
            "`{}` loses most in {name}: {}.",
            worst.case,
            signed(*s)
        ));
    }
    let costly = |a: &Measured| {
        let mut several = a.points.iter().filter(|p| p.devices > 1).peekable();
        // One run says little of a few percent.
        let more = |p: &Point| {
            let least = if p.runs > 1 { 1.0 } else { SURE };
            p.greenup.is_some_and(|g| g.hi < least)
        };
        !a.weak && several.peek().is_some() && several.all(more)
    };
    let costly: Vec<String> = (cases.iter())
        .filter(|c| costly(c.0))
        .map(|c| format!("`{}`", c.0.case))
        .collect();
    let mut next = Vec::new();
    if !costly.is_empty() {
        next.push(format!(
            "For least energy run {} on one GPU.",
            costly.join(", ")
        ));
    }
    if costly.len() < cases.len() && !costly.is_empty() {
        next.push(
            "For the others these runs show no certain loss of energy: take more GPUs where time matters."
                .into(),
        );
    }
    if costly.is_empty() {
        next.push(match low.efficiency() < 0.5 {
            true => format!(
                "`{}` needs more work on each device, or fewer messages, before more of them help it.",
                worst.case
            ),
            false => "`greenup scaling` predicts how far more devices help.".to_owned(),
        });
    }
    Answer { says, sure, next }
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
        folded: true,
        ..Section::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn recorded() -> ScalingStudy {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = root.join("sweeps/scaling_h100x2/scaling.json");
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    }

    #[test]
    fn narrow_tables_keep_what_the_study_is_about() {
        let study = recorded();
        let table = table(&study.applications[0], "GPUs");
        let head = &table.lines(Some(80))[0];
        for name in [
            "time",
            "speedup",
            "efficiency",
            "energy",
            "greenup",
            "digits",
        ] {
            assert!(head.contains(&format!(" {name}")), "{head}");
        }
        let mut names: Vec<&str> = table.header.iter().map(|h| h.name.as_str()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|n| n[0] != n[1]), "{names:?}");
    }

    #[test]
    fn the_answer_compares_equal_counts_and_names_losses_alone() {
        let mut study = recorded();
        let worst = |s: &ScalingStudy| {
            let cases = s.applications.iter();
            let of = |a: &Measured| a.largest().map_or(9.0, Point::efficiency);
            cases
                .min_by(|a, b| of(a).total_cmp(&of(b)))
                .unwrap()
                .case
                .clone()
        };
        let name = worst(&study);
        assert!(answer(&study).says[0].contains(&format!("`{name}` worst")));
        // All but one were measured on four too.
        for a in study.applications.iter_mut().filter(|a| a.case != name) {
            a.points.last_mut().unwrap().devices = 4;
        }
        let text = answer(&study).says;
        assert!(
            text[0].starts_with("On 4 GPUs") && !text[0].contains(&format!("`{name}`")),
            "{text:?}"
        );
        for l in study
            .applications
            .iter_mut()
            .filter_map(|a| a.limits.as_mut())
        {
            l.measured = vec![("upload".into(), -2e-3)];
        }
        assert!(!answer(&study).says.join(" ").contains("upload"));
        assert!(!limit_table(&study).markdown().contains("upload"));
    }
}
