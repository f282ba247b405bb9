//! Partial assembly: stores no matrices but those of the energies; sum factorisation with one zone per SIMD lane.

use super::Operator;
use super::batches::Batches;
use super::corner::Corner;
use super::parts::{Member, Shared};
use super::rank_sums::RankSums;
use super::solve::{Share, Solver, Times};
use crate::HydroError;
use crate::cpu::rank_sums::PART;
use crate::engine::State;
use crate::hydro::Hydro;
use crate::part::halo::Terms;
use greenup_device::{HostIsa, Isa};
use rayon::prelude::*;
use std::ffi::{c_int, c_long};
use std::ops::Range;
use std::sync::Arc;

/// The operator with partial assembly.
pub struct PartialAssembly {
    h: Arc<Hydro>,
    /// Index into [`variants`].
    variant: usize,
    corner: Corner,
    given: Option<Vec<f64>>,
    inverse: Vec<f64>,
    own: Vec<f64>,
    /// Number of batches that other ranks need, the first ones.
    boundary: usize,
    /// Offsets of each node's contributions in [batch][local][component][lane].
    shares: Vec<u32>,
    gravity: Option<Vec<f64>>,
    solver: Solver,
}

/// The velocity mass matrix, applied batch by batch.
struct Mass<'a> {
    b: &'a Batches,
    mass: &'a [f64],
    own: Shared,
    boundary: usize,
    begin: &'a [u32],
    shares: &'a [u32],
    /// Whether ranks exchange what each zone contributes, else sums.
    by_zone: bool,
}

impl Mass<'_> {
    /// Assembles a component of a range of nodes from the zone contributions.
    fn gather(&self, component: usize, nodes: Range<usize>, to: &mut [f64]) {
        for (n, to) in nodes.zip(to) {
            *to = self.sum(component, n);
        }
    }

    #[inline(always)]
    fn shares_of(&self, node: usize) -> &[u32] {
        &self.shares[self.begin[node] as usize..self.begin[node + 1] as usize]
    }

    /// Sum of the zone contributions at a node.
    #[inline(always)]
    fn sum(&self, component: usize, node: usize) -> f64 {
        let own = self.own.at(component * self.b.lanes);
        let of = self.shares_of(node).iter();
        // SAFETY: shares are within the vector, which nobody writes meanwhile.
        of.map(|s| unsafe { *own.wrapping_add(*s as usize) }).sum()
    }
}

/// Variants of the kernels: instruction set, and whether for any order; the likely fastest first.
fn variants(h: &Hydro) -> Vec<(HostIsa, bool)> {
    let e = &h.space.element;
    let own = h.space.dim > 1 && e.order <= 4 && e.energy_order + 1 == e.order;
    Isa::ALL
        .into_iter()
        .rev()
        .filter(|isa| *isa != Isa::Neon)
        .filter_map(Isa::on_host)
        .flat_map(|isa| [(isa, false), (isa, true)])
        .filter(|(_, general)| own || *general)
        .collect()
}

/// Number of batches whose scalar products are summed first, for reproducible sums.
const GROUP: usize = 16;

impl Terms for Mass<'_> {
    fn terms(&self, component: usize, nodes: &[u32], to: &mut [f64]) {
        if !self.by_zone {
            for (to, n) in to.iter_mut().zip(nodes) {
                *to = self.sum(component, *n as usize);
            }
            return;
        }
        let own = self.own.at(component * self.b.lanes);
        let of_node = |n: &u32| self.shares_of(*n as usize);
        for (to, s) in to.iter_mut().zip(nodes.iter().flat_map(of_node)) {
            // SAFETY: as in `sum`.
            *to = unsafe { *own.wrapping_add(*s as usize) };
        }
    }
}

