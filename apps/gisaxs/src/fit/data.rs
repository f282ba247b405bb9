//! The measured data of a fit: an image with its mask, or a cut; what is left out of them is counted.

use crate::GisaxsError;
use crate::detector::Detector;
use crate::image::{self, Cut, Measured};
use crate::table::{Column, DEGREES, Layout, fail};
use serde::Serialize;
use std::path::Path;

/// Numbers of pixels, or of points of a cut, that are left out of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// In the mask.
    pub masked: usize,
    /// With the value of a gap of the detector, such as 2³² − 1.
    pub gaps: usize,
    /// Negative.
    pub negative: usize,
    /// Not a number.
    pub nan: usize,
    /// Zero, where the error is relative to the intensity.
    pub zero: usize,
    /// Of the value 65535, which is the largest, in a type of more bits: they are used, but are perhaps gaps.
    #[serde(skip)]
    pub perhaps: usize,
}

impl LeftOut {
    /// What is left out of `all`, as a sentence; `None` if nothing is.
    pub fn text(&self, all: usize) -> Option<String> {
        let kinds = [
            (self.masked, "in the mask"),
            (self.gaps, "with the value of a gap of the detector"),
            (self.negative, "negative"),
            (self.nan, "not a number"),
            (self.zero, "zero, which has no relative error"),
        ];
        let some: Vec<String> = (kinds.iter().filter(|k| k.0 > 0))
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
        let sum: usize = kinds.iter().map(|k| k.0).sum();
        (sum > 0).then(|| format!("{sum} of {all} data are left out: {}", some.join(", ")))
    }

    /// A warning on values that are used, but are perhaps gaps.
    pub fn warning(&self) -> Option<String> {
        (self.perhaps > 0).then(|| {
            format!(
                "{} data have the largest value, 65535: if these are gaps of a detector of 16 bits, leave them out by a \
                 mask",
                self.perhaps
            )
        })
    }

    /// Leaves out zeros, which have no relative error.
    pub(super) fn zeros(&mut self, values: &mut [f64]) {
        for v in values.iter_mut().filter(|v| **v == 0.0) {
            self.zero += 1;
            *v = f64::NAN;
        }
    }

    /// Counts negative and missing values that no mask or gap explains.
    fn count(&mut self, values: &[f64]) {
        self.negative = values.iter().filter(|v| **v < 0.0).count();
        self.nan = values.iter().filter(|v| v.is_nan()).count() - self.masked - self.gaps;
    }
}

/// Reads an image of the size of a detector.
fn sized(path: &Path, detector: &Detector, sample: &Path) -> Result<Measured, GisaxsError> {
    let read = image::read(path)?;
    let (high, wide) = (read.pixels.len() / read.columns, read.columns);
    let (rows, columns) = (detector.rows(), detector.columns());
    if (high, wide) != (rows, columns) {
        return Err(fail(
            path,
            format!(
                "is an image of {wide} × {high} pixels; the detector of {} has {columns} × {rows}",
                sample.display()
            ),
        ));
    }
    Ok(read)
}

/// An image without the pixels that are not 0 in its mask, and without gaps: NaN.
///
/// # Errors
/// A file cannot be read or has another size, or a pixel that is not masked is infinite.
pub(super) fn image(
    path: &Path,
    mask: Option<&Path>,
    detector: &Detector,
    sample: &Path,
) -> Result<(Vec<f64>, LeftOut), GisaxsError> {
    let Measured {
        mut pixels,
        columns,
        mut gaps,
        wide,
    } = sized(path, detector, sample)?;
    let mut out = LeftOut::default();
    if let Some(mask) = mask {
        let mask = sized(mask, detector, sample)?.pixels;
        for (v, _) in pixels.iter_mut().zip(&mask).filter(|(_, m)| **m != 0.0) {
            out.masked += 1;
            *v = f64::NAN;
        }
        // A gap in the mask counts once.
        gaps.retain(|n| mask[*n] == 0.0);
    }
    out.gaps = gaps.len();
    let top = pixels.iter().copied().fold(0.0, f64::max);
    if wide && top == 65_535.0 {
        out.perhaps = pixels.iter().filter(|v| **v == top).count();
    }
    if let Some(n) = pixels.iter().position(|v| v.is_infinite()) {
        return Err(fail(
            path,
            format!(
                "the pixel in row {} from below and column {} is infinite: give a mask, or write NaN for what was not \
                 measured",
                n / columns + 1,
                n % columns + 1
            ),
        ));
    }
    out.count(&pixels);
    Ok((pixels, out))
}

const fn layout(columns: &'static [Column]) -> Layout {
    Layout {
        columns,
        // Of our own cuts.
        unused: &["qy", "qz"],
        plain: columns.len(),
        more: false,
        gaps: true,
    }
}

const fn column(names: &'static [&'static str], units: &'static [(&'static str, f64)]) -> Column {
    Column {
        names,
        units,
        absent: None,
    }
}

const MM: &[(&str, f64)] = &[("mm", 1.0), ("cm", 10.0), ("m", 1e3)];
const COUNTS: &[(&str, f64)] = &[("counts", 1.0), ("photons", 1.0)];
const INTENSITY: Column = column(&["intensity", "i", "counts", "photons"], COUNTS);

const PHI: Layout = layout(&[column(&["φ", "phi", "position"], DEGREES), INTENSITY]);
const ALPHA: Layout = layout(&[column(&["α", "alpha", "position"], DEGREES), INTENSITY]);
const ACROSS: Layout = layout(&[column(&["across", "x", "position"], MM), INTENSITY]);
const UP: Layout = layout(&[column(&["up", "y", "position"], MM), INTENSITY]);

