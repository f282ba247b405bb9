//! What of a plan lies on the GPU: items of blocks, ranges, boxes, matrices.

use super::config::Config;
use super::items::{joined, local_items, near_items};
use super::place::{At, Place};
use crate::operators::Packed;
use crate::operators::fourier::{DIRECTIONS, place};
use crate::plan::{Far, Plan};
use crate::real::Real;
use crate::tree::NONE;
use greenup_device::cuda::CudaError;
use greenup_device::memory::Plain;

type Held<T> = Result<T, CudaError>;

/// Plain numbers as bytes.
pub(super) fn bytes<T: Plain>(x: &[T]) -> &[u8] {
    // SAFETY: plain numbers are bytes of any pattern.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), size_of_val(x)) }
}

/// Plain numbers as bytes to be written.
pub(super) fn bytes_mut<T: Plain>(x: &mut [T]) -> &mut [u8] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), size_of_val(x)) }
}

fn kept<T: Plain>(s: &impl Place, x: &[T]) -> Held<At> {
    // No memory has no bytes.
    let at = s.alloc(size_of_val(x).max(16))?;
    if !x.is_empty() {
        s.upload(at, bytes(x))?;
    }
    Ok(at)
}

/// Whole numbers on the GPU, in groups of `each`.
pub(super) struct Items {
    pub memory: At,
    pub count: usize,
}

fn items(s: &impl Place, x: &[u32], each: usize) -> Held<Items> {
    Ok(Items {
        memory: kept(s, x)?,
        count: x.len() / each,
    })
}

/// A matrix row by row.
pub(super) struct Dense {
    pub rows: usize,
    pub columns: usize,
    pub memory: At,
}

fn dense<R: Real>(s: &impl Place, m: &Packed<R>, panel: usize) -> Held<Dense> {
    Ok(Dense {
        rows: m.rows,
        columns: m.columns,
        memory: kept(s, &m.dense(panel))?,
    })
}

/// Matrices of a level.
pub(super) struct Operators {
    pub up: [Dense; 2],
    pub down: [Dense; 2],
    pub to_parent: Vec<Dense>,
    pub to_child: Vec<Dense>,
    pub blocks: Option<At>,
}

/// Boxes of a level.
pub(super) struct Stage {
    pub operators: usize,
    /// Leaves with sources (as boxes, and as items of `to_shells`); parents with sources, for clearing.
    pub leaves: Items,
    pub from_points: Items,
    pub x: Items,
    /// By octant: children and their parents.
    pub rising: Vec<(Items, Items)>,
    pub falling: Vec<(Items, Items)>,
    pub with_targets: Items,
    /// Source and target parents' children, directions.
    pub source_children: Items,
    pub target_children: Items,
    pub beside: Items,
}

/// All of a plan.
pub(super) struct Layout {
    pub places: At,
    pub more: At,
    pub charges: At,
    pub source_from: At,
    pub target_from: At,
    pub targets: [At; 3],
    pub boxes: At,
    pub shell: At,
    pub scales: At,
    pub turns: At,
    pub grid: At,
    pub near: Items,
    pub ranges: At,
    pub x_ranges: At,
    pub local: Items,
    pub w: At,
    pub operators: Vec<Operators>,
    pub stages: Vec<Stage>,
    pub up: At,
    pub check: At,
    pub down: At,
    pub middle: At,
    pub from: At,
    pub to: At,
    pub out: At,
    pub result: At,
}

