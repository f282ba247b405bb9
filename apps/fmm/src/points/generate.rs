//! Distributions of points, from a seed.

use super::Points;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal, UnitSphere};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A distribution of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Uniform in the unit cube
    Cube,
    /// On a sphere of radius 1/2
    Sphere,
    /// Plummer model of a star cluster, scale radius 1, truncated at 10
    Plummer,
    /// 16 Gaussian clusters of widths between 0.001 and 0.1
    Clusters,
}

/// `n` points of a distribution; the same for the same seed.
pub fn generate(d: Distribution, n: usize, seed: u64) -> Points {
    generate_piece(d, 0..n, seed)
}

/// The points of these numbers among those of [`generate`]. Those before are drawn too, but not kept.
pub fn generate_piece(d: Distribution, piece: Range<usize>, seed: u64) -> Points {
    let n = piece.end;
    let mut rng = StdRng::seed_from_u64(seed);
    match d {
        Distribution::Cube => (0..n)
            .map(|_| std::array::from_fn(|_| rng.random()))
            .skip(piece.start)
            .collect(),
        Distribution::Sphere => (0..n)
            .map(|_| {
                let p: [f64; 3] = UnitSphere.sample(&mut rng);
                p.map(|x| 0.5 + 0.5 * x)
            })
            .skip(piece.start)
            .collect(),
        Distribution::Plummer => (0..n)
            .map(|_| {
                let r = loop {
                    // The mass inside r is r³ / (1 + r²)^(3/2).
                    let m: f64 = rng.random::<f64>().max(1e-12);
                    let r = 1.0 / (m.powf(-2.0 / 3.0) - 1.0).sqrt();
                    if r < 10.0 {
                        break r;
                    }
                };
                let p: [f64; 3] = UnitSphere.sample(&mut rng);
                p.map(|x| r * x)
            })
            .skip(piece.start)
            .collect(),
        Distribution::Clusters => {
            let clusters: Vec<([f64; 3], f64)> = (0..16)
                .map(|i| {
                    let width = 0.001 * 100f64.powf(f64::from(i) / 15.0);
                    (std::array::from_fn(|_| rng.random()), width)
                })
                .collect();
            (0..n)
                .map(|i| {
                    let (m, w) = clusters[i % 16];
                    std::array::from_fn(|a| {
                        let z: f64 = StandardNormal.sample(&mut rng);
                        m[a] + w * z
                    })
                })
                .skip(piece.start)
                .collect()
        }
    }
}

/// Charges between -1 and 1, or between 0 and 1 where `positive`.
pub fn charges(n: usize, positive: bool, seed: u64) -> Vec<f64> {
    charges_piece(0..n, positive, seed)
}

/// The charges of these numbers among those of [`charges`].
pub fn charges_piece(piece: Range<usize>, positive: bool, seed: u64) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed ^ 0x5eed);
    (0..piece.end)
        .map(|_| {
            let x: f64 = rng.random();
            if positive { x } else { 2.0 * x - 1.0 }
        })
        .skip(piece.start)
        .collect()
}
