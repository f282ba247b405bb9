//! DGEMM on a GPU, tuned for time and for energy in one search.

use super::measure::cublas;
use crate::tradeoff::{SEARCH, Tradeoff, named};
use crate::tuned::{Tuning, TuningError, unused};
use greenup_gemm::comparison::Entry;
use greenup_gemm::{Comparison, Size};
use greenup_meter::stats::ratio_of_medians;
use greenup_meter::{Observer, Summary};
use greenup_space::{Index, Limits};
use greenup_tune::points::Indexed;
use greenup_tune::search::Budget;
use greenup_tune::worker::launcher::Launcher;
use greenup_tune::{
    DEFAULT, GpuTarget, Objective, Plan, SessionOptions, Setup, Sweep, strategy, tune,
};
use std::path::PathBuf;

/// Order of the matrices.
const N: usize = 4096;
/// Measuring time of a config, s.
const SECONDS: f64 = 0.6;
/// Kernels measured again at the end, and those that are near the last of them.
const FINALISTS: usize = 3;
const NEAR_TIES: usize = 3;

/// A small part of the space for half a minute: tensor cores fed by the copy engine, where there are both.
const HOPPER: &[(&str, &[i64])] = &[
    ("use_mma", &[8, 16]),
    ("way_copy", &[4]),
    ("dim_m", &[16, 32]),
    ("dim_n", &[8, 16]),
    ("blk_m", &[64, 128]),
    ("blk_n", &[128, 256]),
    ("blk_k", &[16]),
    ("read_a", &[8]),
    ("read_b", &[4]),
    ("vec_read", &[2]),
    ("vec_tile", &[2]),
    ("pair_k", &[1]),
    ("parts_ahead", &[0, 1]),
    ("pad_a", &[0]),
    ("pad_b", &[0]),
    ("stage_count", &[4, 5]),
    ("raster_m", &[1, 8]),
    ("split_k", &[1]),
    ("grid_fixed", &[1]),
    ("blocks_wanted", &[1]),
    ("lanes", &[0]),
    ("swizzle", &[1]),
    ("texture", &[0]),
    ("edges", &[0]),
];

/// Vector units and asynchronous copies.
const PLAIN: &[(&str, &[i64])] = &[
    ("use_mma", &[0]),
    ("way_copy", &[0, 2]),
    ("dim_m", &[16, 32]),
    ("dim_n", &[8, 16]),
    ("blk_m", &[64, 128]),
    ("blk_n", &[64, 128]),
    ("blk_k", &[8, 16]),
    ("read_a", &[16]),
    ("read_b", &[4, 8]),
    ("vec_read", &[1]),
    ("vec_tile", &[1, 2]),
    ("pair_k", &[0]),
    ("parts_ahead", &[0, 1]),
    ("pad_a", &[0]),
    ("pad_b", &[0]),
    ("stage_count", &[1, 3]),
    ("raster_m", &[8]),
    ("split_k", &[1]),
    ("grid_fixed", &[0]),
    ("blocks_wanted", &[1]),
    ("lanes", &[0, 1]),
    ("swizzle", &[0]),
    ("texture", &[0]),
    ("edges", &[0]),
];

/// Settings of the tuning run on a GPU.
pub struct GpuTuning {
    /// Folder for the sweep; if it already contains one, a numbered folder next to it is used.
    pub dir: PathBuf,
    /// The GPU.
    pub on: GpuTarget,
    /// Starts the worker processes that run the kernels.
    pub launcher: Launcher,
    /// Duration of the search, s.
    pub seconds: f64,
    /// Whether the launcher's processes have an energy sensor.
    pub energy: bool,
}

