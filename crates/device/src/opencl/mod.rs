//! OpenCL devices, found at run time: a program built without OpenCL runs everywhere and reports what is missing.
//!
//! | module | contents |
//! |---|---|
//! | [`library`] | the loaded library and its functions |
//! | [`choice`] | how a user names a device |
//! | [`device`] | devices and their properties |
//! | `query` | which platforms and devices there are, and the bytes of their properties |
//! | [`session`] | a context with one in-order queue, and events |
//! | [`memory`] | buffers of a device |
//! | [`program`] | sources to kernels, and their launches |
//! | [`repeat`] | work repeated without a gap, timed by events |

pub mod choice;
pub mod device;
pub mod library;
pub mod memory;
pub mod program;
mod query;
pub mod repeat;
pub mod session;

pub use choice::{Address, Choice};
pub use device::{Device, DeviceKind};
pub use memory::Memory;
pub use program::{Argument, Kernel, KernelFacts, Program};
pub use repeat::Repeater;
pub use session::{Event, Session};

/// An error of OpenCL, of a device or of its compiler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenClError {
    /// The library is missing. Holds the loader's message.
    #[error("OpenCL (libOpenCL.so.1) cannot be loaded: {0}")]
    Missing(String),
    /// The library has no platform: no implementation is installed.
    #[error("OpenCL has no platform")]
    NoPlatform,
    /// Text that cannot name a device.
    #[error("invalid OpenCL device `{0}`: give PLATFORM or PLATFORM.DEVICE, as in 0.1 or nvidia")]
    InvalidDevice(String),
    /// A device that does not exist.
    #[error("there is no OpenCL device `{named}`; there are {}", if there.is_empty() { "none".to_owned() } else { there.join(", ") })]
    NoDevice {
        /// What was asked for.
        named: String,
        /// The devices, as `0.0 (NAME)`.
        there: Vec<String>,
    },
    /// A source does not compile: the build log.
    #[error("{0}")]
    Compile(String),
    /// A kernel that cannot be launched as asked.
    #[error("{0}")]
    Launch(String),
    /// A call fails.
    #[error("{what}: {cause}")]
    Call {
        /// What fails.
        what: &'static str,
        /// Name of the error.
        cause: String,
    },
}

impl OpenClError {
    /// What the user can do.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing(_) | Self::NoPlatform => Some(
                "install the driver of the device; for CPUs on Debian or Ubuntu: apt install pocl-opencl-icd ocl-icd-libopencl1",
            ),
            Self::InvalidDevice(_) | Self::NoDevice { .. } => {
                Some("`greenup doctor` lists the devices")
            }
            _ => None,
        }
    }
}

pub(crate) fn failed(what: &'static str, status: i32) -> OpenClError {
    OpenClError::Call {
        what,
        cause: name(status),
    }
}

/// Whether a call succeeded.
pub(crate) fn check(what: &'static str, status: i32) -> Result<(), OpenClError> {
    match status {
        opencl_sys::CL_SUCCESS => Ok(()),
        status => Err(failed(what, status)),
    }
}

/// Name of a status.
fn name(status: i32) -> String {
    use opencl_sys as cl;
    let known = match status {
        cl::CL_DEVICE_NOT_FOUND => "CL_DEVICE_NOT_FOUND",
        cl::CL_DEVICE_NOT_AVAILABLE => "CL_DEVICE_NOT_AVAILABLE",
        cl::CL_COMPILER_NOT_AVAILABLE => "CL_COMPILER_NOT_AVAILABLE",
        cl::CL_MEM_OBJECT_ALLOCATION_FAILURE => "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        cl::CL_OUT_OF_RESOURCES => "CL_OUT_OF_RESOURCES",
        cl::CL_OUT_OF_HOST_MEMORY => "CL_OUT_OF_HOST_MEMORY",
        cl::CL_MAP_FAILURE => "CL_MAP_FAILURE",
        cl::CL_PROFILING_INFO_NOT_AVAILABLE => "CL_PROFILING_INFO_NOT_AVAILABLE",
        cl::CL_BUILD_PROGRAM_FAILURE => "CL_BUILD_PROGRAM_FAILURE",
        cl::CL_MISALIGNED_SUB_BUFFER_OFFSET => "CL_MISALIGNED_SUB_BUFFER_OFFSET",
        cl::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST => {
            "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"
        }
        cl::CL_INVALID_VALUE => "CL_INVALID_VALUE",
        cl::CL_INVALID_DEVICE => "CL_INVALID_DEVICE",
        // NVIDIA's answer to all calls once a kernel has failed.
        cl::CL_INVALID_COMMAND_QUEUE => "CL_INVALID_COMMAND_QUEUE",
        cl::CL_INVALID_PROGRAM_EXECUTABLE => "CL_INVALID_PROGRAM_EXECUTABLE",
        cl::CL_INVALID_BUILD_OPTIONS => "CL_INVALID_BUILD_OPTIONS",
        cl::CL_INVALID_KERNEL_NAME => "CL_INVALID_KERNEL_NAME",
        cl::CL_INVALID_ARG_INDEX => "CL_INVALID_ARG_INDEX",
        cl::CL_INVALID_ARG_VALUE => "CL_INVALID_ARG_VALUE",
        cl::CL_INVALID_ARG_SIZE => "CL_INVALID_ARG_SIZE",
        cl::CL_INVALID_KERNEL_ARGS => "CL_INVALID_KERNEL_ARGS",
        cl::CL_INVALID_MEM_OBJECT => "CL_INVALID_MEM_OBJECT",
        cl::CL_INVALID_WORK_DIMENSION => "CL_INVALID_WORK_DIMENSION",
        cl::CL_INVALID_WORK_GROUP_SIZE => "CL_INVALID_WORK_GROUP_SIZE",
        cl::CL_INVALID_WORK_ITEM_SIZE => "CL_INVALID_WORK_ITEM_SIZE",
        cl::CL_INVALID_GLOBAL_WORK_SIZE => "CL_INVALID_GLOBAL_WORK_SIZE",
        cl::CL_INVALID_BUFFER_SIZE => "CL_INVALID_BUFFER_SIZE",
        _ => return format!("OpenCL error {status}"),
    };
    known.to_owned()
}
