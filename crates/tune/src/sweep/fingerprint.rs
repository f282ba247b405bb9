//! Whether a sweep that is continued is of the same experiment: every part that decides a trial is compared by name.

use super::error::Difference;
use super::record::SweepFacts;

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
    // Sweeps without a problem file, as of `fmm study`, have no parts.
    if old.fingerprint.is_empty() && new.fingerprint.is_empty() {
        differ("device", Some(&old.device), Some(&new.device));
    }
    for (name, was) in &old.fingerprint {
        differ(name, Some(was), new.fingerprint.get(name));
    }
    for (name, now) in &new.fingerprint {
        if !old.fingerprint.contains_key(name) {
            differ(name, None, Some(now));
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
    fn sweeps_without_parts_are_of_one_device() {
        let of = |device: &str| SweepFacts {
            device: device.into(),
            ..facts(&[])
        };
        assert_eq!(same(&of("d"), &of("d"), &[]), Ok(()));
        assert!(same(&of("d"), &of("e"), &[]).is_err());
        assert!(same(&of("d"), &facts(&[("compiler", "gcc 12")]), &[]).is_err());
    }
}
