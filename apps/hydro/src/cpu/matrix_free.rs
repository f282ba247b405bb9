//! The operator that stores no matrices: sums of factors for several zones at once in the lanes of vectors.

use super::Operator;
use super::kernels::{Held, Kernels, Rules};
use super::parts::{Member, Shared, together, with_scratch};
use super::solve::{PART, Solver, Times};
use crate::HydroError;
use crate::engine::State;
use crate::hydro::Hydro;
use greenup_device::Isa;
use rayon::prelude::*;
use std::ffi::{c_int, c_long};
use std::ops::Range;
use std::ptr;

/// Batches of zones, one zone in each lane; the last is filled up with its last zone.
struct Batches {
    tables: Held,
    kernels: Kernels,
    rules: Rules,
    lanes: usize,
    zones: usize,
    count: usize,
    dim: usize,
    nodes: usize,
    local: usize,
    energies: usize,
    points: usize,
    scratch: usize,
    /// [batch][local][lane] and [batch][energy][lane].
    index: Vec<u32>,
    index_e: Vec<u32>,
    /// Where the shares of each node are in [batch][local][component][lane].
    begin: Vec<u32>,
    shares: Vec<u32>,
}

/// The operator.
pub struct MatrixFree {
    b: Batches,
    affine: bool,
    gamma: Vec<f64>,
    stiff: Vec<f64>,
    weights: Vec<f64>,
    mass: Vec<f64>,
    given: Option<Vec<f64>>,
    start: Vec<f64>,
    inverse: Vec<f64>,
    stress: Vec<f64>,
    source: Vec<f64>,
    own: Vec<f64>,
    gravity: Option<Vec<f64>>,
    solver: Solver,
}

/// The mass matrix of a batch of zones, summed over zones.
struct Mass<'a> {
    b: &'a Batches,
    mass: &'a [f64],
    own: Shared,
}

impl Batches {
    fn real(&self, b: usize) -> usize {
        (self.zones - b * self.lanes).min(self.lanes)
    }

    /// From [zone][n] to [batch][n][lane].
    fn spread<T: Copy + Default + Send + Sync>(&self, of_zones: &[T], n: usize) -> Vec<T> {
        let mut out = vec![T::default(); self.count * n * self.lanes];
        out.par_chunks_mut(n * self.lanes)
            .enumerate()
            .for_each(|(b, to)| {
                for l in 0..self.lanes {
                    let z = (b * self.lanes + l).min(self.zones - 1);
                    for i in 0..n {
                        to[i * self.lanes + l] = of_zones[z * n + i];
                    }
                }
            });
        out
    }

    /// Sums what zones have for a component of some nodes.
    fn gather(&self, own: Shared, component: usize, nodes: Range<usize>, to: &mut [f64]) {
        let own = own.at(component * self.lanes);
        for (n, to) in nodes.zip(to) {
            *to = self.shares[self.begin[n] as usize..self.begin[n + 1] as usize]
                .iter()
                // SAFETY: shares are within the vector, which nobody writes meanwhile.
                .map(|s| unsafe { *own.wrapping_add(*s as usize) })
                .sum();
        }
    }

    fn each(&self, f: impl Fn(usize, &mut [f64]) + Sync) {
        (0..self.count)
            .into_par_iter()
            .with_min_len(8)
            .for_each(|b| with_scratch(self.scratch, |s| f(b, s)));
    }
}

/// Batches whose products are summed before those of others.
const GROUP: usize = 16;

