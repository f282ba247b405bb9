//! An image as a picture: colours over seven decades, with axes.

use crate::detector::Detector;
use greenup_report::axis::{Area, frame};
use greenup_report::heat_figure::shade as colour;
use greenup_report::png::{PngError, Raster, png_with};
use greenup_report::svg::{Anchor, QUIET, Svg};

/// Decades that colours span below the maximum.
const DECADES: f64 = 7.0;

/// The colour of a share of the maximum.
fn shade(share: f64) -> [u8; 3] {
    let level = if share > 0.0 {
        1.0 + share.log10() / DECADES
    } else {
        0.0
    };
    colour(level)
}

/// The image with axes and a bar of colours.
pub fn png(pixels: &[f64], detector: &Detector) -> Result<Vec<u8>, PngError> {
    let (columns, rows) = (detector.columns(), detector.rows());
    let [across, up] = detector.axes();
    let top = pixels.iter().copied().fold(0.0, f64::max);
    let rgb: Vec<[u8; 3]> = pixels
        .chunks(columns.max(1))
        .rev()
        .flatten()
        .map(|v| shade(if top > 0.0 { v / top } else { 0.0 }))
        .collect();
    let zoom = (512 / columns.max(rows).max(1)).max(1);
    let area = Area {
        left: 64.0,
        top: 24.0,
        width: (columns * zoom) as f64,
        height: (rows * zoom) as f64,
    };
    let mut svg = Svg::new();
    frame(&mut svg, area, (across.0, up.0));
    let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
    for (place, from, to) in ticks(across.1, across.2) {
        let x = area.left + area.width * place;
        let y = area.bottom();
        svg.line((x, y), (x, y + 4.0), &format!("stroke=\"{QUIET}\""));
        svg.text((x, y + 16.0), Anchor::Middle, &small, &label(from, to));
    }
    for (place, from, to) in ticks(up.1, up.2) {
        let (x, y) = (area.left, area.bottom() - area.height * place);
        svg.line((x - 4.0, y), (x, y), &format!("stroke=\"{QUIET}\""));
        svg.text((x - 7.0, y + 4.0), Anchor::End, &small, &label(from, to));
    }
    // The bar: a step a line, a label a decade.
    let bar = area.right() + 18.0;
    let steps = 140;
    for i in 0..steps {
        let level = (f64::from(i) + 0.5) / f64::from(steps);
        let [r, g, b] = colour(level);
        let height = area.height / f64::from(steps);
        svg.rect(
            bar,
            area.bottom() - height * f64::from(i + 1),
            14.0,
            height + 0.5,
            &format!("fill=\"rgb({r},{g},{b})\""),
        );
    }
    for d in 0..=DECADES as u32 {
        let y = area.top + area.height * f64::from(d) / DECADES;
        let words = format!("{:.1e}", top * 10.0_f64.powf(-f64::from(d)));
        svg.text((bar + 20.0, y + 4.0), Anchor::Start, &small, &words);
    }
    let document = svg.document(area.right() + 100.0, area.bottom() + 48.0, "intensity");
    png_with(
        &document,
        &Raster {
            left: area.left as usize,
            top: area.top as usize,
            zoom,
            columns,
            rgb: &rgb,
        },
    )
}

/// Round values between two: where they lie, the value and the step.
pub(super) fn ticks(from: f64, to: f64) -> Vec<(f64, f64, f64)> {
    let rough = (to - from) / 6.0;
    let ten = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * ten)
        .find(|s| *s >= rough * (1.0 - 1e-9))
        .unwrap_or(ten);
    let first = (from / step).ceil() as i64;
    (first..)
        .map(|i| i as f64 * step)
        .take_while(|v| *v <= to + 1e-9 * step)
        .map(|v| ((v - from) / (to - from), v, step))
        .collect()
}

pub(super) fn label(v: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).max(0.0) as usize;
    // No negative zero.
    format!("{:.digits$}", if v.abs() < 1e-9 * step { 0.0 } else { v })
}
