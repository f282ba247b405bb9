//! Detectors as the input file describes them.

use crate::GisaxsError;
use crate::detector::{Axis, Detector, Flat};
use crate::range;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// The detector: either `phi` and `alpha`, or `flat`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetectorText {
    /// Azimuth of the pixels, degrees.
    pub phi: Option<Range>,
    /// Exit angle of the pixels above the horizon, degrees.
    pub alpha: Option<Range>,
    /// A flat detector.
    pub flat: Option<FlatText>,
}

/// Pixels along one angle: equal steps, or given edges.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Range {
    /// Lower edge of the first pixel, degrees.
    pub from: Option<f64>,
    /// Upper edge of the last pixel, degrees.
    pub to: Option<f64>,
    /// Number of pixels.
    pub n: Option<usize>,
    /// Edges of the pixels, degrees, increasing; instead of the other three.
    pub edges: Option<Vec<f64>>,
}

/// A table of its keys, or `\"FROM:TO:N\"`.
impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Range;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("from, to and n, or edges, or \"FROM:TO:N\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Range, E> {
                let (from, to, n) = range::ends(text)
                    .ok_or_else(|| E::custom(format!("\"{text}\" is not FROM:TO:N")))?;
                Ok(Range {
                    from: Some(from),
                    to: Some(to),
                    n: Some(n),
                    edges: None,
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Range, A::Error> {
                Range::deserialize(de::value::MapAccessDeserializer::new(map))
            }
        }
        from.deserialize_any(Either)
    }
}

impl Range {
    /// Whether its angles are at most this, degrees.
    fn within(&self, most: f64) -> bool {
        let all = self.from.iter().chain(&self.to);
        all.chain(self.edges.iter().flatten())
            .all(|x| x.abs() <= most)
    }

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

/// A flat detector with square pixels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlatText {
    /// Distance from the sample, mm.
    pub distance: f64,
    /// Side of a pixel, mm.
    pub pixel: f64,
    /// Number of pixels of a row.
    pub columns: usize,
    /// Number of pixels of a column.
    pub rows: usize,
    /// Pixel (column, row) of the direct beam, or of the horizon at φ = 0 (see `normal`).
    pub centre: [f64; 2],
    /// Direction to which the plane is normal.
    #[serde(default)]
    pub normal: Normal,
}

/// Direction to which a flat detector is normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normal {
    /// The direct beam, which meets the detector at `centre`.
    #[default]
    Beam,
    /// The x axis, along the surface: `centre` is on the horizon.
    Sample,
}

/// Maximum number of pixels along one angle.
const LONGEST: usize = 1 << 24;
/// Maximum number of pixels of an image.
const MAX: usize = 1 << 28;

impl DetectorText {
    /// The detector for a beam at a grazing angle, rad.
    ///
    /// # Errors
    /// The description is incomplete or inconsistent, or has too many pixels.
    pub(super) fn detector(&self, incidence: f64) -> Result<Detector, GisaxsError> {
        fn wrong<T>(m: &str) -> Result<T, GisaxsError> {
            Err(GisaxsError::Sample(format!("[detector] {m}")))
        }
        let out = match (&self.phi, &self.alpha, &self.flat) {
            (Some(phi), ..) if !phi.within(180.0) => {
                return wrong("phi must lie between -180 and 180 degrees");
            }
            (_, Some(alpha), _) if !alpha.within(90.0) => {
                return wrong("alpha must lie between -90 and 90 degrees");
            }
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
            Some(1..=MAX) => Ok(out),
            _ => wrong("has no pixels, or more than 268 million"),
        }
    }
}
