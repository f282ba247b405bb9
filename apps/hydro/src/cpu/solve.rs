//! Conjugate gradients with Jacobi preconditioner for all components at once, each with its own convergence. A solve is
//! one parallel region: waking threads for each of its small parts would cost more than the parts.

use super::parts::{Member, Shared, together};
use super::rank_sums::{PART, RankSums};
use super::thread_choice::ThreadChoice;
use crate::part::halo::Terms;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

/// Number of unknowns below which one thread is faster than several.
const FEW: usize = 4000;

/// A CG solver with its vectors, [component][node].
pub struct Solver {
    nodes: usize,
    /// Inverse diagonal, 0 for constrained dofs.
    preconditioner: Vec<f64>,
    /// The same, but 0 for nodes that other ranks count; empty without other ranks.
    counted: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// Partial scalar products: [component][part of the nodes], and [component][part of the matrix].
    products: [Vec<f64>; 2],
    tolerance: f64,
    most: usize,
    pace: ThreadChoice,
    /// The other ranks, if there are any, or sums without rounding.
    team: Option<RankSums>,
    /// The product of the matrix, kept for sums without rounding.
    image: Vec<f64>,
    /// CG iterations so far, averaged over the components.
    pub iterations: f64,
    /// Number of solves so far.
    pub solves: u64,
}

/// Which share of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// What other ranks need: all that contributes to shared nodes.
    Boundary,
    /// The rest, after all threads have finished the boundary.
    Interior,
}

/// A symmetric matrix that multiplies all components.
pub trait Times: Terms + Sync {
    /// Number of parts for which `begin` computes scalar products.
    fn parts(&self) -> usize;

    /// First phase, on this thread's parts of a share: after both shares, the scalar products xᵀ M x of each component c are in
    /// `products[c · parts + part]`.
    fn begin(&self, m: &Member, share: Share, x: Shared, products: Shared);

    /// Second phase, after all threads have finished the first: M x of a component for a range of nodes, into `to`.
    fn end(&self, component: usize, nodes: Range<usize>, to: &mut [f64]);
}

/// A term of a sum over the nodes that this rank counts, where the inverse diagonal is not 0; constrained dofs have no terms.
fn if_counted(d: f64, term: f64) -> f64 {
    if d == 0.0 { 0.0 } else { term }
}

impl Solver {
    /// A solver with an inverse diagonal, a relative tolerance and a maximum of iterations.
    pub fn new(preconditioner: Vec<f64>, nodes: usize, tolerance: f64, most: usize) -> Self {
        let zero = vec![0.0; preconditioner.len()];
        let products = vec![0.0; zero.len() / nodes * nodes.div_ceil(PART)];
        Self {
            nodes,
            residual: zero.clone(),
            direction: zero,
            products: [products, Vec::new()],
            preconditioner,
            counted: Vec::new(),
            tolerance,
            most,
            pace: ThreadChoice::default(),
            team: None,
            image: Vec::new(),
            iterations: 0.0,
            solves: 0,
        }
    }

    /// Solves with other ranks from now on.
    pub fn join(&mut self, team: Option<RankSums>) {
        let slots = self.products[0].len();
        self.team = team.map(|t| t.with_slots(slots));
        if let Some(team) = &self.team {
            let owned = team.owned().iter().cycle();
            let all = self.preconditioner.iter().zip(owned);
            self.counted = all.map(|(d, own)| if *own { *d } else { 0.0 }).collect();
        }
        if self.is_exact() {
            self.image = vec![0.0; self.residual.len()];
        }
    }

    /// Whether sums are not rounded.
    pub fn is_exact(&self) -> bool {
        self.team.as_ref().is_some_and(RankSums::is_exact)
    }

    /// A matrix times a field `[component][node]`, also of the zones of other ranks.
    pub fn product(&self, matrix: &dyn Times, field: &mut [f64]) -> Vec<f64> {
        let components = field.len() / self.nodes;
        let mut products = vec![0.0; components * matrix.parts()];
        let (x, products) = (Shared::new(field), Shared::new(&mut products));
        together(true, |m| {
            for share in [Share::Boundary, Share::Interior] {
                matrix.begin(m, share, x, products);
            }
        });
        let mut image = vec![0.0; field.len()];
        for (c, to) in image.chunks_mut(self.nodes).enumerate() {
            matrix.end(c, 0..self.nodes, to);
        }
        self.begin_assembly(matrix);
        self.finish_assembly(&mut image);
        image
    }

