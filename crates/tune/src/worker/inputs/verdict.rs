//! What runs gave, and whether it is right: on the device as far as it can tell, else on the host.

use super::error::WrongResult;
use super::image::Image;
use super::{LoadedInputs, on_device};
use crate::problem::Tolerance;
use crate::sweep::Failure as F;
use crate::worker::host_kernel::HostKernel;
use crate::worker::mirror::OnDevice;
use crate::worker::mirror::judge::Acquitted;
use crate::worker::stop::Stop;
use greenup_files::Scratch;
use std::path::Path;

impl LoadedInputs {
    /// Brings to the host what the last run gave, unless it is there.
    pub(super) fn bring(&mut self) -> Result<(), Stop> {
        if let (false, Some(device)) = (self.on_host, &self.device) {
            let outside = device.fetch(&mut self.arguments).map_err(on_device)?;
            self.on_host = true;
            if let Some((i, place)) = outside {
                let name = self.arguments.name(i).to_owned();
                return Err(WrongResult::OutOfBounds { name, place }.into());
            }
        }
        Ok(())
    }

    /// Writes what the last run gave.
    pub(crate) fn write_outputs(&mut self, folder: &Path) -> Result<(), Stop> {
        self.bring()?;
        let failed = |e: String| {
            let place = folder.display();
            Stop::Environment(format!("the outputs cannot be written to {place}: {e}"))
        };
        // Marked, so that it is removed even if this process is killed.
        if let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) {
            Scratch::folder(parent, &name.to_string_lossy()).map_err(|e| failed(e.to_string()))?;
        }
        (self.arguments.write_outputs(folder)).map_err(|e| failed(e.to_string()))
    }

    /// Runs the reference and writes its outputs.
    pub(crate) fn run_reference(
        &mut self,
        kernel: &HostKernel,
        outputs: &Path,
    ) -> Result<(), Stop> {
        self.arguments.reset(false);
        kernel.run(&mut self.arguments.pointers(), 1);
        self.arguments.verify(None, Tolerance::default())?;
        (self.arguments.judge_reference()).map_err(|why| (F::Wrong, why))?;
        std::fs::write(outputs, self.arguments.outputs())
            .map_err(|e| Stop::Environment(format!("{} cannot be written: {e}", outputs.display())))
    }

    /// Compares what a run gave with the reference's results.
    pub(crate) fn verify(
        &mut self,
        reference: Option<&Path>,
        tolerance: Tolerance,
    ) -> Result<f64, Stop> {
        if let Some(path) = reference
            && !self.expected.iter().any(|(p, _)| p == path)
        {
            let bytes = Image::of_file(path).map_err(|e| {
                Stop::Environment(format!("the reference's results cannot be read: {e}"))
            })?;
            let needed = self.arguments.output_bytes();
            if bytes.len() != needed {
                return Err(Stop::Environment(format!(
                    "{} has {} bytes of the reference's results, and they are {needed}",
                    path.display(),
                    bytes.len()
                )));
            }
            self.expected.push((path.to_owned(), bytes));
        }
        if let Some(right) = self.acquitted(reference, tolerance)? {
            self.changed = Some(right.changed);
            return Ok(right.error);
        }
        let outside = match &self.device {
            None => None,
            Some(mirror) => mirror.fetch(&mut self.arguments).map_err(on_device)?,
        };
        self.on_host = true;
        let expected = reference.and_then(|path| self.expected.iter().find(|(p, _)| p == path));
        let verified = match outside {
            Some((i, place)) => Err(WrongResult::OutOfBounds {
                name: self.arguments.name(i).to_owned(),
                place,
            }),
            None => self
                .arguments
                .verify(expected.map(|(_, b)| &**b), tolerance),
        };
        // The next kernel finds its inputs as they were.
        if let (Err(_), Some(mirror)) = (&verified, &self.device) {
            mirror.restore(&self.arguments).map_err(on_device)?;
        }
        Ok(verified?)
    }

    /// What the GPU finds, if all is right; `None` where the host must look.
    fn acquitted(
        &mut self,
        reference: Option<&Path>,
        tolerance: Tolerance,
    ) -> Result<Option<Acquitted>, Stop> {
        let (Some(judge), Some(OnDevice::Cuda(mirror))) = (&mut self.judge, &self.device) else {
            return Ok(None);
        };
        // This waits for all work too.
        if mirror.overwritten().map_err(on_device)? {
            return Ok(None);
        }
        let expected = reference.and_then(|path| self.expected.iter().find(|(p, _)| p == path));
        let places = mirror.places(&self.arguments, expected.map(|e| &*e.1), tolerance);
        let missing = judge.missing_bytes(&places, reference);
        // Kernels and fresh data need memory too.
        if missing > 0
            && mirror
                .session
                .free_bytes()
                .is_ok_and(|free| missing > free / 8)
        {
            return Ok(None);
        }
        if let Ok(found) = judge.acquit(&places, reference) {
            return Ok(found);
        }
        // A device that is lost says so to the host, which looks next.
        self.judge = None;
        Ok(None)
    }
}