impl Times for Mass<'_> {
    fn parts(&self) -> usize {
        self.b.count.div_ceil(GROUP)
    }

    fn begin(&self, m: &Member, x: Shared, products: Shared) {
        let b = self.b;
        let (w, size) = (b.lanes, b.local * b.dim * b.lanes);
        let parts = self.parts();
        with_scratch(b.scratch, |scratch| {
            for part in m.share(parts) {
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
        self.b.gather(self.own, component, nodes, to);
    }
}

impl MatrixFree {
    /// # Errors
    /// Zones that are no products of segments, or without mass.
    pub fn new(h: &Hydro, isa: Isa) -> Result<Self, HydroError> {
        let (space, e) = (&h.space, &h.space.element);
        let Some(factors) = &e.factors else {
            return Err(HydroError(format!(
                "the matrix-free operator needs quadrilaterals or hexahedra: take --operator full for a {:?}",
                e.shape
            )));
        };
        let (dim, zones) = (space.dim, space.zones);
        let tables = Held::new(factors);
        let kernels = Kernels::of(isa, dim, e.order, e.energy_order);
        let lanes = isa.vector_bytes() / 8;
        let count = zones.div_ceil(lanes);
        // SAFETY: the tables are alive.
        let scratch = unsafe { (kernels.scratch)(tables.get()) } as usize;
        let mut b = Batches {
            tables,
            kernels,
            rules: h.rules(),
            lanes,
            zones,
            count,
            dim,
            nodes: space.nodes,
            local: e.local,
            energies: e.energies,
            points: e.points(),
            scratch,
            index: Vec::new(),
            index_e: Vec::new(),
            begin: space.begin.clone(),
            shares: Vec::new(),
        };
        b.index = b.spread(&space.of_zone, e.local);
        let all: Vec<u32> = (0..(zones * e.energies) as u32).collect();
        b.index_e = b.spread(&all, e.energies);
        b.shares = space
            .shares
            .iter()
            .map(|(z, i)| {
                let (batch, lane) = (*z as usize / lanes, *z as usize % lanes);
                (((batch * e.local + *i as usize) * dim) * lanes + lane) as u32
            })
            .collect();
        let points = e.points();
        let inverse = {
            let n = e.energies * e.energies;
            let mut out = vec![0.0; count * n * lanes];
            let to = Shared::new(&mut out);
            h.energy_inverses(&|z, m, by| {
                let (batch, lane) = (z / lanes, z % lanes);
                let last = if z + 1 == zones { lanes } else { lane + 1 };
                for (i, x) in m.iter().enumerate() {
                    for l in lane..last {
                        // SAFETY: lanes of a zone (and those that fill up after the last) are its own.
                        unsafe { *to.at((batch * n + i) * lanes + l) = x * by };
                    }
                }
            })?;
            out
        };
        let dd = dim * dim;
        let gas = |f: fn(&crate::problem::Gas) -> f64| -> Vec<f64> {
            b.spread(&h.gas.iter().map(f).collect::<Vec<_>>(), 1)
        };
        let (gamma, stiff) = (gas(|g| g.gamma), gas(|g| g.stiffness));
        let mut out = Self {
            affine: h.affine,
            gamma,
            stiff,
            weights: e.weights.clone(),
            mass: b.spread(&h.mass, points),
            given: h.given.as_ref().map(|m| b.spread(m, points)),
            start: b.spread(&h.inverse, if h.affine { dd } else { points * dd }),
            inverse,
            stress: vec![0.0; count * dd * points * lanes],
            source: if b.rules.source == 0 {
                Vec::new()
            } else {
                vec![0.0; count * points * lanes]
            },
            own: vec![0.0; count * e.local * dim * lanes],
            gravity: None,
            solver: Solver::new(h.preconditioner(), space.nodes, h.cg_tol, h.cg_max),
            b,
        };
        if let Some(g) = h.gravity {
            let mut field: Vec<f64> = (0..dim).flat_map(|c| vec![g[c]; space.nodes]).collect();
            let mut image = vec![0.0; field.len()];
            let mass = Mass {
                b: &out.b,
                mass: out.given.as_deref().unwrap_or(&out.mass),
                own: Shared::new(&mut out.own),
            };
            let mut products = vec![0.0; dim * mass.parts()];
            let (x, products) = (Shared::new(&mut field), Shared::new(&mut products));
            together(true, |m| mass.begin(m, x, products));
            for (c, to) in image.chunks_mut(space.nodes).enumerate() {
                mass.end(c, 0..space.nodes, to);
            }
            out.gravity = Some(image);
        }
        Ok(out)
    }
}

impl Operator for MatrixFree {
    fn stresses(&mut self, s: &State) -> f64 {
        let b = &self.b;
        let (w, dd) = (b.lanes, b.dim * b.dim);
        let size = dd * b.points * w;
        let start = if self.affine { dd * w } else { size };
        let (stress, source) = (Shared::new(&mut self.stress), Shared::new(&mut self.source));
        let has_source = b.rules.source != 0;
        let largest: Vec<f64> = (0..b.count)
            .into_par_iter()
            .map(|i| {
                with_scratch(b.scratch, |scratch| {
                    let to = if has_source {
                        source.at(i * b.points * w)
                    } else {
                        ptr::null_mut()
                    };
                    // SAFETY: as in `times`; stresses and sources of batches are disjoint.
                    unsafe {
                        (b.kernels.stresses)(
                            b.tables.get(),
                            &raw const b.rules,
                            b.index.as_ptr().add(i * b.local * w),
                            b.index_e.as_ptr().add(i * b.energies * w),
                            b.nodes as c_long,
                            s.x.as_ptr(),
                            s.v.as_ptr(),
                            s.e.as_ptr(),
                            self.gamma.as_ptr().add(i * w),
                            self.stiff.as_ptr().add(i * w),
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

    fn accelerations(&mut self, out: &mut [f64]) {
        let b = &self.b;
        let (w, d) = (b.lanes, b.dim);
        let own = Shared::new(&mut self.own);
        b.each(|i, scratch| {
            // SAFETY: as in `times`.
            unsafe {
                (b.kernels.forces)(
                    b.tables.get(),
                    self.stress.as_ptr().add(i * d * d * b.points * w),
                    own.at(i * b.local * d * w),
                    scratch.as_mut_ptr(),
                );
            }
        });
        let n = b.nodes;
        for (c, part) in self.solver.right().chunks_mut(n).enumerate() {
            part.par_chunks_mut(PART)
                .with_min_len(8)
                .enumerate()
                .for_each(|(i, to)| b.gather(own, c, i * PART..i * PART + to.len(), to));
        }
        if let Some(g) = &self.gravity {
            for (r, g) in self.solver.right().iter_mut().zip(g) {
                *r += g;
            }
        }
        let mass = Mass {
            b,
            mass: self.given.as_deref().unwrap_or(&self.mass),
            own,
        };
        self.solver.solve(&mass, out);
    }

    fn energy_rates(&mut self, v: &[f64], out: &mut [f64]) {
        let b = &self.b;
        let (w, d) = (b.lanes, b.dim);
        let to = Shared::new(out);
        b.each(|i, scratch| {
            let source = if self.source.is_empty() {
                ptr::null()
            } else {
                self.source[i * b.points * w..].as_ptr()
            };
            // SAFETY: as in `times`; the energies of zones are disjoint.
            unsafe {
                (b.kernels.work)(
                    b.tables.get(),
                    b.index.as_ptr().add(i * b.local * w),
                    b.index_e.as_ptr().add(i * b.energies * w),
                    b.nodes as c_long,
                    v.as_ptr(),
                    self.stress.as_ptr().add(i * d * d * b.points * w),
                    source,
                    self.inverse.as_ptr().add(i * b.energies * b.energies * w),
                    to.at(0),
                    b.real(i) as c_int,
                    scratch.as_mut_ptr(),
                );
            }
        });
    }

    fn energies(&mut self, s: &State) -> (f64, f64) {
        let b = &self.b;
        let w = b.lanes;
        // The mass of the matrices, whose energy is conserved.
        let mass = self.given.as_deref().unwrap_or(&self.mass);
        let all: Vec<[f64; 2]> = (0..b.count)
            .into_par_iter()
            .map(|i| {
                with_scratch(b.scratch, |scratch| {
                    let mut out = [0.0; 2];
                    // SAFETY: as in `times`.
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
}
