//! Hardware counters of chosen configs, through NVIDIA's `ncu`.

use super::job::Task;
use super::parent::Launcher;
use super::plan::{Plan, TuneError};
use super::trial::Bench;
use crate::problem::Problem;
use crate::sweep::FolderError;
use greenup_space::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Counters of one run of a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    pub config: Vec<Value>,
    /// By our name, or the profiler's for metrics asked for beside ours.
    pub counters: BTreeMap<String, f64>,
}

/// Our name of a counter, the profiler's metrics that add up to it, and what one of them is worth.
pub struct Counter {
    pub name: &'static str,
    pub metrics: &'static [&'static str],
    pub worth: f64,
}

const fn counter(name: &'static str, metrics: &'static [&'static str], worth: f64) -> Counter {
    Counter {
        name,
        metrics,
        worth,
    }
}

/// Counters that make up the work of a kernel, and those of Anzt et al. 2015, Figs. 6 to 9, under
/// the names that today's profiler has for them.
pub const COUNTERS: [Counter; 24] = [
    counter(
        "dram_bytes",
        &["dram__bytes_read.sum", "dram__bytes_write.sum"],
        1.0,
    ),
    counter(
        "l2_bytes",
        &["lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"],
        32.0,
    ),
    counter(
        "shared_traffic_bytes",
        &["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"],
        128.0,
    ),
    counter(
        "f64_fma",
        &["smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"],
        1.0,
    ),
    counter(
        "f64_other",
        &[
            "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
        ],
        1.0,
    ),
    counter(
        "f32_fma",
        &["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"],
        1.0,
    ),
    counter(
        "f32_other",
        &[
            "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
        ],
        1.0,
    ),
    counter(
        "integer_ops",
        &["smsp__sass_thread_inst_executed_op_integer_pred_on.sum"],
        1.0,
    ),
    counter("special_ops", &["smsp__inst_executed_pipe_xu.sum"], 32.0),
    counter(
        "tensor_instructions",
        &["sm__inst_executed_pipe_tensor.sum"],
        1.0,
    ),
    counter(
        "tensor_pipe_share",
        &["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"],
        0.01,
    ),
    counter(
        "f64_pipe_share",
        &["sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"],
        0.01,
    ),
    counter("instructions", &["smsp__inst_executed.sum"], 1.0),
    counter("issue_slots", &["smsp__inst_issued.sum"], 1.0),
    counter("cycles", &["sm__cycles_elapsed.max"], 1.0),
    counter(
        "active_warps",
        &["sm__warps_active.avg.pct_of_peak_sustained_active"],
        0.01,
    ),
    counter(
        "warp_issue_share",
        &["smsp__issue_active.avg.pct_of_peak_sustained_active"],
        0.01,
    ),
    counter(
        "shared_loads",
        &["smsp__sass_inst_executed_op_shared_ld.sum"],
        1.0,
    ),
    counter(
        "shared_conflicts",
        &["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"],
        1.0,
    ),
    counter("l1_hit_share", &["l1tex__t_sector_hit_rate.pct"], 0.01),
    counter("l2_hit_share", &["lts__t_sector_hit_rate.pct"], 0.01),
    counter(
        "global_loads",
        &["smsp__sass_inst_executed_op_global_ld.sum"],
        1.0,
    ),
    counter(
        "local_loads",
        &["smsp__sass_inst_executed_op_local_ld.sum"],
        1.0,
    ),
    counter("branches", &["smsp__sass_branch_targets.sum"], 1.0),
];

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
        let rows = read(&log)?;
        let _ = std::fs::remove_file(&log);
        let mut rows = rows.into_iter();
        for (config, launches) in shown {
            let mut sums: BTreeMap<String, f64> = BTreeMap::new();
            for row in rows.by_ref().take(launches) {
                for (name, v) in row {
                    // Counts of several kernels add up; ratios are those of the main one, the last.
                    if name.ends_with(".sum") || name.ends_with(".max") {
                        *sums.entry(name).or_insert(0.0) += v;
                    } else {
                        sums.insert(name, v);
                    }
                }
            }
            observer.step("");
            found(Counted {
                config,
                counters: named(&sums, metrics),
            })?;
        }
    }
    // Everything in it can be built again.
    let _ = std::fs::remove_dir_all(&libraries);
    Ok(())
}

