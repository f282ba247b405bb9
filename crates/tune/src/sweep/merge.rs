//! Sweeps of one experiment joined into one, such as the shards of a job array.

use super::error::{Difference, FolderError};
use super::fingerprint::{ALL, same};
use super::folder::{Folder, drop_stopped};
use super::record::{Sweep, SweepFacts, Trial, TrialDevice};
use crate::objective::Energies;
use crate::shard::{SHARD, Shard};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Name of the difference between shards of different numbers.
const SHARDS: &str = "shards";

/// Sweeps that cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A folder cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// They are of different experiments.
    #[error("{} and {} are sweeps of different experiments: {difference}", first.display(), other.display())]
    Different {
        /// The first folder.
        first: PathBuf,
        /// The one that differs.
        other: PathBuf,
        /// What differs.
        difference: Difference,
    },
    /// The new folder holds something.
    #[error("{} is not empty: name a new folder", .0.display())]
    NotEmpty(PathBuf),
    /// The same folder is named twice.
    #[error("{} is named twice: leave one out", .0.display())]
    Twice(PathBuf),
}

/// What was merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The new sweep.
    pub sweep: Sweep,
    /// Trials that were in several of the sweeps, and are kept once.
    pub repeated: usize,
    /// Sweeps whose final rounds are not taken over, as they were measured apart.
    pub with_finals: usize,
}

/// Reads sweeps and writes all their trials, in the order in which they ended, as a new sweep into `out`, which must not
/// exist or be empty. `accepted` names parts of the experiment that may differ.
///
/// # Errors
/// A folder cannot be read or written, or the experiments differ.
pub fn merge(out: &Path, folders: &[PathBuf], accepted: &[String]) -> Result<Merged, MergeError> {
    if std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(MergeError::NotEmpty(out.to_owned()));
    }
    let real = |p: &PathBuf| std::fs::canonicalize(p).unwrap_or_else(|_| p.clone());
    for (i, folder) in folders.iter().enumerate() {
        if folders[..i].iter().any(|f| real(f) == real(folder)) {
            return Err(MergeError::Twice(folder.clone()));
        }
    }
    let sweeps = (folders.iter())
        .map(|f| Ok((f.as_path(), Folder::read(f)?)))
        .collect::<Result<Vec<_>, FolderError>>()?;
    let merged = joined(&sweeps, accepted)?;
    Folder::write_new(out, &merged.sweep)?;
    Ok(merged)
}

fn joined(sweeps: &[(&Path, Sweep)], accepted: &[String]) -> Result<Merged, MergeError> {
    let mut known = accepted.to_vec();
    known.push(SHARD.to_owned());
    let Some(((first, base), others)) = sweeps.split_first() else {
        return Ok(Merged {
            sweep: Sweep::default(),
            repeated: 0,
            with_finals: 0,
        });
    };
    shards(sweeps, &known)?;
    for (other, sweep) in others {
        same(&base.facts, &sweep.facts, &known).map_err(|difference| MergeError::Different {
            first: first.to_path_buf(),
            other: other.to_path_buf(),
            difference,
        })?;
    }
    let mut trials: Vec<Trial> = Vec::new();
    let mut known = HashSet::new();
    let mut repeated = 0;
    for (_, sweep) in sweeps {
        let host = sweep.facts.more.get("host");
        for t in &sweep.trials {
            let mut t = t.clone();
            if let Some(host) = host {
                let device = t.device.get_or_insert_with(TrialDevice::default);
                device.host.get_or_insert_with(|| host.clone());
            }
            // A trial is the same if nothing differs, its time included.
            let text = (t.at > 0.0).then(|| serde_json::to_string(&t).unwrap_or_default());
            if text.is_some_and(|text| !known.insert(text)) {
                repeated += 1;
            } else {
                trials.push(t);
            }
        }
    }
    trials.sort_by(|a, b| a.at.total_cmp(&b.at));
    drop_stopped(&mut trials);
    Ok(Merged {
        repeated,
        with_finals: sweeps.iter().filter(|(_, s)| s.finals.is_some()).count(),
        sweep: Sweep {
            facts: facts(sweeps, base, accepted),
            trials,
            finals: None,
            warnings: sweeps
                .iter()
                .flat_map(|(_, s)| s.warnings.clone())
                .collect(),
        },
    })
}

/// Refuses shards of different numbers, such as 1/3 and 1/2: they overlap, and leave out points that no one sees.
fn shards(sweeps: &[(&Path, Sweep)], accepted: &[String]) -> Result<(), MergeError> {
    let of = |s: &Sweep| s.facts.more.get(SHARD)?.parse::<Shard>().ok();
    let mut all = (sweeps.iter()).filter_map(|(path, s)| Some((path, of(s)?)));
    let Some((first, shard)) = all.next() else {
        return Ok(());
    };
    let differs = all.find(|(_, s)| s.count() != shard.count());
    match differs.filter(|_| !accepted.iter().any(|a| a == SHARDS || a == ALL)) {
        None => Ok(()),
        Some((other, found)) => Err(MergeError::Different {
            first: first.to_path_buf(),
            other: other.to_path_buf(),
            difference: Difference::Parts(vec![format!(
                "`{SHARDS}` differ: {shard} and {found} are of different divisions of the space"
            )]),
        }),
    }
}

