//! All that depends on the places alone: tree, lists, operators.

use crate::FmmError;
use crate::accuracy;
use crate::kernel::Kernel;
use crate::memory;
use crate::operators::FINEST;
use crate::operators::compressed::Compressed;
use crate::operators::fourier::Fourier;
use crate::operators::{Level, surface};
use crate::points::Points;
use crate::real::Real;
use crate::tree::{Lists, Order, Tree};
use greenup_device::HostIsa;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How V lists are worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum M2l {
    /// By transforms of the surfaces' grids.
    Fft,
    /// By matrices of low rank.
    Compressed,
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub kernel: Kernel,
    /// Relative L2 error.
    pub tolerance: f64,
    pub gradient: bool,
    /// Most points of a box.
    pub most: usize,
    pub m2l: M2l,
    /// Points on an edge of a surface, where not by the tolerance.
    pub edge: Option<usize>,
}

/// Places of points and boxes are kept in 32 bits.
pub const MOST_POINTS: usize = u32::MAX as usize / 8;

/// Seconds of the parts of a plan.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Planned {
    pub sort_s: f64,
    pub tree_s: f64,
    pub lists_s: f64,
    pub operators_s: f64,
}

impl Planned {
    pub fn total_s(&self) -> f64 {
        self.sort_s + self.tree_s + self.lists_s + self.operators_s
    }
}

/// Operators of V lists.
pub(crate) enum Far<R: Real> {
    Fft(Fourier<R>),
    Compressed(Compressed<R>),
}

/// Places in the order of the boxes, and the unit that they are counted in. Unchecked writes of the passes rest on what
/// [`Plan::new`] makes, so nobody else can change it.
pub struct Plan<R: Real> {
    pub(crate) options: Options,
    /// Points on an edge, and on a surface.
    pub(crate) p: usize,
    pub(crate) surface: usize,
    /// Half width of the root cube, in the units of the points.
    pub(crate) unit: f64,
    pub(crate) tree: Tree,
    pub(crate) lists: Lists,
    pub(crate) sources: [Vec<R>; 3],
    pub(crate) source_from: Vec<u32>,
    pub(crate) targets: [Vec<R>; 3],
    pub(crate) target_from: Vec<u32>,
    /// By level from 2 on; a kernel that scales has one, of boxes of half width 1.
    pub(crate) levels: Vec<Level<R>>,
    pub(crate) far: Vec<Far<R>>,
    /// The unit surface.
    pub(crate) shell: [Vec<R>; 3],
    pub(crate) isa: HostIsa,
    planned: Planned,
}

/// The middle and half width of the least cube around all points, a little more than they need.
fn cube(all: [&Points; 2]) -> ([f64; 3], f64) {
    let mut half = 0.0f64;
    let middle = std::array::from_fn(|a| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in all.iter().flat_map(|p| &p.x[a]) {
            low = low.min(x);
            high = high.max(x);
        }
        if low > high {
            return 0.0;
        }
        half = half.max(0.5 * high - 0.5 * low);
        0.5 * low + 0.5 * high
    });
    let largest = middle.iter().fold(half, |m: f64, x| m.max(x.abs()));
    // All in one place: any cube about it does.
    let half = if half > 0.0 { half } else { largest.max(1.0) };
    (middle, half * (1.0 + 1e-9))
}

/// The largest k times half width for which surfaces of p points on an edge keep their accuracy: measured for
/// p = 4, 7 and 11 it is 6, 10 and above 14 (docs/results, "Fast multipole method").
fn wave_limit(p: usize) -> f64 {
    1.2 * p as f64
}

/// Sorts points by the boxes of their rounded places: what rounds to one place must lie in one box.
fn sorted<R: Real>(points: &Points, middle: [f64; 3], unit: f64) -> (Order, [Vec<R>; 3]) {
    let along = |a: usize, i: usize| R::of(((points.x[a][i] - middle[a]) / unit).clamp(-1.0, 1.0));
    let order = Order::of(points.len(), |i| {
        std::array::from_fn(|a| along(a, i).wide())
    });
    let x = std::array::from_fn(|a| {
        order
            .from
            .par_iter()
            .map(|&i| along(a, i as usize))
            .collect()
    });
    (order, x)
}

