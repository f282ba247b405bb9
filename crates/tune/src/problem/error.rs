//! Errors of problem files and of the values that they state for a config.

use greenup_space::{ExprError, SpaceError};

/// A problem file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct ProblemError {
    /// The file; empty where the message names it.
    pub path: String,
    /// What is wrong, with the line where it is known.
    pub message: String,
    /// The suggested fix.
    pub hint: Option<String>,
}

/// A value or a table of a problem file that is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ValueError {
    /// An expression cannot be parsed.
    #[error("{what} `{text}`: {cause}")]
    Expression {
        /// The key.
        what: String,
        /// The expression.
        text: String,
        /// The parser's message.
        cause: String,
    },
    /// A table of a command is invalid.
    #[error("{what}: {cause}")]
    Command {
        /// The table or key.
        what: String,
        /// What is wrong with it.
        cause: String,
    },
    /// A text cannot be parsed as an expression.
    #[error("{0}")]
    Syntax(String),
    /// An expression has no value, where only constants are known.
    #[error("{cause} in `{text}`: use constants")]
    Constants {
        /// The expression.
        text: String,
        /// The evaluator's message.
        cause: String,
    },
    /// A value that must be a number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// An unknown element type.
    #[error(
        "type `{name}` is not one of f64, f32, i64, i32, i16, i8, u64, u32, u16, u8{suggestion}"
    )]
    Type {
        /// The type.
        name: String,
        /// A suggested type, as the end of the message.
        suggestion: &'static str,
    },
    /// A type that is neither a name nor a valid expression; both errors.
    #[error("{0}: {1}")]
    TypeExpression(Box<Self>, Box<Self>),
    /// An invalid number of elements of an array.
    #[error("an array of {0} elements")]
    Size(f64),
    /// An argument with both `size` and `value`, or with neither.
    #[error("give `size` for an array or `value` for a scalar")]
    SizeOrValue,
    /// Bytes of a structure that are none.
    #[error("`bytes` are 1 to 4096 bytes, each as two hexadecimal digits")]
    Bytes,
    /// Bytes of a structure of another type.
    #[error("a structure by its `bytes` has type = \"u8\"")]
    BytesType,
    /// A key that would have no effect: its name, and why.
    #[error("`{0}` has no effect: {1}")]
    Unused(&'static str, &'static str),
    /// The same of a table, or of its key.
    #[error("[{table}]{}{key} has no effect: {why}", if key.is_empty() { "" } else { " " })]
    UnusedKey {
        /// The table.
        table: &'static str,
        /// The key; empty for the table.
        key: &'static str,
        /// Why.
        why: &'static str,
    },
    /// A value that its type would change.
    #[error("{value}: {} cannot hold it as it is", kind.c_name())]
    DoesNotFit {
        /// The value, or the fill.
        value: String,
        /// The type.
        kind: super::Type,
    },
    /// `answer` or `symbol` of a scalar.
    #[error("`answer` and `symbol` are for arrays: give `size`")]
    OfArrays,
    /// A tolerance of an answer is negative or not finite.
    #[error("answer: atol and rtol are finite numbers from 0 up")]
    AnswerTolerance,
    /// An answer of an array that kernels do not write.
    #[error("answer: the role of the array must be out or inout")]
    AnswerRole,
    /// A tensor map of elements that the copy engine does not know.
    #[error("its elements must be f64, f32, i64 or i32")]
    MapElement,
    /// A check that is none.
    #[error("[check] command: {0}")]
    Check(String),
    /// Random values of an unsigned type without bounds.
    #[error(
        "fill `random` is −1…1 and `normal` about 0, which an unsigned type cannot hold: use random(LO, HI)"
    )]
    UnsignedRandom,
    /// Unknown initial values.
    #[error(
        "fill `{0}` is not random, random(LO, HI), normal, zeros, index, file:PATH or a number"
    )]
    Fill(String),
    /// An argument is invalid.
    #[error("argument `{name}`: {cause}")]
    Argument {
        /// Its name.
        name: String,
        /// What is wrong with it.
        cause: Box<Self>,
    },
    /// The tolerance of the reference cannot be evaluated.
    #[error("[reference] tolerance: {0}")]
    Tolerance(Box<Self>),
    /// The tolerance of the reference is no share of a value.
    #[error(
        "[reference] tolerance: invalid {0}: use a number from 0 to below 1, a share of the largest value"
    )]
    ToleranceRange(f64),
    /// A tensor map is invalid.
    #[error("[[maps]] of `{of}`: {cause}")]
    Map {
        /// The array.
        of: String,
        /// What is wrong with it.
        cause: Box<Self>,
    },
    /// A texture is invalid.
    #[error("[[textures]] of `{of}`: {cause}")]
    Texture {
        /// The array.
        of: String,
        /// What is wrong with it.
        cause: Box<Self>,
    },
    /// A tensor map or texture of an array that is not an argument.
    #[error("no such array among the arguments")]
    NoArray,
    /// Sizes, box and steps of a tensor map differ in length.
    #[error("give 1 to 5 sizes, as many numbers in `box`, and one step less")]
    MapSizes,
    /// An unknown swizzle of a tensor map.
    #[error("swizzle {0} is not 0, 32, 64 or 128")]
    Swizzle(u32),
    /// A CUDA or OpenCL problem without launches.
    #[error("has no [[launch]]: a CUDA or OpenCL problem says what is launched")]
    NoLaunch,
    /// Launches of a problem that is neither CUDA nor OpenCL.
    #[error("has [[launch]], but its language is neither cuda nor opencl")]
    LaunchWithoutCuda,
    /// A table that OpenCL has not.
    #[error("has {0}, which OpenCL kernels do not have: {1}")]
    NotInOpenCl(&'static str, &'static str),
    /// The name of the function to call is missing.
    #[error("[build] names no entry, the function to call")]
    NoEntry,
    /// A grid or block with fewer than one or more than three numbers.
    #[error("{what} of `{kernel}` has 1 to 3 numbers")]
    Numbers {
        /// Grid or block.
        what: String,
        /// The kernel.
        kernel: String,
    },
    /// A filter of `[compiled]` cannot be parsed.
    #[error("[compiled] `{name}`: `{text}`: {cause}")]
    Filter {
        /// Name of the filter.
        name: String,
        /// The expression.
        text: String,
        /// The parser's message.
        cause: String,
    },
}

