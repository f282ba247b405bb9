//! The nest of a space for a choice of filters: what is tested, computed and remembered where.

use crate::plan::build::{DomainNodes, Part, Space};
use crate::plan::graph::op::Op;
use crate::plan::graph::solve::{Trend, divided, trend};
use crate::plan::graph::{CONSTANT, Graph, Id};
use crate::plan::nest::tree::Tree;

/// No column: the operand is the same for all values of the level.
pub const SCALAR: u32 = u32::MAX;

/// One operation; operands are slots, or columns where one value a candidate.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub op: Op,
    pub slot: Id,
    pub args: [Id; 3],
    pub column: u32,
    pub arg_columns: [u32; 3],
    pub may_fail: bool,
}

/// Steps that end in a truth.
#[derive(Clone, Debug)]
pub struct Test {
    /// Index of the filter it is part of.
    pub filter: usize,
    pub root: Id,
    /// Column of the root; [`SCALAR`] when it does not vary at this level.
    pub column: u32,
    /// Column of the candidates; [`SCALAR`] when the test does not look at them.
    pub candidates: u32,
    pub steps: Vec<Step>,
    pub columns: usize,
    pub may_fail: bool,
}

/// A test whose truth rises or falls with the value.
#[derive(Clone, Debug)]
pub struct Edge {
    pub test: Test,
    /// True from some value on; else true up to some value.
    pub rises: bool,
    /// The test it makes unnecessary.
    pub replaces: Option<usize>,
}

pub struct Level {
    /// Slot of the chosen value.
    pub slot: Id,
    pub tests: Vec<Test>,
    pub edges: Vec<Edge>,
    /// Nodes that the value must divide, and whether each is a float.
    pub divides: Vec<(Id, bool)>,
    /// Computed once a value is chosen, for deeper levels.
    pub enter: Vec<Step>,
    /// The chosen value matters at a deeper level.
    pub matters: bool,
    /// Decides what lies at this level and below. `None` where every prefix is different.
    pub key: Option<Key>,
}

/// The key of remembered results.
pub struct Key {
    /// Slots whose values it holds.
    pub slots: Vec<Id>,
    /// Ranges of slots whose values may change places: all that matters deeper is which values are taken.
    pub unordered: Vec<std::ops::Range<usize>>,
}

/// A compiled nest.
pub struct Nest<'a> {
    pub space: &'a Space,
    pub levels: Vec<Level>,
    pub tree: Tree,
    /// Computed before everything: constants that may have no value.
    pub prologue: Vec<Step>,
    /// Tests of constants only.
    pub constant_tests: Vec<Test>,
    pub slots: usize,
    /// Whether a filter that has no value rejects; else that is an error where a point would lie.
    pub faults_reject: bool,
}

impl<'a> Nest<'a> {
    /// Compiles with the filters for which `active` holds.
    pub fn new(space: &'a Space, active: impl Fn(usize) -> bool) -> Self {
        let n = space.levels.len();
        let g = &space.graph;
        let parts: Vec<(usize, &Part)> = space
            .filters
            .iter()
            .enumerate()
            .filter(|(i, _)| active(*i))
            .flat_map(|(i, f)| f.parts.iter().map(move |p| (i, p)))
            .filter(|(_, p)| g.value(p.root) != Some(1))
            .collect();
        let mut flow = Flow::new(g);
        for (_, p) in &parts {
            flow.visit(g, p.root, p.level);
        }
        for (level, domain) in space.domains.iter().enumerate() {
            for id in domain_nodes(domain) {
                flow.visit(g, id, level as i32);
            }
        }
        let slots_of_levels: Vec<Id> = param_slots(g, n);
        let prefix = Prefixes::new(g, n);
        let ties = parts
            .iter()
            .map(|(_, p)| (prefix.of(p.root), p.level))
            .chain(space.domains.iter().enumerate().map(|(k, d)| {
                let below = domain_nodes(d)
                    .iter()
                    .flat_map(|&id| prefix.of(id))
                    .collect();
                (below, k as i32)
            }))
            .map(|(mut levels, at): (Vec<usize>, i32)| {
                levels.extend(usize::try_from(at).ok());
                levels.sort_unstable();
                levels.dedup();
                levels
            });
        let tree = Tree::new(n, ties);
        let mut own_tests: Vec<Vec<Test>> = (0..n).map(|_| Vec::new()).collect();
        let mut constant_tests = Vec::new();
        let mut edges: Vec<Vec<Edge>> = (0..n).map(|_| Vec::new()).collect();
        for &(filter, p) in &parts {
            let test = test_at(g, filter, p.root, p.level);
            if p.level == CONSTANT {
                constant_tests.push(test);
                continue;
            }
            let k = p.level as usize;
            if g.node(p.root).level == p.level {
                for &root in &p.edges {
                    let rises = match trend(g, root, p.level) {
                        Trend::Up => true,
                        Trend::Down => false,
                        _ => continue,
                    };
                    edges[k].push(Edge {
                        test: test_at(g, filter, root, p.level),
                        rises,
                        replaces: (root == p.root).then_some(own_tests[k].len()),
                    });
                }
            }
            own_tests[k].push(test);
        }
        let levels = own_tests
            .into_iter()
            .zip(edges)
            .enumerate()
            .map(|(k, (tests, edges))| {
                let mut divides: Vec<(Id, bool)> = parts
                    .iter()
                    .filter(|(_, p)| p.level >= k as i32)
                    .filter_map(|(_, p)| divided(g, p.root, k as i32))
                    .collect();
                divides.sort_unstable();
                divides.dedup();
                Level {
                    slot: slots_of_levels[k],
                    matters: flow
                        .reached
                        .iter()
                        .any(|&id| g.node(id).level == k as i32 && flow.last_use(id) > k as i32),
                    enter: flow.enter(g, k as i32),
                    key: flow.key(g, k, &tree.group[k], &prefix, &slots_of_levels),
                    tests,
                    edges,
                    divides,
                }
            })
            .collect();
        Nest {
            levels,
            prologue: flow.enter(g, CONSTANT),
            constant_tests,
            slots: g.nodes.len(),
            faults_reject: false,
            tree,
            space,
        }
    }
}

