//! The winner of a sweep as an entry of wisdom.

use super::best::{NoBest, best};
use super::record::{Outcome, Sweep, SweepFacts};
use crate::objective::Objective;
use greenup_files::Cache;
use greenup_space::Value;
use greenup_wisdom::{Device, DeviceKind, Entry, Provenance};
use std::collections::BTreeMap;

/// Prefix of the facts of the device among those of a sweep.
pub(crate) const DEVICE: &str = "device.";

/// The facts of a device as they are recorded with a sweep.
pub fn device_facts(device: &Device) -> BTreeMap<String, String> {
    let facts = (device.facts.iter()).map(|(n, v)| (format!("{DEVICE}{n}"), v.to_string()));
    facts
        .chain([(format!("{DEVICE}architecture"), device.architecture.clone())])
        .collect()
}

/// The device of a sweep, with the facts that it recorded, or that are known of its model.
pub fn device(facts: &SweepFacts) -> Device {
    let more = |name: &str| facts.more.get(name).map(String::as_str);
    let kind = match (more("architecture"), more("cores")) {
        (None, Some(_)) => DeviceKind::Cpu,
        _ => DeviceKind::Gpu,
    };
    let mut out = match kind {
        DeviceKind::Gpu => {
            Device::of_gpu_name(&facts.device, more("architecture").unwrap_or_default())
        }
        DeviceKind::Cpu => Device {
            kind,
            name: facts.device.clone(),
            architecture: String::new(),
            facts: BTreeMap::new(),
        },
    };
    out.facts.extend(facts.more.iter().filter_map(|(n, v)| {
        let name = n.strip_prefix(DEVICE)?;
        Some((name.to_owned(), v.parse::<i64>().ok()?))
    }));
    if let Some(name) = more("device.architecture") {
        out.architecture = name.to_owned();
    }
    out
}

/// A value as it was printed.
pub fn value(text: &str) -> Value {
    match text {
        "True" | "true" => Value::Bool(true),
        "False" | "false" => Value::Bool(false),
        _ => (text.parse().map(Value::Int))
            .or_else(|_| text.parse().map(Value::Float))
            .unwrap_or_else(|_| Value::Str(text.to_owned())),
    }
}

/// The constants of the problem that the user may set: those that its file gives as numbers; all of a sweep without a
/// fingerprint, which does not tell.
fn constants(facts: &SweepFacts) -> BTreeMap<String, Value> {
    let all = facts.constants().into_iter();
    let given = |name: &str| {
        let written = facts.fingerprint.get(&format!("constants.{name}"));
        written.is_none_or(|text| !text.starts_with('"'))
    };
    all.filter(|(n, v)| !n.is_empty() && !v.is_empty() && given(n))
        .map(|(n, v)| {
            let value = value(&v);
            (n, value)
        })
        .collect()
}

/// Precision of the arithmetic: as the problem or the config says, else that of the results.
fn precision(sweep: &Sweep, config: &BTreeMap<String, Value>) -> String {
    let facts = &sweep.facts;
    let constants = facts.constants();
    let constant = |name: &str| {
        let mut all = constants.iter();
        all.find(|(n, _)| n == name).map(|(_, v)| v.clone())
    };
    let bits = (config.get("BITS").map(ToString::to_string)).or_else(|| constant("bits"));
    if let Some(real) = constant("real_type") {
        return real;
    }
    if let Some(bits) = bits.filter(|b| b == "32" || b == "64") {
        return format!("f{bits}");
    }
    let out = (facts.fingerprint.iter())
        .filter(|(n, v)| n.starts_with("argument ") && v.contains(", Out"))
        .find_map(|(_, v)| Some(v.split_once(" of ")?.1.split_once(',')?.0.to_owned()));
    match out.as_deref() {
        Some("float") => "f32".into(),
        Some("double") => "f64".into(),
        // Recorded sweeps without a fingerprint.
        _ => match facts.name.as_str() {
            "form_factor_gpu" | "form_factor_cpu" => "f32".into(),
            "hydro_corner" | "dgemm" => "f64".into(),
            _ => String::new(),
        },
    }
}

/// A fingerprint of the sources of the kernel.
fn sources(facts: &SweepFacts) -> String {
    let of_files: Vec<String> = (facts.fingerprint.iter())
        .filter(|(n, _)| {
            ["file ", "build.", "launch"]
                .iter()
                .any(|p| n.starts_with(p))
        })
        .map(|(n, v)| format!("{n}={v}"))
        .collect();
    let parts: Vec<String> = if of_files.is_empty() {
        facts.more.get("sources").cloned().into_iter().collect()
    } else {
        of_files
    };
    if parts.is_empty() {
        return String::new();
    }
    Cache::key(parts)[..16].to_owned()
}

fn range(values: &[f64]) -> Option<[f64; 2]> {
    let lo = values.iter().copied().fold(f64::INFINITY, f64::min);
    let hi = values.iter().copied().fold(0.0, f64::max);
    (values.len() > 1 && lo > 0.0).then_some([lo, hi])
}

