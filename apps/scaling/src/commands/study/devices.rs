//! What a study of scaling compares: GPUs, or ranks on the host's cores.

use super::args::StudyArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{present, print, study};
use greenup_device::cuda::Gpu;
use greenup_device::{CpuFacts, DeviceSpec};

pub struct Devices {
    /// GPUs with their numbers; none for ranks.
    pub gpus: Vec<(usize, Gpu)>,
    pub name: String,
    /// What is left out.
    pub missing: Vec<String>,
}

impl Devices {
    pub fn find(named: &DeviceSpec) -> Result<Self> {
        let found = present::find(named)?;
        if let DeviceSpec::Gpus(list) = named
            && list[0] > 0
        {
            return Err(AppError::new(format!(
                "--device {named} is one GPU: there is nothing to compare"
            ))
            .hint(
                "it takes all GPUs; `--device cpu` takes ranks, CUDA_VISIBLE_DEVICES chooses GPUs",
            ));
        }
        let name = match found.gpus.first() {
            Some(gpu) => gpu.name.clone(),
            None => CpuFacts::read().model,
        };
        let gpus = match named {
            // `cuda` stands for all GPUs here.
            DeviceSpec::Gpu | DeviceSpec::Gpus(_) => Gpu::all()?,
            _ => found.gpus,
        };
        let gpus = (gpus.into_iter())
            .filter_map(|g| Some((usize::try_from(g.ordinal).ok()?, g)))
            .collect();
        let missing = found.missing;
        Ok(Self {
            gpus,
            name,
            missing,
        })
    }

    pub fn numbers(&self) -> Vec<usize> {
        self.gpus.iter().map(|g| g.0).collect()
    }

    /// The numbers of devices, of the user or 1, 2, 4, … and the largest.
    pub fn counts(&self, args: &StudyArgs) -> Result<Vec<usize>> {
        let gpus = self.gpus.len();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let all = if gpus == 0 { cores } else { gpus };
        let mut counts = match args.counts.as_slice() {
            [] => study::counts(args.max.unwrap_or(all)),
            some => [&[1], some].concat(),
        };
        counts.sort_unstable();
        counts.dedup();
        let most = counts.last().copied().unwrap_or(1);
        if gpus > 0 && most > all {
            let flag = if args.counts.is_empty() {
                "--max"
            } else {
                "--counts"
            };
            return Err(AppError::new(format!(
                "{flag} {most}: there are {all} GPUs"
            )));
        }
        if gpus == 0 && most > cores {
            print::warn(format!(
                "{most} ranks of one thread on {cores} cores: they wait for each other"
            ));
        }
        Ok(counts)
    }
}
