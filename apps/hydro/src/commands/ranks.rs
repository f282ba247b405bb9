//! A run by several ranks: their engines, and what all must know after a step.

use crate::commands::run;
use crate::commands::settings::Settings;
use greenup_app::args::{Device, DeviceSet};
use greenup_app::ranks::{RanksArg, Team};
use greenup_app::{AppError, Result, interrupt, print};
use greenup_device::cuda::Gpu as Found;
use greenup_hydro::HydroError;
use greenup_hydro::cpu::{Cpu, FullAssembly, PartialAssembly, RankSums};
use greenup_hydro::engine::{Engine, State};
use greenup_hydro::gpu::{Gpu, RankPart};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::part::local::Map;
use greenup_hydro::part::{Halo, Partition, Ranked};
use greenup_ranks::Ranks;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs `work` on each rank of this process: those of a launcher, `--ranks` threads, or one.
pub fn on_all(s: &Settings, work: impl Fn(&Arc<dyn Ranks>) -> Result + Sync) -> Result {
    let asked = greenup_process::threads::check(s.threads.unwrap_or(1));
    asked.map_err(|e| AppError::new(format!("threads: {e}")))?;
    let set: Option<DeviceSet> = s.device().parse().ok();
    let usual = set.as_ref().map_or(1, |set| match set {
        DeviceSet::AllGpus | DeviceSet::Gpus(_) => set.gpus((0, 1), gpus()).len(),
        DeviceSet::Cpu | DeviceSet::Gpu => 1,
    });
    let team = RanksArg { ranks: s.ranks }.team(usual)?;
    if set.is_some_and(|set| !set.repeated().is_empty()) {
        print::note(format!(
            "--device {}: ranks on the same GPU share its time, so times say nothing of several GPUs",
            s.device()
        ));
    }
    team.run(|ranks| {
        let threads = match &team {
            Team::World(_) => greenup_app::ranks::threads(s.threads, &**ranks),
            Team::Threads(n) => {
                let cores = std::thread::available_parallelism().map_or(1, usize::from);
                (s.threads.unwrap_or(cores) / n).max(1)
            }
        };
        in_a_pool(threads, || work(ranks))
    })
}

/// Number of GPUs of this host.
fn gpus() -> usize {
    // Without a driver, opening the first one says what is missing.
    Found::all().map_or(0, |all| all.len())
}

/// The device of a rank: ranks of a host take its GPUs in turn.
pub fn device(s: &Settings, ranks: &dyn Ranks) -> Result<Device> {
    let single = s.device().parse::<Device>();
    match s.device().parse::<DeviceSet>() {
        Ok(DeviceSet::Cpu) => Ok(Device::Cpu),
        Ok(DeviceSet::Gpu) if ranks.size() == 1 => Ok(single?),
        Ok(set) => {
            let own = set.gpus(ranks.local(), gpus());
            Ok(own.first().map_or(Device::Cpu, |n| Device::Cuda(*n)))
        }
        Err(several) if s.device().contains(',') => Err(several.into()),
        Err(_) => Ok(single?),
    }
}

/// Inside a pool, tasks start without waking a thread.
fn in_a_pool(threads: usize, work: impl FnOnce() -> Result + Send) -> Result {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| AppError::new(format!("{threads} threads cannot be started: {e}")))?
        .install(work)
}

/// Checks settings that ranks do not have.
pub fn check(s: &Settings, ranks: &dyn Ranks) -> Result {
    if ranks.size() == 1 && !s.reproducible {
        return Ok(());
    }
    let what = match ranks.size() {
        1 => "--reproducible".to_owned(),
        n => format!("{n} ranks"),
    };
    let device = device(s, ranks)?;
    if s.reproducible && device.gpu().is_some() {
        return Err(AppError::new("--reproducible does not work on GPUs")
            .hint("use --device cpu; without it, sums of any number of GPUs differ by rounding"));
    }
    let shared = matches!(device, Device::CudaAndCpu(_));
    for (flag, set, fix) in [
        (
            "--device cuda+cpu",
            shared,
            "use --device cuda or cuda:all: each rank has a GPU",
        ),
        ("--tune", s.tune, "tune one rank"),
        ("--profile", s.profile, "profile one rank"),
    ] {
        if set {
            return Err(AppError::new(format!("{flag} does not work with {what}")).hint(fix));
        }
    }
    Ok(())
}

