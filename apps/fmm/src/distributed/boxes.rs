//! Boxes of a rank, what it sends of them to others, and the tree of those and the received ones.

use super::cut::Cut;
use crate::plan::{Essential, Upward};
use crate::tree::{DEPTH, NONE, Node, Tree, key_range, place};
use std::ops::Range;

/// A box all of whose points are of this rank.
pub(super) struct OwnBox {
    level: u8,
    key: u64,
    points: Range<u32>,
    leaf: bool,
}

/// The boxes of this rank with these sorted keys, without those that it shares.
pub(super) fn own_boxes(keys: &[u64], cut: &Cut, ncrit: usize) -> Vec<OwnBox> {
    let (mut out, mut now) = (Vec::new(), Vec::new());
    if !keys.is_empty() {
        now.push((0u64, 0..keys.len() as u32));
    }
    for level in 0..=DEPTH as u8 {
        let mut next = Vec::new();
        for (key, points) in std::mem::take(&mut now) {
            let shared = cut.shared.contains_key(&(level, key));
            let leaf = !shared && (points.len() <= ncrit || usize::from(level) == DEPTH);
            if !leaf {
                let mut rest = points.clone();
                while !rest.is_empty() {
                    let child = key_range(keys[rest.start as usize], level + 1);
                    let within = &keys[rest.start as usize..rest.end as usize];
                    let n = within.partition_point(|k| *k < child.end) as u32;
                    next.push((child.start, rest.start..rest.start + n));
                    rest.start += n;
                }
            }
            if !shared {
                out.push(OwnBox {
                    level,
                    key,
                    points,
                    leaf,
                });
            }
        }
        now = next;
    }
    out
}

/// A box of another rank.
pub(super) struct Received {
    level: u8,
    key: u64,
    count: u32,
    /// Its first point among those of all ranks, and the place of its points in the message, if they came with it.
    points: Option<(u64, u32)>,
}

/// Words of a box in a message.
const WORDS: usize = 3;

/// What is sent to a rank.
#[derive(Default)]
pub(super) struct Sent {
    /// Boxes, as words.
    pub boxes: Vec<u64>,
    /// Own boxes, by level and key, whose equivalent charges the rank needs.
    keys: Vec<(u8, u64)>,
    /// Own points that the rank needs.
    pub points: Vec<Range<u32>>,
}

/// What each rank needs: the children of boxes that have or touch boxes of the rank, or that ranks share; points of leaves
/// that touch its boxes, and of boxes of at most `few` points. `first` is the number of the first own point among all.
pub(super) fn sent(own: &[OwnBox], cut: &Cut, me: usize, first: u64, few: usize) -> Vec<Sent> {
    let ranks = cut.first.len() - 1;
    let mut out: Vec<Sent> = (0..ranks).map(|_| Sent::default()).collect();
    for b in own {
        let at = place(b.key, b.level);
        let to = match b.level.checked_sub(1) {
            Some(up) if !cut.shared.contains_key(&(up, key_range(b.key, up).start)) => {
                cut.near(at.map(|i| i >> 1), up, me)
            }
            _ => (0..ranks).filter(|r| *r != me).collect(),
        };
        if to.is_empty() {
            continue;
        }
        let near = cut.near(at, b.level, me);
        for rank in to {
            let touches = near.contains(&rank);
            // Of other boxes the rank gets the children.
            let ends = b.leaf || !touches;
            let with_points = ends && (touches || b.points.len() <= few);
            let s = &mut out[rank];
            s.boxes.extend([
                b.key,
                first + u64::from(b.points.start),
                b.points.len() as u64 | u64::from(b.level) << 32 | u64::from(with_points) << 40,
            ]);
            s.keys.push((b.level, b.key));
            if with_points {
                s.points.push(b.points.clone());
            }
        }
    }
    out
}

/// The boxes in a message.
pub(super) fn received(words: &[u64]) -> Vec<Received> {
    let mut points = 0;
    words
        .chunks_exact(WORDS)
        .map(|w| {
            let count = w[2] as u32;
            let with_points = w[2] >> 40 & 1 == 1;
            let at = points;
            points += if with_points { count } else { 0 };
            Received {
                level: (w[2] >> 32) as u8,
                key: w[0],
                count,
                points: with_points.then_some((w[1], at)),
            }
        })
        .collect()
}

/// Where consecutive sources of a plan come from.
pub(super) struct Segment {
    /// The rank, and the first point of its message, or of the own points.
    pub from: (usize, u32),
    /// Places of the sources in the plan.
    pub to: Range<u32>,
}

/// The tree of a rank, and its sources.
pub(super) struct Assembled {
    pub tree: Tree,
    pub essential: Essential,
    pub segments: Vec<Segment>,
    /// Places of sources, with those that stay empty.
    pub sources: usize,
}

struct Entry {
    level: u8,
    key: u64,
    count: u64,
    upward: Upward,
    targets: Range<u32>,
    /// First point among all, and where it comes from.
    points: Option<(u64, (usize, u32))>,
}

