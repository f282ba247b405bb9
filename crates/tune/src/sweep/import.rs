//! Sweeps of other tuners: T4 results and Kernel Tuner's caches, plain or gzipped; and our folders.

use super::folder::Folder;
use super::record::{Failure, Outcome, Sweep, SweepFacts, Trial};
use greenup_files::FileError;
use greenup_space::Value;
use serde_json::Value as J;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

/// Largest file, also unpacked, in bytes.
const LIMIT: u64 = 1 << 30;

/// A recorded sweep that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ImportError {
    pub path: String,
    pub message: String,
}

/// Reads a sweep folder, a T4 file or a cache of Kernel Tuner (`.gz` allowed).
///
/// # Errors
/// The file cannot be read or is none of these.
pub fn read_any(path: &Path) -> Result<Sweep, ImportError> {
    let fail = |message: String| ImportError {
        path: path.display().to_string(),
        message,
    };
    if path.is_dir() {
        return Folder::read(path).map_err(|e| fail(e.to_string()));
    }
    let bytes = greenup_files::read_bytes(path, LIMIT).map_err(|e| match e {
        FileError::Read { cause, .. } => fail(format!("cannot be read: {cause}")),
        FileError::TooLarge { .. } => fail(format!("is too large: more than {LIMIT} bytes")),
        e => fail(e.to_string()),
    })?;
    let text = unpacked(bytes, LIMIT).map_err(fail)?;
    // An interrupted cache ends without its closing brackets.
    let json: J = serde_json::from_str(&text)
        .or_else(|e| {
            let open = text.trim_end().trim_end_matches(',');
            serde_json::from_str(&format!("{open}}}}}")).map_err(|_| e)
        })
        .map_err(|e| fail(format!("is not valid JSON: {e}")))?;
    let stem = path
        .file_name()
        .and_then(|n| n.to_str())
        .and_then(|n| n.split('.').next())
        .unwrap_or("sweep");
    if json.get("results").is_some_and(J::is_array) {
        t4(&json, stem).map_err(fail)
    } else if json.get("cache").is_some_and(J::is_object) {
        cache(&json, stem).map_err(fail)
    } else {
        Err(fail(
            "is no sweep: a folder of `greenup tune`, a T4 file (`results`) or a cache of Kernel \
             Tuner (`cache`) is expected"
                .into(),
        ))
    }
}

/// The text of a file, plain or gzipped, of at most `limit` bytes.
fn unpacked(bytes: Vec<u8>, limit: u64) -> Result<String, String> {
    let mut plain = bytes;
    if plain.starts_with(&[0x1f, 0x8b]) {
        let mut out = Vec::new();
        flate2::read::GzDecoder::new(&plain[..])
            .take(limit.saturating_add(1))
            .read_to_end(&mut out)
            .map_err(|e| format!("cannot be read: {e}"))?;
        plain = out;
    }
    if plain.len() as u64 > limit {
        return Err(format!("is too large: more than {limit} bytes unpacked"));
    }
    String::from_utf8(plain).map_err(|e| format!("is not UTF-8 text: {}", e.utf8_error()))
}

fn value(v: &J) -> Option<Value> {
    match v {
        J::Bool(b) => Some(Value::Bool(*b)),
        J::Number(n) => n.as_i64().map(Value::Int).or(n.as_f64().map(Value::Float)),
        J::String(s) => Some(Value::Str(s.clone())),
        _ => None,
    }
}

fn positive(v: Option<&J>) -> Option<f64> {
    v.and_then(J::as_f64).filter(|x| x.is_finite() && *x > 0.0)
}

fn measured(times_s: Vec<f64>, time_s: f64, energy_j: Option<f64>) -> Outcome {
    Outcome::Measured {
        time_error: None,
        times_s,
        time_s,
        energy_j,
    }
}

fn trial(config: Vec<Value>, outcome: Outcome, metrics: BTreeMap<String, f64>) -> Trial {
    Trial {
        config,
        outcome,
        metrics,
        kernels: BTreeMap::new(),
        effort: 1.0,
        build_s: 0.0,
        verify_s: 0.0,
        measure_s: 0.0,
        flags: Vec::new(),
        at: 0.0,
    }
}

/// Milliseconds of a key as seconds.
fn seconds(v: &J, key: &str) -> f64 {
    v.get(key)
        .and_then(J::as_f64)
        .filter(|x| x.is_finite() && *x >= 0.0)
        .unwrap_or(0.0)
        * 1e-3
}

fn failed(reason: &str) -> Outcome {
    let failure = match reason {
        r if r.contains("Compil") || r == "compile" => Failure::Compile,
        r if r.contains("InvalidConfig") || r == "constraints" => Failure::Invalid,
        "timeout" => Failure::Timeout,
        "correctness" => Failure::Wrong,
        _ => Failure::Runtime,
    };
    Outcome::Failed {
        failure,
        message: reason.to_owned(),
    }
}