/// The engine of a rank, and its problem: of the whole on the first rank, which writes, else of its part.
pub struct Prepared {
    pub hydro: Arc<Hydro>,
    pub engine: Box<dyn Engine>,
    /// Set when the run is to stop; ranks agree on it after each step.
    pub stop: Stop,
}

pub enum Stop {
    Own(&'static AtomicBool),
    Agreed(Arc<AtomicBool>),
}

impl Stop {
    pub fn flag(&self) -> &AtomicBool {
        match self {
            Self::Own(flag) => flag,
            Self::Agreed(flag) => flag,
        }
    }
}

/// Prepares the engine of a rank.
pub fn prepare(whole: Arc<Hydro>, s: &Settings, ranks: &Arc<dyn Ranks>) -> Result<Prepared> {
    if ranks.size() == 1 && !s.reproducible {
        return Ok(Prepared {
            engine: run::engine(&whole, s, device(s, &**ranks)?)?,
            hydro: whole,
            stop: Stop::Own(interrupt::flag()),
        });
    }
    let space = &whole.space;
    let full = s.is_full(space.element.shape);
    if full && s.reproducible {
        // The assembled matrix does not keep what each zone contributes.
        return Err(AppError::new("--reproducible needs partial assembly")
            .hint("use quadrilaterals or hexahedra, and leave out --assembly full"));
    }
    let partition = Partition::new(space, ranks.size())?;
    let map = Map::new(space, &partition, ranks.rank());
    let part = Arc::new(whole.part(&map));
    let halo = |by_zone| Halo::new(space, &partition, &map, Arc::clone(ranks), by_zone);
    let sums = || RankSums::new(halo(!full), map.owned.clone(), s.reproducible);
    let inner: Box<dyn Engine> = if let Some(ordinal) = device(s, &**ranks)?.gpu() {
        let by_rank = (full || part.gravity.is_some()).then(|| halo(false));
        let owned = map.owned.clone();
        let of_rank = RankPart::new(&part, Arc::clone(ranks), owned, halo(true), by_rank);
        let parameters = s.kernels.as_deref().unwrap_or_default();
        let (of_part, rank) = (Arc::clone(&part), Some(&of_rank));
        let gpu = Gpu::open_part(of_part, ordinal, s.ode(), full, parameters, rank)?;
        if let Some(exchange) = gpu.exchange() {
            print::detail(|| format!("rank {} on {}: {exchange}", ranks.rank(), gpu.name));
        }
        Box::new(gpu)
    } else if full {
        let operator = FullAssembly::of_part(Arc::clone(&part), sums())?;
        Box::new(Cpu::new(operator, s.ode(), &part))
    } else {
        let operator = PartialAssembly::of_part(Arc::clone(&part), sums())?;
        Box::new(Cpu::new(operator, s.ode(), &part))
    };
    let engine = Ranked::new(
        &whole,
        &partition,
        (map, Arc::clone(&part), inner),
        Arc::clone(ranks),
        s.reproducible,
        interrupt::flag(),
    );
    Ok(Prepared {
        stop: Stop::Agreed(engine.stop()),
        engine: Box::new(engine),
        hydro: if ranks.rank() == 0 { whole } else { part },
    })
}

/// What the outputs of the first rank need after a step: all ranks take part in it.
#[derive(Clone, Copy, Default)]
pub struct Needs {
    pub energies: bool,
    pub state: bool,
}

/// What they got; of the whole on the first rank.
#[derive(Default)]
pub struct Got {
    pub energies: Option<(f64, f64)>,
    pub state: Option<State>,
}

impl Needs {
    /// Asks the engine for what the first rank needs.
    pub fn get(
        self,
        ranks: &dyn Ranks,
        engine: &mut dyn Engine,
    ) -> std::result::Result<Got, HydroError> {
        let mut needs = match ranks.rank() {
            0 => [self.energies, self.state].map(|b| f64::from(u8::from(b))),
            _ => [0.0; 2],
        };
        ranks.max(&mut needs);
        let [energies, state] = needs.map(|x| x > 0.0);
        Ok(Got {
            energies: energies.then(|| engine.energies()).transpose()?,
            state: state.then(|| engine.state()).transpose()?,
        })
    }
}
