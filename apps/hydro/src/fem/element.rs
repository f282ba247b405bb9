//! Reference zones: nodes, bases and quadrature. Coordinates are in [0, 1]; in tensor-product zones x varies fastest
//! in all arrays.

use crate::fem::basis::{bernstein, gauss, lagrange, lobatto};
use crate::fem::quadrature;
use crate::fem::simplex;
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

/// Shape of the zones of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Shape {
    /// Line segment, 1D.
    Segment,
    /// Quadrilateral, 2D.
    Quad,
    /// Hexahedron, 3D.
    Hex,
    /// Triangle, 2D.
    Triangle,
    /// Tetrahedron, 3D.
    Tet,
}

impl Shape {
    /// Dimension, 1 to 3.
    pub fn dim(self) -> usize {
        match self {
            Self::Segment => 1,
            Self::Quad | Self::Triangle => 2,
            Self::Hex | Self::Tet => 3,
        }
    }

    /// Number of corners.
    pub fn corners(self) -> usize {
        match self {
            Self::Segment => 2,
            Self::Triangle => 3,
            Self::Quad | Self::Tet => 4,
            Self::Hex => 8,
        }
    }

    /// Whether the shape is a tensor product of segments.
    pub fn tensor(self) -> bool {
        !matches!(self, Self::Triangle | Self::Tet)
    }

    /// Local corner numbers of each face; those of quadrilateral faces are in lexicographic order.
    pub fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Self::Segment => &[&[0], &[1]],
            Self::Quad => &[&[0, 1], &[2, 3], &[0, 2], &[1, 3]],
            Self::Triangle => &[&[0, 1], &[1, 2], &[0, 2]],
            Self::Tet => &[&[0, 1, 2], &[0, 1, 3], &[0, 2, 3], &[1, 2, 3]],
            Self::Hex => &[
                &[0, 1, 2, 3],
                &[4, 5, 6, 7],
                &[0, 1, 4, 5],
                &[2, 3, 6, 7],
                &[0, 2, 4, 6],
                &[1, 3, 5, 7],
            ],
        }
    }

    /// Reference position of a corner.
    pub fn corner(self, c: usize) -> Vec<f64> {
        (0..self.dim())
            .map(|g| {
                if self.tensor() {
                    (c >> g & 1) as f64
                } else {
                    f64::from(u8::from(c == g + 1))
                }
            })
            .collect()
    }

    /// Number of nodes of the nodal basis of an order.
    pub fn nodes(self, order: usize) -> usize {
        let k = order;
        match self {
            Self::Segment => k + 1,
            Self::Quad => (k + 1).pow(2),
            Self::Hex => (k + 1).pow(3),
            Self::Triangle => (k + 1) * (k + 2) / 2,
            Self::Tet => (k + 1) * (k + 2) * (k + 3) / 6,
        }
    }

    /// Edge length of a zone of a given volume.
    pub fn length(self, volume: f64) -> f64 {
        match self {
            Self::Segment => volume,
            Self::Quad => volume.sqrt(),
            Self::Hex => volume.cbrt(),
            Self::Triangle => (2.0 * volume).sqrt(),
            Self::Tet => (6.0 * volume).cbrt(),
        }
    }
}

/// One-dimensional basis tables of a tensor-product zone, for sum factorisation.
#[derive(Clone, Debug)]
pub struct Factors {
    /// Number of quadrature points per direction.
    pub points: usize,
    /// Values of the kinematic basis, `[point][function]`.
    pub value: Vec<f64>,
    /// Derivatives of the kinematic basis, `[point][function]`.
    pub gradient: Vec<f64>,
    /// Values of the energy basis, `[point][function]`.
    pub energy: Vec<f64>,
}

/// A reference zone with its bases and quadrature.
#[derive(Clone, Debug)]
pub struct Element {
    /// Shape of the zone.
    pub shape: Shape,
    /// Order of the kinematic basis (positions and velocities).
    pub order: usize,
    /// Order of the energy basis.
    pub energy_order: usize,
    /// Number of kinematic nodes.
    pub local: usize,
    /// Number of energy basis functions.
    pub energies: usize,
    /// Quadrature points, `[point][dim]`.
    pub positions: Vec<Vec<f64>>,
    /// Quadrature weights, `[point]`.
    pub weights: Vec<f64>,
    /// Kinematic basis at the quadrature points, `[point][local]`.
    pub value: Vec<f64>,
    /// Gradients of the kinematic basis at the quadrature points, `[point][local][dim]`.
    pub gradient: Vec<f64>,
    /// Energy basis at the quadrature points, `[point][energy]`.
    pub energy: Vec<f64>,
    /// One-dimensional tables; `None` for triangles and tetrahedra.
    pub factors: Option<Factors>,
}

