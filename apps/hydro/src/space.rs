//! The two spaces of a box of zones: continuous for places and velocities (Lagrange at Gauss–Lobatto
//! points), discontinuous for energies (Bernstein); and their values at quadrature points.

use crate::basis::{bernstein, gauss, lagrange, lobatto};
use crate::mesh::Mesh;

/// Orders, numbering and tables. Everything of a zone has x fastest.
pub struct Space {
    pub dim: usize,
    /// Kinematic and thermodynamic order.
    pub order: usize,
    pub energy_order: usize,
    pub zones: usize,
    /// Kinematic nodes, of all and of a zone.
    pub nodes: usize,
    pub local: usize,
    /// Energies of a zone.
    pub energies: usize,
    /// Quadrature points of a zone, with weights.
    pub points: usize,
    pub weights: Vec<f64>,
    /// Nodes of each zone.
    pub of_zone: Vec<usize>,
    /// Zones and local numbers of each node: `shares[begin[n]..begin[n + 1]]`.
    pub shares: Vec<(usize, usize)>,
    pub begin: Vec<usize>,
    /// Kinematic basis at the points [point][local], its slopes [point][local][dim], energies' [point][energy].
    pub value: Vec<f64>,
    pub slope: Vec<f64>,
    pub energy: Vec<f64>,
    /// Places of the nodes at the start, [component][node].
    pub start: Vec<f64>,
    /// Whether a wall holds a component of a node, [component][node].
    pub held: Vec<bool>,
}

/// Numbers along each direction of the n-th of a box.
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

/// The products of one factor of each direction, x fastest.
pub fn tensor(factors: &[&[f64]]) -> Vec<f64> {
    factors.iter().fold(vec![1.0], |before, f| {
        f.iter()
            .flat_map(|y| before.iter().map(move |x| x * y))
            .collect()
    })
}

impl Space {
    pub fn new(mesh: &Mesh, order: usize, energy_order: usize) -> Self {
        let dim = mesh.dim();
        let counts = mesh.counts();
        let zones = mesh.zones();
        let ends = lobatto(order);
        let n = (3 * order + energy_order - 1) / 2 + 1;
        let (points, weights) = gauss(n);
        let (values, slopes): (Vec<_>, Vec<_>) = points.iter().map(|x| lagrange(&ends, *x)).unzip();
        let energies: Vec<_> = points.iter().map(|x| bernstein(energy_order, *x)).collect();
        let all = n.pow(dim as u32);
        let (mut value, mut slope, mut energy) = (Vec::new(), Vec::new(), Vec::new());
        for q in 0..all {
            let at = along(q, &vec![n; dim]);
            let pick =
                |t: &'_ [Vec<f64>]| -> Vec<Vec<f64>> { at.iter().map(|i| t[*i].clone()).collect() };
            let of = |f: Vec<Vec<f64>>| tensor(&f.iter().map(Vec::as_slice).collect::<Vec<_>>());
            value.extend(of(pick(&values)));
            energy.extend(of(pick(&energies)));
            let each: Vec<Vec<f64>> = (0..dim)
                .map(|g| {
                    let mut f = pick(&values);
                    f[g] = slopes[at[g]].clone();
                    of(f)
                })
                .collect();
            for i in 0..each[0].len() {
                slope.extend(each.iter().map(|e| e[i]));
            }
        }
        let lines: Vec<usize> = counts.iter().map(|c| c * order + 1).collect();
        let nodes: usize = lines.iter().product();
        let local = (order + 1).pow(dim as u32);
        let mut of_zone = Vec::with_capacity(zones * local);
        for z in 0..zones {
            let zone = along(z, &counts);
            for i in 0..local {
                let own = along(i, &vec![order + 1; dim]);
                let (mut number, mut stride) = (0, 1);
                for g in 0..dim {
                    number += (zone[g] * order + own[g]) * stride;
                    stride *= lines[g];
                }
                of_zone.push(number);
            }
        }
        let mut lists = vec![Vec::new(); nodes];
        for (i, node) in of_zone.iter().enumerate() {
            lists[*node].push((i / local, i % local));
        }
        let mut begin = vec![0];
        for l in &lists {
            begin.push(begin[begin.len() - 1] + l.len());
        }
        let mut start = vec![0.0; dim * nodes];
        let mut held = vec![false; dim * nodes];
        for node in 0..nodes {
            for (g, i) in along(node, &lines).into_iter().enumerate() {
                let f = &mesh.faces[g];
                let zone = (i / order).min(counts[g] - 1);
                let share = ends[i - zone * order];
                start[g * nodes + node] = f[zone] + (f[zone + 1] - f[zone]) * share;
                held[g * nodes + node] = i == 0 || i + 1 == lines[g];
            }
        }
        Self {
            dim,
            order,
            energy_order,
            zones,
            nodes,
            local,
            energies: (energy_order + 1).pow(dim as u32),
            points: all,
            weights: tensor(&vec![weights.as_slice(); dim]),
            of_zone,
            shares: lists.concat(),
            begin,
            value,
            slope,
            energy,
            start,
            held,
        }
    }

    /// Nodes of a zone.
    pub fn zone(&self, z: usize) -> &[usize] {
        &self.of_zone[z * self.local..(z + 1) * self.local]
    }

    /// A field's values on a zone's nodes, [component][local].
    pub fn gather(&self, field: &[f64], z: usize) -> Vec<f64> {
        (0..field.len() / self.nodes)
            .flat_map(|c| self.zone(z).iter().map(move |n| field[c * self.nodes + n]))
            .collect()
    }

    /// Sums what zones have for their nodes, [zone][component][local], in the same order every time.
    pub fn scatter(&self, own: &[f64], components: usize) -> Vec<f64> {
        let mut out = vec![0.0; components * self.nodes];
        for (c, part) in out.chunks_mut(self.nodes).enumerate() {
            for (n, to) in part.iter_mut().enumerate() {
                *to = self.shares[self.begin[n]..self.begin[n + 1]]
                    .iter()
                    .map(|(z, i)| own[(z * components + c) * self.local + i])
                    .sum();
            }
        }
        out
    }
}
