//! Configs to compiled kernels.

use crate::build::compile::Unit;
use crate::build::cubin::{self, Ready};
use crate::build::opencl;
use crate::command::{Builds, Expectation, SharedFile};
use crate::error::{BuildError, EnvironmentFault, of_environment};
use crate::error::{CompileError, TuneError};
use crate::plan::Plan;
use crate::problem::{Language, Problem};
use crate::worker::launcher::{JobResult, Worker};
use crate::worker::protocol::{Built, Job, Message, Task};
use greenup_meter::Observer;
use greenup_space::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A compiled kernel or why there is none, and the seconds it took.
pub(crate) type Made = (Result<Ready, BuildError>, f64);

/// Seconds after which a compiler of GPU code counts as hanging.
const COMPILE_S: f64 = 120.0;

/// Compiles the configs of one sweep.
#[derive(Clone)]
pub(crate) struct Builder<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) plan: &'a Plan,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) libraries: PathBuf,
    /// The output of a command that is right.
    pub(crate) expectation: Option<Expectation>,
    /// Files of a command whose workers are behind launchers and build it themselves.
    pub(crate) elsewhere: Option<Arc<Vec<SharedFile>>>,
    /// Idle processes that compile for a device: loading its compiler takes longer than most kernels.
    pub(crate) compilers: Arc<Mutex<Vec<Worker>>>,
}

impl Builder<'_> {
    /// Compiles a config and measures how long that takes.
    pub(crate) fn made(&self, config: &[Value]) -> Made {
        let start = Instant::now();
        let built = self.compile(config);
        (built, start.elapsed().as_secs_f64())
    }

    /// Compiles a config.
    pub(crate) fn compile(&self, config: &[Value]) -> Result<Ready, BuildError> {
        if let Some(command) = &self.problem.command {
            return command.make(
                self.problem,
                config,
                Builds {
                    folder: &self.libraries,
                    elsewhere: self.elsewhere.as_ref().map(|files| files.as_slice()),
                },
                self.plan.objective(),
                self.expectation.clone(),
                &|| self.observer.cancelled(),
            );
        }
        if self.problem.build.language == Language::OpenCl {
            return self.compile_opencl(config);
        }
        let Some(on) = &self.plan.setup.gpu else {
            let library = Unit::of_config(self.problem, config)?.compile(&self.libraries)?;
            return Ok(Ready {
                built: Built::Library(library),
                facts: BTreeMap::new(),
                rejected: None,
            });
        };
        let source = cubin::source(self.problem, config, on)?;
        let done = self.by_a_compiler(Task::Compile(source));
        match done.map_err(|e| self.explained(e, config))? {
            Message::Compiled { file, kernels } => {
                Ok(cubin::ready(self.problem, config, on, file, &kernels)?)
            }
            _ => Err(no_answer()),
        }
    }

    fn compile_opencl(&self, config: &[Value]) -> Result<Ready, BuildError> {
        let Some(device) = &self.problem.opencl else {
            let fault = TuneError::NoDevice.to_string();
            return Err(EnvironmentFault(fault).into());
        };
        let source = opencl::source(self.problem, config, device, &self.libraries)?;
        let done = self.by_a_compiler(Task::BuildOpenCl(source.clone()));
        match done.map_err(|e| self.explained(e, config))? {
            Message::BuiltOpenCl { kernels } => Ok(opencl::ready(
                self.problem,
                config,
                device,
                source,
                &kernels,
            )?),
            _ => Err(no_answer()),
        }
    }

    /// The words of a device's compiler, with the cause that it does not name.
    fn explained(&self, e: BuildError, config: &[Value]) -> BuildError {
        let unit = Unit::of_config(self.problem, config);
        match (e, unit) {
            (BuildError::Compile(CompileError::Rejected(words)), Ok(unit)) => {
                CompileError::Rejected(unit.explained(words)).into()
            }
            (e, _) => e,
        }
    }

    /// Ends the compilers that are idle.
    pub(crate) fn end_idle(&self) {
        let mut idle = (self.compilers.lock()).unwrap_or_else(PoisonError::into_inner);
        idle.clear();
    }

    /// Runs a compiler in a process of its own, as it may crash or hang; the process is kept while it succeeds.
    fn by_a_compiler(&self, task: Task) -> Result<Message, BuildError> {
        let cancelled = || self.observer.cancelled();
        let idle = || {
            self.compilers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let kept = idle().pop().filter(Worker::alive);
        let mut worker = match kept {
            Some(worker) => worker,
            None => self.plan.setup.launcher.start(&cancelled)?,
        };
        let answer = worker.ask(&Job::of(task, COMPILE_S), COMPILE_S, &cancelled)?;
        if answer.as_ref().is_some_and(|a| a.failure.is_none()) {
            idle().push(worker);
        }
        Self::compiled(answer)
    }

    fn compiled(answer: Option<JobResult>) -> Result<Message, BuildError> {
        let answer = answer.ok_or(CompileError::Interrupted)?;
        match (answer.messages.into_iter().next(), answer.failure) {
            (_, Some((_, m))) if of_environment(&m) => Err(EnvironmentFault(m).into()),
            (_, Some((_, m))) => Err(CompileError::Rejected(m).into()),
            (Some(message), None) => Ok(message),
            (None, None) => Err(no_answer()),
        }
    }
}

fn no_answer() -> BuildError {
    CompileError::Rejected("the compiler gave no answer".into()).into()
}
