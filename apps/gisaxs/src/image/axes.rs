//! Axes of an image: momentum transfer, units of the detector, or pixels; the image as a picture on them.

use super::cut::{Beam, Cut, Measure};
use crate::detector::Detector;
use crate::scattering::dwba::{Mode, Scene};
use greenup_report::chart::{Axis, Picture, Scale, Unit};
use greenup_report::si::three;

/// What the axes of an image show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// q_y and q_z, 1/nm, of q = k_f − k_i: positive upward.
    #[default]
    Q,
    /// φ and α in degrees, or mm of a flat detector.
    Detector,
    /// Columns and rows.
    Pixels,
}

impl std::str::FromStr for Axes {
    type Err = crate::GisaxsError;

    fn from_str(text: &str) -> Result<Self, crate::GisaxsError> {
        match text {
            "q" => Ok(Self::Q),
            "detector" => Ok(Self::Detector),
            "pixels" => Ok(Self::Pixels),
            _ => Err("use q, detector or pixels".into()),
        }
    }
}

/// q = k_f − k_i of a direction (φ, α), 1/nm: positive upward.
pub(super) fn q_of(k: f64, incidence: f64, (phi, alpha): (f64, f64)) -> [f64; 3] {
    [
        k * (alpha.cos() * phi.cos() - incidence.cos()),
        k * alpha.cos() * phi.sin(),
        k * (alpha.sin() + incidence.sin()),
    ]
}

/// Most pixels of a picture in one direction; a detector with more is averaged.
const FINEST: usize = 800;
/// Azimuth beyond which q_y does not rise with it, rad.
const STEEPEST: f64 = 1.4;

/// The critical angle of the substrate, rad, of waves that it refracts.
fn critical(scene: &Scene) -> Option<f64> {
    let (above, below) = (scene.layers.first()?, scene.layers.last()?);
    let cosine = (1.0 - below.delta) / (1.0 - above.delta);
    (scene.mode == Mode::Distorted && cosine < 1.0).then(|| cosine.acos())
}

/// A value with the digits that steps of this size need.
pub(super) fn few_digits(value: f64, step: f64) -> f64 {
    // Dividing leaves the fewest digits in decimal.
    let per = (1.0 / 10_f64.powf(step.log10().floor())).round();
    if per >= 1.0 && per.is_finite() {
        // No minus before a zero.
        (value * per).round() / per + 0.0
    } else {
        value
    }
}

/// How the pixels of a detector lie on the axes of an image.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The pixels.
    pub detector: &'a Detector,
    axes: Axes,
    k: f64,
    incidence: f64,
    /// Critical angle of the substrate, rad.
    critical: Option<f64>,
}

impl<'a> View<'a> {
    /// The pixels of a scene on these axes. Where azimuths are so large that q_y does not rise with them, axes of q
    /// are replaced by those of the detector.
    pub fn new(scene: &'a Scene, axes: Axes) -> Self {
        let detector = &scene.detector;
        let (columns, rows) = (detector.columns() as f64, detector.rows() as f64);
        let ends = [(0.0, 0.0), (columns, 0.0), (0.0, rows), (columns, rows)];
        let steep = |(u, v): (f64, f64)| detector.angles_at(u, v).0.abs() > STEEPEST;
        let axes = match axes {
            Axes::Q if ends.into_iter().any(steep) => Axes::Detector,
            other => other,
        };
        Self {
            detector,
            axes,
            k: scene.k(),
            incidence: scene.incidence,
            critical: critical(scene),
        }
    }

    /// Coordinates of a position on the detector.
    pub fn place(&self, u: f64, v: f64) -> (f64, f64) {
        match self.axes {
            Axes::Q => {
                let [_, y, z] = q_of(self.k, self.incidence, self.detector.angles_at(u, v));
                (y, z)
            }
            Axes::Detector => self.detector.in_units(u, v),
            Axes::Pixels => (u, v),
        }
    }

    /// q of the centre of a pixel, 1/nm.
    pub fn q(&self, row: usize, column: usize) -> [f64; 3] {
        q_of(self.k, self.incidence, self.detector.angles(row, column))
    }