impl<R: Real> Plan<R> {
    /// Plans sums at targets (or at the sources themselves).
    ///
    /// # Errors
    /// Places that are no numbers; parameters, an accuracy or a wave that cannot be.
    pub fn new(
        sources: &Points,
        targets: Option<&Points>,
        options: &Options,
    ) -> Result<Self, FmmError> {
        options.kernel.check(options.gradient)?;
        if options.most == 0 {
            return Err(FmmError(
                "a box holds at least one point: q from 1 on".to_owned(),
            ));
        }
        let p = match options.edge {
            Some(p) if (3..=16).contains(&p) => p,
            Some(p) => return Err(FmmError(format!("{p} points on an edge: take 3 to 16"))),
            None => accuracy::edge::<R>(options.tolerance, options.kernel, options.gradient)?,
        };
        if options.m2l == M2l::Compressed && options.tolerance < FINEST {
            return Err(FmmError(format!(
                "compressed matrices reach {FINEST:e}, not {:e}: take --m2l fft",
                options.tolerance
            )));
        }
        if sources.len().max(targets.map_or(0, Points::len)) > MOST_POINTS {
            return Err(FmmError(format!("more than {MOST_POINTS} points")));
        }
        sources.check("source")?;
        if let Some(t) = targets {
            t.check("target")?;
        }
        let begun = Instant::now();
        let mut planned = Planned::default();
        let (middle, unit) = cube([sources, targets.unwrap_or(sources)]);
        if !unit.is_finite() {
            return Err(FmmError(format!(
                "the points are too far apart: at most {:e} from end to end",
                f64::MAX
            )));
        }
        let parameter = options.kernel.parameter(unit);
        if matches!(options.kernel, Kernel::Helmholtz { .. }) && parameter > wave_limit(p) {
            return Err(FmmError(format!(
                "k times half the extent of the points is {parameter:.3}; surfaces of this accuracy hold waves up to {:.1}: \
                 the method is for low frequencies",
                wave_limit(p)
            )));
        }
        let (source_order, x) = sorted::<R>(sources, middle, unit);
        let (target_order, y) = match targets {
            Some(t) => sorted::<R>(t, middle, unit),
            None => (source_order.clone(), x.clone()),
        };
        planned.sort_s = begun.elapsed().as_secs_f64();
        let t = Instant::now();
        let tree = Tree::new(&source_order, &target_order, options.most);
        planned.tree_s = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let surface = surface::count(p);
        let lists = Lists::new(&tree, surface);
        planned.lists_s = t.elapsed().as_secs_f64();
        let t = Instant::now();
        let isa = HostIsa::best();
        let (levels, far) =
            operators(options, p, parameter, &tree, R::kernels(isa).panel as usize)?;
        planned.operators_s = t.elapsed().as_secs_f64();
        let shell = surface::points(p).map(|x| x.into_iter().map(R::of).collect());
        Ok(Self {
            options: *options,
            p,
            surface,
            unit,
            tree,
            lists,
            sources: x,
            source_from: source_order.from,
            targets: y,
            target_from: target_order.from,
            levels,
            far,
            shell,
            isa,
            planned,
        })
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Points on an edge of the surfaces.
    pub fn order(&self) -> usize {
        self.p
    }

    /// Points of a surface.
    pub fn surface(&self) -> usize {
        self.surface
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// How many targets there are.
    pub fn targets(&self) -> usize {
        self.target_from.len()
    }

    /// The instruction set that evaluations on CPUs use.
    pub fn isa(&self) -> HostIsa {
        self.isa
    }

    /// Seconds that its parts took.
    pub fn planned(&self) -> Planned {
        self.planned
    }

    /// Numbers of a surface: points times components.
    pub fn shell_numbers(&self) -> usize {
        self.surface * self.options.kernel.inputs()
    }

    /// Operators of a level, and what potentials are multiplied by to fit them.
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

    pub(crate) fn far(&self, level: usize) -> &Far<R> {
        if self.options.kernel.scales() {
            &self.far[0]
        } else {
            &self.far[level - 2]
        }
    }
}

type Operators<R> = (Vec<Level<R>>, Vec<Far<R>>);

fn operators<R: Real>(
    o: &Options,
    p: usize,
    parameter: f64,
    tree: &Tree,
    panel: usize,
) -> Result<Operators<R>, FmmError> {
    let depth = tree.levels.len();
    // Without boxes of level 2 all is near.
    let halves: Vec<f64> = match (depth, o.kernel.scales()) {
        (0..=2, _) => Vec::new(),
        (_, true) => vec![1.0],
        _ => (2..depth).map(|l| 0.5f64.powi(l as i32)).collect(),
    };
    memory::check_operators::<R>(o, p, halves.len())?;
    let levels = halves
        .iter()
        .map(|&h| Level::new(o.kernel, parameter, p, h, panel))
        .collect::<Result<_, _>>()?;
    let far = halves
        .iter()
        .map(|&h| match o.m2l {
            M2l::Fft => Ok(Far::Fft(Fourier::new(o.kernel, parameter, p, h))),
            M2l::Compressed => {
                Compressed::new(o.kernel, parameter, p, h, o.tolerance, panel).map(Far::Compressed)
            }
        })
        .collect::<Result<_, _>>()?;
    Ok((levels, far))
}
