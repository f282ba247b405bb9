//! M2L operators in Fourier space: products frequency by frequency.

use super::block;
use super::surface::INNER;
use crate::kernel::Kernel;
use crate::precision::Real;
use crate::tree::offsets;
use greenup_device::{Buffer, HostIsa};
use rayon::prelude::*;

/// Directions from a parent to the parents of its V lists.
pub const DIRECTIONS: usize = 26;

/// Index of direction 0..26 among 27 neighbours, of which 13 is the box itself.
pub fn direction_index(direction: usize) -> usize {
    direction + usize::from(direction >= 13)
}

/// Values of a frequency and pair of components: directions × children of the source × (re, im) × children of the target.
pub const BLOCK: usize = DIRECTIONS * 8 * 16;

/// Transforms of a level's kernel.
pub(crate) struct Fourier<R: Real> {
    pub p: usize,
    /// Cosine and sine of 2 pi k j / n.
    pub twiddles: Vec<R>,
    /// For each frequency and pair of components a [`BLOCK`].
    pub blocks: Buffer<R>,
    pub components: usize,
}

/// Cosines and sines of 2 π k j / n, in pairs, row k.
pub fn twiddles<R: Real>(n: usize) -> Vec<R> {
    (0..n * n)
        .flat_map(|i| {
            let a = std::f64::consts::TAU * (((i / n) * (i % n)) % n) as f64 / n as f64;
            [R::of(a.cos()), R::of(a.sin())]
        })
        .collect()
}

/// Number of frequencies of a transform: n n p, with n = 2 p − 1.
pub fn frequencies(p: usize) -> usize {
    (2 * p - 1) * (2 * p - 1) * p
}

impl<R: Real> Fourier<R> {
    /// For boxes of half width `half`.
    pub fn new(kernel: Kernel, parameter: f64, p: usize, half: f64) -> Self {
        let (n, count, d) = (2 * p - 1, frequencies(p), kernel.inputs());
        let far: Vec<[i32; 3]> = (0..343)
            .map(|i: i32| [i % 7 - 3, i / 7 % 7 - 3, i / 49 - 3])
            .filter(|o| o.iter().any(|x| x.abs() > 1))
            .collect();
        let step = 2.0 * INNER * half / (p - 1) as f64;
        let cs = twiddles::<f64>(n);
        let isa = HostIsa::best();
        // Transforms of eight relative positions at a time: [component][frequency][16].
        let spectra: Vec<Vec<f64>> = far
            .par_chunks(8)
            .map(|eight| {
                let mut grid = vec![0.0; d * d * n * n * n * 8];
                for (lane, o) in eight.iter().enumerate() {
                    for g in 0..n * n * n {
                        let i = [g / (n * n), g / n % n, g % n];
                        let at: [f64; 3] = std::array::from_fn(|a| {
                            let m = i[a] as i32;
                            let m = if m < p as i32 { m } else { m - n as i32 };
                            f64::from(m) * step - 2.0 * half * f64::from(o[a])
                        });
                        let k = block(kernel, parameter, at);
                        for c in 0..d * d {
                            grid[(c * n * n * n + g) * 8 + lane] = k[c / d][c % d];
                        }
                    }
                }
                let mut out = vec![0.0; d * d * count * 16];
                let mut work = vec![0.0; 2 * n * n * p * 16];
                for c in 0..d * d {
                    // SAFETY: the sizes that `forward` states.
                    unsafe {
                        (f64::kernels(isa).forward)(
                            p as i32,
                            n as i32,
                            cs.as_ptr(),
                            grid[c * n * n * n * 8..].as_ptr(),
                            out[c * count * 16..].as_mut_ptr(),
                            1,
                            work.as_mut_ptr(),
                        );
                    }
                }
                out
            })
            .collect();
        let mut index_of = [usize::MAX; 343];
        for (i, o) in far.iter().enumerate() {
            index_of[(o[0] + 3 + 7 * (o[1] + 3) + 49 * (o[2] + 3)) as usize] = i;
        }
        // For each direction, child of the source and child of the target: which relative position.
        let which: Vec<usize> = (0..DIRECTIONS * 64)
            .map(|i| {
                let o = offsets(direction_index(i / 64));
                let (s, t) = (i / 8 % 8, i % 8);
                let at: [i32; 3] =
                    std::array::from_fn(|a| 2 * o[a] + (s >> a & 1) as i32 - (t >> a & 1) as i32);
                index_of[(at[0] + 3 + 7 * (at[1] + 3) + 49 * (at[2] + 3)) as usize]
            })
            .collect();
        let norm = 1.0 / (n * n * n) as f64;
        let mut blocks = Buffer::from_fn(count * d * d * BLOCK, |_| R::default());
        blocks
            .as_mut_slice()
            .par_chunks_mut(BLOCK)
            .enumerate()
            .for_each(|(k, out)| {
                let (f, c) = (k / (d * d), k % (d * d));
                for (i, &w) in which.iter().enumerate() {
                    let value = |part: usize| match w {
                        usize::MAX => 0.0,
                        w => spectra[w / 8][(c * count + f) * 16 + part * 8 + w % 8] * norm,
                    };
                    let to = i / 8 * 16 + i % 8;
                    out[to] = R::of(value(0));
                    out[to + 8] = R::of(value(1));
                }
            });
        Self {
            p,
            twiddles: twiddles(n),
            blocks,
            components: d,
        }
    }
}
