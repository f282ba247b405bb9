//! Polynomials on the unit triangle and tetrahedron. Functions are numbered by the exponents of their coordinates, the
//! first varying fastest.

use nalgebra::DMatrix;

/// Barycentric exponents of each function of degree k, [function][dim + 1]; the last belongs to corner 0.
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

/// Node positions `[node][dim]` from one-dimensional positions `line`, normalised to stay symmetric.
pub fn positions(dim: usize, k: usize, line: &[f64]) -> Vec<Vec<f64>> {
    powers(dim, k)
        .into_iter()
        .map(|p| {
            let sum: f64 = p.iter().map(|i| line[*i]).sum();
            p[..dim].iter().map(|i| line[*i] / sum).collect()
        })
        .collect()
}

/// Bernstein polynomials of degree k and their gradients `[function][dim]` at a position.
pub fn bernstein(k: usize, at: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let dim = at.len();
    let mut all = at.to_vec();
    all.push(1.0 - at.iter().sum::<f64>());
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let (mut value, mut gradient) = (Vec::new(), Vec::new());
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
        gradient.extend((0..dim).map(|c| term(Some(c)) - term(Some(dim))));
    }
    (value, gradient)
}

/// Lagrange polynomials on the nodes of order k and their gradients `[function][dim]` at a position.
pub fn nodal(k: usize, at: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let dim = at.len();
    let nodes = positions(dim, k, &crate::fem::basis::lobatto(k));
    let n = nodes.len();
    let rows: Vec<f64> = nodes.iter().flat_map(|x| bernstein(k, x).0).collect();
    // Values of Bernstein's functions at the nodes, transposed: column i is node i.
    let m = DMatrix::from_column_slice(n, n, &rows).lu();
    let (value, gradient) = bernstein(k, at);
    let solve = |right: Vec<f64>| -> Vec<f64> {
        m.solve(&nalgebra::DVector::from_vec(right))
            .map(|x| x.iter().copied().collect())
            .unwrap_or_default()
    };
    let each: Vec<Vec<f64>> = (0..dim)
        .map(|g| solve(gradient.iter().skip(g).step_by(dim).copied().collect()))
        .collect();
    let gradients = (0..n)
        .flat_map(|i| each.iter().map(move |e| e[i]))
        .collect();
    (solve(value), gradients)
}
