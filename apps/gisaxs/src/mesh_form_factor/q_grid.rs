//! The q at which form factors are computed.

use crate::Q;
use num_complex::Complex64;
use std::ops::Range;
use std::sync::Arc;

/// All combinations of some positions (q_x, q_y) with some q_z: a tensor grid, or one row of a detector with the terms
/// of the distorted-wave Born approximation.
#[derive(Clone, Debug, Default)]
pub struct QGrid {
    /// q_x and q_y, 1/nm.
    pub xy: Arc<[[f64; 2]]>,
    /// q_z, 1/nm.
    pub z: Vec<Complex64>,
}

impl QGrid {
    /// A tensor grid of q_x, q_y and q_z, 1/nm; among the positions q_y varies fastest.
    pub fn grid(x: &[f64], y: &[f64], z: &[Complex64]) -> Self {
        Self {
            xy: x
                .iter()
                .flat_map(|&x| y.iter().map(move |&y| [x, y]))
                .collect(),
            z: z.to_vec(),
        }
    }

    /// Some q in their order as few grids: runs with the same q_z together. Each q is q_x, q_y, Re q_z and Im q_z, 1/nm.
    pub fn joined(q: impl IntoIterator<Item = [f64; 4]>) -> Vec<Self> {
        let mut out: Vec<(Vec<[f64; 2]>, Complex64)> = Vec::new();
        for [x, y, re, im] in q {
            let z = Complex64::new(re, im);
            match out.last_mut() {
                Some((xy, last)) if *last == z => xy.push([x, y]),
                _ => out.push((vec![[x, y]], z)),
            }
        }
        out.into_iter()
            .map(|(xy, z)| Self {
                xy: xy.into(),
                z: vec![z],
            })
            .collect()
    }

    /// The grid at some of its q_z.
    pub fn at_heights(&self, range: Range<usize>) -> Self {
        Self {
            xy: Arc::clone(&self.xy),
            z: self.z[range].to_vec(),
        }
    }

    /// Runs of equal q_x among the positions: first index and length of each.
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

    /// Number of q.
    pub fn len(&self) -> usize {
        self.xy.len() * self.z.len()
    }

    /// Whether there are no q.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The n-th q; positions vary fastest, q_z slowest.
    pub fn q(&self, n: usize) -> Q {
        let [x, y] = self.xy[n % self.xy.len()];
        Q {
            x,
            y,
            z: self.z[n / self.xy.len()],
        }
    }
}

/// The n-th of some parts of a range from 0; a part consists of whole grains, the last of what is left.
pub fn part_of(length: usize, n: usize, (parts, grain): (usize, usize)) -> Range<usize> {
    let grains = length.div_ceil(grain.max(1));
    let end = |n: usize| (n * grains / parts.max(1) * grain.max(1)).min(length);
    end(n)..end(n + 1)
}

/// Ranges (minimum, maximum) that some q cover; all zero if there are none.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// q_x, 1/nm.
    pub x: [f64; 2],
    /// q_y, 1/nm.
    pub y: [f64; 2],
    /// Re(q_z), 1/nm.
    pub z: [f64; 2],
    /// Largest |Im(q_z)|, 1/nm.
    pub im_qz: f64,
    /// Im(q_z), 1/nm.
    pub loss: [f64; 2],
    /// Largest |q|, 1/nm.
    pub most: f64,
    /// Smallest |q|, 1/nm.
    pub least: f64,
    /// Number of q.
    pub points: usize,
}

impl Extent {
    /// The extent of all q of some grids.
    pub fn of(grids: &[QGrid]) -> Self {
        let none = [f64::MAX, f64::MIN];
        let mut out = Self {
            x: none,
            y: none,
            z: none,
            im_qz: 0.0,
            loss: none,
            most: 0.0,
            least: f64::MAX,
            points: 0,
        };
        let widen = |r: &mut [f64; 2], v: f64| *r = [r[0].min(v), r[1].max(v)];
        for s in grids.iter().filter(|s| !s.is_empty()) {
            let (mut along, mut across) = (none, none);
            for &[x, y] in s.xy.iter() {
                widen(&mut out.x, x);
                widen(&mut out.y, y);
                widen(&mut along, x * x + y * y);
            }
            for z in &s.z {
                widen(&mut out.z, z.re);
                widen(&mut out.loss, z.im);
                out.im_qz = out.im_qz.max(z.im.abs());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_range_are_whole_grains() {
        for (length, parts, grain) in [(0, 2, 8), (7, 3, 8), (100, 3, 8), (64, 8, 8), (5, 9, 1)] {
            let all: Vec<_> = (0..parts)
                .map(|n| part_of(length, n, (parts, grain)))
                .collect();
            assert_eq!((all[0].start, all[parts - 1].end), (0, length));
            for pair in all.windows(2) {
                assert_eq!(pair[0].end, pair[1].start);
                assert!(pair[0].end % grain == 0 || pair[0].end == length);
            }
            let sizes = all.iter().map(|r| r.len().div_ceil(grain));
            let (least, most) = (sizes.clone().min().unwrap(), sizes.max().unwrap());
            assert!(most - least <= 1, "{length} {parts} {grain}");
        }
    }
}
