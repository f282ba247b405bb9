//! NVIDIA GPUs through NVML, found at run time.

pub(crate) mod advice;
pub(crate) mod library;

use super::BusId;
use crate::sensor::OpenedSensor;
use crate::sensor::{
    DeviceState, Problem, Quantity, Reading, Sensor, SensorError, SensorInfo, now_s,
};
use greenup_setting::setting;
use library::{
    BOARD, CLOCK_MEMORY, CLOCK_SM, MEMORY, Nvml, NvmlError, POWER_AVERAGE, POWER_INSTANT,
};
use std::sync::Arc;

#[derive(Clone, Copy)]
enum NvmlReading {
    Energy,
    Instant,
    Average,
    Memory,
}

struct NvmlSensor {
    info: SensorInfo,
    nvml: Arc<Nvml>,
    index: u32,
    kind: NvmlReading,
    /// It was read before: what fails later is gone.
    answered: bool,
}

/// Four sensors a GPU: energy counter, instant power, average power, memory power.
pub fn discover() -> Vec<OpenedSensor> {
    let nvml = match init() {
        Ok(nvml) => Arc::new(nvml),
        Err(problem) => return vec![Err(problem)],
    };
    match nvml.count() {
        Ok(0) | Err(_) => vec![Err(none_seen())],
        Ok(n) => (0..n).flat_map(|i| of_gpu(&nvml, i)).collect(),
    }
}

/// The sensors of a GPU. What it does not offer points to what it does; a GPU without any is one problem.
fn of_gpu(nvml: &Arc<Nvml>, index: u32) -> Vec<OpenedSensor> {
    let kinds = [
        NvmlReading::Energy,
        NvmlReading::Instant,
        NvmlReading::Average,
        NvmlReading::Memory,
    ];
    let mut found = kinds.map(|kind| open(nvml, index, kind));
    // Memory is a part only.
    let board = (found.iter().take(3).flatten()).map(|s| s.info().id.clone());
    let other = board.into_iter().next();
    let not_offered = |p: &Problem| p.fix.is_empty();
    if found.iter().all(|f| f.as_ref().is_err_and(not_offered)) {
        return vec![Err(Problem {
            id: format!("nvml:{index}"),
            present: true,
            cause: format!("energy and power are {}", advice::NOT_OFFERED),
            fix: advice::no_sensor(),
        })];
    }
    for problem in found.iter_mut().filter_map(|f| f.as_mut().err()) {
        if not_offered(problem) {
            problem.fix = match &other {
                Some(id) => format!("none needed: this GPU has `{id}`"),
                None => advice::no_sensor(),
            };
        }
    }
    found.into()
}

/// NVML's number of a GPU, by which its sensors are called. Only [`index`] and [`first`] make one, so that no number
/// of CUDA's can be taken for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuIndex(u32);

impl GpuIndex {
    /// The number itself.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// NVML's number of the GPU that sits there.
///
/// # Errors
/// NVML is missing, or knows no such GPU.
pub fn index(bus_id: BusId) -> Result<GpuIndex, Problem> {
    find(&init()?, bus_id)
}

/// NVML's first GPU, for settings of a host where no GPU was chosen.
///
/// # Errors
/// NVML is missing, or sees no GPU.
pub fn first() -> Result<GpuIndex, Problem> {
    match init()?.count() {
        Ok(1..) => Ok(GpuIndex(0)),
        _ => Err(none_seen()),
    }
}

/// The GPU of a host that has one alone.
pub fn only() -> Option<BusId> {
    let nvml = Nvml::init().ok()?;
    if nvml.count().ok()? != 1 {
        return None;
    }
    nvml.device(0).ok()?.bus_id().ok()?.parse().ok()
}

fn find(nvml: &Nvml, bus_id: BusId) -> Result<GpuIndex, Problem> {
    nvml.device_at(&bus_id.to_string())
        .and_then(|d| d.index())
        .map(GpuIndex)
        .map_err(|e| Problem {
            id: "nvml".into(),
            present: true,
            cause: format!("NVML does not know the GPU at {bus_id}: {e}"),
            fix: format!(
                "compare `nvidia-smi -L` with the GPUs that CUDA shows; `{}` measures time alone",
                setting("sensor").to("none")
            ),
        })
}

fn init() -> Result<Nvml, Problem> {
    Nvml::init().map_err(|e| {
        let missing = matches!(e, NvmlError::Missing(_));
        let advice = advice::advice(&e);
        Problem {
            id: "nvml".into(),
            present: !missing,
            cause: advice.cause,
            fix: advice
                .fix
                .unwrap_or("check the driver with `nvidia-smi`")
                .into(),
        }
    })
}

fn none_seen() -> Problem {
    Problem {
        id: "nvml".into(),
        present: true,
        cause: "NVML sees no GPU".into(),
        fix: "check `nvidia-smi -L`".into(),
    }
}

fn open(nvml: &Arc<Nvml>, index: u32, kind: NvmlReading) -> OpenedSensor {
    let (what, scope, quantity, average_s) = match kind {
        NvmlReading::Energy => (
            "energy",
            "GPU board, energy counter",
            Quantity::Energy,
            None,
        ),
        NvmlReading::Instant => ("instant", "GPU board, instant power", Quantity::Power, None),
        NvmlReading::Average => (
            "average",
            "GPU board, power averaged over 1 s",
            Quantity::Power,
            Some(1.0),
        ),
        NvmlReading::Memory => (
            "memory",
            "GPU memory, average power",
            Quantity::Power,
            Some(1.0),
        ),
    };
    let name = nvml
        .device(index)
        .and_then(|d| d.name())
        .unwrap_or_else(|_| "GPU".into());
    let id = format!("nvml:{index}:{what}");
    let group = if matches!(kind, NvmlReading::Memory) {
        format!("gpu-{index}-memory")
    } else {
        format!("gpu-{index}")
    };
    let mut sensor = NvmlSensor {
        info: SensorInfo {
            id: id.clone(),
            scope: format!("{name}: {scope}"),
            quantity,
            average_s,
            // ±5 % is what NVIDIA states; it cancels in ratios on one board.
            gain_error: Some(0.05),
            group,
        },
        nvml: nvml.clone(),
        index,
        kind,
        answered: false,
    };
    match sensor.value() {
        Ok(_) => {
            sensor.answered = true;
            Ok(Box::new(sensor))
        }
        Err(e) => {
            let advice = advice::advice(&e);
            Err(Problem {
                id,
                // What the GPU does not offer is not there.
                present: advice.fix.is_some(),
                cause: advice.cause,
                fix: advice.fix.unwrap_or_default().to_owned(),
            })
        }
    }
}

impl NvmlSensor {
    fn value(&self) -> Result<f64, NvmlError> {
        let device = self.nvml.device(self.index)?;
        match self.kind {
            NvmlReading::Energy => device.energy_j(),
            NvmlReading::Average => device.power_w(),
            NvmlReading::Instant => device.field_w(POWER_INSTANT, BOARD),
            NvmlReading::Memory => device.field_w(POWER_AVERAGE, MEMORY),
        }
    }
}

impl Sensor for NvmlSensor {
    fn info(&self) -> &SensorInfo {
        &self.info
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        let value = self.value().map_err(|e| {
            let id = self.info.id.clone();
            let cause = advice::advice(&e).cause;
            if self.answered {
                SensorError::Gone { id, cause }
            } else {
                SensorError::Failed { id, cause }
            }
        })?;
        // A counter read blocks for milliseconds: the value is that of its return.
        Ok(Reading {
            at_s: now_s(),
            value,
        })
    }

