//! Configs to compiled kernels, several at a time.

use crate::build::compile::Unit;
use crate::build::cubin::{self, Ready};
use crate::error::CompileError;
use crate::error::{BuildError, EnvironmentFault, of_environment};
use crate::plan::Plan;
use crate::points::Points;
use crate::problem::Problem;
use crate::strategy::Proposal;
use crate::worker::protocol::{Built, Inputs, Job, Message, Task};
use greenup_meter::Observer;
use greenup_space::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
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
}

impl Builder<'_> {
    /// Compiles a config.
    pub(crate) fn compile(&self, config: &[Value]) -> Result<Ready, BuildError> {
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

    /// Compiles configs on all cores.
    fn build(&self, proposals: &[Proposal], points: &(dyn Points + Sync)) -> Vec<Made> {
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Made>>> =
            proposals.iter().map(|_| Mutex::new(None)).collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(proposals.len()) {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some(p) = proposals.get(i) else { return };
                        if self.observer.cancelled() {
                            return;
                        }
                        let start = Instant::now();
                        let built = self.compile(&points.config(p.point));
                        if let Ok(mut slot) = results[i].lock() {
                            *slot = Some((built, start.elapsed().as_secs_f64()));
                        }
                    }
                });
            }
        });
        results
            .into_iter()
            .map(|r| {
                r.into_inner()
                    .ok()
                    .flatten()
                    .unwrap_or((Err(CompileError::Interrupted.into()), 0.0))
            })
            .collect()
    }

    /// Configs compiled together: a few ahead of the measuring, as more would be lost when time is
    /// up.
    fn ahead(&self) -> usize {
        if self.plan.gpu.is_some() { 16 } else { 8 }
    }

    /// Compiles the proposals ahead of handing them on one by one, until it is told to stop.
    ///
    /// On the host a compiler beside a measurement would spoil it; a GPU does not mind.
    pub(crate) fn each<B>(
        &self,
        proposals: &[Proposal],
        points: &(dyn Points + Sync),
        take: &mut dyn FnMut(&Proposal, Made) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let groups: Vec<&[Proposal]> = proposals.chunks(self.ahead()).collect();
        std::thread::scope(|scope| {
            let mut beside: Option<ScopedJoinHandle<'_, Vec<Made>>> = None;
            for (i, group) in groups.iter().enumerate() {
                let made = match beside.take() {
                    Some(handle) => match handle.join() {
                        Ok(made) => made,
                        Err(panic) => std::panic::resume_unwind(panic),
                    },
                    None => self.build(group, points),
                };
                if let (Some(next), true) = (groups.get(i + 1), self.plan.gpu.is_some()) {
                    beside = Some(scope.spawn(move || self.build(next, points)));
                }
                for (p, made) in group.iter().zip(made) {
                    take(p, made)?;
                }
            }
            ControlFlow::Continue(())
        })
    }
}
