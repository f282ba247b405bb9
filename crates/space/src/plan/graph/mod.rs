//! The expressions of a space as one graph: equal parts exist once, constants are folded, and
//! every node knows the deepest parameter it depends on.

pub(crate) mod lower;
mod lower_call;
mod lower_compare;
mod lower_list;
pub(crate) mod op;
pub(crate) mod solve;
pub(crate) mod symbols;
mod table;

use crate::plan::graph::op::{Bounds, Op, Type, bounds_of};
use hashbrown::HashMap;

pub type Id = u32;

/// Level of what depends on no parameter.
pub const CONSTANT: i32 = -1;

#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub op: Op,
    pub args: [Id; 3],
    pub kind: Type,
    /// Level of the deepest parameter below; [`CONSTANT`] for none.
    pub level: i32,
    pub bounds: Bounds,
    /// The node, or something below, may have no value at some points.
    pub may_fail: bool,
}

#[derive(Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    known: HashMap<(Op, [Id; 3], Type), Id>,
}

impl Graph {
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub fn args(&self, id: Id) -> &[Id] {
        let n = self.node(id);
        &n.args[..n.op.arity()]
    }

    pub fn constant(&mut self, bits: u64, kind: Type) -> Id {
        self.push(
            Op::Const(bits),
            [0; 3],
            Node {
                op: Op::Const(bits),
                args: [0; 3],
                kind,
                level: CONSTANT,
                bounds: match kind {
                    Type::Float => Bounds::floats(f64::from_bits(bits), f64::from_bits(bits)),
                    _ => Bounds::ints(bits as i64, bits as i64),
                },
                may_fail: false,
            },
        )
    }

    pub fn int(&mut self, i: i64) -> Id {
        self.constant(i as u64, Type::Int)
    }

    pub fn param(&mut self, level: u32, kind: Type, bounds: Bounds) -> Id {
        self.push(
            Op::Param(level),
            [0; 3],
            Node {
                op: Op::Param(level),
                args: [0; 3],
                kind,
                level: level as i32,
                bounds,
                may_fail: false,
            },
        )
    }

    pub fn value(&self, id: Id) -> Option<u64> {
        match self.node(id).op {
            Op::Const(v) => Some(v),
            _ => None,
        }
    }

    /// The node of an operation, folded where its operands are known.
    pub fn apply(&mut self, op: Op, args: &[Id], kind: Type) -> Id {
        if let Some(id) = self.shortcut(op, args) {
            return id;
        }
        let mut a = [0; 3];
        a[..args.len()].copy_from_slice(args);
        let v = |i: usize| args.get(i).and_then(|&id| self.value(id));
        if args.iter().all(|&id| self.value(id).is_some())
            && let Ok(bits) = op.apply(v(0).unwrap_or(0), v(1).unwrap_or(0), v(2).unwrap_or(0))
        {
            return self.constant(bits, kind);
        }
        let b = |i: usize| args.get(i).map_or(Bounds::ANY, |&id| self.node(id).bounds);
        let node = Node {
            op,
            args: a,
            kind,
            level: args
                .iter()
                .map(|&id| self.node(id).level)
                .max()
                .unwrap_or(CONSTANT),
            bounds: bounds_of(op, b(0), b(1), b(2)),
            may_fail: op.may_fail(b(0), b(1)) || args.iter().any(|&id| self.node(id).may_fail),
        };
        self.push(op, a, node)
    }

    fn push(&mut self, op: Op, args: [Id; 3], node: Node) -> Id {
        let next = self.nodes.len() as Id;
        let id = *self.known.entry((op, args, node.kind)).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }

    /// Logic with a known operand, and comparisons that bounds decide.
    fn shortcut(&mut self, op: Op, args: &[Id]) -> Option<Id> {
        let v = |i: usize| self.value(args[i]);
        match op {
            Op::And => match (v(0), v(1)) {
                (Some(0), _) => Some(args[0]),
                (Some(_), _) => Some(args[1]),
                (None, Some(1)) => Some(args[0]),
                _ => None,
            },
            Op::Or => match (v(0), v(1)) {
                (Some(0), _) => Some(args[1]),
                (Some(_), _) => Some(args[0]),
                (None, Some(0)) => Some(args[0]),
                _ => None,
            },
            Op::Select => v(0).map(|c| if c != 0 { args[1] } else { args[2] }),
            _ => None,
        }
    }
}
