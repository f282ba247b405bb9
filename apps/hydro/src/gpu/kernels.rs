//! The kernels of a config, compiled and loaded.

use super::config::{Config, Matrix, Sizes, source, source_of_rank};
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
    /// Those of a solve in parts, for a rank among several.
    pub parts: Option<PartKernels>,
    /// Dynamic shared memory per block of the corner force, bytes.
    pub corner_bytes: u32,
    /// Dynamic shared memory per block of the solve, bytes.
    pub solve_bytes: u32,
    /// Tiling of the matrix products.
    pub matrix: Matrix,
    /// Number of blocks of the solve that run at the same time.
    pub resident: u32,
}

/// The kernels of a solve in parts.
pub(super) struct PartKernels {
    pub pack: Function,
    pub begin: Function,
    pub product: Function,
    pub residual: Function,
    pub direction: Function,
    pub end: Function,
}

/// Compiles and loads the kernels of a config, for a GPU alone or for one of several ranks.
pub(super) fn built(
    (compiler, session, arch): (&Compiler, &Session, &str),
    h: &Hydro,
    config: &Config,
    (stored, is_rank): (bool, bool),
    processors: u32,
) -> Result<Kernels, CudaError> {
    let of = if is_rank { source_of_rank } else { source };
    let text = of(&h.space.element, config, h.affine, stored);
    let compiled = compiler.compile(&Source {
        name: "hydro.cu",
        text: &text,
        arch,
        options: &[],
    })?;
    let module = session.load(&compiled.cubin)?;
    Kernels::new(&module, h, config, (processors, is_rank))
}

impl Kernels {
    fn new(
        m: &Module,
        h: &Hydro,
        c: &Config,
        (processors, is_rank): (u32, bool),
    ) -> Result<Self, CudaError> {
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
            parts: is_rank
                .then(|| {
                    let product = f("part_product")?;
                    product.allow_shared(solve_bytes)?;
                    Ok(PartKernels {
                        pack: f("pack")?,
                        begin: f("part_begin")?,
                        product,
                        residual: f("part_residual")?,
                        direction: f("part_direction")?,
                        end: f("part_end")?,
                    })
                })
                .transpose()?,
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
