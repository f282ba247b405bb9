//! `greenup best`.

use crate::args::{BestArgs, BestFormat};
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::{print, stdout};
use greenup_files::Outputs;
use greenup_space::Value;
use greenup_study::pages::sweep::findings::against_baseline;
use greenup_tune::Sweep;
use greenup_tune::command;
use greenup_tune::problem::{Problem, ProblemFile};
use greenup_tune::sweep::Folder;
use greenup_tune::sweep::best::forms::{Define, flags};
use greenup_tune::sweep::best::{Best, NoBest, best};
use greenup_tune::sweep::wisdom::value;
use std::path::Path;

pub fn run(args: &BestArgs) -> Result {
    let out = args.out.as_deref().filter(|p| p.as_os_str() != "-");
    if let Some(path) = out {
        let mut outputs = Outputs::new();
        for input in Folder::inputs(&args.sweep) {
            outputs.input(input);
        }
        if let Some(problem) = &args.problem {
            outputs.input(problem);
        }
        outputs.file(path, &[])?;
    }
    let sweep = search::recorded(&args.sweep)?;
    let own = sweep.own_objective().ok();
    let (sweep, objective) = search::aimed(sweep, args.objective)?;
    let refused = |e: NoBest| refused(&e, &args.sweep, &sweep);
    let found = best(&sweep, objective).map_err(refused)?;
    // The rounds compare the best config by their own objective.
    let baseline = if own == Some(objective) {
        sweep.against_baseline()
    } else {
        None
    };
    let source = args.sweep.display().to_string();
    let problem = (args.problem.as_deref())
        .map(|file| problem(file, &sweep))
        .transpose()?;
    let values = match &problem {
        Some(p) => (p.values(found.config)?.into_iter())
            .map(|(n, v)| (n, v.to_string()))
            .collect(),
        None => found.words(),
    };
    let commands = command::commands(&sweep, &values);
    let format = args.format.unwrap_or(if commands.is_empty() {
        BestFormat::Flags
    } else {
        BestFormat::Command
    });
    if problem.is_none()
        && matches!(format, BestFormat::Flags | BestFormat::Header)
        && let Some(name) = found.derived().next()
    {
        print::warn(format!(
            "derived values, such as `{name}`, are not among the macros: give the problem with --problem FILE"
        ));
    }
    let text = match format {
        BestFormat::Command if commands.is_empty() => {
            return Err(
                AppError::new("the sweep is of a kernel, which no command runs")
                    .hint("--format flags prints the macros of its build"),
            );
        }
        BestFormat::Command => match found.derived_in(&commands) {
            Some(name) => {
                return Err(AppError::new(format!(
                    "`{{{name}}}` in the command is a derived value, which the sweep does not hold"
                ))
                .hint("give the problem that the sweep was made of: --problem FILE"));
            }
            None => commands.join("\n") + "\n",
        },
        BestFormat::Flags => {
            let build = found.build_flags().map_err(refused)?;
            let macros = flags(&defines(problem.as_ref(), &found)?).map_err(refused)?;
            format!("{build} {macros}\n").trim_start().to_owned()
        }
        BestFormat::Header => found
            .header(&defines(problem.as_ref(), &found)?, &source)
            .map_err(refused)?,
        BestFormat::Json => {
            let mut json = found.json()?;
            if let (Some(b), Some(keys)) = (&baseline, json.as_object_mut()) {
                keys.insert("baseline".into(), serde_json::to_value(b)?);
            }
            serde_json::to_string_pretty(&json)? + "\n"
        }
        BestFormat::Toml => found.toml(&source)?,
    };
    if let (Some(b), BestFormat::Command) = (&baseline, format) {
        print::note(format!("baseline: {}", against_baseline(&sweep, b)));
    }
    match out {
        None => stdout::bytes(text.as_bytes()),
        Some(path) => {
            greenup_files::write(path, &text)?;
            print::note(format!("wrote {}", path.display()));
        }
    }
    Ok(())
}

