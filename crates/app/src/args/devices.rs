//! Devices as `--device` names them: one, several GPUs that share work, or each in turn.

use clap::Args;
use std::fmt;
use std::str::FromStr;

/// A device that computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The host's cores.
    #[default]
    Cpu,
    /// A CUDA GPU by its number, from 0, as CUDA counts.
    Cuda(usize),
    /// A CUDA GPU and the host's cores together, which share the work.
    CudaAndCpu(usize),
}

/// An invalid device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid device `{0}`: use cpu, cuda or cuda:N")]
pub struct InvalidDevice(String);

impl FromStr for Device {
    type Err = InvalidDevice;

    fn from_str(text: &str) -> std::result::Result<Self, InvalidDevice> {
        let invalid = || InvalidDevice(text.to_owned());
        let (gpu, cpu) = match text.strip_suffix("+cpu") {
            Some(gpu) => (gpu, true),
            None => (text, false),
        };
        let number = match gpu.split_once(':') {
            None if gpu == "cpu" && !cpu => return Ok(Self::Cpu),
            None if gpu == "cuda" => 0,
            Some(("cuda", n)) => n.parse().map_err(|_| invalid())?,
            _ => return Err(invalid()),
        };
        Ok(if cpu {
            Self::CudaAndCpu(number)
        } else {
            Self::Cuda(number)
        })
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(n) => write!(f, "cuda:{n}"),
            Self::CudaAndCpu(n) => write!(f, "cuda:{n}+cpu"),
        }
    }
}

impl Device {
    /// The number of its GPU, if it has one.
    pub fn gpu(self) -> Option<usize> {
        match self {
            Self::Cpu => None,
            Self::Cuda(n) | Self::CudaAndCpu(n) => Some(n),
        }
    }
}

/// `--device`, for commands that run on one device.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct DeviceArg {
    /// Device that computes
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda[:N]", value_parser = single_device)]
    pub device: Device,
}

/// Parses one device: `cpu`, `cuda` or `cuda:N`.
///
/// # Errors
/// The name is unknown, or is `cuda:N+cpu`.
pub fn single_device(text: &str) -> std::result::Result<Device, InvalidDevice> {
    match text.parse()? {
        Device::CudaAndCpu(_) => Err(InvalidDevice(text.to_owned())),
        device => Ok(device),
    }
}

/// The devices of a command that can spread its work over several GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceSet {
    /// The host's cores.
    #[default]
    Cpu,
    /// One GPU: the first, or for several ranks of a host each its own.
    Gpu,
    /// These GPUs, by number. A number may occur more than once: its GPU then has several shares.
    Gpus(Vec<usize>),
    /// Every GPU of the host.
    AllGpus,
}

/// An invalid list of devices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid device `{0}`: use cpu, cuda or cuda:N; several GPUs: cuda:0,1 or cuda:all")]
pub struct InvalidDeviceSet(String);

impl FromStr for DeviceSet {
    type Err = InvalidDeviceSet;

    fn from_str(text: &str) -> std::result::Result<Self, InvalidDeviceSet> {
        match (text, text.strip_prefix("cuda:")) {
            ("cpu", _) => Ok(Self::Cpu),
            ("cuda", _) => Ok(Self::Gpu),
            (_, Some("all")) => Ok(Self::AllGpus),
            (_, Some(list)) => {
                let numbers: std::result::Result<_, _> = list.split(',').map(str::parse).collect();
                numbers
                    .map(Self::Gpus)
                    .map_err(|_| InvalidDeviceSet(text.to_owned()))
            }
            _ => Err(InvalidDeviceSet(text.to_owned())),
        }
    }
}

impl fmt::Display for DeviceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Gpu => f.write_str("cuda"),
            Self::AllGpus => f.write_str("cuda:all"),
            Self::Gpus(list) => {
                let list: Vec<String> = list.iter().map(usize::to_string).collect();
                write!(f, "cuda:{}", list.join(","))
            }
        }
    }
}

impl DeviceSet {
    /// The numbers of the GPUs of one of the ranks of a host (`local`: its number among them and theirs), of `gpus` that
    /// the host has; none for the CPU. Several ranks take the GPUs in turn; with fewer GPUs than ranks, ranks share.
    pub fn gpus(&self, (rank, ranks): (usize, usize), gpus: usize) -> Vec<usize> {
        let ranks = ranks.max(1);
        let list: Vec<usize> = match self {
            Self::Cpu => return Vec::new(),
            Self::Gpu => return vec![rank % gpus.max(1)],
            Self::Gpus(list) => list.clone(),
            Self::AllGpus => (0..gpus.max(1)).collect(),
        };
        if list.len() <= ranks {
            return list.iter().copied().cycle().nth(rank).into_iter().collect();
        }
        list.into_iter().skip(rank).step_by(ranks).collect()
    }

