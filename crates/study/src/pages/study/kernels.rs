//! The section on real kernels.

use super::energy;
use crate::device::DeviceStudy;
use crate::result::KernelResult;
use greenup_meter::Measurement;
use greenup_report::bar_figure::{Kernel, kernels};
use greenup_report::page::{Fact, Figure, Section};
use greenup_report::si::si;
use greenup_report::table::{Cell, Columns};

/// A kernel with its measurement and its share of the roof.
pub type Timed<'a> = (&'a KernelResult, &'a Measurement, f64);

/// Kernels with a measured time and its share of the roof.
pub fn timed(study: &DeviceStudy) -> impl Iterator<Item = Timed<'_>> {
    (study.kernels.iter()).filter_map(|k| Some((k, k.measured.as_ref()?, k.share_of_roof?)))
}

/// The table of their times.
pub fn columns<'a>() -> Columns<'a, Timed<'a>> {
    Columns::<Timed>::new()
        .text("kernel", "", |(k, ..)| k.name.clone())
        .three(
            "flop/B",
            "flops divided by the minimum bytes of slow memory",
            |(k, ..)| k.intensity,
        )
        .si("time", "median of one iteration", "s", |(_, m, _)| {
            m.time_s.median
        })
        .percent("±", "half of the 95 % interval", |(_, m, _)| {
            m.time_s.relative_error()
        })
        .si(
            "predicted",
            "time, by the calibrated machine model",
            "s",
            |(k, ..)| k.predicted.time_s,
        )
        .text("bound by", "what sets the predicted time", |(k, ..)| {
            k.predicted.bound.to_string()
        })
        .cell(
            "roof re-measured",
            "speed of known work next to the kernel, divided by its best",
            |(k, ..)| Cell::percent(k.roof_then).marked(k.roof_moved().then_some("bad")),
        )
        .where_known()
        .cell(
            "fraction of roof",
            "predicted time divided by the measured time",
            |(.., share)| {
                Cell::percent(*share).marked(match *share {
                    s if s > 1.05 => Some("bad"),
                    s if s > 0.85 => Some("good"),
                    _ => None,
                })
            },
        )
        .si("rate", "", "flop/s", |(k, m, _)| k.flops / m.time_s.median)
        .cell(
            "check",
            "largest error against a reference of twice the precision, and what is allowed",
            |(k, ..)| Cell::number(k.verification.0, check(k.verification)),
        )
        .detail()
}

/// A row a kernel: its time, its energy, what bounds it, and what to do.
pub fn section(study: &DeviceStudy) -> Section {
    let rows: Vec<Kernel> = study.kernels.iter().filter_map(row).collect();
    let mut figures = Vec::new();
    if !rows.is_empty() {
        let caption = if rows.iter().any(|r| r.energy.is_some()) {
            "Time: predicted by the calibrated machine over measured, which is the fraction of roof. Energy: predicted for the measured time over measured, by its causes; the line at 100 % is the measured energy, with its interval."
        } else {
            "Predicted by the calibrated machine over measured: the fraction of roof."
        };
        let chart = kernels("Each kernel against its roof", &rows);
        figures.push(Figure::chart(&chart, caption).wide());
    }
    let advice = study.kernels.iter().filter(|k| !k.advice.is_empty());
    let mut items: Vec<Fact> = advice
        .map(|k| Fact::new(&k.name, k.advice.join(" ")))
        .collect();
    for k in &study.kernels {
        let flags = k.measured.iter().flat_map(|m| &m.flags);
        items.extend(
            flags
                .filter(|f| **f != greenup_meter::Flag::NoEnergy)
                .map(|f| Fact::new(&k.name, f.to_string()))
                .chain(k.doubts.iter().map(|d| Fact::new(&k.name, d.clone()))),
        );
    }
    items.extend(
        study
            .missing
            .iter()
            .map(|why| Fact::new("missing", why.clone())),
    );
    Section {
        id: study.anchor("kernels"),
        title: "Real kernels: how far from their roof, and what to do".into(),
        short: "Kernels".into(),
        label: Some("measured"),
        items,
        figures,
        beside: true,
        ..Section::default()
    }
}

/// What was run, with all its numbers.
pub fn numbers(study: &DeviceStudy) -> Section {
    let mut tables = vec![columns().table(
        "Times. Every time counts only after the result was checked.",
        timed(study),
    )];
    let energies = energy::energies(study);
    if !energies.is_empty() {
        tables.push(energy::columns().table(
            "Energies of an iteration. Predicted: operations and bytes × the machine's costs (where the clock falls at the power cap, at the voltage of the measured clock), and constant power × the measured time.",
            energies,
        ));
    }
    Section {
        id: study.anchor("numbers"),
        title: "The kernels in numbers".into(),
        short: "Numbers".into(),
        label: Some("measured"),
        paragraphs: study.kernels.iter().map(about).collect(),
        tables,
        ..Section::default()
    }
}

/// A kernel with a measured time and its share of the roof.
fn row(k: &KernelResult) -> Option<Kernel> {
    let m = k.measured.as_ref()?;
    let share = k.share_of_roof?;
    let (lo, hi) = k.predicted.time_interval_s;
    Some(Kernel {
        name: k.name.clone(),
        share: (share, lo / m.time_s.hi, hi / m.time_s.lo),
        time_s: m.time_s.median,
        bound: k.predicted.bound.to_string(),
        energy: energy::parts(k),
    })
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
