//! Expressions in the Python dialect of the tuning community: read into a tree by this crate,
//! never handed to a foreign interpreter.

mod ast;
mod comparable;
mod cursor;
mod eval;
mod formula;
mod formula_functions;
mod functions;
mod operators;
mod parse;
mod token;

pub use ast::{BinaryOp, CompareOp, Expr, ExprKind, Form, Loop, OfScript, UnaryOp};
pub(crate) use cursor::Parser;
pub(crate) use eval::call::{list_of_values, of_values};
pub use eval::{Functions, Names, Scope, eval, eval_list};
pub use formula::{Expression, ExpressionError};
pub(crate) use functions::{LISTS, divisors, functions, gcd, takes, takes_not};
pub(crate) use operators::{
    DIVISION_BY_ZERO, DOMAIN, EXACT, FLOAT_OVERFLOW, INDEX, OVERFLOW, OperatorError, binary,
    compare, float_floor_div, float_mod, float_pow, int_floor_div, int_mod, int_pow, int_quotient,
    int_shl, int_shr, of_ints, unary,
};
pub(crate) use parse::reserved;
pub use parse::{Domain, parse, parse_domain};
pub(crate) use token::{Token, tokens};
