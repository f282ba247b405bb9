//! Why a call of a script gives no values.

use crate::expr::OperatorError;

/// Steps after which one call is stopped: it hangs, or returns no list of values.
pub(super) const CALL_STEPS: u64 = 20_000_000;
/// Steps of all calls for one space together: some tens of seconds.
pub(super) const TOTAL_STEPS: u64 = 400_000_000;
/// Elements of one list at most, characters of one string.
pub(super) const MAX_SIZE: usize = 1_000_000;
/// Calls of functions within each other at most.
pub(super) const MAX_CALLS: usize = 64;
/// Lists within each other at most.
pub(super) const MAX_NESTED: usize = 64;

/// A call of a script function that gives no values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ScriptError {
    /// All calls together exceeded the step limit.
    #[error(
        "the script took more than {TOTAL_STEPS} steps in all: it is called for too many points"
    )]
    TooManySteps,
    /// The script stopped with an error.
    #[error(
        "the script's `{function}` failed in line {line} of the script, column {column}: {cause}"
    )]
    Failed {
        /// The function that was called.
        function: String,
        /// Line of the script, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Why.
        cause: Cause,
    },
    /// The function takes another number of values.
    #[error("the script's {0}")]
    Arguments(String),
}

/// Why a statement or an expression failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Cause {
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// Of a function that expressions have too.
    #[error("{0}")]
    Function(String),
    #[error("it returns {kind}, not a list{}", if *kind == "`None`" { ": is `return` missing?" } else { "" })]
    NotAList { kind: &'static str },
    #[error("it returns a list with {0} in it")]
    InList(&'static str),
    #[error(
        "{0} changed while a loop goes through it: loop over a list of it, as in `for k in list(d)`"
    )]
    Changed(&'static str),
    #[error("`{0}` has no value yet")]
    Unset(String),
    #[error("index {index} of {length} values")]
    Index { index: i64, length: usize },
    #[error("an index is an integer, not {0}")]
    IndexKind(String),
    #[error("the step of a {0} is 0")]
    ZeroStep(&'static str),
    #[error("the dictionary has no key {0}")]
    Key(String),
    #[error("{0} cannot be a key or in a set: write a tuple")]
    Unhashable(&'static str),
    #[error("{0} has no elements")]
    NoElements(&'static str),
    #[error("the elements of {0} cannot be changed")]
    Fixed(&'static str),
    #[error("{wanted} names stand on the left, but there are {found} values")]
    Unpack { wanted: usize, found: usize },
    #[error("{of} has no method `{name}`{}", .nearest.map(|n| format!(": did you mean `{n}`?")).unwrap_or_default())]
    Method {
        of: &'static str,
        name: String,
        nearest: Option<&'static str>,
    },
    #[error("`{name}` takes {takes}, not {found}")]
    Arguments {
        name: String,
        takes: &'static str,
        found: usize,
    },
    #[error("`{name}` takes {takes}, not {found}")]
    ArgumentKind {
        name: String,
        takes: &'static str,
        found: &'static str,
    },
    #[error("{0}")]
    Absent(&'static str),
    #[error("a list of more than {MAX_SIZE} values")]
    LongList,
    #[error("a string of more than {MAX_SIZE} characters")]
    LongText,
    #[error("lists within each other more than {MAX_NESTED} deep")]
    Nested,
    #[error("calls within each other more than {MAX_CALLS} deep")]
    Calls,
    #[error("more than {CALL_STEPS} steps in one call: does it end?")]
    CallSteps,
    #[error("more than {TOTAL_STEPS} steps in all calls")]
    TotalSteps,
}

/// A cause and the byte of the script where it stands.
pub(super) struct Fault {
    pub at: usize,
    pub cause: Cause,
}

pub(super) type Run<T> = Result<T, Box<Fault>>;
pub(super) type Done<T> = Result<T, Cause>;

/// Adds the place to a cause.
pub(super) trait At<T> {
    fn at(self, at: usize) -> Run<T>;
}

impl<T> At<T> for Done<T> {
    #[inline]
    fn at(self, at: usize) -> Run<T> {
        self.map_err(|cause| Box::new(Fault { at, cause }))
    }
}
