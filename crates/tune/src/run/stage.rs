//! The inputs as kernels find them, and runs on them.

use super::block::Layout;
use super::channel::Channel;
use super::child::Stop;
use super::data::{Arguments, Images};
use super::gpu::{GpuKernel, Mirror};
use super::guards;
use super::host::HostKernel;
use super::job::{Built, Stage};
use crate::sweep::Failure as F;
use greenup_device::cuda::{CudaError, Session};
use greenup_meter::Run;
use std::path::{Path, PathBuf};

/// A kernel ready to run.
pub(super) enum Kernel {
    Host(HostKernel),
    Gpu(Box<GpuKernel>),
}

/// The arguments, where kernels find them.
pub(super) struct LoadedInputs {
    pub(super) stage: Stage,
    arguments: Arguments,
    gpu: Option<Mirror>,
    /// What is not in use: the fresh data or the usual ones.
    other: Option<(Mirror, Images)>,
    /// Whether the fresh data are in use.
    is_fresh: bool,
    /// Whether the usual data are gone.
    spent: bool,
    /// Results of the reference, by their files.
    expected: Vec<(PathBuf, Vec<u8>)>,
}

fn on_gpu(e: CudaError) -> Stop {
    Stop::Failed(F::Runtime, e.to_string())
}

impl LoadedInputs {
    /// Fills the arguments; what goes wrong is no kernel's fault.
    pub(super) fn new(stage: &Stage, channel: &Channel) -> Result<Self, String> {
        let arguments = Arguments::new(&stage.data, stage.seed, &stage.dir)?;
        guards::watch(&arguments, channel.secret, channel.descriptor());
        let mut set = Self {
            stage: stage.clone(),
            arguments,
            gpu: None,
            other: None,
            is_fresh: false,
            spent: false,
            expected: Vec::new(),
        };
        set.set_up()?;
        if let Some(ordinal) = stage.gpu {
            let mirror =
                Session::open(ordinal).and_then(|session| Mirror::new(session, &set.arguments));
            set.gpu = Some(mirror.map_err(|e| e.to_string())?);
        }
        Ok(set)
    }

    /// Makes the data what the kernels expect.
    fn set_up(&mut self) -> Result<(), String> {
        if let Some(setup) = &self.stage.setup {
            HostKernel::load(setup)
                .map_err(|m| format!("the setup: {m}"))?
                .run(&mut self.arguments.pointers(), 1);
            self.arguments
                .adopt()
                .map_err(|m| format!("the setup: {m}"))?;
        }
        Ok(())
    }

    /// Whether the next job needs new inputs.
    pub(super) fn spent(&self) -> bool {
        self.spent
    }

    /// Goes back to the usual data.
    pub(super) fn usual(&mut self) {
        if self.is_fresh {
            self.exchange();
        }
    }

    fn exchange(&mut self) {
        if let (Some(gpu), Some((mirror, images))) = (&mut self.gpu, &mut self.other) {
            std::mem::swap(gpu, mirror);
            self.arguments.swap(images);
            self.is_fresh = !self.is_fresh;
        }
    }

