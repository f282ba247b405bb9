//! The kernels of a config, compiled and loaded.

use super::config::{Config, Matrix, Sizes, source};
use crate::hydro::Hydro;
use greenup_device::cuda::{Compiler, CudaError, Function, Module, Session, Source};

/// The kernels on a GPU, with their launch parameters.
pub(super) struct Kernels {
    pub corner: Function,
    pub force: Function,
    pub work: Function,
    pub energy_solve: Function,
    pub solve: Function,
    pub combine: Function,
    pub sums: Function,
    pub corner_matrix: Function,
    pub corner_ones: Function,
    pub corner_transposed: Function,
    /// Dynamic shared memory per block of the corner force, bytes.
    pub corner_bytes: u32,
    /// Dynamic shared memory per block of the solve, bytes.
    pub solve_bytes: u32,
    /// Tiling of the matrix products.
    pub matrix: Matrix,
    /// Number of blocks of the solve that run at the same time.
    pub resident: u32,
}

/// Compiles and loads the kernels of a config.
pub(super) fn built(
    (compiler, session, arch): (&Compiler, &Session, &str),
    h: &Hydro,
    config: &Config,
    stored: bool,
    processors: u32,
) -> Result<Kernels, CudaError> {
    let text = source(&h.space.element, config, h.affine, stored);
    let compiled = compiler.compile(&Source {
        name: "hydro.cu",
        text: &text,
        arch,
        options: &[],
    })?;
    Kernels::new(&session.load(&compiled.cubin)?, h, config, processors)
}

impl Kernels {
    fn new(m: &Module, h: &Hydro, c: &Config, processors: u32) -> Result<Self, CudaError> {
        let sizes = Sizes::of(&h.space.element);
        let f = |name: &str| m.function(name);
        let (corner_bytes, solve_bytes) =
            (sizes.corner_bytes(c) as u32, sizes.solve_bytes(c) as u32);
        let out = Self {
            corner: f("corner")?,
            force: f("force")?,
            work: f("work")?,
            energy_solve: f("energy_solve")?,
            solve: f("solve")?,
            combine: f("combine")?,
            sums: f("sums")?,
            corner_matrix: f("corner_matrix")?,
            corner_ones: f("corner_ones")?,
            corner_transposed: f("corner_transposed")?,
            corner_bytes,
            solve_bytes,
            matrix: Matrix::of(sizes),
            resident: 1,
        };
        for k in [&out.corner, &out.force, &out.work] {
            k.allow_shared(corner_bytes)?;
        }
        out.solve.allow_shared(solve_bytes)?;
        let each = out.solve.blocks(c.solve_threads as u32, solve_bytes)?;
        if each == 0 {
            return Err(CudaError::Driver {
                what: "the solve cannot run on this GPU",
                cause: format!(
                    "no block of {} threads and {solve_bytes} bytes of shared memory fits a multiprocessor",
                    c.solve_threads
                ),
            });
        }
        Ok(Self {
            resident: each * processors,
            ..out
        })
    }
}