/// Puts own, shared and received boxes together. `keys` are those of the own points.
pub(super) fn assemble(
    (keys, own): (&[u64], &[OwnBox]),
    cut: &Cut,
    (me, first): (usize, u64),
    sent: &[Sent],
    received: &[Vec<Received>],
) -> Assembled {
    let mut all: Vec<Entry> = own
        .iter()
        .map(|b| Entry {
            level: b.level,
            key: b.key,
            count: b.points.len() as u64,
            upward: Upward::Own,
            targets: b.points.clone(),
            points: (b.leaf).then_some((first + u64::from(b.points.start), (me, b.points.start))),
        })
        .collect();
    all.extend(cut.shared.iter().map(|((level, key), count)| {
        let below = |k: u64| keys.partition_point(|x| *x < k) as u32;
        let range = key_range(*key, *level);
        Entry {
            level: *level,
            key: *key,
            count: *count,
            upward: Upward::Shared,
            targets: below(range.start)..below(range.end),
            points: None,
        }
    }));
    for (rank, boxes) in received.iter().enumerate() {
        all.extend(boxes.iter().map(|b| Entry {
            level: b.level,
            key: b.key,
            count: u64::from(b.count),
            upward: Upward::Received,
            targets: 0..0,
            points: b.points.map(|(number, at)| (number, (rank, at))),
        }));
    }
    all.sort_unstable_by_key(|e| (e.level, e.key));
    if all.is_empty() {
        // No rank has points.
        all.push(Entry {
            level: 0,
            key: 0,
            count: 0,
            upward: Upward::Own,
            targets: 0..0,
            points: None,
        });
    }
    let (mut nodes, levels) = linked(&all);
    let (segments, sources) = place_sources(&all, &mut nodes, &levels);
    let index = |level: u8, key: u64| {
        let found = all.binary_search_by_key(&(level, key), |e| (e.level, e.key));
        found.expect("a box that was sent or received is in the tree") as u32
    };
    // Boxes above level 2 have no equivalent charges.
    let of_sent = sent.iter().flat_map(|s| &s.keys);
    let of_received = received.iter().flatten().map(|b| (b.level, b.key));
    let essential = Essential {
        upward: all.iter().map(|e| e.upward).collect(),
        sent: of_sent
            .filter(|b| b.0 >= 2)
            .map(|b| index(b.0, b.1))
            .collect(),
        received: of_received
            .filter(|b| b.0 >= 2)
            .map(|b| index(b.0, b.1))
            .collect(),
    };
    Assembled {
        tree: Tree::of_nodes(nodes, levels),
        essential,
        segments,
        sources,
    }
}

impl Sent {
    /// Number of boxes whose equivalent charges are sent.
    pub fn expansions(&self) -> usize {
        self.keys.iter().filter(|b| b.0 >= 2).count()
    }
}

/// Boxes with their parents and children.
fn linked(all: &[Entry]) -> (Vec<Node>, Vec<Range<usize>>) {
    let mut nodes: Vec<Node> = Vec::with_capacity(all.len());
    let mut levels: Vec<Range<usize>> = Vec::new();
    for (i, e) in all.iter().enumerate() {
        let level = usize::from(e.level);
        if levels.len() <= level {
            levels.push(i..i);
        }
        levels[level].end = i + 1;
        let parent = match level {
            0 => NONE,
            _ => {
                let up = key_range(e.key, e.level - 1).start;
                let above = &all[levels[level - 1].clone()];
                let found = above.binary_search_by_key(&up, |p| p.key);
                (levels[level - 1].start + found.expect("a box comes with its parent")) as u32
            }
        };
        if let Some(p) = nodes.get_mut(parent as usize) {
            if p.children == 0 {
                p.first_child = i as u32;
            }
            p.children += 1;
        }
        nodes.push(Node {
            level: e.level,
            at: place(e.key, e.level),
            parent,
            first_child: NONE,
            children: 0,
            source_count: e.count.min(u64::from(u32::MAX)) as u32,
            sources: 0..0,
            targets: e.targets.clone(),
        });
    }
    (nodes, levels)
}

/// Gives sources their places, in the order of keys. Where points of others are missing between two boxes there is an empty
/// place, so that boxes have adjacent sources as they have on one rank, and sums the same order.
fn place_sources(
    all: &[Entry],
    nodes: &mut [Node],
    levels: &[Range<usize>],
) -> (Vec<Segment>, usize) {
    let mut leaves: Vec<(u64, usize)> = (all.iter().enumerate())
        .filter_map(|(i, e)| Some((e.points?.0, i)))
        .collect();
    leaves.sort_unstable();
    let (mut at, mut end) = (0u32, None);
    let mut segments: Vec<Segment> = Vec::new();
    for (number, i) in leaves {
        let Some((_, from)) = all[i].points else {
            continue;
        };
        at += u32::from(end.is_some_and(|end| end != number));
        let to = at..at + all[i].count as u32;
        nodes[i].sources = to.clone();
        at = to.end;
        end = Some(number + all[i].count);
        match segments.last_mut() {
            Some(Segment {
                from: last,
                to: end,
            }) if end.end == to.start && (last.0, last.1 + end.len() as u32) == from => {
                end.end = to.end;
            }
            _ => segments.push(Segment { from, to }),
        }
    }
    for level in levels.iter().rev() {
        for i in level.clone() {
            let n = &nodes[i];
            if n.is_leaf() {
                continue;
            }
            let children = &nodes[n.first_child as usize..][..usize::from(n.children)];
            let with = || {
                children
                    .iter()
                    .map(|c| &c.sources)
                    .filter(|s| !s.is_empty())
            };
            let (from, to) = (with().map(|s| s.start).min(), with().map(|s| s.end).max());
            nodes[i].sources = from.unwrap_or(0)..to.unwrap_or(0);
        }
    }
    (segments, at as usize)
}
