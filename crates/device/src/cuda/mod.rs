//! CUDA devices, found at run time: a program built without CUDA runs everywhere and reports what is missing.
//!
//! | module | contents |
//! |---|---|
//! | [`libraries`] | where CUDA's libraries are, or what is missing |
//! | [`compiler`] | sources to cubins with NVRTC, in a cache; needs no GPU |
//! | [`gpu`] | the GPUs of this host |
//! | [`session`] | a context: stream, events, graphs |
//! | [`memory`] | memory of a GPU and of its peers, and pinned memory of the host |
//! | [`launch`] | loaded kernels and their launches |
//! | [`arguments`] | parameters of kernels |
//! | [`peers`] | copies between the GPUs of a host |
//! | [`repeat`] | work repeated without a gap, timed by events |
//! | [`backend`] | what runs kernels: a GPU, or an emulator on the host |

pub mod arguments;
pub mod backend;
pub mod compiler;
pub mod gpu;
pub mod launch;
pub mod libraries;
pub mod memory;
pub mod peers;
pub mod repeat;
pub mod session;

pub use arguments::{Arg, Arguments, Pointer};
pub use backend::{Backend, Emulator, GpuBackend, SHIM, on_fibers};
pub use compiler::{Capability, Compiled, Compiler, Limit, Occupancy, Resources, Source, cubins};
pub use gpu::Gpu;
pub use launch::{Function, Module, Shape};
pub use memory::{
    Flag, Handle, MapElement, MapShape, MappedFlag, Memory, PeerAccess, PeerMemory, Pinned,
    TensorMap, Texture,
};
pub use repeat::Repeater;
pub use session::{Event, Graph, Session};

/// An error of a GPU, its driver or its compiler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CudaError {
    /// A library of CUDA is missing.
    #[error("{library} cannot be loaded")]
    Missing {
        /// Its name.
        library: &'static str,
    },
    /// A source does not compile: the message of the compiler.
    #[error("{0}")]
    Compile(String),
    /// A call of the driver fails.
    #[error("{what}: {cause}")]
    Driver {
        /// What fails.
        what: &'static str,
        /// The message of the driver.
        cause: String,
    },
    /// A GPU, or the host for copies, has too little memory.
    #[error("{0}")]
    OutOfMemory(String),
    /// A file cannot be read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// The message of the system.
        cause: String,
    },
    /// The cache of compiled kernels cannot be used.
    #[error("{0}")]
    Cache(String),
}

impl CudaError {
    /// The message with its hint.
    pub fn message(&self) -> String {
        match self.hint() {
            Some(hint) => format!("{self}; {hint}"),
            None => self.to_string(),
        }
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing {
                library: libraries::NVRTC,
            } => Some(
                "install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc` and set GREENUP_CUDA to the folder of libnvrtc.so",
            ),
            Self::Missing { .. } => Some("install NVIDIA's driver; it needs an NVIDIA GPU"),
            _ => None,
        }
    }
}

fn failed(what: &'static str) -> impl Fn(cudarc::driver::DriverError) -> CudaError {
    move |e| CudaError::Driver {
        what,
        cause: e.error_string().map_or_else(
            |_| format!("{:?}", e.0),
            |s| s.to_string_lossy().into_owned(),
        ),
    }
}
