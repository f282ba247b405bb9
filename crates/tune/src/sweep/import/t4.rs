//! T4 results of the auto-tuning community.

use super::super::record::{Failure, Outcome, Sweep, Trial};
use super::unit::time_unit;
use super::values::{self, Entry, stage_s};
use super::{FormatError, finish};
use greenup_space::Value;
use serde_json::Value as J;
use std::collections::HashSet;

pub(super) fn read(json: &J, stem: &str) -> Result<Sweep, FormatError> {
    let results = json["results"].as_array().map_or(&[][..], Vec::as_slice);
    let mut warnings = Vec::new();
    if let Some(version) = json["schema_version"].as_str()
        && !version.starts_with("1.")
    {
        warnings.push(format!(
            "T4 results of schema {version} are read as those of schema 1.0.0"
        ));
    }
    let parameters = parameters(results)?;
    // T4 lists no values: a parameter whose value is a list everywhere has tuples.
    let tuples: HashSet<&String> = parameters
        .iter()
        .filter(|p| (results.iter()).all(|r| r["configuration"][p.as_str()].is_array()))
        .collect();
    let unit = json["metadata"]["timeunit"].as_str();
    let of_file = unit.map(time_unit).transpose()?;
    let time = name_of_time(results);
    let metadata = &json["metadata"];
    let texts = metadata["autotuner"].as_str() == Some("KTT");
    let texts: HashSet<&String> = (parameters.iter())
        .filter(|p| texts && (results.iter()).all(|r| is_number(&r["configuration"][p.as_str()])))
        .collect();
    let verdicts: Vec<Verdict> = results.iter().map(Verdict::of).collect();
    // Where no result counts as right, nothing was compared.
    let compared = verdicts.iter().any(|v| v.right == Some(true));
    warnings.extend(notes(results, &verdicts, compared));
    let mut entries = Vec::with_capacity(results.len());
    let mut lacking = 0;
    for (i, (r, verdict)) in results.iter().zip(&verdicts).enumerate() {
        let of = || format!("result {}", i + 1);
        let mut config = Vec::with_capacity(parameters.len());
        let mut lacks = false;
        for p in &parameters {
            config.push(match r["configuration"].get(p) {
                None => {
                    lacks = true;
                    Value::Str(String::new())
                }
                Some(v) => parameter(v, tuples.contains(p), texts.contains(p)).map_err(|what| {
                    FormatError::Parameter {
                        of: of(),
                        parameter: p.clone(),
                        what,
                    }
                })?,
            });
        }
        lacking += usize::from(lacks);
        let entry = entry(r, unit.zip(of_file), time)?;
        let mut t = values::trial(config, values::failed(""), Default::default());
        // A number that is 0 may only mean that nothing was compared.
        let wrong = verdict.right == Some(false) && (compared || !r["correctness"].is_number());
        if let Some(reason) = &verdict.invalid {
            t.outcome = values::failed(reason);
        } else if wrong {
            t.outcome = Outcome::Failed {
                failure: Failure::Wrong,
                message: format!("its correctness is {}", r["correctness"]),
            };
        }
        let of_stages = of_file.or(entry.unit_of_runs()?).unwrap_or(1e-3);
        stages(&mut t, &r["times"], of_stages);
        let fails = verdict.invalid.is_some() || wrong;
        entries.push((t, entry, fails));
    }
    if lacking > 0 {
        warnings.push(format!(
            "{lacking} of {} results do not give all of {}; the others are empty there",
            results.len(),
            parameters.join(", ")
        ));
    }
    let objectives = &results.first().map_or(&J::Null, |r| &r["objectives"]);
    let objective = objectives.get(0).and_then(J::as_str);
    let objective = objective.map(|o| if Some(o) == time { "time" } else { o });
    let (trials, objective) = finish(entries, objective, &mut warnings)?;
    let text = |key: &str| metadata[key].as_str().map(str::to_owned);
    let device = text("device")
        .or(text("device_name"))
        .unwrap_or_else(|| "recorded".into());
    let mut sweep = super::sweep(stem.to_owned(), device, parameters, trials);
    sweep.facts.objective = objective;
    if let Some(tuner) = text("autotuner") {
        let version = text("autotuner_version").unwrap_or_default();
        let tuner = format!("{tuner} {version}").trim_end().to_owned();
        sweep.facts.more.insert("tuner".into(), tuner);
    }
    sweep.warnings = warnings;
    Ok(sweep)
}

/// The keys of all configurations, in the order in which they come.
fn parameters(results: &[J]) -> Result<Vec<String>, FormatError> {
    let mut known = HashSet::new();
    let mut out = Vec::new();
    for r in results {
        for key in (r["configuration"].as_object())
            .into_iter()
            .flat_map(|c| c.keys())
        {
            if known.insert(key) {
                out.push(key.clone());
            }
        }
    }
    if out.is_empty() {
        Err(FormatError::NoResults)
    } else {
        Ok(out)
    }
}

