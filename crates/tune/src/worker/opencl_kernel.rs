//! Kernels in OpenCL: built in the process that runs them, and bound to the arguments on their device.

use super::inputs::arguments::Arguments;
use super::inputs::block::CANARY;
use super::mirror::Mirror;
use super::protocol::{Message, OpenCl};
use crate::problem::Launch;
use crate::sweep::Failure;
use greenup_device::opencl::{Argument, Kernel, Memory, OpenClError, Repeater, Session};
use greenup_meter::Run;

type OnDevice<T> = Result<T, OpenClError>;

/// Builds a source, in the process that was started for it, and tells what its kernels need.
pub(crate) fn build(of: &OpenCl) -> Result<Message, (Failure, String)> {
    let failed = |m: String| (Failure::Compile, m);
    let text = std::fs::read_to_string(&of.file)
        .map_err(|e| failed(format!("{}: {e}", of.file.display())))?;
    let kernels = Session::open(of.target.address)
        .and_then(|session| session.build(&text, &of.options)?.kernels())
        .map_err(|e| failed(crate::build::opencl::brief(&e.to_string(), &of.name)))?;
    Ok(Message::BuiltOpenCl { kernels })
}

/// Kernels on a device, with their arguments bound.
pub struct OpenClKernel {
    session: Session,
    kernels: Vec<(Kernel, Launch)>,
    /// The arrays that the kernels are bound to.
    bound: Vec<Option<Memory>>,
    repeater: Repeater,
}

impl OpenClKernel {
    /// Builds the kernels for the mirror's device and binds the arguments.
    pub fn load(
        of: &OpenCl,
        launches: &[Launch],
        mirror: &Mirror<Session>,
        arguments: &Arguments,
    ) -> OnDevice<Self> {
        let session = mirror.session.clone();
        let text = std::fs::read_to_string(&of.file)
            .map_err(|e| OpenClError::Launch(format!("{}: {e}", of.file.display())))?;
        let program = session.build(&text, &of.options)?;
        let kernels = (launches.iter())
            .map(|l| Ok((program.kernel(&l.kernel)?, l.clone())))
            .collect::<OnDevice<_>>()?;
        let mut out = Self {
            session,
            kernels,
            bound: Vec::new(),
            repeater: Repeater::default(),
        };
        out.bind(mirror, arguments)?;
        Ok(out)
    }

    /// Binds the arguments of a mirror.
    pub fn bind(&mut self, mirror: &Mirror<Session>, arguments: &Arguments) -> OnDevice<()> {
        let parts = (mirror.arrays())
            .map(|a| a.map(|a| a.now.part(CANARY, a.bytes)).transpose())
            .collect::<OnDevice<Vec<_>>>()?;
        for (kernel, launch) in &mut self.kernels {
            for (i, part) in parts.iter().enumerate() {
                let argument = match part {
                    Some(part) => Argument::Buffer(part),
                    None => Argument::Value(arguments.scalar(i)),
                };
                kernel.set(i, argument).map_err(|e| {
                    OpenClError::Launch(format!(
                        "`{}`, parameter {} (`{}`): {e}",
                        launch.kernel,
                        i + 1,
                        arguments.name(i)
                    ))
                })?;
            }
            if kernel.facts().arguments > parts.len() {
                kernel.set(parts.len(), Argument::Local(launch.shape.shared as usize))?;
            }
        }
        self.bound = parts;
        Ok(())
    }

    /// Runs `n` times; returns the seconds on the device.
    pub fn run(&mut self, n: i64) -> OnDevice<f64> {
        let kernels = &self.kernels;
        self.repeater
            .run(&self.session, n, &mut || enqueue(kernels))
    }

    /// Repeats for about some seconds without a gap; puts the mean of each batch into `times`.
    pub fn window(&mut self, seconds: f64, times: &mut Vec<f64>) -> OnDevice<Run> {
        let kernels = &self.kernels;
        let done = self
            .repeater
            .window(&self.session, seconds, &mut || enqueue(kernels), times)?;
        Ok(Run {
            iterations: done.runs as f64,
            seconds: done.seconds,
        })
    }
}

fn enqueue(kernels: &[(Kernel, Launch)]) -> OnDevice<()> {
    for (kernel, launch) in kernels {
        // SAFETY: the arguments are those of the problem, in their order; that the kernel takes them so is the
        // problem's word, as with any C function.
        unsafe { kernel.launch(&launch.shape) }
            .map_err(|e| OpenClError::Launch(format!("`{}`: {e}", launch.kernel)))?;
    }
    Ok(())
}
