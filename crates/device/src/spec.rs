//! Devices as text names them: the CPU, a GPU, several GPUs, or both.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Devices that compute, as `--device` names them; as text `cpu`, `cuda`, `cuda:0,1`, `cuda:all`, `cuda+cpu`, `cuda:1+cpu`,
/// `all`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceSpec {
    /// The host's cores.
    #[default]
    Cpu,
    /// One CUDA GPU: the first, or for several ranks of a host each its own.
    Gpu,
    /// These GPUs, by number from 0, as CUDA counts. A number may occur more than once: its GPU then has several shares.
    Gpus(Vec<usize>),
    /// Every GPU of the host.
    AllGpus,
    /// A GPU, the first if it has no number, and the host's cores together, which share the work.
    GpuAndCpu(Option<usize>),
    /// The host's cores and every GPU, each in turn.
    All,
}

impl FromStr for DeviceSpec {
    type Err = InvalidDevice;

    fn from_str(text: &str) -> Result<Self, InvalidDevice> {
        let one = |n: &str| n.parse().ok();
        let spec = match (text, text.strip_prefix("cuda:")) {
            ("cpu", _) => Some(Self::Cpu),
            ("cuda", _) => Some(Self::Gpu),
            ("cuda+cpu", _) => Some(Self::GpuAndCpu(None)),
            ("all", _) => Some(Self::All),
            (_, Some("all")) => Some(Self::AllGpus),
            (_, Some(numbers)) => match numbers.strip_suffix("+cpu") {
                Some(n) => one(n).map(|n| Self::GpuAndCpu(Some(n))),
                None => numbers
                    .split(',')
                    .map(one)
                    .collect::<Option<_>>()
                    .map(Self::Gpus),
            },
            _ => None,
        };
        spec.ok_or_else(|| InvalidDevice {
            text: text.to_owned(),
            usable: Usable::ONE,
        })
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Gpu => f.write_str("cuda"),
            Self::Gpus(list) => {
                let list: Vec<String> = list.iter().map(usize::to_string).collect();
                write!(f, "cuda:{}", list.join(","))
            }
            Self::AllGpus => f.write_str("cuda:all"),
            Self::GpuAndCpu(None) => f.write_str("cuda+cpu"),
            Self::GpuAndCpu(Some(n)) => write!(f, "cuda:{n}+cpu"),
            Self::All => f.write_str("all"),
        }
    }
}

impl Serialize for DeviceSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeviceSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl DeviceSpec {
    /// The numbers of the GPUs of one of the ranks of a host (its number among them, and theirs), of `gpus` that the host
    /// has; none for the CPU. Several ranks take the GPUs in turn; with fewer GPUs than ranks, ranks share.
    pub fn gpus(&self, (rank, ranks): (usize, usize), gpus: usize) -> Vec<usize> {
        let ranks = ranks.max(1);
        let list: Vec<usize> = match self {
            Self::Cpu => return Vec::new(),
            Self::Gpu => return vec![rank % gpus.max(1)],
            Self::GpuAndCpu(n) => return vec![n.unwrap_or(0)],
            Self::Gpus(list) => list.clone(),
            // Without a driver, opening the first one says what is missing.
            Self::AllGpus | Self::All => (0..gpus.max(1)).collect(),
        };
        if list.len() <= ranks {
            return list.iter().copied().cycle().nth(rank).into_iter().collect();
        }
        list.into_iter().skip(rank).step_by(ranks).collect()
    }

    /// The device of one of the ranks of a host, as [`DeviceSpec::gpus`]: the CPU, one GPU with its number, or a GPU and
    /// the cores.
    pub fn of_rank(&self, local: (usize, usize), gpus: usize) -> Self {
        match (self.is_shared(), self.gpus(local, gpus).first()) {
            (true, _) => self.clone(),
            (_, Some(n)) => Self::Gpus(vec![*n]),
            (_, None) => Self::Cpu,
        }
    }

