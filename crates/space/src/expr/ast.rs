//! The tree of an expression.

mod of_script;

use crate::error::Span;
use crate::value::Value;
pub use of_script::{Loop, OfScript};

/// A node and where it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What the node is.
    pub kind: ExprKind,
    /// Bytes of the text.
    pub span: Span,
}

/// The kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
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
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `{a, b}`: what is equal is there once.
    Set(Vec<Expr>),
    /// `tuple[i]`, from the end where `i` is negative.
    Index(Box<Expr>, Box<Expr>),
    /// A function and its arguments.
    Call(String, Vec<Expr>),
    /// `[item for name in source if condition]`.
    Comprehension {
        /// The brackets.
        form: Form,
        /// Value of each element.
        item: Box<Expr>,
        /// Name of the element.
        name: String,
        /// List of the elements.
        source: Box<Expr>,
        /// Elements for which it is false are left out.
        condition: Option<Box<Expr>>,
    },
    /// What only scripts have.
    Script(Box<OfScript>),
}

/// What a comprehension makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `[…]`.
    List,
    /// `{…}`.
    Set,
    /// `{key: value …}`, in scripts: each element is a pair.
    Dict,
    /// Of a call alone: each element is found when it is needed.
    Generator,
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
    /// `a is b`.
    Is,
    /// `a is not b`.
    IsNot,
}

impl CompareOp {
    /// The operator as written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
            Self::Is => "is",
            Self::IsNot => "is not",
        }
    }
}

impl Expr {
    /// Calls `f` with each direct part.
    pub fn children<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Name(_) => {}
            ExprKind::Unary(_, a) => f(a),
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => {
                f(a);
                f(b);
            }
            ExprKind::Compare(a, rest) => {
                f(a);
                rest.iter().for_each(|(_, e)| f(e));
            }
            ExprKind::All(items)
            | ExprKind::Any(items)
            | ExprKind::List(items)
            | ExprKind::Tuple(items)
            | ExprKind::Set(items)
            | ExprKind::Call(_, items) => items.iter().for_each(f),
            ExprKind::IfElse {
                condition,
                then,
                otherwise,
            } => {
                f(condition);
                f(then);
                f(otherwise);
            }
            ExprKind::Comprehension {
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
            ExprKind::Script(e) => e.children(f),
        }
    }

    /// Nodes of the tree.
    pub(crate) fn size(&self) -> usize {
        let mut size = 0;
        let mut stack = vec![self];
        while let Some(e) = stack.pop() {
            size += 1;
            e.children(&mut |child| stack.push(child));
        }
        size
    }

    /// The expression with another in place of a name; `None` where a list inside would give the other's names its own
    /// meaning.
    pub(crate) fn with(&self, name: &str, other: &Expr) -> Option<Expr> {
        let one = |e: &Expr| e.with(name, other);
        let boxed = |e: &Expr| one(e).map(Box::new);
        let all = |list: &[Expr]| list.iter().map(one).collect::<Option<Vec<_>>>();
        let kind = match &self.kind {
            ExprKind::Name(n) if n == name => return Some(other.clone()),
            ExprKind::Literal(_) | ExprKind::Name(_) => self.kind.clone(),
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, boxed(a)?),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, boxed(a)?, boxed(b)?),
            ExprKind::Compare(first, rest) => {
                let rest = rest.iter().map(|(op, e)| Some((*op, one(e)?)));
                ExprKind::Compare(boxed(first)?, rest.collect::<Option<_>>()?)
            }
            ExprKind::All(items) => ExprKind::All(all(items)?),
            ExprKind::Any(items) => ExprKind::Any(all(items)?),
            ExprKind::IfElse {
                condition,
                then,
                otherwise,
            } => ExprKind::IfElse {
                condition: boxed(condition)?,
                then: boxed(then)?,
                otherwise: boxed(otherwise)?,
            },
            ExprKind::List(items) => ExprKind::List(all(items)?),
            ExprKind::Tuple(items) => ExprKind::Tuple(all(items)?),
            ExprKind::Set(items) => ExprKind::Set(all(items)?),
            ExprKind::Index(a, b) => ExprKind::Index(boxed(a)?, boxed(b)?),
            ExprKind::Call(n, args) => ExprKind::Call(n.clone(), all(args)?),
            ExprKind::Script(_) => return None,
            ExprKind::Comprehension {
                form,
                item,
                name: own,
                source,
                condition,
            } => {
                let mut captured = false;
                other.names(&mut |n, _| captured |= n == own);
                if captured && own != name {
                    return None;
                }
                let inner = |e: &Expr| {
                    if own == name {
                        Some(Box::new(e.clone()))
                    } else {
                        boxed(e)
                    }
                };
                ExprKind::Comprehension {
                    form: *form,
                    item: inner(item)?,
                    name: own.clone(),
                    source: boxed(source)?,
                    condition: match condition {
                        Some(c) => Some(inner(c)?),
                        None => None,
                    },
                }
            }
        };
        Some(Expr {
            kind,
            span: self.span,
        })
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
            ExprKind::Name(n) => {
                if !bound.contains(&n.as_str()) {
                    f(n, self.span);
                }
            }
            ExprKind::Comprehension {
                item,
                name,
                source,
                condition,
                ..
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
