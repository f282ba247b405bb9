//! The kernel family for GPUs as a tuning problem: from BEAST's stencil to tensor cores.

use crate::GemmError;
use crate::family::write;
use greenup_device::cuda::Gpu;
use greenup_tune::Problem;
use greenup_tune::session::device_facts;
use std::path::{Path, PathBuf};

/// The files of the problem, as shipped.
const FILES: [(&str, &str); 8] = [
    ("problem.toml", include_str!("kernels/gpu/problem.toml")),
    ("gemm.cu", include_str!("kernels/gpu/gemm.cu")),
    ("part.cuh", include_str!("kernels/gpu/part.cuh")),
    ("stripe.cuh", include_str!("kernels/gpu/stripe.cuh")),
    ("element.cuh", include_str!("kernels/gpu/element.cuh")),
    ("device.cuh", include_str!("kernels/gpu/device.cuh")),
    ("reference.c", include_str!("kernels/gpu/reference.c")),
    ("cublas.c", include_str!("kernels/gpu/cublas.c")),
];

/// Writes the problem's files into `dir`; returns the problem file.
///
/// # Errors
/// The folder cannot be written.
pub fn unpack(dir: &Path) -> Result<PathBuf, GemmError> {
    write(dir, &FILES)
}

/// Writes the problem's files into `dir` and reads the problem for a GPU, with the given values of constants.
///
/// # Errors
/// The folder cannot be written, or a constant is unknown or invalid.
pub fn problem(
    dir: &Path,
    constants: &[(String, toml::Value)],
    gpu: &Gpu,
) -> Result<Problem, GemmError> {
    let problem = unpack(dir)?;
    Ok(Problem::read_with(
        &problem,
        &device_facts::of_gpu(gpu),
        constants,
    )?)
}
