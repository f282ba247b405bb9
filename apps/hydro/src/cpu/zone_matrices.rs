//! The velocity mass matrices of the zones, not added up: a product keeps what each zone contributes, so that the sums at nodes
//! have the same bits however the zones are shared by ranks.

use super::parts::{Member, Shared};
use super::solve::{Share, Times};
use crate::fem::fe_space::Space;
use crate::fem::mass_matrix::of_zones;
use crate::hydro::Hydro;
use crate::part::halo::Terms;
use std::ops::Range;

/// The matrices, and their last products.
pub struct ZoneMatrices {
    /// `[zone][local][local]`.
    values: Vec<f64>,
    /// Zones of which other ranks need the contributions, then the others.
    order: Vec<u32>,
    boundary: usize,
    /// Contributions of the zones, `[zone][component][local]`.
    own: Vec<f64>,
}

impl ZoneMatrices {
    /// The matrices of a problem; other ranks need the contributions of the zones `first`, ascending.
    pub fn new(h: &Hydro, first: &[u32]) -> Self {
        let space = &h.space;
        let rest = (0..space.zones as u32).filter(|z| first.binary_search(z).is_err());
        Self {
            values: of_zones(h),
            order: first.iter().copied().chain(rest).collect(),
            boundary: first.len(),
            own: vec![0.0; space.zones * space.dim * space.element.local],
        }
    }

    /// The matrix of the space.
    pub fn times<'a>(&'a mut self, space: &'a Space) -> ZoneProducts<'a> {
        ZoneProducts {
            values: &self.values,
            order: &self.order,
            boundary: self.boundary,
            own: Shared::new(&mut self.own),
            space,
        }
    }
}

/// The matrix of all zones of a space.
pub struct ZoneProducts<'a> {
    values: &'a [f64],
    order: &'a [u32],
    boundary: usize,
    own: Shared,
    space: &'a Space,
}

impl ZoneProducts<'_> {
    /// Multiplies the matrix of a zone with all components of a field.
    ///
    /// # Safety
    /// Nobody writes the field, and nobody else reads or writes the contributions of the zone.
    unsafe fn multiply(&self, zone: usize, x: Shared) {
        let (n, dim) = (self.space.element.local, self.space.dim);
        let rows = &self.values[zone * n * n..(zone + 1) * n * n];
        let nodes = self.space.zone(zone);
        for c in 0..dim {
            let at = (zone * dim + c) * n;
            // SAFETY: as the caller says.
            let to = unsafe { self.own.part(at..at + n) };
            for (to, row) in to.iter_mut().zip(rows.chunks_exact(n)) {
                let terms = row.iter().zip(nodes);
                // SAFETY: nodes of a zone are within the field.
                let term =
                    |(m, n): (&f64, &u32)| m * unsafe { *x.at(c * self.space.nodes + *n as usize) };
                *to = terms.map(term).sum();
            }
        }
    }
}

impl Terms for ZoneProducts<'_> {
    fn terms(&self, component: usize, nodes: &[u32], to: &mut [f64]) {
        let (local, dim) = (self.space.element.local, self.space.dim);
        let of_node = |n: &u32| self.space.shares_at(*n as usize);
        for (to, (z, i)) in to.iter_mut().zip(nodes.iter().flat_map(of_node)) {
            // SAFETY: zones at shared nodes are written for the boundary alone, before all members wait.
            *to = unsafe { *(self.own).at((*z as usize * dim + component) * local + *i as usize) };
        }
    }
}

impl Times for ZoneProducts<'_> {
    /// None: the scalar products are of the sums at nodes.
    fn parts(&self) -> usize {
        1
    }

    fn begin(&self, m: &Member, share: Share, x: Shared, _products: Shared) {
        let share = match share {
            Share::Boundary => 0..self.boundary,
            Share::Interior => self.boundary..self.order.len(),
        };
        for z in &self.order[m.share_of(share)] {
            // SAFETY: each zone is of one member, and nobody writes x between two waits.
            unsafe { self.multiply(*z as usize, x) };
        }
    }

    fn end(&self, component: usize, nodes: Range<usize>, to: &mut [f64]) {
        // SAFETY: zones are written in `begin` alone, before all members wait.
        let own = unsafe { self.own.read(0..self.order.len() * self.space.zone_size()) };
        let of = (self.space.dim, component);
        self.space.sums(own, of, nodes, to);
    }
}
