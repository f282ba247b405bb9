//! The simulated image as one HTML page: picture, cuts, facts and the sample.

use super::axes::{Axes, View};
use super::colours::ColourRange;
use super::cut::Cut;
use super::maxima::{Maximum, aside, brightest, brightest_cuts};
use super::{curves, figure};
use crate::GisaxsError;
use crate::scattering::dwba::{Mode, Scene};
use greenup_report::chart::Chart;
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::si::three;
use greenup_report::table::{Cell, Columns, Table};

/// What a picture or page of an image shows, and how.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Title of the page.
    pub title: String,
    /// Names and values of the headline.
    pub facts: Vec<(String, String)>,
    /// Name and text of the sample's input file.
    pub input: (String, String),
    /// Cuts to draw. On a page, if empty, those through the brightest pixel.
    pub cuts: Vec<Cut>,
    /// Whether the pixels hold counted photons instead of mean intensities.
    pub counted: bool,
    /// Axes of the image.
    pub axes: Axes,
    /// Range of the colours.
    pub range: ColourRange,
    /// Where the image comes from: date, host, version, command.
    pub provenance: Vec<(String, String)>,
}

/// What is drawn on the axes, for captions.
pub const AXES_NOTE: &str = "q = k_f − k_i: q_y along the horizon, q_z upward.";

/// The picture of an image.
pub fn picture(pixels: &[f64], scene: &Scene, about: &About) -> Chart {
    let view = View::new(scene, about.axes);
    let mut chart = figure::chart(
        &view,
        pixels,
        figure::quantity(about.counted),
        about.range.over(pixels),
        &about.cuts,
    );
    chart.notes.extend(about.range.note());
    if view.averaged() {
        chart
            .notes
            .push("Pixels of the picture are means of pixels of the detector.".into());
    }
    chart.origin = about.provenance.clone();
    chart
}

/// The HTML page.
///
/// # Errors
/// A cut misses the detector, or the page cannot be rendered.
pub fn page(pixels: &[f64], scene: &Scene, about: &About) -> Result<Vec<u8>, GisaxsError> {
    let mut about = about.clone();
    let view = View::new(scene, about.axes);
    let asked = !about.cuts.is_empty();
    if !asked {
        about.cuts = brightest_cuts(pixels, &view);
    }
    let quantity = figure::quantity(about.counted);
    let caption = format!("Marks at the edges: the cuts below. {AXES_NOTE}");
    let figures = vec![
        Figure::chart(&picture(pixels, scene, &about), &caption).wide(),
        Figure::chart(
            &curves::chart(&view, pixels, quantity, &about.cuts)?,
            "The intensities along the cuts.",
        )
        .wide(),
    ];
    let (name, text) = &about.input;
    let (answer, maxima) = answer(pixels, (&view, scene.mode), &about, asked);
    let page = Page {
        title: about.title.clone(),
        answer,
        headline: headline(&about.facts),
        sections: vec![
            Section {
                id: "image".into(),
                title: "Image".into(),
                figures,
                tables: maxima.into_iter().collect(),
                ..Section::default()
            },
            Section {
                id: "input".into(),
                title: "Input".into(),
                folded: true,
                copied: vec![Fact::new(name, &**text)],
                ..Section::default()
            },
        ],
        provenance: headline(&about.provenance),
        ..Page::default()
    };
    Ok(page.render().map_err(|e| e.to_string())?.into_bytes())
}

/// What was simulated, its strongest features and what to do next; and a table of these features, which counts do
/// not have.
fn answer(
    pixels: &[f64],
    (view, mode): (&View, Mode),
    about: &About,
    asked: bool,
) -> (Answer, Option<Table>) {
    let path = std::path::Path::new(&about.input.0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let method = match mode {
        Mode::Distorted => "in the distorted-wave Born approximation",
        Mode::Born => "in the Born approximation",
        Mode::Transmission => "in transmission",
    };
    let fit = "With a measured image, `gisaxs fit FIT.toml` finds parameters of the sample; its help has an example.";
    if about.counted {
        let what = format!(
            "Counted photons of `{name}` {method}. Their noise has maxima too: without `--counts` this page names those of the means."
        );
        let sure = "Each pixel has its counting noise, √N of N photons.";
        return (Answer::new(what, sure, fit), None);
    }
    let (place, period) = match mode {
        Mode::Transmission => ("away from the beam", "2π/|q|"),
        _ => ("off the plane of incidence", "2π/q_y"),
    };
    let length = |m: &Maximum| {
        let [x, y, z] = m.q;
        let q = match mode {
            Mode::Transmission => x.hypot(y).hypot(z),
            _ => y.abs(),
        };
        format!("{} nm", three(std::f64::consts::TAU / q))
    };
    let at = |m: &Maximum| m.names(view).join(", ");
    let top = brightest(pixels, view);
    let mut says = vec![match &top {
        Some(m) => format!(
            "Mean intensities of `{name}` {method}, without noise, brightest at {}.",
            at(m)
        ),
        None => format!("Mean intensities of `{name}` {method}: no pixel has one."),
    }];
    let side = aside(pixels, view, mode);
    if let Some(m) = &side {
        says.push(format!(
            "The strongest maximum {place} is at {}: {period} is {}.",
            at(m),
            length(m)
        ));
    }
    let next = match side.as_ref().filter(|_| !asked) {
        Some(m) => {
            let cut = view.of_q().through(false, m.column);
            format!("A cut through it: `--cut qy={}`. {fit}", cut.at)
        }
        None => fit.to_owned(),
    };
    let approximation = match mode {
        Mode::Distorted => {
            "it has reflections at the layers, and no scattering more than once in particles"
        }
        Mode::Born => "it has neither reflections at the layers nor scattering more than once",
        Mode::Transmission => "it has no scattering more than once",
    };
    let spacing = match side {
        Some(_) => {
            " The place of a maximum is known to a pixel, and its length is a distance in the sample only where that is periodic."
        }
        None => "",
    };
    let sure = vec![format!(
        "It is computed, not measured: {approximation}.{spacing}"
    )];
    let strongest = format!("strongest maximum {place}");
    let rows = [("brightest pixel", &top), (&*strongest, &side)];
    let rows = rows
        .into_iter()
        .filter_map(|(name, m)| Some((name, m.as_ref()?)));
    let table = Columns::<(&str, &Maximum)>::new()
        .text("feature", "", |(name, _)| (*name).to_owned())
        .text("across", "", |(_, m)| m.names(view)[0].clone())
        .text("upward", "", |(_, m)| m.names(view)[1].clone())
        .cell(
            period,
            "the length of that q; of a lattice, its distance",
            |(name, m)| {
                // The brightest pixel is mostly that of the beam or the plane of incidence.
                let known = *name != "brightest pixel";
                Cell::known(known.then(|| length(m)))
            },
        )
        .where_known()
        .table("", rows);
    let answer = Answer {
        says,
        sure,
        next: vec![next],
    };
    (answer, Some(table))
}

/// Facts of names and values.
pub fn headline(facts: &[(String, String)]) -> Vec<Fact> {
    facts
        .iter()
        .map(|(name, value)| Fact::new(name, value.clone()))
        .collect()
}
