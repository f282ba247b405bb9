//! The parts of a problem file.

use serde::{Deserialize, Deserializer, Serialize};
use std::path::PathBuf;

/// How sources become a library, or a cubin.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Files relative to the problem file. In CUDA and OpenCL the first is compiled, and may include the
    /// others. For a command: files that decide what is built, by which a sweep that is continued is compared.
    #[serde(default)]
    pub sources: Vec<PathBuf>,
    /// The function to call; not in CUDA and OpenCL, where `[[launch]]` says what runs.
    #[serde(default)]
    pub entry: String,
    /// Language of the sources.
    #[serde(default)]
    pub language: Language,
    /// Compiler; `cc` or `c++` when not given.
    pub compiler: Option<String>,
    /// Architecture with features of its own, such as `sm_90a`; the GPU's plain one when not given.
    pub arch: Option<String>,
    /// Of the compiler; `-O3 -march=native` when not given, none in CUDA and OpenCL.
    pub flags: Option<Vec<String>>,
    /// What the function returns: its own time, in this unit. Without it, its calls are timed.
    pub returns: Option<Returns>,
    /// For a command: what builds a config, into `{build}`.
    pub command: Option<String>,
    /// Seconds after which that command counts as hanging.
    #[serde(default = "build_timeout")]
    pub timeout: f64,
}

fn build_timeout() -> f64 {
    600.0
}

impl Default for Build {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            entry: String::new(),
            language: Language::Command,
            compiler: None,
            arch: None,
            flags: None,
            returns: None,
            command: None,
            timeout: build_timeout(),
        }
    }
}

impl Build {
    /// Flags of the compiler.
    pub fn flags(&self) -> Vec<String> {
        match (&self.flags, self.language) {
            (Some(f), _) => f.clone(),
            (None, Language::Cuda | Language::OpenCl | Language::Command) => Vec::new(),
            (None, _) => vec!["-O3".into(), "-march=native".into()],
        }
    }
}

/// The time that a function returns, a `float`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Returns {
    /// In seconds.
    #[serde(rename = "s")]
    Seconds,
    /// In milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
}

impl Returns {
    /// Seconds of one unit.
    pub fn seconds(self) -> f64 {
        match self {
            Self::Seconds => 1.0,
            Self::Milliseconds => 1e-3,
        }
    }
}

/// Language of the sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// C, compiled with `cc` by default.
    #[default]
    C,
    /// C++, compiled with `c++` by default.
    #[serde(rename = "c++")]
    Cpp,
    /// CUDA C++.
    Cuda,
    /// OpenCL C.
    OpenCl,
    /// None: a command runs.
    #[serde(skip)]
    Command,
}

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
pub struct Answer {
    /// File of raw elements, as many as the array has, relative to the problem file.
    pub file: PathBuf,
    /// Absolute error allowed.
    #[serde(default)]
    pub atol: f64,
    /// Error allowed over the value.
    #[serde(default)]
    pub rtol: f64,
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
        (lo < hi).then_some((lo, hi))
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
    /// Initial values.
    #[serde(default)]
    pub fill: Fill,
    /// Whether the kernel reads or writes it.
    #[serde(default)]
    pub role: Role,
    /// The right values after a run.
    pub answer: Option<Answer>,
    /// Name of the kernel's constant memory that it is copied to: it is not passed to the kernel. CUDA only.
    pub symbol: Option<String>,
}

/// The kernel whose results are right.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceText {
    pub sources: Vec<PathBuf>,
    pub entry: String,
    /// Largest error allowed, over the largest value of the array: a number, or an expression of
    /// constants.
    pub tolerance: Option<toml::Value>,
}

/// Another kernel for the same problem, measured interleaved with every config. On a GPU it is host
/// code that takes the arguments (arrays as device pointers) and then the stream, a `void *`. For a command another
/// command, which is measured in the final rounds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Source files.
    #[serde(default)]
    pub sources: Vec<PathBuf>,
    /// Name of the function to call.
    #[serde(default)]
    pub entry: String,
    /// The other command, for a command.
    pub command: Option<String>,
}

/// One launch of a run on a GPU; all of them take all arguments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchText {
    pub kernel: String,
    /// Blocks (work-groups in OpenCL): up to three expressions of constants, parameters and derived values.
    pub grid: Vec<toml::Value>,
    /// Threads of a block (work-items of a work-group), likewise.
    pub block: Vec<toml::Value>,
    /// Dynamic shared memory of a block, bytes; in OpenCL a `__local` pointer behind the arguments.
    pub shared: Option<toml::Value>,
    /// Whether a config has this launch.
    pub when: Option<String>,
}