impl Layout {
    pub fn new<R: Real>(
        s: &impl Place,
        plan: &Plan<R>,
        config: &Config,
        panel: usize,
    ) -> Held<Self> {
        let (n, m) = (plan.tree.nodes.len(), plan.shell_numbers());
        let (d, o) = (plan.options.kernel.inputs(), &plan.options);
        let size = size_of::<R>();
        let (sources, targets) = (plan.sources[0].len(), plan.targets[0].len());
        let mut places = vec![R::default(); sources * 4];
        for (i, p) in places.chunks_exact_mut(4).enumerate() {
            for (to, x) in p.iter_mut().zip(&plan.sources) {
                *to = x[i];
            }
        }
        let boxes: Vec<R> = plan
            .tree
            .nodes
            .iter()
            .flat_map(|b| {
                let [x, y, z] = b.middle();
                [x, y, z, b.half()].map(R::of)
            })
            .collect();
        let far = !plan.levels.is_empty();
        let levels = plan.tree.levels.len();
        let scales: Vec<R> = (0..levels)
            .map(|l| R::of(if far && l >= 2 { plan.level(l).1 } else { 1.0 }))
            .collect();
        let (near, ranges) = near_items(plan, config);
        let (local, w) = local_items(plan, far);
        let mut x_ranges = Vec::new();
        let mut stages = Vec::new();
        for level in if far { 2..levels } else { 0..0 } {
            stages.push(stage(s, plan, level, &mut x_ranges)?);
        }
        let turns: Vec<R> = (0..2 * plan.p - 1)
            .flat_map(|i| {
                let a = std::f64::consts::TAU * i as f64 / (2 * plan.p - 1) as f64;
                [R::of(a.cos()), R::of(a.sin())]
            })
            .collect();
        let grid: Vec<u32> = crate::operators::surface::places(plan.p)
            .iter()
            .map(|&g| g as u32)
            .collect();
        let operators = (plan.levels.iter().zip(&plan.far))
            .map(|(l, f)| {
                let all = |x: &[Packed<R>]| {
                    x.iter()
                        .map(|m| dense(s, m, panel))
                        .collect::<Held<Vec<_>>>()
                };
                Ok(Operators {
                    up: [dense(s, &l.up[0], panel)?, dense(s, &l.up[1], panel)?],
                    down: [dense(s, &l.down[0], panel)?, dense(s, &l.down[1], panel)?],
                    to_parent: all(&l.to_parent)?,
                    to_child: all(&l.to_child)?,
                    blocks: match f {
                        Far::Fft(f) => Some(kept(s, f.blocks.as_slice())?),
                        Far::Compressed(_) => None,
                    },
                })
            })
            .collect::<Held<Vec<_>>>()?;
        let spectrum = crate::operators::fourier::frequencies(plan.p) * 16 * d * size;
        let most = |f: &dyn Fn(&Stage) -> usize| stages.iter().map(f).max().unwrap_or(0) * spectrum;
        let of_boxes = if far { n * m * size } else { size };
        let outputs = targets * o.kernel.outputs(o.gradient) * size;
        Ok(Self {
            places: kept(s, &places)?,
            more: s.alloc((sources * (d - 1) * size).max(16))?,
            charges: s.alloc((sources * d * size).max(16))?,
            source_from: kept(s, &plan.source_from)?,
            target_from: kept(s, &plan.target_from)?,
            targets: [
                kept(s, &plan.targets[0])?,
                kept(s, &plan.targets[1])?,
                kept(s, &plan.targets[2])?,
            ],
            boxes: kept(s, &boxes)?,
            shell: kept(s, &plan.shell.concat())?,
            scales: kept(s, &scales)?,
            turns: kept(s, &turns)?,
            grid: kept(s, &grid)?,
            near: items(s, &near, 5)?,
            ranges: kept(s, &ranges)?,
            x_ranges: kept(s, &x_ranges)?,
            local: items(s, &local, 5)?,
            w: kept(s, &w)?,
            from: s.alloc(most(&|x| x.source_children.count + 1).max(16))?,
            to: s.alloc(most(&|x| x.target_children.count).max(16))?,
            operators,
            stages,
            up: s.alloc(of_boxes)?,
            check: s.alloc(of_boxes)?,
            down: s.alloc(of_boxes)?,
            middle: s.alloc(of_boxes)?,
            out: s.alloc(outputs.max(16))?,
            result: s.alloc(outputs.max(16))?,
        })
    }
}

fn stage<R: Real>(
    s: &impl Place,
    plan: &Plan<R>,
    level: usize,
    x_ranges: &mut Vec<u32>,
) -> Held<Stage> {
    let tree = &plan.tree;
    let boxes = tree.levels[level].clone();
    let gives = |i: usize| !tree.nodes[i].sources.is_empty();
    let takes = |i: usize| !tree.nodes[i].targets.is_empty();
    let leaves: Vec<u32> = boxes
        .clone()
        .filter(|&i| gives(i) && tree.nodes[i].is_leaf())
        .map(|i| i as u32)
        .collect();
    // The ranges of points of leaves are boxes' own: after those of X lists.
    let mut from_points = Vec::new();
    for &i in &leaves {
        from_points.extend([i, level as u32, x_ranges.len() as u32 / 2, 1]);
        x_ranges.extend(plan.range(i));
    }
    let mut x = Vec::new();
    for i in boxes.clone().filter(|&i| takes(i)) {
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
    let families = |keep: &dyn Fn(usize) -> bool| -> Held<Vec<(Items, Items)>> {
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
    let (mut source_children, mut target_children, mut beside) =
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
    let mut targets = Vec::new();
    for i in parents.clone() {
        if tree.children(i).any(gives) {
            at[i - parents.start] = source_children.len() as u32 / 8;
            source_children.extend(octants(i, &gives));
        }
        if tree.children(i).any(takes) {
            target_children.extend(octants(i, &takes));
            targets.push(i);
        }
    }
    let nothing = source_children.len() as u32 / 8;
    for d in 0..DIRECTIONS {
        beside.extend(targets.iter().map(|&t| match tree.beside[t][place(d)] {
            NONE => nothing,
            b => at[b as usize - parents.start].min(nothing),
        }));
    }
    let with_targets: Vec<u32> = boxes
        .clone()
        .filter(|&i| takes(i))
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
            families(&gives)?
        } else {
            Vec::new()
        },
        falling: if level > 2 {
            families(&takes)?
        } else {
            Vec::new()
        },
        with_targets: items(s, &with_targets, 1)?,
        source_children: items(s, &source_children, 8)?,
        target_children: items(s, &target_children, 8)?,
        beside: items(s, &beside, 1)?,
    })
}
