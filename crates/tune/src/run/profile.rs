//! Hardware counters of chosen configs, through NVIDIA's `ncu`.

use super::counters::{self, COUNTERS};
use super::job::Task;
use super::parent::Launcher;
use super::plan::{Plan, TuneError};
use super::trial::Bench;
use crate::problem::Problem;
use crate::sweep::{Counted, FolderError, Kernels};
use greenup_space::Value;
use std::path::{Path, PathBuf};

/// Configs that one process of the profiler looks at: what it found is lost if it fails.
const TOGETHER: usize = 25;

/// Runs each config once under the profiler; `found` is told of each as soon as it is known.
///
/// # Errors
/// The profiler cannot be started, or says that it may not read counters.
pub fn profile(
    problem: &Problem,
    configs: &[Vec<Value>],
    plan: &Plan,
    metrics: &[String],
    found: &mut dyn FnMut(Counted) -> Result<(), TuneError>,
) -> Result<(), TuneError> {
    let observer = plan.observer;
    let libraries = std::path::absolute(plan.out.join("build")).unwrap_or(plan.out.join("build"));
    std::fs::create_dir_all(&libraries).map_err(|cause| FolderError::Io {
        path: libraries.clone(),
        cause,
    })?;
    let bench = Bench::plain(problem, plan, libraries.clone())?;
    observer.stage("profiling", configs.len());
    let mut asked: Vec<&str> = COUNTERS.iter().flat_map(|c| c.metrics).copied().collect();
    asked.extend(metrics.iter().map(String::as_str));
    for (i, group) in configs.chunks(TOGETHER).enumerate() {
        if observer.cancelled() {
            return Ok(());
        }
        let log = plan.out.join(format!("ncu-{i}.csv"));
        let shown = show(&bench, group, &asked, &log)?;
        let launches = counters::read(&log)?;
        let _ = std::fs::remove_file(&log);
        let mut left = launches.as_slice();
        for (config, count) in shown {
            let (own, others) = left.split_at(count.min(left.len()));
            left = others;
            observer.step("");
            found(Counted {
                config,
                counters: counters::folded(own, metrics),
                kernels: if count > 1 {
                    counters::by_kernel(own)
                } else {
                    Kernels::new()
                },
            })?;
        }
    }
    // Everything in it can be built again.
    let _ = std::fs::remove_dir_all(&libraries);
    Ok(())
}

/// Shows configs to the profiler, one after the other, in one process; returns those that ran and
/// how many kernels each launched.
fn show(
    bench: &Bench,
    configs: &[Vec<Value>],
    metrics: &[&str],
    log: &Path,
) -> Result<Vec<(Vec<Value>, usize)>, TuneError> {
    let plain = &bench.plan.launcher;
    let alone = "--alone".to_owned();
    let own = plain.arguments.iter().chain([&alone]);
    let launcher = Launcher {
        program: PathBuf::from("ncu"),
        arguments: counters::arguments(log, metrics, &plain.program, own),
    };
    let mut worker = launcher
        .start()
        .map_err(|e| TuneError::Profiler(format!("`ncu` of NVIDIA's Nsight Compute: {e}")))?;
    let limit = 10.0 * bench.problem.measure.timeout;
    let mut shown = Vec::new();
    for config in configs {
        let Ok(ready) = bench.builder.compile(config) else {
            continue;
        };
        if ready.rejected.is_some() {
            continue;
        }
        let launches = match &ready.built {
            super::job::Built::Cubin { launches, .. } => launches.len(),
            super::job::Built::Library(_) => 0,
        };
        let task = Task::Show {
            kernel: ready.built,
            runs: 1,
        };
        let answer = worker.ask(&bench.job(task, limit), limit, &|| {
            bench.plan.observer.cancelled()
        });
        match answer.map_err(|e| TuneError::Profiler(e.0))? {
            None => break,
            Some(a) => {
                if let Some((_, m)) = a.failure {
                    return Err(TuneError::Profiler(m));
                }
                shown.push((config.clone(), launches));
            }
        }
    }
    worker.finish(limit);
    Ok(shown)
}
