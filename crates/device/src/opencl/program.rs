//! Sources to kernels, their arguments and launches.

use super::query::{number, property, text as text_of};
use super::{Memory, OpenClError, Session, check, failed};
use crate::cuda::Shape;
use opencl_sys as cl;
use serde::{Deserialize, Serialize};
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

/// A compiled source.
pub struct Program {
    raw: cl::cl_program,
    /// Messages of the compiler.
    pub log: String,
    session: Session,
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made once, released once.
        unsafe { (self.session.functions().release_program)(self.raw) };
    }
}

/// What a compiled kernel needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFacts {
    /// Name of the kernel.
    pub name: String,
    /// Number of its arguments.
    pub arguments: usize,
    /// Work-items of a work-group at most; 0 where the device does not tell.
    pub max_work_group: i64,
    /// Local memory of a work-group that the source declares, bytes.
    pub local_bytes: i64,
    /// Private memory of a work-item, bytes.
    pub private_bytes: i64,
}

impl Session {
    /// Compiles a source.
    ///
    /// # Errors
    /// The build log.
    pub fn build(&self, text: &str, options: &str) -> Result<Program, OpenClError> {
        Program::build(self, text, options)
    }
}

impl Program {
    pub(super) fn build(
        session: &Session,
        source: &str,
        options: &str,
    ) -> Result<Self, OpenClError> {
        let f = session.functions();
        let options = CString::new(options)
            .map_err(|_| OpenClError::Compile("a zero byte in the compiler's options".into()))?;
        let (mut address, mut length) = (source.as_ptr().cast(), source.len());
        let mut status = 0;
        // SAFETY: one text with its length; the library copies it.
        let raw = unsafe {
            (f.program_of_source)(
                session.context(),
                1,
                &raw mut address,
                &raw mut length,
                &raw mut status,
            )
        };
        check("a source cannot be read", status)?;
        let mut program = Self {
            raw,
            log: String::new(),
            session: session.clone(),
        };
        let device = session.device();
        // SAFETY: program, device and options are alive; without a callback the call returns when it is done.
        let status = unsafe {
            (f.build)(
                raw,
                1,
                &raw const device,
                options.as_ptr(),
                None,
                null_mut(),
            )
        };
        program.log = text_of(property(|room, to, size| {
            // SAFETY: `to` has room for `room` bytes.
            unsafe { (f.build_info)(raw, device, cl::CL_PROGRAM_BUILD_LOG, room, to, size) }
        }));
        match status {
            cl::CL_SUCCESS => Ok(program),
            _ if program.log.is_empty() => Err(OpenClError::Compile(
                failed("the compiler failed without a message", status).to_string(),
            )),
            _ => Err(OpenClError::Compile(std::mem::take(&mut program.log))),
        }
    }

    /// All kernels of the source.
    ///
    /// # Errors
    /// The device refuses them.
    pub fn kernels(&self) -> Result<Vec<KernelFacts>, OpenClError> {
        let f = self.session.functions();
        let mut n = 0;
        // SAFETY: asks for the number only.
        let status = unsafe { (f.kernels_of_program)(self.raw, 0, null_mut(), &raw mut n) };
        check("kernels cannot be counted", status)?;
        let mut raw = vec![null_mut(); n as usize];
        // SAFETY: the list has room for `n` kernels.
        let status = unsafe { (f.kernels_of_program)(self.raw, n, raw.as_mut_ptr(), null_mut()) };
        check("kernels cannot be listed", status)?;
        let kernels: Vec<Kernel> = (raw.into_iter())
            .map(|raw| Kernel {
                raw,
                session: self.session.clone(),
            })
            .collect();
        Ok(kernels.iter().map(Kernel::facts).collect())
    }

