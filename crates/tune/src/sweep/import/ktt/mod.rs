//! Results that the Kernel Tuning Toolkit (KTT 2) saves, as JSON or XML.

pub(super) mod xml;

use super::super::record::{Counters, Failure, Outcome, Sweep, Trial};
use super::unit::time_unit;
use super::values::{self, Entry};
use super::{FormatError, finish, section};
use crate::counters::csv::Launch;
use crate::counters::ncu::folded;
use greenup_space::Value;
use serde_json::Value as J;

/// A duration above it is KTT's mark of one that is not known, s.
const LONGEST_S: f64 = 1e7;
/// Numbers of a compiled kernel: KTT's names and ours.
const COMPILED: [(&str, &str); 5] = [
    ("RegistersCount", "registers"),
    ("LocalMemorySize", "local_memory_bytes"),
    ("PrivateMemorySize", "private_memory_bytes"),
    ("ConstantMemorySize", "constant_memory_bytes"),
    ("MaxWorkGroupSize", "max_work_group_size"),
];

/// Whether it is a file of KTT.
pub(super) fn is_it(json: &J) -> bool {
    json["Results"].is_array()
}

pub(super) fn read(json: &J, stem: &str, asked: Option<&str>) -> Result<Sweep, FormatError> {
    let all = json["Results"].as_array().map_or(&[][..], Vec::as_slice);
    let kernel = |r: &J| r["KernelName"].as_str().unwrap_or_default().to_owned();
    let mut kernels: Vec<Vec<String>> = Vec::new();
    for name in all.iter().map(kernel) {
        if !kernels.iter().any(|k| k[0] == name) {
            kernels.push(vec![name]);
        }
    }
    let name = match kernels.is_empty() {
        true => return Err(FormatError::NoResults),
        false => kernels[section::chosen(&kernels, asked)?][0].clone(),
    };
    let results: Vec<&J> = all.iter().filter(|r| kernel(r) == name).collect();
    let mut warnings = Vec::new();
    let metadata = &json["Metadata"];
    let unit = metadata["TimeUnit"].as_str().unwrap_or_else(|| {
        warnings
            .push("it does not say its unit of time: read as milliseconds, KTT's default".into());
        "Milliseconds"
    });
    let seconds = time_unit(unit)?;
    let parameters = parameters(&results)?;
    let mut entries = Vec::with_capacity(results.len());
    let mut beyond_kernels = 0;
    for (i, r) in results.iter().enumerate() {
        let config = config(r, &parameters, i)?;
        let mut entry = Entry::default();
        let duration_s = number(&r["TotalDuration"])
            .or_else(|| sum(r))
            .map(|t| t * seconds);
        let duration_s = duration_s.filter(|t| *t < LONGEST_S);
        if let Some(t) = duration_s {
            entry.put("time", &t.into(), "s");
        }
        let mut t = values::trial(config, values::failed(""), Default::default());
        let failure = failure(r);
        let of = |key: &str| number(&r[key]).map_or(0.0, |x| x * seconds);
        if computations(r, seconds, &mut t, &mut entry) && of("ExtraDuration") > 0.0 {
            beyond_kernels += 1;
        }
        (t.build_s, t.verify_s) = (of("CompilationOverhead"), of("ValidationOverhead"));
        let all_s = of("TotalOverhead") + duration_s.unwrap_or(0.0);
        t.measure_s = (all_s - t.build_s - t.verify_s).max(0.0);
        if of("ExtraDuration") > 0.0 {
            entry.put("extra_duration_s", &of("ExtraDuration").into(), "");
        }
        let fails = failure.is_some();
        if let Some(outcome) = failure {
            t.outcome = outcome;
        }
        entries.push((t, entry, fails));
    }
    if beyond_kernels > 0 {
        warnings.push(format!(
            "the time of {beyond_kernels} trials holds more than their kernels; their energy is that of the kernels alone"
        ));
    }
    let (trials, objective) = finish(entries, Some("time"), &mut warnings)?;
    let device = metadata["Device"].as_str().unwrap_or("recorded").to_owned();
    let name = if name.is_empty() {
        stem.to_owned()
    } else {
        name
    };
    let mut sweep = super::sweep(name, device, parameters, trials);
    sweep.facts.objective = objective;
    sweep.facts.more = facts(json);
    sweep.warnings = warnings;
    Ok(sweep)
}

