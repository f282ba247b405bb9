//! The tree of an expression.

use crate::error::Span;
use crate::value::Value;

/// A node and where it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: Kind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Literal(Value),
    Name(String),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a < b <= c`: first operand, then each comparison with its right side.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `and` of all.
    All(Vec<Expr>),
    /// `or` of all.
    Any(Vec<Expr>),
    /// `then if condition else otherwise`.
    IfElse {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// List or tuple.
    List(Vec<Expr>),
    Call(String, Vec<Expr>),
    /// `[item for name in source if condition]`.
    Comprehension {
        item: Box<Expr>,
        name: String,
        source: Box<Expr>,
        condition: Option<Box<Expr>>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Negate,
    Plus,
    Not,
    Invert,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
}

impl BinaryOp {
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::FloorDiv => "//",
            Self::Mod => "%",
            Self::Pow => "**",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
}

impl Expr {
    /// Calls `f` with each direct part.
    pub fn children<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            Kind::Literal(_) | Kind::Name(_) => {}
            Kind::Unary(_, a) => f(a),
            Kind::Binary(_, a, b) => {
                f(a);
                f(b);
            }
            Kind::Compare(a, rest) => {
                f(a);
                rest.iter().for_each(|(_, e)| f(e));
            }
            Kind::All(items) | Kind::Any(items) | Kind::List(items) | Kind::Call(_, items) => {
                items.iter().for_each(f);
            }
            Kind::IfElse {
                condition,
                then,
                otherwise,
            } => {
                f(condition);
                f(then);
                f(otherwise);
            }
            Kind::Comprehension {
                item,
                source,
                condition,
                ..
            } => {
                f(source);
                f(item);
                if let Some(c) = condition {
                    f(c);
                }
            }
        }
    }

    /// Levels of the tree below this node.
    pub fn height(&self) -> usize {
        let mut highest = 0;
        let mut stack = vec![(self, 0)];
        while let Some((e, height)) = stack.pop() {
            highest = highest.max(height);
            e.children(&mut |child| stack.push((child, height + 1)));
        }
        highest
    }

    /// Calls `f` with each free name, in order of appearance.
    pub fn names<'a>(&'a self, f: &mut dyn FnMut(&'a str, Span)) {
        self.walk(&mut Vec::new(), f);
    }

    fn walk<'a>(&'a self, bound: &mut Vec<&'a str>, f: &mut dyn FnMut(&'a str, Span)) {
        match &self.kind {
            Kind::Name(n) => {
                if !bound.contains(&n.as_str()) {
                    f(n, self.span);
                }
            }
            Kind::Comprehension {
                item,
                name,
                source,
                condition,
            } => {
                source.walk(bound, f);
                bound.push(name);
                item.walk(bound, f);
                if let Some(c) = condition {
                    c.walk(bound, f);
                }
                bound.pop();
            }
            _ => self.children(&mut |child| child.walk(bound, f)),
        }
    }
}
