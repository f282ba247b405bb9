//! The inputs as kernels find them, and runs on them.

pub mod arguments;
pub(crate) mod block;
mod changes;
mod compare;
mod contents;
pub mod error;
mod guards;
mod image;
pub mod memory;
mod number;
mod verdict;

use arguments::Arguments;
use block::Layout;
use contents::Images;
use error::{ArgumentError, DeviceError};
use image::Image;

use crate::command::SharedFile;
use crate::command::program::Program;
use crate::error::BuildError;
use crate::problem::Data;
use crate::sweep::Failure as F;
use crate::worker::channel::Channel;
use crate::worker::gpu_kernel::GpuKernel;
use crate::worker::host_kernel::HostKernel;
use crate::worker::mirror::judge::{Judge, Opening};
use crate::worker::mirror::{Mirror, OnDevice};
use crate::worker::opencl_kernel::OpenClKernel;
use crate::worker::protocol::{Built, Inputs};
use crate::worker::stop::Stop;
use greenup_device::{cuda, opencl};
use greenup_meter::Run;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A kernel ready to run.
pub(crate) enum Kernel {
    Host(HostKernel),
    Gpu(Box<GpuKernel>),
    OpenCl(Box<OpenClKernel>),
    Command(Box<Program>),
}

/// The arguments, where kernels find them.
pub(crate) struct LoadedInputs {
    pub(crate) inputs: Inputs,
    arguments: Arguments,
    /// What kernels on another device than the host, or in OpenCL, find.
    device: Option<OnDevice>,
    /// What is not in use: the fresh data or the usual ones.
    other: Option<(OnDevice, Images)>,
    /// Whether the fresh data are in use.
    is_fresh: bool,
    /// Whether the usual data are gone.
    spent: bool,
    /// Files that are those of the tuning host.
    compared: Vec<SharedFile>,
    /// Results of the reference, by their files.
    expected: Vec<(PathBuf, Image)>,
    /// Compares results on a GPU.
    judge: Option<Judge<cuda::GpuBackend>>,
    /// Whether the host has what the device holds.
    on_host: bool,
    /// Bytes that the last run changed, where the device has counted them.
    changed: Option<usize>,
    /// Whether the device was near its power limit in the last measurement.
    pub(crate) near_limit: bool,
    /// When the last batch was over.
    busy: Option<Instant>,
}

/// Clocks of a GPU stay up for longer than this after work.
const WARM: Duration = Duration::from_millis(50);

/// Refuses a time that a kernel returns and that is none.
fn timed(kernel: &HostKernel, seconds: f64) -> Result<(), Stop> {
    if kernel.own_time().is_none() || seconds > 0.0 && seconds.is_finite() {
        return Ok(());
    }
    Err(Stop::Failed(
        F::Runtime,
        format!("it returned {seconds} s as its time, which must be positive"),
    ))
}

/// Refuses to run a command where the folder of its problem is not.
pub(crate) fn present(dir: &Path, what: &str) -> Result<(), Stop> {
    if dir.is_dir() {
        return Ok(());
    }
    Err(Stop::Environment(format!(
        "{what} runs in {}, and this worker's host has no such folder: share the folder of the problem file, or copy it to the same path there",
        dir.display()
    )))
}

fn on_device(e: impl Into<DeviceError>) -> Stop {
    let e = e.into();
    Stop::Failed(F::Runtime, e.to_string())
}

impl LoadedInputs {
    /// Fills the arguments; what goes wrong is no kernel's fault.
    pub(crate) fn new(inputs: &Inputs, channel: &Channel) -> Result<Self, ArgumentError> {
        let opening = inputs.gpu.map(Opening::begin);
        let arguments = Arguments::new(&inputs.data, inputs.seed, &inputs.dir)?;
        guards::watch(&arguments, channel.secret, channel.descriptor());
        let mut set = Self {
            inputs: inputs.clone(),
            arguments,
            device: None,
            other: None,
            is_fresh: false,
            spent: false,
            compared: Vec::new(),
            expected: Vec::new(),
            judge: None,
            on_host: false,
            changed: None,
            near_limit: false,
            busy: None,
        };
        set.set_up()?;
        if let Some(ordinal) = inputs.gpu {
            let mirror = cuda::Session::open(ordinal)
                .and_then(|session| Mirror::new(session, &set.arguments))
                .map_err(DeviceError::from)?;
            set.device = Some(OnDevice::Cuda(mirror));
            // Without its compiler the host compares.
            if let Some(opening) = opening {
                opening.wait();
            }
            set.judge = Judge::open(ordinal);
        }
        if let Some(target) = inputs.opencl {
            let mirror = opencl::Session::open(target.address)
                .and_then(|session| Mirror::new(session, &set.arguments))
                .map_err(DeviceError::from)?;
            set.device = Some(OnDevice::OpenCl(mirror));
        }
        Ok(set)
    }

