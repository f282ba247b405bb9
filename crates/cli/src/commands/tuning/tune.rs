//! `greenup tune`.

use crate::args::TuneArgs;
use crate::search::setup::ahead;
use crate::search::{self, Request, launchers, result, wisdom};
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_tune::problem::ProblemFile;
use greenup_tune::{Energies, SearchResult};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Serialize)]
struct TuneJson<'a> {
    name: &'a str,
    out: String,
    objective: String,
    strategy: &'a str,
    points: u64,
    parameters: &'a [String],
    /// Whether results were compared with a reference.
    verified: bool,
    #[serde(flatten)]
    found: &'a SearchResult,
}

pub fn run(args: &TuneArgs) -> Result {
    let file = ProblemFile::read(&args.problem)?;
    let devices = args.gpus.as_ref().or(args.search.gpu.as_ref());
    let launched = launchers::start(args, &file)?;
    let sensor = match args.search.energy {
        Energies::None => Some("none"),
        _ => args.search.sensor.sensor.as_deref(),
    };
    let plain = match launched.is_empty() {
        true => Some(ahead(&file, devices.map(String::as_str), sensor)?),
        false => None,
    };
    let mut problem = match launched.first() {
        None => search::problem(&file, &args.named, devices.map(String::as_str))?,
        Some(first) => search::problem_with(&file, &args.named, &first.facts())?,
    };
    if let Some(fill) = &args.data {
        problem
            .fill_inputs(fill)
            .map_err(|m| AppError::new(format!("--data: {m}")))?;
    }
    search::set_measure(&mut problem, args.measure)?;
    for name in file.idle(&problem) {
        print::warn(format!(
            "`{name}` occurs in no command, source, launch or derived value: configs that differ in it alone are the same"
        ));
    }
    let dir = args
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("sweeps").join(&problem.space.name));
    let mut request = Request::new(problem, file.path, &args.search, dir.clone())?;
    request.options.shard = args.shard;
    request.requests.clone_from(&args.requests);
    request.devices = devices.cloned();
    request.workers = args.workers;
    request.launched = launched;
    request.plain = plain.unwrap_or(request.plain);
    request.quiet = args.json;
    let done = request.run()?;
    result::implausible(&done.sweep);
    let problem = &done.problem;
    if args.json {
        print::json(&TuneJson {
            name: &problem.space.name,
            out: dir.display().to_string(),
            objective: done.objective.to_string(),
            strategy: if args.requests.is_some() {
                "requests"
            } else {
                &args.search.strategy
            },
            points: done.points,
            parameters: &done.sweep.facts.parameters,
            verified: problem.verified(),
            found: &done.found,
        })?;
    } else {
        result::print(&done);
        if !done.found.finalists.is_empty() {
            result::next(&dir);
        }
    }
    result::interrupted(&done.found);
    if problem.verified() {
        wisdom::winner(&done, &dir);
    }
    Ok(())
}
