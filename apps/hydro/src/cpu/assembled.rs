//! The velocity mass matrix of full assembly: in CSR, or of each zone.

use super::parts::{Member, Shared};
use super::rank_sums::RankSums;
use super::solve::{Share, Times};
use super::zone_matrices::ZoneMatrices;
use crate::cpu::rank_sums::PART;
use crate::fem::fe_space::Space;
use crate::fem::mass_matrix::Csr;
use crate::hydro::Hydro;
use crate::part::halo::Terms;
use std::ops::Range;

/// The velocity mass matrix.
pub(super) enum Mass {
    Assembled {
        matrix: Csr,
        image: Vec<f64>,
        /// Nodes shared with other ranks, ascending.
        shared: Vec<u32>,
    },
    /// For sums without rounding: a sum of zones of one rank is rounded, and other ranks may have other zones.
    ByZone(ZoneMatrices),
}

impl Mass {
    pub(super) fn new(h: &Hydro, team: Option<&RankSums>) -> Self {
        match team {
            Some(team) if team.is_exact() => {
                Self::ByZone(ZoneMatrices::new(h, &team.boundary(&h.space)))
            }
            _ => Self::Assembled {
                matrix: Csr::of_mass(h),
                image: vec![0.0; h.space.dim * h.space.nodes],
                shared: team.map_or(Vec::new(), RankSums::shared_nodes),
            },
        }
    }

    /// Calls `f` with the matrix.
    pub(super) fn with<T>(&mut self, space: &Space, f: impl FnOnce(&dyn Times) -> T) -> T {
        match self {
            Self::ByZone(m) => f(&m.times(space)),
            Self::Assembled {
                matrix,
                image,
                shared,
            } => f(&Assembled {
                m: matrix,
                image: Shared::new(image),
                shared,
            }),
        }
    }
}

/// The assembled mass matrix, and its last product.
struct Assembled<'a> {
    m: &'a Csr,
    image: Shared,
    /// Nodes shared with other ranks, ascending.
    shared: &'a [u32],
}

impl Terms for Assembled<'_> {
    fn terms(&self, component: usize, nodes: &[u32], to: &mut [f64]) {
        for (to, n) in to.iter_mut().zip(nodes) {
            // SAFETY: shared nodes are written for the boundary alone, before all members wait.
            *to = unsafe { *self.image.at(component * self.m.nodes() + *n as usize) };
        }
    }
}

impl Times for Assembled<'_> {
    fn parts(&self) -> usize {
        self.m.nodes().div_ceil(PART)
    }

    fn begin(&self, m: &Member, share: Share, x: Shared, products: Shared) {
        let (nodes, parts) = (self.m.nodes(), self.parts());
        for c in 0..self.m.components {
            // SAFETY: nobody writes x between two waits.
            let x = unsafe { x.read(c * nodes..(c + 1) * nodes) };
            let rows = |range: Range<usize>| {
                // SAFETY: between two waits, each range is of one member, and read by none.
                let to = unsafe {
                    self.image
                        .part(c * nodes + range.start..c * nodes + range.end)
                };
                self.m.rows(range, x, to);
            };
            if share == Share::Boundary {
                for n in &self.shared[m.share(self.shared.len())] {
                    rows(*n as usize..*n as usize + 1);
                }
                continue;
            }
            for part in m.share(parts) {
                let range = part * PART..((part + 1) * PART).min(nodes);
                let at = |n: usize| self.shared.partition_point(|s| (*s as usize) < n);
                let mut from = range.start;
                for n in &self.shared[at(range.start)..at(range.end)] {
                    rows(from..*n as usize);
                    from = *n as usize + 1;
                }
                rows(from..range.end);
                let own = range.clone().zip(&x[range]);
                // SAFETY: shared nodes were written before the last wait, the others by this member.
                let own = own.map(|(n, x)| x * unsafe { *self.image.at(c * nodes + n) });
                // SAFETY: each part is of one member.
                unsafe { *products.at(c * parts + part) = own.sum() };
            }
        }
    }

    fn end(&self, component: usize, nodes: Range<usize>, to: &mut [f64]) {
        let first = component * self.m.nodes();
        // SAFETY: the image is written in `begin` alone, before all members wait.
        to.copy_from_slice(unsafe { self.image.read(first + nodes.start..first + nodes.end) });
    }
}
