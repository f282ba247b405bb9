//! `greenup profile`.

use crate::args::ProfileArgs;
use crate::error::{CliError, Result};
use crate::progress::Bars;
use crate::{out, rig, search};
use greenup_tune::TuneError;
use greenup_tune::run::profile::profile;
use greenup_tune::run::scaling::select;
use greenup_tune::sweep::{Counted, Folder};

pub fn run(args: &ProfileArgs) -> Result {
    let problem = search::problem(&args.problem, &args.named, args.gpu.as_deref())?;
    if !problem.on_gpu() {
        return Err(CliError::new(format!(
            "{}: its kernels do not run on a GPU",
            args.problem.display()
        ))
        .hint("counters are read through NVIDIA's profiler"));
    }
    let sweep = search::recorded(&args.sweep)?;
    let parameters: Vec<&str> = problem.space.names().collect();
    if parameters != sweep.facts.parameters {
        return Err(CliError::new("the sweep is of another problem")
            .hint("give the problem that the sweep was made of"));
    }
    let configs: Vec<_> = select(&sweep, args.configs.max(1))
        .into_iter()
        .map(|(_, c)| c)
        .collect();
    if configs.is_empty() {
        return Err(CliError::new("no trial of the sweep succeeded"));
    }
    let rig = rig::rig(&problem, args.gpu.as_deref(), Some("none"))?;
    let bars = Bars::new();
    let plan = rig.given(&problem, &args.sweep, &bars);
    let mut all = Vec::new();
    let done = profile(
        &problem,
        &configs,
        &plan,
        &args.metric,
        &mut |c: Counted| {
            Folder::append_counters(&args.sweep, &c)?;
            all.push(c);
            Ok(())
        },
    );
    drop(bars);
    done.map_err(|e| match e {
        TuneError::Profiler(m) => CliError::new(format!("the profiler: {m}")).hint(
            "`ncu` must be on the PATH, and reading counters allowed: run as root, or see \
             NVIDIA's page on ERR_NVGPUCTRPERM",
        ),
        TuneError::Environment(e) => CliError::new(e.to_string())
            .hint("no config is at fault; what was counted is kept, so fix it and profile again"),
        e => search::failed(e, &args.sweep),
    })?;
    if args.json {
        return out::json(&all);
    }
    out::line(format!(
        "counters of {} configs, in {}",
        all.len(),
        args.sweep.join("counters.jsonl").display()
    ));
    Ok(())
}
