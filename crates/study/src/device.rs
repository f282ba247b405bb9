//! What a study found on one device.

use crate::result::KernelResult;
use crate::tuned::{Tuning, TuningError};
use greenup_calibrate::suite::Calibration;
use greenup_calibrate::suite::noise::Noise;
use greenup_calibrate::{Fit, Record};
use greenup_device::CpuFacts;
use greenup_device::cuda::Gpu;
use greenup_model::Machine;
use serde_json::{Value, json};

/// The device itself.
#[derive(Debug)]
pub enum Hardware {
    /// The host's cores, with their calibration.
    Cpu {
        /// Properties of the host.
        facts: Box<CpuFacts>,
        /// Measurements of the calibration.
        calibration: Box<Calibration>,
    },
    /// A GPU.
    Gpu(Box<Gpu>),
}

/// What a study found on one device.
#[derive(Debug)]
pub struct DeviceStudy {
    /// `cpu` or `cuda:N`.
    pub device: String,
    /// The device itself.
    pub hardware: Hardware,
    /// The calibrated machine model.
    pub machine: Machine,
    /// The fit of the model to the calibration.
    pub fit: Fit,
    /// Records of the calibration that the fit uses.
    pub records: Vec<Record>,
    /// Name of the main energy sensor; `None` without one.
    pub sensor: Option<String>,
    /// Why there is no sensor.
    pub no_sensor: Option<String>,
    /// Results of the kernels, in the order of measurement.
    pub kernels: Vec<KernelResult>,
    /// The tuning run, or its error; `None` if it was not requested or the study was interrupted.
    pub tuning: Option<Result<Tuning, TuningError>>,
    /// What disturbed the device while it was measured, and what was repeated.
    pub noise: Noise,
    /// What could not be measured, and why.
    pub missing: Vec<String>,
    /// Whether the user interrupted its study.
    pub interrupted: bool,
}

impl DeviceStudy {
    /// Model of the device.
    pub fn model(&self) -> &str {
        match &self.hardware {
            Hardware::Cpu { facts, .. } => &facts.model,
            Hardware::Gpu(gpu) => &gpu.name,
        }
    }

    /// Whether it is a GPU.
    pub fn is_gpu(&self) -> bool {
        matches!(self.hardware, Hardware::Gpu(_))
    }

    /// `STEM.ENDING` of the CPU, `STEM-cuda0.ENDING` of a GPU: name of a file of this device.
    pub fn file(&self, stem: &str, ending: &str) -> String {
        format!("{stem}{}.{ending}", suffix(&self.device))
    }

    /// A name in the page, as `NAME` of the CPU or `NAME-cuda0` of a GPU.
    pub fn anchor(&self, name: &str) -> String {
        format!("{name}{}", suffix(&self.device))
    }

    /// The device in `summary.json`.
    pub fn summary(&self) -> Value {
        let kernels: Vec<Value> = self
            .kernels
            .iter()
            .map(|k| {
                let m = k.measured.as_ref();
                json!({
                    "name": k.name,
                    "time_s": m.map(|m| m.time_s.median),
                    "energy_j": m.and_then(|m| m.energy_j).map(|e| e.median),
                    "power_w": m.and_then(|m| m.power_w).map(|p| p.median),
                    "disturbed": k.disturbed,
                    "predicted_time_s": k.predicted.time_s,
                    "predicted_energy_j": k.explained.as_ref().map(|e| e.total_j),
                    "energy_split": k.explained,
                    "library": k.library,
                })
            })
            .collect();
        json!({
            "name": self.model(),
            "device": self.device,
            "kind": if self.is_gpu() { "gpu" } else { "cpu" },
            "energy": self.sensor.is_some(),
            "sensor": self.sensor,
            "disturbed": self.noise.disturbed,
            "repeated": self.noise.repeated,
            "not_clean": self.noise.not_clean,
            "noise": {
                "others_share": self.noise.others_share,
                "stolen_share": self.noise.stolen_share,
                "slow_share": self.noise.slow_share,
            },
            "machine": self.machine,
            "fit_errors": { "time": self.fit.time_errors, "energy": self.fit.energy_errors },
            "kernels": kernels,
            "tuning": self.tuning.as_ref().and_then(|t| t.as_ref().ok()),
            "tuning_found": self.tuning.as_ref().and_then(|t| Some(t.as_ref().ok()?.describe())),
            "missing": self.missing,
            "interrupted": self.interrupted,
        })
    }
}

/// What names of files and parts of a page end in for a device: nothing for the CPU.
pub fn suffix(device: &str) -> String {
    match device {
        "cpu" => String::new(),
        gpu => format!("-{}", gpu.replace(':', "")),
    }
}
