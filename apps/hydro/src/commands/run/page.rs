//! The page of a run: fields at its end, what it computed, and its settings.

use crate::commands::run::figures::Final;
use crate::commands::run::report::{Outcome, digits, shown_drift, steps};
use crate::output::Profile;
use crate::problem::Standard;
use crate::session::settings::Settings;
use greenup_app::Result;
use greenup_report::chart::Chart;
use greenup_report::chart::axis::short;
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::si::{percent, si};

/// The page, as HTML.
///
/// # Errors
/// The template is wrong, or a setting is no text.
pub fn page(s: &Settings, last: &Final, of: &Outcome) -> Result<String> {
    let problem = &last.h.problem;
    let own = problem.user().and_then(|u| u.name.as_deref());
    let name = problem.standard().map(Standard::name).or(own);
    let name = name.unwrap_or_else(|| s.problem());
    let radial = last.profile(s);
    let (fields, more) = fields(s, last, &radial, &of.messages);
    let settings = Section {
        id: "settings".into(),
        title: "Settings".into(),
        folded: true,
        items: (s.flags()?.into_iter())
            .map(|(flag, value)| Fact::new(&flag, value))
            .collect(),
        ..Section::default()
    };
    let page = Page {
        title: format!("Hydrodynamics: {name}"),
        subtitle: format!(
            "{} zones, {} unknowns, order {}; in the units of the problem",
            last.h.space.zones, of.counts.1, last.h.space.element.order
        ),
        answer: answer(s, last, of, &radial),
        headline: [
            Fact::new("duration of the steps", si(of.wall_s, "s")),
            Fact::new("unknowns times steps, per second", si(of.rate(), "/s")),
        ]
        .into_iter()
        .chain(
            (radial.relative_density_error())
                .map(|e| Fact::new("mean error of the density, of its range", percent(e))),
        )
        .collect(),
        sections: [fields].into_iter().chain(more).chain([settings]).collect(),
        footer: "Drift: change of the total energy over its initial value.".into(),
        provenance: of.provenance.facts(),
        ..Page::default()
    };
    Ok(page.render()?)
}

/// How the run ended, how far it is from the exact solution, and what to do next.
fn answer(s: &Settings, last: &Final, of: &Outcome, radial: &Profile) -> Answer {
    let report = &of.report;
    let end = short(s.t_final());
    let early = report.t < s.t_final();
    let reached = match (early, short(report.t)) {
        (true, t) => format!("Stopped at t = {t} of {end}"),
        (false, t) => format!("Reached t = {t}"),
    };
    let typeset = |number: String| number.replace('-', "−");
    let drift = match report.energy_drift {
        Some(0.0) => "the total energy did not drift".into(),
        Some(_) => format!(
            "the total energy drifted by {} of itself",
            typeset(shown_drift(report))
        ),
        None => "the drift of the energy is not known, as a wall moves".into(),
    };
    let mut says = vec![format!("{reached} in {}.", steps(report.steps))];
    let mut sure = Vec::new();
    let error = radial.density_error();
    let shown = |x: f64| typeset(digits(x, 4));
    if let Some(error) = error {
        let shock = radial.shock().zip(radial.exact_shock());
        let shock = shock.map_or_else(String::new, |(computed, exact)| {
            let (computed, exact) = (shown(computed), shown(exact));
            format!("; the shock is at {computed}, exactly at {exact}")
        });
        let error = shown(error);
        says[0] = format!("{reached} in {}{shock}.", steps(report.steps));
        let range = radial
            .relative_density_error()
            .map_or_else(String::new, |e| format!(", {} of its range", percent(e)));
        says.push(format!(
            "Mean error of the density against the exact solution: {error}{range}."
        ));
        sure.push("One mesh does not tell how much of the error a finer one would remove.".into());
    } else if last.exact_known(s) {
        sure.push("The exact solution stands beside the fields along a line.".into());
    } else {
        sure.push("No exact solution is known to compare with.".into());
    }
    let (first, rest) = drift.split_at(1);
    sure.push(format!("{}{rest}.", first.to_uppercase()));
    if !of.messages.is_empty() {
        sure.push("Read the remarks above the fields before you use them.".into());
    }
    let finer = format!(
        "Another run with `--refine {}` instead of {}. It halves the width of zones, and shows whether",
        s.refine() + 1,
        s.refine()
    );
    let limited = s.steps.is_some_and(|n| report.steps >= n);
    let next = if early && limited {
        format!("More `--steps`, or none, to reach t = {end}.")
    } else if early {
        format!("The whole run, to t = {end}.")
    } else if error.is_some() {
        format!("{finer} the error falls.")
    } else if last.exact_known(s) {
        format!("{finer} the fields come closer to the exact solution along the line.")
    } else {
        format!("{finer} the fields still change.")
    };
    Answer {
        says,
        sure,
        next: vec![next],
    }
}

/// The fields: in space the outer faces with the radial plot beside, and the planes in a section of their own.
fn fields(
    s: &Settings,
    last: &Final,
    radial: &Profile,
    messages: &[String],
) -> (Section, Option<Section>) {
    let mut picture = last.picture(s);
    let exact = last.exact_known(s);
    let lines = last.lines(s).chart();
    let lines = Figure::chart(
        &lines,
        if exact {
            "Fields along a line, with the exact solution."
        } else {
            "Fields along a line."
        },
    );
    let over_radius = (last.h.space.dim > 1 && radial.density_error().is_some()).then(|| {
        let caption = "Fields at all quadrature points over the distance from the origin.";
        Figure::chart(&radial.chart(), caption)
    });
    let mut section = Section {
        id: "fields".into(),
        title: "Fields".into(),
        paragraphs: messages.to_vec(),
        ..Section::default()
    };
    let faces = last.h.space.dim == 3 && picture.panels.len() > 1 && s.figures.slices.is_empty();
    let faces = faces.then(|| picture.panels.pop()).flatten();
    let Some(faces) = faces else {
        section.figures = vec![
            Figure::chart(&picture, "The state at the end.").wide(),
            lines.wide(),
        ];
        section.figures.extend(over_radius.map(Figure::wide));
        return (section, None);
    };
    let view = Chart {
        panels: vec![faces],
        ..picture.clone()
    };
    section.beside = true;
    section.figures = vec![Figure::chart(&view, "The state at the end.").wide()];
    let (beside, below) = match over_radius {
        Some(radial) => (radial, Some(lines.wide())),
        None => (lines, None),
    };
    section.figures.push(beside.aside());
    picture.title = format!("Planes: {}", picture.title);
    let planes = Section {
        id: "planes".into(),
        title: "Planes and lines".into(),
        figures: [Figure::chart(&picture, "").wide()]
            .into_iter()
            .chain(below)
            .collect(),
        ..Section::default()
    };
    (section, Some(planes))
}
