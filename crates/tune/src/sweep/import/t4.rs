//! T4 results of the auto-tuning community.

use super::super::record::{Failure, Outcome, Sweep, Trial};
use super::values::{self, Entry, stage_s, time_unit};
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
    // Where no result counts as right, nothing was compared.
    let compared = results
        .iter()
        .any(|r| r["correctness"].as_f64().is_some_and(|c| c > 0.0));
    let mut entries = Vec::with_capacity(results.len());
    let mut lacking = 0;
    for (i, r) in results.iter().enumerate() {
        let of = || format!("result {}", i + 1);
        let mut config = Vec::with_capacity(parameters.len());
        let mut lacks = false;
        for p in &parameters {
            config.push(match r["configuration"].get(p) {
                None => {
                    lacks = true;
                    Value::Str(String::new())
                }
                Some(v) => values::parameter(v, tuples.contains(p)).map_err(|what| {
                    FormatError::Parameter {
                        of: of(),
                        parameter: p.clone(),
                        what,
                    }
                })?,
            });
        }
        lacking += usize::from(lacks);
        let (entry, invalid) = entry(r, of_file)?;
        let wrong = compared && r["correctness"].as_f64() == Some(0.0);
        let mut t = values::trial(config, values::failed(""), Default::default());
        if let Some(reason) = invalid {
            t.outcome = values::failed(reason);
        } else if wrong {
            t.outcome = Outcome::Failed {
                failure: Failure::Wrong,
                message: "its correctness is 0".into(),
            };
        }
        stages(&mut t, &r["times"], of_file.unwrap_or(1e-3));
        let fails = invalid.is_some() || wrong;
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
    let (trials, objective) = finish(entries, objective, &mut warnings)?;
    let mut sweep = super::sweep(stem.to_owned(), "recorded".into(), parameters, trials);
    sweep.facts.objective = objective;
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
    match out.is_empty() {
        true => Err(FormatError::NoResults),
        false => Ok(out),
    }
}

/// The numbers of a result, and why it is invalid.
fn entry(r: &J, of_file: Option<f64>) -> Result<(Entry, Option<&str>), FormatError> {
    let mut out = Entry::default();
    for m in r["measurements"].as_array().into_iter().flatten() {
        let unit = m["unit"].as_str().unwrap_or_default();
        if let Some(name) = m["name"].as_str() {
            let unit = match (name, unit, of_file) {
                ("time", "", Some(_)) => r_unit(of_file),
                _ => unit,
            };
            out.put(name, &m["value"], unit);
        }
    }
    let invalid = r["invalidity"].as_str().filter(|s| *s != "correct");
    let mut runs = Entry::default();
    runs.put("time", &r["times"]["runtimes"], "");
    if let Some((_, x, _)) = runs.numbers.first() {
        // Of the unit of the file, or that of the time; without both of milliseconds.
        let own = out.numbers.iter().find(|(n, ..)| n == "time");
        let own = own.map(|(_, t, unit)| Ok::<_, FormatError>((values::mean(t), time_unit(unit)?)));
        let own = own.transpose()?;
        let all = x.iter().filter(|t| **t > 0.0);
        let near = |unit: f64| {
            let (run, time) = (values::mean(x) * unit, own.map(|(t, u)| t * u));
            time.is_none_or(|t| (0.5..2.0).contains(&(run / t)))
        };
        let units = [of_file, own.map(|o| o.1), Some(1e-3)];
        let unit = units.into_iter().flatten().find(|u| near(*u));
        out.runs = unit.map_or_else(Vec::new, |u| all.map(|t| t * u).collect());
    }
    Ok((out, invalid))
}

/// The short name of the unit of a file.
fn r_unit(of_file: Option<f64>) -> &'static str {
    match of_file {
        Some(1.0) => "s",
        Some(1e-6) => "us",
        Some(1e-9) => "ns",
        Some(60.0) => "min",
        _ => "ms",
    }
}

fn stages(t: &mut Trial, times: &J, unit: f64) {
    let one = |key: &str| stage_s(times, key, unit);
    t.build_s = one("compilation_time").max(one("compilation"));
    t.verify_s = one("validation");
    if let values::Read::Numbers(runs, _) = values::read(&times["runtimes"]) {
        t.measure_s = runs.iter().filter(|r| **r > 0.0).sum::<f64>() * unit;
    }
}
