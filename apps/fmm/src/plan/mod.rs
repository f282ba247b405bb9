//! Everything that depends on the positions alone: tree, lists, operators.
//!
//! | module | contents |
//! |---|---|
//! | `accuracy` | the surface order for an accuracy |
//! | `cube` | the root cube, and points in its units |
//! | `close` | pairs of points that are close for the extent of all |
//! | `share` | the targets of one of several ranks or GPUs |
//! | `upward` | where equivalent charges come from, if points are distributed over ranks |
//! | `rank` | the plan of a rank whose points are distributed |
//! | `permutation` | values in the order of the boxes, and units |

mod accuracy;
mod checks;
mod close;
mod cube;
mod permutation;
mod rank;
mod share;
mod upward;

pub(crate) use accuracy::attainable;
pub(crate) use checks::{checked, scaled_parameter};
pub(crate) use close::{Close, ClosePairs, Sorted, charge_of};
pub(crate) use cube::{Root, extents, sorted};
pub(crate) use permutation::{largest, unit_for};
pub(crate) use rank::Parts;
pub(crate) use share::leaf_work;
pub use share::{Part, merge};
pub(crate) use upward::{Essential, Upward};

use crate::error::FmmError;
use crate::memory;
use crate::operators::compressed::Compressed;
use crate::operators::fourier::Fourier;
use crate::operators::{Level, surface};
use crate::options::{M2l, Options};
use crate::points::Points;
use crate::precision::Real;
use crate::tree::{Lists, Order, Tree, key};
use greenup_device::HostIsa;
use rayon::prelude::*;
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of points: indices of points and boxes have 32 bits.
pub const MAX_POINTS: usize = u32::MAX as usize / 8;

/// Seconds of the steps of the set-up.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SetupTimes {
    /// Sorting points by Morton keys.
    pub sort_s: f64,
    /// Octree.
    pub tree_s: f64,
    /// U, V, W and X lists.
    pub lists_s: f64,
    /// Matrices between surfaces.
    pub operators_s: f64,
}

impl SetupTimes {
    /// Sum of the steps, s.
    pub fn total_s(&self) -> f64 {
        self.sort_s + self.tree_s + self.lists_s + self.operators_s
    }
}

/// M2L operators of a level.
pub(crate) enum M2lOperator<R: Real> {
    Fft(Fourier<R>),
    Compressed(Compressed<R>),
}

/// Tree, lists and operators for a set of sources and targets. Immutable: unchecked writes of the evaluation rely on what
/// [`Plan::new`] made.
pub struct Plan<R: Real> {
    pub(crate) options: Options,
    /// Surface order p.
    pub(crate) p: usize,
    /// Points of a surface.
    pub(crate) surface: usize,
    /// Half width of the root cube, in the units of the points.
    pub(crate) unit: f64,
    pub(crate) tree: Tree,
    pub(crate) lists: Arc<Lists>,
    /// Pairs that are close for the extent of all.
    pub(crate) close: Arc<Close>,
    /// Positions of the sources in units of `unit`, sorted by boxes; and the index of each in the input.
    pub(crate) sources: Arc<[Vec<R>; 3]>,
    pub(crate) source_from: Arc<Vec<u32>>,
    pub(crate) targets: Arc<[Vec<R>; 3]>,
    pub(crate) target_from: Arc<Vec<u32>>,
    /// The targets that it evaluates, in the sorted order.
    pub(crate) share: Range<u32>,
    /// Numbers of these targets in the input, ascending, which is the order of results; all if there are none here.
    own_targets: Option<Arc<Vec<u32>>>,
    /// Place of each target of the share among the results.
    pub(crate) places: Arc<Vec<u32>>,
    /// Where equivalent charges come from, if points are distributed over ranks.
    essential: Option<Arc<Essential>>,
    /// By level from 2 on; a kernel that scales has one, of boxes of half width 1.
    pub(crate) levels: Arc<Vec<Level<R>>>,
    pub(crate) m2l: Arc<Vec<M2lOperator<R>>>,
    /// Points of the surface of half width 1, by coordinate.
    pub(crate) unit_surface: [Vec<R>; 3],
    pub(crate) isa: HostIsa,
    setup_times: SetupTimes,
}

/// Into how many parts factorisations cut large matrices.
const CUTS: usize = 8;

