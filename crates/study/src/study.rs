//! The run over all devices, and its results.

use super::error::StudyError;
use crate::cpu::{self, CpuOptions};
use crate::device::DeviceStudy;
use crate::gpu::{self, GpuOptions};
use crate::stopwatch::Stopwatch;
use greenup_device::CpuFacts;
use greenup_files::Journal;
use greenup_meter::Observer;
use greenup_model::Machine;
use greenup_process::interrupt::Saving;
use greenup_report::provenance::Provenance;
use std::collections::BTreeMap;

/// Settings of a study.
pub struct StudyOptions {
    /// The host's cores; `None` to leave them out.
    pub cpu: Option<CpuOptions>,
    /// The GPUs.
    pub gpus: Vec<GpuOptions>,
    /// Devices that are present and cannot be studied, and why.
    pub missing: Vec<String>,
    /// A published machine for energy predictions if no sensor measures energy.
    pub assume: Option<Machine>,
    /// Stored with the results.
    pub provenance: Provenance,
}

impl StudyOptions {
    /// Estimated duration, s.
    pub fn seconds(&self) -> f64 {
        let cores = CpuFacts::read().cores.len();
        self.cpu.as_ref().map_or(0.0, |c| c.seconds(cores))
            + self.gpus.iter().map(GpuOptions::seconds).sum::<f64>()
    }

    /// Names of the devices in the order of their study: `cpu`, `cuda:0`, ….
    pub fn devices(&self) -> Vec<String> {
        let cpu = self.cpu.iter().map(|_| "cpu".to_owned());
        cpu.chain(self.gpus.iter().map(GpuOptions::device))
            .collect()
    }
}

/// The results of a study.
#[derive(Debug)]
pub struct Study {
    /// Results of each device; at least one.
    pub devices: Vec<DeviceStudy>,
    /// Devices without results, and why.
    pub missing: Vec<String>,
    /// The published machine for energy predictions.
    pub assume: Option<Machine>,
    /// Whether the user interrupted the study.
    pub interrupted: bool,
    /// Where, when and by which command it was made.
    pub provenance: Provenance,
    /// Extend the time to write the results after an interrupted calibration; else none.
    pub saving: Vec<Saving>,
}

/// Journals that store the measurements on disk until the results are written.
pub struct Journals {
    /// Records of the calibrations, CSV, by the names of their devices.
    pub records: BTreeMap<String, Journal>,
    /// Results of the kernels, one JSON object per line.
    pub kernels: Journal,
}

impl Journals {
    /// The first journal with a record.
    pub fn with_records(&self) -> Option<&Journal> {
        self.records.values().find(|j| j.lines() > 0)
    }

    /// Removes them: their lines stand elsewhere. Those of devices without results stay.
    pub fn done(self, study: &Study) {
        for (device, journal) in self.records {
            if study.devices.iter().any(|d| d.device == device) {
                journal.done();
            }
        }
        self.kernels.done();
    }
}

/// Studies each device in turn. A GPU that fails is missing from the results, with the reason; the rest is kept.
///
/// # Errors
/// The study of the CPU failed, or that of every GPU without one of the CPU.
pub fn run(
    options: &mut StudyOptions,
    observer: &dyn Observer,
    kept: &mut Journals,
) -> Result<Study, StudyError> {
    let command = options.provenance.command.clone();
    let assume = options.assume.clone();
    let mut missing = std::mem::take(&mut options.missing);
    let mut devices = Vec::new();
    let mut saving = Vec::new();
    let mut durations = Vec::new();
    if let Some(cpu) = &mut options.cpu
        && let Some(journal) = kept.records.get_mut("cpu")
    {
        let watch = Stopwatch::new(observer, "cpu");
        let (device, time) = cpu::run(
            cpu,
            assume.as_ref(),
            &command,
            &watch,
            journal,
            &mut kept.kernels,
        )?;
        durations.extend(watch.durations());
        saving.extend(time);
        devices.push(device);
    }
    for gpu in &mut options.gpus {
        let name = gpu.device();
        let Some(journal) = kept.records.get_mut(&name) else {
            continue;
        };
        if observer.cancelled() {
            missing.push(format!("{name}: interrupted before its study"));
            continue;
        }
        let watch = Stopwatch::new(observer, &name);
        let found = gpu::run(
            gpu,
            assume.as_ref(),
            &command,
            &watch,
            journal,
            &mut kept.kernels,
        );
        durations.extend(watch.durations());
        match found {
            Ok((device, time)) => {
                saving.extend(time);
                devices.push(device);
            }
            // Alone, it is the command that was interrupted.
            Err(StudyError::Nothing) if devices.is_empty() => return Err(StudyError::Nothing),
            Err(why) => missing.push(format!("{}: {why}", gpu.device())),
        }
    }
    if devices.is_empty() {
        return Err(StudyError::NoDevice(missing.join("; ")));
    }
    let mut provenance = options.provenance.clone();
    for (stage, seconds) in durations {
        provenance.took(&stage, seconds);
    }
    Ok(Study {
        interrupted: observer.cancelled() || devices.iter().any(|d| d.interrupted),
        devices,
        missing,
        assume,
        provenance,
        saving,
    })
}
