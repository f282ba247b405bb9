//! The energy of the kernels: measured, predicted, and where it goes.

use crate::device::DeviceStudy;
use crate::energy::EnergySplit;
use crate::result::KernelResult;
use greenup_report::bar_figure::{self, Part};
use greenup_report::table::Columns;

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

/// The measured energy of a kernel next to the parts of the predicted one.
pub fn parts(k: &KernelResult) -> Option<bar_figure::Energy> {
    let e = k.measured.as_ref()?.energy_j?;
    let split = k.explained.as_ref()?;
    let part = |name: &str, value: f64| Part {
        name: name.to_owned(),
        value,
    };
    Some(bar_figure::Energy {
        measured: (e.median, e.lo, e.hi),
        parts: vec![
            part("arithmetic", split.arithmetic_j),
            part("data", split.data_j),
            part("constant power", split.constant_j),
        ],
    })
}
