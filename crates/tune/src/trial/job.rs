//! Jobs of a bench: what a worker is given, and the worker process that runs them.

use super::bench::Bench;
use crate::build::compile::Unit;
use crate::build::opencl;
use crate::error::{EnvironmentFault, TuneError};
use crate::plan::DATA_SEED;
use crate::sweep::Failure;
use crate::worker::launcher::JobResult;
use crate::worker::protocol::{Built, Expected, Inputs, Job, Task};
use std::sync::PoisonError;

impl Bench<'_> {
    pub(crate) fn job(&self, task: Task, limit_s: f64) -> Job {
        // References run on the host, whatever the kernels run on.
        let gpu = match &task {
            Task::Reference { .. } | Task::Compile(_) | Task::BuildOpenCl(_) => None,
            _ => self.gpu.map(|on| on.gpu.ordinal),
        };
        Job {
            limit_s,
            inputs: Inputs {
                data: self.problem.data.clone(),
                seed: DATA_SEED,
                setup: self.setup.clone(),
                dir: self.problem.absolute_dir(),
                gpu,
                unrestored: !self.problem.measure.restore,
                opencl: match &task {
                    Task::Reference { .. } => None,
                    _ => self.problem.opencl.as_ref().map(opencl::target),
                },
            },
            ..Job::of(task, limit_s)
        }
    }

    pub(crate) fn run(
        &self,
        task: Task,
        limit_s: f64,
    ) -> Result<Option<JobResult>, EnvironmentFault> {
        let job = self.job(task, limit_s);
        let cancelled = || self.observer.cancelled();
        // References run here, wherever the kernels run.
        if matches!(job.task, Task::Reference { .. } | Task::Compile(_)) {
            return self.plan.setup.launcher.run(&job, limit_s, &cancelled);
        }
        // What a command does wrong harms no worker.
        let on_device = job.inputs.gpu.is_some() || job.inputs.opencl.is_some();
        let alone = !on_device && self.problem.command.is_none();
        if alone && self.launcher.remote.is_none() {
            return self.launcher.run(&job, limit_s, &cancelled);
        }
        let mut kept = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_none_or(|w| !w.alive()) {
            *kept = Some(self.launcher.for_device(&cancelled)?);
        }
        let Some(worker) = kept.as_mut() else {
            return Ok(None);
        };
        let answer = match worker.ask(&job, limit_s, &cancelled) {
            Ok(answer) => answer,
            Err(fault) => {
                *kept = None;
                return Err(fault);
            }
        };
        // After a fault on the GPU nothing works any more in that process.
        let is_command = self.problem.command.is_some();
        // A kernel in the memory of its process may have damaged anything there.
        let on_host = job.inputs.opencl.is_some_and(|o| o.on_host);
        let sound = |f: &(Failure, String)| {
            matches!(f.0, Failure::Wrong | Failure::Compile) && !on_host || is_command
        };
        if answer
            .as_ref()
            .is_none_or(|a| a.failure.as_ref().is_some_and(|f| !sound(f)))
        {
            *kept = None;
        }
        Ok(answer)
    }

    /// Starts the process that a device's trials share and fills its inputs, while the first configs are built. What goes wrong there
    /// the first trial finds again.
    pub(crate) fn prepare(&self) {
        let on_device = self.gpu.is_some() || self.problem.opencl.is_some();
        if on_device && self.launcher.remote.is_none() {
            let _ = self.run(Task::Fill, self.problem.measure.timeout);
        }
    }

    /// Runs the reference on the host; its results are kept for all trials.
    pub(super) fn prepare_reference(&mut self) -> Result<(), TuneError> {
        if let Some(command) = &self.problem.command {
            let found = command.expectation(self.problem, &self.builder.libraries, &|| {
                self.observer.cancelled()
            });
            self.builder.expectation = found.map_err(TuneError::Reference)?;
            let baseline = command.baseline(self.problem, self.plan.objective());
            self.baseline = (baseline.map_err(TuneError::Reference)?).map(|mut command| {
                let files = self.builder.elsewhere.iter().flat_map(|f| f.iter());
                command.files = files.cloned().collect();
                Built::Command(Box::new(command))
            });
            return Ok(());
        }
        let Some(unit) = Unit::of_reference(self.problem) else {
            return Ok(());
        };
        let library = unit.compile_for("reference", &self.builder.libraries)?;
        let at = |name| self.builder.libraries.join(name);
        let outputs = Expected {
            first: at("reference.bin"),
            fresh: at("reference-fresh.bin"),
        };
        let task = Task::Reference {
            library,
            outputs: outputs.clone(),
        };
        // It runs twice.
        let limit = self.problem.measure.timeout * 60.0;
        let Some(answer) = self.run(task, limit)? else {
            return Ok(());
        };
        if let Some((f, m)) = answer.failure {
            return Err(TuneError::Reference(format!(
                "the reference failed ({}): {m}",
                f.name()
            )));
        }
        self.reference = Some(outputs);
        Ok(())
    }
}
