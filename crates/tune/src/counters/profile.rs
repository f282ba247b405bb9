//! Hardware counters of chosen configs, through NVIDIA's `ncu`.

use crate::build::cubin::Ready;
use crate::counters::ProfilerError;
use crate::counters::ncu;
use crate::error::BuildError;
use crate::error::TuneError;
use crate::plan::Plan;
use crate::problem::Problem;
use crate::sweep::{Counted, Kernels};
use crate::trial::bench::Bench;
use crate::worker::launcher::{Ahead, Launcher};
use crate::worker::protocol::Task;
use greenup_files::{FolderLock, Scratch};
use greenup_meter::Observer;
use greenup_space::Value;
use std::path::{Path, PathBuf};

/// Configs that one process of the profiler looks at: what it found is lost if it fails.
const TOGETHER: usize = 25;

/// Runs each config once under the profiler; `found` gets each as soon as it is known.
///
/// # Errors
/// The profiler cannot be started, or says that it may not read counters.
pub fn profile(
    problem: &Problem,
    configs: &[Vec<Value>],
    plan: &Plan,
    observer: &dyn Observer,
    metrics: &[String],
    found: &mut dyn FnMut(Counted) -> Result<(), TuneError>,
) -> Result<(), TuneError> {
    let _lock = FolderLock::acquire(&plan.out)?;
    Scratch::remove_stale(&plan.out);
    let scratch = Scratch::create(&plan.out)?;
    let bench = Bench::plain(problem, plan, observer, scratch.path().to_owned())?;
    observer.stage("profiling", configs.len());
    let known = ncu::known(Path::new("ncu"), &|| observer.cancelled());
    let mut asked = ncu::metrics(&known);
    asked.extend(metrics.iter().map(String::as_str));
    for (i, group) in configs.chunks(TOGETHER).enumerate() {
        if observer.cancelled() {
            return Ok(());
        }
        let log = scratch.path().join(format!("ncu-{i}.csv"));
        let (shown, fault) = show(&bench, group, &asked, &log)?;
        if shown.is_empty() {
            fault.map_or(Ok(()), Err)?;
            continue;
        }
        let launches = ncu::read(&log)?;
        let _ = std::fs::remove_file(&log);
        let mut left = launches.as_slice();
        for (config, count) in shown {
            let (own, others) = left.split_at(count.min(left.len()));
            left = others;
            observer.step("");
            found(Counted {
                config,
                counters: ncu::folded(own, metrics),
                kernels: if count > 1 {
                    ncu::by_kernel(own)
                } else {
                    Kernels::new()
                },
            })?;
        }
        // What was counted before it is kept.
        fault.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Configs that ran and how many kernels each launched; and what kept the rest from being built.
type Shown = (Vec<(Vec<Value>, usize)>, Option<TuneError>);

/// A config that can be shown; none that does not compile or is rejected.
///
/// # Errors
/// The environment failed, not the config.
fn usable(made: Result<Ready, BuildError>) -> Result<Option<Ready>, TuneError> {
    match made {
        Ok(ready) => Ok(Some(ready).filter(|r| r.rejected.is_none())),
        Err(BuildError::Compile(_)) => Ok(None),
        Err(BuildError::Environment(e)) => Err(e.into()),
    }
}

/// Shows configs to the profiler, one after the other, in one process.
fn show(
    bench: &Bench,
    configs: &[Vec<Value>],
    metrics: &[&str],
    log: &Path,
) -> Result<Shown, TuneError> {
    let plain = &bench.plan.setup.launcher;
    let alone = "--alone".to_owned();
    let own = plain.arguments.iter().chain([&alone]);
    let launcher = Launcher {
        program: PathBuf::from("ncu"),
        remote: None,
        ahead: Ahead::default(),
        arguments: ncu::arguments(log, metrics, &plain.program, own),
    };
    let mut worker = launcher
        .start(&|| bench.observer.cancelled())
        .map_err(|e| ProfilerError::Start(e.to_string()))?;
    let limit = 10.0 * bench.problem.measure.timeout;
    let mut shown = Vec::new();
    let mut fault = None;
    for config in configs {
        let ready = match usable(bench.builder.compile(config)) {
            Ok(Some(ready)) => ready,
            Ok(None) => continue,
            Err(e) => {
                fault = Some(e);
                break;
            }
        };
        let launches = match &ready.built {
            crate::worker::protocol::Built::Cubin { launches, .. }
            | crate::worker::protocol::Built::OpenCl { launches, .. } => launches.len(),
            crate::worker::protocol::Built::Library(_)
            | crate::worker::protocol::Built::Command(_) => 0,
        };
        let task = Task::Show {
            kernel: ready.built,
            runs: 1,
        };
        let answer = worker.ask(&bench.job(task, limit), limit, &|| {
            bench.observer.cancelled()
        });
        match answer.map_err(|e| ProfilerError::Worker(e.0))? {
            None => break,
            Some(a) => {
                if let Some((_, m)) = a.failure {
                    return Err(ProfilerError::Worker(m).into());
                }
                shown.push((config.clone(), launches));
            }
        }
    }
    worker.finish(limit);
    Ok((shown, fault))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::CompileError;
    use crate::error::EnvironmentFault;
    use crate::sweep::Failure;
    use crate::worker::protocol::Built;

    #[test]
    fn only_a_fault_of_the_environment_ends_it() {
        let ready = |rejected: Option<&str>| Ready {
            built: Built::Library(PathBuf::from("k.so")),
            facts: std::collections::BTreeMap::new(),
            rejected: rejected.map(|why| (Failure::Invalid, why.to_owned())),
        };
        assert!(usable(Ok(ready(None))).unwrap().is_some());
        assert!(
            usable(Ok(ready(Some("too many registers"))))
                .unwrap()
                .is_none()
        );
        let e = CompileError::Rejected("error: expected `;`".into());
        assert!(usable(Err(e.into())).unwrap().is_none());
        let e = EnvironmentFault("No space left on device".into());
        match usable(Err(e.into())) {
            Err(TuneError::Environment(e)) => assert!(e.0.contains("No space left"), "{e}"),
            _ => panic!("a full disk is no fault of the config"),
        }
    }
}
