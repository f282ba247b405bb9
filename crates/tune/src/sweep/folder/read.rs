//! Reading a sweep: lines that are cut or invalid are left out with a warning, trials that were repeated count once, counters join their
//! trials.

use super::Folder;
use super::head::read_facts;
use crate::sweep::bounds::keep_inside;
use crate::sweep::error::FolderError;
use crate::sweep::names::{COUNTERS, PACKED_COUNTERS, PACKED_TRIALS, TRIALS};
use crate::sweep::packed::unpack;
use crate::sweep::record::{Counted, Failure, Sweep, Trial};
use crate::sweep::rounds::Rounds;
use greenup_files::FileError;
use greenup_files::read::TEXT_LIMIT;
use greenup_space::Value;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

impl Folder {
    /// Reads a sweep. Lines that are no trials are left out, with a warning for each.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(dir: &Path) -> Result<Sweep, FolderError> {
        let facts = read_facts(dir)?;
        let parameters = facts.parameters.len();
        let mut warnings = Vec::new();
        let check = |t: &Trial| t.check(parameters).err().map(|e| e.to_string());
        let packed = dir.join(PACKED_TRIALS);
        let mut trials: Vec<Trial> = Vec::new();
        if packed.exists() {
            trials = lines(&packed, &unpacked(&packed)?, &mut warnings, check);
        }
        let path = dir.join(TRIALS);
        if path.exists() || !packed.exists() {
            let bytes = greenup_files::read_bytes(&path, TEXT_LIMIT)?;
            trials.extend(lines(&path, &bytes, &mut warnings, check));
        }
        let outside = keep_inside(&facts, &mut trials);
        warnings.extend(outside.map(|w| format!("{}: {w}", dir.display())));
        drop_lost(&mut trials);
        drop_stopped(&mut trials);
        for name in [PACKED_COUNTERS, COUNTERS] {
            let path = dir.join(name);
            if path.exists() {
                let bytes = if name == PACKED_COUNTERS {
                    unpacked(&path)?
                } else {
                    greenup_files::read_bytes(&path, TEXT_LIMIT)?
                };
                let counted = lines(&path, &bytes, &mut warnings, |_: &Counted| None);
                join(&counted, &mut trials);
            }
        }
        let finals = Rounds::read(dir, parameters).unwrap_or_else(|warning| {
            warnings.push(format!("{warning}; the winner is named from single trials"));
            None
        });
        Ok(Sweep {
            facts,
            trials,
            finals,
            warnings,
        })
    }
}

/// What a gzipped file of a recorded sweep holds.
fn unpacked(path: &Path) -> Result<Vec<u8>, FileError> {
    let (bytes, read) = unpack(&greenup_files::read_bytes(path, TEXT_LIMIT)?, TEXT_LIMIT);
    read.map_err(|cause| FileError::Read {
        path: path.to_owned(),
        cause,
    })?;
    if bytes.len() as u64 > TEXT_LIMIT {
        return Err(FileError::TooLarge {
            path: path.to_owned(),
            limit: TEXT_LIMIT,
        });
    }
    Ok(bytes)
}

/// The complete lines of a file that hold what is expected; a warning for each other.
fn lines<T: serde::de::DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
    warnings: &mut Vec<String>,
    check: impl Fn(&T) -> Option<String>,
) -> Vec<T> {
    let complete = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let mut out = Vec::new();
    for (i, line) in bytes[..complete].split(|b| *b == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let invalid = match serde_json::from_slice(line) {
            Err(e) => Some(e.to_string()),
            Ok(t) => {
                let invalid = check(&t);
                if invalid.is_none() {
                    out.push(t);
                }
                invalid
            }
        };
        if let Some(cause) = invalid {
            warnings.push(format!(
                "{}: line {} is left out: {cause}",
                path.display(),
                i + 1
            ));
        }
    }
    out
}

/// Leaves out what was stopped of configs that were tried in full too, with whatever result.
pub(crate) fn drop_stopped(trials: &mut Vec<Trial>) {
    if !trials.iter().any(|t| t.stopped) {
        return;
    }
    let full: HashSet<String> = (trials.iter())
        .filter(|t| !t.stopped && t.effort >= 1.0)
        .filter(|t| !matches!(t.failure(), Some((Failure::Lost, _))))
        .map(|t| key(&t.config))
        .collect();
    trials.retain(|t| !t.stopped || !full.contains(&key(&t.config)));
}

/// Drops the lost trials of configs that were tried again.
fn drop_lost(trials: &mut Vec<Trial>) {
    let lost = |t: &Trial| matches!(t.failure(), Some((Failure::Lost, _)));
    if trials.iter().any(lost) {
        let again: HashSet<String> = (trials.iter().filter(|t| !lost(t)))
            .map(|t| key(&t.config))
            .collect();
        trials.retain(|t| !lost(t) || !again.contains(&key(&t.config)));
    }
}

/// Joins counters with the trials of the same config.
fn join(counted: &[Counted], trials: &mut [Trial]) {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, t) in trials.iter().enumerate() {
        places.entry(key(&t.config)).or_default().push(i);
    }
    for c in counted {
        for i in places.get(&key(&c.config)).into_iter().flatten() {
            let counters = c.counters.iter().filter(|c| c.1.is_finite());
            let t = &mut trials[*i];
            t.metrics.extend(counters.map(|(n, x)| (n.clone(), *x)));
            t.kernels = c.kernels.clone();
        }
    }
}

/// A text that is the same for equal configs: numbers are equal by value, as 1, 1.0 and True.
fn key(config: &[Value]) -> String {
    let mut out = String::new();
    for v in config {
        let whole = |x: f64| x.fract() == 0.0 && x.abs() < 9e15;
        let _ = match (v, v.as_int(), v.as_float()) {
            (_, Some(i), _) => write!(out, "{i},"),
            (_, _, Some(x)) if whole(x) => write!(out, "{},", x as i64),
            (_, _, Some(x)) => write!(out, "{x:?},"),
            (text, ..) => write!(out, "{:?},", text.to_string()),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_trial_gives_way_to_one_in_full() {
        let trial = |config: i64, how: &str| -> Trial {
            let measured = r#""measured":{"times_s":[1.0],"time_s":1.0}"#;
            let how = how.replace("MEASURED", measured);
            serde_json::from_str(&format!(r#"{{"config":[{config}],{how}}}"#)).unwrap()
        };
        let stopped = r#"MEASURED,"stopped":true"#;
        let mut all = vec![
            trial(1, stopped),
            trial(2, stopped),
            trial(1, "MEASURED"),
            trial(3, r#"MEASURED,"effort":0.25"#),
            trial(3, stopped),
            trial(4, stopped),
            trial(4, r#""failed":{"failure":"wrong","message":"m"}"#),
        ];
        drop_stopped(&mut all);
        let left: Vec<_> = all.iter().map(|t| (t.config.clone(), t.stopped)).collect();
        let of = |n, stopped| (vec![Value::Int(n)], stopped);
        // A short trial is none in full; one that proves wrong is.
        let expected = [(2, true), (1, false), (3, false), (3, true), (4, false)];
        assert_eq!(left, expected.map(|(n, stopped)| of(n, stopped)));
    }
}
