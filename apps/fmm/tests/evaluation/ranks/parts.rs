//! Parts of the targets, as ranks and GPUs evaluate them: the same digits as all at once.

use super::{bits, emulated, options, small};
use greenup_fmm::cpu::Cpu;
use greenup_fmm::engine::Engine;
use greenup_fmm::kernel::Kernel;
use greenup_fmm::options::{M2l, Options};
use greenup_fmm::plan::{Part, Plan, merge};
use greenup_fmm::points::{Distribution, Points, charges, generate};
use greenup_fmm::precision::Real;
use std::sync::Arc;

/// Results of parts, put together.
fn together<R: Real>(
    plan: &Plan<R>,
    parts: usize,
    charges: &[f64],
    engine: impl Fn(Arc<Plan<R>>) -> Box<dyn Engine>,
) -> Vec<f64> {
    let outputs = plan.options().kernel.outputs(plan.options().gradient);
    let all: Vec<u32> = (0..plan.targets() as u32).collect();
    let (mut own, mut count) = (Vec::new(), 0);
    for part in 0..parts {
        let one = Arc::new(plan.part(part, parts));
        let out = engine(Arc::clone(&one)).evaluate(charges).unwrap();
        assert_eq!(out.len(), one.targets() * outputs);
        let targets = one.own_targets().map_or(all.clone(), |t| t.to_vec());
        assert!(targets.is_sorted());
        count += out.len();
        own.push((targets, out));
    }
    let n = plan.targets();
    assert_eq!(count, n * outputs, "each target belongs to one part");
    let parts: Vec<Part> = (own.iter())
        .map(|(targets, results)| Part { targets, results })
        .collect();
    // In two pieces, as two ranks would.
    let mut together = vec![f64::NAN; n * outputs];
    let (mut first, mut second): (Vec<_>, Vec<_>) = (together.chunks_mut(n.max(1)))
        .map(|c| c.split_at_mut(n / 3))
        .unzip();
    merge(&parts, 0, &mut first);
    merge(&parts, n / 3, &mut second);
    together
}

fn same_on_cpu<R: Real>(points: &Points, targets: Option<&Points>, o: &Options) {
    let q = charges(points.len() * o.kernel.inputs(), false, 5);
    let plan = Plan::<R>::new(points, targets, o).unwrap();
    let cpu = |p| -> Box<dyn Engine> { Box::new(Cpu::new(p)) };
    let whole = bits(&together(&plan, 1, &q, cpu));
    assert_eq!(
        whole,
        bits(&cpu(Arc::new(plan.part(0, 1))).evaluate(&q).unwrap())
    );
    for parts in [2, 3, 4, 7] {
        let cut = together(&plan, parts, &q, cpu);
        assert!(bits(&cut) == whole, "{o:?} in {parts} parts");
    }
}

#[test]
fn parts_have_the_digits_of_the_whole() {
    let others = generate(Distribution::Sphere, 777, 9);
    for kernel in [
        Kernel::Laplace,
        Kernel::Yukawa { kappa: 2.0 },
        Kernel::Helmholtz { k: 1.0 },
        Kernel::Stokes { mu: 1.0 },
    ] {
        for distribution in [Distribution::Cube, Distribution::Clusters] {
            let points = generate(distribution, 2003, 3);
            let gradient = kernel.check(true).is_ok();
            same_on_cpu::<f64>(&points, None, &options(kernel, gradient, M2l::Fft));
            same_on_cpu::<f32>(&points, Some(&others), &options(kernel, false, M2l::Fft));
        }
    }
    let points = generate(Distribution::Plummer, 2003, 3);
    same_on_cpu::<f64>(
        &points,
        None,
        &options(Kernel::Laplace, false, M2l::Compressed),
    );
}

#[test]
fn more_parts_than_leaves_leave_some_without_work() {
    let points = generate(Distribution::Cube, 15, 3);
    let o = options(Kernel::Laplace, true, M2l::Fft);
    same_on_cpu::<f64>(&points, None, &o);
    same_on_cpu::<f64>(&points, Some(&Points::default()), &o);
}

#[test]
fn parts_on_the_emulator_have_the_digits_of_the_whole() {
    let (points, o) = small();
    let q = charges(points.len(), false, 5);
    let plan = Plan::<f32>::new(&points, None, &o).unwrap();
    let gpu = |p| -> Box<dyn Engine> { Box::new(emulated(p)) };
    let whole = bits(&together(&plan, 1, &q, gpu));
    assert!(bits(&together(&plan, 3, &q, gpu)) == whole);
}