    /// Whether it is GPUs.
    pub fn is_gpu(&self) -> bool {
        *self != Self::Cpu
    }

    /// GPUs that occur more than once.
    pub fn repeated(&self) -> Vec<usize> {
        let Self::Gpus(list) = self else {
            return Vec::new();
        };
        let mut again: Vec<usize> = list
            .iter()
            .enumerate()
            .filter(|(n, gpu)| list[..*n].contains(gpu))
            .map(|(_, gpu)| *gpu)
            .collect();
        again.sort_unstable();
        again.dedup();
        again
    }
}

/// `--device`, for commands that can spread their work over several GPUs.
#[derive(Args, Clone, Debug, Default)]
pub struct DeviceSetArg {
    /// Device that computes, or several GPUs that share the work
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda[:N,M,...|:all]")]
    pub device: DeviceSet,
}

/// The devices of a command that can work on each in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Devices {
    /// The host's cores and every GPU.
    #[default]
    All,
    /// One of them.
    One(Device),
}

/// Parses `cpu`, `cuda`, `cuda:N` or `all`.
///
/// # Errors
/// The name is unknown, or is `cuda:N+cpu`.
pub fn devices(text: &str) -> std::result::Result<Devices, InvalidDevices> {
    match text {
        "all" => Ok(Devices::All),
        one => single_device(one)
            .map(Devices::One)
            .map_err(|InvalidDevice(name)| InvalidDevices(name)),
    }
}

/// Invalid devices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid device `{0}`: use cpu, cuda, cuda:N or all")]
pub struct InvalidDevices(String);

impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::One(device) => device.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_gpus_are_read_and_written() {
        for (text, set) in [
            ("cpu", DeviceSet::Cpu),
            ("cuda", DeviceSet::Gpu),
            ("cuda:all", DeviceSet::AllGpus),
            ("cuda:3", DeviceSet::Gpus(vec![3])),
            ("cuda:1,0", DeviceSet::Gpus(vec![1, 0])),
            ("cuda:0,0", DeviceSet::Gpus(vec![0, 0])),
        ] {
            assert_eq!(text.parse(), Ok(set.clone()));
            assert_eq!(set.to_string(), text);
        }
        for text in [
            "",
            "gpu",
            "cuda:",
            "cuda:,",
            "cuda:0,",
            "cuda:-1",
            "cuda:0+cpu",
            "all",
            "cpu,cuda",
        ] {
            let e = text.parse::<DeviceSet>().unwrap_err();
            assert!(e.to_string().contains("cuda:all"), "{text}");
        }
        let repeated = |text: &str| text.parse::<DeviceSet>().unwrap().repeated();
        assert_eq!(repeated("cuda:0,1"), [0_usize; 0]);
        assert_eq!(repeated("cuda:1,0,1,1,0"), [0, 1]);
    }

    #[test]
    fn ranks_of_a_host_share_the_gpus() {
        let gpus = |text: &str, local, count| text.parse::<DeviceSet>().unwrap().gpus(local, count);
        assert_eq!(gpus("cpu", (0, 1), 4), [0_usize; 0]);
        assert_eq!(gpus("cuda", (0, 1), 4), [0]);
        assert_eq!(gpus("cuda", (5, 6), 4), [1]);
        assert_eq!(gpus("cuda:all", (0, 1), 3), [0, 1, 2]);
        assert_eq!(gpus("cuda:all", (1, 2), 3), [1]);
        assert_eq!(gpus("cuda:all", (0, 2), 3), [0, 2]);
        assert_eq!(gpus("cuda:2,0", (0, 1), 3), [2, 0]);
        assert_eq!(gpus("cuda:2,0", (2, 3), 3), [2]);
        assert_eq!(gpus("cuda:0,0", (0, 1), 1), [0, 0]);
        // Without a GPU, opening the first one says what is missing.
        assert_eq!(gpus("cuda:all", (0, 1), 0), [0]);
    }

    #[test]
    fn devices_are_read_and_written() {
        for (text, device) in [
            ("cpu", Device::Cpu),
            ("cuda:0", Device::Cuda(0)),
            ("cuda:12", Device::Cuda(12)),
            ("cuda:1+cpu", Device::CudaAndCpu(1)),
        ] {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        assert_eq!("cuda+cpu".parse(), Ok(Device::CudaAndCpu(0)));
        for text in [
            "", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu+cpu", "cpu:0", "cuda+", "CUDA",
        ] {
            let e = text.parse::<Device>().unwrap_err();
            assert!(e.to_string().contains("use cpu, cuda or cuda:N"), "{text}");
        }
        assert!(single_device("cuda+cpu").is_err() && single_device("cuda").is_ok());
        assert_eq!(devices("all"), Ok(Devices::All));
        assert_eq!(devices("cuda"), Ok(Devices::One(Device::Cuda(0))));
        assert!(devices("cuda:0+cpu").is_err() && devices("both").is_err());
    }
}
