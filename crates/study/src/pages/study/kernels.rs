//! The section on real kernels.

use crate::device::DeviceStudy;
use crate::result::KernelResult;
use greenup_report::bar_figure::{Pair, bars};
use greenup_report::page::{Fact, Figure, Section};
use greenup_report::si::{percent, si, three};
use greenup_report::table::{Cell, Header, Table};

/// Measured and predicted results, as a table and a bar chart.
pub fn section(study: &DeviceStudy) -> Section {
    let header = [
        ("kernel", ""),
        (
            "flop/B",
            "flops divided by the minimum bytes of slow memory",
        ),
        ("time", "median of one iteration"),
        ("±", "half of the 95 % interval"),
        ("predicted", "time, by the calibrated machine model"),
        ("bound by", "what sets the predicted time"),
        (
            "roof re-measured",
            "speed of known work next to the kernel, divided by its best",
        ),
        (
            "fraction of roof",
            "predicted time divided by the measured time",
        ),
        ("rate", ""),
        (
            "check",
            "largest error against a reference of twice the precision, and what is allowed",
        ),
    ];
    let missing = || Cell::text("–");
    let row = |k: &KernelResult| -> Option<Vec<Cell>> {
        let m = k.measured.as_ref()?;
        let t = m.time_s.median;
        let share = k.share_of_roof?;
        Some(vec![
            Cell::text(&k.name),
            Cell::number(k.intensity, three(k.intensity)),
            Cell::number(t, si(t, "s")),
            Cell::number(
                m.time_s.relative_error(),
                percent(m.time_s.relative_error()),
            ),
            Cell::number(k.predicted.time_s, si(k.predicted.time_s, "s")),
            Cell::text(k.predicted.bound.to_string()),
            k.roof_then
                .map_or_else(missing, |r| Cell::number(r, percent(r)))
                .marked(if k.roof_moved() { "bad" } else { "" }),
            Cell::number(share, percent(share)).marked(if share > 1.05 {
                "bad"
            } else if share > 0.85 {
                "good"
            } else {
                ""
            }),
            Cell::number(k.flops / t, si(k.flops / t, "flop/s")),
            Cell::number(k.verification.0, check(k.verification)),
        ])
    };
    let mut figures = Vec::new();
    let pairs: Vec<Pair> = study
        .kernels
        .iter()
        .filter_map(|k| {
            let m = k.measured.as_ref()?;
            let (lo, hi) = k.predicted.time_interval_s;
            Some(Pair {
                name: k.name.clone(),
                measured: (m.time_s.median, m.time_s.lo, m.time_s.hi),
                predicted: (k.predicted.time_s, lo, hi),
                parts: vec![],
            })
        })
        .collect();
    if !pairs.is_empty() {
        figures.push(Figure::chart(
            &bars("Time: measured against predicted", "s", &pairs),
            "100 % is the measured time of each kernel. Predicted: by the calibrated machine, as in the table; its percentage is the fraction of roof.",
        ));
    }
    let flags: Vec<Fact> = study
        .kernels
        .iter()
        .flat_map(|k| {
            let flags = k.measured.iter().flat_map(|m| &m.flags);
            flags
                .filter(|f| **f != greenup_meter::Flag::NoEnergy)
                .map(|f| Fact::new(&k.name, f.to_string()))
                .chain(k.doubts.iter().map(|d| Fact::new(&k.name, d.clone())))
        })
        .chain(
            study
                .missing
                .iter()
                .map(|why| Fact::new("missing", why.clone())),
        )
        .collect();
    Section {
        id: study.anchor("kernels"),
        title: "Real kernels, measured and predicted".into(),
        label: Some("measured"),
        paragraphs: study.kernels.iter().map(about).collect(),
        items: flags,
        figures,
        tables: vec![Table {
            caption: "Every time counts only after the result was checked.".into(),
            header: header.iter().map(|(n, a)| Header::new(n, a)).collect(),
            rows: study.kernels.iter().filter_map(row).collect(),
        }],
        ..Section::default()
    }
}

/// The largest error against the bound that it must keep.
fn check((error, bound): (f64, f64)) -> String {
    match error {
        0.0 => format!("exact (allowed {bound:.0e})"),
        e => format!("{e:.0e} (allowed {bound:.0e})"),
    }
}

/// What a kernel does, and the library next to it.
fn about(k: &KernelResult) -> String {
    let mut text = format!("{}: {}.", k.name, k.about);
    if let Some(library) = &k.library {
        text.push_str(&format!(
            " {} in the same rounds: {}",
            library.name,
            si(library.time_s.median, "s")
        ));
        if let Some(e) = &library.energy_j {
            text.push_str(&format!(", {}", si(e.median, "J")));
        }
        text.push('.');
    }
    text
}
