//! Stresses at the quadrature points, and their forces and work, by sum factorisation.

use super::batches::Batches;
use super::parts::Shared;
use crate::HydroError;
use crate::hydro::Hydro;
use crate::problem::Gas;
use greenup_device::HostIsa;
use rayon::prelude::*;
use std::ffi::{c_int, c_long};
use std::ops::Range;
use std::ptr;

/// The corner force of a range of zones: stresses, forces and work.
pub struct Corner {
    pub(super) b: Batches,
    affine: bool,
    gamma: Vec<f64>,
    p_inf: Vec<f64>,
    weights: Vec<f64>,
    pub(super) mass: Vec<f64>,
    start: Vec<f64>,
    stress: Vec<f64>,
    source: Vec<f64>,
}

impl Corner {
    /// Prepares a range of zones for an instruction set, with kernels for the orders of the problem or `general` ones
    /// for any order.
    ///
    /// # Errors
    /// The zones are not tensor products, or do not exist.
    pub fn new(
        h: &Hydro,
        isa: HostIsa,
        general: bool,
        range: Range<usize>,
    ) -> Result<Self, HydroError> {
        Self::in_order(h, isa, general, range, &[])
    }

    /// The same with the zones `first`, ascending, before the others.
    pub(super) fn in_order(
        h: &Hydro,
        isa: HostIsa,
        general: bool,
        range: Range<usize>,
        first: &[u32],
    ) -> Result<Self, HydroError> {
        let b = Batches::new(h, isa, general, range, first)?;
        let (dd, points, lanes) = (b.dim * b.dim, b.points, b.lanes);
        let gas = |f: fn(&Gas) -> f64| -> Vec<f64> {
            b.spread(&h.gas.iter().map(f).collect::<Vec<_>>(), 1)
        };
        Ok(Self {
            affine: h.affine,
            gamma: gas(|g| g.gamma),
            p_inf: gas(|g| g.p_inf),
            weights: h.space.element.weights.clone(),
            mass: b.spread(&h.mass, points),
            start: b.spread(&h.inverse, if h.affine { dd } else { points * dd }),
            stress: vec![0.0; b.count * dd * points * lanes],
            source: if b.rules.source == 0 {
                Vec::new()
            } else {
                vec![0.0; b.count * points * lanes]
            },
            b,
        })
    }

    /// Length of the array of forces, `[batch][local][component][lane]`.
    pub fn forces_len(&self) -> usize {
        self.b.count * self.b.local * self.b.dim * self.b.lanes
    }

    /// Computes the stresses for positions, velocities and energies; returns their rate (see
    /// [`Engine`](crate::engine::Engine)).
    ///
    /// # Panics
    /// The lengths are not those of all nodes and zones.
    pub fn stresses(&mut self, x: &[f64], v: &[f64], e: &[f64]) -> f64 {
        let b = &self.b;
        b.check(&[x, v], &[e]);
        let (w, dd) = (b.lanes, b.dim * b.dim);
        let size = dd * b.points * w;
        let start = if self.affine { dd * w } else { size };
        let (stress, source) = (Shared::new(&mut self.stress), Shared::new(&mut self.source));
        let largest: Vec<f64> = (0..b.count)
            .into_par_iter()
            .map(|i| {
                b.with_room(|scratch| {
                    let to = if b.rules.source == 0 {
                        ptr::null_mut()
                    } else {
                        source.at(i * b.points * w)
                    };
                    // SAFETY: indices and sizes are those that the batches were made with, and the fields have them;
                    // stresses and sources of batches are disjoint.
                    unsafe {
                        (b.kernels.stresses)(
                            b.tables.get(),
                            &raw const b.rules,
                            b.index.as_ptr().add(i * b.local * w),
                            b.index_e.as_ptr().add(i * b.energies * w),
                            b.nodes as c_long,
                            x.as_ptr(),
                            v.as_ptr(),
                            e.as_ptr(),
                            self.gamma.as_ptr().add(i * w),
                            self.p_inf.as_ptr().add(i * w),
                            self.mass.as_ptr().add(i * b.points * w),
                            self.weights.as_ptr(),
                            self.start.as_ptr().add(i * start),
                            c_int::from(self.affine),
                            stress.at(i * size),
                            to,
                            scratch.as_mut_ptr(),
                        )
                    }
                })
            })
            .collect();
        largest.into_iter().fold(0.0, f64::max)
    }

    /// Computes the forces of the zones on their nodes from the last stresses, `[batch][local][component][lane]`.
    ///
    /// # Panics
    /// The length of `own` is not [`Self::forces_len`].
    pub fn forces(&self, own: &mut [f64]) {
        assert_eq!(own.len(), self.forces_len());
        self.forces_of(0..self.b.count, Shared::new(own));
    }

    /// The forces of a range of batches, which nobody else writes or reads meanwhile, into a vector of [`Self::forces_len`].
    pub(super) fn forces_of(&self, batches: Range<usize>, own: Shared) {
        let b = &self.b;
        let (w, d) = (b.lanes, b.dim);
        b.each_of(batches, |i, scratch| {
            // SAFETY: as in `stresses`.
            unsafe {
                (b.kernels.forces)(
                    b.tables.get(),
                    self.stress.as_ptr().add(i * d * d * b.points * w),
                    own.at(i * b.local * d * w),
                    scratch.as_mut_ptr(),
                );
            }
        });
    }

    /// Computes the work of the last stresses with velocities `v` into the energies of all zones `out`, multiplied by
    /// the inverse mass matrices `[batch][i][j][lane]` if there are any.
    ///
    /// # Panics
    /// A length is not that of all nodes, zones or matrices.
    pub fn work(&self, v: &[f64], inverse: Option<&[f64]>, out: &mut [f64]) {
        let b = &self.b;
        let (w, d) = (b.lanes, b.dim);
        b.check(&[v], &[out]);
        let matrices = b.count * b.energies * b.energies * w;
        assert!(inverse.is_none_or(|m| m.len() == matrices));
        let to = Shared::new(out);
        b.each(|i, scratch| {
            let source = if self.source.is_empty() {
                ptr::null()
            } else {
                self.source[i * b.points * w..].as_ptr()
            };
            let inverse = inverse.map_or(ptr::null(), |m| {
                m[i * b.energies * b.energies * w..].as_ptr()
            });
            // SAFETY: as in `stresses`; the energies of zones are disjoint.
            unsafe {
                (b.kernels.work)(
                    b.tables.get(),
                    b.index.as_ptr().add(i * b.local * w),
                    b.index_e.as_ptr().add(i * b.energies * w),
                    b.nodes as c_long,
                    v.as_ptr(),
                    self.stress.as_ptr().add(i * d * d * b.points * w),
                    source,
                    inverse,
                    to.at(0),
                    b.real(i) as c_int,
                    scratch.as_mut_ptr(),
                );
            }
        });
    }

    /// Reorders forces of batches to `[zone of the range][local][component]`.
    pub fn by_zone(&self, own: &[f64], out: &mut [f64]) {
        let b = &self.b;
        let (w, d, n) = (b.lanes, b.dim, b.local);
        let places = b.places();
        out.par_chunks_mut(n * d)
            .zip(places)
            .for_each(|(to, (batch, lane))| {
                for i in 0..n * d {
                    // [local][component] both.
                    to[i] = own[(batch * n * d + i) * w + lane];
                }
            });
    }
}
