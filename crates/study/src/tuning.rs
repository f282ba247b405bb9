//! A short tuning run: DGEMM's kernel family on this host, the winner against a library.

use greenup_calibrate::bench::Bench;
use greenup_device::{CpuFacts, Team};
use greenup_gemm::{Contest, Faer, Kernel, Matrices, Size, contest, family};
use greenup_meter::Observer;
use greenup_model::Op;
use greenup_space::{Index, Limits, Value};
use greenup_tune::run::parent::Launcher;
use greenup_tune::{DEFAULT, Plan, strategy, tune};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How the run is made.
pub struct TuningOptions {
    /// Folder for the sweep; another is made beside one that holds a sweep already.
    pub dir: PathBuf,
    /// Starts the processes in which kernels run.
    pub launcher: Launcher,
    /// Seconds of searching.
    pub seconds: f64,
    /// Order of the matrices.
    pub n: usize,
}

/// What the run found.
#[derive(Clone, Debug, Serialize)]
pub struct Tuning {
    pub size: Size,
    /// Of the space, after its filters.
    pub points: u64,
    pub trials: usize,
    pub failed: usize,
    /// The winner's parameters.
    pub config: Vec<(String, Value)>,
    /// The winner, the config that is used without tuning, and faer.
    pub contest: Contest,
}

impl Tuning {
    /// The winner's speed over the peak of the same rounds.
    pub fn share_of_peak(&self) -> Option<f64> {
        let peak = self.contest.peak_flops_per_s.as_ref()?.median;
        let best = self.contest.entries.first()?.time_s.median;
        Some(self.size.flops() / best / peak)
    }

    /// In a sentence.
    pub fn describe(&self) -> String {
        let mut text = format!(
            "{} of {} kernels tried in the time given",
            self.trials, self.points
        );
        if let Some(s) = self.share_of_peak() {
            text.push_str(&format!(
                "; the best reaches {:.0} % of the peak",
                100.0 * s
            ));
        }
        for e in &self.contest.entries[1..] {
            if let Some(r) = &e.ratio {
                text.push_str(&format!(
                    "; {} takes {:.2} times as long [{:.2} … {:.2}]",
                    e.name, r.median, r.lo, r.hi
                ));
            }
        }
        text.push('.');
        text
    }
}

/// The folder, or the first of `NAME-2`, `NAME-3`, … that holds no sweep: nothing measured is ever replaced.
fn unused(dir: &Path) -> PathBuf {
    let numbered = |n: u32| {
        let mut name = dir.file_name().unwrap_or_default().to_owned();
        name.push(format!("-{n}"));
        dir.with_file_name(name)
    };
    let mut all = std::iter::once(dir.to_owned()).chain((2..).map(numbered));
    all.find(|d| !d.join("sweep.json").exists())
        .unwrap_or_else(|| dir.to_owned())
}

/// Tunes.
///
/// # Errors
/// Why it cannot be done here, in words: no compiler, no space on the disk.
pub fn run(
    options: &TuningOptions,
    facts: &CpuFacts,
    team: &Team,
    observer: &dyn Observer,
) -> Result<Tuning, String> {
    let n = options.n;
    let size = Size { m: n, n, k: n };
    let dir = unused(&options.dir);
    let files = dir.join("family");
    let mut problem = family::problem(&files, size, facts).map_err(|e| e.to_string())?;
    problem.measure.seconds = 0.15;
    let index = Index::build(&problem.space, &Limits::default()).map_err(|e| format!("{e:?}"))?;
    let plan = Plan {
        objectives: vec![problem.objective],
        trials: usize::MAX,
        seconds: options.seconds,
        seed: 1,
        out: &dir,
        resume: false,
        accept: Vec::new(),
        launcher: options.launcher.clone(),
        finalists: 3,
        facts: BTreeMap::new(),
        device: facts.model.clone(),
        gpu: None,
        control: None,
        observer,
    };
    let mut search = strategy(DEFAULT, None)?;
    let (found, sweep) =
        tune(&problem, &index, search.as_mut(), &plan).map_err(|e| e.to_string())?;
    let best = found
        .finalists
        .first()
        .ok_or_else(|| "stopped before the end".to_owned())?;
    let build = |config: &[Value], name| {
        Kernel::build(&problem, config, name, &dir.join("kernels")).map_err(|e| e.to_string())
    };
    let tuned = build(&best.config, "tuned kernel")?;
    let untuned = build(&family::untuned(&problem, facts), "untuned kernel")?;
    let faer = Faer {
        threads: facts.cores.len(),
    };
    let fma = Bench::f64_peak(team.len()).prepare(facts, team);
    let peak = fma.as_ref().map(|b| || b.rate(Op::F64, 0.05));
    let contest = contest(
        &[&tuned, &untuned, &faer],
        &mut Matrices::random(size, 1),
        11,
        0.05,
        peak.as_ref().map(|p| p as &dyn Fn() -> f64),
        observer,
    )
    .map_err(|e| e.to_string())?;
    Ok(Tuning {
        size,
        points: index.len(),
        trials: found.trials,
        failed: found.failures.values().sum(),
        config: sweep
            .facts
            .parameters
            .iter()
            .cloned()
            .zip(best.config.iter().cloned())
            .collect(),
        contest,
    })
}
