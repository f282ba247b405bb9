//! `--device` and `--ranks` of commands whose work several devices or processes share.

use super::world;
use crate::args::Device;
use crate::error::{AppError, Result};
use clap::Args;
use greenup_device::cuda::Gpu;
use greenup_ranks::{Alone, Ranks, launched, threads};
use std::fmt;
use std::str::FromStr;

/// Devices that share the work of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// The host's cores.
    #[default]
    Cpu,
    /// GPUs by number; one may be named twice.
    Gpus(Vec<usize>),
    /// All GPUs of the host.
    AllGpus,
}

/// Invalid devices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid device `{0}`: use cpu, cuda or cuda:N; several GPUs: cuda:0,1 or cuda:all")]
pub struct InvalidSharing(String);

impl FromStr for Sharing {
    type Err = InvalidSharing;

    fn from_str(text: &str) -> std::result::Result<Self, InvalidSharing> {
        let numbers = |list: &str| list.split(',').map(str::parse).collect();
        match text.split_once(':') {
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "cuda" => Ok(Self::Gpus(vec![0])),
            Some(("cuda", "all")) => Ok(Self::AllGpus),
            Some(("cuda", list)) => match numbers(list) {
                Ok(gpus) => Ok(Self::Gpus(gpus)),
                Err(_) => Err(InvalidSharing(text.to_owned())),
            },
            _ => Err(InvalidSharing(text.to_owned())),
        }
    }
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::AllGpus => f.write_str("cuda:all"),
            Self::Gpus(gpus) => {
                let numbers: Vec<String> = gpus.iter().map(ToString::to_string).collect();
                write!(f, "cuda:{}", numbers.join(","))
            }
        }
    }
}

impl Sharing {
    /// Whether it is GPUs.
    pub fn is_gpu(&self) -> bool {
        *self != Self::Cpu
    }

    /// The devices themselves.
    ///
    /// # Errors
    /// A GPU is not there, or none is.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let gpus = match self {
            Self::Cpu => return Ok(vec![Device::Cpu]),
            Self::Gpus(gpus) => gpus.clone(),
            Self::AllGpus => (0..Gpu::all()?.len()).collect(),
        };
        if gpus.is_empty() {
            return Err(AppError::new("the CUDA driver shows no GPU").hint("check `nvidia-smi -L`"));
        }
        // One alone is checked where it is opened, after all else.
        for gpu in gpus.iter().filter(|_| gpus.len() > 1) {
            crate::sensors::gpu(Some(&gpu.to_string()))?;
        }
        Ok(gpus.into_iter().map(Device::Cuda).collect())
    }
}

/// `--device` and `--ranks`.
#[derive(Args, Clone, Debug, Default)]
pub struct RanksArgs {
    /// Devices that compute; the ranks of a host take its GPUs one after the other
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda[:N,...|:all]")]
    pub device: Sharing,
    /// Number of ranks, as threads of this process; `mpirun -np N` starts them as processes [default: one for each GPU]
    #[arg(long, value_name = "N", value_parser = greenup_process::threads::parse)]
    pub ranks: Option<usize>,
}

/// The ranks of a command and their devices.
pub struct Crew {
    /// Devices of this host, of which each rank has one.
    devices: Vec<Device>,
    /// Ranks in this process.
    members: Members,
}

enum Members {
    /// Processes of a launcher, or one alone.
    Process(std::sync::Arc<dyn Ranks>),
    Threads(usize),
}

impl RanksArgs {
    /// Finds the ranks and the devices, before any work.
    ///
    /// # Errors
    /// A device is not there; MPI is missing; the ranks run different programs; `--ranks` under a launcher.
    pub fn crew(&self) -> Result<Crew> {
        let devices = self.device.devices()?;
        let members = match (launched(), self.ranks) {
            (Some(l), Some(n)) if l.size > 1 => {
                return Err(AppError::new(format!(
                    "--ranks {n}, but a launcher started {} processes, a rank each",
                    l.size
                ))
                .hint("leave out --ranks, or the launcher"));
            }
            (Some(_), _) => Members::Process(world()?),
            (None, asked) => match asked.unwrap_or(devices.len()) {
                1 => Members::Process(std::sync::Arc::new(Alone)),
                n => Members::Threads(n),
            },
        };
        let mut seen = devices.clone();
        seen.sort_unstable_by_key(|d| d.gpu());
        seen.dedup();
        if seen.len() < devices.len() {
            crate::print::note(
                "a GPU is named twice: its ranks share its time and memory, so times say nothing of two GPUs",
            );
        }
        Ok(Crew { devices, members })
    }
}

impl Crew {
    /// Number of ranks.
    pub fn size(&self) -> usize {
        match &self.members {
            Members::Process(ranks) => ranks.size(),
            Members::Threads(n) => *n,
        }
    }

    /// Whether the first rank, which prints and writes, is in this process.
    pub fn has_first(&self) -> bool {
        match &self.members {
            Members::Process(ranks) => ranks.rank() == 0,
            Members::Threads(_) => true,
        }
    }

    /// Threads of each rank, where the user may have named their number.
    pub fn threads(&self, asked: Option<usize>) -> usize {
        match &self.members {
            Members::Process(ranks) => super::threads(asked, &**ranks),
            // They share the pool of the process.
            Members::Threads(_) => super::threads(asked, &Alone),
        }
    }

    /// Does the work of each rank of this process on its device; returns what the first of them has.
    ///
    /// # Errors
    /// The error of a rank, which ends the others.
    pub fn work<T: Send>(
        &self,
        work: impl Fn(&dyn Ranks, Device) -> Result<T> + Sync,
    ) -> Result<T> {
        let one = |ranks: &dyn Ranks| {
            let device = self.devices[super::gpu(ranks, self.devices.len())];
            work(ranks, device)
        };
        match &self.members {
            Members::Process(ranks) => one(&**ranks),
            Members::Threads(n) => {
                let mut all = threads::run(*n, |ranks| one(&*ranks))?;
                Ok(all.swap_remove(0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_and_shown() {
        for text in [
            "cpu", "cuda:0", "cuda:0,1", "cuda:0,0", "cuda:3,1", "cuda:all",
        ] {
            assert_eq!(text.parse::<Sharing>().unwrap().to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Sharing::Gpus(vec![0])));
        for text in [
            "",
            "gpu",
            "cuda:",
            "cuda:x",
            "cuda:0,",
            "cpu:0",
            "cuda:0+cpu",
            "cuda:-1",
        ] {
            let e = text.parse::<Sharing>().unwrap_err().to_string();
            assert!(e.contains("cuda:all"), "{e}");
        }
    }

    #[test]
    fn ranks_as_threads_do_their_work() {
        let args = |ranks| RanksArgs {
            ranks,
            ..Default::default()
        };
        let crew = args(Some(3)).crew().unwrap();
        assert!(crew.has_first() && crew.size() == 3);
        let work = crew.work(|r, device| {
            let mut x = [1.0];
            r.sum(&mut x);
            Ok((r.rank(), device, x[0]))
        });
        assert_eq!(work.unwrap(), (0, Device::Cpu, 3.0));
        let e = crew.work(|r, _| match r.rank() {
            1 => Err(AppError::new("broken")),
            _ => {
                r.barrier();
                Ok(())
            }
        });
        assert_eq!(e.unwrap_err().message, "broken");
        assert_eq!(args(None).crew().unwrap().size(), 1);
    }
}