/// The intensities of a cut, whose positions are those of the detector's pixels.
///
/// # Errors
/// The file cannot be read, has another number of points or other positions, or an infinite intensity.
pub(super) fn cut(
    path: &Path,
    cut: Cut,
    detector: &Detector,
) -> Result<(Vec<f64>, LeftOut), GisaxsError> {
    let layout = match (detector, cut.across) {
        (Detector::Angles { .. }, true) => PHI,
        (Detector::Angles { .. }, false) => ALPHA,
        (Detector::Flat(_), true) => ACROSS,
        (Detector::Flat(_), false) => UP,
    };
    let rows = layout.read(path)?;
    let n = if cut.across {
        detector.columns()
    } else {
        detector.rows()
    };
    if rows.len() != n {
        let message = format!("is a cut of {} points; the sample's has {n}", rows.len());
        return Err(fail(path, message));
    }
    let edge = |k: usize| {
        let (x, y) = detector.in_units(k as f64, k as f64);
        if cut.across { x } else { y }
    };
    for (k, (line, row)) in rows.iter().enumerate() {
        let (lo, hi) = (edge(k), edge(k + 1));
        // Positions may be rounded, or those of edges.
        let (center, half) = (0.5 * (lo + hi), 0.5 * (hi - lo).abs());
        if (row[0] - center).abs() > 2.0 * half {
            return Err(fail(
                path,
                format!(
                    "line {line}: the position {} is not in the detector's pixel {} there, from {lo:.6} to {hi:.6}: \
                     points must be those of the pixels, in their order and unit",
                    row[0],
                    k + 1
                ),
            ));
        }
    }
    let values: Vec<f64> = rows.iter().map(|r| r.1[1]).collect();
    let mut out = LeftOut::default();
    out.count(&values);
    Ok((values, out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detector::Axis;

    fn detector() -> Detector {
        Detector::Angles {
            phi: Axis::even(-0.02, 0.02, 4),
            alpha: Axis::even(0.0, 0.03, 2),
        }
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let (data, mask) = (dir.path().join("d.csv"), dir.path().join("m.csv"));
        let read = |text: &str, masked: &str| {
            std::fs::write(&data, text).unwrap();
            std::fs::write(&mask, masked).unwrap();
            let mask = (!masked.is_empty()).then_some(mask.as_path());
            image(&data, mask, &detector(), Path::new("s.toml"))
        };
        let text = "1,-1,nan,4294967295\n4294967295,6,7,65535\n";
        let (values, out) = read(text, "").unwrap();
        let want = LeftOut {
            masked: 0,
            gaps: 2,
            negative: 1,
            nan: 1,
            zero: 0,
            perhaps: 1,
        };
        assert_eq!((out, values[5]), (want, 6.0));
        assert_eq!(
            out.text(8).unwrap(),
            "4 of 8 data are left out: 2 with the value of a gap of the detector, 1 negative, 1 not a number"
        );
        assert!(out.warning().unwrap().contains("65535"));
        let (_, out) = read(text, "0,1,0,1\n0,1,0,0\n").unwrap();
        assert_eq!((out.masked, out.gaps, out.negative, out.nan), (3, 1, 0, 1));
        let (mut values, mut out) = read("1,0,0,-1\n0,6,7,nan\n", "0,1,0,0\n0,0,0,0\n").unwrap();
        out.zeros(&mut values);
        assert_eq!((out.masked, out.zero, out.negative, out.nan), (1, 2, 1, 1));
        assert!(values[2].is_nan() && values[4].is_nan() && values[0] == 1.0);
        assert!(
            out.text(8)
                .unwrap()
                .contains("2 zero, which has no relative error")
        );
        let infinite = "1,2,3,4\n5,6,inf,8\n";
        let e = read(infinite, "").unwrap_err().to_string();
        assert!(
            e.contains("row 2 from below and column 3 is infinite"),
            "{e}"
        );
        assert!(read(infinite, "0,0,0,0\n0,0,1,0\n").is_ok());
        assert!(
            read("1,2\n3,4\n", "")
                .unwrap_err()
                .to_string()
                .contains("2 × 2")
        );
    }

    #[test]
    fn cuts_must_be_those_of_the_pixels() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.csv");
        let d = detector();
        let centres: Vec<f64> = (0..4).map(|k| d.in_units(k as f64 + 0.5, 0.5).0).collect();
        let read = |head: &str, factor: f64, backward: bool| {
            let mut rows: Vec<String> = (centres.iter().enumerate())
                .map(|(k, x)| format!("{},{k}\n", x * factor))
                .collect();
            if backward {
                rows.reverse();
            }
            std::fs::write(&path, format!("{head}{}", rows.concat())).unwrap();
            cut(&path, "alpha=0.5".parse().unwrap(), &d)
                .map(|c| c.0)
                .map_err(|e| e.to_string())
        };
        let right = Ok(vec![0.0, 1.0, 2.0, 3.0]);
        assert_eq!(read("", 1.0, false), right);
        assert_eq!(read("# α = 0.5\nφ_degrees,intensity\n", 1.0, false), right);
        assert_eq!(
            read("phi (rad),counts\n", 1.0_f64.to_radians(), false),
            right
        );
        assert!(
            read("", 1.0, true)
                .unwrap_err()
                .contains("line 1: the position")
        );
        assert!(
            read("", 1.0_f64.to_radians(), false)
                .unwrap_err()
                .contains("the position")
        );
        assert!(
            read("alpha,intensity\n", 1.0, false)
                .unwrap_err()
                .contains("\"alpha\" is unknown")
        );
        assert!(
            read("phi,sigma\n", 1.0, false)
                .unwrap_err()
                .contains("\"sigma\" is unknown")
        );
    }
}