/// The name of the results' time where it is not `time`, in whatever letters.
fn name_of_time(results: &[J]) -> Option<&str> {
    const NAMES: [&str; 7] = [
        "time",
        "totalduration",
        "duration",
        "runtime",
        "kerneltime",
        "executiontime",
        "elapsedtime",
    ];
    let all = || {
        results
            .iter()
            .flat_map(|r| r["measurements"].as_array().into_iter().flatten())
    };
    let names = || all().filter_map(|m| m["name"].as_str());
    if names().any(|n| n == "time") {
        return None;
    }
    let plain = |n: &str| n.to_lowercase().replace(['_', ' ', '-'], "");
    names().find(|n| NAMES.contains(&plain(n).as_str()))
}

/// Whether a text is a number, as KTT writes all values of parameters.
fn is_number(v: &J) -> bool {
    v.as_str()
        .is_some_and(|t| t.parse::<f64>().is_ok_and(f64::is_finite))
}

fn parameter(v: &J, tuple: bool, number: bool) -> Result<Value, &'static str> {
    match v.as_str().filter(|_| number) {
        Some(text) => {
            let float = || text.parse().map(Value::Float).map_err(|_| "no number");
            text.parse().map(Value::Int).or_else(|_| float())
        }
        None => values::parameter(v, tuple),
    }
}

/// What a result tells of itself, in whatever letters and types.
#[derive(Default)]
struct Verdict {
    /// Why it is invalid.
    invalid: Option<String>,
    /// Whether its output was right.
    right: Option<bool>,
    /// Whether the words of `invalidity` and of `correctness` are not known.
    unknown: [bool; 2],
}

impl Verdict {
    fn of(r: &J) -> Self {
        let mut out = Self::default();
        let text = |v: &J| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        match &r["invalidity"] {
            J::Null => {}
            v => {
                let text = text(v);
                let small = text.trim().to_lowercase();
                let known = [
                    "compil",
                    "constraint",
                    "correctness",
                    "incorrect",
                    "invalid",
                    "launch",
                    "runtime",
                    "timeout",
                    "verif",
                ];
                match small.as_str() {
                    "" | "correct" | "valid" | "none" | "false" | "0" => {}
                    "true" | "1" => out.invalid = Some("its invalidity is true".into()),
                    _ => {
                        out.unknown[0] = !known.iter().any(|w| small.contains(w));
                        out.invalid = Some(text);
                    }
                }
            }
        }
        out.right = match &r["correctness"] {
            J::Null => None,
            J::Bool(b) => Some(*b),
            v => {
                let text = text(v).trim().to_lowercase();
                match (text.as_str(), text.parse::<f64>()) {
                    ("", _) => None,
                    ("true" | "correct", _) => Some(true),
                    ("false" | "incorrect" | "wrong", _) => Some(false),
                    (_, Ok(x)) if !x.is_nan() => Some(x > 0.0),
                    _ => {
                        out.unknown[1] = true;
                        None
                    }
                }
            }
        };
        out
    }
}

/// Words that are not known, and results of which it is not known whether they are right.
fn notes(results: &[J], verdicts: &[Verdict], compared: bool) -> Vec<String> {
    let mut out = Vec::new();
    for (i, (key, then)) in [
        ("invalidity", "they count as failed"),
        ("correctness", "they count as right"),
    ]
    .into_iter()
    .enumerate()
    {
        let odd = results.iter().zip(verdicts).filter(|(_, v)| v.unknown[i]);
        let odd: Vec<&J> = odd.map(|(r, _)| &r[key]).collect();
        if let Some(first) = odd.first() {
            let n = odd.len();
            out.push(format!(
                "the {key} of {n} results is not known, first {first}: {then}"
            ));
        }
    }
    let zero = |(r, v): &(&J, &Verdict)| {
        v.invalid.is_none() && v.right == Some(false) && r["correctness"].is_number()
    };
    let n = results.iter().zip(verdicts).filter(zero).count();
    if !compared && n > 0 {
        out.push(format!(
            "the correctness of {n} results is 0, and that of none is 1: they count as not compared"
        ));
    }
    out
}

/// The numbers of a result.
fn entry(r: &J, of_file: Option<(&str, f64)>, time: Option<&str>) -> Result<Entry, FormatError> {
    let mut out = Entry::default();
    for m in r["measurements"].as_array().into_iter().flatten() {
        let unit = m["unit"].as_str().unwrap_or_default();
        if let Some(name) = m["name"].as_str() {
            let name = if Some(name) == time { "time" } else { name };
            let unit = match (name, unit, of_file) {
                ("time", "", Some((of_file, _))) => of_file,
                _ => unit,
            };
            out.put(name, &m["value"], unit);
        }
    }
    // As KTT has them.
    for (name, v) in r["compilation_data"].as_object().into_iter().flatten() {
        if v.is_number() {
            out.put(name, v, "");
        }
    }
    // Of the unit of the file, or that of the time; without both of milliseconds.
    let of_time = out.unit_of_time()?;
    out.put_runs(
        &r["times"]["runtimes"],
        &[of_file.map(|u| u.1), of_time, Some(1e-3)],
    )?;
    Ok(out)
}

fn stages(t: &mut Trial, times: &J, unit: f64) {
    let one = |key: &str| stage_s(times, key, unit);
    t.build_s = one("compilation_time").max(one("compilation"));
    t.verify_s = one("validation");
    let runs = values::times_s(&times["runtimes"], unit);
    t.measure_s = runs.iter().filter(|r| **r > 0.0).sum();
}
