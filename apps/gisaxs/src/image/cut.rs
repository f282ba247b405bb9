//! Cuts through an image along a row or a column, or the mean of several.

use crate::detector::Detector;
use greenup_report::axis::{Area, LogRange, frame};
use greenup_report::svg::{Anchor, QUIET, Svg, colour};

/// A cut across (all columns at some height) or up (all rows at some column).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    pub across: bool,
    /// In the unit of the detector's other axis, and half of the width that is averaged over.
    pub at: f64,
    pub half: f64,
}

impl std::str::FromStr for Cut {
    type Err = String;

    /// `alpha=0.3`, `phi=0.1:0.02`: the height or the azimuth that is held, and half its width.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" is no cut: write alpha=0.3 (or up=…) for one along the azimuth at that height, \
                 phi=0.1 (or across=…) for one upward, with :0.02 behind for half a width"
            )
        };
        let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
        let across = match name {
            "alpha" | "up" => true,
            "phi" | "across" => false,
            _ => return Err(wrong()),
        };
        let (at, half) = rest.split_once(':').unwrap_or((rest, "0"));
        let number = |s: &str| s.parse::<f64>().ok().filter(|x| x.is_finite());
        match (number(at), number(half)) {
            (Some(at), Some(half)) if half >= 0.0 => Ok(Self { across, at, half }),
            _ => Err(wrong()),
        }
    }
}

/// Points of a cut.
#[derive(Clone, Debug)]
pub struct Curve {
    pub name: String,
    /// Title of the axis along it.
    pub axis: &'static str,
    pub points: Vec<(f64, f64)>,
}

impl Cut {
    /// Whether it meets the detector.
    ///
    /// # Errors
    /// It misses.
    pub fn check(&self, detector: &Detector) -> Result<(), String> {
        self.nearest(detector).map(drop)
    }

    /// The row or column that it lies in.
    fn nearest(&self, detector: &Detector) -> Result<usize, String> {
        let [x, y] = detector.axes();
        let ((name, from, to), m) = if self.across {
            (y, detector.rows())
        } else {
            (x, detector.columns())
        };
        let nearest = ((self.at - from) / ((to - from) / m as f64)).floor();
        if (0.0..m as f64).contains(&nearest) {
            return Ok(nearest as usize);
        }
        Err(format!(
            "a cut at {} misses the detector, whose {name} runs from {from:.4} to {to:.4}",
            self.at
        ))
    }

    /// The curve that it cuts out; the nearest row or column where it is thinner than one.
    ///
    /// # Errors
    /// It misses the detector.
    pub fn of(&self, pixels: &[f64], detector: &Detector) -> Result<Curve, String> {
        let (columns, rows) = (detector.columns(), detector.rows());
        let [x, y] = detector.axes();
        let (along, n, held, m) = if self.across {
            (x, columns, y, rows)
        } else {
            (y, rows, x, columns)
        };
        let step = (held.2 - held.1) / m as f64;
        let nearest = self.nearest(detector)?;
        let inside: Vec<usize> = (0..m)
            .filter(|&k| {
                let middle = held.1 + (k as f64 + 0.5) * step;
                k == nearest || (middle - self.at).abs() <= self.half
            })
            .collect();
        let points = (0..n)
            .map(|k| {
                let sum: f64 = inside
                    .iter()
                    .map(|&h| {
                        let (row, column) = if self.across { (h, k) } else { (k, h) };
                        pixels[row * columns + column]
                    })
                    .sum();
                let place = along.1 + (k as f64 + 0.5) * (along.2 - along.1) / n as f64;
                (place, sum / inside.len() as f64)
            })
            .collect();
        Ok(Curve {
            name: format!(
                "{} = {}",
                held.0.split(',').next().unwrap_or(held.0),
                self.at
            ),
            axis: along.0,
            points,
        })
    }
}

