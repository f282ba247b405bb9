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
    pub from: f64,
    pub to: f64,
    pub n: usize,
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

/// Most pixels of an image.
const MOST: usize = 1 << 28;

impl DetectorText {
    /// The detector for a beam of some glancing angle, rad.
    pub(super) fn detector(&self, incidence: f64) -> Result<Detector, GisaxsError> {
        let wrong = |m: &str| Err(GisaxsError::Sample(format!("[detector] {m}")));
        let out = match (&self.phi, &self.alpha, &self.flat) {
            (Some(phi), Some(alpha), None) => {
                let finite = [phi.from, phi.to, alpha.from, alpha.to];
                if !(phi.from < phi.to && alpha.from < alpha.to)
                    || finite.iter().any(|x| !x.is_finite())
                {
                    return wrong("needs from < to");
                }
                if phi.n.max(alpha.n) > MOST {
                    return wrong("has more than 268 million pixels");
                }
                let axis = |r: &Range| Axis::even(r.from.to_radians(), r.to.to_radians(), r.n);
                Detector::Angles {
                    phi: axis(phi),
                    alpha: axis(alpha),
                }
            }
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
