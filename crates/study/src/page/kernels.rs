//! The section on real kernels.

use crate::result::KernelResult;
use crate::study::Study;
use greenup_report::bar_figure::{Pair, Part, bars};
use greenup_report::page::{Cell, Fact, Figure, Header, Section, Table};
use greenup_report::si::{percent, si, three};

/// Measured against predicted, as a table and as bars.
pub fn section(study: &Study) -> Section {
    let header = [
        ("kernel", ""),
        (
            "flop/B",
            "flops over bytes of slow memory that it must move at least",
        ),
        ("time", "median of one iteration"),
        ("±", "half of the 95 % interval"),
        ("predicted", "time by the calibrated machine"),
        ("error", "(predicted − measured)/measured"),
        ("bound by", "what sets the predicted time"),
        (
            "roof then",
            "the binding roof measured again beside the kernel, over the calibrated one",
        ),
        (
            "of roof",
            "the roof's time over the measured one, with the roof as it then stood",
        ),
        ("rate", ""),
        (
            "headroom",
            "time that a perfect version would save, with the roof as it then stood",
        ),
        ("energy", "median of one iteration"),
        ("predicted E", "energy by the calibrated machine"),
        ("headroom E", "energy that a perfect version would save"),
        (
            "check",
            "largest error against a reference of twice the precision",
        ),
    ];
    let missing = || Cell::text("–");
    let row = |k: &KernelResult| -> Option<Vec<Cell>> {
        let m = k.measured.as_ref()?;
        let t = m.time_s.median;
        let share = k.share_then()?;
        let headroom = |x: f64| Cell::number(x, percent(x.max(0.0)));
        let saved = |measured: f64, predicted: f64| headroom(1.0 - predicted / measured);
        Some(vec![
            Cell::text(&k.name),
            Cell::number(k.intensity, three(k.intensity)),
            Cell::number(t, si(t, "s")),
            Cell::number(
                m.time_s.relative_error(),
                percent(m.time_s.relative_error()),
            ),
            Cell::number(k.predicted.time_s, si(k.predicted.time_s, "s")),
            Cell::number(k.time_error?, percent(k.time_error?)),
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
            headroom(1.0 - share),
            m.energy_j
                .map_or_else(missing, |e| Cell::number(e.median, si(e.median, "J"))),
            k.predicted
                .energy_j
                .map_or_else(missing, |e| Cell::number(e, si(e, "J"))),
            m.energy_j
                .zip(k.predicted.energy_j)
                .map_or_else(missing, |(m, p)| saved(m.median, p)),
            Cell::number(
                k.verification.0,
                format!("{:.0e} ≤ {:.0e}", k.verification.0, k.verification.1),
            ),
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
        figures.push(Figure {
            svg: bars("Time: measured against predicted", "s", &pairs),
            caption: "Upper bar: measured, and its share of the predicted. One scale a kernel."
                .into(),
        });
    }
    let pairs: Vec<Pair> = study.kernels.iter().filter_map(energy_pair).collect();
    if !pairs.is_empty() {
        figures.push(Figure {
            svg: bars("Energy: measured against predicted", "J", &pairs),
            caption:
                "Lower bar: the predicted energy split into operations, bytes and constant power."
                    .into(),
        });
    }
    let flags: Vec<Fact> = study
        .kernels
        .iter()
        .flat_map(|k| {
            let flags = k.measured.iter().flat_map(|m| &m.flags);
            flags
                .filter(|f| **f != greenup_meter::Flag::NoEnergy)
                .map(|f| Fact::new(&k.name, f.to_string()))
        })
        .collect();
    Section {
        id: "kernels".into(),
        title: "Real kernels, measured and predicted".into(),
        label: Some("measured"),
        paragraphs: study
            .kernels
            .iter()
            .map(|k| format!("{}: {}.", k.name, k.about))
            .collect(),
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

fn energy_pair(k: &KernelResult) -> Option<Pair> {
    let e = k.measured.as_ref()?.energy_j?;
    let (lo, hi) = k.predicted.energy_interval_j?;
    let mut parts: Vec<Part> = k
        .predicted
        .energy_by_op_j
        .iter()
        .map(|(op, v)| Part {
            name: op.to_string(),
            value: *v,
        })
        .collect();
    parts.push(Part {
        name: "constant power".into(),
        value: k.predicted.constant_energy_j?,
    });
    Some(Pair {
        name: k.name.clone(),
        measured: (e.median, e.lo, e.hi),
        predicted: (k.predicted.energy_j?, lo, hi),
        parts,
    })
}