impl ValueError {
    /// The suggested fix.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::NoLaunch => Some("[[launch]] with kernel, grid and block".to_owned()),
            _ => None,
        }
    }
}

/// A value of a problem that is invalid for a config.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// An expression cannot be evaluated.
    #[error("{0}")]
    Expression(String),
    /// An invalid grid, block or shared-memory size.
    #[error("a launch of {0} blocks, threads or bytes")]
    Launch(String),
    /// An invalid size of a tensor map.
    #[error("a tensor map with a size of {0}")]
    TensorMap(String),
    /// An invalid size of a texture's texels.
    #[error("a texture with texels of {0} bytes: use 4, 8 or 16")]
    Texel(String),
    /// An invalid clock (MHz) or power limit (W).
    #[error("invalid clock or power limit: {name} = {value}")]
    Clock {
        /// Name of the parameter.
        name: String,
        /// Its value.
        value: String,
    },
    /// A filter of `[compiled]` cannot be evaluated.
    #[error("[compiled] `{name}`: {message}")]
    Filter {
        /// Name of the filter.
        name: String,
        /// The evaluator's message.
        message: String,
    },
    /// An invalid count of `[work]`.
    #[error("invalid work: {0}")]
    Work(String),
    /// Invalid initial values of an array.
    #[error("{0}")]
    Fill(#[from] ValueError),
}

impl From<ExprError> for ConfigError {
    fn from(e: ExprError) -> Self {
        Self::Expression(e.message)
    }
}

impl From<SpaceError> for ConfigError {
    fn from(e: SpaceError) -> Self {
        Self::Expression(e.message)
    }
}
