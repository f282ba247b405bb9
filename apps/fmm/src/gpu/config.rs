//! Tuning parameters of the kernels, and their source.

use super::arguments::SIZES;
use crate::kernel::Kernel;
use crate::precision::Real;
use std::fmt::Write as _;

/// Tuning parameters of the P2P kernel, described in `p2p.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub(super) threads: usize,
    pub(super) targets: usize,
    pub(super) tile: usize,
    pub(super) unroll: usize,
    pub(super) root: usize,
    pub(super) blocks: usize,
    pub(super) form: usize,
    pub(super) width: usize,
    /// Whether form 1 exists: squared distances expanded.
    expands: bool,
}

impl Config {
    /// Tuned on an H200 for potentials of Laplace (docs/results/fmm.md); gradients and other kernels, which
    /// need more registers, were not tuned.
    pub fn default_for<R: Real>(kernel: Kernel, gradient: bool) -> Self {
        let expands = kernel == Kernel::Laplace && !gradient;
        let (threads, targets, tile, unroll) = match (expands, R::DOUBLE) {
            (true, false) => (32, 2, 0, 16),
            (true, true) => (32, 2, 32, 16),
            (false, _) => (64, 1, 128, 4),
        };
        Self {
            threads,
            targets,
            tile,
            unroll,
            root: usize::from(R::DOUBLE),
            blocks: 1,
            form: 0,
            width: 4,
            expands,
        }
    }

    /// With some parameters overridden by `NAME=NUMBER,...`.
    ///
    /// # Errors
    /// An unknown name, or a value out of its range.
    pub fn with(mut self, text: &str) -> Result<Self, ConfigError> {
        for pair in text.split(',').filter(|w| !w.trim().is_empty()) {
            let invalid = || ConfigError::Syntax(pair.trim().to_owned());
            let (name, value) = pair.split_once('=').ok_or_else(invalid)?;
            let value: usize = value.trim().parse().map_err(|_| invalid())?;
            let parameter = match name.trim().to_lowercase().as_str() {
                "threads" => &mut self.threads,
                "targets" => &mut self.targets,
                "tile" => &mut self.tile,
                "unroll" => &mut self.unroll,
                "root" => &mut self.root,
                "blocks" => &mut self.blocks,
                "form" => &mut self.form,
                "width" => &mut self.width,
                other => return Err(ConfigError::Unknown(other.to_owned())),
            };
            *parameter = value;
        }
        let in_range = self.threads.is_multiple_of(32)
            && (32..=1024).contains(&self.threads)
            && (1..=16).contains(&self.targets)
            && (1..=256).contains(&self.unroll)
            && (1..=32).contains(&self.blocks)
            && self.tile <= 4096;
        if !in_range {
            return Err(ConfigError::Range(
                "threads 32 to 1024 in steps of 32, targets 1 to 16, unroll 1 to 256, blocks 1 to 32, tile 0 to 4096",
            ));
        }
        if self.form > 1 || ![1, 2, 4].contains(&self.width) {
            return Err(ConfigError::Range("form 0 or 1, width 1, 2 or 4"));
        }
        if self.form == 1 && !(self.expands && [1, 32].contains(&self.tile)) {
            return Err(ConfigError::Range(
                "form 1 only for potentials of laplace, with tile=1 or tile=32",
            ));
        }
        Ok(self)
    }
}

/// Invalid tuning parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not NAME=NUMBER.
    #[error("invalid `{0}`: use NAME=NUMBER")]
    Syntax(String),
    /// An unknown parameter.
    #[error(
        "unknown parameter `{0}`: use threads, targets, tile, unroll, root, blocks, form or width"
    )]
    Unknown(String),
    /// A value out of its range.
    #[error("a parameter is out of its range: {0}")]
    Range(&'static str),
}

/// Siblings per block of the transforms: as many as fit into shared memory.
pub fn siblings<R: Real>(p: usize) -> usize {
    [8, 4, 2]
        .into_iter()
        .find(|&s| shared_bytes::<R>(p, s) <= 100 * 1024)
        .unwrap_or(1)
}

/// Dynamic shared memory of the transforms, bytes.
pub fn shared_bytes<R: Real>(p: usize, siblings: usize) -> usize {
    let n = 2 * p - 1;
    size_of::<R>() * (2 * n + 2 * (p * p * p + p * n * p) * siblings)
}

/// The CUDA source of all kernels for a precision, kernel and surface.
pub fn source<R: Real>(
    kernel: Kernel,
    gradient: bool,
    p: usize,
    surface: usize,
    c: &Config,
) -> String {
    let of_tree = [
        ("P", p),
        ("SURFACE", surface),
        ("SIBLINGS", siblings::<R>(p)),
    ];
    let files = [
        include_str!("../kernels/gpu/pair.cuh"),
        include_str!("../kernels/gpu/arguments.cuh"),
        include_str!("../kernels/gpu/accumulate.cuh"),
        include_str!("../kernels/gpu/expanded.cuh"),
        include_str!("../kernels/gpu/p2p.cu"),
        include_str!("../kernels/gpu/surfaces.cu"),
        include_str!("../kernels/gpu/matrix.cu"),
        include_str!("../kernels/gpu/m2l.cu"),
    ];
    joined::<R>((kernel, gradient), c, &of_tree, &files)
}

/// The CUDA source of the kernels of the instruction mix.
pub fn mix_source<R: Real>(kernel: Kernel, gradient: bool, c: &Config) -> String {
    let files = [
        include_str!("../kernels/gpu/pair.cuh"),
        include_str!("../kernels/gpu/accumulate.cuh"),
        include_str!("../kernels/gpu/mix.cu"),
    ];
    joined::<R>((kernel, gradient), c, &[], &files)
}

/// Macros, then the files.
fn joined<R: Real>(
    (kernel, gradient): (Kernel, bool),
    c: &Config,
    more: &[(&str, usize)],
    files: &[&str],
) -> String {
    let number = match kernel {
        Kernel::Laplace => 0,
        Kernel::Yukawa { .. } => 1,
        Kernel::Helmholtz { .. } => 2,
        Kernel::Stokes { .. } => 3,
    };
    let of_config = [
        ("DOUBLE", usize::from(R::DOUBLE)),
        ("KERNEL", number),
        ("GRADIENT", usize::from(gradient)),
        ("ROOT", c.root),
        ("THREADS", c.threads),
        ("TARGETS", c.targets),
        ("TILE", c.tile),
        ("UNROLL", c.unroll),
        ("BLOCKS", c.blocks),
        ("FORM", c.form),
        ("WIDTH", c.width),
    ];
    let mut out = String::new();
    for (name, value) in of_config.iter().chain(more).chain(SIZES) {
        let _ = writeln!(out, "#define {name} {value}");
    }
    for text in files {
        out.push_str(text);
    }
    out
}