/// Our counters out of the profiler's metrics; those it does not have are left out.
fn named(sums: &BTreeMap<String, f64>, more: &[String]) -> BTreeMap<String, f64> {
    let mut out = BTreeMap::new();
    for c in &COUNTERS {
        let values: Option<Vec<f64>> = c.metrics.iter().map(|m| sums.get(*m).copied()).collect();
        if let Some(v) = values {
            out.insert(c.name.to_owned(), c.worth * v.iter().sum::<f64>());
        }
    }
    for m in more {
        if let Some(v) = sums.get(m) {
            out.insert(m.clone(), *v);
        }
    }
    out
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
    let mut arguments: Vec<String> = ["--target-processes", "all", "--clock-control", "none"]
        .map(str::to_owned)
        .into();
    arguments.extend(["--csv", "--page", "raw", "--print-units", "base"].map(str::to_owned));
    arguments.extend(["--force-overwrite".to_owned(), "--log-file".to_owned()]);
    arguments.push(log.display().to_string());
    arguments.extend(["--metrics".to_owned(), metrics.join(",")]);
    arguments.push(plain.program.display().to_string());
    arguments.extend(plain.arguments.iter().cloned());
    let launcher = Launcher {
        program: PathBuf::from("ncu"),
        arguments,
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
        match answer {
            None => break,
            Some(a) => {
                if let Some((_, m)) = a.failure {
                    return Err(TuneError::Profiler(m));
                }
                shown.push((config.clone(), launches));
            }
        }
    }
    worker.finish();
    Ok(shown)
}

/// The kernels of the profiler's CSV in order: metric and value.
fn read(log: &Path) -> Result<Vec<Vec<(String, f64)>>, TuneError> {
    let wrong = |m: String| TuneError::Profiler(format!("{}: {m}", log.display()));
    let text = std::fs::read_to_string(log).map_err(|e| wrong(e.to_string()))?;
    parse(&text).map_err(wrong)
}

fn parse(text: &str) -> Result<Vec<Vec<(String, f64)>>, String> {
    // Its remarks stand before the table.
    if let Some(e) = text.lines().find(|l| l.starts_with("==ERROR==")) {
        return Err(e.trim_start_matches("==ERROR==").trim().to_owned());
    }
    let table: String = text
        .lines()
        .skip_while(|l| !l.starts_with("\"ID\""))
        .flat_map(|l| [l, "\n"])
        .collect();
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(table.as_bytes());
    let header = reader.headers().map_err(|e| e.to_string())?.clone();
    let mut out = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|e| e.to_string())?;
        // The line below the header holds units; it has no ID.
        if row.get(0).unwrap_or_default().is_empty() {
            continue;
        }
        let values = header
            .iter()
            .zip(&row)
            .filter(|(name, _)| name.contains("__"))
            .filter_map(|(name, v)| Some((name.to_owned(), v.replace(',', "").parse().ok()?)))
            .collect();
        out.push(values);
    }
    if out.is_empty() {
        return Err(format!(
            "no kernel was profiled: {}",
            text.lines().last().unwrap_or("nothing was said")
        ));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profilers_table_is_read() {
        let text = "==PROF== Connected\n\
            \"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\",\"device__x\"\n\
            \"\",\"\",\"byte\",\"byte\",\"\"\n\
            \"0\",\"scale\",\"1,000\",\"24\",\"no number\"\n\
            \"1\",\"gemm\",\"2,000\",\"n/a\",\"4\"\n";
        let rows = parse(text).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0][0], ("dram__bytes_read.sum".to_owned(), 1000.0));
        let sums: BTreeMap<String, f64> = rows[0].iter().cloned().collect();
        assert_eq!(named(&sums, &[])["dram_bytes"], 1024.0);
        // One of the two is missing: no sum.
        let sums: BTreeMap<String, f64> = rows[1].iter().cloned().collect();
        assert_eq!(named(&sums, &["device__x".to_owned()]).len(), 1);
    }

    #[test]
    fn refused_counters_are_an_error() {
        let text = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n";
        assert!(parse(text).unwrap_err().contains("permission"));
        assert!(parse("nothing\n").is_err());
    }
}