/// The facts of the first sweep that all share, and where the trials come from.
fn facts(sweeps: &[(&Path, Sweep)], base: &Sweep, accepted: &[String]) -> SweepFacts {
    let mut facts = base.facts.clone();
    facts.disturbance = None;
    facts.energy = sweeps
        .iter()
        .map(|(_, s)| s.energies())
        .reduce(Energies::with);
    facts.fingerprint.remove(SHARD);
    facts
        .more
        .retain(|k, v| sweeps.iter().all(|(_, s)| s.facts.more.get(k) == Some(v)));
    facts.more.remove(SHARD);
    let from: Vec<String> = sweeps
        .iter()
        .map(|(path, s)| {
            let of = |k: &str| s.facts.more.get(k).map(|v| format!("{k} {v}"));
            let mut parts = vec![format!("{} trials", s.trials.len())];
            parts.extend([of(SHARD), of("host"), of("seed")].into_iter().flatten());
            format!("{} ({})", path.display(), parts.join(", "))
        })
        .collect();
    facts.more.insert("merged from".into(), from.join("; "));
    if !accepted.is_empty() {
        let words = accepted.join(" ");
        facts.more.insert("accepted changes".into(), words);
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn sweep(shard: &str, device: &str, trials: &[(i64, f64)]) -> Sweep {
        let parts = [(SHARD, shard), ("device", device), ("compiler", "cc")];
        let text = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs
                .iter()
                .map(|(k, v)| ((*k).into(), (*v).into()))
                .collect()
        };
        Sweep {
            facts: SweepFacts {
                name: "p".into(),
                device: device.into(),
                parameters: vec!["a".into()],
                fingerprint: text(&parts),
                more: text(&[(SHARD, shard), ("host", shard), ("compiler", "cc")]),
                ..SweepFacts::default()
            },
            trials: trials
                .iter()
                .map(|(a, at)| {
                    serde_json::from_str(&format!(
                        r#"{{"config":[{a}],"measured":{{"times_s":[1.0],"time_s":1.0}},"at":{at}}}"#
                    ))
                    .unwrap()
                })
                .collect(),
            ..Sweep::default()
        }
    }

    #[test]
    fn all_trials_are_kept_in_their_order() {
        let (a, b) = (Path::new("a"), Path::new("b"));
        let both = [
            (a, sweep("1/2", "d", &[(1, 10.0), (3, 30.0)])),
            (b, sweep("2/2", "d", &[(2, 20.0), (1, 40.0)])),
        ];
        let m = joined(&both, &[]).unwrap();
        let order: Vec<String> = m
            .sweep
            .trials
            .iter()
            .map(|t| t.config[0].to_string())
            .collect();
        assert_eq!(order, ["1", "2", "3", "1"]);
        assert_eq!(m.repeated, 0);
        let hosts: Vec<_> = m
            .sweep
            .trials
            .iter()
            .map(|t| t.device.clone().unwrap().host)
            .collect();
        assert_eq!(hosts[1].as_deref(), Some("2/2"));
        assert!(!m.sweep.facts.fingerprint.contains_key(SHARD));
        assert_eq!(m.sweep.facts.more["compiler"], "cc");
        assert!(!m.sweep.facts.more.contains_key("host"));
        assert!(m.sweep.facts.more["merged from"].contains("b (2 trials, shard 2/2"));
        // Merged with a part of itself, nothing is doubled.
        let again = [(a, m.sweep), both[0].clone()];
        let again = joined(&again, &[]).unwrap();
        assert_eq!((again.sweep.trials.len(), again.repeated), (4, 2));
    }

    #[test]
    fn other_experiments_are_refused_by_name() {
        let (a, b) = (Path::new("a"), Path::new("b"));
        let both = [
            (a, sweep("1/2", "d", &[(1, 10.0)])),
            (b, sweep("2/2", "e", &[(2, 20.0)])),
        ];
        let e = joined(&both, &[]).unwrap_err().to_string();
        assert!(
            e.contains("a and b") && e.contains("`device` was d, now e"),
            "{e}"
        );
        let third = [
            (a, sweep("1/2", "d", &[(1, 10.0)])),
            (b, sweep("1/3", "d", &[(2, 20.0)])),
        ];
        let e = joined(&third, &[]).unwrap_err().to_string();
        assert!(e.contains("`shards` differ: 1/2 and 1/3"), "{e}");
        assert!(joined(&third, &["shards".into()]).is_ok());
        assert_eq!(
            joined(&both, &["device".into()])
                .unwrap()
                .sweep
                .trials
                .len(),
            2
        );
    }
}