    /// Makes the data what the kernels expect.
    fn set_up(&mut self) -> Result<(), ArgumentError> {
        if let Some(setup) = &self.inputs.setup {
            HostKernel::load(setup)
                .map_err(ArgumentError::Setup)?
                .run(&mut self.arguments.pointers(), 1);
            self.arguments
                .adopt()
                .map_err(|e| ArgumentError::SetupResult(Box::new(e)))?;
        }
        Ok(())
    }

    /// Whether fresh data are other data.
    pub(crate) fn vary(&self) -> bool {
        self.inputs.setup.is_some() || self.inputs.data.iter().any(Data::varies)
    }

    /// Whether the next job needs new inputs.
    pub(crate) fn spent(&self) -> bool {
        self.spent
    }

    /// Goes back to the usual data.
    pub(crate) fn usual(&mut self) {
        if self.is_fresh {
            self.exchange();
        }
    }

    fn exchange(&mut self) {
        if let (Some(now), Some((mirror, images))) = (&mut self.device, &mut self.other) {
            std::mem::swap(now, mirror);
            self.arguments.swap(images);
            self.is_fresh = !self.is_fresh;
        }
    }

    /// Goes over to fresh data, in which a kernel meets nothing that it knows. On the host, arrays end next to memory
    /// that nobody may touch, where a kernel is watched.
    pub(crate) fn fresh(
        &mut self,
        kernel: Option<&mut Kernel>,
        channel: &Channel,
    ) -> Result<(), Stop> {
        let seed = self.inputs.fresh_seed();
        if self.other.is_some() {
            self.exchange();
        } else {
            let images = self.arguments.refill(seed, &self.inputs.dir)?;
            let moves = matches!(kernel, Some(Kernel::Host(_))) && self.device.is_none();
            if !moves || self.inputs.setup.is_some() {
                self.arguments.reset(true);
            }
            self.set_up()?;
            match self.device.take() {
                None => self.spent = true,
                Some(usual) => self.mirror_fresh(usual, images)?,
            }
        }
        let Some(kernel) = kernel else {
            return Ok(());
        };
        if matches!(kernel, Kernel::Host(_)) && self.device.is_none() {
            self.arguments.lay(Layout::AtEnd)?;
            guards::watch(&self.arguments, channel.secret, channel.descriptor());
        }
        self.bind(kernel)
    }

    fn bind(&mut self, kernel: &mut Kernel) -> Result<(), Stop> {
        match (kernel, &self.device) {
            (Kernel::Gpu(k), Some(OnDevice::Cuda(mirror))) => {
                k.rebind(mirror, &mut self.arguments).map_err(on_device)
            }
            (Kernel::OpenCl(k), Some(OnDevice::OpenCl(mirror))) => {
                k.bind(mirror, &self.arguments).map_err(on_device)
            }
            _ => Ok(()),
        }
    }

    /// Both data stay on the device where it has the memory; else the usual ones are made again for the next job.
    fn mirror_fresh(&mut self, usual: OnDevice, images: Images) -> Result<(), Stop> {
        let mut another = usual.another(&self.arguments);
        if another.is_err() && self.judge.take().is_some() {
            // It keeps right results there.
            another = usual.another(&self.arguments);
        }
        match another {
            Ok(mirror) => {
                self.device = Some(mirror);
                self.other = Some((usual, images));
                self.is_fresh = true;
            }
            Err(_) => {
                self.spent = true;
                let mirror = usual.replaced(&self.arguments);
                self.device = Some(mirror.map_err(|e| Stop::Environment(e.to_string()))?);
            }
        }
        Ok(())
    }

