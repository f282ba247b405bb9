//! The page of a run: fields at its end, what it computed, and its settings.

use crate::commands::figures::Final;
use crate::commands::settings::Settings;
use greenup_app::Result;
use greenup_hydro::problem::Standard;
use greenup_hydro::time::stepping::Report;
use greenup_report::chart::axis::short;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::provenance::Provenance;
use greenup_report::si::si;

/// Numbers of a run that are not in its report.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub unknowns: usize,
    /// Steps since the start or the checkpoint.
    pub steps: usize,
    /// Their duration, s.
    pub wall_s: f64,
}

/// The page, as HTML.
///
/// # Errors
/// The template is wrong, or a setting is no text.
pub fn page(
    s: &Settings,
    last: &Final,
    (report, work): (&Report, Work),
    messages: &[String],
    provenance: &Provenance,
) -> Result<String> {
    let problem = &last.h.problem;
    let own = problem.user().and_then(|u| u.name.as_deref());
    let name = problem.standard().map(Standard::name).or(own);
    let mut figures = vec![Figure::chart(&last.picture(s), "The state at the end.").wide()];
    let exact = last.exact_known(s);
    figures.push(
        Figure::chart(
            &last.lines(s).chart(),
            match exact {
                true => "Fields along a line, with the exact solution.",
                false => "Fields along a line.",
            },
        )
        .wide(),
    );
    let radial = last.profile(s);
    if last.h.space.dim > 1 && radial.density_error().is_some() {
        let caption = "Fields at all quadrature points over the distance from the origin.";
        figures.push(Figure::chart(&radial.chart(), caption).wide());
    }
    let fields = Section {
        id: "fields".into(),
        title: "Fields".into(),
        paragraphs: messages.to_vec(),
        figures,
        ..Section::default()
    };
    let settings = Section {
        id: "settings".into(),
        title: "Settings".into(),
        items: settings(s)?,
        ..Section::default()
    };
    let rate = (work.unknowns * work.steps) as f64 / work.wall_s;
    let page = Page {
        title: format!("Hydrodynamics: {}", name.unwrap_or_else(|| s.problem())),
        subtitle: format!(
            "{} zones, {} unknowns, order {}; in the units of the problem",
            last.h.space.zones, work.unknowns, last.h.space.element.order
        ),
        headline: vec![
            Fact::new("t", short(report.t)),
            Fact::new("steps", report.steps.to_string()),
            Fact::new("energy drift", shown_drift(report)),
            Fact::new("duration of the steps", si(work.wall_s, "s")),
            Fact::new("unknowns times steps", si(rate, "/s")),
        ],
        sections: vec![fields, settings],
        footer: "Drift: change of the total energy over its initial value.".into(),
        provenance: provenance.facts(),
        ..Page::default()
    };
    Ok(page.render()?)
}

/// The settings as flags.
fn settings(s: &Settings) -> Result<Vec<Fact>> {
    let all = serde_json::to_value(s)?;
    let one = |(name, value): (&String, &serde_json::Value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        Fact::new(&format!("--{}", name.replace('_', "-")), text)
    };
    let flags = all.as_object().into_iter().flatten();
    Ok(flags.filter(|(name, _)| *name != "mark").map(one).collect())
}

/// The drift of the total energy as text.
pub fn shown_drift(report: &Report) -> String {
    match report.energy_drift {
        Some(drift) => format!("{drift:.1e}"),
        None => "not known (a wall moves)".into(),
    }
}
