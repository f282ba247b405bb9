//! What makes a sweep reproducible, recorded beside it.

use crate::TuneError;
use crate::build::compile::{Unit, compiler_version};
use crate::objective::{Energies, Objective};
use crate::plan::{DATA_SEED, Plan};
use crate::problem::parts::shown;
use crate::problem::{Data, Fill, Problem, Role};
use crate::shard::SHARD;
use crate::sweep::{SweepFacts, wisdom};
use crate::trial::race::energies;
use greenup_files::Cache;
use greenup_wisdom::Device;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The facts of a sweep.
///
/// # Errors
/// A file that decides a trial cannot be read: its changes could not be seen.
pub(crate) fn facts(problem: &Problem, plan: &Plan) -> Result<SweepFacts, TuneError> {
    let mut more = plan.options.facts.clone();
    let fixed: String = [
        Unit::of_reference(problem),
        Unit::of_setup(problem),
        Unit::of_baseline(problem),
    ]
    .iter()
    .flatten()
    .map(|u| Ok(format!(" {}", u.key()?)))
    .collect::<Result<_, TuneError>>()?;
    let constants: Vec<String> = (problem.space.constants().iter())
        .map(|(n, v)| one_word(format!("{n}={v}")))
        .collect();
    more.insert("constants".into(), constants.join(" "));
    if let Some(command) = &problem.command {
        more.extend(command.facts().map(|(name, text)| (name.to_owned(), text)));
    }
    // A command's files are compared one by one.
    if problem.command.is_none() {
        let kernel = Unit::of_sources(problem);
        more.insert("sources".into(), format!("{}{fixed}", kernel.key()?));
        more.insert("compiler".into(), compiler_version(&problem.build));
        more.insert(
            "flags".into(),
            greenup_setting::shell::joined(problem.build.flags()),
        );
        more.insert("seed of data".into(), DATA_SEED.to_string());
    }
    if let Some(on) = &plan.setup.gpu {
        more.insert("architecture".into(), on.gpu.arch.clone());
        more.insert("gpu".into(), on.gpu.name.clone());
        more.extend(wisdom::device_facts(&Device::of_gpu(&on.gpu)));
    }
    if let Some(device) = &problem.opencl {
        more.insert("opencl".into(), device.implementation());
    }
    let fills: Vec<String> = problem
        .data
        .iter()
        .filter(|d| d.len.is_some() && d.role == Role::In)
        .map(|d| match &d.fill {
            Fill::Number(x) => format!("{} {x}", d.name),
            Fill::Named(f) => format!("{} {f}", d.name),
        })
        .collect();
    more.insert("data".into(), fills.join(", "));
    let fingerprint = fingerprint(problem, plan, &more)?;
    Ok(SweepFacts {
        verified: Some(problem.verified()),
        fingerprint,
        name: problem.space.name.clone(),
        device: plan.setup.device.clone(),
        parameters: problem.space.names().map(str::to_owned).collect(),
        // Where they do not depend on the config.
        flops: problem.flops(&[]),
        objective: Some(plan.objective().to_string()),
        goal: match (plan.objective(), &problem.command) {
            (Objective::Metric(name), Some(c)) => c.goal(name),
            _ => None,
        },
        energy: Some(match plan.setup.sensor {
            Some(_) => energies(problem, plan),
            None => Energies::None,
        }),
        disturbance: None,
        baseline: None,
        default: plan.default.clone(),
        more,
    })
}

