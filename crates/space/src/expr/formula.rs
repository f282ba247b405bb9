//! Formulas of real variables: the same grammar, evaluated in `f64`.

use super::ast::{BinaryOp, CompareOp, Expr, ExprKind, UnaryOp};
use super::formula_functions::{Function, constant, function};
use super::parse::parse_formula;
use crate::error::{ExprError, Span};

/// A formula of named real variables, compiled once and evaluated many times.
///
/// The grammar is that of space files, with two differences: every number is an `f64` with IEEE
/// arithmetic (`1/2` is 0.5, `1/0` is infinite), and `^` is power like `**`. A comparison is 1 or
/// 0, and any number except 0 is true.
///
/// * operators: `+ - * / // % ** ^`, `== != < <= > >=`, `and or not` (`&& || !`),
///   `a if condition else b`
/// * functions: `sqrt cbrt exp ln log log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh
///   acosh atanh abs floor ceil round trunc fract sign signum float int`, `pow(a, b)`,
///   `atan2(y, x)`, `hypot(a, b)`, and `min` and `max` of two or more values
/// * constants: `pi`, `tau`, `e` (also in capitals), unless a variable has this name
///
/// ```
/// use greenup_space::expr::Expression;
///
/// let f = Expression::parse("1 + 0.1*sin(pi*x) if r < 2 else exp(-r)", &["x", "r"])?;
/// assert_eq!(f.eval_f64(&[0.5, 1.0])?, 1.1);
/// let wrong = Expression::parse("exp(-q)", &["x", "r"]).unwrap_err();
/// assert_eq!(wrong.span().map(|s| (s.from, s.to)), Some((5, 6)));
/// # Ok::<(), greenup_space::expr::ExpressionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression {
    root: Node,
    variables: usize,
}

/// Why a formula cannot be parsed or evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// The text is not an expression.
    #[error(transparent)]
    Syntax(#[from] ExprError),
    /// A name that is neither a variable nor a constant.
    #[error("unknown variable `{name}`; the variables are {}", .known.join(", "))]
    UnknownName {
        /// The name.
        name: String,
        /// Where it is.
        span: Span,
        /// The variables of this expression.
        known: Vec<String>,
    },
    /// A function that does not exist.
    #[error("unknown function `{name}`")]
    UnknownFunction {
        /// Its name.
        name: String,
        /// The call.
        span: Span,
    },
    /// A call with the wrong number of arguments.
    #[error("`{name}` takes {expected}, not {given}")]
    Arguments {
        /// The function.
        name: String,
        /// The call.
        span: Span,
        /// Number of arguments that it takes.
        expected: &'static str,
        /// Number of arguments in the call.
        given: usize,
    },
    /// Strings, lists and bit operations have no real value.
    #[error("{what} cannot be used in a formula of real numbers")]
    NotReal {
        /// The construct.
        what: String,
        /// Where it is.
        span: Span,
    },
    /// `eval_f64` was called with the wrong number of values.
    #[error("the expression has {expected} variables, but {given} values were passed")]
    ValueCount {
        /// Variables of the expression.
        expected: usize,
        /// Values in the call.
        given: usize,
    },
}

impl ExpressionError {
    /// The bytes of the text at fault, if the text is.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Syntax(e) => Some(e.span),
            Self::UnknownName { span, .. }
            | Self::UnknownFunction { span, .. }
            | Self::Arguments { span, .. }
            | Self::NotReal { span, .. } => Some(*span),
            Self::ValueCount { .. } => None,
        }
    }
}

type Compiled<T = Node> = Result<T, ExpressionError>;

#[derive(Clone, Debug)]
enum Node {
    Constant(f64),
    Variable(usize),
    Negate(Box<Node>),
    Not(Box<Node>),
    Binary(fn(f64, f64) -> f64, Box<[Node; 2]>),
    Unary(fn(f64) -> f64, Box<Node>),
    /// Left fold of the values by a function of two, as in `min(a, b, c)`.
    Fold(fn(f64, f64) -> f64, Vec<Node>),
    Compare(Box<Node>, Vec<(CompareOp, Node)>),
    All(Vec<Node>),
    Any(Vec<Node>),
    If(Box<[Node; 3]>),
}

impl Expression {
    /// Parses `text`, in which `variables` may occur.
    ///
    /// # Errors
    /// Syntax, unknown names and functions, wrong numbers of arguments, strings and lists; each
    /// with the bytes of `text` at fault.
    pub fn parse(text: &str, variables: &[&str]) -> Result<Self, ExpressionError> {
        Ok(Self {
            root: compile(&parse_formula(text)?, variables)?,
            variables: variables.len(),
        })
    }

    /// The value at `values`, one for each variable in the order of [`Expression::parse`]. It is
    /// infinite or NaN where IEEE arithmetic says so.
    ///
    /// # Errors
    /// [`ExpressionError::ValueCount`] if the number of values is wrong.
    pub fn eval_f64(&self, values: &[f64]) -> Result<f64, ExpressionError> {
        if values.len() != self.variables {
            return Err(ExpressionError::ValueCount {
                expected: self.variables,
                given: values.len(),
            });
        }
        Ok(self.root.eval(values))
    }
}

