//! The memory of a plan on the GPU: items of blocks, ranges, boxes, matrices.

use super::Lists;
use super::config::Config;
use super::items::{expansion_items, joined, p2p_items};
use crate::operators::Packed;
use crate::operators::fourier::{DIRECTIONS, direction_index, frequencies};
use crate::operators::surface::grid_indices;
use crate::plan::{M2lOperator, Plan, Upward};
use crate::precision::Real;
use crate::tree::{NONE, needed};
use greenup_device::cuda::{Backend, CudaError, Pointer};
use rayon::prelude::*;

type Result<T> = std::result::Result<T, CudaError>;

/// Groups of integers on the GPU.
pub(super) struct Items {
    pub memory: Pointer<u32>,
    /// Number of groups.
    pub count: usize,
}

/// Groups of `each` integers.
fn items(s: &impl Backend, x: &[u32], each: usize) -> Result<Items> {
    Ok(Items {
        memory: s.alloc_with(x)?,
        count: x.len() / each,
    })
}

/// A dense matrix, row by row.
pub(super) struct Dense<R: Real> {
    pub rows: usize,
    pub columns: usize,
    pub memory: Pointer<R>,
}

fn dense<R: Real>(s: &impl Backend, m: &Packed<R>, panel: usize) -> Result<Dense<R>> {
    Ok(Dense {
        rows: m.rows,
        columns: m.columns,
        memory: s.alloc_with(&m.dense(panel))?,
    })
}

/// Matrices of a level.
pub(super) struct Operators<R: Real> {
    pub up: [Dense<R>; 2],
    pub down: [Dense<R>; 2],
    pub to_parent: Vec<Dense<R>>,
    pub to_child: Vec<Dense<R>>,
    pub blocks: Option<Pointer<R>>,
}

/// Boxes of a level.
pub(super) struct Stage {
    pub operators: usize,
    /// Leaves with sources (as boxes, and as items of `points_to_surfaces`); parents with sources, for clearing.
    pub leaves: Items,
    pub from_points: Items,
    pub x: Items,
    /// By octant: children and their parents, which this rank computes alone; and those that several ranks compute.
    pub rising: Vec<(Items, Items)>,
    pub shared: Vec<(Items, Items)>,
    pub falling: Vec<(Items, Items)>,
    pub with_targets: Items,
    /// Source and target parents' children, directions.
    pub source_children: Items,
    pub target_children: Items,
    pub neighbours: Items,
}

/// The memory of a plan.
pub(super) struct Layout<R: Real> {
    /// x, y, z and the first charge of each source.
    pub positions: Pointer<R>,
    /// Further charges of each source.
    pub more: Pointer<R>,
    pub charges: Pointer<R>,
    pub source_from: Pointer<u32>,
    pub places: Pointer<u32>,
    pub targets: [Pointer<R>; 3],
    pub boxes: Pointer<R>,
    pub unit_surface: Pointer<R>,
    pub scales: Pointer<R>,
    pub twiddles: Pointer<R>,
    pub grid: Pointer<u32>,
    pub p2p: Items,
    pub ranges: Pointer<u32>,
    pub x_ranges: Pointer<u32>,
    pub expansions: Items,
    pub w: Pointer<u32>,
    pub operators: Vec<Operators<R>>,
    pub stages: Vec<Stage>,
    pub up: Pointer<R>,
    pub check: Pointer<R>,
    pub down: Pointer<R>,
    /// Of both factors of an inverse.
    pub product: Pointer<R>,
    pub from: Pointer<R>,
    pub to: Pointer<R>,
    pub out: Pointer<R>,
    pub result: Pointer<R>,
    /// Boxes whose equivalent charges other ranks need, and those that come from them, with their values.
    pub sent: Exchanged<R>,
    pub received: Exchanged<R>,
}

/// Equivalent charges that ranks exchange, box by box.
pub(super) struct Exchanged<R: Real> {
    pub boxes: Items,
    /// 0, 1, …: the places of the values.
    pub places: Items,
    pub values: Pointer<R>,
}

impl<R: Real> Exchanged<R> {
    fn new(s: &impl Backend, boxes: &[u32], each: usize) -> Result<Self> {
        let places: Vec<u32> = (0..boxes.len() as u32).collect();
        Ok(Self {
            boxes: items(s, boxes, 1)?,
            places: items(s, &places, 1)?,
            values: s.alloc(boxes.len() * each)?,
        })
    }
}

