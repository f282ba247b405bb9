//! Sweeps of other tuners: T4 results and Kernel Tuner's caches, plain or gzipped; and our folders.

use super::error::FolderError;
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
#[error("{path}: {cause}")]
pub struct ImportError {
    /// The file.
    pub path: String,
    /// What is wrong with it.
    pub cause: FormatError,
}

/// What is wrong with a recorded sweep.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The folder of a sweep cannot be read.
    #[error("{0}")]
    Folder(#[from] FolderError),
    /// The file cannot be opened.
    #[error("{0}")]
    File(#[from] FileError),
    /// The file cannot be read or unpacked.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// The file is too large.
    #[error("is too large: more than {0} bytes")]
    TooLarge(u64),
    /// The unpacked text is too large.
    #[error("is too large: more than {0} bytes unpacked")]
    TooLargeUnpacked(u64),
    /// The text is not UTF-8.
    #[error("is not UTF-8 text: {0}")]
    Utf8(#[from] std::str::Utf8Error),
    /// The text is not JSON.
    #[error("is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The JSON is not a sweep.
    #[error(
        "is not a sweep: use a folder of `greenup tune`, a T4 file (`results`) or a cache of Kernel Tuner (`cache`)"
    )]
    Unknown,
    /// A T4 file without configurations.
    #[error("the file has no results with a configuration")]
    NoResults,
    /// A key is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A trial lacks a parameter.
    #[error("{of} lacks one of {}", parameters.join(", "))]
    Lacks {
        /// The trial.
        of: String,
        /// All parameters.
        parameters: Vec<String>,
    },
    /// There are no trials.
    #[error("the cache is empty")]
    Empty,
}

/// Reads a sweep folder, a T4 file or a cache of Kernel Tuner (`.gz` allowed).
///
/// # Errors
/// The file cannot be read or is none of these.
pub fn read_any(path: &Path) -> Result<Sweep, ImportError> {
    let fail = |cause: FormatError| ImportError {
        path: path.display().to_string(),
        cause,
    };
    if path.is_dir() {
        return Folder::read(path).map_err(|e| fail(e.into()));
    }
    let bytes = greenup_files::read_bytes(path, LIMIT).map_err(|e| match e {
        FileError::Read { cause, .. } => fail(cause.into()),
        FileError::TooLarge { .. } => fail(FormatError::TooLarge(LIMIT)),
        e => fail(e.into()),
    })?;
    let text = unpacked(bytes, LIMIT).map_err(fail)?;
    // An interrupted cache ends without its closing brackets.
    let json: J = serde_json::from_str(&text)
        .or_else(|e| {
            let open = text.trim_end().trim_end_matches(',');
            serde_json::from_str(&format!("{open}}}}}")).map_err(|_| e)
        })
        .map_err(|e| fail(e.into()))?;
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
        Err(fail(FormatError::Unknown))
    }
}

/// The text of a file, plain or gzipped, of at most `limit` bytes.
fn unpacked(bytes: Vec<u8>, limit: u64) -> Result<String, FormatError> {
    let mut plain = bytes;
    if plain.starts_with(&[0x1f, 0x8b]) {
        let mut out = Vec::new();
        flate2::read::GzDecoder::new(&plain[..])
            .take(limit.saturating_add(1))
            .read_to_end(&mut out)?;
        plain = out;
    }
    if plain.len() as u64 > limit {
        return Err(FormatError::TooLargeUnpacked(limit));
    }
    String::from_utf8(plain).map_err(|e| e.utf8_error().into())
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

/// Times of single runs in ms, as s; empty where there are none.
fn run_times(all: &J) -> Vec<f64> {
    let all = all.as_array().into_iter().flatten();
    all.filter_map(|t| positive(Some(t)))
        .map(|ms| ms * 1e-3)
        .collect()
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
        device: None,
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

fn t4(json: &J, stem: &str) -> Result<Sweep, FormatError> {
    let results = json["results"].as_array().map_or(&[][..], Vec::as_slice);
    let first = results
        .first()
        .and_then(|r| r.get("configuration")?.as_object())
        .ok_or(FormatError::NoResults)?;
    let parameters: Vec<String> = first.keys().cloned().collect();
    let mut trials = Vec::with_capacity(results.len());
    for (i, r) in results.iter().enumerate() {
        let config: Option<Vec<Value>> = parameters
            .iter()
            .map(|p| r.get("configuration")?.get(p).and_then(value))
            .collect();
        let config = config.ok_or_else(|| FormatError::Lacks {
            of: format!("result {}: its configuration", i + 1),
            parameters: parameters.clone(),
        })?;
        let times = &r["times"];
        let runs = run_times(&times["runtimes"]);
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

fn cache(json: &J, stem: &str) -> Result<Sweep, FormatError> {
    let parameters: Vec<String> = json["tune_params_keys"]
        .as_array()
        .ok_or(FormatError::Missing("tune_params_keys"))?
        .iter()
        .filter_map(|k| k.as_str().map(str::to_owned))
        .collect();
    let entries = json["cache"]
        .as_object()
        .ok_or(FormatError::Missing("cache"))?;
    let mut trials = Vec::with_capacity(entries.len());
    for (key, e) in entries {
        let config: Option<Vec<Value>> = parameters
            .iter()
            .map(|p| e.get(p).and_then(value))
            .collect();
        let config = config.ok_or_else(|| FormatError::Lacks {
            of: format!("entry `{key}`"),
            parameters: parameters.clone(),
        })?;
        let runs = run_times(&e["times"]);
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
        return Err(FormatError::Empty);
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
        assert_eq!(
            e.to_string(),
            "is too large: more than 1048576 bytes unpacked"
        );
        assert_eq!(unpacked(gzipped(b"{}"), 2).unwrap(), "{}");
        assert_eq!(unpacked(b"{}".to_vec(), 2).unwrap(), "{}");
        assert!(unpacked(b"{} ".to_vec(), 2).is_err());
        let e = unpacked(gzipped(b"\xff"), 9).unwrap_err();
        assert!(e.to_string().contains("UTF-8"), "{e}");
    }
}
