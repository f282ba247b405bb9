//! Quadrature on the unit triangle and tetrahedron: symmetric rules of Witherden and Vincent (2015) for orders k and
//! k − 1 with k up to 3 (2 in 3D), else collapsed Gauss product rules.

// Digits as they were published.
#![allow(clippy::excessive_precision)]

use crate::fem::basis::gauss;

type Rule = (Vec<Vec<f64>>, Vec<f64>);

/// A rule that is exact for a degree: points `[point][dim]` and weights `[point]`.
pub fn simplex(dim: usize, degree: usize) -> Rule {
    let mut rule: Rule = (Vec::new(), Vec::new());
    let r = &mut rule;
    match (dim, degree) {
        (2, 2) => orbit(r, &[1.0 / 6.0, 1.0 / 6.0], 1.0 / 6.0),
        (2, 6) => {
            orbit(
                r,
                &[6.308_901_449_150_222_7e-2; 2],
                2.542_245_318_510_341e-2,
            );
            orbit(
                r,
                &[2.492_867_451_709_104_3e-1; 2],
                5.839_313_786_318_968e-2,
            );
            orbit(
                r,
                &[6.365_024_991_213_987e-1, 3.103_524_510_337_844e-1],
                4.142_553_780_918_679e-2,
            );
        }
        (2, 10) => {
            orbit(r, &[1.0 / 3.0; 2], 4.087_166_457_314_299e-2);
            orbit(r, &[3.205_537_321_694_352e-2; 2], 6.676_484_406_574_783e-3);
            orbit(
                r,
                &[1.421_611_010_565_644_2e-1; 2],
                2.297_898_180_237_236_5e-2,
            );
            orbit(
                r,
                &[5.300_541_189_273_44e-1, 3.218_129_952_888_354_2e-1],
                3.195_245_319_821_202e-2,
            );
            orbit(
                r,
                &[6.012_333_286_834_592e-1, 3.691_467_818_278_109e-1],
                1.709_232_408_147_971_4e-2,
            );
            orbit(
                r,
                &[8.079_306_009_228_79e-1, 1.637_017_337_371_825e-1],
                1.264_887_885_364_419_2e-2,
            );
        }
        (3, 2) => orbit(r, &[1.381_966_011_250_105e-1; 3], 1.0 / 24.0),
        (3, 6) => {
            orbit(r, &[4.067_395_853_461_137e-2; 3], 1.679_535_175_886_774e-3);
            orbit(r, &[3.223_378_901_422_755e-1; 3], 9.226_196_923_942_454e-3);
            orbit(r, &[2.146_028_712_591_52e-1; 3], 6.653_791_709_694_582e-3);
            let a = 6.366_100_187_501_75e-2;
            orbit(r, &[a, a, 6.030_056_647_916_492e-1], 27.0 / 3360.0);
        }
        _ => return product(dim, degree),
    }
    rule
}

/// Adds all permutations of barycentric coordinates; the last coordinate follows from their sum 1.
fn orbit((positions, weights): &mut Rule, some: &[f64], weight: f64) {
    let mut all = some.to_vec();
    all.push(1.0 - some.iter().sum::<f64>());
    let n = all.len();
    let same = |a: f64, b: f64| (a - b).abs() < 1e-12;
    let mut seen: Vec<Vec<f64>> = Vec::new();
    let mut order: Vec<usize> = (0..n).collect();
    loop {
        let p: Vec<f64> = order.iter().map(|i| all[*i]).collect();
        if !seen
            .iter()
            .any(|s| s.iter().zip(&p).all(|(a, b)| same(*a, *b)))
        {
            positions.push(p[..n - 1].to_vec());
            weights.push(weight);
            seen.push(p);
        }
        // The next permutation.
        let Some(i) = (0..n - 1).rev().find(|i| order[*i] < order[i + 1]) else {
            return;
        };
        if let Some(j) = (i + 1..n).rev().find(|j| order[*j] > order[i]) {
            order.swap(i, j);
        }
        order[i + 1..].reverse();
    }
}

/// The Gauss product rule of the cube, collapsed to the simplex by (u, v (1 − u), w (1 − u)(1 − v)).
fn product(dim: usize, degree: usize) -> Rule {
    // The Jacobian adds dim − 1 degrees to the first direction.
    let (x, w) = gauss((degree + dim - 1) / 2 + 1);
    let n = x.len();
    let mut out: Rule = (Vec::new(), Vec::new());
    for i in 0..n.pow(dim as u32) {
        let (a, b, c) = (i % n, i / n % n, i / n / n);
        let (left, mut position) = (1.0 - x[a], vec![x[a], x[b] * (1.0 - x[a])]);
        let mut weight = w[a] * w[b] * left;
        if dim == 3 {
            position.push(x[c] * left * (1.0 - x[b]));
            weight *= w[c] * left * (1.0 - x[b]);
        }
        out.0.push(position);
        out.1.push(weight);
    }
    out
}