/// Nodes that decide the values of a domain.
pub fn domain_nodes(domain: &DomainNodes) -> Vec<Id> {
    match domain {
        DomainNodes::List(_) => Vec::new(),
        DomainNodes::Range { start, stop, step } => vec![*start, *stop, *step],
        DomainNodes::Divisors(of) => vec![*of],
        DomainNodes::Dynamic { uses, .. } => uses.iter().map(|(_, id)| *id).collect(),
    }
}

fn param_slots(g: &Graph, n: usize) -> Vec<Id> {
    let mut slots = vec![0; n];
    for (id, node) in g.nodes.iter().enumerate() {
        if let Op::Param(l) = node.op {
            slots[l as usize] = id as Id;
        }
    }
    slots
}

/// Who needs which node at which level.
struct Flow {
    reached: Vec<Id>,
    seen: Vec<bool>,
    /// Levels that read each node.
    uses: Vec<Vec<i32>>,
    /// What tests and domains read themselves, and at which level.
    roots: Vec<(Id, i32)>,
}

impl Flow {
    fn new(g: &Graph) -> Self {
        Self {
            reached: Vec::new(),
            seen: vec![false; g.nodes.len()],
            uses: vec![Vec::new(); g.nodes.len()],
            roots: Vec::new(),
        }
    }

    fn visit(&mut self, g: &Graph, root: Id, at: i32) {
        self.roots.push((root, at));
        let mut stack = vec![(root, at)];
        while let Some((id, at)) = stack.pop() {
            let i = id as usize;
            if !self.uses[i].contains(&at) {
                self.uses[i].push(at);
            }
            if self.seen[i] {
                continue;
            }
            self.seen[i] = true;
            self.reached.push(id);
            let level = g.node(id).level;
            stack.extend(g.args(id).iter().map(|&a| (a, level)));
        }
    }

    fn last_use(&self, id: Id) -> i32 {
        self.uses[id as usize]
            .iter()
            .copied()
            .max()
            .unwrap_or(i32::MIN)
    }

    /// Steps that compute, at a level, what deeper levels read; of constants also what their tests read, which have no steps.
    fn enter(&self, g: &Graph, level: i32) -> Vec<Step> {
        let mut wanted: Vec<Id> = Vec::new();
        let mut stack: Vec<Id> = self
            .reached
            .iter()
            .copied()
            .filter(|&id| {
                g.node(id).level == level && (self.last_use(id) > level || level == CONSTANT)
            })
            .collect();
        while let Some(id) = stack.pop() {
            if g.node(id).level == level && !wanted.contains(&id) && g.value(id).is_none() {
                wanted.push(id);
                stack.extend(g.args(id));
            }
        }
        wanted.sort_unstable();
        wanted
            .into_iter()
            .filter(|&id| !matches!(g.node(id).op, Op::Param(_)))
            .map(|id| step(g, id, &[]))
            .collect()
    }

    /// Slots that decide what lies in the group of levels headed by `k`.
    fn key(
        &self,
        g: &Graph,
        k: usize,
        group: &[bool],
        prefix: &Prefixes,
        params: &[Id],
    ) -> Option<Key> {
        if k == 0 {
            return None;
        }
        let mut below = vec![false; prefix.n];
        let mut live = Vec::new();
        for &id in &self.reached {
            let level = g.node(id).level;
            let in_group = |u: &i32| *u >= 0 && group[*u as usize];
            if level > CONSTANT && level < k as i32 && self.uses[id as usize].iter().any(in_group) {
                live.push(id);
                prefix.of(id).into_iter().for_each(|l| below[l] = true);
            }
        }
        let count = below.iter().filter(|b| **b).count();
        let results = live.len() <= count;
        let slots = if results {
            live
        } else {
            // As many parameters as results of them: the parameters are the shorter key.
            (0..k).filter(|&i| below[i]).map(|i| params[i]).collect()
        };
        let (slots, unordered) = if results {
            self.unordered(g, group, slots)
        } else {
            // What is read of them is not known here.
            (slots, Vec::new())
        };
        let repeats = results || count < k || !unordered.is_empty();
        (repeats && slots.len() <= MAX_KEY).then_some(Key { slots, unordered })
    }

