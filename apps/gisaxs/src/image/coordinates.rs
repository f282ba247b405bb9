//! q and angles of every pixel of an image, for programs that have no model of the detector.

use super::axes::q_of;
use super::cut::Cut;
use super::npy;
use crate::GisaxsError;
use crate::scattering::dwba::Scene;
use greenup_files::outputs::ending;
use greenup_report::npz::npz as packed;
use std::fmt::Write as _;
use std::path::Path;

/// Endings of files of coordinates.
pub const ENDINGS: &[&str] = &["csv", "npz"];

/// The direction of a pixel's centre.
#[derive(Clone, Copy, Debug)]
pub struct Coordinates {
    /// q = k_f − k_i, 1/nm: x along the surface with the beam, y along the horizon, z upward.
    pub q: [f64; 3],
    /// Azimuth, degrees.
    pub phi: f64,
    /// Exit angle above the horizon, degrees.
    pub alpha: f64,
}

/// Name, unit and value of a coordinate.
pub type Quantity = (&'static str, &'static str, fn(&Coordinates) -> f64);

/// The coordinates of a pixel as files have them.
pub const QUANTITIES: [Quantity; 5] = [
    ("qx", "1/nm", |c| c.q[0]),
    ("qy", "1/nm", |c| c.q[1]),
    ("qz", "1/nm", |c| c.q[2]),
    ("phi", "deg", |c| c.phi),
    ("alpha", "deg", |c| c.alpha),
];

fn of(scene: &Scene, direction: (f64, f64)) -> Coordinates {
    Coordinates {
        q: q_of(scene.k(), scene.incidence, direction),
        phi: direction.0.to_degrees(),
        alpha: direction.1.to_degrees(),
    }
}

/// The coordinates of all pixels, lowest row first.
pub fn pixels(scene: &Scene) -> impl Iterator<Item = Coordinates> + '_ {
    let (rows, columns) = (scene.detector.rows(), scene.detector.columns());
    (0..rows * columns).map(move |n| of(scene, scene.detector.angles(n / columns, n % columns)))
}

/// q along a cut, 1/nm: q_y of one along the azimuth, q_z of one upward; empty off the detector.
pub fn along(cut: &Cut, scene: &Scene) -> Vec<f64> {
    let detector = &scene.detector;
    let Some(at) = cut.position(detector) else {
        return Vec::new();
    };
    let n = if cut.across {
        detector.columns()
    } else {
        detector.rows()
    };
    (0..n)
        .map(|k| {
            let along = k as f64 + 0.5;
            let (u, v) = if cut.across { (along, at) } else { (at, along) };
            let c = of(scene, detector.angles_at(u, v));
            c.q[if cut.across { 1 } else { 2 }]
        })
        .collect()
}

/// A table with a line for each pixel.
fn csv(values: &[f64], scene: &Scene) -> Vec<u8> {
    let columns = scene.detector.columns();
    let mut text = String::from("row,column");
    for (name, unit, _) in QUANTITIES {
        let _ = write!(text, ",{name}_{unit}");
    }
    text.push_str(",intensity\n");
    for (n, (c, v)) in pixels(scene).zip(values).enumerate() {
        let _ = write!(text, "{},{}", n / columns, n % columns);
        for (.., value) in QUANTITIES {
            let _ = write!(text, ",{:.9e}", value(&c));
        }
        let _ = writeln!(text, ",{v:.17e}");
    }
    text.into_bytes()
}

/// Arrays of the size of the image.
///
/// # Errors
/// They are larger than 4 GiB.
pub(super) fn npz(values: &[f64], scene: &Scene) -> Result<Vec<u8>, String> {
    let size = [scene.detector.rows(), scene.detector.columns()];
    let mut arrays = vec![(
        "intensity".to_owned(),
        npy("f8", &size, values.iter().copied()),
    )];
    for (name, _, value) in QUANTITIES {
        arrays.push((
            name.to_owned(),
            npy("f8", &size, pixels(scene).map(|c| value(&c))),
        ));
    }
    packed(&arrays)
}

/// Writes the coordinates and intensities of all pixels.
///
/// # Errors
/// The ending is none of [`ENDINGS`], the arrays are too large, or the file cannot be written.
pub fn write(path: &Path, values: &[f64], scene: &Scene) -> Result<(), GisaxsError> {
    let bytes = match ending(path, ENDINGS)?.as_str() {
        "npz" => npz(values, scene).map_err(|e| crate::table::fail(path, e))?,
        _ => csv(values, scene),
    };
    Ok(greenup_files::write(path, bytes)?)
}