impl Times for Mass<'_> {
    fn parts(&self) -> usize {
        self.b.count.div_ceil(GROUP)
    }

    fn begin(&self, m: &Member, share: Share, x: Shared, products: Shared) {
        let b = self.b;
        let (w, size) = (b.lanes, b.local * b.dim * b.lanes);
        let parts = self.parts();
        let boundary = self.boundary.div_ceil(GROUP);
        let share = match share {
            Share::Boundary => 0..boundary,
            Share::Interior => boundary..parts,
        };
        b.with_room(|scratch| {
            for part in m.share_of(share) {
                let mut sums = [0.0; 3];
                for i in part * GROUP..((part + 1) * GROUP).min(b.count) {
                    // SAFETY: indices and sizes are those that the batches were made with; parts of `own` are disjoint.
                    unsafe {
                        (b.kernels.mass_times)(
                            b.tables.get(),
                            b.index.as_ptr().add(i * b.local * w),
                            b.nodes as c_long,
                            x.at(0),
                            self.mass.as_ptr().add(i * b.points * w),
                            b.real(i) as c_int,
                            self.own.at(i * size),
                            sums.as_mut_ptr(),
                            scratch.as_mut_ptr(),
                        );
                    }
                }
                for (c, sum) in sums.iter().enumerate().take(b.dim) {
                    // SAFETY: each part is of one member.
                    unsafe { *products.at(c * parts + part) = *sum };
                }
            }
        });
    }

    fn end(&self, component: usize, nodes: Range<usize>, to: &mut [f64]) {
        self.gather(component, nodes, to);
    }
}

impl PartialAssembly {
    /// Prepares the kernels and the inverse energy mass matrices of a problem.
    ///
    /// # Errors
    /// The zones are not tensor products, a zone has no mass, or the arrays of the problem are inconsistent.
    pub fn new(h: Arc<Hydro>) -> Result<Self, HydroError> {
        Self::by(h, 0, None)
    }

    /// The same for a part of a problem, with the ranks that have the others.
    ///
    /// # Errors
    /// As [`PartialAssembly::new`].
    pub fn of_part(h: Arc<Hydro>, team: RankSums) -> Result<Self, HydroError> {
        Self::by(h, 0, Some(team))
    }

    fn by(h: Arc<Hydro>, variant: usize, team: Option<RankSums>) -> Result<Self, HydroError> {
        let shared = Arc::clone(&h);
        let (space, e) = (&shared.space, &shared.space.element);
        let (isa, general) = variants(&h)[variant];
        let first = team.as_ref().map_or(Vec::new(), |t| t.boundary(space));
        let corner = Corner::in_order(&h, isa, general, 0..space.zones, &first)?;
        let b = &corner.b;
        let (dim, lanes) = (b.dim, b.lanes);
        if u32::try_from(corner.forces_len()).is_err() {
            return Err(HydroError::Device(format!(
                "{} zones of order {} are too many for 32-bit indices",
                space.zones, e.order
            )));
        }
        let places = b.places();
        let shares = space
            .shares
            .iter()
            .map(|(z, i)| {
                let (batch, lane) = places[*z as usize];
                (((batch * e.local + *i as usize) * dim) * lanes + lane) as u32
            })
            .collect();
        let n = e.energies * e.energies;
        let mut inverse = vec![0.0; b.count * n * lanes];
        let to = Shared::new(&mut inverse);
        h.energy_inverses(&|z, m, by| {
            let (batch, lane) = places[z];
            let last = if lane + 1 == b.real(batch) {
                lanes
            } else {
                lane + 1
            };
            for (i, x) in m.iter().enumerate() {
                for l in lane..last {
                    // SAFETY: lanes of a zone (and those that fill up after the last) are its own.
                    unsafe { *to.at((batch * n + i) * lanes + l) = x * by };
                }
            }
        })?;
        let mut out = Self {
            h: Arc::clone(&h),
            variant,
            given: h.prescribed_mass.as_ref().map(|m| b.spread(m, b.points)),
            inverse,
            own: vec![0.0; corner.forces_len()],
            boundary: first.len().div_ceil(lanes),
            shares,
            gravity: None,
            solver: Solver::new(h.preconditioner(), space.nodes, h.cg_tol, h.cg_max),
            corner,
        };
        out.solver.join(team);
        if let Some(g) = h.gravity {
            let mut field: Vec<f64> = (0..dim).flat_map(|c| vec![g[c]; space.nodes]).collect();
            let (_, mass, solver) = out.split();
            let image = solver.product(&mass, &mut field);
            out.gravity = Some(image);
        }
        Ok(out)
    }