fn compile(e: &Expr, variables: &[&str]) -> Compiled {
    let one = |e: &Expr| compile(e, variables);
    let boxed = |e: &Expr| one(e).map(Box::new);
    let all = |list: &[Expr]| list.iter().map(one).collect::<Compiled<Vec<_>>>();
    let not_real = |what: String| ExpressionError::NotReal { what, span: e.span };
    Ok(match &e.kind {
        ExprKind::Literal(v) => match v.as_float() {
            Some(x) => Node::Constant(x),
            None => return Err(not_real("a string".into())),
        },
        ExprKind::Name(name) => match variables.iter().position(|v| v == name) {
            Some(i) => Node::Variable(i),
            None => Node::Constant(constant(name).ok_or_else(|| ExpressionError::UnknownName {
                name: name.clone(),
                span: e.span,
                known: variables.iter().map(|v| (*v).to_owned()).collect(),
            })?),
        },
        ExprKind::Unary(UnaryOp::Plus, a) => one(a)?,
        ExprKind::Unary(UnaryOp::Negate, a) => Node::Negate(boxed(a)?),
        ExprKind::Unary(UnaryOp::Not, a) => Node::Not(boxed(a)?),
        ExprKind::Unary(UnaryOp::Invert, _) => return Err(not_real("`~`".into())),
        ExprKind::Binary(op, a, b) => {
            let apply: fn(f64, f64) -> f64 = match op {
                BinaryOp::Add => |a, b| a + b,
                BinaryOp::Sub => |a, b| a - b,
                BinaryOp::Mul => |a, b| a * b,
                BinaryOp::Div => |a, b| a / b,
                BinaryOp::FloorDiv => |a, b| (a / b).floor(),
                BinaryOp::Mod => |a, b| a - b * (a / b).floor(),
                BinaryOp::Pow => power,
                _ => return Err(not_real(format!("`{}`", op.symbol()))),
            };
            Node::Binary(apply, Box::new([one(a)?, one(b)?]))
        }
        ExprKind::Compare(first, rest) => Node::Compare(
            boxed(first)?,
            rest.iter()
                .map(|(op, right)| match op {
                    CompareOp::In | CompareOp::NotIn => Err(not_real("`in`".into())),
                    CompareOp::Is | CompareOp::IsNot => Err(not_real("`is`".into())),
                    op => Ok((*op, one(right)?)),
                })
                .collect::<Compiled<_>>()?,
        ),
        ExprKind::All(items) => Node::All(all(items)?),
        ExprKind::Any(items) => Node::Any(all(items)?),
        ExprKind::IfElse {
            condition,
            then,
            otherwise,
        } => Node::If(Box::new([one(condition)?, one(then)?, one(otherwise)?])),
        ExprKind::Call(name, args) => return call(name, e.span, all(args)?),
        ExprKind::List(_)
        | ExprKind::Tuple(_)
        | ExprKind::Set(_)
        | ExprKind::Index(..)
        | ExprKind::Script(_)
        | ExprKind::Comprehension { .. } => {
            return Err(not_real("a list".into()));
        }
    })
}

fn call(name: &str, span: Span, args: Vec<Node>) -> Compiled {
    let found = function(name).ok_or_else(|| ExpressionError::UnknownFunction {
        name: name.to_owned(),
        span,
    })?;
    let wrong = |expected, given| ExpressionError::Arguments {
        name: name.to_owned(),
        span,
        expected,
        given,
    };
    match found {
        Function::One(f) => match <[Node; 1]>::try_from(args) {
            Ok([a]) => Ok(Node::Unary(f, Box::new(a))),
            Err(args) => Err(wrong("one value", args.len())),
        },
        Function::Two(f) => match <[Node; 2]>::try_from(args) {
            Ok(both) => Ok(Node::Binary(f, Box::new(both))),
            Err(args) => Err(wrong("two values", args.len())),
        },
        Function::Many(_) if args.len() < 2 => Err(wrong("two or more values", args.len())),
        Function::Many(f) => Ok(Node::Fold(f, args)),
    }
}

/// Exact repeated products for small integer exponents.
fn power(a: f64, b: f64) -> f64 {
    if b.trunc() == b && b.abs() <= 1024.0 {
        a.powi(b as i32)
    } else {
        a.powf(b)
    }
}

impl Node {
    fn eval(&self, x: &[f64]) -> f64 {
        let logical = |b: bool| f64::from(u8::from(b));
        match self {
            Self::Constant(c) => *c,
            Self::Variable(i) => x[*i],
            Self::Negate(a) => -a.eval(x),
            Self::Not(a) => logical(a.eval(x) == 0.0),
            Self::Binary(f, both) => f(both[0].eval(x), both[1].eval(x)),
            Self::Unary(f, a) => f(a.eval(x)),
            Self::Fold(f, args) => args.iter().map(|a| a.eval(x)).reduce(f).unwrap_or(f64::NAN),
            Self::Compare(first, rest) => {
                let mut left = first.eval(x);
                logical(rest.iter().all(|(op, right)| {
                    let right = right.eval(x);
                    let holds = match op {
                        CompareOp::Eq => left == right,
                        CompareOp::Ne => left != right,
                        CompareOp::Lt => left < right,
                        CompareOp::Le => left <= right,
                        CompareOp::Gt => left > right,
                        CompareOp::Ge => left >= right,
                        CompareOp::In | CompareOp::NotIn | CompareOp::Is | CompareOp::IsNot => {
                            false
                        }
                    };
                    left = right;
                    holds
                }))
            }
            Self::All(items) => logical(items.iter().all(|i| i.eval(x) != 0.0)),
            Self::Any(items) => logical(items.iter().any(|i| i.eval(x) != 0.0)),
            Self::If(parts) => {
                if parts[0].eval(x) != 0.0 {
                    parts[1].eval(x)
                } else {
                    parts[2].eval(x)
                }
            }
        }
    }
}
