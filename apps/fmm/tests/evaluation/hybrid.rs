//! A GPU and the host's cores together, without a GPU: the kernels run on the host, from the same source.

use super::largest_difference;
use greenup_device::cuda::Emulator;
use greenup_fmm::FmmError;
use greenup_fmm::check::errors;
use greenup_fmm::cpu::Cpu;
use greenup_fmm::engine::Engine as _;
use greenup_fmm::gpu::{Config, KERNELS, source};
use greenup_fmm::hybrid::{Hybrid, balance};
use greenup_fmm::kernel::Kernel;
use greenup_fmm::options::{M2l, Options};
use greenup_fmm::plan::Plan;
use greenup_fmm::points::{Distribution, Points, charges, generate};
use greenup_fmm::precision::Real;
use std::sync::Arc;

fn options(kernel: Kernel, gradient: bool, ncrit: usize, m2l: M2l) -> Options {
    Options {
        kernel,
        tolerance: 1e-4,
        gradient,
        ncrit,
        m2l,
        order: None,
    }
}

/// An engine whose GPU is the host.
fn engine<R: Real>(plan: Arc<Plan<R>>, folder: &std::path::Path) -> Hybrid<R, Emulator> {
    let o = *plan.options();
    let config = Config::default_for::<R>(o.kernel, o.gradient);
    let text = source::<R>(o.kernel, o.gradient, plan.order(), plan.surface(), &config);
    let emulator = Emulator::compile(&text, &KERNELS, folder).unwrap();
    // SAFETY: the emulator was compiled from the source of this plan and config.
    unsafe { Hybrid::on(emulator, plan, config) }.unwrap()
}

/// Largest difference from the CPU's results, relative to the largest of each component.
fn difference<R: Real>(o: &Options, sources: &Points, targets: Option<&Points>) -> f64 {
    let plan = Arc::new(Plan::<R>::new(sources, targets, o).unwrap());
    let charges = charges(sources.len() * o.kernel.inputs(), false, 3);
    let folder = tempfile::tempdir().unwrap();
    let mut both = engine(Arc::clone(&plan), folder.path());
    let got = both.evaluate(&charges).unwrap();
    let phases = both.phases();
    // At least the longer side's phases, at most both.
    assert!(phases.p2p_s > 0.0 && phases.total_s() >= phases.p2p_s - 1e-9);
    assert!(phases.overlapped_s >= 0.0 && phases.overlapped_s <= phases.p2p_s + 1e-9);
    let sides = both.sides();
    assert!(sides.gpu_s >= phases.p2p_s && sides.longest_s() <= sides.cpu_s + sides.gpu_s);
    // The same after repeats.
    both.repeat(2).unwrap();
    assert_eq!(both.evaluate(&charges).unwrap(), got);
    let want = Cpu::new(Arc::clone(&plan)).evaluate(&charges).unwrap();
    largest_difference(&got, &want, plan.targets())
}

#[test]
fn results_are_those_of_the_cpu() {
    let points = generate(Distribution::Clusters, 300, 2);
    let targets = generate(Distribution::Sphere, 150, 5);
    for (kernel, gradient, at) in [
        (Kernel::Laplace, true, Some(&targets)),
        (Kernel::Helmholtz { k: 1.0 }, true, None),
        (Kernel::Stokes { mu: 1.0 }, false, None),
    ] {
        let o = options(kernel, gradient, 9, M2l::Fft);
        // What the reciprocal roots of both allow.
        let e = difference::<f64>(&o, &points, at);
        assert!(e < 5e-10, "{kernel} {gradient}: {e}");
    }
    // The GPU has no compressed M2L, and needs none here.
    let o = options(Kernel::Laplace, false, 9, M2l::Compressed);
    let e = difference::<f64>(&o, &points, None);
    assert!(e < 5e-10, "compressed: {e}");
    let e = difference::<f32>(&options(Kernel::Laplace, false, 9, M2l::Fft), &points, None);
    assert!(e < 1e-4, "f32: {e}");
    // Boxes of level 1 alone: nothing is left for the cores.
    let e = difference::<f64>(
        &options(Kernel::Laplace, false, 300, M2l::Fft),
        &points,
        None,
    );
    assert!(e < 5e-10, "one leaf: {e}");
}

#[test]
fn errors_stay_below_the_accuracy() {
    let points = generate(Distribution::Plummer, 3000, 4);
    let q = charges(3000, false, 5);
    let o = options(Kernel::Laplace, true, 40, M2l::Fft);
    let plan = Arc::new(Plan::<f64>::new(&points, None, &o).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let results = engine(plan, folder.path()).evaluate(&q).unwrap();
    let e = errors(o.kernel, true, (&points, &q), &points, &results, 300);
    assert!(e.potential < 1e-4, "{e:?}");
    assert!(e.gradient.unwrap() < 1e-4, "{e:?}");
}

#[test]
fn other_leaves_give_the_plan_of_a_new_one() {
    let points = generate(Distribution::Clusters, 2000, 2);
    let targets = generate(Distribution::Cube, 500, 3);
    let q = charges(2000, false, 3);
    for kernel in [Kernel::Laplace, Kernel::Yukawa { kappa: 1.0 }] {
        for (at, from, to) in [(None, 2000, 20), (Some(&targets), 20, 60), (None, 15, 2000)] {
            let plan = |ncrit| {
                Plan::<f64>::new(&points, at, &options(kernel, false, ncrit, M2l::Fft)).unwrap()
            };
            let other = plan(from).with_ncrit(to).unwrap();
            let got = Cpu::new(Arc::new(other)).evaluate(&q).unwrap();
            let want = Cpu::new(Arc::new(plan(to))).evaluate(&q).unwrap();
            assert!(got == want, "{kernel} {from} {to}");
        }
    }
    let plan = Plan::<f64>::new(&points, None, &options(Kernel::Laplace, false, 9, M2l::Fft));
    assert!(plan.unwrap().with_ncrit(0).is_err());
}

#[test]
fn a_tree_is_balanced_by_measured_times() {
    let points = generate(Distribution::Cube, 4000, 2);
    let q = charges(4000, false, 3);
    let o = options(Kernel::Laplace, false, 60, M2l::Fft);
    let first = Plan::<f64>::new(&points, None, &o).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    let (plan, trials) = balance(
        first,
        &q,
        |plan| Ok::<_, FmmError>(engine(plan, folder.path())),
        |_| {
            seen += 1;
            Ok(())
        },
    )
    .unwrap();
    assert!(seen == trials.len() && (1..=3).contains(&seen));
    assert!(trials[0].predicted.is_none() && trials[1..].iter().all(|t| t.predicted.is_some()));
    let fastest = trials
        .iter()
        .map(|t| t.evaluation_s)
        .fold(f64::INFINITY, f64::min);
    let chosen = trials.iter().find(|t| t.evaluation_s == fastest).unwrap();
    assert_eq!(plan.options().ncrit, chosen.ncrit);
    // Ended from outside.
    let first = Plan::<f64>::new(&points, None, &o).unwrap();
    let ended = balance(
        first,
        &q,
        |plan| Ok::<_, FmmError>(engine(plan, folder.path())),
        |_| Err(FmmError::TooManyPoints(0)),
    );
    assert!(matches!(ended, Err(FmmError::TooManyPoints(0))));
}
