//! The facts of a device that decide which configs suit it.

use greenup_device::cuda::{CudaError, Gpu};
use greenup_device::{CpuFacts, DeviceSpec};
use greenup_space::{Facts, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What kind of device runs a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// The cores of a host.
    Cpu,
    /// A GPU.
    Gpu,
}

impl DeviceKind {
    /// Name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

/// A device, as wisdom knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// CPU or GPU.
    pub kind: DeviceKind,
    /// Model name, as the system reports it.
    pub name: String,
    /// Compute capability of a GPU, such as `sm_90`; instruction set of a CPU, such as `x86_64-avx512`; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub architecture: String,
    /// Counts and sizes by the names that search spaces use for them (`device.NAME`), bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, i64>,
}

/// Facts of an H100 with 80 GB of HBM3, as its driver reports them; older sweeps recorded only its name.
const H100: [(&str, i64); 3] = [
    ("l2_bytes", 52_428_800),
    ("multiprocessors", 132),
    ("memory_bytes", 85_029_158_912),
];

impl Device {
    /// The device of this host that computes; `None` where several share the work.
    ///
    /// # Errors
    /// There is no such GPU.
    pub fn here(device: &DeviceSpec) -> Result<Option<Self>, CudaError> {
        match device.gpu() {
            _ if device.is_shared() => Ok(None),
            None => Ok(Some(Self::of_cpu(&CpuFacts::read()))),
            Some(n) => Gpu::numbered(n).map(|gpu| Some(Self::of_gpu(&gpu))),
        }
    }

    /// The cores of this host.
    pub fn of_cpu(cpu: &CpuFacts) -> Self {
        let named = cpu.named();
        Self {
            kind: DeviceKind::Cpu,
            name: cpu.model.clone(),
            architecture: format!("{}-{}", cpu.arch, cpu.isa).to_lowercase(),
            facts: named.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
        }
    }

    /// A GPU.
    pub fn of_gpu(gpu: &Gpu) -> Self {
        let facts = gpu.named().iter().map(|(n, v)| ((*n).to_owned(), *v));
        let memory = i64::try_from(gpu.memory_bytes).unwrap_or(i64::MAX);
        Self {
            kind: DeviceKind::Gpu,
            name: gpu.name.clone(),
            architecture: gpu.arch.clone(),
            facts: facts.chain([("memory_bytes".to_owned(), memory)]).collect(),
        }
    }

    /// A GPU of which only the name and the architecture were recorded; with the facts of the models that are known.
    pub fn of_gpu_name(name: &str, architecture: &str) -> Self {
        let mut out = Self {
            kind: DeviceKind::Gpu,
            name: name.to_owned(),
            architecture: architecture.to_owned(),
            facts: BTreeMap::new(),
        };
        let Some(h200) = Gpu::known("h200") else {
            return out;
        };
        if name == h200.name || name == "NVIDIA H100 80GB HBM3" {
            out = Self {
                name: name.to_owned(),
                ..Self::of_gpu(&h200)
            };
        }
        if name != h200.name && !out.facts.is_empty() {
            out.facts.extend(H100.map(|(n, v)| (n.to_owned(), v)));
        }
        out
    }

    /// Values of `device.NAME` in the expressions of a search space.
    pub fn space_facts(&self) -> Facts {
        self.facts
            .iter()
            .map(|(n, v)| (n.clone(), Value::Int(*v)))
            .collect()
    }

    /// A fact by its name.
    pub fn fact(&self, name: &str) -> Option<i64> {
        self.facts.get(name).copied()
    }

    /// Processing units: multiprocessors of a GPU, cores of a CPU.
    pub fn units(&self) -> Option<i64> {
        self.fact(match self.kind {
            DeviceKind::Cpu => "cores",
            DeviceKind::Gpu => "multiprocessors",
        })
    }

    /// Whether both are the same model with the same number of processing units, as a part of a GPU or of a host is
    /// another device.
    pub fn same(&self, other: &Self) -> bool {
        let equal = |a: Option<i64>, b: Option<i64>| a.is_none() || b.is_none() || a == b;
        self.kind == other.kind
            && self.name == other.name
            && equal(self.units(), other.units())
            && (self.architecture.is_empty()
                || other.architecture.is_empty()
                || self.architecture == other.architecture)
    }

    /// Name and processing units.
    pub fn title(&self) -> String {
        match (self.kind, self.units()) {
            (DeviceKind::Cpu, Some(n)) => format!("{}, {n} cores", self.name),
            _ => self.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_device_is_another_device() {
        let cpu = Device::of_cpu(&CpuFacts::read());
        assert!(cpu.same(&cpu));
        assert!(cpu.architecture.contains('-'), "{}", cpu.architecture);
        let mut half = cpu.clone();
        half.facts.insert("cores".into(), 1000);
        assert!(!cpu.same(&half));
        let h100 = Device::of_gpu_name("NVIDIA H100 80GB HBM3", "sm_90");
        assert_eq!(h100.fact("l2_bytes"), Some(52_428_800));
        assert_eq!(h100.fact("shared_bytes_per_block"), Some(232_448));
        let h200 = Device::of_gpu_name("NVIDIA H200", "");
        assert_eq!(h200.architecture, "sm_90");
        assert!(!h100.same(&h200));
        assert_eq!(Device::of_gpu_name("X", "sm_1").facts.len(), 0);
    }
}