    fn state(&mut self) -> DeviceState {
        let Ok(device) = self.nvml.device(self.index) else {
            return DeviceState::default();
        };
        DeviceState {
            clock_hz: device.clock_hz(CLOCK_SM).ok(),
            mem_clock_hz: device.clock_hz(CLOCK_MEMORY).ok(),
            temperature_c: device.temperature_c().ok(),
            power_limit_w: device.enforced_limit_w().ok(),
            throttle: device.throttle().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The stand-in for NVML's library with this many GPUs.
    fn stand_in(dir: &std::path::Path, gpus: u32, more: &[&str]) -> Nvml {
        let library = dir.join("libnvidia-ml.so.1");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-w", "-o"])
            .arg(&library)
            .arg(format!("-DGPUS={gpus}"))
            .args(more)
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../cli/tests/data/fake/nvml.c"
            ))
            .status()
            .unwrap();
        assert!(built.success());
        Nvml::at(library.as_ref()).unwrap()
    }

    #[test]
    fn gpus_are_found_by_place_not_by_number() {
        let dir = tempfile::tempdir().unwrap();
        let nvml = stand_in(dir.path(), 2, &[]);
        // The stand-in counts from the highest place down.
        for (place, number) in [("0000:02:00.0", 0), ("0000:01:00.0", 1)] {
            assert_eq!(find(&nvml, place.parse().unwrap()).unwrap().get(), number);
        }
        let e = find(&nvml, "0000:07:00.0".parse().unwrap()).unwrap_err();
        assert!(e.cause.contains("00000000:07:00.0"), "{e:?}");
    }

    /// Sensors of a GPU whose calls answer with codes.
    fn answers(codes: &[&str]) -> Vec<OpenedSensor> {
        let dir = tempfile::tempdir().unwrap();
        of_gpu(&Arc::new(stand_in(dir.path(), 1, codes)), 0)
    }

    fn problems(found: &[OpenedSensor]) -> Vec<&Problem> {
        found.iter().filter_map(|f| f.as_ref().err()).collect()
    }

    #[test]
    fn a_gpu_without_sensors_is_one_problem_and_not_a_circle_of_fixes() {
        let found = answers(&["-DENERGY=3", "-DPOWER=3", "-DFIELDS=3"]);
        let all = problems(&found);
        assert_eq!((found.len(), all.len()), (1, 1), "{all:?}");
        assert_eq!(all[0].id, "nvml:0");
        assert!(all[0].cause.contains("not offered by this GPU"), "{all:?}");
        assert!(all[0].fix.contains("external"), "{all:?}");
        // What is not offered points to what is.
        let found = answers(&["-DENERGY=3", "-DFIELDS=3"]);
        let all = problems(&found);
        assert_eq!((found.len(), all.len()), (4, 3), "{all:?}");
        for p in all {
            assert!(
                p.fix.contains("none needed: this GPU has `nvml:0:average`"),
                "{p:?}"
            );
            assert!(!p.present && p.cause == "not offered by this GPU");
        }
    }

    #[test]
    fn errors_are_told_by_their_code() {
        for (code, cause, fix) in [
            (4, "may not read it", "root"),
            (15, "fell off the bus", "Xid"),
            (16, "must be reset", "gpu-reset"),
            (18, "different versions", "restart"),
            (999, "NVML error 999", "dmesg"),
            (77, "NVML error 77: fake", "nvidia-smi"),
        ] {
            let found = answers(&[&format!("-DENERGY={code}")]);
            let all = problems(&found);
            assert_eq!(all.len(), 1, "{code}: {all:?}");
            assert!(all[0].cause.contains(cause), "{code}: {all:?}");
            assert!(
                all[0].fix.contains(fix) && !all[0].cause.contains("gone"),
                "{all:?}"
            );
        }
    }
}
