//! Whether a sweep that is continued is of the same experiment: every part that decides a trial is compared by name.

use super::error::Difference;
use super::record::SweepFacts;

/// Facts that older sweeps, which have no fingerprint, are compared by.
const BEFORE: [&str; 6] = [
    "constants",
    "data",
    "sources",
    "seed of data",
    "compiler",
    "architecture",
];
/// Accepts any difference.
pub(super) const ALL: &str = "all";

/// Compares a recorded sweep with the one that would continue it.
///
/// # Errors
/// What differs and is not accepted.
pub fn same(old: &SweepFacts, new: &SweepFacts, accepted: &[String]) -> Result<(), Difference> {
    if old.name != new.name {
        return Err(Difference::Problem {
            old: old.name.clone(),
            new: new.name.clone(),
        });
    }
    // Configs are lists of values in this order: nothing else can be meant.
    if old.parameters != new.parameters {
        return Err(Difference::Parameters {
            old: old.parameters.clone(),
            new: new.parameters.clone(),
        });
    }
    let known = |name: &str| accepted.iter().any(|a| a == name || a == ALL);
    let mut differences = Vec::new();
    let mut differ = |name: &str, was: Option<&String>, now: Option<&String>| {
        if was != now && !known(name) {
            differences.push(described(name, was, now));
        }
    };
    if old.fingerprint.is_empty() {
        if !old.device.is_empty() {
            differ("device", Some(&old.device), Some(&new.device));
        }
        for name in BEFORE {
            if let (was @ Some(_), now @ Some(_)) = (old.more.get(name), new.more.get(name)) {
                differ(name, was, now);
            }
        }
    } else {
        for (name, was) in &old.fingerprint {
            differ(name, Some(was), new.fingerprint.get(name));
        }
        for (name, now) in &new.fingerprint {
            if !old.fingerprint.contains_key(name) {
                differ(name, None, Some(now));
            }
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(Difference::Parts(differences))
}

fn described(name: &str, was: Option<&String>, now: Option<&String>) -> String {
    let hashed = |v: &str| v.starts_with("hash ");
    match (was, now) {
        (Some(w), Some(n)) if hashed(w) || hashed(n) => format!("`{name}` changed"),
        (Some(w), Some(n)) => format!("`{name}` was {w}, now {n}"),
        (Some(_), None) => format!("`{name}` is gone"),
        _ => format!("`{name}` is new"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn facts(parts: &[(&str, &str)]) -> SweepFacts {
        SweepFacts {
            name: "p".into(),
            parameters: vec!["a".into()],
            fingerprint: parts
                .iter()
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect(),
            ..SweepFacts::default()
        }
    }

    #[test]
    fn every_difference_is_named_and_may_be_accepted() {
        let old = facts(&[("reference.tolerance", "1e-10"), ("file k.h", "hash 1")]);
        assert_eq!(same(&old, &old, &[]), Ok(()));
        let new = facts(&[("reference.tolerance", "1e-6"), ("file k.h", "hash 2")]);
        let e = same(&old, &new, &[]).unwrap_err();
        assert_eq!(
            e.to_string(),
            "`file k.h` changed; `reference.tolerance` was 1e-10, now 1e-6"
        );
        let tolerance = "reference.tolerance".to_owned();
        assert!(same(&old, &new, std::slice::from_ref(&tolerance)).is_err());
        assert_eq!(same(&old, &new, &[tolerance, "file k.h".into()]), Ok(()));
        assert_eq!(same(&old, &new, &["all".into()]), Ok(()));
        assert!(same(&old, &facts(&[("file k.h", "hash 1")]), &[]).is_err());
    }

    #[test]
    fn older_sweeps_are_compared_by_the_facts_they_have() {
        let more = |compiler: &str| BTreeMap::from([("compiler".to_owned(), compiler.to_owned())]);
        let old = SweepFacts {
            more: more("gcc 12"),
            ..facts(&[])
        };
        let new = |compiler: &str| SweepFacts {
            more: more(compiler),
            ..facts(&[("compiler", compiler)])
        };
        assert_eq!(same(&old, &new("gcc 12"), &[]), Ok(()));
        assert!(same(&old, &new("gcc 13"), &[]).is_err());
    }
}
