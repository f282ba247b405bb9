//! The plan of a rank whose points are distributed.

use super::close::Close;
use super::{Plan, SetupTimes, operators, scaled_parameter};
use crate::FmmError;
use crate::operators::surface;
use crate::options::Options;
use crate::plan::upward::Essential;
use crate::precision::Real;
use crate::tree::{Lists, Tree};
use greenup_device::HostIsa;
use std::sync::Arc;
use std::time::Instant;

/// What a rank has of distributed points.
pub(crate) struct Parts<R: Real> {
    /// Boxes of this rank and those of others that it needs.
    pub tree: Tree,
    pub lists: Lists,
    pub close: Close,
    /// Half width of the root cube.
    pub unit: f64,
    /// Sources of this rank and those of others that it needs.
    pub sources: [Vec<R>; 3],
    /// Targets of this rank.
    pub targets: [Vec<R>; 3],
    pub essential: Essential,
    pub setup_times: SetupTimes,
}

impl<R: Real> Plan<R> {
    /// The plan of a rank: charges and results are in the order of its sources and targets.
    pub(crate) fn of_parts(parts: Parts<R>, options: &Options, p: usize) -> Result<Self, FmmError> {
        let parameter = scaled_parameter(options.kernel, p, parts.unit)?;
        let mut setup_times = parts.setup_times;
        let surface = surface::count(p);
        let t = Instant::now();
        let isa = HostIsa::best();
        let panel = R::kernels(isa).panel as usize;
        let (levels, m2l) = operators(options, p, parameter, &parts.tree, panel)?;
        setup_times.operators_s = t.elapsed().as_secs_f64();
        let all = |n: usize| Arc::new((0..n as u32).collect::<Vec<_>>());
        let (sources, targets) = (all(parts.sources[0].len()), all(parts.targets[0].len()));
        let unit_surface = surface::points(p).map(|x| x.into_iter().map(R::of).collect());
        Ok(Self {
            options: *options,
            p,
            surface,
            unit: parts.unit,
            tree: parts.tree,
            lists: Arc::new(parts.lists),
            close: Arc::new(parts.close),
            sources: Arc::new(parts.sources),
            source_from: sources,
            share: 0..targets.len() as u32,
            own_targets: None,
            places: Arc::clone(&targets),
            essential: Some(Arc::new(parts.essential)),
            targets: Arc::new(parts.targets),
            target_from: targets,
            levels: Arc::new(levels),
            m2l: Arc::new(m2l),
            unit_surface,
            isa,
            setup_times,
        })
    }
}
