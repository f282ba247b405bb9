//! Errors against direct sums, over kernels, distributions, precisions and ways.

use greenup_fmm::check::errors;
use greenup_fmm::cpu::Cpu;
use greenup_fmm::engine::Engine as _;
use greenup_fmm::kernel::Kernel;
use greenup_fmm::options::{M2l, Options};
use greenup_fmm::plan::Plan;
use greenup_fmm::points::{Distribution, Points, charges, generate};
use greenup_fmm::precision::Real;
use std::sync::Arc;

fn options(kernel: Kernel, tolerance: f64, gradient: bool) -> Options {
    Options {
        kernel,
        tolerance,
        gradient,
        ncrit: 30,
        m2l: M2l::Fft,
        order: None,
    }
}

/// Potential and gradient errors.
fn error<R: Real>(points: &Points, targets: Option<&Points>, o: &Options) -> (f64, f64) {
    let q = charges(points.len() * o.kernel.inputs(), false, 5);
    let plan = Plan::<R>::new(points, targets, o).unwrap();
    let out = Cpu::new(Arc::new(plan)).evaluate(&q).unwrap();
    let e = errors(
        o.kernel,
        o.gradient,
        (points, &q),
        targets.unwrap_or(points),
        &out,
        300,
    );
    (e.potential, e.gradient.unwrap_or(0.0))
}

fn laplace_keeps(d: Distribution, tolerance: f64) {
    let points = generate(d, 6001, 3);
    let (p, g) = error::<f64>(&points, None, &options(Kernel::Laplace, tolerance, true));
    assert!(
        p <= tolerance && g <= tolerance,
        "{d:?} {tolerance}: {p} {g}"
    );
    let (p, _) = error::<f64>(&points, None, &options(Kernel::Laplace, tolerance, false));
    assert!(p <= tolerance, "{d:?} {tolerance}: {p}");
    // Not by far more than was asked for, which would be wasted.
    assert!(p > 1e-3 * tolerance, "{d:?} {tolerance}: {p}");
}

const CLOUDS: [Distribution; 4] = [
    Distribution::Cube,
    Distribution::Sphere,
    Distribution::Plummer,
    Distribution::Clusters,
];

#[test]
fn laplace_keeps_its_accuracy() {
    for d in CLOUDS {
        for tolerance in [1e-3, 1e-6] {
            laplace_keeps(d, tolerance);
        }
    }
    laplace_keeps(Distribution::Clusters, 1e-9);
}

#[test]
#[ignore = "slow: large operators"]
fn laplace_keeps_nine_digits_of_every_cloud_at_length() {
    for d in CLOUDS {
        laplace_keeps(d, 1e-9);
    }
}

#[test]
fn other_kernels_keep_theirs() {
    let points = generate(Distribution::Clusters, 3001, 4);
    for (kernel, gradient) in [
        (Kernel::Yukawa { kappa: 3.0 }, true),
        (Kernel::Helmholtz { k: 6.0 }, true),
        (Kernel::Stokes { mu: 0.5 }, false),
    ] {
        for tolerance in [1e-3, 1e-5] {
            let (p, g) = error::<f64>(&points, None, &options(kernel, tolerance, gradient));
            assert!(
                p <= tolerance && g <= tolerance,
                "{kernel} {tolerance}: {p} {g}"
            );
        }
    }
}

#[test]
fn the_shortest_waves_that_are_taken_keep_their_accuracy() {
    let points = generate(Distribution::Cube, 4001, 6);
    for (tolerance, gradient) in [(1e-3, false), (1e-6, false), (1e-3, true), (1e-6, true)] {
        // The largest k that is not refused, for a cube of half width 1/2.
        let of = |k: f64| options(Kernel::Helmholtz { k }, tolerance, gradient);
        let mut k = 40.0;
        while Plan::<f64>::new(&points, None, &of(k)).is_err() {
            k *= 0.97;
        }
        assert!(k > 9.0, "{tolerance}: {k}");
        let (p, g) = error::<f64>(&points, None, &of(k));
        assert!(p <= tolerance && g <= tolerance, "{k} {tolerance}: {p} {g}");
    }
}

#[test]
fn single_precision_keeps_what_it_can() {
    for d in [
        Distribution::Cube,
        Distribution::Sphere,
        Distribution::Clusters,
    ] {
        let points = generate(d, 5003, 3);
        let (p, _) = error::<f32>(&points, None, &options(Kernel::Laplace, 1e-4, false));
        assert!(p <= 1e-4, "{d:?}: {p}");
        let (p, g) = error::<f32>(&points, None, &options(Kernel::Laplace, 1e-3, true));
        assert!(p <= 1e-3 && g <= 1e-3, "{d:?}: {p} {g}");
    }
}

#[test]
fn targets_need_not_be_sources() {
    let sources = generate(Distribution::Clusters, 4001, 7);
    let targets = generate(Distribution::Plummer, 1999, 8);
    for ncrit in [1, 7, 64, 4001] {
        let o = Options {
            ncrit,
            ..options(Kernel::Laplace, 1e-5, true)
        };
        let (p, g) = error::<f64>(&sources, Some(&targets), &o);
        assert!(p <= 1e-5 && g <= 1e-5, "{ncrit}: {p} {g}");
    }
}

