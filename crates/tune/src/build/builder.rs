//! Configs to compiled kernels.

use crate::build::compile::Unit;
use crate::build::cubin::{self, Ready};
use crate::command::Expectation;
use crate::error::CompileError;
use crate::error::{BuildError, EnvironmentFault, of_environment};
use crate::plan::Plan;
use crate::problem::Problem;
use crate::worker::protocol::{Built, Inputs, Job, Message, Task};
use greenup_meter::Observer;
use greenup_space::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

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
}

impl Builder<'_> {
    /// Compiles a config.
    pub(crate) fn compile(&self, config: &[Value]) -> Result<Ready, BuildError> {
        if let Some(command) = &self.problem.command {
            let objective = self.plan.objectives.first().copied();
            return command.make(
                self.problem,
                config,
                &self.libraries,
                objective.unwrap_or(self.problem.objective),
                self.expectation.clone(),
                &|| self.observer.cancelled(),
            );
        }
        let Some(on) = &self.plan.gpu else {
            let library = Unit::of_config(self.problem, config)?.compile(&self.libraries)?;
            return Ok(Ready {
                built: Built::Library(library),
                facts: BTreeMap::new(),
                rejected: None,
            });
        };
        let job = Job {
            inputs: Inputs::default(),
            limit_s: COMPILE_S,
            task: Task::Compile(cubin::source(self.problem, config, on)?),
            files: Vec::new(),
        };
        let answer = self
            .plan
            .launcher
            .run(&job, COMPILE_S, &|| self.observer.cancelled())?
            .ok_or(CompileError::Interrupted)?;
        match (answer.messages.into_iter().next(), answer.failure) {
            (_, Some((_, m))) if of_environment(&m) => Err(EnvironmentFault(m).into()),
            (_, Some((_, m))) => Err(CompileError::Rejected(m).into()),
            (Some(Message::Compiled { file, kernels }), None) => {
                Ok(cubin::ready(self.problem, config, on, file, &kernels)?)
            }
            _ => Err(CompileError::Rejected("the compiler gave no answer".into()).into()),
        }
    }
}