/// Tunes DGEMM for time, and with a sensor for energy too; both winners and cuBLAS are measured again, interleaved.
///
/// # Errors
/// A compiler is missing, a file cannot be written, the GPU fails, or the search was stopped before its end.
pub fn run(options: &GpuTuning, observer: &dyn Observer) -> Result<Tuning, TuningError> {
    let dir = unused(&options.dir);
    let (mut problem, index) = [HOPPER, PLAIN]
        .iter()
        .map(|part| {
            let set = restricted(part);
            let family = dir.join("family");
            let problem = greenup_gemm::gpu::problem(&family, &set, &options.on.gpu)?;
            let index = Index::build(&problem.space, &Limits::default())?;
            Ok::<_, TuningError>((problem, index))
        })
        .find(|found| !matches!(found, Ok((_, index)) if index.is_empty()))
        .unwrap_or(Err(TuningError::Empty))?;
    problem.measure.seconds = SECONDS;
    if !cublas() {
        problem.baseline = None;
    }
    let objectives = if options.energy {
        vec![Objective::Time, Objective::Energy]
    } else {
        vec![Objective::Time]
    };
    let plan = Plan::new(
        &problem,
        SessionOptions {
            objectives,
            budget: Budget::Seconds(options.seconds),
            finalists: FINALISTS,
            near_ties: NEAR_TIES,
            ..SessionOptions::default()
        },
        Setup::of(
            options.launcher.clone(),
            options.on.gpu.name.clone(),
            Some(options.on.clone()),
        ),
        dir,
    );
    let mut search = strategy(if options.energy { SEARCH } else { DEFAULT }, None)?;
    observer.stage("tuning DGEMM", 0);
    let (found, sweep) = tune(
        &problem,
        &Indexed::new(&index),
        search.as_mut(),
        &plan,
        &Within(observer),
    )?;
    let best = found.finalists.first().ok_or(TuningError::Interrupted)?;
    Ok(Tuning {
        size: Size { m: N, n: N, k: N },
        points: index.len(),
        trials: found.trials,
        failed: found.failures.values().sum(),
        config: named(&sweep.facts.parameters, &best.config),
        comparison: comparison(&sweep, best.config.as_slice()).ok_or(TuningError::Interrupted)?,
        tradeoff: Tradeoff::of(&sweep, Some("cuBLAS")),
    })
}

fn restricted(part: &[(&str, &[i64])]) -> Vec<(String, toml::Value)> {
    part.iter()
        .map(|(name, values)| {
            let values = values.iter().map(|&v| toml::Value::Integer(v)).collect();
            ((*name).to_owned(), toml::Value::Array(values))
        })
        .collect()
}

/// The fastest kernel and cuBLAS in the final rounds.
pub(super) fn comparison(sweep: &Sweep, best: &[greenup_space::Value]) -> Option<Comparison> {
    let finals = sweep.finals.as_ref()?;
    let at = finals.configs.iter().position(|c| c == best)?;
    let trial = sweep.trials.iter().find(|t| t.config == best)?;
    let times = &finals.times_s[at];
    let mut entries = vec![Entry {
        name: "tuned kernel".to_owned(),
        time_s: Summary::of(times)?,
        times_s: times.clone(),
        error: trial.metrics.get("error").copied().unwrap_or(f64::NAN),
        ratio: None,
    }];
    if let Some(library) = finals.times_s.last().filter(|_| finals.with_baseline) {
        entries.push(Entry {
            name: "cuBLAS".to_owned(),
            time_s: Summary::of(library)?,
            times_s: library.clone(),
            // Its result is not verified.
            error: f64::NAN,
            ratio: ratio_of_medians(library, times),
        });
    }
    Some(Comparison {
        entries,
        peak_flops_per_s: None,
    })
}

/// Passes on cancellation and messages alone: the stages of a kernel's run are no stages of the study.
pub(super) struct Within<'a>(pub(super) &'a dyn Observer);

impl Observer for Within<'_> {
    fn note(&self, text: &str) {
        self.0.note(text);
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_device::cuda::Gpu;

    #[test]
    fn both_parts_of_the_space_have_configs() {
        let gpu = Gpu::known("h200").unwrap();
        for part in [HOPPER, PLAIN] {
            let dir = tempfile::tempdir().unwrap();
            let problem = greenup_gemm::gpu::problem(dir.path(), &restricted(part), &gpu).unwrap();
            let n = Index::build(&problem.space, &Limits::default())
                .unwrap()
                .len();
            assert!((30..1000).contains(&n), "{n}");
        }
    }
}
