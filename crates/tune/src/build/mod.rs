//! Compiles configs: host libraries, GPU kernels, OpenCL programs, and CUDA kernels emulated on the host.

pub(crate) mod builder;
mod call;
pub mod compile;
pub mod cubin;
pub mod emulator;
pub(crate) mod included;
mod launches;
pub mod opencl;
mod shadowed;
