//! Where form factors are wanted.

use crate::Q;
use num_complex::Complex64;
use std::sync::Arc;

/// Every combination of some places along the surface with some q_z: a tensor grid, or one row of a
/// detector with the terms of the distorted-wave approximation.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// q_x and q_y, 1/nm.
    pub xy: Arc<[[f64; 2]]>,
    /// q_z, 1/nm.
    pub z: Vec<Complex64>,
}

impl Sheet {
    /// A tensor grid; x outer, y inner.
    pub fn grid(x: &[f64], y: &[f64], z: &[Complex64]) -> Self {
        Self {
            xy: x
                .iter()
                .flat_map(|&x| y.iter().map(move |&y| [x, y]))
                .collect(),
            z: z.to_vec(),
        }
    }

    /// Runs of equal q_x among the places: where each begins, and how long it is.
    pub fn runs(&self) -> impl Iterator<Item = (usize, usize)> {
        let xy = Arc::clone(&self.xy);
        let mut begin = 0;
        std::iter::from_fn(move || {
            let x = xy.get(begin)?[0];
            let n = xy[begin..].iter().take_while(|p| p[0] == x).count();
            let run = (begin, n);
            begin += n;
            Some(run)
        })
    }

    pub fn len(&self) -> usize {
        self.xy.len() * self.z.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The n-th q: q_z outer, places along the surface inner.
    pub fn q(&self, n: usize) -> Q {
        let [x, y] = self.xy[n % self.xy.len()];
        Q {
            x,
            y,
            z: self.z[n / self.xy.len()],
        }
    }
}

/// What q cover.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub x: [f64; 2],
    pub y: [f64; 2],
    /// Of the real part.
    pub z: [f64; 2],
    /// Largest |Im q_z|.
    pub damping: f64,
    /// Least and largest Im q_z.
    pub loss: [f64; 2],
    /// Largest |q|.
    pub most: f64,
    /// No |q| is smaller.
    pub least: f64,
    pub points: usize,
}

impl Extent {
    pub fn of(sheets: &[Sheet]) -> Self {
        let none = [f64::MAX, f64::MIN];
        let mut out = Self {
            x: none,
            y: none,
            z: none,
            damping: 0.0,
            loss: none,
            most: 0.0,
            least: f64::MAX,
            points: 0,
        };
        let widen = |r: &mut [f64; 2], v: f64| *r = [r[0].min(v), r[1].max(v)];
        for s in sheets.iter().filter(|s| !s.is_empty()) {
            let (mut along, mut across) = (none, none);
            for &[x, y] in s.xy.iter() {
                widen(&mut out.x, x);
                widen(&mut out.y, y);
                widen(&mut along, x * x + y * y);
            }
            for z in &s.z {
                widen(&mut out.z, z.re);
                widen(&mut out.loss, z.im);
                out.damping = out.damping.max(z.im.abs());
                widen(&mut across, z.norm_sqr());
            }
            out.most = out.most.max((along[1] + across[1]).sqrt());
            out.least = out.least.min((along[0] + across[0]).sqrt());
            out.points += s.len();
        }
        if out.points == 0 {
            (out.x, out.y, out.z) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            (out.loss, out.least) = ([0.0; 2], 0.0);
        }
        out
    }
}
