//! Points distributed over ranks: the same digits as on one.

use super::{bits, emulated, options, small};
use greenup_fmm::cost_model::phases;
use greenup_fmm::cpu::Cpu;
use greenup_fmm::distributed::Distributed;
use greenup_fmm::engine::{Engine as _, Steps};
use greenup_fmm::kernel::Kernel;
use greenup_fmm::options::{M2l, Options};
use greenup_fmm::plan::Plan;
use greenup_fmm::points::{Distribution, Points, charges, generate};
use greenup_fmm::precision::Real;
use greenup_ranks::threads;
use std::sync::Arc;

type Make<'a, R> = &'a (dyn Fn(Arc<Plan<R>>) -> Box<dyn Steps<R>> + Sync);

fn on_cpu<R: Real>(plan: Arc<Plan<R>>) -> Box<dyn Steps<R>> {
    Box::new(Cpu::new(plan))
}

/// Results of ranks in the order of the input, and the points of each and of its neighbours.
fn together<R: Real>(
    ranks: usize,
    points: &Points,
    q: &[f64],
    o: &Options,
    make: Make<'_, R>,
) -> (Vec<f64>, Vec<(usize, usize)>) {
    let d = o.kernel.inputs();
    let n = points.len();
    let all = threads::run(ranks, |r| {
        let piece = n * r.rank() / ranks..n * (r.rank() + 1) / ranks;
        let which: Vec<usize> = piece.clone().collect();
        let own = (&points.some(&which), &q[piece.start * d..piece.end * d]);
        let sum = Distributed::<R>::new(&*r, own, o)?;
        assert_eq!(sum.points(), n as u64);
        let mut engine = make(Arc::clone(sum.plan()));
        let mut results = Vec::new();
        sum.evaluate(&*r, &mut *engine, &mut results)?;
        engine.repeat(1)?;
        let mut again = Vec::new();
        sum.evaluate(&*r, &mut *engine, &mut again)?;
        assert_eq!(bits(&results), bits(&again));
        Ok::<_, greenup_fmm::FmmError>((sum.in_input_order(&*r, &results), sum.own_points()))
    })
    .unwrap();
    let mut out = Vec::new();
    for c in 0..o.kernel.outputs(o.gradient) {
        for (rank, (x, _)) in all.iter().enumerate() {
            let each = n * (rank + 1) / ranks - n * rank / ranks;
            out.extend_from_slice(&x[c * each..(c + 1) * each]);
        }
    }
    (out, all.into_iter().map(|a| a.1).collect())
}

const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

fn same_on_cpu<R: Real>(points: &Points, o: &Options) {
    same_on::<R>(&RANKS, points, o);
}

fn same_on<R: Real>(ranks: &[usize], points: &Points, o: &Options) {
    let q = charges(points.len() * o.kernel.inputs(), false, 5);
    let plan = Arc::new(Plan::<R>::new(points, None, o).unwrap());
    let whole = bits(&Cpu::new(plan).evaluate(&q).unwrap());
    for &ranks in ranks {
        let (some, counts) = together::<R>(ranks, points, &q, o, &on_cpu);
        assert!(bits(&some) == whole, "{o:?} on {ranks} ranks");
        let own: usize = counts.iter().map(|c| c.0).sum();
        assert_eq!(own, points.len());
    }
}

/// Every kernel on some numbers of ranks.
fn kernels_have_the_digits_of_one(ranks: &[usize], distributions: &[Distribution]) {
    for kernel in [
        Kernel::Laplace,
        Kernel::Yukawa { kappa: 2.0 },
        Kernel::Helmholtz { k: 1.0 },
        Kernel::Stokes { mu: 1.0 },
    ] {
        for &distribution in distributions {
            let points = generate(distribution, 2003, 3);
            let gradient = kernel.check(true).is_ok();
            same_on::<f64>(ranks, &points, &options(kernel, gradient, M2l::Fft));
        }
    }
}

#[test]
#[ignore = "slow: every kernel on every number of ranks"]
fn kernels_have_the_digits_of_one_on_any_number_of_ranks_at_length() {
    let all = [Distribution::Cube, Distribution::Clusters];
    kernels_have_the_digits_of_one(&RANKS, &all);
}

#[test]
fn ranks_have_the_digits_of_one() {
    // Every number of ranks with one kernel, every kernel on three.
    kernels_have_the_digits_of_one(&[3], &[Distribution::Clusters]);
    for distribution in [Distribution::Cube, Distribution::Clusters] {
        let points = generate(distribution, 2003, 3);
        same_on_cpu::<f64>(&points, &options(Kernel::Laplace, true, M2l::Fft));
    }
    for distribution in [Distribution::Plummer, Distribution::Sphere] {
        let points = generate(distribution, 5003, 3);
        same_on_cpu::<f32>(&points, &options(Kernel::Laplace, true, M2l::Fft));
        same_on_cpu::<f64>(&points, &options(Kernel::Laplace, true, M2l::Compressed));
    }
}

