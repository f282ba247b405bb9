//! The section on the energy of the kernels: measured, predicted, and where it goes.

use crate::device::DeviceStudy;
use crate::result::KernelResult;
use greenup_report::bar_figure::{Pair, Part, bars};
use greenup_report::page::{Figure, Section};
use greenup_report::si::{percent, si};
use greenup_report::table::{Cell, Header, Table};

/// Energies of a device's kernels; `None` if none was measured.
pub fn section(study: &DeviceStudy) -> Option<Section> {
    let rows: Vec<Vec<Cell>> = study.kernels.iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let pairs: Vec<Pair> = study.kernels.iter().filter_map(pair).collect();
    let header = [
        ("kernel", ""),
        ("time", "median of one iteration"),
        ("power", "measured"),
        ("energy", "median of one iteration, measured"),
        (
            "predicted E",
            "counts × costs of the machine + constant power × measured time",
        ),
        ("error", "(predicted − measured)/measured"),
        ("arithmetic", "share of the predicted energy: operations"),
        (
            "data",
            "share of the predicted energy: bytes of all memory levels",
        ),
        ("constant", "share of the predicted energy: constant power"),
        ("predicted power", "predicted energy / measured time"),
        (
            "energy at the roof",
            "predicted energy of an implementation that takes the predicted time",
        ),
    ];
    let figures = match pairs.is_empty() {
        true => Vec::new(),
        false => vec![Figure::chart(
            &bars("Energy: measured against predicted", "J", &pairs),
            "100 % is the measured energy of each kernel. The predicted energy is split into arithmetic, data and constant power.",
        )],
    };
    Some(Section {
        id: study.anchor("energy"),
        title: "Energy of the kernels, measured and predicted".into(),
        label: Some("measured"),
        paragraphs: vec![
            "The predicted energy takes the kernel's operations and bytes, the machine's costs (where the clock falls at the power cap, at the voltage of the measured clock), and the measured time."
                .into(),
        ],
        figures,
        tables: vec![Table {
            caption: "Energies per iteration".into(),
            header: header.iter().map(|(n, a)| Header::new(n, a)).collect(),
            rows,
        }],
        ..Section::default()
    })
}

fn row(k: &KernelResult) -> Option<Vec<Cell>> {
    let m = k.measured.as_ref()?;
    let e = m.energy_j?;
    let t = m.time_s.median;
    let number = |v: f64, unit: &str| Cell::number(v, si(v, unit));
    let mut row = vec![
        Cell::text(&k.name),
        number(t, "s"),
        number(e.median / t, "W"),
        number(e.median, "J"),
    ];
    match &k.explained {
        Some(split) => {
            let share = |v: f64| Cell::number(v / split.total_j, percent(v / split.total_j));
            let error = split.total_j / e.median - 1.0;
            row.extend([
                number(split.total_j, "J"),
                Cell::number(error, percent(error)),
                share(split.arithmetic_j),
                share(split.data_j),
                share(split.constant_j),
                number(split.total_j / t, "W"),
            ]);
        }
        None => row.extend((0..6).map(|_| Cell::text("–"))),
    }
    row.push(match k.predicted.energy_j {
        Some(e) => number(e, "J"),
        None => Cell::text("–"),
    });
    Some(row)
}

fn pair(k: &KernelResult) -> Option<Pair> {
    let e = k.measured.as_ref()?.energy_j?;
    let split = k.explained.as_ref()?;
    let part = |name: &str, value: f64| Part {
        name: name.to_owned(),
        value,
    };
    Some(Pair {
        name: k.name.clone(),
        measured: (e.median, e.lo, e.hi),
        predicted: (split.total_j, split.interval_j.0, split.interval_j.1),
        parts: vec![
            part("arithmetic", split.arithmetic_j),
            part("data", split.data_j),
            part("constant power", split.constant_j),
        ],
    })
}