impl<R: Real> Layout<R> {
    pub fn new(
        s: &impl Backend,
        plan: &Plan<R>,
        (config, lists): (&Config, Lists),
        panel: usize,
    ) -> Result<Self> {
        let (n, m) = (plan.tree.nodes.len(), plan.surface_values());
        let (d, o) = (plan.options.kernel.inputs(), &plan.options);
        let (sources, targets) = (plan.sources[0].len(), plan.share.len());
        let share = plan.share.start as usize..plan.share.end as usize;
        let mut positions = vec![R::default(); sources * 4];
        (positions.par_chunks_exact_mut(4).enumerate()).for_each(|(i, p)| {
            for (to, x) in p.iter_mut().zip(plan.sources.iter()) {
                *to = x[i];
            }
        });
        let boxes: Vec<R> = plan
            .tree
            .nodes
            .iter()
            .flat_map(|b| {
                let [x, y, z] = b.center();
                [x, y, z, b.half_width()].map(R::of)
            })
            .collect();
        let has_expansions = lists == Lists::All && !plan.levels.is_empty();
        let levels = plan.tree.levels.len();
        let scales: Vec<R> = (0..levels)
            .map(|l| {
                R::of(if has_expansions && l >= 2 {
                    plan.level(l).1
                } else {
                    1.0
                })
            })
            .collect();
        let (p2p, ranges) = p2p_items(plan, config);
        let (expansions, w) = expansion_items(plan, has_expansions);
        let mut x_ranges = Vec::new();
        let mut stages = Vec::new();
        for level in if has_expansions { 2..levels } else { 0..0 } {
            stages.push(stage(s, plan, level, &mut x_ranges)?);
        }
        let twiddles: Vec<R> = (0..2 * plan.p - 1)
            .flat_map(|i| {
                let a = std::f64::consts::TAU * i as f64 / (2 * plan.p - 1) as f64;
                [R::of(a.cos()), R::of(a.sin())]
            })
            .collect();
        let grid: Vec<u32> = grid_indices(plan.p).iter().map(|&g| g as u32).collect();
        let operators = (plan.levels.iter().zip(plan.m2l.iter()))
            .filter(|_| has_expansions)
            .map(|(l, f)| {
                let all = |x: &[Packed<R>]| {
                    x.iter()
                        .map(|m| dense(s, m, panel))
                        .collect::<Result<Vec<_>>>()
                };
                Ok(Operators {
                    up: [dense(s, &l.up[0], panel)?, dense(s, &l.up[1], panel)?],
                    down: [dense(s, &l.down[0], panel)?, dense(s, &l.down[1], panel)?],
                    to_parent: all(&l.to_parent)?,
                    to_child: all(&l.to_child)?,
                    blocks: match f {
                        M2lOperator::Fft(f) => Some(s.alloc_with(f.blocks.as_slice())?),
                        M2lOperator::Compressed(_) => None,
                    },
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let spectrum = frequencies(plan.p) * 16 * d;
        let max = |f: &dyn Fn(&Stage) -> usize| stages.iter().map(f).max().unwrap_or(0) * spectrum;
        let of_boxes = if has_expansions { n * m } else { 0 };
        let outputs = targets * o.kernel.outputs(o.gradient);
        Ok(Self {
            positions: s.alloc_with(&positions)?,
            more: s.alloc(sources * (d - 1))?,
            charges: s.alloc(sources * d)?,
            source_from: s.alloc_with(&plan.source_from)?,
            places: s.alloc_with(&plan.places)?,
            targets: [
                s.alloc_with(&plan.targets[0][share.clone()])?,
                s.alloc_with(&plan.targets[1][share.clone()])?,
                s.alloc_with(&plan.targets[2][share])?,
            ],
            boxes: s.alloc_with(&boxes)?,
            unit_surface: s.alloc_with(&plan.unit_surface.concat())?,
            scales: s.alloc_with(&scales)?,
            twiddles: s.alloc_with(&twiddles)?,
            grid: s.alloc_with(&grid)?,
            p2p: items(s, &p2p, 5)?,
            ranges: s.alloc_with(&ranges)?,
            x_ranges: s.alloc_with(&x_ranges)?,
            expansions: items(s, &expansions, 5)?,
            w: s.alloc_with(&w)?,
            from: s.alloc(max(&|x| x.source_children.count + 1))?,
            to: s.alloc(max(&|x| x.target_children.count))?,
            operators,
            stages,
            up: s.alloc(of_boxes)?,
            check: s.alloc(of_boxes)?,
            down: s.alloc(of_boxes)?,
            product: s.alloc(of_boxes)?,
            out: s.alloc(outputs)?,
            result: s.alloc(outputs)?,
            sent: Exchanged::new(s, plan.sent(), m)?,
            received: Exchanged::new(s, plan.received(), m)?,
        })
    }
}

fn stage<R: Real>(
    s: &impl Backend,
    plan: &Plan<R>,
    level: usize,
    x_ranges: &mut Vec<u32>,
) -> Result<Stage> {
    let tree = &plan.tree;
    let boxes = tree.levels[level].clone();
    let has_sources = |i: usize| tree.nodes[i].has_sources();
    let has_targets = |i: usize| !tree.nodes[i].targets.is_empty();
    let leaves: Vec<u32> = boxes
        .clone()
        .filter(|&i| has_sources(i) && tree.nodes[i].is_leaf() && plan.upward(i) == Upward::Own)
        .map(|i| i as u32)
        .collect();
    // A leaf has one range of points; the ranges of X lists follow.
    let mut from_points = Vec::new();
    for &i in &leaves {
        from_points.extend([i, level as u32, x_ranges.len() as u32 / 2, 1]);
        x_ranges.extend(plan.range(i));
    }
    let mut x = Vec::new();
    for i in boxes.clone().filter(|&i| has_targets(i)) {
        let list = plan.lists.x.of_box(i);
        if !list.is_empty() {
            let ranges = joined(plan, list);
            x.extend([
                i as u32,
                level as u32,
                x_ranges.len() as u32 / 2,
                ranges.len() as u32,
            ]);
            x_ranges.extend(ranges.iter().flatten());
        }
    }
    let families = |keep: &dyn Fn(usize) -> bool| -> Result<Vec<(Items, Items)>> {
        (0..8)
            .map(|octant| {
                let children: Vec<u32> = boxes
                    .clone()
                    .filter(|&i| keep(i) && tree.nodes[i].octant() == octant)
                    .map(|i| i as u32)
                    .collect();
                let parents: Vec<u32> = children
                    .iter()
                    .map(|&c| tree.nodes[c as usize].parent)
                    .collect();
                Ok((items(s, &children, 1)?, items(s, &parents, 1)?))
            })
            .collect()
    };
    let of_parent = |i: usize| plan.upward(tree.nodes[i].parent as usize);
    let (mut source_children, mut target_children, mut neighbours) =
        (Vec::new(), Vec::new(), Vec::new());
    let parents = tree.levels[level - 1].clone();
    let octants = |i: usize, keep: &dyn Fn(usize) -> bool| -> [u32; 8] {
        let mut out = [NONE; 8];
        for c in tree.children(i).filter(|&c| keep(c)) {
            out[tree.nodes[c].octant()] = c as u32;
        }
        out
    };
    let mut at = vec![NONE; parents.len()];
    let targets: Vec<u32> = parents
        .clone()
        .filter(|i| tree.children(*i).any(has_targets))
        .map(|i| i as u32)
        .collect();
    for &i in &targets {
        target_children.extend(octants(i as usize, &has_targets));
    }
    let needed = needed(tree, &parents, &targets);
    for i in parents.clone() {
        if needed[i - parents.start] && tree.children(i).any(has_sources) {
            at[i - parents.start] = source_children.len() as u32 / 8;
            source_children.extend(octants(i, &has_sources));
        }
    }
    let nothing = source_children.len() as u32 / 8;
    for d in 0..DIRECTIONS {
        neighbours.extend(targets.iter().map(|&t| {
            match tree.neighbours[t as usize][direction_index(d)] {
                NONE => nothing,
                b => at[b as usize - parents.start].min(nothing),
            }
        }));
    }
    let with_targets: Vec<u32> = boxes
        .clone()
        .filter(|&i| has_targets(i))
        .map(|i| i as u32)
        .collect();
    Ok(Stage {
        operators: if plan.options.kernel.scales() {
            0
        } else {
            level - 2
        },
        leaves: items(s, &leaves, 1)?,
        from_points: items(s, &from_points, 4)?,
        x: items(s, &x, 4)?,
        rising: if level > 2 {
            families(&|i| has_sources(i) && of_parent(i) == Upward::Own)?
        } else {
            Vec::new()
        },
        shared: if level > 2 && plan.is_distributed() {
            families(&|i| has_sources(i) && of_parent(i) == Upward::Shared)?
        } else {
            Vec::new()
        },
        falling: if level > 2 {
            families(&has_targets)?
        } else {
            Vec::new()
        },
        with_targets: items(s, &with_targets, 1)?,
        source_children: items(s, &source_children, 8)?,
        target_children: items(s, &target_children, 8)?,
        neighbours: items(s, &neighbours, 1)?,
    })
}