/// The problem of a sweep, with the constants that were measured: those set by hand, and those of the device.
fn problem(file: &Path, sweep: &Sweep) -> Result<Problem> {
    let refused = |what: &str| {
        AppError::new(format!(
            "the sweep's {what} are not those of {}",
            file.display()
        ))
        .hint("give the problem that the sweep was made of")
    };
    let read = ProblemFile::read(file)?;
    let problem = search::problem(&read, &[], None)?;
    let measured = sweep.facts.constants();
    let differs = |(name, text): &&(String, String)| {
        let mut own = problem.space.constants().iter();
        own.find(|(n, _)| n == name)
            .is_none_or(|(_, v)| v.to_string() != *text)
    };
    let set: Vec<(String, toml::Value)> = (measured.iter().filter(differs))
        .map(|(name, text)| (name.clone(), as_constant(text)))
        .collect();
    let known = |name: &String| problem.space.constants().iter().any(|(n, _)| n == name);
    if !set.iter().all(|(name, _)| known(name)) {
        return Err(refused("constants"));
    }
    let problem = match set.as_slice() {
        [] => problem,
        set => search::problem(&read, set, None)?,
    };
    let parameters = sweep.facts.parameters.iter().map(String::as_str);
    if !problem.space.names().eq(parameters) {
        return Err(refused("parameters"));
    }
    Ok(problem)
}

/// A constant as a problem file has it, whose strings are expressions.
fn as_constant(text: &str) -> toml::Value {
    match value(text) {
        Value::Bool(b) => b.into(),
        Value::Int(i) => i.into(),
        Value::Float(x) => x.into(),
        Value::Str(s) if s.starts_with(['(', '[', '{']) || s == "None" => s.into(),
        other => other.literal().into(),
    }
}

/// The macros of a build: the parameters and constants, with the problem also its derived values.
fn defines(problem: Option<&Problem>, found: &Best) -> Result<Vec<Define>> {
    let Some(problem) = problem else {
        return Ok(found.defines());
    };
    let all = problem.defines(found.config)?;
    let pair = |d: &String| {
        let (n, v) = d.strip_prefix("-D")?.split_once('=')?;
        Some((n.to_owned(), v.to_owned()))
    };
    Ok(all.iter().filter_map(pair).collect())
}

fn refused(e: &NoBest, path: &Path, sweep: &Sweep) -> AppError {
    let of_failure;
    let hint = match e {
        NoBest::Empty => "tune first: `greenup tune PROBLEM --out SWEEP`",
        NoBest::Failed(_) => {
            of_failure = failures(path, sweep);
            &of_failure
        }
        NoBest::Bound(_) => "use a larger bound, or another --objective",
        NoBest::Partial => "continue it with `greenup tune … --resume` and a larger --budget",
        NoBest::NoEnergy(_) => {
            "use --objective time, or tune with an energy sensor (see `greenup doctor`)"
        }
        NoBest::NoTime(_) => "name what it has with --objective",
        NoBest::Flag(_) => "use --format header",
        NoBest::BuildFlag(_) => {
            "use --format header, and give your build the flags of the problem's [build]"
        }
        NoBest::Name(_) | NoBest::Value(_) => "use --format json or toml",
    };
    AppError::new(e.to_string()).hint(hint)
}

/// Where the messages of failures are: in a file of ours, or only in what another tuner wrote.
pub fn failures(path: &Path, sweep: &Sweep) -> String {
    if path.is_dir() {
        return "the file trials.jsonl of the sweep has the message of each failure".into();
    }
    let first = sweep.trials.iter().find_map(|t| Some(t.failure()?.1));
    match first
        .and_then(|m| m.lines().next())
        .filter(|m| !m.is_empty())
    {
        Some(message) => format!("the first failure: {message}"),
        None => "the file gives no reasons".into(),
    }
}