/// The winner of a sweep by an objective as an entry; `from` names where the sweep is, if it is recorded.
///
/// # Errors
/// No trial has what the objective needs.
pub fn entry(sweep: &Sweep, objective: Objective, from: &str) -> Result<Entry, NoBest> {
    let found = best(sweep, objective)?;
    let winner = sweep.trials.iter().position(|t| t.config == found.config);
    Ok(entry_of(sweep, winner.unwrap_or(0), objective, from)
        .unwrap_or_else(|| unreachable!("the best config is a measured trial")))
}

/// A trial of a sweep as an entry, as if it were the winner; `None` if it was not measured.
pub fn entry_of(sweep: &Sweep, trial: usize, objective: Objective, from: &str) -> Option<Entry> {
    let (cost, _) = sweep.best_known_cost(trial)?;
    let trial = sweep.trials.get(trial)?;
    let facts = &sweep.facts;
    let named = facts.parameters.iter().cloned();
    let config: BTreeMap<String, Value> = named.zip(trial.config.iter().cloned()).collect();
    let finals = (sweep.finals.as_ref())
        .and_then(|f| Some((f, f.configs.iter().position(|c| *c == trial.config)?)));
    let (times, energies) = match (finals, &trial.outcome) {
        (Some((f, i)), _) => (
            f.times_s.get(i).map_or(&[][..], Vec::as_slice),
            f.energies_j.get(i).map_or(&[][..], Vec::as_slice),
        ),
        (None, Outcome::Measured { times_s, .. }) => (times_s.as_slice(), &[][..]),
        _ => (&[][..], &[][..]),
    };
    let more = |name: &str| facts.more.get(name).cloned().unwrap_or_default();
    let at = sweep.trials.iter().map(|t| t.at).fold(0.0, f64::max);
    Some(Entry {
        problem: facts.name.clone(),
        precision: precision(sweep, &config),
        objective: objective.to_string(),
        time_s: cost.time_s,
        time_range_s: range(times),
        energy_j: cost.energy_j,
        energy_range_j: range(energies),
        config,
        constants: constants(facts),
        device: device(facts),
        provenance: Provenance {
            at: at as u64,
            trials: sweep.trials.len(),
            verified: facts.verified.unwrap_or(false),
            sources: sources(facts),
            command: more("command"),
            greenup: more("greenup"),
            compiler: more("compiler"),
            sensor: more("sensor"),
            from: from.to_owned(),
        },
    })
}

/// The winners of a sweep by time, by energy where that was measured, and by its own objective; none where that is not
/// [kept](is_kept).
///
/// # Errors
/// It has no best config.
pub fn entries(sweep: &Sweep, from: &str) -> Result<Vec<Entry>, NoBest> {
    let own = (sweep.facts.objective.as_deref()).and_then(|o| o.parse().ok());
    let own = own.unwrap_or(Objective::Time);
    if !is_kept(own) {
        return Ok(Vec::new());
    }
    let mut all = vec![entry(sweep, own, from)?];
    for other in [Objective::Time, Objective::Energy] {
        if other != own
            && let Ok(e) = entry(sweep, other, from)
        {
            all.push(e);
        }
    }
    Ok(all)
}

/// Whether winners by an objective are entries: not those by a metric of a command or within a limit, which other runs
/// need not share.
pub fn is_kept(objective: Objective) -> bool {
    greenup_wisdom::entry::OBJECTIVES.contains(&objective.to_string().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Folder;
    use std::path::Path;

    fn recorded(name: &str) -> Sweep {
        Folder::read(
            &Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../sweeps")
                .join(name),
        )
        .unwrap()
    }

    #[test]
    fn winners_of_recorded_sweeps_are_entries() {
        let all = entries(&recorded("fmm_ulist_f64_h200"), "s").unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(
            (all[0].objective.as_str(), all[1].objective.as_str()),
            ("time", "energy")
        );
        assert_eq!(all[0].precision, "f64");
        assert_eq!(all[0].device.fact("multiprocessors"), Some(132));
        assert!(all[0].time_range_s.unwrap()[0] <= all[0].time_s);
        assert!(all[1].energy_j <= all[0].energy_j);

        let cpu = &entries(&recorded("form_factor_xeon16"), "s").unwrap()[0];
        assert_eq!(
            (cpu.device.kind, cpu.device.units()),
            (DeviceKind::Cpu, Some(16))
        );
        assert_eq!(cpu.precision, "f32");
        assert!(!cpu.constants.contains_key("cores"), "{:?}", cpu.constants);
        let e = entries(&recorded("zen5_dgemm_2048"), "s").unwrap();
        assert_eq!(e[0].device.fact("vector_bytes"), Some(64));
        for e in all.iter().chain(&e).chain([cpu]) {
            e.check().unwrap();
        }
    }

    #[test]
    fn recorded_facts_of_a_device_are_read_again() {
        let device = Device::of_cpu(&greenup_device::CpuFacts::read());
        let mut facts = SweepFacts {
            device: device.name.clone(),
            ..SweepFacts::default()
        };
        facts.more = device_facts(&device);
        facts.more.insert("cores".into(), "1".into());
        assert_eq!(super::device(&facts), device);
    }
}