    /// The number of its first GPU, if it has one.
    pub fn gpu(&self) -> Option<usize> {
        self.gpus((0, 1), 1).first().copied()
    }

    /// Whether it has a GPU.
    pub fn is_gpu(&self) -> bool {
        *self != Self::Cpu
    }

    /// Whether a GPU and the cores share the work.
    pub fn is_shared(&self) -> bool {
        matches!(self, Self::GpuAndCpu(_))
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

/// Which devices a command can use beside the CPU or one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usable {
    /// Several GPUs at once.
    pub several: bool,
    /// A GPU and the cores together.
    pub shared: bool,
    /// Each device in turn.
    pub all: bool,
}

impl Usable {
    /// No others.
    pub const ONE: Self = Self {
        several: false,
        shared: false,
        all: false,
    };
    /// Several GPUs that share the work.
    pub const SEVERAL: Self = Self {
        several: true,
        ..Self::ONE
    };
    /// A GPU and the cores.
    pub const SHARED: Self = Self {
        shared: true,
        ..Self::ONE
    };
    /// Several GPUs, or a GPU and the cores.
    pub const SEVERAL_OR_SHARED: Self = Self {
        shared: true,
        ..Self::SEVERAL
    };
    /// Each device in turn.
    pub const ALL: Self = Self {
        all: true,
        ..Self::ONE
    };

    /// Reads devices that the command can use.
    ///
    /// # Errors
    /// The text names no device, or one that the command cannot use.
    pub fn parse(self, text: &str) -> Result<DeviceSpec, InvalidDevice> {
        let spec = text.parse::<DeviceSpec>().ok().filter(|s| self.has(s));
        spec.ok_or_else(|| InvalidDevice {
            text: text.to_owned(),
            usable: self,
        })
    }

    /// Refuses devices that the command cannot use.
    ///
    /// # Errors
    /// It cannot use these.
    pub fn check(self, spec: &DeviceSpec) -> Result<(), InvalidDevice> {
        if self.has(spec) {
            Ok(())
        } else {
            Err(InvalidDevice {
                text: spec.to_string(),
                usable: self,
            })
        }
    }

    fn has(self, spec: &DeviceSpec) -> bool {
        match spec {
            DeviceSpec::Cpu | DeviceSpec::Gpu => true,
            DeviceSpec::Gpus(list) => self.several || list.len() == 1,
            DeviceSpec::AllGpus => self.several,
            DeviceSpec::GpuAndCpu(_) => self.shared,
            DeviceSpec::All => self.all,
        }
    }
}

/// What to use.
impl fmt::Display for Usable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.all {
            "use cpu, cuda, cuda:N or all"
        } else {
            "use cpu, cuda or cuda:N"
        })?;
        if self.several {
            f.write_str("; several GPUs: cuda:0,1 or cuda:all")?;
        }
        if self.shared {
            f.write_str("; a GPU and the cores: cuda+cpu or cuda:N+cpu")?;
        }
        Ok(())
    }
}

/// A text that names no device, or one that the command cannot use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid device `{text}`: {usable}")]
pub struct InvalidDevice {
    /// The text.
    pub text: String,
    /// What the command can use.
    pub usable: Usable,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> DeviceSpec {
        text.parse().unwrap()
    }