fn t4(json: &J, stem: &str) -> Result<Sweep, String> {
    let results = json["results"].as_array().map_or(&[][..], Vec::as_slice);
    let first = results
        .first()
        .and_then(|r| r.get("configuration")?.as_object())
        .ok_or("the file has no results with a configuration")?;
    let parameters: Vec<String> = first.keys().cloned().collect();
    let mut trials = Vec::with_capacity(results.len());
    for (i, r) in results.iter().enumerate() {
        let config: Option<Vec<Value>> = parameters
            .iter()
            .map(|p| r.get("configuration")?.get(p).and_then(value))
            .collect();
        let config = config.ok_or_else(|| {
            format!(
                "result {}: its configuration lacks one of {}",
                i + 1,
                parameters.join(", ")
            )
        })?;
        let times = &r["times"];
        let runs: Vec<f64> = times["runtimes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|t| positive(Some(t)))
            .map(|ms| ms * 1e-3)
            .collect();
        let mut metrics = BTreeMap::new();
        let mut time_ms = None;
        let mut energy = None;
        for m in r["measurements"].as_array().into_iter().flatten() {
            let (Some(name), Some(v)) = (m["name"].as_str(), positive(m.get("value"))) else {
                continue;
            };
            match name {
                "time" => time_ms = Some(v),
                "energy" | "ps_energy" | "nvml_energy" => energy = Some(v),
                _ => {
                    metrics.insert(name.to_owned(), v);
                }
            }
        }
        let time = time_ms.map(|ms| ms * 1e-3).or_else(|| mean(&runs));
        let valid = r["invalidity"].as_str().is_none_or(|s| s == "correct");
        let outcome = match time.filter(|_| valid) {
            Some(t) => measured(runs, t, energy),
            None => failed(r["invalidity"].as_str().unwrap_or("runtime")),
        };
        let mut t = trial(config, outcome, metrics);
        t.build_s = seconds(times, "compilation_time").max(seconds(times, "compilation"));
        t.verify_s = seconds(times, "validation");
        t.measure_s = times["runtimes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(J::as_f64)
            .sum::<f64>()
            * 1e-3;
        trials.push(t);
    }
    Ok(Sweep {
        facts: SweepFacts {
            name: stem.to_owned(),
            device: "recorded".into(),
            parameters,
            ..SweepFacts::default()
        },
        trials,
        ..Sweep::default()
    })
}

fn mean(v: &[f64]) -> Option<f64> {
    (!v.is_empty()).then(|| v.iter().sum::<f64>() / v.len() as f64)
}

/// Keys of a cache entry that are no metrics.
const NO_METRICS: [&str; 10] = [
    "time",
    "times",
    "compile_time",
    "verification_time",
    "benchmark_time",
    "strategy_time",
    "framework_time",
    "timestamp",
    "ps_energy",
    "energy",
];

fn cache(json: &J, stem: &str) -> Result<Sweep, String> {
    let parameters: Vec<String> = json["tune_params_keys"]
        .as_array()
        .ok_or("`tune_params_keys` is missing")?
        .iter()
        .filter_map(|k| k.as_str().map(str::to_owned))
        .collect();
    let entries = json["cache"].as_object().ok_or("`cache` is missing")?;
    let mut trials = Vec::with_capacity(entries.len());
    for (key, e) in entries {
        let config: Option<Vec<Value>> = parameters
            .iter()
            .map(|p| e.get(p).and_then(value))
            .collect();
        let config = config
            .ok_or_else(|| format!("entry `{key}` lacks one of {}", parameters.join(", ")))?;
        let runs: Vec<f64> = e["times"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|t| positive(Some(t)))
            .map(|ms| ms * 1e-3)
            .collect();
        let mut metrics = BTreeMap::new();
        for (k, v) in e.as_object().into_iter().flatten() {
            if !NO_METRICS.contains(&k.as_str())
                && !parameters.contains(k)
                && let Some(x) = v.as_f64().filter(|x| x.is_finite())
            {
                metrics.insert(k.clone(), x);
            }
        }
        let time = positive(e.get("time")).map(|ms| ms * 1e-3);
        let energy = ["ps_energy", "nvml_energy", "energy"]
            .iter()
            .find_map(|k| positive(e.get(*k)))
            .or_else(|| {
                ["ps_power", "nvml_power"]
                    .iter()
                    .find_map(|k| positive(e.get(*k)))
                    .zip(time)
                    .map(|(p, t)| p * t)
            });
        let outcome = match time {
            Some(t) if e.get("__error__").is_none() => measured(runs, t, energy),
            _ => {
                let reason = e
                    .get("__error__")
                    .and_then(J::as_str)
                    .or_else(|| {
                        e.as_object()?
                            .values()
                            .filter_map(J::as_str)
                            .find(|s| s.ends_with("Config"))
                    })
                    .unwrap_or("runtime");
                failed(reason)
            }
        };
        let mut t = trial(config, outcome, metrics);
        t.build_s = seconds(e, "compile_time");
        t.verify_s = seconds(e, "verification_time");
        t.measure_s = seconds(e, "benchmark_time");
        trials.push(t);
    }
    if trials.is_empty() {
        return Err("the cache is empty".into());
    }
    let name = json["kernel_name"].as_str().unwrap_or(stem).to_owned();
    Ok(Sweep {
        facts: SweepFacts {
            name,
            device: json["device_name"]
                .as_str()
                .unwrap_or("recorded")
                .to_owned(),
            parameters,
            objective: json["objective"].as_str().map(str::to_owned),
            ..SweepFacts::default()
        },
        trials,
        ..Sweep::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        z.write_all(bytes).unwrap();
        z.finish().unwrap()
    }

    #[test]
    fn what_unpacks_to_too_much_is_refused() {
        let bomb = gzipped(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20_000, "{}", bomb.len());
        let e = unpacked(bomb, 1 << 20).unwrap_err();
        assert_eq!(e, "is too large: more than 1048576 bytes unpacked");
        assert_eq!(unpacked(gzipped(b"{}"), 2).unwrap(), "{}");
        assert_eq!(unpacked(b"{}".to_vec(), 2).unwrap(), "{}");
        assert!(unpacked(b"{} ".to_vec(), 2).is_err());
        let e = unpacked(gzipped(b"\xff"), 9).unwrap_err();
        assert!(e.contains("UTF-8"), "{e}");
    }
}