/// How an array is cut into boxes that the copy engine brings at once. The kernels take it, as a
/// `const __grid_constant__` of 128 bytes, behind all arguments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapText {
    /// The array's name.
    pub of: String,
    /// Elements along each dimension, the contiguous one first: up to five expressions.
    pub sizes: Vec<toml::Value>,
    /// Elements between neighbours of each dimension but the first.
    pub steps: Vec<toml::Value>,
    /// Elements of a box along each dimension.
    #[serde(rename = "box")]
    pub cut: Vec<toml::Value>,
    /// Bytes of the lines whose 16-byte parts change places: 0, 32, 64 or 128.
    #[serde(default)]
    pub swizzle: u32,
    /// Whether a config has this map.
    pub when: Option<String>,
}

/// An array that kernels read through a texture. They take it, as a `cudaTextureObject_t`, behind all arguments and maps.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextureText {
    /// The array's name.
    pub of: String,
    /// Bytes of a texel: 4, 8 or 16, or an expression.
    pub texel: toml::Value,
    /// Whether a config has this texture.
    pub when: Option<String>,
}

/// A function that makes the data what the kernels expect: row pointers that rise, a matrix that
/// is positive. It is called once with all arguments, after they are filled, and may change any.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Source files.
    pub sources: Vec<PathBuf>,
    /// Name of the function to call.
    pub entry: String,
}

/// How trials are measured, as written.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureText {
    pub seconds: Option<f64>,
    pub timeout: Option<f64>,
    pub drift: Option<bool>,
    pub restore: Option<bool>,
}

impl MeasureText {
    /// With defaults: a program takes longer than a kernel.
    pub(super) fn measure(self, of_command: bool) -> Measure {
        let default = Measure::default();
        Measure {
            seconds: self.seconds.unwrap_or(default.seconds),
            timeout: self.timeout.unwrap_or(match of_command {
                true => COMMAND_TIMEOUT_S,
                false => default.timeout,
            }),
            drift: self.drift.unwrap_or(default.drift),
            restore: self.restore.unwrap_or(default.restore),
        }
    }
}

/// How trials are measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measure {
    /// Seconds of measuring a config.
    pub seconds: f64,
    /// Seconds after which a run counts as hanging.
    pub timeout: f64,
    /// Whether the first config that works is measured around every later one, to see the machine's drift.
    pub drift: bool,
    /// Whether arrays that kernels change are restored between the windows of a measurement.
    pub restore: bool,
}

impl Measure {
    /// Seconds that a trial measures: its config, and the reference config before and after it.
    pub fn trial_s(&self) -> f64 {
        1.25 * self.seconds
    }

    /// Number of final rounds, and the seconds of a finalist in each.
    pub fn final_rounds(&self, on_gpu: bool) -> (usize, f64) {
        match on_gpu {
            // A window is as long as the sensor needs, and then some for the clock to settle.
            true => (10, self.seconds),
            false => (9, self.seconds / 2.0),
        }
    }
}

/// Seconds after which a run of a command counts as hanging, where the problem says nothing.
const COMMAND_TIMEOUT_S: f64 = 300.0;

impl Default for Measure {
    fn default() -> Self {
        Self {
            seconds: 0.2,
            timeout: 10.0,
            drift: true,
            restore: true,
        }
    }
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
    /// Initial values.
    pub fill: Fill,
    /// Whether the kernel reads or writes it.
    pub role: Role,
    /// The right values after a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
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

/// A command that checks what a kernel wrote.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckText {
    /// Run after the first run of each config, in the folder of the problem file; it ends with code 0 if the results are
    /// right. `{outputs}` is a folder with a file `NAME.bin` of raw elements for each array of role out or inout.
    pub command: String,
    /// Seconds after which it counts as hanging.
    #[serde(default = "check_timeout")]
    pub timeout: f64,
}

fn check_timeout() -> f64 {
    600.0
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

/// How to fix what the reader of a problem's tables objects to.
pub fn hint(message: &str) -> Option<String> {
    let missing = message.strip_prefix("missing field `")?.split('`').next()?;
    let hint = match missing {
        "command" => "[run] says what runs: command = \"./app --tile {tile}\"",
        "sources" => "[build] and [reference] name their files: sources = [\"kernel.c\"]",
        "entry" => "entry = \"NAME\" names the function to call",
        "type" => "an argument has a type: f64, f32, i64 or i32",
        "name" => "every argument has a name",
        "kernel" | "grid" | "block" => "a [[launch]] has kernel, grid and block",
        _ => return None,
    };
    Some(hint.into())
}
