//! Expressions in the Python dialect of the tuning community: read into a tree by this crate,
//! never handed to a foreign interpreter.

mod ast;
mod eval;
mod parse;
mod token;

pub use ast::{BinaryOp, CompareOp, Expr, Kind, UnaryOp};
pub(crate) use eval::{
    FUNCTIONS, divisors, float_floor_div, float_mod, gcd, int_floor_div, int_mod, int_pow, int_shl,
    int_shr,
};
pub use eval::{Names, Scope, eval, eval_list};
pub use parse::{Domain, parse, parse_domain};
