//! Entries of a foreign file become a sweep.

use super::error::FormatError;
use super::unit::ratio;
use super::values::{Entry, Judged, is_energy, is_power, rank_of_energy};
use crate::objective::Objective;
use crate::sweep::record::{STOPPED, Sweep, SweepFacts, Trial};
use std::collections::BTreeSet;

pub(super) fn sweep(
    name: String,
    device: String,
    parameters: Vec<String>,
    trials: Vec<Trial>,
) -> Sweep {
    Sweep {
        facts: SweepFacts {
            name,
            device,
            parameters,
            ..SweepFacts::default()
        },
        trials,
        ..Sweep::default()
    }
}

/// The trials of a file with their outcomes, and its objective by our name. All energies are of one meter. A flag tells
/// which trials failed already.
pub(super) fn finish(
    mut entries: Vec<(Trial, Entry, bool)>,
    objective: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<(Vec<Trial>, Option<String>), FormatError> {
    in_one_unit(&mut entries, warnings)?;
    unread(&entries, warnings);
    let mut meters: Vec<String> = Vec::new();
    for (name, ..) in entries.iter().flat_map(|(_, e, _)| &e.numbers) {
        if is_energy(name) && !meters.contains(name) {
            meters.push(name.clone());
        }
    }
    meters.sort_by_key(|n| rank_of_energy(n));
    let energy = meters.first().cloned();
    if let [first, others @ ..] = meters.as_slice()
        && !others.is_empty()
    {
        warnings.push(format!(
            "there are several energies: `{first}` counts as the energy, {} as metrics",
            others.join(", ")
        ));
    }
    let timed = entries.iter().any(|(_, e, fails)| !fails && e.is_timed());
    let name = objective.filter(|o| o.parse::<Objective>().is_err() && !is_energy(o));
    let mut trials = Vec::with_capacity(entries.len());
    let (mut left_out, mut notes, mut energies) = (Vec::new(), Vec::new(), Vec::new());
    for (mut t, e, fails) in entries {
        let judged = e.judged(energy.as_deref(), &|metrics| match (name, timed) {
            (Some(name), _) if metrics.contains_key(name) => true,
            (_, timed) => !timed && !metrics.is_empty(),
        })?;
        let Judged {
            outcome,
            metrics,
            note,
            no_energy,
        } = judged;
        t.metrics = metrics;
        // As our own files of T4 say it.
        if t.metrics.get(STOPPED) == Some(&1.0) {
            t.metrics.remove(STOPPED);
            t.stopped = true;
        }
        if !fails {
            let config: Vec<String> = t.config.iter().map(ToString::to_string).collect();
            let of = |why: String| format!("config {}: {why}", config.join(","));
            notes.extend(note.map(of));
            energies.extend(no_energy.map(|e| of(e.to_string())));
            match outcome {
                Ok(outcome) => t.outcome = outcome,
                Err(why) => {
                    left_out.push(of(why));
                    continue;
                }
            }
        }
        trials.push(t);
    }
    warnings.extend(counted(&left_out, "trials are left out"));
    warnings.extend(counted(&notes, "trials count as failed"));
    warnings.extend(counted(&energies, "energies are left out"));
    let known = |n: &str| trials.iter().any(|t| t.metrics.contains_key(n));
    let ours = match objective {
        Some(o) if Some(o) == energy.as_deref() => Some("energy".to_owned()),
        Some(o) if known(o) => Some(format!("metric:{o}")),
        Some(o) if o.parse::<Objective>().is_ok() => Some(o.to_owned()),
        Some(o) => {
            warnings.push(format!("its objective `{o}` is not among its numbers"));
            None
        }
        None => None,
    };
    Ok((trials, ours))
}

/// What happened to several trials, with the first of them.
pub(super) fn counted(all: &[String], what: &str) -> Option<String> {
    let first = all.first()?;
    Some(format!("{} {what}; the first: {first}", all.len()))
}

/// Converts the values of each metric into one unit: that of its name, else the first in the file. Times, energies and powers
/// have units that are known.
pub(super) fn in_one_unit(
    entries: &mut [(Trial, Entry, bool)],
    warnings: &mut Vec<String>,
) -> Result<(), FormatError> {
    let mut metrics: Vec<(String, Vec<String>)> = Vec::new();
    for (name, _, unit) in entries.iter().flat_map(|(_, e, _)| &e.numbers) {
        if name == "time" || is_energy(name) || is_power(name) {
            continue;
        }
        let at = metrics.iter().position(|(n, _)| n == name);
        let at = at.unwrap_or_else(|| {
            metrics.push((name.clone(), Vec::new()));
            metrics.len() - 1
        });
        let units = &mut metrics[at].1;
        let unit = unit.trim();
        if !units.iter().any(|u| u == unit) {
            units.push(unit.to_owned());
        }
    }
    for (metric, units) in &metrics {
        let written: Vec<&String> = units.iter().filter(|u| !u.is_empty()).collect();
        let Some(first) = written.first() else {
            continue;
        };
        // A name such as `min` or `h` is no unit.
        let is_unit = metric.contains('/') || metric.to_uppercase().ends_with("FLOPS");
        let by_name = is_unit && written.iter().all(|u| ratio(u, metric).is_some());
        let target = if by_name { metric } else { *first };
        if units.len() == 1 && *first == target {
            continue;
        }
        let without = units.iter().any(String::is_empty);
        let mixed = |a: &str, b: &str| FormatError::MixedUnits {
            metric: metric.clone(),
            units: [a.to_owned(), b.to_owned()],
        };
        if without && !by_name && written.len() > 1 {
            return Err(mixed(first, ""));
        }
        if let Some(other) = written.iter().find(|u| ratio(u, target).is_none()) {
            return Err(mixed(first, other));
        }
        if without && !by_name {
            warnings.push(format!(
                "values of `{metric}` without a unit are read as {target}, like the others"
            ));
        }
        if written.iter().any(|u| *u != target) {
            let all: Vec<&str> = written.iter().map(|u| u.as_str()).collect();
            warnings.push(format!(
                "values of `{metric}` are in {}: they are converted to {target}",
                all.join(", ")
            ));
        }
        let numbers = entries.iter_mut().flat_map(|(_, e, _)| &mut e.numbers);
        for (_, x, unit) in numbers.filter(|(n, ..)| n == metric) {
            let factor = match unit.trim() {
                "" => 1.0,
                unit => ratio(unit, target).unwrap_or(1.0),
            };
            x.iter_mut().for_each(|x| *x *= factor);
            unit.clone_from(target);
        }
    }
    Ok(())
}

/// Notes texts that stand where other entries have numbers.
pub(super) fn unread(entries: &[(Trial, Entry, bool)], warnings: &mut Vec<String>) {
    let numbers = entries.iter().flat_map(|(_, e, _)| &e.numbers);
    let numeric: BTreeSet<&str> = numbers.map(|(n, ..)| n.as_str()).collect();
    let mut texts: Vec<(&str, &str, usize)> = Vec::new();
    for (name, text) in entries.iter().flat_map(|(_, e, _)| &e.unread) {
        // The trials of such times have notes of their own.
        if name == "time" || !(numeric.contains(name.as_str()) || is_energy(name)) {
            continue;
        }
        match texts.iter_mut().find(|(n, ..)| n == name) {
            Some((.., n)) => *n += 1,
            None => texts.push((name, text, 1)),
        }
    }
    warnings.extend(texts.into_iter().map(|(name, text, n)| {
        format!(
            "{n} values of `{name}` cannot be read as numbers and are left out; the first: `{text}`"
        )
    }));
}
