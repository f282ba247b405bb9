//! Work of the blocks of kernels over points: targets, and ranges of sources or boxes.

use super::config::Config;
use crate::plan::Plan;
use crate::precision::Real;
use crate::tree::NONE;
use rayon::prelude::*;

/// Ranges of the sources of boxes, sorted, adjacent ones joined.
pub(super) fn joined<R: Real>(plan: &Plan<R>, boxes: &[u32]) -> Vec<[u32; 2]> {
    let mut all: Vec<[u32; 2]> = boxes.iter().map(|&b| plan.range(b)).collect();
    all.sort_unstable();
    let mut out: Vec<[u32; 2]> = Vec::with_capacity(all.len());
    for r in all {
        match out.last_mut() {
            Some(last) if last[1] == r[0] => last[1] = r[1],
            _ => out.push(r),
        }
    }
    out
}

/// Items of `p2p.cu` and the ranges that they name.
pub(super) fn p2p_items<R: Real>(plan: &Plan<R>, c: &Config) -> (Vec<u32>, Vec<u32>) {
    let leaves: Vec<usize> = plan.tree.leaves().collect();
    let parts: Vec<_> = (leaves.par_chunks(1 << 12))
        .map(|leaves| p2p_items_of(plan, c, leaves))
        .collect();
    let (mut items, mut ranges) = (Vec::new(), Vec::new());
    for (mut of, more) in parts {
        let first = ranges.len() as u32 / 2;
        of.chunks_exact_mut(5).for_each(|item| item[2] += first);
        items.append(&mut of);
        ranges.extend(more);
    }
    (items, ranges)
}

fn p2p_items_of<R: Real>(plan: &Plan<R>, c: &Config, leaves: &[usize]) -> (Vec<u32>, Vec<u32>) {
    let (mut items, mut ranges) = (Vec::new(), Vec::new());
    let max = (c.threads * c.targets) as u32;
    for &leaf in leaves {
        let t = &plan.tree.nodes[leaf].targets;
        let list = plan.lists.u.of_box(leaf);
        if t.is_empty() || list.is_empty() {
            continue;
        }
        let first = ranges.len() as u32 / 2;
        let itself = usize::from(list[0] == leaf as u32);
        if itself == 1 {
            ranges.extend(plan.range(list[0]));
        }
        ranges.extend(joined(plan, &list[itself..]).iter().flatten());
        let count = ranges.len() as u32 / 2 - first;
        let parts = t.len().div_ceil(max as usize) as u32;
        let each = (t.len() as u32).div_ceil(parts);
        for k in 0..parts {
            let from = t.start + k * each;
            let n = each.min(t.end - from);
            items.extend([from - plan.share.start, n, first, count, itself as u32]);
        }
    }
    (items, ranges)
}

/// Items of `surfaces_to_points`, and W lists.
pub(super) fn expansion_items<R: Real>(
    plan: &Plan<R>,
    has_expansions: bool,
) -> (Vec<u32>, Vec<u32>) {
    let (mut items, mut w) = (Vec::new(), Vec::new());
    if !has_expansions {
        return (items, w);
    }
    for leaf in plan.tree.leaves() {
        let node = &plan.tree.nodes[leaf];
        let list = plan.lists.w.of_box(leaf);
        if node.targets.is_empty() || (node.level < 2 && list.is_empty()) {
            continue;
        }
        let first = w.len() as u32;
        w.extend_from_slice(list);
        // As the kernel's threads.
        for from in node.targets.clone().step_by(128) {
            let surface = if node.level < 2 { NONE } else { leaf as u32 };
            items.extend([
                surface,
                from - plan.share.start,
                128.min(node.targets.end - from),
                first,
                list.len() as u32,
            ]);
        }
    }
    (items, w)
}