    /// Goes over to fresh data, in which a kernel meets nothing that it knows. On the host, arrays end next to memory
    /// that nobody may touch, where a kernel is watched.
    pub(super) fn fresh(
        &mut self,
        kernel: Option<&mut Kernel>,
        channel: &Channel,
    ) -> Result<(), Stop> {
        let seed = self.stage.fresh_seed();
        if self.other.is_some() {
            self.exchange();
        } else {
            let images = self
                .arguments
                .refill(seed, &self.stage.dir)
                .map_err(Stop::Environment)?;
            self.set_up().map_err(Stop::Environment)?;
            match self.gpu.take() {
                None => self.spent = true,
                Some(usual) => self.mirror_fresh(usual, images)?,
            }
        }
        match (kernel, &self.gpu) {
            (Some(Kernel::Gpu(k)), Some(mirror)) => {
                k.rebind(mirror, &mut self.arguments).map_err(on_gpu)
            }
            (Some(Kernel::Host(_)), None) => {
                self.arguments
                    .lay(Layout::AtEnd)
                    .map_err(Stop::Environment)?;
                guards::watch(&self.arguments, channel.secret, channel.descriptor());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Both data stay on the GPU where it has the memory; else the usual ones are made again for the next job.
    fn mirror_fresh(&mut self, usual: Mirror, images: Images) -> Result<(), Stop> {
        let session = usual.session.clone();
        match Mirror::new(session.clone(), &self.arguments) {
            Ok(mirror) => {
                self.gpu = Some(mirror);
                self.other = Some((usual, images));
                self.is_fresh = true;
            }
            Err(_) => {
                drop(usual);
                self.spent = true;
                let mirror = Mirror::new(session, &self.arguments);
                self.gpu = Some(mirror.map_err(|e| Stop::Environment(e.to_string()))?);
            }
        }
        Ok(())
    }

    pub(super) fn load(&mut self, built: &Built) -> Result<Kernel, Stop> {
        match &self.gpu {
            None => HostKernel::load(built.file())
                .map(Kernel::Host)
                .map_err(|m| Stop::Failed(F::Launch, m)),
            Some(mirror) => GpuKernel::load(built, mirror, &mut self.arguments)
                .map(|k| Kernel::Gpu(Box::new(k)))
                .map_err(|e| Stop::Failed(F::Launch, e.to_string())),
        }
    }

    /// Restores what runs change.
    pub(super) fn reset(&mut self) -> Result<(), Stop> {
        match &self.gpu {
            None => {
                self.arguments.reset(false);
                Ok(())
            }
            Some(mirror) => mirror.reset().map_err(on_gpu),
        }
    }

    pub(super) fn run(&mut self, kernel: &mut Kernel, n: i64) -> Result<f64, Stop> {
        match kernel {
            Kernel::Host(k) => Ok(k.run(&mut self.arguments.pointers(), n)),
            Kernel::Gpu(k) => k.run(n).map_err(on_gpu),
        }
    }

    /// Repeats for about some seconds, from restored arguments.
    pub(super) fn window(
        &mut self,
        kernel: &mut Kernel,
        seconds: f64,
        once: &mut f64,
        times: &mut Vec<f64>,
    ) -> Result<Run, Stop> {
        self.reset()?;
        match kernel {
            Kernel::Host(k) => {
                let run = k.window(&mut self.arguments.pointers(), seconds, once);
                times.push(run.seconds / run.iterations);
                Ok(run)
            }
            Kernel::Gpu(k) => k.window(seconds, times).map_err(on_gpu),
        }
    }

    /// Runs the reference and writes its outputs.
    pub(super) fn run_reference(&mut self, kernel: HostKernel, outputs: &Path) -> Result<(), Stop> {
        self.arguments.reset(false);
        kernel.run(&mut self.arguments.pointers(), 1);
        self.arguments
            .verify(None, 0.0)
            .map_err(|m| Stop::Failed(F::Wrong, m))?;
        std::fs::write(outputs, self.arguments.outputs())
            .map_err(|e| Stop::Environment(format!("{} cannot be written: {e}", outputs.display())))
    }

    /// Compares what a run gave with the reference's results.
    pub(super) fn verify(&mut self, reference: Option<&Path>, tolerance: f64) -> Result<f64, Stop> {
        if let Some(path) = reference
            && !self.expected.iter().any(|(p, _)| p == path)
        {
            let bytes = std::fs::read(path).map_err(|e| {
                Stop::Environment(format!("the reference's results cannot be read: {e}"))
            })?;
            self.expected.push((path.to_owned(), bytes));
        }
        let wrong = |m: String| Stop::Failed(F::Wrong, m);
        let outside = match &self.gpu {
            None => None,
            Some(mirror) => mirror.fetch(&mut self.arguments).map_err(on_gpu)?,
        };
        let expected = reference.and_then(|path| self.expected.iter().find(|(p, _)| p == path));
        let verified = match outside {
            Some((i, beside)) => Err(wrong(format!(
                "it wrote outside of `{}`: {beside}",
                self.arguments.name(i)
            ))),
            None => self
                .arguments
                .verify(expected.map(|(_, b)| b.as_slice()), tolerance)
                .map_err(wrong),
        };
        // The next kernel finds its inputs as they were.
        if let (Err(_), Some(mirror)) = (&verified, &self.gpu) {
            mirror.restore(&self.arguments).map_err(on_gpu)?;
        }
        verified
    }
}
