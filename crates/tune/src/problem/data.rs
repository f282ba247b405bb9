//! Arguments of a kernel: as a problem file has them, and with their sizes known.

use serde::{Deserialize, Deserializer, Serialize};
use std::path::PathBuf;

/// Type of an argument or of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// 64-bit floating point.
    F64,
    /// 32-bit floating point.
    F32,
    /// 64-bit signed integer.
    I64,
    /// 32-bit signed integer.
    I32,
    /// 16-bit signed integer.
    I16,
    /// 8-bit signed integer.
    I8,
    /// 64-bit unsigned integer.
    U64,
    /// 32-bit unsigned integer.
    U32,
    /// 16-bit unsigned integer.
    U16,
    /// 8-bit unsigned integer.
    U8,
}

impl Type {
    /// Size, bytes.
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::I16 | Self::U16 => 2,
            Self::I8 | Self::U8 => 1,
        }
    }

    /// Name in C.
    pub fn c_name(self) -> &'static str {
        match self {
            Self::F64 => "double",
            Self::F32 => "float",
            Self::I64 => "int64_t",
            Self::I32 => "int32_t",
            Self::I16 => "int16_t",
            Self::I8 => "int8_t",
            Self::U64 => "uint64_t",
            Self::U32 => "uint32_t",
            Self::U16 => "uint16_t",
            Self::U8 => "uint8_t",
        }
    }

    /// Whether its values are whole numbers.
    pub fn is_integer(self) -> bool {
        !matches!(self, Self::F64 | Self::F32)
    }

    /// Whether a value can be stored without a change; of floating-point types, rounding is none.
    pub fn holds(self, x: f64) -> bool {
        let whole = |lo: f64, hi: f64| x.trunc() == x && (lo..hi).contains(&x);
        match self {
            Self::F64 => true,
            Self::F32 => !x.is_finite() || (x as f32).is_finite(),
            Self::I64 => whole(-(2.0_f64.powi(63)), 2.0_f64.powi(63)),
            Self::I32 => whole(-(2.0_f64.powi(31)), 2.0_f64.powi(31)),
            Self::I16 => whole(-32768.0, 32768.0),
            Self::I8 => whole(-128.0, 128.0),
            Self::U64 => whole(0.0, 2.0_f64.powi(64)),
            Self::U32 => whole(0.0, 2.0_f64.powi(32)),
            Self::U16 => whole(0.0, 65536.0),
            Self::U8 => whole(0.0, 256.0),
        }
    }

    /// Whether it has no negative values.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Self::U64 | Self::U32 | Self::U16 | Self::U8)
    }
}

/// Whether a kernel reads or writes an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Read only.
    #[default]
    In,
    /// Written.
    Out,
    /// Read and written.
    InOut,
    /// May be changed; it is neither restored between runs nor compared.
    Scratch,
}

/// The values of an array after a run that are right: |x − y| ≤ `atol` + `rtol` |x| for a value x and the right one y.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedValues {
    /// File of raw elements, as many as the array has, relative to the problem file.
    pub file: PathBuf,
    /// Absolute error allowed.
    #[serde(default)]
    pub atol: f64,
    /// Error allowed over the value.
    #[serde(default)]
    pub rtol: f64,
}

/// Largest errors allowed, over the largest value of the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Of floating-point numbers.
    pub real: f64,
    /// Of integers.
    pub whole: f64,
}

impl Tolerance {
    /// That of a type.
    pub fn of(self, kind: Type) -> f64 {
        if kind.is_integer() {
            self.whole
        } else {
            self.real
        }
    }
}

/// What an array holds at the start.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Fill {
    /// Every element.
    Number(f64),
    /// `random` (−1…1), `normal`, `index`, `zeros`, `random(LO, HI)`, or `file:PATH` of raw
    /// elements.
    Named(String),
}

impl Default for Fill {
    fn default() -> Self {
        Self::Named("random".into())
    }
}

impl Fill {
    /// Bounds of `random(LO, HI)`.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let Self::Named(name) = self else { return None };
        let inside = name.strip_prefix("random(")?.strip_suffix(')')?;
        let (lo, hi) = inside.split_once(',')?;
        let (lo, hi) = (lo.trim().parse().ok()?, hi.trim().parse().ok()?);
        let finite = |x: f64| x.is_finite();
        (lo < hi && finite(lo) && finite(hi)).then_some((lo, hi))
    }
}

/// An argument in a problem file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Name of the argument.
    pub name: String,
    /// Type of a scalar or of an array's elements: its name, or an expression of constants that
    /// gives it.
    #[serde(rename = "type")]
    pub kind: String,
    /// Elements of an array: an expression of constants.
    #[serde(default, deserialize_with = "expression")]
    pub size: Option<String>,
    /// Value of a scalar: an expression of constants.
    #[serde(default, deserialize_with = "expression")]
    pub value: Option<String>,
    /// Bytes of a structure that GPU kernels take by value, as hexadecimal digits; its type is u8.
    pub bytes: Option<String>,
    /// Initial values; random when not given.
    pub fill: Option<Fill>,
    /// Whether the kernel reads or writes it; it reads it when not given.
    pub role: Option<Role>,
    /// The right values after a run.
    pub answer: Option<ExpectedValues>,
    /// Name of the kernel's constant memory that it is copied to: it is not passed to the kernel. CUDA only.
    pub symbol: Option<String>,
}

/// An argument with its sizes known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Name of the argument.
    pub name: String,
    /// Type of the scalar or of the array's elements.
    pub kind: Type,
    /// `None` for a scalar.
    pub len: Option<usize>,
    /// Value of a scalar.
    pub value: f64,
    /// Bytes of a structure that is passed by value; empty for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes: Vec<u8>,
    /// Initial values.
    pub fill: Fill,
    /// Whether the kernel reads or writes it.
    pub role: Role,
    /// The right values after a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ExpectedValues>,
    /// Name of the kernel's constant memory that it is copied to, instead of being passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
}

impl Data {
    /// Whether two seeds give different contents.
    pub fn varies(&self) -> bool {
        let fixed = match &self.fill {
            Fill::Number(_) => true,
            Fill::Named(name) => {
                ["zeros", "index"].contains(&name.as_str()) || name.starts_with("file:")
            }
        };
        self.len.is_some() && self.role != Role::Out && !fixed
    }
}

/// An expression: a number as it is, or text.
fn expression<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "a number, or an expression of constants in quotes, is expected"
    )]
    enum Written {
        Int(i64),
        Float(f64),
        Text(String),
    }
    Ok(Some(match Written::deserialize(from)? {
        Written::Int(i) => i.to_string(),
        Written::Float(f) => format!("{f:?}"),
        Written::Text(t) => t,
    }))
}