/// Everything that decides a trial, by name: a sweep is only continued with the same.
fn fingerprint(
    problem: &Problem,
    plan: &Plan,
    facts: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, TuneError> {
    let mut out = problem.parts().clone();
    let mut put = |name: String, value: String| out.insert(name, value);
    for name in [
        "compiler",
        "flags",
        "seed of data",
        "architecture",
        "opencl",
        SHARD,
    ] {
        if let Some(v) = facts.get(name) {
            put(name.into(), v.clone());
        }
    }
    put("device".into(), plan.setup.device.clone());
    let m = problem.measure;
    put("measure.seconds".into(), m.seconds.to_string());
    put("measure.timeout".into(), m.timeout.to_string());
    // Constants may decide it, so its value is compared beside its text.
    if let Some(r) = &problem.reference {
        put("reference.tolerance".into(), r.tolerance.to_string());
    }
    let data = hashes_of_data(problem)?;
    let near = |file: &Path| data[file].clone();
    for d in &problem.data {
        let size = match d.len {
            Some(n) => format!("{} of {}", n, d.kind.c_name()),
            None if !d.bytes.is_empty() => format!("bytes {:02x?}", d.bytes),
            None => format!("{} {}", d.kind.c_name(), d.value),
        };
        let fill = match &d.fill {
            Fill::Number(x) => x.to_string(),
            Fill::Named(f) => match f.strip_prefix("file:") {
                Some(file) => format!("{f} {}", near(file.as_ref())),
                None => f.clone(),
            },
        };
        let text = match d.len {
            Some(_) => format!("{size}, {:?}, {fill}", d.role),
            None => size,
        };
        let text = match (&d.answer, &d.symbol) {
            (None, None) => text,
            (Some(a), _) => format!("{text}, {a:?} {}", near(a.file.as_ref())),
            (None, Some(symbol)) => format!("{text}, symbol {symbol}"),
        };
        put(format!("argument {}", d.name), shown(&text));
    }
    if let Some(command) = &problem.command {
        let sources = problem.build.sources.iter().map(|s| problem.dir.join(s));
        for file in sources.chain(command.files(&problem.dir)) {
            let name = file.strip_prefix(&problem.dir).unwrap_or(&file);
            put(format!("file {}", name.display()), hash_of(&file)?);
        }
        return Ok(out);
    }
    let units = [
        Some(Unit::of_sources(problem)),
        Unit::of_reference(problem),
        Unit::of_setup(problem),
        Unit::of_baseline(problem),
    ];
    for file in units.iter().flatten().flat_map(Unit::files) {
        let name = file.strip_prefix(&problem.dir).unwrap_or(&file);
        // A compiler lists headers too that no config includes.
        let contents = if file.exists() {
            hash_of(&file)?
        } else {
            "missing".to_owned()
        };
        put(format!("file {}", name.display()), contents);
    }
    Ok(out)
}

/// A constant as a shell reads it.
fn one_word(pair: String) -> String {
    let apart = |c: char| c.is_whitespace() || "'\"\\".contains(c);
    if pair.contains(apart) {
        greenup_setting::shell::single_quoted(&pair)
    } else {
        pair
    }
}

/// Hashes of the files of fills and answers by their names, all at the same time: they may be large.
fn hashes_of_data(problem: &Problem) -> Result<BTreeMap<PathBuf, String>, TuneError> {
    let of_fill = |d: &Data| match &d.fill {
        Fill::Named(f) => f.strip_prefix("file:").map(PathBuf::from),
        Fill::Number(_) => None,
    };
    let of_answer = |d: &Data| d.answer.as_ref().map(|a| PathBuf::from(&a.file));
    let files = (problem.data.iter()).flat_map(|d| [of_fill(d), of_answer(d)]);
    let files: BTreeSet<PathBuf> = files.flatten().collect();
    std::thread::scope(|scope| {
        let hashing: Vec<_> = (files.into_iter())
            .map(|file| {
                let path = problem.dir.join(&file);
                (file, scope.spawn(move || hash_of(&path)))
            })
            .collect();
        (hashing.into_iter())
            .map(|(file, thread)| match thread.join() {
                Ok(hash) => Ok((file, hash?)),
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

fn hash_of(file: &Path) -> Result<String, TuneError> {
    Ok(format!("hash {}", Cache::key_of_file(file)?))
}
