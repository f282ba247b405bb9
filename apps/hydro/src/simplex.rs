//! Polynomials on the unit triangle and tetrahedron. Functions are numbered by the powers of their coordinates, the
//! first fastest.

use nalgebra::DMatrix;

/// Powers of all coordinates of each function of degree k, the last being of what is left to 1.
pub fn powers(dim: usize, k: usize) -> Vec<Vec<usize>> {
    let mut out = Vec::new();
    for c in 0..=if dim == 3 { k } else { 0 } {
        for b in 0..=k - c {
            for a in 0..=k - c - b {
                let rest = k - a - b - c;
                out.push(if dim == 3 {
                    vec![a, b, c, rest]
                } else {
                    vec![a, b, rest]
                });
            }
        }
    }
    out
}

/// Places of nodes by places on a line, kept symmetric by dividing by their sums.
pub fn places(dim: usize, k: usize, line: &[f64]) -> Vec<Vec<f64>> {
    powers(dim, k)
        .into_iter()
        .map(|p| {
            let sum: f64 = p.iter().map(|i| line[*i]).sum();
            p[..dim].iter().map(|i| line[*i] / sum).collect()
        })
        .collect()
}

/// Bernstein's functions and their slopes [function][dim] at a place.
pub fn bernstein(k: usize, at: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let dim = at.len();
    let mut all = at.to_vec();
    all.push(1.0 - at.iter().sum::<f64>());
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let (mut value, mut slope) = (Vec::new(), Vec::new());
    for p in powers(dim, k) {
        let many = factorial(k) / p.iter().map(|i| factorial(*i)).product::<f64>();
        let term = |less: Option<usize>| -> f64 {
            (0..=dim)
                .map(|c| {
                    let n = p[c];
                    match less {
                        Some(l) if l == c && n == 0 => 0.0,
                        Some(l) if l == c => n as f64 * all[c].powi(n as i32 - 1),
                        _ => all[c].powi(n as i32),
                    }
                })
                .product::<f64>()
                * many
        };
        value.push(term(None));
        slope.extend((0..dim).map(|c| term(Some(c)) - term(Some(dim))));
    }
    (value, slope)
}

/// Lagrange's functions through the nodes, and their slopes [function][dim], at a place.
pub fn nodal(k: usize, at: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let dim = at.len();
    let nodes = places(dim, k, &crate::basis::lobatto(k));
    let n = nodes.len();
    let rows: Vec<f64> = nodes.iter().flat_map(|x| bernstein(k, x).0).collect();
    // Values of Bernstein's functions at the nodes, transposed: column i is node i.
    let m = DMatrix::from_column_slice(n, n, &rows).lu();
    let (value, slope) = bernstein(k, at);
    let solve = |right: Vec<f64>| -> Vec<f64> {
        m.solve(&nalgebra::DVector::from_vec(right))
            .map(|x| x.iter().copied().collect())
            .unwrap_or_default()
    };
    let each: Vec<Vec<f64>> = (0..dim)
        .map(|g| solve(slope.iter().skip(g).step_by(dim).copied().collect()))
        .collect();
    let slopes = (0..n)
        .flat_map(|i| each.iter().map(move |e| e[i]))
        .collect();
    (solve(value), slopes)
}
