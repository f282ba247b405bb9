//! Detectors as a page describes them.

use crate::GisaxsError;
use crate::detector::{Axis, Detector, Flat};
use serde::Deserialize;

/// Pixels of equal steps in azimuth and height above the horizon, degrees; or a plane.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetectorText {
    pub phi: Option<Range>,
    pub alpha: Option<Range>,
    pub flat: Option<FlatText>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    pub from: Option<f64>,
    pub to: Option<f64>,
    pub n: Option<usize>,
    /// Edges of the pixels instead, rising.
    pub edges: Option<Vec<f64>>,
}

impl Range {
    fn axis(&self) -> Result<Axis, &'static str> {
        match (self.from, self.to, self.n, &self.edges) {
            (Some(from), Some(to), Some(n), None) => {
                if !(from < to && from.is_finite() && to.is_finite()) {
                    return Err("needs from < to");
                }
                if n > LONGEST {
                    return Err("has more than 16 million pixels in one direction");
                }
                Ok(Axis::even(from.to_radians(), to.to_radians(), n))
            }
            (None, None, None, Some(edges)) => {
                let edges: Vec<f64> = edges.iter().map(|x| x.to_radians()).collect();
                let rise = edges.windows(2).all(|w| w[0] < w[1]);
                if !rise || edges.iter().any(|x| !x.is_finite()) {
                    return Err("needs edges that rise");
                }
                Ok(Axis {
                    centres: edges.windows(2).map(|w| 0.5 * (w[0] + w[1])).collect(),
                    edges,
                })
            }
            _ => Err("needs from, to and n of phi and alpha, or edges"),
        }
    }
}

/// A plane of square pixels, mm.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlatText {
    pub distance: f64,
    pub pixel: f64,
    pub columns: usize,
    pub rows: usize,
    /// Pixel (column, row) that the direct beam, or the horizon, meets.
    pub centre: [f64; 2],
    #[serde(default)]
    pub normal: Normal,
}

/// What the plane is across.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normal {
    /// The direct beam, which meets it at the centre.
    #[default]
    Beam,
    /// The sample's surface: the centre is on the horizon.
    Sample,
}

/// Most pixels in one direction.
const LONGEST: usize = 1 << 24;
/// Most pixels of an image.
const MOST: usize = 1 << 28;

impl DetectorText {
    /// The detector for a beam of some glancing angle, rad.
    pub(super) fn detector(&self, incidence: f64) -> Result<Detector, GisaxsError> {
        fn wrong<T>(m: &str) -> Result<T, GisaxsError> {
            Err(GisaxsError::Sample(format!("[detector] {m}")))
        }
        let out = match (&self.phi, &self.alpha, &self.flat) {
            (Some(phi), Some(alpha), None) => Detector::Angles {
                phi: phi.axis().or_else(wrong)?,
                alpha: alpha.axis().or_else(wrong)?,
            },
            (None, None, Some(f)) => {
                let sizes = [f.distance, f.pixel];
                if sizes.iter().any(|x| !(*x > 0.0 && x.is_finite()))
                    || f.centre.iter().any(|x| !x.is_finite())
                {
                    return wrong("flat needs a distance and a pixel above 0 and a centre");
                }
                Detector::Flat(Flat {
                    distance: f.distance,
                    pixel: f.pixel,
                    columns: f.columns,
                    rows: f.rows,
                    centre: f.centre,
                    beam: match f.normal {
                        Normal::Beam => incidence,
                        Normal::Sample => 0.0,
                    },
                })
            }
            _ => return wrong("needs phi and alpha, each with from, to and n; or flat"),
        };
        match out.rows().checked_mul(out.columns()) {
            Some(1..=MOST) => Ok(out),
            _ => wrong("has no pixels, or more than 268 million"),
        }
    }
}