    /// Begins to send and receive contributions to shared nodes.
    pub fn begin_assembly(&self, of: &dyn Terms) {
        if let Some(team) = &self.team {
            team.begin(of);
        }
    }

    /// Adds what was received since [`Solver::begin_assembly`] to a field `[component][node]`, which holds the
    /// sums of the zones here.
    pub fn finish_assembly(&self, field: &mut [f64]) {
        if let Some(team) = &self.team {
            team.finish();
            for (c, part) in field.chunks_mut(self.nodes).enumerate() {
                team.patch(c, 0..self.nodes, part);
            }
        }
    }

    /// The same for the right-hand side.
    pub fn finish_right(&mut self) {
        let mut right = std::mem::take(&mut self.residual);
        self.finish_assembly(&mut right);
        self.residual = right;
    }

    /// The right-hand side, to be set before a solve.
    pub fn right(&mut self) -> &mut [f64] {
        &mut self.residual
    }

    /// Solves for all components; constrained dofs stay 0. A component has converged when (r, D⁻¹ r) has dropped by the
    /// square of the tolerance.
    ///
    /// # Panics
    /// `out` and the right-hand side differ in length.
    pub fn solve(&mut self, matrix: &dyn Times, out: &mut [f64]) {
        let n = self.nodes;
        assert_eq!(out.len(), self.residual.len());
        let components = out.len() / n;
        let parts = n.div_ceil(PART);
        // The sums are the same: of the same parts, in their order.
        let few = out.len() < FEW || rayon::current_num_threads() == 1;
        let alone = few || self.pace.alone();
        let start = Instant::now();
        let x = Shared::new(out);
        let (r, p) = (
            Shared::new(&mut self.residual),
            Shared::new(&mut self.direction),
        );
        let [second, first] = &mut self.products;
        let groups = matrix.parts();
        first.resize(components * groups, 0.0);
        let (first, second) = (Shared::new(first), Shared::new(second));
        let (d, most, tolerance) = (&self.preconditioner, self.most, self.tolerance);
        let iterations = Mutex::new(0.0);
        let counted = match &self.team {
            None => d,
            Some(_) => &self.counted,
        };
        let team = self.team.as_ref();
        let exact = team.filter(|t| t.is_exact());
        let kept = Shared::new(&mut self.image);
        together(alone, |m| {
            let own = m.share(parts);
            let range =
                |c: usize, part: usize| c * n + part * PART..c * n + ((part + 1) * PART).min(n);
            // SAFETY (of all below): between two waits, only its owner writes a part, and others read it only after the
            // next wait; ranges are within the vectors.
            let total = |s: Shared, c: usize, parts: usize| -> f64 {
                // SAFETY: see above.
                unsafe { s.read(c * parts..(c + 1) * parts) }.iter().sum()
            };
            // Sums of all ranks in place of those of this one, by one member.
            let reduce = |sums: Shared, parts: usize| {
                if let Some(team) = team {
                    if m.is_first() {
                        // SAFETY: the others wait.
                        team.reduce(unsafe { sums.part(0..components * parts) }, components);
                    }
                    m.wait();
                }
            };
            let mut image = [0.0; PART];
            for c in 0..components {
                for part in own.clone() {
                    let range = range(c, part);
                    // SAFETY: see above.
                    let (p, r) = unsafe { (p.part(range.clone()), r.read(range.clone())) };
                    // SAFETY: see above.
                    unsafe { x.part(range.clone()) }.fill(0.0);
                    for ((p, r), d) in p.iter_mut().zip(r).zip(&d[range.clone()]) {
                        *p = r * d;
                    }
                    let terms = r.iter().zip(&counted[range]);
                    let sum = match exact {
                        None => terms.map(|(r, d)| r * d * r).sum(),
                        Some(sums) => {
                            let terms = terms.map(|(r, d)| if_counted(*d, r * d * r));
                            sums.keep(c * parts + part, terms);
                            0.0
                        }
                    };
                    // SAFETY: see above.
                    unsafe { *second.at(c * parts + part) = sum };
                }
            }
            m.wait();
            reduce(second, parts);
            let mut now: Vec<f64> = (0..components).map(|c| total(second, c, parts)).collect();
            let end: Vec<f64> = now.iter().map(|n| tolerance * tolerance * n).collect();
            let mut done = 0;
            for _ in 0..most {
                let active: Vec<usize> = (0..components)
                    .filter(|c| now[*c] > end[*c] && now[*c] > 0.0)
                    .collect();
                if active.is_empty() {
                    break;
                }
                done += active.len();
                if let Some(team) = team {
                    matrix.begin(m, Share::Boundary, p, first);
                    m.wait();
                    if m.is_first() {
                        team.begin(matrix);
                    }
                }
                matrix.begin(m, Share::Interior, p, first);
                m.wait();
                if let Some(team) = team {
                    if m.is_first() {
                        team.finish();
                    }
                    m.wait();
                    if let Some(sums) = exact {
                        for c in &active {
                            for part in own.clone() {
                                let range = range(*c, part);
                                let nodes = range.start - c * n..range.end - c * n;
                                // SAFETY: see above.
                                let (p, image) =
                                    unsafe { (p.read(range.clone()), kept.part(range.clone())) };
                                matrix.end(*c, nodes.clone(), image);
                                team.patch(*c, nodes, image);
                                let terms = p.iter().zip(&*image).zip(&counted[range]);
                                let terms = terms.map(|((p, a), d)| if_counted(*d, p * a));
                                sums.keep(c * parts + part, terms);
                            }
                        }
                        m.wait();
                    }
                    reduce(first, groups);
                }
                for c in &active {
                    let alpha = now[*c] / total(first, *c, groups);
                    for part in own.clone() {
                        let range = range(*c, part);
                        let image = if exact.is_some() {
                            // SAFETY: see above.
                            unsafe { kept.read(range.clone()) }
                        } else {
                            let image = &mut image[..range.len()];
                            let nodes = range.start - c * n..range.end - c * n;
                            matrix.end(*c, nodes.clone(), image);
                            if let Some(team) = team {
                                team.patch(*c, nodes, image);
                            }
                            image
                        };
                        // SAFETY: see above.
                        let (x, r) = unsafe { (x.part(range.clone()), r.part(range.clone())) };
                        // SAFETY: see above.
                        let p = unsafe { p.read(range.clone()) };
                        for i in 0..x.len() {
                            x[i] += alpha * p[i];
                            r[i] -= alpha * image[i];
                        }
                        let terms = r.iter().zip(&counted[range]);
                        let sum: f64 = match exact {
                            None => terms.map(|(r, d)| r * r * d).sum(),
                            Some(sums) => {
                                let terms = terms.map(|(r, d)| if_counted(*d, r * r * d));
                                sums.keep(c * parts + part, terms);
                                0.0
                            }
                        };
                        // SAFETY: see above.
                        unsafe { *second.at(c * parts + part) = sum };
                    }
                }
                m.wait();
                reduce(second, parts);
                for c in &active {
                    let next = total(second, *c, parts);
                    let beta = next / now[*c];
                    now[*c] = next;
                    for part in own.clone() {
                        let range = range(*c, part);
                        // SAFETY: see above.
                        let (p, r) = unsafe { (p.part(range.clone()), r.read(range.clone())) };
                        for ((p, r), d) in p.iter_mut().zip(r).zip(&d[range]) {
                            *p = r * d + beta * *p;
                        }
                    }
                }
                m.wait();
            }
            if let Ok(mut i) = iterations.lock() {
                // The same of all members.
                *i = done as f64;
            }
        });
        let iterations = iterations.into_inner().unwrap_or(0.0);
        if !few {
            self.pace.took(alone, start.elapsed(), iterations);
        }
        self.iterations += iterations / components as f64;
        self.solves += 1;
    }
}