/// What the file says of itself.
fn facts(json: &J) -> std::collections::BTreeMap<String, String> {
    let version = json["Metadata"]["KttVersion"].as_str().unwrap_or_default();
    let mut out: std::collections::BTreeMap<String, String> = [(
        "tuner".to_owned(),
        format!("KTT {version}").trim_end().to_owned(),
    )]
    .into();
    for (key, name) in [
        ("ComputeApi", "compute API"),
        ("Platform", "platform"),
        ("Timestamp", "timestamp"),
    ] {
        if let Some(text) = json["Metadata"][key].as_str() {
            out.insert(name.into(), text.into());
        }
    }
    for (key, v) in json["UserData"].as_object().into_iter().flatten() {
        let text = v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        out.entry(key.clone()).or_insert(text);
    }
    out
}

/// Names of the parameters of all results, in the order in which they come.
fn parameters(results: &[&J]) -> Result<Vec<String>, FormatError> {
    let mut out: Vec<String> = Vec::new();
    for pair in results
        .iter()
        .flat_map(|r| r["Configuration"].as_array().into_iter().flatten())
    {
        let name = pair["Name"].as_str().ok_or(FormatError::Missing("Name"))?;
        if !out.iter().any(|n| n == name) {
            out.push(name.to_owned());
        }
    }
    match out.is_empty() {
        true => Err(FormatError::NoResults),
        false => Ok(out),
    }
}

fn config(r: &J, parameters: &[String], i: usize) -> Result<Vec<Value>, FormatError> {
    let pairs = r["Configuration"].as_array();
    let of = |p: &String| {
        let named = |pair: &&J| pair["Name"].as_str() == Some(p.as_str());
        let pair = pairs.into_iter().flatten().find(named).ok_or("missing")?;
        value(pair)
    };
    (parameters.iter())
        .map(|p| {
            of(p).map_err(|what| FormatError::Parameter {
                of: format!("result {}", i + 1),
                parameter: p.clone(),
                what,
            })
        })
        .collect()
}

/// The value of a parameter: in XML a text of the type that stands next to it.
fn value(pair: &J) -> Result<Value, &'static str> {
    let v = &pair["Value"];
    let Some(text) = v.as_str() else {
        return values::parameter(v, false);
    };
    let kind = match (&pair["ValueType"], &pair["IsDouble"]) {
        (J::String(kind), _) => kind.as_str(),
        (_, J::Bool(true)) => "Double",
        (_, J::String(s)) if ["true", "1"].contains(&s.as_str()) => "Double",
        (_, J::Null) => "String",
        _ => "UnsignedInt",
    };
    let text_value = || Value::Str(text.to_owned());
    match kind {
        "Bool" => match text {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err("no boolean"),
        },
        "Double" | "Float" => text
            .trim()
            .parse()
            .map(Value::Float)
            .map_err(|_| "no number"),
        "Int" | "UnsignedInt" => match text.trim().parse::<i64>() {
            Ok(n) => Ok(Value::Int(n)),
            Err(_) => text
                .trim()
                .parse()
                .map(Value::Float)
                .map_err(|_| "no number"),
        },
        _ => Ok(text_value()),
    }
}

fn failure(r: &J) -> Option<Outcome> {
    let status = r["Status"].as_str().filter(|s| *s != "Ok")?;
    let failure = match status {
        "ComputationFailed" => Failure::Runtime,
        "ValidationFailed" => Failure::Wrong,
        "CompilationFailed" => Failure::Compile,
        "DeviceLimitsExceeded" => Failure::Launch,
        other => return Some(values::failed(other)),
    };
    Some(Outcome::Failed {
        failure,
        message: format!("KTT: {status}"),
    })
}