    /// Puts slots next to each other whose parameters may exchange their values: the group reads them in tests `a != x`
    /// alone, with the same parameters x. So permutations are counted as sets.
    fn unordered(
        &self,
        g: &Graph,
        group: &[bool],
        slots: Vec<Id>,
    ) -> (Vec<Id>, Vec<std::ops::Range<usize>>) {
        let in_group = |level: i32| level >= 0 && group[level as usize];
        let readers = |id: Id| {
            let reads = move |&&r: &&Id| g.args(r).contains(&id);
            self.reached.iter().filter(reads).copied()
        };
        let mut classes: Vec<(Option<Vec<Id>>, Vec<Id>)> = Vec::new();
        for id in slots {
            let mut others = Vec::new();
            let only_differs = matches!(g.node(id).op, Op::Param(_))
                && !self.roots.iter().any(|&(r, at)| r == id && in_group(at))
                && readers(id).filter(|&r| in_group(g.node(r).level)).all(|r| {
                    let [a, b, _] = g.node(r).args;
                    others.push(if a == id { b } else { a });
                    g.node(r).op == Op::Ne
                        && self.roots.iter().any(|&(root, _)| root == r)
                        && readers(r).next().is_none()
                });
            others.sort_unstable();
            let of = (only_differs && !others.is_empty()).then_some(others);
            match classes.iter_mut().find(|(o, _)| o.is_some() && *o == of) {
                Some((_, ids)) => ids.push(id),
                None => classes.push((of, vec![id])),
            }
        }
        let (mut slots, mut unordered) = (Vec::new(), Vec::new());
        for (_, ids) in classes {
            let from = slots.len();
            slots.extend(ids);
            if slots.len() > from + 1 {
                unordered.push(from..slots.len());
            }
        }
        (slots, unordered)
    }
}

/// Longer keys cost more than they save.
const MAX_KEY: usize = 24;

/// Parameters below each node, as bits.
struct Prefixes {
    bits: Vec<Vec<u64>>,
    n: usize,
}

impl Prefixes {
    fn new(g: &Graph, n: usize) -> Self {
        let words = n.div_ceil(64);
        let mut bits: Vec<Vec<u64>> = Vec::with_capacity(g.nodes.len());
        for (id, node) in g.nodes.iter().enumerate() {
            let mut own = vec![0; words];
            if let Op::Param(l) = node.op {
                own[l as usize / 64] |= 1 << (l % 64);
            }
            for &a in g.args(id as Id) {
                for (o, b) in own.iter_mut().zip(&bits[a as usize]) {
                    *o |= b;
                }
            }
            bits.push(own);
        }
        Self { bits, n }
    }

    fn of(&self, id: Id) -> Vec<usize> {
        (0..self.n)
            .filter(|i| self.bits[id as usize][i / 64] >> (i % 64) & 1 == 1)
            .collect()
    }
}

fn test_at(g: &Graph, filter: usize, root: Id, level: i32) -> Test {
    // Parts that vary at this level, in order of creation: operands come first.
    let mut varying: Vec<Id> = Vec::new();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        if level != CONSTANT && g.node(id).level == level && !varying.contains(&id) {
            varying.push(id);
            stack.extend(g.args(id));
        }
    }
    varying.sort_unstable();
    let steps = varying
        .iter()
        .filter(|&&id| !matches!(g.node(id).op, Op::Param(_)))
        .map(|&id| step(g, id, &varying))
        .collect();
    Test {
        filter,
        root,
        column: column_of(root, &varying),
        candidates: varying
            .iter()
            .position(|&id| matches!(g.node(id).op, Op::Param(_)))
            .map_or(SCALAR, |i| i as u32),
        steps,
        columns: varying.len(),
        may_fail: g.node(root).may_fail,
    }
}

fn column_of(id: Id, varying: &[Id]) -> u32 {
    varying.binary_search(&id).map_or(SCALAR, |i| i as u32)
}

fn step(g: &Graph, id: Id, varying: &[Id]) -> Step {
    let n = g.node(id);
    let mut arg_columns = [SCALAR; 3];
    for (c, &a) in arg_columns.iter_mut().zip(g.args(id)) {
        *c = column_of(a, varying);
    }
    Step {
        op: n.op,
        slot: id,
        args: n.args,
        column: column_of(id, varying),
        arg_columns,
        may_fail: n.may_fail,
    }
}