    /// The position on the detector at these coordinates; `None` off the detector.
    fn position(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        match self.axes {
            Axes::Q => {
                let up = y / self.k - self.incidence.sin();
                let alpha = (up.abs() <= 1.0).then(|| up.asin())?;
                let side = x / (self.k * alpha.cos());
                let phi = (side.abs() <= 1.0).then(|| side.asin())?;
                self.detector.position(phi, alpha)
            }
            Axes::Detector => Some((
                self.detector.from_unit(true, x)?,
                self.detector.from_unit(false, y)?,
            )),
            Axes::Pixels => {
                let inside = |p: f64, n: usize| (0.0..=n as f64).contains(&p);
                (inside(x, self.detector.columns()) && inside(y, self.detector.rows()))
                    .then_some((x, y))
            }
        }
    }

    /// Names and units of both axes.
    fn names(&self) -> [(&'static str, &'static str); 2] {
        match self.axes {
            Axes::Q => [("q_y", "nm⁻¹"), ("q_z", "nm⁻¹")],
            Axes::Pixels => [("column", "pixels"), ("row", "pixels")],
            Axes::Detector => self.detector.axes().map(|(name, _, _)| {
                let (name, unit) = name.split_once(", ").unwrap_or((name, ""));
                (name, if unit == "degrees" { "°" } else { unit })
            }),
        }
    }

    /// The horizontal axis, `true`, or the vertical one.
    pub fn axis(&self, across: bool) -> Axis {
        let (name, unit) = self.names()[usize::from(!across)];
        Axis::new(name, Unit::plain(unit), Scale::Linear)
    }