    /// A kernel by its name.
    ///
    /// # Errors
    /// There is no such kernel.
    pub fn kernel(&self, name: &str) -> Result<Kernel, OpenClError> {
        let missing = || OpenClError::Launch(format!("there is no kernel `{name}`"));
        let c = CString::new(name).map_err(|_| missing())?;
        let mut status = 0;
        // SAFETY: the program is built; the name ends with a zero.
        let raw = unsafe {
            (self.session.functions().create_kernel)(self.raw, c.as_ptr(), &raw mut status)
        };
        match status {
            cl::CL_SUCCESS => Ok(Kernel {
                raw,
                session: self.session.clone(),
            }),
            cl::CL_INVALID_KERNEL_NAME => Err(missing()),
            status => Err(failed("a kernel cannot be made", status)),
        }
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub enum Argument<'a> {
    /// A buffer, for a parameter in global or constant memory.
    Buffer(&'a Memory),
    /// The bytes of a value.
    Value(&'a [u8]),
    /// Local memory of a work-group, bytes.
    Local(usize),
}

/// A kernel with its arguments.
pub struct Kernel {
    raw: cl::cl_kernel,
    session: Session,
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // SAFETY: made once, released once.
        unsafe { (self.session.functions().release_kernel)(self.raw) };
    }
}

impl Kernel {
    /// What it needs.
    pub fn facts(&self) -> KernelFacts {
        let f = self.session.functions();
        let kernel = |what| {
            property(|room, to, size| {
                // SAFETY: the kernel is alive; `to` has room for `room` bytes.
                unsafe { (f.kernel_info)(self.raw, what, room, to, size) }
            })
        };
        let group = |what| {
            number(property(|room, to, size| {
                // SAFETY: kernel and device are alive; `to` has room for `room` bytes.
                unsafe {
                    (f.work_group_info)(self.raw, self.session.device(), what, room, to, size)
                }
            }))
            .unwrap_or(0)
        };
        KernelFacts {
            name: text_of(kernel(cl::CL_KERNEL_FUNCTION_NAME)),
            arguments: number(kernel(cl::CL_KERNEL_NUM_ARGS))
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or(0),
            max_work_group: group(cl::CL_KERNEL_WORK_GROUP_SIZE),
            local_bytes: group(cl::CL_KERNEL_LOCAL_MEM_SIZE),
            private_bytes: group(cl::CL_KERNEL_PRIVATE_MEM_SIZE),
        }
    }

    /// Sets an argument; a buffer must live as long as launches use it.
    ///
    /// # Errors
    /// The kernel's parameter is of another type, or there is none.
    pub fn set(&mut self, index: usize, argument: Argument<'_>) -> Result<(), OpenClError> {
        let (bytes, value): (usize, *const c_void) = match argument {
            Argument::Buffer(memory) => (size_of::<cl::cl_mem>(), memory.handle().cast()),
            Argument::Value(bytes) => (bytes.len(), bytes.as_ptr().cast()),
            // The device wants some.
            Argument::Local(bytes) => (bytes.max(16), null()),
        };
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        // SAFETY: the value has so many bytes, which the library copies; local memory has no value.
        check("an argument does not fit the kernel's parameter", unsafe {
            (self.session.functions().set_argument)(self.raw, index, bytes, value)
        })
    }

    /// Enqueues it: `grid` work-groups of `block` work-items.
    ///
    /// # Errors
    /// The shape is impossible.
    ///
    /// # Safety
    /// Its arguments are those that it takes, and it uses no other memory.
    pub unsafe fn launch(&self, shape: &Shape) -> Result<(), OpenClError> {
        let local = shape.block.map(|n| n as usize);
        let mut global = local;
        for (g, blocks) in global.iter_mut().zip(shape.grid) {
            *g = g.saturating_mul(blocks as usize);
        }
        // SAFETY: promised by the caller; the sizes have three numbers each.
        let status = unsafe {
            (self.session.functions().launch)(
                self.session.queue(),
                self.raw,
                3,
                null(),
                global.as_ptr(),
                local.as_ptr(),
                0,
                null(),
                null_mut(),
            )
        };
        check("the kernel cannot be launched", status)
    }
}
