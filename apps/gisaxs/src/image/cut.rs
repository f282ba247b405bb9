//! Cuts through an image along a row or a column, or the mean of several rows or columns.

use crate::detector::Detector;
use crate::scattering::dwba::Scene;
use crate::table::{DEGREES, PER_NM};

/// A cut through an image, along a row or a column of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// `true`: along the azimuth (a row); `false`: upward (a column).
    pub across: bool,
    /// Position on the other axis.
    pub at: f64,
    /// Half of the width over which the cut is averaged; 0: one row or column.
    pub half: f64,
    /// What both are.
    pub measure: Measure,
}

/// What the position of a cut is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// In the unit of the detector's axes: degrees, or mm of a flat detector.
    Detector,
    /// Degrees, on a flat detector too, where the line is that of the angle in the scattering plane (α) or at the horizon (φ).
    Degrees,
    /// q_z or q_y, 1/nm, at the same lines; of the beam that [`Cut::of_beam`] gives.
    Q(Beam),
}

/// What relates angles to q.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Wave number, 1/nm.
    pub(super) k: f64,
    /// Grazing angle, rad.
    pub(super) incidence: f64,
}

/// Units of positions on a flat detector, in mm.
const MM: &[(&str, f64)] = &[
    ("mm", 1.0),
    ("cm", 10.0),
    ("m", 1e3),
    ("µm", 1e-3),
    ("um", 1e-3),
];

/// A number, and its unit, of which the first of the list is meant without one.
fn measured(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let is_number =
        |end: &usize| text.is_char_boundary(*end) && text[..*end].parse::<f64>().is_ok();
    let end = (1..=text.len()).rev().find(is_number)?;
    let unit: String = text[end..].to_lowercase().split_whitespace().collect();
    // `0.5/nm` is as good as `0.5 1/nm`.
    let has = |known: &str| unit == known || known.strip_prefix('1') == Some(&unit);
    let factor = match unit.as_str() {
        "" => 1.0,
        _ => units.iter().find(|u| has(u.0))?.1,
    };
    let number: f64 = text[..end].parse().ok()?;
    Some(number * factor).filter(|x| x.is_finite())
}

impl std::str::FromStr for Cut {
    type Err = crate::GisaxsError;

