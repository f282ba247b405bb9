//! A run by several ranks: their engines, and what all must know after a step.

use crate::commands::settings::Settings;
use crate::commands::{checks, run};
use greenup_app::args::{Device, DeviceSet};
use greenup_app::ranks::{RanksArg, Team};
use greenup_app::{AppError, Result, interrupt, pool, print};
use greenup_device::cuda::Gpu as Found;
use greenup_hydro::cpu::{Cpu, FullAssembly, PartialAssembly, RankSums};
use greenup_hydro::engine::{Engine, State};
use greenup_hydro::gpu::{Gpu, RankPart, wisdom};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::{Bounds, Mesh};
use greenup_hydro::part::partition::Method;
use greenup_hydro::part::{Halo, Part, PartMesh, Ranked, Whole};
use greenup_hydro::problem::Problem;
use greenup_ranks::Ranks;
use greenup_setting::setting;
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
    pool::of_own(threads)?.install(work)
}

/// Checks settings that ranks do not have.
pub fn check(s: &Settings, ranks: &dyn Ranks) -> Result {
    if ranks.size() == 1 && s.partition != Method::default() {
        return Err(checks::no_effect(
            "partition",
            &format!("one rank has all zones; add {}", setting("ranks")),
        ));
    }
    if ranks.size() == 1 && !s.reproducible {
        return Ok(());
    }
    let what = match ranks.size() {
        1 => setting("reproducible").on(),
        n => format!("{n} ranks"),
    };
    let device = device(s, ranks)?;
    if s.reproducible && device.gpu().is_some() {
        let reproducible = setting("reproducible").on();
        return Err(
            AppError::new(format!("{reproducible} does not work on GPUs")).hint(format!(
                "use {}; without it, sums of any number of GPUs differ by rounding",
                setting("device").to("cpu")
            )),
        );
    }
    let shared = matches!(device, Device::CudaAndCpu(_));
    for (flag, set, fix) in [
        (
            setting("device").to("cuda+cpu"),
            shared,
            format!(
                "use {} or cuda:all: each rank has a GPU",
                setting("device").to("cuda")
            ),
        ),
        (setting("tune").on(), s.tune, "tune one rank".to_owned()),
        (
            setting("profile").on(),
            s.profile,
            "profile one rank".to_owned(),
        ),
    ] {
        if set {
            return Err(AppError::new(format!("{flag} does not work with {what}")).hint(fix));
        }
    }
    Ok(())
}

/// The engine of a rank, and its problem: that of its part.
pub struct Prepared {
    pub hydro: Arc<Hydro>,
    /// Initial state of the part.
    pub state: State,
    pub engine: Box<dyn Engine>,
    /// Set when the run is to stop; ranks agree on it after each step.
    pub stop: Stop,
    /// Where the part lies in the whole; `None` if this rank has the whole.
    pub whole: Option<Arc<Whole>>,
    /// Bounds of the whole mesh.
    pub bounds: Bounds,
}

impl Prepared {
    /// Zones and unknowns of the whole.
    pub fn counts(&self) -> (usize, usize) {
        match &self.whole {
            None => (
                self.hydro.space.zones,
                self.state.v.len() + self.state.e.len(),
            ),
            Some(w) => (w.zones.all, w.dim * w.nodes.all + w.energies * w.zones.all),
        }
    }
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

/// Whether zones are shared by ranks; with `--ranks 1`, one shares them with none.
fn is_shared(s: &Settings, ranks: &dyn Ranks) -> bool {
    let plain = s.device() == "cpu" && !s.tune && !s.profile;
    ranks.size() > 1 || s.reproducible || s.ranks.is_some() && plain
}

/// Prepares the engine of a rank.
pub fn prepare(problem: Problem, s: &Settings, ranks: &Arc<dyn Ranks>) -> Result<Prepared> {
    // The ranks of a host share its memory.
    let share = ranks.local().1 as f64 / ranks.size() as f64;
    let mut fits = |shape, zones: f64| checks::size(s, shape, zones * share);
    if !is_shared(s, &**ranks) {
        let mesh = Mesh::open_if(s.mesh(), s.refine(), &mut fits)?;
        let bounds = mesh.bounds();
        s.figures.check_mesh(&bounds)?;
        checks::walls(&problem, &mesh, &**ranks)?;
        let (hydro, state) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
        drop(mesh);
        checks::materials(&hydro, &**ranks)?;
        let hydro = Arc::new(hydro);
        return Ok(Prepared {
            engine: run::engine(&hydro, s, device(s, &**ranks)?)?,
            hydro,
            state,
            stop: Stop::Own(interrupt::flag()),
            whole: None,
            bounds,
        });
    }
    let mesh = PartMesh::open_by(s.partition, (s.mesh(), s.refine()), &**ranks, &mut fits)?;
    let bounds = mesh.bounds.clone();
    s.figures.check_mesh(&bounds)?;
    checks::walls(&problem, &mesh.mesh, &**ranks)?;
    let full = s.is_full(mesh.mesh.shape);
    let Part {
        hydro: part,
        state,
        around,
        partition,
        map,
        whole,
    } = Part::new(mesh, problem, &s.orders(), s.e0(), ranks)?;
    checks::materials(&part, &**ranks)?;
    let halo = |by_zone| Halo::new(&around, &partition, &map, Arc::clone(ranks), by_zone);
    let sums = || RankSums::new(halo(s.reproducible), map.owned.clone(), s.reproducible);
    let inner: Box<dyn Engine> = if let Some(ordinal) = device(s, &**ranks)?.gpu() {
        let by_rank = (full || part.gravity.is_some()).then(|| halo(false));
        let owned = map.owned.clone();
        let of_rank = RankPart::new(&part, Arc::clone(ranks), owned, halo(true), by_rank);
        let own = s.kernels.as_deref().unwrap_or_default();
        let parameters = wisdom::parameters(&part.space.element, ordinal, own)?;
        let (of_part, rank) = (Arc::clone(&part), Some(&of_rank));
        let gpu = Gpu::open_part(of_part, ordinal, s.ode(), full, &parameters, rank)?;
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
        Arc::clone(&whole),
        (Arc::clone(&part), inner),
        s.reproducible,
        interrupt::flag(),
    );
    Ok(Prepared {
        stop: Stop::Agreed(engine.stop()),
        engine: Box::new(engine),
        hydro: part,
        state,
        whole: Some(whole),
        bounds,
    })
}

/// The text of the rank with the largest value. All ranks call it.
pub fn of_all(ranks: &dyn Ranks, value: f64, here: &str) -> String {
    let mut most = [value];
    ranks.max(&mut most);
    let own: &[u8] = if value == most[0] || value.is_nan() {
        here.as_bytes()
    } else {
        &[]
    };
    let all = ranks.gather(own).unwrap_or_default();
    let worst = all.into_iter().find(|t| !t.is_empty());
    worst.map_or_else(
        || here.to_owned(),
        |t| String::from_utf8_lossy(&t).into_owned(),
    )
}