/// Multi-index of the `n`-th entry of a box with `counts` entries per direction, x fastest.
pub fn along(mut n: usize, counts: &[usize]) -> Vec<usize> {
    counts
        .iter()
        .map(|c| {
            let i = n % c;
            n /= c;
            i
        })
        .collect()
}

/// Tensor product of one-dimensional tables, x fastest.
pub fn tensor(factors: &[&[f64]]) -> Vec<f64> {
    factors.iter().fold(vec![1.0], |before, f| {
        f.iter()
            .flat_map(|y| before.iter().map(move |x| x * y))
            .collect()
    })
}

/// Values `[node]` and gradients `[node][dim]` of the nodal basis at a reference position.
pub fn nodal(shape: Shape, order: usize, at: &[f64]) -> (Vec<f64>, Vec<f64>) {
    if !shape.tensor() {
        return simplex::nodal(order, at);
    }
    let nodes = lobatto(order);
    let (value, gradient): (Vec<_>, Vec<_>) = at.iter().map(|x| lagrange(&nodes, *x)).unzip();
    let all = |f: &[Vec<f64>]| tensor(&f.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let each: Vec<Vec<f64>> = (0..at.len())
        .map(|g| {
            let mut f = value.clone();
            f[g].clone_from(&gradient[g]);
            all(&f)
        })
        .collect();
    let gradients = (0..each[0].len())
        .flat_map(|i| each.iter().map(move |e| e[i]))
        .collect();
    (all(&value), gradients)
}

/// Values of the Bernstein basis at a reference position.
pub fn positive(shape: Shape, order: usize, at: &[f64]) -> Vec<f64> {
    if !shape.tensor() {
        return simplex::bernstein(order, at).0;
    }
    let each: Vec<Vec<f64>> = at.iter().map(|x| bernstein(order, *x)).collect();
    tensor(&each.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Reference coordinates of the nodes, `[node][dim]`.
pub fn node_positions(shape: Shape, order: usize) -> Vec<Vec<f64>> {
    if !shape.tensor() {
        return simplex::positions(shape.dim(), order, &lobatto(order));
    }
    let line = lobatto(order);
    let counts = vec![order + 1; shape.dim()];
    (0..shape.nodes(order))
        .map(|n| along(n, &counts).into_iter().map(|i| line[i]).collect())
        .collect()
}

/// Interior reference positions at which initial densities and energies are interpolated, `[function][dim]`.
pub fn inner_positions(shape: Shape, order: usize) -> Vec<Vec<f64>> {
    let (line, _) = gauss(order + 1);
    if !shape.tensor() {
        return simplex::positions(shape.dim(), order, &line);
    }
    let counts = vec![order + 1; shape.dim()];
    (0..shape.nodes(order))
        .map(|n| along(n, &counts).into_iter().map(|i| line[i]).collect())
        .collect()
}

impl Element {
    /// A reference zone of kinematic order k and energy order t; the quadrature is exact for degree 3k + t − 1.
    pub fn new(shape: Shape, order: usize, energy_order: usize) -> Self {
        let degree = 3 * order + energy_order - 1;
        let n = degree / 2 + 1;
        let (line, line_weights) = gauss(n);
        let dim = shape.dim();
        let (positions, weights) = if shape.tensor() {
            let counts = vec![n; dim];
            let positions = (0..n.pow(dim as u32))
                .map(|q| along(q, &counts).into_iter().map(|i| line[i]).collect())
                .collect();
            (positions, tensor(&vec![line_weights.as_slice(); dim]))
        } else {
            quadrature::simplex(dim, degree)
        };
        let (mut value, mut gradient, mut energy) = (Vec::new(), Vec::new(), Vec::new());
        for at in &positions {
            let (v, s) = nodal(shape, order, at);
            value.extend(v);
            gradient.extend(s);
            energy.extend(positive(shape, energy_order, at));
        }
        let factors = shape.tensor().then(|| {
            let ends = lobatto(order);
            let mut f = Factors {
                points: n,
                value: Vec::new(),
                gradient: Vec::new(),
                energy: Vec::new(),
            };
            for x in &line {
                let (v, s) = lagrange(&ends, *x);
                f.value.extend(v);
                f.gradient.extend(s);
                f.energy.extend(bernstein(energy_order, *x));
            }
            f
        });
        Self {
            shape,
            order,
            energy_order,
            local: shape.nodes(order),
            energies: shape.nodes(energy_order),
            positions,
            weights,
            value,
            gradient,
            energy,
            factors,
        }
    }

    /// Dimension, 1 to 3.
    pub fn dim(&self) -> usize {
        self.shape.dim()
    }

    /// Number of quadrature points.
    pub fn points(&self) -> usize {
        self.weights.len()
    }

    /// Matrix from values at [`inner_positions`] to Bernstein coefficients.
    pub fn rewriting(&self) -> DMatrix<f64> {
        let n = self.energies;
        let rows: Vec<f64> = inner_positions(self.shape, self.energy_order)
            .iter()
            .flat_map(|at| positive(self.shape, self.energy_order, at))
            .collect();
        DMatrix::from_row_slice(n, n, &rows)
            .try_inverse()
            .unwrap_or_else(|| DMatrix::identity(n, n))
    }

    /// Values of the energy basis at a quadrature point.
    pub fn energy_at(&self, q: usize) -> &[f64] {
        &self.energy[q * self.energies..(q + 1) * self.energies]
    }

    /// Gradient of a zone's field `[component][local]` at a quadrature point, `[component][dim]`.
    pub fn jacobian(&self, field: &[f64], q: usize) -> crate::fem::small_matrix::M {
        let d = self.dim();
        let mut out = [[0.0; 3]; 3];
        let gradient = &self.gradient[q * self.local * d..(q + 1) * self.local * d];
        for (i, w) in gradient.chunks(d).enumerate() {
            for c in 0..d {
                let x = field[c * self.local + i];
                for g in 0..d {
                    out[c][g] += x * w[g];
                }
            }
        }
        out
    }

    /// Value of a zone's field `[component][local]` at a quadrature point, `[component]`.
    pub fn point(&self, field: &[f64], q: usize) -> Vec<f64> {
        let value = &self.value[q * self.local..(q + 1) * self.local];
        field
            .chunks(self.local)
            .map(|f| f.iter().zip(value).map(|(f, v)| f * v).sum())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_bases_of_every_shape() {
        for shape in [
            Shape::Segment,
            Shape::Quad,
            Shape::Hex,
            Shape::Triangle,
            Shape::Tet,
        ] {
            for order in 1..6 {
                let e = Element::new(shape, order, order - 1);
                let volume = match shape {
                    Shape::Triangle => 0.5,
                    Shape::Tet => 1.0 / 6.0,
                    _ => 1.0,
                };
                let sum: f64 = e.weights.iter().sum();
                assert!(
                    (sum / volume - 1.0).abs() < 1e-12,
                    "{shape:?} {order} {sum}"
                );
                for q in 0..e.points() {
                    let v = &e.value[q * e.local..(q + 1) * e.local];
                    assert!((v.iter().sum::<f64>() - 1.0).abs() < 1e-10);
                    assert!((e.energy_at(q).iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    // Places of the nodes give the position, and gradients the unit matrix.
                    let d = e.dim();
                    let mut field = vec![0.0; d * e.local];
                    for (i, at) in node_positions(shape, order).iter().enumerate() {
                        for c in 0..d {
                            field[c * e.local + i] = at[c];
                        }
                    }
                    let j = e.jacobian(&field, q);
                    for c in 0..d {
                        assert!((e.point(&field, q)[c] - e.positions[q][c]).abs() < 1e-11);
                        for g in 0..d {
                            let want = if c == g { 1.0 } else { 0.0 };
                            assert!((j[c][g] - want).abs() < 1e-9, "{shape:?} {order} {j:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rules_integrate_their_degree() {
        // ∫ x^a y^b (z^c) over a simplex: a! b! c! / (a + b + c + d)!.
        let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
        for (dim, degrees) in [(2, [2, 6, 10, 14, 9]), (3, [2, 6, 10, 14, 5])] {
            for degree in degrees {
                let (positions, weights) = quadrature::simplex(dim, degree);
                for a in 0..=degree {
                    for b in 0..=degree - a {
                        let c = if dim == 3 { degree - a - b } else { 0 };
                        let got: f64 = positions
                            .iter()
                            .zip(&weights)
                            .map(|(p, w)| {
                                let z = if dim == 3 { p[2].powi(c as i32) } else { 1.0 };
                                w * p[0].powi(a as i32) * p[1].powi(b as i32) * z
                            })
                            .sum();
                        let want =
                            factorial(a) * factorial(b) * factorial(c) / factorial(a + b + c + dim);
                        assert!(
                            (got - want).abs() < 1e-13,
                            "{dim} {degree}: {a} {b} {c} {got} {want}"
                        );
                    }
                }
            }
        }
    }
}
