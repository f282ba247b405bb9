//! The sections on the machine: constants, facts, microbenchmarks.

use crate::study::Study;
use greenup_model::Op;
use greenup_report::page::{Cell, Fact, Header, Section, Table};
use greenup_report::si::{percent, si, three};

pub fn constants(study: &Study) -> Section {
    let m = &study.machine;
    let rows = m
        .cost
        .iter()
        .map(|(op, c)| {
            let unit = op.unit_name();
            let cell = |e: &Option<greenup_model::Estimate>, scale: &str| match e {
                Some(e) => [
                    Cell::number(e.value, si(e.value, &format!("{scale}/{unit}"))),
                    Cell::text(format!("{} … {}", si(e.low(), scale), si(e.high(), scale))),
                ],
                None => [Cell::text("–"), Cell::text("–")],
            };
            let rate = c.time_s.as_ref().map_or_else(
                || Cell::text("–"),
                |t| Cell::number(1.0 / t.value, si(1.0 / t.value, &format!("{unit}/s"))),
            );
            let mut row = vec![Cell::text(op.name()), rate];
            row.extend(cell(&c.time_s, "s"));
            row.extend(cell(&c.energy_j, "J"));
            row
        })
        .collect();
    let mut paragraphs: Vec<String> = m.warnings.clone();
    if let Some(c) = study.fit.condition_number {
        paragraphs.push(format!("Condition number of the energy fit: {}.", three(c)));
    }
    if let Some(e) = &study.fit.time_errors {
        paragraphs.push(format!(
            "The fit's own error in time over {} benchmarks: mean {}, largest {}.",
            e.n,
            percent(e.mean_abs),
            percent(e.max_abs)
        ));
    }
    Section {
        id: "constants".into(),
        title: "Machine constants".into(),
        label: Some("measured"),
        paragraphs,
        tables: vec![Table {
            caption: "All cores together; also in machine.toml".into(),
            header: ["class", "rate", "τ", "95 %", "ε", "95 %"]
                .map(|n| Header::new(n, ""))
                .to_vec(),
            rows,
        }],
        ..Section::default()
    }
}

pub fn facts(study: &Study) -> Section {
    let items = study
        .machine
        .facts
        .iter()
        .map(|(k, v)| Fact::new(k, v.clone()))
        .chain(study.facts.caches.iter().map(|c| {
            Fact::new(
                &format!("L{}", c.level),
                format!("{} KiB, shared by {}", c.bytes >> 10, c.shared_by),
            )
        }))
        .chain([Fact::new(
            "energy sensor",
            study.sensor.clone().unwrap_or_else(|| "none".into()),
        )])
        .collect();
    Section {
        id: "facts".into(),
        title: "Machine facts".into(),
        items,
        ..Section::default()
    }
}

pub fn calibration_points(study: &Study) -> Section {
    let rows = study
        .calibration
        .points
        .iter()
        .map(|p| {
            let (op, n) = p
                .work
                .iter()
                .max_by(|a, b| a.0.is_flop().cmp(&b.0.is_flop()))
                .copied()
                .unwrap_or((Op::Dram, 0.0));
            let r = n / p.time_s.median;
            vec![
                Cell::text(&p.name),
                Cell::number(p.threads as f64, p.threads.to_string()),
                Cell::number(r, si(r, &format!("{}/s", op.unit_name()))),
                Cell::number(
                    p.time_s.relative_error(),
                    percent(p.time_s.relative_error()),
                ),
                p.power_w.map_or_else(
                    || Cell::text("–"),
                    |w| Cell::number(w.median, si(w.median, "W")),
                ),
            ]
        })
        .collect();
    Section {
        id: "points".into(),
        title: "Microbenchmarks".into(),
        label: Some("measured"),
        tables: vec![Table {
            caption: "In the random order in which they ran; all columns in records.csv".into(),
            header: ["benchmark", "threads", "rate", "±", "power"]
                .map(|n| Header::new(n, ""))
                .to_vec(),
            rows,
        }],
        ..Section::default()
    }
}
