//! The engine of a rank: for the whole problem, or for its part.

use crate::cpu::{Cpu, FullAssembly, PartialAssembly, RankSums};
use crate::engine::{Engine, State};
use crate::gpu::{Gpu, RankPart, wisdom};
use crate::hydro::Hydro;
use crate::mesh::{Bounds, Mesh};
use crate::part::partition::Method;
use crate::part::{Halo, Part, PartMesh, Ranked, Whole};
use crate::problem::Problem;
use crate::session::checks;
use crate::session::settings::Settings;
use greenup_app::{AppError, Result, interrupt, print};
use greenup_device::DeviceSpec;
use greenup_ranks::Ranks;
use greenup_setting::setting;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The engine of a rank, and its problem: that of its part.
pub struct Prepared {
    pub hydro: Arc<Hydro>,
    /// Initial state of the part.
    pub state: State,
    pub engine: Box<dyn Engine>,
    /// Whether a rank was asked to stop; the same on all after each step. `None` if zones are not shared.
    pub stop: Option<Arc<AtomicBool>>,
    /// Where the part lies in the whole; `None` if this rank has the whole.
    pub whole: Option<Arc<Whole>>,
    /// Bounds of the whole mesh.
    pub bounds: Bounds,
}

/// Checks settings that ranks do not have.
///
/// # Errors
/// A setting has no effect, or does not work.
pub fn check(s: &Settings, device: &DeviceSpec, ranks: &dyn Ranks) -> Result {
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
    if s.reproducible && device.is_gpu() {
        let reproducible = setting("reproducible").on();
        return Err(
            AppError::new(format!("{reproducible} does not work on GPUs")).hint(format!(
                "use {}; without it, sums of any number of GPUs differ by rounding",
                setting("device").to("cpu")
            )),
        );
    }
    for (flag, set, fix) in [
        (
            setting("device").to("cuda+cpu"),
            device.is_shared(),
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

/// Prepares the engine of a rank on its device.
///
/// # Errors
/// A file cannot be read, the run does not fit into memory, or the device is not there.
pub fn prepare(
    problem: Problem,
    s: &Settings,
    device: &DeviceSpec,
    ranks: &Arc<dyn Ranks>,
) -> Result<Prepared> {
    // With `--ranks 1`, one rank shares the zones with none.
    let plain = !s.device().is_gpu() && !s.tune && !s.profile;
    let shared = ranks.size() > 1 || s.reproducible || s.ranks.is_some() && plain;
    if shared {
        of_part(problem, s, device, ranks)
    } else {
        of_whole(problem, s, device, &**ranks)
    }
}

fn of_whole(
    problem: Problem,
    s: &Settings,
    device: &DeviceSpec,
    ranks: &dyn Ranks,
) -> Result<Prepared> {
    let mut fits = |shape, zones| checks::size(s, shape, zones);
    let mesh = Mesh::open_if(s.mesh(), s.refine(), &mut fits)?;
    let bounds = mesh.bounds();
    s.figures.check_mesh(&bounds)?;
    checks::walls(&problem, &mesh, ranks)?;
    let (hydro, state) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
    drop(mesh);
    checks::materials(&hydro, ranks)?;
    let hydro = Arc::new(hydro);
    Ok(Prepared {
        engine: engine(&hydro, s, device)?,
        hydro,
        state,
        stop: None,
        whole: None,
        bounds,
    })
}

fn of_part(
    problem: Problem,
    s: &Settings,
    device: &DeviceSpec,
    ranks: &Arc<dyn Ranks>,
) -> Result<Prepared> {
    // The ranks of a host share its memory.
    let share = ranks.local().1 as f64 / ranks.size() as f64;
    let mut fits = |shape, zones: f64| checks::size(s, shape, zones * share);
    let mesh = PartMesh::open_by(s.partition, (s.mesh(), s.refine()), &**ranks, &mut fits)?;
    let bounds = mesh.bounds.clone();
    s.figures.check_mesh(&bounds)?;
    checks::walls(&problem, &mesh.mesh, &**ranks)?;
    let part = Part::new(mesh, problem, &s.orders(), s.e0(), ranks)?;
    checks::materials(&part.hydro, &**ranks)?;
    let inner = part_engine(&part, s, device, ranks)?;
    let Part {
        hydro,
        state,
        whole,
        ..
    } = part;
    let engine = Ranked::new(
        Arc::clone(&whole),
        (Arc::clone(&hydro), inner),
        s.reproducible,
        interrupt::flag(),
    );
    Ok(Prepared {
        stop: Some(engine.stop()),
        engine: Box::new(engine),
        hydro,
        state,
        whole: Some(whole),
        bounds,
    })
}

/// An engine for a problem.
///
/// # Errors
/// The device is not there, or does not fit the problem.
pub fn engine(hydro: &Arc<Hydro>, s: &Settings, device: &DeviceSpec) -> Result<Box<dyn Engine>> {
    let full = s.is_full(hydro.space.element.shape);
    if let Some(ordinal) = device.gpu() {
        let own = s.kernels.as_deref().unwrap_or_default();
        let parameters = wisdom::parameters(&hydro.space.element, ordinal, own)?;
        let mut gpu = Gpu::open(Arc::clone(hydro), ordinal, s.ode(), full, &parameters)?;
        gpu.profile = s.profile;
        if device.is_shared() {
            gpu.share(s.share)?;
        }
        return Ok(Box::new(gpu));
    }
    Ok(if full {
        let operator = FullAssembly::new(Arc::clone(hydro))?;
        Box::new(Cpu::new(operator, s.ode(), hydro))
    } else {
        let operator = PartialAssembly::new(Arc::clone(hydro))?;
        Box::new(Cpu::new(operator, s.ode(), hydro))
    })
}

/// The same for the part of a rank.
fn part_engine(
    part: &Part,
    s: &Settings,
    device: &DeviceSpec,
    ranks: &Arc<dyn Ranks>,
) -> Result<Box<dyn Engine>> {
    let hydro = &part.hydro;
    let full = s.is_full(hydro.space.element.shape);
    let halo = |by_zone| {
        let ranks = Arc::clone(ranks);
        Halo::new(&part.around, &part.partition, &part.map, ranks, by_zone)
    };
    let owned = || part.map.owned.clone();
    let sums = || RankSums::new(halo(s.reproducible), owned(), s.reproducible);
    if let Some(ordinal) = device.gpu() {
        let by_rank = (full || hydro.gravity.is_some()).then(|| halo(false));
        let of_rank = RankPart::new(hydro, Arc::clone(ranks), owned(), halo(true), by_rank);
        let own = s.kernels.as_deref().unwrap_or_default();
        let parameters = wisdom::parameters(&hydro.space.element, ordinal, own)?;
        let (of_part, rank) = (Arc::clone(hydro), Some(&of_rank));
        let gpu = Gpu::open_part(of_part, ordinal, s.ode(), full, &parameters, rank)?;
        if let Some(exchange) = gpu.exchange() {
            print::detail(|| format!("rank {} on {}: {exchange}", ranks.rank(), gpu.name));
        }
        return Ok(Box::new(gpu));
    }
    Ok(if full {
        let operator = FullAssembly::of_part(Arc::clone(hydro), sums())?;
        Box::new(Cpu::new(operator, s.ode(), hydro))
    } else {
        let operator = PartialAssembly::of_part(Arc::clone(hydro), sums())?;
        Box::new(Cpu::new(operator, s.ode(), hydro))
    })
}
