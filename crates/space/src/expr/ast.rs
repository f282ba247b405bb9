//! The tree of an expression.

use crate::error::Span;
use crate::value::Value;

/// A node and where it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What the node is.
    pub kind: Kind,
    /// Bytes of the text.
    pub span: Span,
}

/// The kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A constant.
    Literal(Value),
    /// A parameter, constant or derived value.
    Name(String),
    /// An operator on one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator on two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a < b <= c`: first operand, then each comparison with its right side.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `and` of all.
    All(Vec<Expr>),
    /// `or` of all.
    Any(Vec<Expr>),
    /// `then if condition else otherwise`.
    IfElse {
        /// Decides which branch is evaluated.
        condition: Box<Expr>,
        /// Value if true.
        then: Box<Expr>,
        /// Value if false.
        otherwise: Box<Expr>,
    },
    /// List or tuple.
    List(Vec<Expr>),
    /// `tuple[i]`, from the end where `i` is negative.
    Index(Box<Expr>, Box<Expr>),
    /// A function and its arguments.
    Call(String, Vec<Expr>),
    /// `[item for name in source if condition]`.
    Comprehension {
        /// Value of each element.
        item: Box<Expr>,
        /// Name of the element.
        name: String,
        /// List of the elements.
        source: Box<Expr>,
        /// Elements for which it is false are left out.
        condition: Option<Box<Expr>>,
    },
}

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-a`.
    Negate,
    /// `+a`.
    Plus,
    /// `not a`.
    Not,
    /// `~a`.
    Invert,
}

/// Arithmetic and bit operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, always a float.
    Div,
    /// `a // b`, rounded down.
    FloorDiv,
    /// `a % b`, with the sign of b.
    Mod,
    /// `a ** b`.
    Pow,
    /// `a << b`.
    Shl,
    /// `a >> b`.
    Shr,
    /// `a & b`.
    BitAnd,
    /// `a | b`.
    BitOr,
    /// `a ^ b`.
    BitXor,
}

impl BinaryOp {
    /// The operator as written.
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

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `a == b`.
    Eq,
    /// `a != b`.
    Ne,
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
    /// `a in list`.
    In,
    /// `a not in list`.
    NotIn,
}

impl Expr {
    /// Calls `f` with each direct part.
    pub fn children<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            Kind::Literal(_) | Kind::Name(_) => {}
            Kind::Unary(_, a) => f(a),
            Kind::Binary(_, a, b) | Kind::Index(a, b) => {
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
