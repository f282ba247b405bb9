//! The section on real kernels.

use crate::device::DeviceStudy;
use crate::result::KernelResult;
use greenup_meter::Measurement;
use greenup_report::bar_figure::{Pair, bars};
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

/// Measured and predicted results, as a table and a bar chart.
pub fn section(study: &DeviceStudy) -> Section {
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
        tables: vec![columns().table(
            "Every time counts only after the result was checked.",
            timed(study),
        )],
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
