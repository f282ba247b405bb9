//! The page of a run: fields at its end, what it computed, and its settings.

use crate::commands::run::figures::Final;
use crate::commands::run::report::{Outcome, shown_drift};
use crate::problem::Standard;
use crate::session::settings::Settings;
use greenup_app::Result;
use greenup_report::chart::axis::short;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::si;

/// The page, as HTML.
///
/// # Errors
/// The template is wrong, or a setting is no text.
pub fn page(s: &Settings, last: &Final, of: &Outcome) -> Result<String> {
    let problem = &last.h.problem;
    let own = problem.user().and_then(|u| u.name.as_deref());
    let name = problem.standard().map(Standard::name).or(own);
    let mut figures = vec![Figure::chart(&last.picture(s), "The state at the end.").wide()];
    let exact = last.exact_known(s);
    figures.push(
        Figure::chart(
            &last.lines(s).chart(),
            if exact {
                "Fields along a line, with the exact solution."
            } else {
                "Fields along a line."
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
        paragraphs: of.messages.clone(),
        figures,
        ..Section::default()
    };
    let settings = Section {
        id: "settings".into(),
        title: "Settings".into(),
        items: (s.flags()?.into_iter())
            .map(|(flag, value)| Fact::new(&flag, value))
            .collect(),
        ..Section::default()
    };
    let page = Page {
        title: format!("Hydrodynamics: {}", name.unwrap_or_else(|| s.problem())),
        subtitle: format!(
            "{} zones, {} unknowns, order {}; in the units of the problem",
            last.h.space.zones, of.counts.1, last.h.space.element.order
        ),
        headline: vec![
            Fact::new("t", short(of.report.t)),
            Fact::new("steps", of.report.steps.to_string()),
            Fact::new("energy drift", shown_drift(&of.report)),
            Fact::new("duration of the steps", si(of.wall_s, "s")),
            Fact::new("unknowns times steps", si(of.rate(), "/s")),
        ],
        sections: vec![fields, settings],
        footer: "Drift: change of the total energy over its initial value.".into(),
        provenance: of.provenance.facts(),
        ..Page::default()
    };
    Ok(page.render()?)
}
