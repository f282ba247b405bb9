//! The parts of a problem file.

use super::Argument;
use super::measure::MeasureText;
use crate::command::written::RunText;
use crate::objective::Objective;
use serde::{Deserialize, Serialize};
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

/// How to fix what the reader of a problem's tables objects to.
pub fn hint(message: &str) -> Option<String> {
    let missing = message.strip_prefix("missing field `")?.split('`').next()?;
    let hint = match missing {
        "command" => "[run] says what runs: command = \"./app --tile {tile}\"",
        "sources" => "[build] and [reference] name their files: sources = [\"kernel.c\"]",
        "entry" => "entry = \"NAME\" names the function to call",
        "type" => "an argument has a type: f64, f32, or an integer from i8 to i64, u8 to u64",
        "name" => "every argument has a name",
        "kernel" | "grid" | "block" => "a [[launch]] has kernel, grid and block",
        _ => return None,
    };
    Some(hint.into())
}

/// The tables of a problem that are not of its space.
#[derive(Deserialize)]
pub(super) struct Written {
    #[serde(default)]
    pub(super) build: Build,
    pub(super) run: Option<RunText>,
    #[serde(default)]
    pub(super) arguments: Vec<Argument>,
    #[serde(default)]
    pub(super) launch: Vec<LaunchText>,
    #[serde(default)]
    pub(super) maps: Vec<MapText>,
    #[serde(default)]
    pub(super) textures: Vec<TextureText>,
    #[serde(default)]
    pub(super) compiled: toml::Table,
    pub(super) baseline: Option<Baseline>,
    pub(super) setup: Option<Setup>,
    pub(super) reference: Option<ReferenceText>,
    pub(super) check: Option<CheckText>,
    #[serde(default)]
    pub(super) work: toml::Table,
    pub(super) objective: Option<Objective>,
    #[serde(default)]
    pub(super) measure: MeasureText,
}
