//! The OpenCL library (the ICD loader), loaded at run time, and the functions that are used.

use super::OpenClError;
use crate::library::Library;
use opencl_sys::cl_function_types as cl;
use std::path::Path;
use std::sync::OnceLock;

/// Name of the library.
const NAME: &str = "libOpenCL.so.1";

macro_rules! functions {
    ($($field:ident: $symbol:ident, $kind:ident;)+) => {
        /// Functions of OpenCL 1.2, which every implementation has.
        pub(crate) struct Functions {
            $(pub(crate) $field: <cl::$kind as Pointer>::Function,)+
        }

        impl Functions {
            fn load() -> Result<Self, OpenClError> {
                let missing = |e: crate::LibraryError| OpenClError::Missing(e.to_string());
                let library = Library::open(Path::new(NAME)).map_err(missing)?;
                Ok(Self {
                    $($field: {
                        let symbol = library.symbol(stringify!($symbol)).map_err(missing)?;
                        // SAFETY: the symbol is the function of that name in OpenCL's ABI, of this type, and not null.
                        unsafe {
                            std::mem::transmute::<*mut std::ffi::c_void, <cl::$kind as Pointer>::Function>(symbol)
                        }
                    },)+
                })
            }
        }
    };
}

/// The function behind an optional function pointer.
pub(crate) trait Pointer {
    type Function;
}

impl<F> Pointer for Option<F> {
    type Function = F;
}

functions! {
    platform_ids: clGetPlatformIDs, clGetPlatformIDs_t;
    platform_info: clGetPlatformInfo, clGetPlatformInfo_t;
    device_ids: clGetDeviceIDs, clGetDeviceIDs_t;
    device_info: clGetDeviceInfo, clGetDeviceInfo_t;
    create_context: clCreateContext, clCreateContext_t;
    release_context: clReleaseContext, clReleaseContext_t;
    create_queue: clCreateCommandQueue, clCreateCommandQueue_t;
    release_queue: clReleaseCommandQueue, clReleaseCommandQueue_t;
    flush: clFlush, clFlush_t;
    finish: clFinish, clFinish_t;
    create_buffer: clCreateBuffer, clCreateBuffer_t;
    create_sub_buffer: clCreateSubBuffer, clCreateSubBuffer_t;
    release_memory: clReleaseMemObject, clReleaseMemObject_t;
    map: clEnqueueMapBuffer, clEnqueueMapBuffer_t;
    unmap: clEnqueueUnmapMemObject, clEnqueueUnmapMemObject_t;
    write: clEnqueueWriteBuffer, clEnqueueWriteBuffer_t;
    read: clEnqueueReadBuffer, clEnqueueReadBuffer_t;
    copy: clEnqueueCopyBuffer, clEnqueueCopyBuffer_t;
    program_of_source: clCreateProgramWithSource, clCreateProgramWithSource_t;
    build: clBuildProgram, clBuildProgram_t;
    build_info: clGetProgramBuildInfo, clGetProgramBuildInfo_t;
    release_program: clReleaseProgram, clReleaseProgram_t;
    kernels_of_program: clCreateKernelsInProgram, clCreateKernelsInProgram_t;
    create_kernel: clCreateKernel, clCreateKernel_t;
    release_kernel: clReleaseKernel, clReleaseKernel_t;
    kernel_info: clGetKernelInfo, clGetKernelInfo_t;
    work_group_info: clGetKernelWorkGroupInfo, clGetKernelWorkGroupInfo_t;
    set_argument: clSetKernelArg, clSetKernelArg_t;
    launch: clEnqueueNDRangeKernel, clEnqueueNDRangeKernel_t;
    marker: clEnqueueMarkerWithWaitList, clEnqueueMarkerWithWaitList_t;
    wait: clWaitForEvents, clWaitForEvents_t;
    event_times: clGetEventProfilingInfo, clGetEventProfilingInfo_t;
    release_event: clReleaseEvent, clReleaseEvent_t;
}

/// The functions of the library, loaded at the first call.
///
/// # Errors
/// The library or one of its functions is missing.
pub(crate) fn functions() -> Result<&'static Functions, OpenClError> {
    static LOADED: OnceLock<Result<Functions, OpenClError>> = OnceLock::new();
    LOADED
        .get_or_init(Functions::load)
        .as_ref()
        .map_err(Clone::clone)
}

/// Checks that the library can be loaded.
///
/// # Errors
/// It is missing.
pub fn available() -> Result<(), OpenClError> {
    functions().map(|_| ())
}
