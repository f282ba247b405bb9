//! Cuts through an image along a row or a column, or the mean of several rows or columns.

use crate::detector::Detector;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit,
};
use greenup_report::si::three;

/// A cut through an image. Positions are in the unit of the detector's axes: degrees, or mm of a flat detector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// `true`: along the azimuth (a row); `false`: upward (a column).
    pub across: bool,
    /// Position on the other axis.
    pub at: f64,
    /// Half of the width over which the cut is averaged; 0: one row or column.
    pub half: f64,
}

impl std::str::FromStr for Cut {
    type Err = crate::GisaxsError;

    /// Parses a cut such as `alpha=0.3` (along the azimuth) or `phi=0.1:0.02` (upward, averaged over ±0.02).
    fn from_str(text: &str) -> Result<Self, crate::GisaxsError> {
        let wrong = || {
            crate::GisaxsError::Invalid(format!(
                "invalid cut \"{text}\": write alpha=0.3 (or up=…) for one along the azimuth at that height, \
                 phi=0.1 (or across=…) for one upward, followed by :0.02 for the half-width"
            ))
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

/// The intensities along a cut.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Legend of the curve.
    pub name: String,
    /// Title of the axis along the cut.
    pub axis: &'static str,
    /// Position on that axis, and intensity.
    pub points: Vec<(f64, f64)>,
}

impl Cut {
    /// Checks that the cut meets the detector.
    ///
    /// # Errors
    /// The cut misses the detector.
    pub fn check(&self, detector: &Detector) -> Result<(), crate::GisaxsError> {
        self.nearest(detector).map(drop)
    }

    /// The row or column that contains the cut.
    fn nearest(&self, detector: &Detector) -> Result<usize, crate::GisaxsError> {
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
        )
        .into())
    }

    /// Name: the axis that it cuts, and where.
    pub fn label(&self, detector: &Detector) -> String {
        let [x, y] = detector.axes();
        let name = if self.across { y.0 } else { x.0 };
        format!("{} = {}", name.split(',').next().unwrap_or(name), self.at)
    }

    /// The intensities along the cut, averaged over its width, at least one row or column.
    ///
    /// # Errors
    /// The cut misses the detector.
    pub fn of(&self, pixels: &[f64], detector: &Detector) -> Result<Curve, crate::GisaxsError> {
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
                let center = held.1 + (k as f64 + 0.5) * step;
                k == nearest || (center - self.at).abs() <= self.half
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
                let position = along.1 + (k as f64 + 0.5) * (along.2 - along.1) / n as f64;
                (position, sum / inside.len() as f64)
            })
            .collect();
        Ok(Curve {
            name: self.label(detector),
            axis: along.0,
            points,
        })
    }
}

/// Curves over one axis, with logarithmic intensities in the colours of series `first` and on; `dots` draws the first
/// curve as points.
pub fn curves(curves: &[Curve], first: usize, dots: bool) -> Chart {
    let all = || curves.iter().flat_map(|c| &c.points).map(|p| p.1);
    let top = all().filter(|v| v.is_finite()).fold(0.0, f64::max);
    // At most ten decades: minima between fringes are deeper, but of no interest.
    let least = top * 1e-10;
    let name = curves.first().map_or("", |c| c.axis);
    let mut y = Axis::new("intensity", Unit::None, Scale::Log);
    if let Some(low) = all().filter(|v| *v > least).min_by(f64::total_cmp) {
        y = y.over(0.7 * low, (1.5 * top).max(2.0 * low));
    }
    let mut panel = Panel::new("", Axis::new(name, Unit::None, Scale::Linear), y);
    panel.height = Height::Ratio(0.5);
    for (i, c) in curves.iter().enumerate() {
        if i == 0 && dots {
            let points = c
                .points
                .iter()
                .map(|p| Mark {
                    x: p.0,
                    y: p.1,
                    interval: None,
                    tip: format!("{}: {} at {}", c.name, three(p.1), three(p.0)),
                })
                .collect();
            panel.push(Layer::points(i, points, 4.5));
        } else {
            let line = c.points.iter().map(|p| (p.0, p.1.max(least))).collect();
            panel.push(Layer::line(i, line, c.name.clone()));
        }
    }
    let title = match curves {
        [one] => one.name.clone(),
        _ => "Cuts".into(),
    };
    Chart {
        title,
        series: curves
            .iter()
            .enumerate()
            .map(|(i, c)| {
                let sign = if i == 0 && dots {
                    Sign::Dot
                } else {
                    Sign::Line
                };
                Series::new(&c.name, Ink::Series(first + i), sign)
            })
            .collect(),
        panels: vec![panel],
        ..Chart::default()
    }
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
        assert!(cut("phi=3").unwrap_err().to_string().contains("misses"));
        for bad in ["phi", "beta=1", "phi=x", "alpha=1:-1"] {
            assert!(bad.parse::<Cut>().is_err(), "{bad}");
        }
        assert!(
            !curves(&[cut("phi=-1").unwrap()], 0, false)
                .panels
                .is_empty()
        );
    }
}