    /// Parses a cut such as `qz=0.5` (along the azimuth) or `qy=0.1:0.02` (upward, averaged over ±0.02), 1/nm; `alpha=0.3` and
    /// `phi=0.1`, degrees; or `up=2.5` and `across=-1`, mm of a flat detector. Numbers may have other units: `alpha=5mrad`.
    fn from_str(text: &str) -> Result<Self, crate::GisaxsError> {
        let wrong = || {
            crate::GisaxsError::Invalid(format!(
                "invalid cut \"{text}\": write qz=0.5 (1/nm), alpha=0.3 (degrees) or up=2.5 (mm of a flat detector) for one \
                 along the azimuth, qy=0.1, phi=0.1 or across=1 for one upward; other units as qz=0.05/Å or alpha=5mrad; \
                 :0.02 behind it is the half-width"
            ))
        };
        let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
        let unknown = Beam {
            k: f64::NAN,
            incidence: f64::NAN,
        };
        let (across, measure, units) = match name.trim() {
            "qz" | "q_z" => (true, Measure::Q(unknown), PER_NM),
            "qy" | "q_y" => (false, Measure::Q(unknown), PER_NM),
            "alpha" | "α" => (true, Measure::Degrees, DEGREES),
            "phi" | "φ" => (false, Measure::Degrees, DEGREES),
            "up" => (true, Measure::Detector, MM),
            "across" => (false, Measure::Detector, MM),
            _ => return Err(wrong()),
        };
        let (at, half) = rest.split_once(':').unwrap_or((rest, "0"));
        match (measured(at, units), measured(half, units)) {
            (Some(at), Some(half)) if half >= 0.0 => Ok(Self {
                across,
                at,
                half,
                measure,
            }),
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
        match self.position(detector) {
            Some(position) => Ok((position as usize).min(self.lines(detector) - 1)),
            None => {
                let end = |v: f64| self.coordinate(v, detector);
                let (name, unit) = self.axis(detector);
                Err(format!(
                    "a cut at {} misses the detector: its {name} runs from {:.4} to {:.4} {unit}",
                    self.at,
                    end(0.0),
                    end(self.lines(detector) as f64)
                )
                .into())
            }
        }
    }

    /// The same cut in the scene whose pixels it cuts, which relates q to angles.
    pub fn of_beam(self, scene: &Scene) -> Self {
        let beam = Beam {
            k: scene.k(),
            incidence: scene.incidence,
        };
        match self.measure {
            Measure::Q(_) => Self {
                measure: Measure::Q(beam),
                ..self
            },
            _ => self,
        }
    }

    /// Where the cut is across the rows or the columns, as a continuous number; `None` off the detector.
    pub(super) fn position(&self, detector: &Detector) -> Option<f64> {
        match self.measure {
            Measure::Degrees => detector.line_at(!self.across, self.at.to_radians()),
            Measure::Detector => detector.from_unit(!self.across, self.at),
            Measure::Q(Beam { k, incidence }) => {
                let below = if self.across { incidence.sin() } else { 0.0 };
                let sine = self.at / k - below;
                let angle = (sine.abs() <= 1.0).then(|| sine.asin())?;
                detector.line_at(!self.across, angle)
            }
        }
    }

    /// The coordinate of a position across the rows or the columns, in the unit of the cut.
    pub(super) fn coordinate(&self, position: f64, detector: &Detector) -> f64 {
        match self.measure {
            Measure::Degrees => detector.angle_of(!self.across, position).to_degrees(),
            Measure::Detector => {
                let (x, y) = detector.in_units(position, position);
                if self.across { y } else { x }
            }
            Measure::Q(Beam { k, incidence }) => {
                let below = if self.across { incidence.sin() } else { 0.0 };
                k * (detector.angle_of(!self.across, position).sin() + below)
            }
        }
    }

    /// Name and unit of the coordinate of the cut.
    pub fn axis(&self, detector: &Detector) -> (&'static str, &'static str) {
        let [x, y] = detector.axes();
        match (self.measure, self.across) {
            (Measure::Q(_), true) => ("q_z", "nm⁻¹"),
            (Measure::Q(_), false) => ("q_y", "nm⁻¹"),
            (Measure::Degrees, true) => ("α", "degrees"),
            (Measure::Degrees, false) => ("φ", "degrees"),
            (Measure::Detector, across) => {
                let name = if across { y.0 } else { x.0 };
                name.split_once(", ").unwrap_or((name, ""))
            }
        }
    }

    /// Number of rows, for a cut along the azimuth, or of columns.
    fn lines(&self, detector: &Detector) -> usize {
        if self.across {
            detector.rows()
        } else {
            detector.columns()
        }
    }

    /// Where it is, as the option says it: `α = 0.3 ± 0.02°`.
    pub fn label(&self, detector: &Detector) -> String {
        // Six digits: those of other units do not end.
        let plain = |v: f64| format!("{v:.5e}").parse().unwrap_or(v);
        let (name, unit) = self.axis(detector);
        let half = match self.half {
            0.0 => String::new(),
            half => format!(" ± {}", plain(half)),
        };
        let unit = match unit {
            "degrees" => "°".to_owned(),
            unit => format!(" {unit}"),
        };
        format!("{name} = {}{half}{unit}", plain(self.at)).replacen('-', "−", 1)
    }

    /// The rows, for a cut along the azimuth, or the columns over which the cut is averaged; at least one.
    ///
    /// # Errors
    /// The cut misses the detector.
    pub fn inside(&self, detector: &Detector) -> Result<Vec<usize>, crate::GisaxsError> {
        let nearest = self.nearest(detector)?;
        let center = |k: usize| self.coordinate(k as f64 + 0.5, detector);
        Ok((0..self.lines(detector))
            .filter(|&k| k == nearest || (center(k) - self.at).abs() <= self.half)
            .collect())
    }

    /// Means of an image along the cut, over its width; NaN where all values are NaN, which are left out.
    ///
    /// # Errors
    /// The cut misses the detector.
    pub fn means(
        &self,
        pixels: &[f64],
        detector: &Detector,
    ) -> Result<Vec<f64>, crate::GisaxsError> {
        let columns = detector.columns();
        let inside = self.inside(detector)?;
        let n = if self.across {
            columns
        } else {
            detector.rows()
        };
        Ok((0..n)
            .map(|k| {
                let (sum, count) = inside
                    .iter()
                    .map(|&h| {
                        let (row, column) = if self.across { (h, k) } else { (k, h) };
                        pixels[row * columns + column]
                    })
                    .filter(|v| !v.is_nan())
                    .fold((0.0, 0_u32), |(sum, n), v| (sum + v, n + 1));
                sum / f64::from(count)
            })
            .collect())
    }

    /// The intensities along the cut, averaged over its width.
    ///
    /// # Errors
    /// The cut misses the detector.
    pub fn of(&self, pixels: &[f64], detector: &Detector) -> Result<Curve, crate::GisaxsError> {
        let [x, y] = detector.axes();
        let position = |k: usize| {
            let at = k as f64 + 0.5;
            let (x, y) = detector.in_units(at, at);
            if self.across { x } else { y }
        };
        let means = self.means(pixels, detector)?;
        Ok(Curve {
            name: self.label(detector),
            axis: if self.across { x.0 } else { y.0 },
            points: (means.into_iter().enumerate())
                .map(|(k, v)| (position(k), v))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detector::{Axis, Flat};

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
        for bad in [
            "phi",
            "beta=1",
            "phi=x",
            "alpha=1:-1",
            "qz=1mrad",
            "alpha=1/nm",
            "up=nan",
            "qz=",
        ] {
            assert!(bad.parse::<Cut>().is_err(), "{bad}");
        }
        let mut holes = pixels.clone();
        holes[4] = f64::NAN;
        let cut = "alpha=0.9:0.6".parse::<Cut>().unwrap();
        assert_eq!(cut.means(&holes, &detector).unwrap(), [8.0, 7.0, 8.0, 9.0]);
    }

    #[test]
    fn numbers_have_units() {
        let near = |text: &str, want: f64| {
            let at = text.parse::<Cut>().unwrap().at;
            assert!((at / want - 1.0).abs() < 1e-12, "{text}: {at}");
        };
        for text in [
            "qz=0.5",
            "q_z=0.5/nm",
            "qz= 0.5 1/nm",
            "qz=0.05/A",
            "qz=0.05Å-1",
            "qz=5e-1 nm^-1",
        ] {
            near(text, 0.5);
        }
        near("alpha=5mrad", 5e-3_f64.to_degrees());
        near("alpha=0.3deg", 0.3);
        near("up=1cm", 10.0);
        let half = "phi=1:0.5mrad".parse::<Cut>().unwrap().half;
        assert!((half / 5e-4_f64.to_degrees() - 1.0).abs() < 1e-12);
    }

    /// A cut by q is that of the angle which has it, and its half-width that of q.
    #[test]
    fn cuts_of_q_are_those_of_angles() {
        let detector = Detector::Angles {
            phi: Axis::even(-0.03, 0.03, 60),
            alpha: Axis::even(0.0, 0.04, 40),
        };
        let beam = Beam {
            k: 62.8,
            incidence: 0.004,
        };
        let of = |text: &str| Cut {
            measure: Measure::Q(beam),
            ..text.parse::<Cut>().unwrap()
        };
        // Pixels are a thousandth of a radian.
        let qz = 62.8 * (0.0105_f64.sin() + 0.004_f64.sin());
        assert_eq!(of(&format!("qz={qz}")).inside(&detector).unwrap(), [10]);
        assert_eq!(
            of(&format!("qz={qz}:0.07")).inside(&detector).unwrap(),
            [9, 10, 11]
        );
        assert_eq!(of("qy=-0.1").inside(&detector).unwrap(), [28]);
        let e = of("qz=9").check(&detector).unwrap_err().to_string();
        assert!(e.contains("its q_z runs from 0.2512 to 2.7"), "{e}");
        assert!(of("qy=99").check(&detector).is_err());
    }

    /// `alpha` and `phi` are degrees on a flat detector too; `up` and `across` are mm.
    #[test]
    fn cuts_of_flat_detectors_are_in_degrees() {
        for beam in [0.0, 0.003] {
            let detector = Detector::Flat(Flat {
                distance: 2000.0,
                pixel: 0.5,
                columns: 100,
                rows: 80,
                centre: [49.5, 10.0],
                beam,
            });
            let means = |cut: &str, pixels: &[f64]| {
                let cut = cut.parse::<Cut>().unwrap();
                let inside = cut.inside(&detector).unwrap();
                (cut.means(pixels, &detector).unwrap()[0], inside)
            };
            let rows: Vec<f64> = (0..8000).map(|n| f64::from(n / 100)).collect();
            let columns: Vec<f64> = (0..8000).map(|n| f64::from(n % 100)).collect();
            // 0.3° is 10.47 mm above the horizon, which lies 6 mm above the beam.
            let (row, _) = means("alpha=0.3", &rows);
            let (phi, alpha) = detector.angles(row as usize, 49);
            assert!(
                (alpha.to_degrees() - 0.3).abs() < 0.008,
                "{row} {phi} {alpha}"
            );
            assert_eq!(row, if beam == 0.0 { 31.0 } else { 43.0 });
            assert_eq!(means("up=10.5", &rows).0, 31.0);
            assert_eq!(means("phi=0.3", &columns).0, 70.0);
            assert_eq!(means("across=10.5", &columns).0, 71.0);
            // ±0.02° are ±0.7 mm.
            assert_eq!(means("alpha=0.3:0.02", &rows).1.len(), 3);
            let e = "alpha=5".parse::<Cut>().unwrap().check(&detector);
            let e = e.unwrap_err().to_string();
            assert!(e.contains("its α runs from"), "{e}");
        }
    }
}
