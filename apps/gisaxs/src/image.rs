//! Images in files; the first row of numbers is the lowest angle.

use crate::GisaxsError;
use crate::detector::{Axis, Detector};
use greenup_report::axis::{Area, frame};
use greenup_report::png::{PngError, Raster, png_with};
use greenup_report::svg::{Anchor, QUIET, Svg};
use std::fmt::Write as _;
use std::path::Path;

/// Writes by the file's ending: csv, npy, or png (logarithm of the intensity, highest row on top, with
/// axes).
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write(path: &Path, pixels: &[f64], detector: &Detector) -> Result<(), GisaxsError> {
    let columns = detector.phi.centres.len();
    let fail = |message: String| GisaxsError::File {
        path: path.display().to_string(),
        message,
    };
    let ending = path
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let bytes = match ending.as_str() {
        "csv" => csv(pixels, columns),
        "npy" => npy(pixels, columns),
        "png" => png(pixels, detector).map_err(|e| fail(e.to_string()))?,
        _ => return Err(fail("its ending is not csv, npy or png".into())),
    };
    std::fs::write(path, bytes).map_err(|e| fail(format!("cannot be written: {e}")))
}

fn csv(pixels: &[f64], columns: usize) -> Vec<u8> {
    let mut text = String::new();
    for row in pixels.chunks(columns.max(1)) {
        for (i, v) in row.iter().enumerate() {
            let _ = write!(text, "{}{v:.17e}", if i > 0 { "," } else { "" });
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// NumPy's format, version 1.0: a header padded to whole 64 bytes, then doubles.
fn npy(pixels: &[f64], columns: usize) -> Vec<u8> {
    let rows = pixels.len() / columns.max(1);
    let mut header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(pixels.iter().flat_map(|v| v.to_le_bytes()));
    out
}

/// Decades that colours span below the maximum.
const DECADES: f64 = 7.0;

/// The colour of a share of the maximum.
fn shade(share: f64) -> [u8; 3] {
    let level = if share > 0.0 {
        1.0 + share.log10() / DECADES
    } else {
        0.0
    };
    colour(level.clamp(0.0, 1.0))
}

/// The image with axes in degrees and a bar of colours.
fn png(pixels: &[f64], detector: &Detector) -> Result<Vec<u8>, PngError> {
    let (columns, rows) = (detector.phi.centres.len(), detector.alpha.centres.len());
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
    frame(&mut svg, area, ("φ, degrees", "α, degrees"));
    let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
    for (place, from, to) in ticks(&detector.phi) {
        let x = area.left + area.width * place;
        let y = area.bottom();
        svg.line((x, y), (x, y + 4.0), &format!("stroke=\"{QUIET}\""));
        svg.text((x, y + 16.0), Anchor::Middle, &small, &label(from, to));
    }
    for (place, from, to) in ticks(&detector.alpha) {
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

/// Round angles of an axis: where they lie along it, the angle and the step, degrees.
fn ticks(axis: &Axis) -> Vec<(f64, f64, f64)> {
    let (Some(from), Some(to)) = (axis.edges.first(), axis.edges.last()) else {
        return Vec::new();
    };
    let (from, to) = (from.to_degrees(), to.to_degrees());
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

fn label(v: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).max(0.0) as usize;
    // No negative zero.
    format!("{:.digits$}", if v.abs() < 1e-9 * step { 0.0 } else { v })
}

/// From dark blue over green to yellow, lightness rising throughout.
fn colour(level: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 6] = [
        [13.0, 8.0, 40.0],
        [48.0, 38.0, 120.0],
        [38.0, 104.0, 142.0],
        [40.0, 160.0, 130.0],
        [140.0, 205.0, 75.0],
        [253.0, 231.0, 37.0],
    ];
    let at = level * (STOPS.len() - 1) as f64;
    let i = (at as usize).min(STOPS.len() - 2);
    std::array::from_fn(|k| {
        (STOPS[i][k] + (STOPS[i + 1][k] - STOPS[i][k]) * (at - i as f64)).round() as u8
    })
}