    /// α_f beside q_z, for grazing incidence: a title, and values of q_z with their angles in degrees.
    pub fn exit_angles(&self) -> Option<(String, Vec<(f64, String)>)> {
        self.critical.filter(|_| self.axes == Axes::Q)?;
        let [_, (lo, hi)] = self.ends();
        let angle = |z: f64| {
            let sine = z / self.k - self.incidence.sin();
            (sine.abs() <= 1.0).then(|| sine.asin().to_degrees())
        };
        let (from, to) = (angle(lo)?, angle(hi)?);
        let ten = 10_f64.powf(((to - from) / 6.0).log10().floor());
        let mut steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * ten);
        let step = steps.find(|s| (to - from) / s <= 6.0)?;
        let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
        let ticks = (first..=last).map(|k| {
            let degrees = few_digits(k as f64 * step, step);
            let z = self.k * (degrees.to_radians().sin() + self.incidence.sin());
            (z, degrees.to_string().replace('-', "−"))
        });
        Some(("α_f, °".to_owned(), ticks.collect()))
    }

    /// Ends of both axes.
    pub fn ends(&self) -> [(f64, f64); 2] {
        let (columns, rows) = (self.detector.columns(), self.detector.rows());
        let sides = (0..=columns)
            .flat_map(|k| [(k as f64, 0.0), (k as f64, rows as f64)])
            .chain((0..=rows).flat_map(|k| [(0.0, k as f64), (columns as f64, k as f64)]));
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let wider = |(lo, hi): (f64, f64), p: f64| (lo.min(p), hi.max(p));
        sides.fold([none, none], |[x, y], (u, v)| {
            let (a, b) = self.place(u, v);
            [wider(x, a), wider(y, b)]
        })
    }

    /// The image as a picture: the mean of the pixels whose centres lie in a pixel of the picture, or the pixel there
    /// if no centre does. Values that are not finite have no colour.
    pub fn picture(&self, values: &[f64], colour: impl Fn(f64) -> [u8; 3]) -> Picture {
        let (columns, rows) = (self.detector.columns(), self.detector.rows());
        let (wide, high) = (columns.clamp(1, FINEST), rows.clamp(1, FINEST));
        let [x, y] = self.ends();
        let mut cells = vec![(0.0, 0_u32); wide * high];
        let index = |share: f64, n: usize| ((share * n as f64) as usize).min(n - 1);
        for r in 0..rows {
            for c in 0..columns {
                let value = values[r * columns + c];
                if !value.is_finite() {
                    continue;
                }
                let (a, b) = self.place(c as f64 + 0.5, r as f64 + 0.5);
                let (i, j) = (
                    index((a - x.0) / (x.1 - x.0), wide),
                    index((y.1 - b) / (y.1 - y.0), high),
                );
                let cell = &mut cells[j * wide + i];
                *cell = (cell.0 + value, cell.1 + 1);
            }
        }
        let share = |k: usize, n: usize| (k as f64 + 0.5) / n as f64;
        let pixels = (0..wide * high)
            .map(|k| {
                let (sum, count) = cells[k];
                if count > 0 {
                    return Some(sum / f64::from(count));
                }
                let a = x.0 + (x.1 - x.0) * share(k % wide, wide);
                let b = y.1 - (y.1 - y.0) * share(k / wide, high);
                let (u, v) = self.position(a, b)?;
                Some(
                    values[index(v / rows as f64, rows) * columns
                        + index(u / columns as f64, columns)],
                )
            })
            .map(|v| v.filter(|v| v.is_finite()).map(&colour))
            .collect();
        Picture {
            columns: wide,
            pixels,
            x,
            y,
        }
    }

    /// Whether a unit of both axes has about the same meaning and their lengths differ little, so that both can be drawn
    /// with the same scale.
    pub fn alike(&self) -> bool {
        let [x, y] = self.ends();
        let ratio = (y.1 - y.0) / (x.1 - x.0);
        (0.2..=5.0).contains(&ratio)
    }

    /// Whether the picture has fewer pixels than the detector.
    pub fn averaged(&self) -> bool {
        self.detector.columns().max(self.detector.rows()) > FINEST
    }

    /// Coordinates of the points of a cut; empty off the detector.
    pub fn trace(&self, cut: &Cut) -> Vec<(f64, f64)> {
        let Some(at) = cut.position(self.detector) else {
            return Vec::new();
        };
        let n = if cut.across {
            self.detector.columns()
        } else {
            self.detector.rows()
        };
        (0..n)
            .map(|k| {
                let along = k as f64 + 0.5;
                if cut.across {
                    self.place(along, at)
                } else {
                    self.place(at, along)
                }
            })
            .collect()
    }

    /// Where a cut is, as it was asked for and, in parentheses, in the unit of the axis, if that is another. Of curved lines
    /// the value in the middle of the cut.
    pub fn label(&self, cut: &Cut) -> String {
        let asked = cut.label(self.detector);
        let (name, unit) = self.names()[usize::from(cut.across)];
        let trace = self.trace(cut);
        let middle = trace.get(trace.len() / 2);
        let Some(middle) = middle.filter(|_| name != cut.axis(self.detector).0) else {
            return asked;
        };
        let value = three(if cut.across { middle.1 } else { middle.0 }).replacen('-', "−", 1);
        let space = if unit == "°" { "" } else { " " };
        format!("{asked} ({name} = {value}{space}{unit})")
    }

    /// What positions of cuts on these axes are.
    fn measure(&self) -> Measure {
        let (k, incidence) = (self.k, self.incidence);
        match self.axes {
            Axes::Q => Measure::Q(Beam { k, incidence }),
            Axes::Detector | Axes::Pixels => Measure::Detector,
        }
    }

    /// The cut through a row, `true`, or a column of pixels, its position with few digits.
    pub fn through(&self, across: bool, line: usize) -> Cut {
        let mut cut = Cut {
            across,
            at: 0.0,
            half: 0.0,
            measure: self.measure(),
        };
        let at = |p: f64| cut.coordinate(line as f64 + p, self.detector);
        cut.at = few_digits(at(0.5), 0.2 * (at(1.0) - at(0.0)).abs());
        cut
    }

    /// The same pixels on axes of q.
    pub fn of_q(&self) -> Self {
        Self {
            axes: Axes::Q,
            ..*self
        }
    }

    /// The line where the substrate scatters most: exit angles at its critical angle. `None` where there is none.
    pub fn yoneda(&self) -> Option<Cut> {
        Some(Cut {
            across: true,
            at: self.critical?.to_degrees(),
            half: 0.0,
            measure: Measure::Degrees,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    fn scene(detector: &str) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.toml");
        let text = format!(
            "[beam]\nwavelength = 0.1\nangle = 0.2\n[detector]\n{detector}\n[[layers]]\n[[layers]]\ndelta = 6e-6\n\
             [[particles]]\nform = {{ shape = 'sphere', radius = 5.0 }}\ndelta = 1e-6\ndensity = 0.01\n"
        );
        std::fs::write(&path, text).unwrap();
        Sample::read(&path).unwrap().scene(dir.path()).unwrap()
    }

    const EVEN: &str =
        "phi = { from = -1.5, to = 1.5, n = 30 }\nalpha = { from = 0.0, to = 2.0, n = 20 }";
    const FLAT: &str =
        "flat = { distance = 500.0, pixel = 1.0, columns = 30, rows = 20, centre = [15.0, 2.0] }";

    #[test]
    fn axes_of_q_are_momentum_transfer() {
        let scene = scene(EVEN);
        let view = View::new(&scene, Axes::Q);
        let [x, y] = view.ends();
        let k0 = 20.0 * std::f64::consts::PI;
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(y.0, k0 * 0.2_f64.to_radians().sin());
        near(y.1, y.0 + k0 * 2.0_f64.to_radians().sin());
        near(x.1, k0 * 1.5_f64.to_radians().sin());
        near(x.0, -x.1);
        let cut = "alpha=0.2".parse().unwrap();
        assert_eq!(view.label(&cut), "α = 0.2° (q_z = 0.439 nm⁻¹)");
        let cut = "phi=-0.5".parse().unwrap();
        assert_eq!(view.label(&cut), "φ = −0.5° (q_y = −0.548 nm⁻¹)");
        let cut = "qz=0.44:0.02".parse::<Cut>().unwrap().of_beam(&scene);
        assert_eq!(view.label(&cut), "q_z = 0.44 ± 0.02 nm⁻¹");
        // The exit angles beside q_z.
        let (title, ticks) = view.exit_angles().unwrap();
        assert_eq!(title, "α_f, °");
        let labels: Vec<&str> = ticks.iter().map(|t| t.1.as_str()).collect();
        assert_eq!(labels, ["0", "0.5", "1", "1.5", "2"]);
        near(ticks[4].0, y.1);
        let angles = View::new(&scene, Axes::Detector);
        assert!(angles.exit_angles().is_none());
        assert_eq!(angles.label(&cut), "q_z = 0.44 ± 0.02 nm⁻¹ (α = 0.201°)");
        // √(2δ) of the substrate.
        let yoneda = view.yoneda().unwrap();
        near(
            (yoneda.at.to_radians() / 12e-6_f64.sqrt() * 1e3).round(),
            1e3,
        );
        // A cut through a line of pixels is within it.
        for (view, line) in [(&view, 13), (&angles, 4)] {
            for across in [true, false] {
                let cut = view.through(across, line);
                assert_eq!(cut.inside(&scene.detector).unwrap(), [line]);
                assert!(cut.label(&scene.detector).chars().count() < 20);
            }
        }
    }

    /// A bright pixel lies where the axes say, on each kind of axes and detector; masked pixels have no colour.
    #[test]
    fn pictures_have_their_pixels_where_the_axes_say() {
        for text in [EVEN, FLAT] {
            let scene = scene(text);
            for axes in [Axes::Q, Axes::Detector, Axes::Pixels] {
                let view = View::new(&scene, axes);
                let mut values = vec![0.0; 600];
                let (row, column) = (13, 7);
                values[row * 30 + column] = 1.0;
                let picture = view.picture(&values, |v| [(255.0 * v) as u8, 0, 0]);
                let (u, v) = (column as f64 + 0.5, row as f64 + 0.5);
                let (x, y) = view.place(u, v);
                let i = (30.0 * (x - picture.x.0) / (picture.x.1 - picture.x.0)) as usize;
                let j = (20.0 * (picture.y.1 - y) / (picture.y.1 - picture.y.0)) as usize;
                let [red, ..] = picture.pixels[j * 30 + i].unwrap();
                assert!(red > 100, "{axes:?} {text}");
                let (a, b) = view.position(x, y).unwrap();
                assert!((a - u).abs() < 1e-6 && (b - v).abs() < 1e-6);
                values.fill(f64::NAN);
                let empty = view.picture(&values, |_| [0; 3]);
                assert!(empty.pixels.iter().all(Option::is_none));
            }
        }
    }

    #[test]
    fn wide_azimuths_have_axes_of_the_detector_and_large_ones_means() {
        let wide = scene(
            "phi = { from = -120.0, to = 120.0, n = 4 }\nalpha = { from = 0.0, to = 2.0, n = 900 }",
        );
        let view = View::new(&wide, Axes::Q);
        assert_eq!(
            (view.axis(true).title.as_str(), view.averaged()),
            ("φ", true)
        );
        let values: Vec<f64> = (0..3600).map(f64::from).collect();
        let picture = view.picture(&values, |v| [(v / 3600.0 * 255.0) as u8, 0, 0]);
        assert_eq!((picture.columns, picture.pixels.len()), (4, 3200));
        assert!(picture.pixels.iter().all(Option::is_some));
    }
}