#[test]
fn compressed_matrices_give_the_same() {
    let points = generate(Distribution::Plummer, 4001, 9);
    for kernel in [Kernel::Laplace, Kernel::Stokes { mu: 1.0 }] {
        let o = Options {
            m2l: M2l::Compressed,
            ..options(kernel, 1e-4, false)
        };
        let (p, _) = error::<f64>(&points, None, &o);
        assert!(p <= 1e-4, "{kernel}: {p}");
    }
    let o = Options {
        m2l: M2l::Compressed,
        ..options(Kernel::Laplace, 1e-9, false)
    };
    let refused = Plan::<f64>::new(&points, None, &o).err().unwrap();
    assert!(refused.to_string().contains("--m2l fft"), "{refused}");
}

#[test]
fn few_points_and_bad_ones() {
    let o = options(Kernel::Laplace, 1e-6, true);
    for n in 0..=2 {
        let points = generate(Distribution::Cube, n, 1);
        let (p, g) = error::<f64>(&points, None, &o);
        assert!(p < 1e-9 && g < 1e-9, "{n}: {p} {g}");
    }
    // Coincident points give nothing to each other, in one spot or in many.
    let mut points = generate(Distribution::Cube, 500, 1);
    for x in &mut points.x {
        let copy = x.clone();
        x.extend(copy);
    }
    let (p, g) = error::<f64>(&points, None, &o);
    assert!(p <= 1e-6 && g <= 1e-6, "{p} {g}");
    let spot: Points = (0..300).map(|_| [0.3, -2.0, 5.0]).collect();
    let plan = Plan::<f64>::new(&spot, None, &o).unwrap();
    let out = Cpu::new(Arc::new(plan)).evaluate(&[1.0; 300]).unwrap();
    assert!(out.iter().all(|x| *x == 0.0));
    // Far from 0, in any unit.
    let far: Points = (0..1000)
        .map(|i| {
            generate(Distribution::Cube, 1000, 2)
                .at(i)
                .map(|x| x * 1e300)
        })
        .take(400)
        .collect();
    let plan = Plan::<f64>::new(&far, None, &o).unwrap();
    let out = Cpu::new(Arc::new(plan)).evaluate(&[1.0; 400]).unwrap();
    assert!(out.iter().all(|x| x.is_finite()) && out[0] > 1e-300);
    for (bad, words) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let points: Points = [[0.0; 3], [1.0, bad, 0.0]].into_iter().collect();
        let e = Plan::<f64>::new(&points, None, &o)
            .err()
            .unwrap()
            .to_string();
        assert!(e.contains("source 2") && e.contains(words), "{e}");
    }
    let points = generate(Distribution::Cube, 10, 1);
    let plan = Plan::<f32>::new(&points, None, &options(Kernel::Laplace, 1e-3, false)).unwrap();
    let mut cpu = Cpu::new(Arc::new(plan));
    assert!(cpu.evaluate(&[0.0; 10]).unwrap().iter().all(|x| *x == 0.0));
    let mut all = [1.0; 10];
    all[3] = f64::NAN;
    let e = cpu.evaluate(&all).unwrap_err().to_string();
    assert!(e.contains("source 4 is NaN"), "{e}");
    // Charges near the ends of the numbers, in either precision, as those near 1.
    let usual = cpu.evaluate(&[1.5; 10]).unwrap();
    for size in [1e300, 1e-300] {
        let strong = cpu.evaluate(&[1.5 * size; 10]).unwrap();
        for (a, b) in strong.iter().zip(&usual) {
            assert!((a / size / b - 1.0).abs() < 1e-6, "{a} {b}");
        }
    }
    assert!(cpu.evaluate(&[1.0; 9]).is_err());
}

#[test]
fn what_cannot_be_reached_is_refused() {
    let points = generate(Distribution::Cube, 10, 1);
    for (tolerance, words) in [
        (1e-16, "5e-5"),
        (0.0, "between 0 and 1"),
        (f64::NAN, "between 0 and 1"),
    ] {
        let e = Plan::<f32>::new(&points, None, &options(Kernel::Laplace, tolerance, false))
            .err()
            .unwrap()
            .to_string();
        assert!(e.contains(words), "{e}");
    }
    for (kernel, gradient, words) in [
        (Kernel::Yukawa { kappa: -1.0 }, false, "kappa"),
        (Kernel::Stokes { mu: 0.0 }, false, "mu"),
        (Kernel::Stokes { mu: 1.0 }, true, "velocities"),
        (Kernel::Helmholtz { k: 1e4 }, false, "low frequencies"),
    ] {
        let e = Plan::<f64>::new(&points, None, &options(kernel, 1e-6, gradient))
            .err()
            .unwrap()
            .to_string();
        assert!(e.contains(words), "{e}");
    }
}