    #[test]
    fn devices_are_read_and_written() {
        for (text, device) in [
            ("cpu", DeviceSpec::Cpu),
            ("cuda", DeviceSpec::Gpu),
            ("cuda:all", DeviceSpec::AllGpus),
            ("cuda:12", DeviceSpec::Gpus(vec![12])),
            ("cuda:1,0", DeviceSpec::Gpus(vec![1, 0])),
            ("cuda:0,0", DeviceSpec::Gpus(vec![0, 0])),
            ("cuda+cpu", DeviceSpec::GpuAndCpu(None)),
            ("cuda:1+cpu", DeviceSpec::GpuAndCpu(Some(1))),
            ("all", DeviceSpec::All),
        ] {
            assert_eq!(text.parse(), Ok(device.clone()));
            assert_eq!(device.to_string(), text);
        }
        for text in [
            "",
            "gpu",
            "cuda:",
            "cuda:x",
            "cuda:,",
            "cuda:0,",
            "cuda:-1",
            "cuda:0,1+cpu",
            "cpu,cuda",
            "cpu+cpu",
            "cpu:0",
            "cuda+",
            "CUDA",
            "cuda:all+cpu",
        ] {
            let e = text.parse::<DeviceSpec>().unwrap_err();
            assert!(e.to_string().ends_with("use cpu, cuda or cuda:N"), "{text}");
        }
        let repeated = |text: &str| spec(text).repeated();
        assert_eq!(repeated("cuda:0,1"), [0_usize; 0]);
        assert_eq!(repeated("cuda:1,0,1,1,0"), [0, 1]);
    }

    #[test]
    fn commands_refuse_what_they_cannot_use() {
        let texts = ["cuda:1", "cuda:0,1", "cuda:all", "cuda+cpu", "all"];
        for (usable, takes, message) in [
            (Usable::ONE, [1, 0, 0, 0, 0], "cpu, cuda or cuda:N"),
            (
                Usable::SEVERAL,
                [1, 1, 1, 0, 0],
                "cuda or cuda:N; several GPUs: cuda:0,1 or cuda:all",
            ),
            (
                Usable::SHARED,
                [1, 0, 0, 1, 0],
                "cuda or cuda:N; a GPU and the cores: cuda+cpu or cuda:N+cpu",
            ),
            (
                Usable::SEVERAL_OR_SHARED,
                [1, 1, 1, 1, 0],
                "cuda:0,1 or cuda:all; a GPU and the cores: cuda+cpu or cuda:N+cpu",
            ),
            (Usable::ALL, [1, 0, 0, 0, 1], "use cpu, cuda, cuda:N or all"),
        ] {
            for (text, takes) in texts.iter().zip(takes) {
                assert_eq!(usable.parse(text).is_ok(), takes == 1, "{usable:?} {text}");
                assert_eq!(usable.check(&spec(text)).is_ok(), takes == 1);
            }
            let e = usable.parse("gpu").unwrap_err().to_string();
            assert!(
                e.starts_with("invalid device `gpu`: ") && e.ends_with(message),
                "{e}"
            );
        }
    }

    #[test]
    fn ranks_of_a_host_share_the_gpus() {
        let gpus = |text: &str, local, count| spec(text).gpus(local, count);
        assert_eq!(gpus("cpu", (0, 1), 4), [0_usize; 0]);
        assert_eq!(gpus("cuda", (0, 1), 4), [0]);
        assert_eq!(gpus("cuda", (5, 6), 4), [1]);
        assert_eq!(gpus("cuda:all", (0, 1), 3), [0, 1, 2]);
        assert_eq!(gpus("cuda:all", (1, 2), 3), [1]);
        assert_eq!(gpus("cuda:all", (0, 2), 3), [0, 2]);
        assert_eq!(gpus("cuda:2,0", (0, 1), 3), [2, 0]);
        assert_eq!(gpus("cuda:2,0", (2, 3), 3), [2]);
        assert_eq!(gpus("cuda:0,0", (0, 1), 1), [0, 0]);
        assert_eq!(gpus("cuda:all", (0, 1), 0), [0]);
        let of_rank = |text: &str| spec(text).of_rank((1, 2), 2).to_string();
        let devices = ["cpu", "cuda", "cuda:all", "cuda:1+cpu"].map(of_rank);
        assert_eq!(devices, ["cpu", "cuda:1", "cuda:1", "cuda:1+cpu"]);
        assert_eq!(spec("cuda:3,1").gpu(), Some(3));
        assert_eq!((spec("cuda").gpu(), spec("cpu").gpu()), (Some(0), None));
    }
}
