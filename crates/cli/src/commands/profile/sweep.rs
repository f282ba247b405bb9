//! `greenup profile PROBLEM --sweep DIR`: hardware counters of a sweep's configs.

use crate::args::ProfileArgs;
use crate::search::{self, setup};
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_app::progress::Bars;
use greenup_tune::counters::profile::profile;
use greenup_tune::problem::ProblemFile;
use greenup_tune::sweep::{Counted, Folder};
use greenup_tune::trial::scaling::select;
use greenup_tune::{Plan, SessionOptions, TuneError};
use std::path::Path;

pub fn run(args: &ProfileArgs, problem: &Path, folder: &Path) -> Result {
    if args.sensor.sensor.is_some() {
        return Err(
            AppError::new("--sensor has no effect with --sweep: counters have no energy")
                .hint("leave it out"),
        );
    }
    let file = problem;
    let problem = search::problem(&ProblemFile::read(file)?, &args.named, args.gpu.as_deref())?;
    if !problem.on_gpu() {
        return Err(AppError::new(format!(
            "{}: its kernels do not run on a GPU",
            file.display()
        ))
        .hint("counters are read through NVIDIA's profiler"));
    }
    let sweep = search::recorded(folder)?;
    let parameters: Vec<&str> = problem.space.names().collect();
    if parameters != sweep.facts.parameters {
        return Err(AppError::new("the sweep is of another problem")
            .hint("give the problem that the sweep was made of"));
    }
    let configs: Vec<_> = select(&sweep, args.configs.unwrap_or(20))
        .into_iter()
        .map(|(_, c)| c)
        .collect();
    if configs.is_empty() {
        return Err(AppError::new("no trial of the sweep succeeded")
            .hint("`greenup sweeps show DIR` counts its failures"));
    }
    let setup = setup::setup(
        &problem,
        args.gpu.as_deref(),
        Some("none"),
        setup::launcher(None)?,
    )?;
    print::note(format!(
        "{} configs: each is compiled, and run under the profiler once per group of its counters",
        configs.len()
    ));
    let bars = Bars::new();
    let plan = Plan::new(
        &problem,
        SessionOptions::default(),
        setup,
        folder.to_owned(),
    );
    let mut all = Vec::new();
    let done = profile(
        &problem,
        &configs,
        &plan,
        &bars,
        &args.metric,
        &mut |c: Counted| {
            Folder::append_counters(folder, &c)?;
            all.push(c);
            Ok(())
        },
    );
    drop(bars);
    done.map_err(|e| match e {
        TuneError::Profiler(m) => AppError::new(format!("the profiler: {m}")).hint(
            "`ncu` must be on the PATH, and reading counters allowed: run as root, or see \
             NVIDIA's page on ERR_NVGPUCTRPERM",
        ),
        TuneError::Environment(e) => AppError::new(e.to_string())
            .hint("no config is at fault; what was counted is kept, so fix it and profile again"),
        e => search::failed(e, folder),
    })?;
    if args.json {
        return print::json(&all);
    }
    print::line(format!(
        "counters of {} configs, in {}",
        all.len(),
        folder.join("counters.jsonl").display()
    ));
    Ok(())
}