#[test]
fn small_leaves_make_irregular_lists() {
    let points = generate(Distribution::Clusters, 4001, 8);
    for (ncrit, order) in [(1, 3), (3, 4), (60, 3), (200, 6)] {
        let o = Options {
            ncrit,
            order: Some(order),
            ..options(Kernel::Laplace, false, M2l::Fft)
        };
        same_on_cpu::<f64>(&points, &o);
    }
}

#[test]
fn few_equal_and_no_points() {
    let o = options(Kernel::Laplace, true, M2l::Fft);
    for n in [0, 1, 3, 13, 40] {
        same_on_cpu::<f64>(&generate(Distribution::Cube, n, 3), &o);
    }
    let equal: Points = (0..50).map(|_| [0.25, 0.5, 0.75]).collect();
    same_on_cpu::<f64>(&equal, &o);
    let twice: Points = (0..400)
        .map(|i| [f64::from(i % 20), f64::from(i % 3), 0.0])
        .collect();
    same_on_cpu::<f64>(&twice, &o);
    // All but a few in one small cluster, so that one leaf exceeds all others.
    let one: Points = (0..900)
        .map(|i| {
            [
                1e-7 * f64::from(i),
                if i % 100 == 0 { 1.0 } else { 0.0 },
                0.0,
            ]
        })
        .collect();
    same_on_cpu::<f64>(&one, &o);
}

#[test]
fn ranks_have_about_equal_points_and_not_all() {
    let o = Options {
        ncrit: 60,
        ..options(Kernel::Laplace, false, M2l::Fft)
    };
    let points = generate(Distribution::Cube, 40_000, 3);
    let q = charges(points.len(), false, 5);
    let (_, counts) = together::<f64>(4, &points, &q, &o, &on_cpu);
    for (own, others) in counts {
        assert!((9_000..11_000).contains(&own), "{own}");
        assert!(others > 0 && own + others < 32_000, "{own} {others}");
    }
}

#[test]
fn ranks_have_about_equal_work() {
    let o = Options {
        ncrit: 40,
        ..options(Kernel::Laplace, false, M2l::Fft)
    };
    let imbalance = |distribution, ranks: usize| -> [f64; 2] {
        let points = generate(distribution, 20_000, 3);
        let all = threads::run(ranks, |r| {
            let n = points.len();
            let piece: Vec<usize> = (n * r.rank() / ranks..n * (r.rank() + 1) / ranks).collect();
            let (own, q) = (points.some(&piece), vec![1.0; piece.len()]);
            let sum = Distributed::<f64>::new(&*r, (&own, &q), &o)?;
            // Flops, counted apart from the estimate by which points are cut.
            let flops: f64 = phases(sum.plan()).iter().map(|p| p.flops).sum();
            Ok::<_, greenup_fmm::FmmError>((sum.imbalance(), flops))
        })
        .unwrap();
        let flops: Vec<f64> = all.iter().map(|a| a.1).collect();
        let mean = flops.iter().sum::<f64>() / ranks as f64;
        let of_flops = flops.iter().fold(0.0, |m: f64, f| m.max(*f)) / mean;
        let [before, after] = all[0].0;
        assert!(
            after <= before.max(1.03),
            "{distribution:?} {ranks}: {before} {after}"
        );
        [after, of_flops]
    };
    for distribution in [
        Distribution::Cube,
        Distribution::Sphere,
        Distribution::Plummer,
        Distribution::Clusters,
    ] {
        for ranks in [2, 4, 7] {
            let [estimated, flops] = imbalance(distribution, ranks);
            assert!(estimated < 1.1, "{distribution:?} {ranks}: {estimated}");
            assert!(flops < 1.2, "{distribution:?} {ranks}: {flops}");
        }
    }
}

#[test]
fn ranks_on_the_emulator_have_the_digits_of_one() {
    let (points, o) = small();
    let q = charges(points.len(), false, 5);
    let plan = Arc::new(Plan::<f32>::new(&points, None, &o).unwrap());
    let gpu = |p| -> Box<dyn Steps<f32>> { Box::new(emulated(p)) };
    let whole = bits(&gpu(plan).evaluate(&q).unwrap());
    let (some, _) = together::<f32>(3, &points, &q, &o, &gpu);
    assert!(bits(&some) == whole);
}