    pub(crate) fn load(&mut self, built: &Built) -> Result<Kernel, Stop> {
        let file = match built {
            Built::Command(command) => {
                present(&command.dir, "[run] command")?;
                for file in &command.files {
                    if !self.compared.contains(file) {
                        file.same().map_err(Stop::Environment)?;
                        self.compared.push(file.clone());
                    }
                }
                if let Some(build) = &command.build {
                    build.made(&|| false).map_err(|e| match e {
                        BuildError::Environment(e) => Stop::Environment(e.0),
                        BuildError::Compile(e) => Stop::Failed(F::Compile, e.to_string()),
                    })?;
                }
                return Ok(Kernel::Command(Box::new(Program::new((**command).clone()))));
            }
            Built::OpenCl { program, .. } => &program.file,
            Built::Library(file) | Built::Cubin { file, .. } => file,
        };
        let arguments = &mut self.arguments;
        let loaded = match (&self.device, built) {
            (None, _) => HostKernel::load(file)
                .map(Kernel::Host)
                .map_err(|e| e.to_string()),
            (Some(OnDevice::Cuda(mirror)), _) => GpuKernel::load(built, mirror, arguments)
                .map(|k| Kernel::Gpu(Box::new(k)))
                .map_err(|e| e.to_string()),
            (Some(OnDevice::OpenCl(mirror)), Built::OpenCl { program, launches }) => {
                OpenClKernel::load(program, launches, mirror, arguments)
                    .map(|k| Kernel::OpenCl(Box::new(k)))
                    .map_err(|e| e.to_string())
            }
            (Some(OnDevice::OpenCl(_)), _) => {
                Err("host code does not run on an OpenCL device".into())
            }
        };
        loaded.map_err(|e| Stop::Failed(F::Launch, e))
    }

    /// Restores what runs change.
    pub(crate) fn reset(&mut self) -> Result<(), Stop> {
        match &self.device {
            None => {
                self.arguments.reset(false);
                Ok(())
            }
            Some(mirror) => mirror.reset(false).map_err(on_device),
        }
    }

    /// Restores what runs read and change.
    fn reset_read(&mut self) -> Result<(), Stop> {
        match &self.device {
            None => {
                self.arguments.reset_read();
                Ok(())
            }
            Some(mirror) => mirror.reset(true).map_err(on_device),
        }
    }

    pub(crate) fn run(&mut self, kernel: &mut Kernel, n: i64) -> Result<f64, Stop> {
        (self.on_host, self.changed) = (false, None);
        match kernel {
            // A time that is none is found where times count: the results of this run are verified first.
            Kernel::Host(k) => Ok(k.run(&mut self.arguments.pointers(), n)),
            Kernel::Gpu(k) => k.run(n).map_err(on_device),
            Kernel::OpenCl(k) => k.run(n).map_err(on_device),
            Kernel::Command(k) => (0..n).try_fold(0.0, |all, _| Ok(all + k.run()?.0)),
        }
    }

    /// Repeats for about some seconds, from restored arguments as far as runs read them.
    pub(crate) fn window(
        &mut self,
        kernel: &mut Kernel,
        seconds: f64,
        once: &mut f64,
        times: &mut Vec<f64>,
    ) -> Result<Run, Stop> {
        // Where a window is one run, a kernel that finds its results there could spare itself the work.
        if !self.inputs.unrestored && *once > 0.5 * seconds {
            self.reset()?;
        }
        self.repeated(kernel, seconds, once, times)
    }

    /// The same where outputs may hold results: such a batch only tells whether a kernel is measured.
    pub(crate) fn batch(
        &mut self,
        kernel: &mut Kernel,
        seconds: f64,
        once: &mut f64,
    ) -> Result<Run, Stop> {
        self.repeated(kernel, seconds, once, &mut Vec::new())
    }

    fn repeated(
        &mut self,
        kernel: &mut Kernel,
        seconds: f64,
        once: &mut f64,
        times: &mut Vec<f64>,
    ) -> Result<Run, Stop> {
        (self.on_host, self.changed) = (false, None);
        if !self.inputs.unrestored {
            self.reset_read()?;
        }
        let run = match kernel {
            Kernel::Host(k) => {
                let run = k.window(&mut self.arguments.pointers(), seconds, once);
                timed(k, run.seconds / run.iterations)?;
                times.push(run.seconds / run.iterations);
                Ok(run)
            }
            Kernel::Gpu(k) => k.window(seconds, times).map_err(on_device),
            Kernel::OpenCl(k) => k.window(seconds, times).map_err(on_device),
            Kernel::Command(k) => k.window(seconds, times),
        };
        self.busy = Some(Instant::now());
        run
    }

    /// Whether batches ran so shortly before that clocks are still up.
    pub(crate) fn is_warm(&self) -> bool {
        self.busy.is_some_and(|at| at.elapsed() < WARM)
    }
}
