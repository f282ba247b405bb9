//! The best ncrit and M2L method of whole evaluations, as `fmm tune` found them: to wisdom and from it.

use super::input::{Input, PrecisionArg};
use super::tune::MeasuredSetting;
use crate::options::M2l;
use greenup_app::{Result, wisdom};
use greenup_device::DeviceSpec;
use greenup_space::Value;
use greenup_wisdom::{Device as Known, Entry, Provenance, Query};
use std::collections::BTreeMap;

/// The problem that is tuned.
const PROBLEM: &str = "fmm_evaluation";
/// Entries of more than so many times more or fewer points say nothing of these.
const FACTOR: f64 = 4.0;

/// Largest ncrit of an entry: far above any that is the fastest.
const LARGEST: i64 = 65_536;

/// ncrit and the M2L method.
pub type Chosen = (usize, M2l);

/// The device as wisdom knows it; `None` where nothing is tuned: several devices, or a surface order that the user gives.
fn known(input: &Input, device: &DeviceSpec) -> Result<Option<Known>> {
    match input.order {
        Some(_) => Ok(None),
        None => Ok(Known::here(device)?),
    }
}

fn precision(input: &Input) -> &'static str {
    match input.precision {
        PrecisionArg::F32 => "f32",
        PrecisionArg::F64 => "f64",
    }
}

/// What an evaluation is tuned for, but for the number of points.
fn constants(input: &Input) -> [(&'static str, Value); 4] {
    let points = match input.points {
        Some(_) => "file".to_owned(),
        None => format!("{:?}", input.distribution).to_lowercase(),
    };
    [
        ("kernel", Value::Str(input.kernel().name().to_owned())),
        ("gradient", Value::Bool(input.gradient)),
        ("accuracy", Value::Float(input.accuracy())),
        ("distribution", Value::Str(points)),
    ]
}

/// Keeps the fastest row, and that of the lowest energy where it was measured.
pub fn keep(input: &Input, device: &DeviceSpec, points: usize, rows: &[MeasuredSetting]) -> Result {
    let Some(device) = known(input, device)? else {
        return Ok(());
    };
    let mut constants: BTreeMap<String, Value> =
        (constants(input).into_iter().map(|(n, v)| (n.to_owned(), v))).collect();
    let n = i64::try_from(points).unwrap_or(i64::MAX);
    constants.insert("points".to_owned(), Value::Int(n));
    let entry = |objective: &str, row: &MeasuredSetting| Entry {
        problem: PROBLEM.to_owned(),
        precision: precision(input).to_owned(),
        objective: objective.to_owned(),
        time_s: row.time_s,
        time_range_s: None,
        energy_j: row.energy_j,
        energy_range_j: None,
        config: BTreeMap::from([
            ("ncrit".to_owned(), Value::Int(row.ncrit as i64)),
            ("m2l".to_owned(), Value::Str(row.method())),
        ]),
        constants: constants.clone(),
        device: device.clone(),
        provenance: Provenance {
            trials: rows.len(),
            ..Provenance::default()
        },
    };
    let fastest = rows.iter().min_by(|a, b| a.time_s.total_cmp(&b.time_s));
    let measured = rows.iter().filter_map(|r| Some((r.energy_j?, r)));
    let lowest = measured.min_by(|a, b| a.0.total_cmp(&b.0));
    let all = (fastest.map(|r| entry("time", r)).into_iter())
        .chain(lowest.map(|(_, r)| entry("energy", r)))
        .collect();
    wisdom::keep_winners(all, "run it again with --wisdom FILE to keep them");
    Ok(())
}

/// ncrit and the M2L method of the nearest entry for this evaluation, with the method `m2l` if it is given; `None` without
/// one.
pub fn find(
    input: &Input,
    device: &DeviceSpec,
    points: usize,
    m2l: Option<M2l>,
) -> Result<Option<Chosen>> {
    let Some(device) = known(input, device)? else {
        return Ok(None);
    };
    let all = wisdom::load()?;
    let n = i64::try_from(points).unwrap_or(i64::MAX);
    let query = Query {
        problem: PROBLEM,
        precision: precision(input),
        objective: "time",
        device: &device,
        exact: &constants(input),
        size: &[("points", n)],
    };
    let found = all.choose(&query, |e| config(e, n, m2l));
    Ok(found.map(|(choice, config)| {
        wisdom::note(&format!("ncrit {}", config.0), &choice);
        config
    }))
}

/// The config of an entry for `n` points.
fn config(e: &Entry, n: i64, m2l: Option<M2l>) -> std::result::Result<Chosen, String> {
    let tuned = e.constants.get("points").and_then(Value::as_float);
    let ratio = tuned.unwrap_or(f64::NAN) / n.max(1) as f64;
    if !(1.0 / FACTOR..=FACTOR).contains(&ratio) {
        return Err(format!("it is of {ratio:.3} times as many points"));
    }
    let ncrit = e.config.get("ncrit").and_then(Value::as_int);
    let ncrit = (ncrit.filter(|n| (1..=LARGEST).contains(n))).and_then(|n| usize::try_from(n).ok());
    let ncrit = ncrit.ok_or(format!("it has no ncrit of 1 to {LARGEST}"))?;
    let method = match e.config.get("m2l") {
        Some(Value::Str(s)) if s == "fft" => M2l::Fft,
        Some(Value::Str(s)) if s == "compressed" => M2l::Compressed,
        _ => return Err("it has no M2L method".to_owned()),
    };
    match m2l {
        Some(m) if m != method => Err("it has another M2L method".to_owned()),
        _ => Ok((ncrit, method)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_wisdom::DeviceKind;

    fn entry(ncrit: i64, m2l: &str, points: i64) -> Entry {
        Entry {
            problem: PROBLEM.into(),
            precision: "f64".into(),
            objective: "time".into(),
            time_s: 1.0,
            time_range_s: None,
            energy_j: None,
            energy_range_j: None,
            config: BTreeMap::from([
                ("ncrit".to_owned(), Value::Int(ncrit)),
                ("m2l".to_owned(), Value::Str(m2l.into())),
            ]),
            constants: BTreeMap::from([("points".to_owned(), Value::Int(points))]),
            device: Known {
                kind: DeviceKind::Cpu,
                name: "d".into(),
                architecture: String::new(),
                facts: BTreeMap::new(),
            },
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn entries_of_other_sizes_and_bad_values_are_refused() {
        let good = entry(64, "compressed", 1000);
        assert_eq!(config(&good, 1000, None), Ok((64, M2l::Compressed)));
        assert_eq!(config(&good, 4000, None), Ok((64, M2l::Compressed)));
        assert!(
            config(&good, 4001, None)
                .unwrap_err()
                .contains("as many points")
        );
        assert!(config(&good, 1000, Some(M2l::Fft)).is_err());
        for (ncrit, m2l) in [(0, "fft"), (-5, "fft"), (i64::MAX, "fft"), (64, "x")] {
            let bad = entry(ncrit, m2l, 1000);
            assert!(config(&bad, 1000, None).is_err(), "{ncrit} {m2l}");
        }
    }
}
