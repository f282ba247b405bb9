//! The assembled velocity mass matrix in CSR format.

use crate::hydro::Hydro;
use rayon::prelude::*;

/// A nodes × nodes matrix in CSR format.
pub struct Csr {
    /// Row offsets: row n has the entries `begin[n]..begin[n + 1]`.
    pub begin: Vec<u32>,
    /// Column of each entry.
    pub columns: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
    /// Number of components of the fields to multiply.
    pub components: usize,
}

impl Csr {
    /// Assembles the mass matrix: Σ ρ₀ |J₀| w φᵢ φⱼ over zones and quadrature points.
    pub fn of_mass(h: &Hydro) -> Self {
        let (space, e) = (&h.space, &h.space.element);
        let n = e.local;
        let zones = of_zones(h);
        let rows: Vec<Vec<(u32, f64)>> = (0..space.nodes)
            .into_par_iter()
            .map(|node| {
                let mut row: Vec<(u32, f64)> = Vec::new();
                for (z, i) in
                    &space.shares[space.begin[node] as usize..space.begin[node + 1] as usize]
                {
                    let at = (*z as usize * n + *i as usize) * n;
                    let columns = space.zone(*z as usize);
                    row.extend(
                        columns
                            .iter()
                            .copied()
                            .zip(zones[at..at + n].iter().copied()),
                    );
                }
                // Stable, so that sums have the same order every time.
                row.sort_by_key(|r| r.0);
                row.dedup_by(|b, a| {
                    let same = a.0 == b.0;
                    if same {
                        a.1 += b.1;
                    }
                    same
                });
                row
            })
            .collect();
        let mut out = Self {
            begin: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            components: space.dim,
        };
        for row in rows {
            out.columns.extend(row.iter().map(|r| r.0));
            out.values.extend(row.iter().map(|r| r.1));
            out.begin.push(out.columns.len() as u32);
        }
        out
    }

    /// Number of rows.
    pub fn nodes(&self) -> usize {
        self.begin.len() - 1
    }

    /// Multiplies a range of rows with one component of a field.
    pub fn rows(&self, rows: std::ops::Range<usize>, x: &[f64], out: &mut [f64]) {
        for (n, to) in rows.zip(out) {
            let row = self.begin[n] as usize..self.begin[n + 1] as usize;
            *to = self.columns[row.clone()]
                .iter()
                .zip(&self.values[row])
                .map(|(c, v)| v * x[*c as usize])
                .sum();
        }
    }

    /// Multiplies the matrix with each component of a field `[component][node]`.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        let nodes = self.nodes();
        for (x, out) in x.chunks(nodes).zip(out.chunks_mut(nodes)) {
            self.rows(0..nodes, x, out);
        }
    }
}

/// The mass matrix of each zone, `[zone][local][local]`.
pub fn of_zones(h: &Hydro) -> Vec<f64> {
    let (space, e) = (&h.space, &h.space.element);
    let (n, mass) = (e.local, h.matrix_mass());
    let mut out = vec![0.0; space.zones * n * n];
    out.par_chunks_mut(n * n).enumerate().for_each(|(z, m)| {
        for q in 0..e.points() {
            let w = mass[z * e.points() + q];
            let b = &e.value[q * n..(q + 1) * n];
            for (row, bi) in m.chunks_mut(n).zip(b) {
                for (to, bj) in row.iter_mut().zip(b) {
                    *to += w * bi * bj;
                }
            }
        }
    });
    out
}
