//! Builds the graph of an index.

use super::arena::{Arena, DEAD};
use crate::engine::Stop;
use crate::engine::walk::Walker;
use crate::engine::walk::parallel::{Limits, Task, go_to, share, tasks};
use crate::engine::walk::recall::Recall;
use crate::plan::nest::compile::Nest;

struct Builder<'a> {
    recall: Recall<'a, u32>,
    edges: Vec<(Vec<u64>, Vec<u32>)>,
    arena: Arena,
}

/// Builds one independent group of levels; with fewer threads where the memory is too little for the share of each.
pub fn group(
    nest: &Nest,
    head: usize,
    first: &mut Walker,
    arena: &mut Arena,
    limits: &Limits,
) -> Result<u32, Stop> {
    let mut fewer = Limits { ..*limits };
    loop {
        // One domain alone may take a share of a second.
        if (limits.cancelled)() {
            return Err(Stop::Cancelled);
        }
        match group_with(nest, head, first, arena, &fewer) {
            Err(Stop::Memory) if fewer.workers() > 1 => fewer.threads = fewer.workers() / 2,
            done => return done,
        }
    }
}

fn group_with(
    nest: &Nest,
    head: usize,
    first: &mut Walker,
    arena: &mut Arena,
    limits: &Limits,
) -> Result<u32, Stop> {
    let least = if limits.workers() > 1 {
        16 * limits.workers()
    } else {
        1
    };
    let tasks = tasks(first, head, least)?;
    let (states, roots) = share(
        limits.workers(),
        tasks.len(),
        || Builder::new(nest, limits),
        |b, t| {
            go_to(&mut b.recall.walker, &tasks[t]);
            tasks[t].next.map_or(Ok(DEAD), |k| b.below(k))
        },
    )?;
    let shifts: Vec<u32> = states.into_iter().map(|s| arena.append(s.arena)).collect();
    let subtrees: Vec<u32> = roots
        .into_iter()
        .map(|(owner, n)| if n == DEAD { n } else { n + shifts[owner] })
        .collect();
    join(&tasks, &subtrees, arena)
}

/// Values chosen, and the node below them; `None` where all levels are chosen.
type Subtree<'t> = (&'t [(usize, u64)], Option<u32>);

/// Joins the subtrees of tasks under the values they chose, from the inside out.
fn join(tasks: &[Task], subtrees: &[u32], arena: &mut Arena) -> Result<u32, Stop> {
    let mut level: Vec<Subtree> = tasks
        .iter()
        .zip(subtrees)
        .map(|(t, &n)| (t.chosen.as_slice(), t.next.map(|_| n)))
        .collect();
    while level.first().is_some_and(|(p, _)| !p.is_empty()) {
        let mut up: Vec<Subtree> = Vec::new();
        let (mut values, mut children) = (Vec::new(), Vec::new());
        for i in 0..level.len() {
            let (p, node) = level[i];
            let (head, tail) = p.split_at(p.len() - 1);
            if node != Some(DEAD) {
                values.push(tail[0].1);
                children.extend(node);
            }
            let ends = level
                .get(i + 1)
                .is_none_or(|(q, _)| q[..q.len() - 1] != *head);
            if ends {
                up.push((head, Some(arena.node(tail[0].0, &values, &children)?)));
                values.clear();
                children.clear();
            }
        }
        level = up;
    }
    Ok(level.first().and_then(|&(_, n)| n).unwrap_or(DEAD))
}

impl<'a> Builder<'a> {
    fn new(nest: &'a Nest<'a>, limits: &Limits<'a>) -> Self {
        Self {
            recall: Recall::new(nest, limits),
            edges: nest.levels.iter().map(|_| Default::default()).collect(),
            arena: Arena::new(),
        }
    }

    /// The node of the group of levels headed by `k`.
    fn below(&mut self, k: usize) -> Result<u32, Stop> {
        if let Some(known) = self.recall.known(k) {
            return Ok(known);
        }
        if self.recall.due()? && self.arena.bytes() + self.recall.memo_bytes() > self.recall.bytes {
            return Err(Stop::Memory);
        }
        let node = self.fresh(k)?;
        self.recall.remember(k, node);
        Ok(node)
    }

    fn fresh(&mut self, k: usize) -> Result<u32, Stop> {
        let nest = self.recall.walker.nest;
        let branches = &nest.tree.children[k];
        let mut values = std::mem::take(&mut self.recall.buffers[k]);
        let found = self.recall.walker.survivors(k, &mut values);
        let node = found.and_then(|()| {
            if branches.is_empty() {
                return self.arena.node(k, &values, &[]);
            }
            let (mut kept, mut children) = std::mem::take(&mut self.edges[k]);
            kept.clear();
            children.clear();
            let matters = nest.levels[k].matters;
            'values: for (i, &v) in values.iter().enumerate() {
                let from = children.len();
                if i > 0 && !matters {
                    if from == 0 {
                        break;
                    }
                    children.extend_from_within(from - branches.len()..);
                } else {
                    self.recall.walker.enter(k, v);
                    for &b in branches {
                        let child = self.below(b)?;
                        if child == DEAD {
                            children.truncate(from);
                            continue 'values;
                        }
                        children.push(child);
                    }
                }
                kept.push(v);
            }
            let node = self.arena.node(k, &kept, &children);
            self.edges[k] = (kept, children);
            node
        });
        self.recall.buffers[k] = values;
        node
    }
}