    /// The corner forces, the mass matrix, and the solver.
    fn split(&mut self) -> (&Corner, Mass<'_>, &mut Solver) {
        let mass = Mass {
            b: &self.corner.b,
            mass: self.given.as_deref().unwrap_or(&self.corner.mass),
            own: Shared::new(&mut self.own),
            boundary: self.boundary,
            begin: &self.h.space.begin,
            shares: &self.shares,
            by_zone: self.solver.is_exact(),
        };
        (&self.corner, mass, &mut self.solver)
    }
}

impl Operator for PartialAssembly {
    fn stresses(&mut self, s: &State) -> f64 {
        self.corner.stresses(&s.x, &s.v, &s.e)
    }

    fn accelerations(&mut self, out: &mut [f64]) {
        let gravity = self.gravity.take();
        let n = self.h.space.nodes;
        let (corner, mass, solver) = self.split();
        // Other ranks get the forces of the boundary while those of the interior are computed.
        corner.forces_of(0..mass.boundary, mass.own);
        solver.begin_assembly(&mass);
        corner.forces_of(mass.boundary..mass.b.count, mass.own);
        for (c, part) in solver.right().chunks_mut(n).enumerate() {
            part.par_chunks_mut(PART)
                .with_min_len(8)
                .enumerate()
                .for_each(|(i, to)| mass.gather(c, i * PART..i * PART + to.len(), to));
        }
        solver.finish_right();
        if let Some(g) = &gravity {
            for (r, g) in solver.right().iter_mut().zip(g) {
                *r += g;
            }
        }
        solver.solve(&mass, out);
        self.gravity = gravity;
    }

    fn energy_rates(&mut self, v: &[f64], out: &mut [f64]) {
        self.corner.work(v, Some(&self.inverse), out);
    }

    fn energies(&mut self, s: &State) -> (f64, f64) {
        let b = &self.corner.b;
        let w = b.lanes;
        b.check(&[&s.v], &[&s.e]);
        // The mass of the matrices, whose energy is conserved.
        let mass = self.given.as_deref().unwrap_or(&self.corner.mass);
        let all: Vec<[f64; 2]> = (0..b.count)
            .into_par_iter()
            .map(|i| {
                b.with_room(|scratch| {
                    let mut out = [0.0; 2];
                    // SAFETY: as in `begin`.
                    unsafe {
                        (b.kernels.sums)(
                            b.tables.get(),
                            b.index.as_ptr().add(i * b.local * w),
                            b.index_e.as_ptr().add(i * b.energies * w),
                            b.nodes as c_long,
                            s.v.as_ptr(),
                            s.e.as_ptr(),
                            mass.as_ptr().add(i * b.points * w),
                            b.real(i) as c_int,
                            out.as_mut_ptr(),
                            scratch.as_mut_ptr(),
                        );
                    }
                    out
                })
            })
            .collect();
        all.iter().fold((0.0, 0.0), |a, b| (a.0 + b[0], a.1 + b[1]))
    }

    fn iterations(&self) -> (f64, u64) {
        (self.solver.iterations, self.solver.solves)
    }

    fn candidates(&self) -> Vec<String> {
        variants(&self.h)
            .into_iter()
            .map(|(isa, general)| {
                format!(
                    "{isa}, kernels for {}",
                    if general { "any order" } else { "this order" }
                )
            })
            .collect()
    }

    fn choose(&mut self, candidate: usize) -> Result<(), HydroError> {
        if candidate == self.variant {
            return Ok(());
        }
        let (iterations, solves) = self.iterations();
        *self = Self::by(Arc::clone(&self.h), candidate, None)?;
        (self.solver.iterations, self.solver.solves) = (iterations, solves);
        Ok(())
    }
}
