//! Points: generated, read and written.

pub mod files;
mod generate;
mod header;
mod results;

pub use generate::{Distribution, charges, charges_piece, generate, generate_piece};

use crate::{FmmError, memory};
use rayon::prelude::*;

/// Points, coordinate by coordinate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// Coordinates x, y, z, each of the length of the points.
    pub x: [Vec<f64>; 3],
}

impl Points {
    /// The points of an array, if there is memory for a copy.
    ///
    /// # Errors
    /// There is not.
    pub fn of_rows(rows: &[[f64; 3]]) -> Result<Self, FmmError> {
        let what = format!("a copy of {} points", rows.len());
        memory::check(&what, memory::bytes(rows.len(), 24), "use fewer points")?;
        Ok(Self {
            x: std::array::from_fn(|a| rows.iter().map(|p| p[a]).collect()),
        })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.x[0].len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.x[0].is_empty()
    }

    /// Coordinates of a point.
    pub fn at(&self, i: usize) -> [f64; 3] {
        [self.x[0][i], self.x[1][i], self.x[2][i]]
    }

    /// Checks that all coordinates are finite.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self, what: &'static str) -> Result<(), FmmError> {
        let wrong = |i: &usize| self.at(*i).iter().any(|x| !x.is_finite());
        let Some(i) = (0..self.len()).into_par_iter().find_first(wrong) else {
            return Ok(());
        };
        let value = self.at(i).into_iter().find(|x| !x.is_finite());
        Err(FmmError::Coordinate {
            what,
            number: i + 1,
            value: value.unwrap_or(f64::NAN),
        })
    }

    /// The points of these indices.
    pub fn some(&self, which: &[usize]) -> Self {
        Self {
            x: std::array::from_fn(|a| which.iter().map(|&i| self.x[a][i]).collect()),
        }
    }
}

impl FromIterator<[f64; 3]> for Points {
    fn from_iter<I: IntoIterator<Item = [f64; 3]>>(points: I) -> Self {
        let mut out = Self::default();
        for p in points {
            for (x, p) in out.x.iter_mut().zip(p) {
                x.push(p);
            }
        }
        out
    }
}
