//! The q at which form factors are computed.

use crate::{GisaxsError, Q};
use greenup_process::memory;
use num_complex::Complex64;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Grids between two looks at whether to stop.
const CHUNK: usize = 1 << 12;
/// Bytes of a grid of one q_z, without its positions: the grid, and its two allocations.
const OF_GRID: u64 = 40 + 32 + 32;

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
    /// `None` if stopped.
    ///
    /// # Errors
    /// The memory is too small.
    pub fn joined(q: &[[f64; 4]], stop: &AtomicBool) -> Result<Option<Vec<Self>>, GisaxsError> {
        let same = |a: &[f64; 4], b: &[f64; 4]| a[2..] == b[2..];
        let runs = q.chunk_by(same).count();
        let bytes = 16 * q.len() as u64 + OF_GRID * runs as u64;
        memory::check(&format!("a list of {} q", q.len()), bytes)?;
        let mut out = Vec::with_capacity(runs);
        for run in q.chunk_by(same) {
            if out.len() % CHUNK == 0 && stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            out.push(Self {
                xy: run.iter().map(|q| [q[0], q[1]]).collect(),
                z: vec![Complex64::new(run[0][2], run[0][3])],
            });
        }
        Ok(Some(out))
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
        let never = AtomicBool::new(false);
        Self::until(grids, &never).unwrap_or_else(|| Self::NONE.or_zero())
    }

    /// The same; `None` if stopped.
    pub fn until(grids: &[QGrid], stop: &AtomicBool) -> Option<Self> {
        let some = |grids: &[QGrid]| {
            if stop.load(Ordering::Relaxed) {
                return Self::NONE;
            }
            let filled = grids.iter().filter(|s| !s.is_empty());
            filled.fold(Self::NONE, |all, s| all.with(&Self::of_one(s)))
        };
        let all = match grids.len() {
            0..=CHUNK => some(grids),
            _ => (grids.par_chunks(CHUNK).map(some)).reduce(|| Self::NONE, |a, b| a.with(&b)),
        };
        (!stop.load(Ordering::Relaxed)).then(|| all.or_zero())
    }

    /// That of no q, before others are added.
    const NONE: Self = {
        let none = [f64::MAX, f64::MIN];
        Self {
            x: none,
            y: none,
            z: none,
            im_qz: 0.0,
            loss: none,
            most: 0.0,
            least: f64::MAX,
            points: 0,
        }
    };

    fn of_one(s: &QGrid) -> Self {
        let mut out = Self::NONE;
        let widen = |r: &mut [f64; 2], v: f64| *r = [r[0].min(v), r[1].max(v)];
        let (mut along, mut across) = (Self::NONE.x, Self::NONE.x);
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
        out.most = (along[1] + across[1]).sqrt();
        out.least = (along[0] + across[0]).sqrt();
        out.points = s.len();
        out
    }

    /// The extent of both.
    fn with(&self, o: &Self) -> Self {
        let both = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        Self {
            x: both(self.x, o.x),
            y: both(self.y, o.y),
            z: both(self.z, o.z),
            im_qz: self.im_qz.max(o.im_qz),
            loss: both(self.loss, o.loss),
            most: self.most.max(o.most),
            least: self.least.min(o.least),
            points: self.points + o.points,
        }
    }

    fn or_zero(self) -> Self {
        match self.points {
            0 => Self {
                x: [0.0; 2],
                y: [0.0; 2],
                z: [0.0; 2],
                loss: [0.0; 2],
                least: 0.0,
                ..self
            },
            _ => self,
        }
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

    #[test]
    fn a_list_is_joined_where_q_z_stays_and_stops() {
        let q: Vec<[f64; 4]> = (0..20_000)
            .map(|n| [f64::from(n), 1.0, f64::from(n / 2), 0.5])
            .collect();
        let stop = AtomicBool::new(false);
        let grids = QGrid::joined(&q, &stop).unwrap().unwrap();
        assert_eq!(grids.len(), 10_000);
        assert_eq!((grids[1].xy.len(), grids[1].z[0].im), (2, 0.5));
        let extent = Extent::until(&grids, &stop).unwrap();
        assert_eq!((extent.points, extent.x), (20_000, [0.0, 19_999.0]));
        assert_eq!(extent.least, (1.0 + 0.25f64).sqrt());
        let parts: Vec<Extent> = grids.chunks(3000).map(Extent::of).collect();
        let all = parts.iter().fold(Extent::NONE, |a, b| a.with(b));
        assert_eq!(format!("{all:?}"), format!("{extent:?}"));
        assert_eq!(Extent::of(&[]).points, 0);
        stop.store(true, Ordering::Relaxed);
        assert!(QGrid::joined(&q, &stop).unwrap().is_none());
        assert!(Extent::until(&grids, &stop).is_none());
    }
}
