//! Caches of Kernel Tuner.

use super::super::record::Sweep;
use super::values::{self, Entry, stage_s};
use super::{FormatError, finish};
use greenup_space::Value;
use serde_json::Value as J;

/// Keys of a cache entry that are no numbers of the config.
const STAGES: [&str; 7] = [
    "times",
    "compile_time",
    "verification_time",
    "benchmark_time",
    "strategy_time",
    "framework_time",
    "timestamp",
];

pub(super) fn read(json: &J, stem: &str) -> Result<Sweep, FormatError> {
    let parameters: Vec<String> = match (&json["tune_params_keys"], &json["tune_params"]) {
        (J::Array(keys), _) if !keys.is_empty() => (keys.iter())
            .filter_map(|k| k.as_str().map(str::to_owned))
            .collect(),
        (_, J::Object(all)) => all.keys().cloned().collect(),
        (J::Array(_), _) => Vec::new(),
        _ => return Err(FormatError::Missing("tune_params_keys")),
    };
    if parameters.is_empty() {
        return Err(FormatError::NoParameters);
    }
    let all = json["cache"]
        .as_object()
        .ok_or(FormatError::Missing("cache"))?;
    if all.is_empty() {
        return Err(FormatError::Empty);
    }
    // The listed values of each parameter; empty where none are.
    let listed: Vec<Vec<Value>> = (parameters.iter())
        .map(|p| {
            let all = json["tune_params"][p.as_str()].as_array();
            let all = all.into_iter().flatten();
            all.filter_map(|v| values::parameter(v, true).ok())
                .collect()
        })
        .collect();
    let (mut unlisted, mut first_unlisted) = (0, None);
    let mut entries = Vec::with_capacity(all.len());
    for (key, e) in all {
        let mut config = Vec::with_capacity(parameters.len());
        for p in &parameters {
            let found = match e.get(p) {
                Some(v) => {
                    let declared = json["tune_params"][p.as_str()].as_array();
                    values::parameter(v, declared.is_some_and(|all| all.contains(v)))
                }
                None => Err("missing"),
            };
            config.push(found.map_err(|what| FormatError::Parameter {
                of: format!("entry `{key}`"),
                parameter: p.clone(),
                what,
            })?);
        }
        let mut each = parameters.iter().zip(&config).zip(&listed);
        let odd = each.find(|((_, v), listed)| !listed.is_empty() && !listed.contains(v));
        if let Some(((p, v), _)) = odd {
            unlisted += 1;
            first_unlisted.get_or_insert_with(|| format!("{p} = {v}"));
        }
        let mut entry = Entry::default();
        for (k, v) in e.as_object().into_iter().flatten() {
            if !STAGES.contains(&k.as_str()) && !parameters.contains(k) && k != "__error__" {
                entry.put(k, v, "");
            }
        }
        let of_time = entry.unit_of_time()?;
        entry.put_runs(&e["times"], &[Some(1e-3), of_time])?;
        let no_error = |e: &J| e.is_null() || *e == J::Bool(false) || e.as_str() == Some("");
        if let Some(error) = e.get("__error__").filter(|e| !no_error(e)) {
            let text = error
                .as_str()
                .map_or_else(|| error.to_string(), str::to_owned);
            entry.failure = Some(text);
        }
        let mut t = values::trial(config, values::failed(""), Default::default());
        t.build_s = stage_s(e, "compile_time", 1e-3);
        t.verify_s = stage_s(e, "verification_time", 1e-3);
        t.measure_s = stage_s(e, "benchmark_time", 1e-3);
        entries.push((t, entry, false));
    }
    let objective = match &json["objective"] {
        J::Array(several) => several.first().and_then(J::as_str),
        one => one.as_str(),
    };
    let mut warnings = Vec::new();
    if let Some(first) = first_unlisted {
        warnings.push(format!(
            "{unlisted} of {} trials have a value that `tune_params` does not list, first {first}",
            all.len()
        ));
    }
    let (trials, objective) = finish(entries, objective, &mut warnings)?;
    let name = json["kernel_name"].as_str().unwrap_or(stem).to_owned();
    let device = json["device_name"]
        .as_str()
        .unwrap_or("recorded")
        .to_owned();
    let mut sweep = super::sweep(name, device, parameters, trials);
    sweep.facts.objective = objective;
    sweep.warnings = warnings;
    Ok(sweep)
}