/// Curves over one axis as a figure, intensities logarithmic; the first as points where `dots` says so.
pub fn curves(curves: &[Curve], dots: bool) -> String {
    let area = Area {
        left: 70.0,
        top: 24.0,
        width: 560.0,
        height: 300.0,
    };
    let mut svg = Svg::new();
    let Some(first) = curves.first() else {
        return svg.document(area.right() + 20.0, area.bottom() + 48.0, "no cut");
    };
    frame(&mut svg, area, (first.axis, "intensity"));
    let all = || curves.iter().flat_map(|c| &c.points);
    let top = all().map(|p| p.1).fold(0.0, f64::max);
    // No more than ten decades: zeros between fringes are none of interest.
    let shown = all().map(|p| p.1).filter(|v| *v > top * 1e-10);
    let (Some(y), Some((lo, hi))) = (
        LogRange::around(shown),
        first.points.first().zip(first.points.last()),
    ) else {
        return svg.document(
            area.right() + 20.0,
            area.bottom() + 48.0,
            "nothing scattered",
        );
    };
    let span = (hi.0 - lo.0).max(f64::MIN_POSITIVE);
    let place = |p: &(f64, f64)| {
        (
            area.left + area.width * (p.0 - lo.0) / span,
            y.y(area, p.1.max(top * 1e-10)).min(area.bottom()),
        )
    };
    let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
    for t in y.ticks(6) {
        let at = y.y(area, t);
        svg.line(
            (area.left - 4.0, at),
            (area.left, at),
            &format!("stroke=\"{QUIET}\""),
        );
        svg.text(
            (area.left - 7.0, at + 4.0),
            Anchor::End,
            &small,
            &format!("{t:.1e}"),
        );
    }
    for (share, value, step) in super::figure::ticks(lo.0, hi.0) {
        let at = area.left + area.width * share;
        svg.line(
            (at, area.bottom()),
            (at, area.bottom() + 4.0),
            &format!("stroke=\"{QUIET}\""),
        );
        let words = super::figure::label(value, step);
        svg.text((at, area.bottom() + 16.0), Anchor::Middle, &small, &words);
    }
    for (i, c) in curves.iter().enumerate() {
        let points: Vec<(f64, f64)> = c.points.iter().map(place).collect();
        if i == 0 && dots {
            for (x, y) in points {
                svg.element(
                    "circle",
                    &format!(
                        "cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.6\" fill=\"{}\"",
                        colour(i)
                    ),
                );
            }
        } else {
            svg.polyline(
                &points,
                &format!("stroke-width=\"1.5\" stroke=\"{}\"", colour(i)),
            );
        }
        let at = (area.right() - 8.0, area.top + 16.0 + 15.0 * i as f64);
        svg.text(
            at,
            Anchor::End,
            &format!("font-size=\"12\" fill=\"{}\"", colour(i)),
            &c.name,
        );
    }
    svg.document(
        area.right() + 20.0,
        area.bottom() + 48.0,
        "cuts through the image",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detector::Axis;

    #[test]
    fn cuts_are_rows_columns_and_means_of_them() {
        let detector = Detector::Angles {
            phi: Axis::even(-0.02, 0.02, 4),
            alpha: Axis::even(0.0, 0.03, 3),
        };
        let pixels: Vec<f64> = (0..12).map(f64::from).collect();
        let cut = |s: &str| s.parse::<Cut>().unwrap().of(&pixels, &detector);
        let values = |s: &str| -> Vec<f64> { cut(s).unwrap().points.iter().map(|p| p.1).collect() };
        assert_eq!(values("alpha=0.9"), [4.0, 5.0, 6.0, 7.0]);
        assert_eq!(values("alpha=0.9:0.6"), [6.0, 7.0, 8.0, 9.0]);
        assert_eq!(values("alpha=0.6:0.4"), [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(values("phi=-1"), [0.0, 4.0, 8.0]);
        assert!(cut("phi=3").unwrap_err().contains("misses"));
        for bad in ["phi", "beta=1", "phi=x", "alpha=1:-1"] {
            assert!(bad.parse::<Cut>().is_err(), "{bad}");
        }
        assert!(curves(&[cut("phi=-1").unwrap()], false).contains("<path"));
    }
}
