//! Rows of a detector that share the factors of their products.

use crate::mesh_form_factor::Nodes;
use crate::mesh_form_factor::q_grid::QGrid;

/// Grids whose positions are `base` + η `along`, with η of each grid.
pub(in crate::mesh_form_factor) struct Family<'a> {
    /// The grids.
    pub grids: &'a [QGrid],
    /// Mean positions (q_x, q_y), 1/nm.
    pub base: Vec<[f64; 2]>,
    /// Displacement of each position per η, 1/nm.
    pub along: Vec<[f64; 2]>,
    /// η of each grid, within ±1.
    pub eta: Vec<f64>,
    /// Number of powers of η in the Taylor series.
    pub powers: usize,
}

impl Family<'_> {
    /// Sums per power: q*·n with `base`, with z, and with `along` if there are several grids.
    pub fn kinds(&self) -> usize {
        if self.grids.len() > 1 { 3 } else { 2 }
    }
}

/// Maximum number of powers; if more are needed, families are smaller.
pub(in crate::mesh_form_factor) const POWERS: usize = 3;

/// Splits the grids into families, each as long as a few powers permit.
pub(in crate::mesh_form_factor) fn families<'a>(
    nodes: &Nodes,
    grids: &'a [QGrid],
    accuracy: f64,
) -> impl Iterator<Item = Family<'a>> {
    let mut rest = grids;
    std::iter::from_fn(move || {
        let mut n = rest.len().min(128);
        while n > 0 {
            if let Some(f) = together(nodes, &rest[..n], accuracy) {
                rest = &rest[n..];
                return Some(f);
            }
            // A single grid is a family.
            n = n.div_ceil(2);
        }
        None
    })
}

/// These grids as a family, if their positions have that form and few powers suffice. A single grid is always a family.
fn together<'a>(nodes: &Nodes, grids: &'a [QGrid], accuracy: f64) -> Option<Family<'a>> {
    let (first, last) = (&grids[0].xy[..], &grids[grids.len() - 1].xy[..]);
    if grids.len() == 1 {
        return Some(Family {
            grids,
            base: first.to_vec(),
            along: vec![[0.0; 2]; first.len()],
            eta: vec![0.0],
            powers: 1,
        });
    }
    if first.len() != last.len() {
        return None;
    }
    let mid = |a: f64, b: f64| (0.5 * (a + b), 0.5 * (b - a));
    let (mut base, mut along) = (Vec::new(), Vec::new());
    let mut longest = 0.0_f64;
    for (a, b) in first.iter().zip(last) {
        let (x, y) = (mid(a[0], b[0]), mid(a[1], b[1]));
        base.push([x.0, y.0]);
        along.push([x.1, y.1]);
        longest = longest.max(x.1.hypot(y.1));
    }
    let mut eta = Vec::new();
    for s in grids {
        if s.xy.len() != base.len() {
            return None;
        }
        // The least-squares η; then all positions must agree with it.
        let (mut up, mut down) = (0.0, 0.0);
        for ((p, b), d) in s.xy.iter().zip(&base).zip(&along) {
            up += (p[0] - b[0]) * d[0] + (p[1] - b[1]) * d[1];
            down += d[0] * d[0] + d[1] * d[1];
        }
        let e = if down > 0.0 { up / down } else { 0.0 };
        let off =
            s.xy.iter()
                .zip(&base)
                .zip(&along)
                .map(|((p, b), d)| (p[0] - b[0] - e * d[0]).hypot(p[1] - b[1] - e * d[1]))
                .fold(0.0, f64::max);
        if off * nodes.reach > 0.1 * accuracy {
            return None;
        }
        eta.push(e);
    }
    let phase = longest * nodes.reach;
    let mut term = 1.0;
    for powers in 1..=POWERS {
        term *= phase / powers as f64;
        if term <= accuracy {
            return Some(Family {
                grids,
                base,
                along,
                eta,
                powers,
            });
        }
    }
    None
}
