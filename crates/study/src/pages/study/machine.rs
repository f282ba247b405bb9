//! The sections on the machine: constants, properties, microbenchmarks.

use super::headline::headline;
use super::lines::balances;
use crate::device::{DeviceStudy, Hardware};
use greenup_calibrate::Record;
use greenup_calibrate::fit::Fit;
use greenup_model::{Estimate, Machine, Op, OpCost};
use greenup_report::page::{Fact, Section};
use greenup_report::si::{percent, three};
use greenup_report::table::{Cell, Columns, Table};

pub fn constants(study: &DeviceStudy) -> Section {
    let m = &study.machine;
    let caption = format!(
        "The whole device; also in {}",
        study.file("machine", "toml")
    );
    Section {
        id: study.anchor("constants"),
        title: "Machine constants".into(),
        label: Some("measured"),
        paragraphs: (m.warnings.iter().cloned())
            .chain(errors(&study.fit))
            .collect(),
        items: headline(study).into_iter().chain(balances(m)).collect(),
        tables: vec![constants_table(m, &caption)],
        ..Section::default()
    }
}

/// How good the fit is, in sentences.
pub fn errors(fit: &Fit) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(c) = fit.condition_number {
        out.push(format!("Condition number of the energy fit: {}.", three(c)));
    }
    if let Some(e) = &fit.time_errors {
        out.push(format!(
            "The fit's own error in time over {} benchmarks: mean {}, largest {}.",
            e.n,
            percent(e.mean_abs),
            percent(e.max_abs)
        ));
    }
    out
}

/// Rate, time and energy of each class with their intervals.
pub fn constants_table(m: &Machine, caption: &str) -> Table {
    let value = |e: &Option<Estimate>, op: &Op, scale: &str| {
        let value = e.as_ref().map(|e| e.value);
        Cell::si(value, &format!("{scale}/{}", op.unit_name()))
    };
    let interval = |e: &Option<Estimate>, scale: &str| {
        Cell::range(e.as_ref().map(|e| (e.low(), e.high())), scale)
    };
    Columns::<(&Op, &OpCost)>::new()
        .text("class", "", |(op, _)| op.name().to_owned())
        .cell("rate", "", |(op, c)| {
            let rate = c.time_s.as_ref().map(|t| 1.0 / t.value);
            Cell::si(rate, &format!("{}/s", op.unit_name()))
        })
        .cell("τ", "", |(op, c)| value(&c.time_s, op, "s"))
        .cell("95 %", "", |(_, c)| interval(&c.time_s, "s"))
        .cell("ε", "", |(op, c)| value(&c.energy_j, op, "J"))
        .cell("95 %", "", |(_, c)| interval(&c.energy_j, "J"))
        .table(caption, &m.cost)
}

pub fn facts(study: &DeviceStudy) -> Section {
    let items = study
        .machine
        .facts
        .iter()
        .map(|(k, v)| Fact::new(&name_of(k), v.clone()))
        .chain(caches(study))
        .chain([Fact::new(
            "Energy sensor",
            study.sensor.clone().unwrap_or_else(|| "none".into()),
        )])
        .collect();
    Section {
        id: study.anchor("facts"),
        title: "Machine facts".into(),
        items,
        ..Section::default()
    }
}

/// The key of a fact as a reader knows it.
pub fn name_of(key: &str) -> String {
    let known = [
        ("cpu", "CPU"),
        ("gpu", "GPU"),
        ("isa", "Instruction set"),
        ("peak_f64", "Peak, double precision"),
        ("peak_f32", "Peak, single precision"),
        ("clock", "Clock under load"),
        ("greenup", "Version of greenup"),
    ];
    if let Some((_, name)) = known.iter().find(|(k, _)| *k == key) {
        return (*name).to_owned();
    }
    let words = key.replace('_', " ");
    let mut letters = words.chars();
    let first: String = letters
        .next()
        .map(|c| c.to_uppercase().collect())
        .unwrap_or_default();
    first + letters.as_str()
}

/// Bytes in the largest binary unit that divides them.
fn size(bytes: usize) -> String {
    let units = ["B", "KiB", "MiB", "GiB"];
    let mut n = (bytes, 0);
    while n.0 > 0 && n.0.is_multiple_of(1024) && n.1 + 1 < units.len() {
        n = (n.0 / 1024, n.1 + 1);
    }
    format!("{} {}", n.0, units[n.1])
}

fn caches(study: &DeviceStudy) -> Vec<Fact> {
    let Hardware::Cpu { facts, .. } = &study.hardware else {
        return Vec::new();
    };
    let fact = |c: &greenup_device::Cache| {
        Fact::new(
            &format!("L{}", c.level),
            match c.shared_by {
                0 | 1 => size(c.bytes),
                n => format!("{}, shared by {n} cores", size(c.bytes)),
            },
        )
    };
    facts.caches.iter().map(fact).collect()
}

/// The microbenchmarks as their records have them.
pub fn calibration_points(study: &DeviceStudy) -> Section {
    let caption = format!(
        "In the random order in which they ran; all columns in {}",
        study.file("records", "csv")
    );
    Section {
        id: study.anchor("points"),
        title: "Microbenchmarks".into(),
        label: Some("measured"),
        tables: vec![records_table(&study.records, &caption)],
        ..Section::default()
    }
}

/// A row a record.
pub fn records_table(records: &[Record], caption: &str) -> Table {
    Columns::<Record>::new()
        .text("benchmark", "", |r| r.benchmark.clone())
        .text("on", "", |r| r.setting.clone())
        .cell("rate", "", |r| {
            let (op, n) = (r.work.iter())
                .max_by_key(|(op, _)| (op.is_flop(), !op.is_bytes()))
                .unwrap_or((Op::Dram, 0.0));
            Cell::si(n / r.time_s, &format!("{}/s", op.unit_name()))
        })
        .percent("±", "", |r| {
            let ends = r.note("_time_hi_s").zip(r.note("_time_lo_s"));
            ends.map(|(hi, lo)| 0.5 * (hi - lo) / r.time_s)
        })
        .si("power", "", "W", |r| r.energy_j.map(|e| e / r.time_s))
        .si("clock", "", "Hz", |r| r.note("_clock_hz"))
        .table(caption, records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_named_for_a_reader() {
        for (key, want) in [
            ("peak_f64", "Peak, double precision"),
            ("virtual_machine", "Virtual machine"),
            ("threads", "Threads"),
            ("", ""),
        ] {
            assert_eq!(name_of(key), want);
        }
        for (bytes, want) in [
            (32 << 20, "32 MiB"),
            (48 << 10, "48 KiB"),
            (1000, "1000 B"),
            (0, "0 B"),
        ] {
            assert_eq!(size(bytes), want);
        }
    }
}
