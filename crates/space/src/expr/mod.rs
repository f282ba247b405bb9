//! Expressions in the Python dialect of the tuning community: read into a tree by this crate,
//! never handed to a foreign interpreter.

mod ast;
mod cursor;
mod eval;
mod formula;
mod formula_functions;
mod functions;
mod operators;
mod parse;
mod token;

pub use ast::{BinaryOp, CompareOp, Expr, Kind, UnaryOp};
pub use eval::{Names, Scope, eval, eval_list};
pub use formula::{Expression, ExpressionError};
pub(crate) use functions::{FUNCTIONS, divisors, gcd};
pub(crate) use operators::{
    float_floor_div, float_mod, int_floor_div, int_mod, int_pow, int_shl, int_shr,
};
pub use parse::{Domain, parse, parse_domain};
