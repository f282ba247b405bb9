//! The section on the energy of the kernels: measured, predicted, and where it goes.

use crate::device::DeviceStudy;
use crate::energy::EnergySplit;
use crate::result::KernelResult;
use greenup_report::bar_figure::{Pair, Part, bars};
use greenup_report::page::{Figure, Section};
use greenup_report::table::Columns;

/// Energies of a device's kernels; `None` if none was measured.
pub fn section(study: &DeviceStudy) -> Option<Section> {
    let rows = energies(study);
    if rows.is_empty() {
        return None;
    }
    let pairs: Vec<Pair> = study.kernels.iter().filter_map(pair).collect();
    let figures = if pairs.is_empty() {
        Vec::new()
    } else {
        vec![Figure::chart(
            &bars("Energy: measured against predicted", "J", &pairs),
            "100 % is the measured energy of each kernel. The predicted energy is split into arithmetic, data and constant power.",
        )]
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
        tables: vec![columns().table("Energies per iteration", rows)],
        ..Section::default()
    })
}

/// Kernels with a measured energy.
pub fn energies(study: &DeviceStudy) -> Vec<Energy<'_>> {
    study.kernels.iter().filter_map(energy).collect()
}

/// The table of their energies.
pub fn columns<'a>() -> Columns<'a, Energy<'a>> {
    let share = |of: fn(&EnergySplit) -> f64| move |e: &Energy| e.split.map(|s| of(s) / s.total_j);
    Columns::<Energy>::new()
        .text("kernel", "", |e| e.kernel.name.clone())
        .si("time", "median of one iteration", "s", |e| e.time_s)
        .detail()
        .si("power", "measured", "W", |e| e.measured_j / e.time_s)
        .si("energy", "median of one iteration, measured", "J", |e| {
            e.measured_j
        })
        .si(
            "predicted E",
            "counts × costs of the machine + constant power × measured time",
            "J",
            |e| e.split.map(|s| s.total_j),
        )
        .percent("error", "(predicted − measured)/measured", |e| {
            e.split.map(|s| s.total_j / e.measured_j - 1.0)
        })
        .percent(
            "arithmetic",
            "share of the predicted energy: operations",
            share(|s| s.arithmetic_j),
        )
        .percent(
            "data",
            "share of the predicted energy: bytes of all memory levels",
            share(|s| s.data_j),
        )
        .percent(
            "constant",
            "share of the predicted energy: constant power",
            share(|s| s.constant_j),
        )
        .si(
            "predicted power",
            "predicted energy / measured time",
            "W",
            |e| e.split.map(|s| s.total_j / e.time_s),
        )
        .detail()
        .si(
            "energy at the roof",
            "predicted energy of an implementation that takes the predicted time",
            "J",
            |e| e.kernel.predicted.energy_j,
        )
        .detail()
}

/// The energy of a kernel.
pub struct Energy<'a> {
    kernel: &'a KernelResult,
    /// Medians of one iteration.
    time_s: f64,
    measured_j: f64,
    /// The predicted energy by its parts.
    split: Option<&'a EnergySplit>,
}

fn energy(kernel: &KernelResult) -> Option<Energy<'_>> {
    let m = kernel.measured.as_ref()?;
    Some(Energy {
        kernel,
        time_s: m.time_s.median,
        measured_j: m.energy_j?.median,
        split: kernel.explained.as_ref(),
    })
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