impl<R: Real> Plan<R> {
    /// Plans the evaluation at `targets`, or at the sources themselves.
    ///
    /// # Errors
    /// Positions that are not finite; invalid parameters; an accuracy or a wave number out of reach; not enough memory.
    pub fn new(
        sources: &Points,
        targets: Option<&Points>,
        options: &Options,
    ) -> Result<Self, FmmError> {
        let p = checked::<R>(options)?;
        if sources.len().max(targets.map_or(0, Points::len)) > MAX_POINTS {
            return Err(FmmError::TooManyPoints(MAX_POINTS));
        }
        sources.check("source")?;
        if let Some(t) = targets {
            t.check("target")?;
        }
        let mut setup_times = SetupTimes::default();
        let mut root = Root::around(&[extents(sources), extents(targets.unwrap_or(sources))]);
        let parameter = scaled_parameter(options.kernel, p, root.unit)?;
        let boxes = |root: &Root, times: &mut SetupTimes| {
            let begun = Instant::now();
            let (source_order, x) = sorted::<R>(sources, root);
            let (target_order, y) = match targets {
                Some(t) => sorted::<R>(t, root),
                None => (source_order.clone(), x.clone()),
            };
            times.sort_s += begun.elapsed().as_secs_f64();
            let t = Instant::now();
            let tree = Tree::new(&source_order, &target_order, options.ncrit);
            times.tree_s += t.elapsed().as_secs_f64();
            let t = Instant::now();
            let lists = Lists::new(&tree, surface::count(p));
            times.lists_s += t.elapsed().as_secs_f64();
            (tree, lists, (source_order, x), (target_order, y))
        };
        let (tree, lists, close, (source_order, x), (target_order, y)) = loop {
            let (tree, lists, s, t) = boxes(&root, &mut setup_times);
            let begun = Instant::now();
            let found = Close::find(
                (&tree, &lists, root),
                &Sorted {
                    rounded: &t.1,
                    exact: &targets.unwrap_or(sources).x,
                    from: Some(&t.0.from),
                },
                &Sorted {
                    rounded: &s.1,
                    exact: &sources.x,
                    from: Some(&s.0.from),
                },
                attainable::<R>(options),
            )?;
            setup_times.lists_s += begun.elapsed().as_secs_f64();
            match found {
                ClosePairs::Pairs(close) => break (tree, lists, close, s, t),
                ClosePairs::Tight => root.on_grid = true,
            }
        };
        let (unit, surface) = (root.unit, surface::count(p));
        let t = Instant::now();
        let isa = HostIsa::best();
        let (levels, m2l) =
            operators(options, p, parameter, &tree, R::kernels(isa).panel as usize)?;
        setup_times.operators_s = t.elapsed().as_secs_f64();
        let target_from = Arc::new(target_order.from);
        let unit_surface = surface::points(p).map(|x| x.into_iter().map(R::of).collect());
        Ok(Self {
            options: *options,
            p,
            surface,
            unit,
            tree,
            lists: Arc::new(lists),
            close: Arc::new(close),
            sources: Arc::new(x),
            source_from: Arc::new(source_order.from),
            share: 0..target_from.len() as u32,
            own_targets: None,
            places: Arc::clone(&target_from),
            essential: None,
            targets: Arc::new(y),
            target_from,
            levels: Arc::new(levels),
            m2l: Arc::new(m2l),
            unit_surface,
            isa,
            setup_times,
        })
    }

    /// The plan of the same points with at most `ncrit` of them per leaf; what does not depend on the tree is shared. For a
    /// plan of all points.
    ///
    /// # Errors
    /// `ncrit` is 0; not enough memory.
    pub fn with_ncrit(&self, ncrit: usize) -> Result<Self, FmmError> {
        let options = Options {
            ncrit,
            ..self.options
        };
        let p = checked::<R>(&options)?;
        let mut setup_times = SetupTimes::default();
        let begun = Instant::now();
        let sorted = |x: &[Vec<R>; 3]| Order {
            keys: (0..x[0].len())
                .into_par_iter()
                .map(|i| key([0, 1, 2].map(|a: usize| x[a][i].wide())))
                .collect(),
            from: Vec::new(),
        };
        let sources = sorted(&self.sources);
        let targets = sorted(&self.targets);
        setup_times.sort_s = begun.elapsed().as_secs_f64();
        let t = Instant::now();
        let tree = Tree::new(&sources, &targets, ncrit);
        setup_times.tree_s = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let lists = Lists::new(&tree, self.surface);
        setup_times.lists_s = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let shared = options.kernel.scales() && self.levels.is_empty() == (tree.levels.len() <= 2);
        let (levels, m2l) = if shared {
            (Arc::clone(&self.levels), Arc::clone(&self.m2l))
        } else {
            let parameter = options.kernel.parameter(self.unit);
            let panel = R::kernels(self.isa).panel as usize;
            let (levels, m2l) = operators(&options, p, parameter, &tree, panel)?;
            (Arc::new(levels), Arc::new(m2l))
        };
        setup_times.operators_s = t.elapsed().as_secs_f64();
        Ok(Self {
            options,
            tree,
            lists: Arc::new(lists),
            own_targets: self.own_targets.clone(),
            places: Arc::clone(&self.places),
            essential: self.essential.clone(),
            close: Arc::clone(&self.close),
            sources: Arc::clone(&self.sources),
            source_from: Arc::clone(&self.source_from),
            targets: Arc::clone(&self.targets),
            target_from: Arc::clone(&self.target_from),
            share: self.share.clone(),
            unit_surface: self.unit_surface.clone(),
            levels,
            m2l,
            setup_times,
            ..*self
        })
    }

