//! CUDA devices, found at run time: a program built without CUDA runs everywhere and says what is
//! missing.
//!
//! | module | what it holds |
//! |---|---|
//! | [`libraries`] | where CUDA's libraries are, or what is missing |
//! | [`compile`] | sources to cubins with NVRTC, kept on the disk; needs no GPU |
//! | [`resources`] | registers, shared memory and spills of compiled kernels |
//! | [`occupancy`] | how many blocks fit on a multiprocessor |
//! | [`gpu`] | the GPUs of this host |
//! | [`session`] | a GPU held: stream, events, recorded launches |
//! | [`repeat`] | work repeated without a gap, timed by events |
//! | [`memory`] | memory of a GPU |
//! | [`pinned`] | memory of the host for copies under way |
//! | [`module`] | loaded kernels and their launches |
//! | [`arguments`] | what kernels take |
//! | [`tensor_map`] | arrays cut into boxes for the copy engine |

pub mod arguments;
pub mod compile;
mod fibers;
pub mod gpu;
mod includes;
pub mod libraries;
pub mod memory;
pub mod module;
pub mod occupancy;
pub mod pinned;
pub mod repeat;
pub mod resources;
pub mod session;
pub mod tensor_map;

pub use arguments::{Arg, cubins};
pub use compile::{Compiled, Compiler, Source};
pub use fibers::on_fibers;
pub use gpu::Gpu;
pub use memory::Memory;
pub use module::{Function, Module, Shape};
pub use occupancy::{Capability, Limit, Occupancy};
pub use pinned::Pinned;
pub use repeat::Repeater;
pub use resources::Resources;
pub use session::{Event, Graph, Session};
pub use tensor_map::{MapElement, MapShape, TensorMap};

/// A C++ header under which SIMT kernels compile for the host and run there, a fiber a thread.
pub const SHIM: &str = include_str!("shim/shim.hpp");

/// What CUDA cannot do here, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CudaError {
    #[error("{library} cannot be loaded")]
    Missing { library: &'static str },
    #[error("{0}")]
    Compile(String),
    #[error("{what}: {cause}")]
    Driver { what: &'static str, cause: String },
    #[error("{path}: {cause}")]
    Io { path: String, cause: String },
    /// Compiled kernels cannot be kept.
    #[error("{0}")]
    Cache(String),
}

impl CudaError {
    /// What is wrong, and what a user can do about it.
    pub fn words(&self) -> String {
        match self.cure() {
            Some(cure) => format!("{self}; {cure}"),
            None => self.to_string(),
        }
    }

    /// What a user can do about it.
    pub fn cure(&self) -> Option<&'static str> {
        match self {
            Self::Missing {
                library: libraries::NVRTC,
            } => Some(
                "install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc` and set GREENUP_CUDA to the folder of libnvrtc.so",
            ),
            Self::Missing { .. } => Some("install NVIDIA's driver; it needs a GPU of theirs"),
            _ => None,
        }
    }
}