/// A number, which is a text in XML.
fn number(v: &J) -> Option<f64> {
    let x = v.as_f64().or_else(|| v.as_str()?.trim().parse().ok())?;
    Some(x).filter(|x| x.is_finite() && *x >= 0.0)
}

/// Durations of the kernels together.
fn sum(r: &J) -> Option<f64> {
    let all = r["ComputationResults"]
        .as_array()
        .filter(|a| !a.is_empty())?;
    all.iter().map(|c| number(&c["Duration"])).sum()
}

/// Takes in what was measured of each kernel; whether all have an energy.
fn computations(r: &J, seconds: f64, t: &mut Trial, entry: &mut Entry) -> bool {
    let all = r["ComputationResults"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let function = |c: &J| c["KernelFunction"].as_str().unwrap_or_default().to_owned();
    let several = all.iter().any(|c| function(c) != function(&all[0]));
    let mut energies = Vec::with_capacity(all.len());
    let mut launches = Vec::new();
    for (i, c) in all.iter().enumerate() {
        let first = !all[..i].iter().any(|b| function(b) == function(c));
        let named = |n: &str| match several {
            true => format!("{}: {n}", function(c)),
            false => n.to_owned(),
        };
        let compiled = COMPILED.map(|(key, name)| (number(&c["CompilationData"][key]), name));
        let size = |key: &str| -> Option<f64> {
            ["X", "Y", "Z"]
                .iter()
                .map(|axis| number(&c[key][axis]))
                .product()
        };
        let sizes = [
            (size("GlobalSize"), "global_size"),
            (size("LocalSize"), "local_size"),
        ];
        for (x, name) in compiled.into_iter().chain(sizes).filter(|_| first) {
            if let Some(x) = x {
                entry.put(&named(name), &x.into(), "");
            }
        }
        let counters = counters(&c["ProfilingData"]);
        if !counters.is_empty() {
            launches.push(Launch {
                kernel: function(c),
                values: counters,
                ..Launch::default()
            });
        }
        // KTT asks the driver for the power, in mW.
        let power_w = number(&c["PowerUsage"]).map(|mw| mw * 1e-3);
        let of_power = || Some(power_w? * number(&c["Duration"])? * seconds);
        energies.extend(number(&c["EnergyConsumption"]).or_else(of_power));
        if let Some(w) = power_w.filter(|_| all.len() == 1) {
            entry.put("power", &w.into(), "W");
        }
    }
    for (name, x) in counted(&launches) {
        entry.put(&name, &x.into(), "");
    }
    if several {
        for l in &launches {
            let own: Vec<Launch> = launches
                .iter()
                .filter(|o| o.kernel == l.kernel)
                .cloned()
                .collect();
            t.kernels.insert(l.kernel.clone(), counted(&own));
        }
    }
    let complete = !energies.is_empty() && energies.len() == all.len();
    if complete {
        entry.put("energy", &energies.iter().sum::<f64>().into(), "J");
    }
    complete
}

/// Counters of launches together, by KTT's names and by ours.
fn counted(launches: &[Launch]) -> Counters {
    let names: Vec<String> = (launches.iter())
        .flat_map(|l| l.values.iter().map(|(n, _)| n.clone()))
        .collect();
    folded(launches, &names)
}

/// Counters of a kernel that were read completely.
fn counters(data: &J) -> Vec<(String, f64)> {
    if number(&data["RemainingProfilingRuns"]).is_some_and(|n| n > 0.0) {
        return Vec::new();
    }
    (data["Counters"].as_array().into_iter().flatten())
        .filter_map(|c| Some((c["Name"].as_str()?.to_owned(), number(&c["Value"])?)))
        .collect()
}

#[cfg(test)]
mod tests;
