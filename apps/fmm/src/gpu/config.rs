//! Choices of the kernels, and their source.

use crate::kernel::Kernel;
use crate::real::Real;
use std::fmt::Write as _;

/// Choices of U lists' kernel; what each means stands at the top of `near.cu`.
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
    /// Whether squares of this kernel can be expanded (form 1).
    expands: bool,
}

impl Config {
    /// What was tuned on an H200 for Laplace's potentials (docs/results, "Fast multipole method"); gradients and other
    /// kernels, whose registers permit less, were not tuned.
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

    /// With some of them given as `NAME=NUMBER,...`.
    ///
    /// # Errors
    /// A name or number that is none.
    pub fn with(mut self, words: &str) -> Result<Self, String> {
        for word in words.split(',').filter(|w| !w.trim().is_empty()) {
            let (name, value) = word
                .split_once('=')
                .ok_or(format!("`{word}` is no NAME=NUMBER"))?;
            let value: usize = value
                .trim()
                .parse()
                .map_err(|_| format!("`{value}` is no number"))?;
            let place = match name.trim().to_lowercase().as_str() {
                "threads" => &mut self.threads,
                "targets" => &mut self.targets,
                "tile" => &mut self.tile,
                "unroll" => &mut self.unroll,
                "root" => &mut self.root,
                "blocks" => &mut self.blocks,
                "form" => &mut self.form,
                "width" => &mut self.width,
                other => {
                    return Err(format!(
                        "there is no choice `{other}`: threads, targets, tile, unroll, root, blocks, form, width"
                    ));
                }
            };
            *place = value;
        }
        let ok = self.threads.is_multiple_of(32)
            && (32..=1024).contains(&self.threads)
            && (1..=16).contains(&self.targets);
        let ok = ok
            && (1..=256).contains(&self.unroll)
            && (1..=32).contains(&self.blocks)
            && self.tile <= 4096;
        if !ok {
            return Err(
                "threads are 32 to 1024 by 32, targets 1 to 16, unroll 1 to 256, blocks 1 to 32, tile 0 to 4096"
                    .to_owned(),
            );
        }
        if self.form > 1 || ![1, 2, 4].contains(&self.width) {
            return Err("the form is 0 or 1, the width 1, 2 or 4".to_owned());
        }
        if self.form == 1 && !(self.expands && [1, 32].contains(&self.tile)) {
            return Err("form 1 is for potentials of laplace, with tile=1 or tile=32".to_owned());
        }
        Ok(self)
    }
}

/// Sisters that a block of transforms takes: as many as shared memory holds.
pub fn sisters<R: Real>(p: usize) -> usize {
    [8, 4, 2]
        .into_iter()
        .find(|&s| room::<R>(p, s) <= 100 * 1024)
        .unwrap_or(1)
}

/// Bytes of shared memory of a transform.
pub fn room<R: Real>(p: usize, sisters: usize) -> usize {
    let n = 2 * p - 1;
    size_of::<R>() * (2 * n + 2 * (p * p * p + p * n * p) * sisters)
}

/// The text of all kernels for a precision, kernel and surface.
pub fn source<R: Real>(
    kernel: Kernel,
    gradient: bool,
    p: usize,
    shell: usize,
    c: &Config,
) -> String {
    let number = match kernel {
        Kernel::Laplace => 0,
        Kernel::Yukawa { .. } => 1,
        Kernel::Helmholtz { .. } => 2,
        Kernel::Stokes { .. } => 3,
    };
    let mut out = String::new();
    for (name, value) in [
        ("DOUBLE", usize::from(R::DOUBLE)),
        ("KERNEL", number),
        ("SLOPES", usize::from(gradient)),
        ("ROOT", c.root),
        ("THREADS", c.threads),
        ("TARGETS", c.targets),
        ("TILE", c.tile),
        ("UNROLL", c.unroll),
        ("BLOCKS", c.blocks),
        ("FORM", c.form),
        ("WIDTH", c.width),
        ("P", p),
        ("SHELL", shell),
        ("SISTERS", sisters::<R>(p)),
    ] {
        let _ = writeln!(out, "#define {name} {value}");
    }
    for text in [
        include_str!("../kernels/gpu/pair.cuh"),
        include_str!("../kernels/gpu/take.cuh"),
        include_str!("../kernels/gpu/expanded.cuh"),
        include_str!("../kernels/gpu/near.cu"),
        include_str!("../kernels/gpu/shells.cu"),
        include_str!("../kernels/gpu/matrix.cu"),
        include_str!("../kernels/gpu/fourier.cu"),
    ] {
        out.push_str(text);
    }
    out
}
