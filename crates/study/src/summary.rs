//! The results of a study as data: `summary.json`.

use crate::device::Hardware;
use crate::study::Study;
use serde_json::{Value, json};

/// Everything that the page shows. The keys outside of `devices` are those of the first device, which is the CPU unless
/// only GPUs were studied.
pub fn summary(study: &Study) -> Value {
    let first = study.devices.first();
    let (facts, calibration) = match first.map(|d| &d.hardware) {
        Some(Hardware::Cpu { facts, calibration }) => (Some(facts), Some(calibration)),
        _ => (None, None),
    };
    json!({
        "greenup": env!("CARGO_PKG_VERSION"),
        "command": study.provenance.command,
        "provenance": study.provenance,
        "interrupted": study.interrupted,
        "devices": study.devices.iter().map(|d| d.summary()).collect::<Vec<_>>(),
        "missing": study.missing,
        "cpu": facts,
        "sensor": first.and_then(|d| d.sensor.as_ref()),
        "machine": first.map(|d| &d.machine),
        "peaks": calibration.map(|c| &c.peaks),
        "clock_hz": calibration.map(|c| c.clock_hz),
        "drift": calibration.map(|c| c.drift),
        "fit_errors": first.map(|d| json!({ "time": d.fit.time_errors, "energy": d.fit.energy_errors })),
        "validation": first.map(|d| &d.fit.validation),
        "kernels": first.map(|d| &d.kernels),
        "tuning": first.and_then(|d| d.tuning.as_ref()).and_then(|t| t.as_ref().ok()),
        "assumed_machine": study.assume.as_ref().map(|m| json!({ "name": m.name, "label": m.label })),
    })
}