    /// The options it was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Surface order p: points along an edge of a surface.
    pub fn order(&self) -> usize {
        self.p
    }

    /// Points of a surface.
    pub fn surface(&self) -> usize {
        self.surface
    }

    /// The octree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// U, W and X lists.
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// Number of targets that it evaluates.
    pub fn targets(&self) -> usize {
        self.share.len()
    }

    /// Whether points are distributed over ranks.
    pub(crate) fn is_distributed(&self) -> bool {
        self.essential.is_some()
    }

    /// Boxes whose equivalent charges other ranks need.
    pub(crate) fn sent(&self) -> &[u32] {
        self.essential.as_ref().map_or(&[], |e| &e.sent)
    }

    /// Boxes whose equivalent charges come from other ranks.
    pub(crate) fn received(&self) -> &[u32] {
        self.essential.as_ref().map_or(&[], |e| &e.received)
    }

    /// Where the equivalent charges of a box come from.
    pub(crate) fn upward(&self, b: usize) -> Upward {
        self.essential.as_ref().map_or(Upward::Own, |e| e.upward[b])
    }

    /// The instruction set that evaluations on CPUs use.
    pub fn isa(&self) -> HostIsa {
        self.isa
    }

    /// Seconds of the steps of its set-up.
    pub fn setup_times(&self) -> SetupTimes {
        self.setup_times
    }

    /// Values on a surface: points times components.
    pub fn surface_values(&self) -> usize {
        self.surface * self.options.kernel.inputs()
    }

    /// Operators of a level, and the scale of potentials at this level.
    pub(crate) fn level(&self, level: usize) -> (&Level<R>, f64) {
        if self.options.kernel.scales() {
            (&self.levels[0], 0.5f64.powi(level as i32))
        } else {
            (&self.levels[level - 2], 1.0)
        }
    }

    /// Sources of a box.
    pub(crate) fn range(&self, b: u32) -> [u32; 2] {
        let s = &self.tree.nodes[b as usize].sources;
        [s.start, s.end]
    }

    pub(crate) fn m2l(&self, level: usize) -> &M2lOperator<R> {
        if self.options.kernel.scales() {
            &self.m2l[0]
        } else {
            &self.m2l[level - 2]
        }
    }
}

type Operators<R> = (Vec<Level<R>>, Vec<M2lOperator<R>>);

fn operators<R: Real>(
    o: &Options,
    p: usize,
    parameter: f64,
    tree: &Tree,
    panel: usize,
) -> Result<Operators<R>, FmmError> {
    let depth = tree.levels.len();
    // Without boxes of level 2 there are only U lists.
    let halves: Vec<f64> = match (depth, o.kernel.scales()) {
        (0..=2, _) => Vec::new(),
        (_, true) => vec![1.0],
        _ => (2..depth).map(|l| 0.5f64.powi(l as i32)).collect(),
    };
    memory::check_operators::<R>(o.kernel, o.m2l, p, halves.len())?;
    // By default faer cuts large matrices by the number of threads, and digits would depend on it.
    faer::set_global_parallelism(faer::Par::rayon(CUTS));
    let levels = halves
        .iter()
        .map(|&h| Level::new(o.kernel, parameter, p, h, panel))
        .collect::<Result<_, _>>()?;
    let m2l = halves
        .iter()
        .map(|&h| match o.m2l {
            M2l::Fft => Ok(M2lOperator::Fft(Fourier::new(o.kernel, parameter, p, h))),
            M2l::Compressed => Compressed::new(o.kernel, parameter, p, h, o.tolerance, panel)
                .map(M2lOperator::Compressed),
        })
        .collect::<Result<_, _>>()?;
    Ok((levels, m2l))
}
