//! A run by several ranks: their engines, and what all must know after a step.

use crate::commands::settings::Settings;
use crate::commands::{checks, run};
use greenup_app::args::Device;
use greenup_app::ranks::{RanksArg, Team};
use greenup_app::{AppError, Result, interrupt};
use greenup_hydro::cpu::{Cpu, FullAssembly, PartialAssembly, RankSums};
use greenup_hydro::engine::{Engine, State};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::{Bounds, Mesh};
use greenup_hydro::part::{Halo, Part, PartMesh, Ranked, Whole};
use greenup_hydro::problem::Problem;
use greenup_ranks::Ranks;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs `work` on each rank of this process: those of a launcher, `--ranks` threads, or one.
pub fn on_all(s: &Settings, work: impl Fn(&Arc<dyn Ranks>) -> Result + Sync) -> Result {
    let asked = greenup_process::threads::check(s.threads.unwrap_or(1));
    asked.map_err(|e| AppError::new(format!("threads: {e}")))?;
    let team = RanksArg { ranks: s.ranks }.team(1)?;
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
    let device: Device = s.device().parse()?;
    for (flag, set, fix) in [
        ("--device", device.gpu().is_some(), "use --device cpu"),
        ("--tune", s.tune, "tune one rank"),
        ("--profile", s.profile, "profile one rank"),
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
        let (hydro, state) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
        drop(mesh);
        let hydro = Arc::new(hydro);
        return Ok(Prepared {
            engine: run::engine(&hydro, s)?,
            hydro,
            state,
            stop: Stop::Own(interrupt::flag()),
            whole: None,
            bounds,
        });
    }
    let mesh = PartMesh::open(s.mesh(), s.refine(), &**ranks, &mut fits)?;
    let bounds = mesh.bounds.clone();
    s.figures.check_mesh(&bounds)?;
    let full = s.is_full(mesh.mesh.shape);
    if full && s.reproducible {
        // The assembled matrix does not keep what each zone contributes.
        return Err(AppError::new("--reproducible needs partial assembly")
            .hint("use quadrilaterals or hexahedra, and leave out --assembly full"));
    }
    let Part {
        hydro: part,
        state,
        around,
        partition,
        map,
        whole,
    } = Part::new(mesh, problem, &s.orders(), s.e0(), ranks)?;
    let halo = Halo::new(&around, &partition, &map, Arc::clone(ranks), !full);
    let sums = RankSums::new(halo, map.owned, s.reproducible);
    drop(around);
    let inner: Box<dyn Engine> = if full {
        let operator = FullAssembly::of_part(Arc::clone(&part), sums)?;
        Box::new(Cpu::new(operator, s.ode(), &part))
    } else {
        let operator = PartialAssembly::of_part(Arc::clone(&part), sums)?;
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
