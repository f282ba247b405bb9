//! Kernels of GPUs without one: all compile, and U lists are right on the host's fibers, from the same text.

use greenup_device::Isa;
use greenup_device::cuda::{Compiler, Source, on_fibers as fibers};
use greenup_fmm::direct;
use greenup_fmm::gpu::{Config, near_items, room, sisters, source};
use greenup_fmm::kernel::Kernel;
use greenup_fmm::operators::surface;
use greenup_fmm::plan::{M2l, Options, Plan};
use greenup_fmm::points::{Distribution, Points, charges, generate};
use greenup_fmm::real::Real;

/// What the host's header has not: the rest that these kernels call.
const MORE: &str = "
#include <cmath>
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
";

fn compiles<R: Real>(compiler: &Compiler, kernel: Kernel, gradient: bool, p: usize, words: &str) {
    let config = Config::default_for::<R>(kernel, gradient)
        .with(words)
        .unwrap();
    let text = source::<R>(kernel, gradient, p, surface::count(p), &config);
    let compiled = compiler
        .compile(&Source {
            name: "fmm.cu",
            text: &text,
            arch: "sm_90",
            options: &["--ftz=true".to_owned()],
        })
        .unwrap_or_else(|e| panic!("{kernel} {gradient} {p}: {e}"));
    assert!(compiled.warnings.is_empty(), "{}", compiled.warnings);
    assert!(room::<R>(p, sisters::<R>(p)) < 227 * 1024);
    for k in &compiled.kernels {
        let most = if k.name.contains("near") { 0 } else { 512 };
        assert!(
            k.spill_store_bytes <= most,
            "{kernel} {gradient} {p}: {k:?}"
        );
    }
}

#[test]
fn kernels_compile() {
    let Ok(compiler) = Compiler::new(None) else {
        // NVRTC is not here.
        return;
    };
    for kernel in [
        Kernel::Laplace,
        Kernel::Yukawa { kappa: 1.0 },
        Kernel::Helmholtz { k: 1.0 },
        Kernel::Stokes { mu: 1.0 },
    ] {
        for gradient in [false, true] {
            if gradient && kernel.check(true).is_err() {
                continue;
            }
            compiles::<f32>(&compiler, kernel, gradient, 4, "");
            compiles::<f64>(&compiler, kernel, gradient, 7, "");
        }
    }
    compiles::<f64>(&compiler, Kernel::Laplace, true, 12, "");
    compiles::<f32>(&compiler, Kernel::Laplace, false, 6, "");
    for words in [
        "form=1,tile=32",
        "form=1,tile=1,width=1",
        "form=0,tile=1",
        "form=0,tile=0,width=2",
    ] {
        compiles::<f32>(&compiler, Kernel::Laplace, false, 4, words);
        compiles::<f64>(&compiler, Kernel::Laplace, false, 7, words);
    }
}

/// U lists of a plan whose boxes all touch, on fibers, against direct sums: the largest difference over the largest sum.
fn on_fibers<R: Real>(kernel: Kernel, gradient: bool, words: &str) -> f64 {
    // Boxes of level 1: all beside each other.
    let points = generate(Distribution::Clusters, 403, 2);
    of_points::<R>(&points, 300, kernel, gradient, words)
}

fn of_points<R: Real>(
    points: &Points,
    most: usize,
    kernel: Kernel,
    gradient: bool,
    words: &str,
) -> f64 {
    let options = Options {
        kernel,
        tolerance: 1e-3,
        gradient,
        most,
        m2l: M2l::Fft,
        edge: Some(3),
    };
    let plan = Plan::<R>::new(points, None, &options).unwrap();
    assert!(plan.levels.is_empty());
    let config = Config::default_for::<R>(kernel, gradient)
        .with(words)
        .unwrap();
    let d = kernel.inputs();
    let charges = charges(points.len() * d, false, 3);
    let wide = |x: &[R]| -> Vec<f64> { x.iter().map(|x| x.wide()).collect() };
    let whole = |x: &[u32]| -> Vec<f64> { x.iter().map(|x| f64::from(*x)).collect() };
    let of = |i: usize, c: usize| charges[plan.source_from[i] as usize * d + c];
    let n = points.len();
    let places = (0..n)
        .flat_map(|i| {
            let at = [0, 1, 2].map(|a| plan.sources[a][i].wide());
            [at[0], at[1], at[2], of(i, 0)]
        })
        .collect();
    let more = (0..n)
        .flat_map(|i| (1..d).map(move |c| (i, c)))
        .map(|(i, c)| of(i, c))
        .collect();
    let (items, ranges) = near_items(&plan, &config);
    let parameter = kernel.parameter(plan.unit);
    let arrays: [Vec<f64>; 8] = [
        places,
        more,
        wide(&plan.targets[0]),
        wide(&plan.targets[1]),
        wide(&plan.targets[2]),
        whole(&items),
        whole(&ranges),
        vec![parameter],
    ];
    let dir = tempfile::tempdir().unwrap();
    let text = source::<R>(kernel, gradient, plan.p, plan.surface, &config);
    let got = fibers(
        &format!("{MORE}{text}"),
        include_str!("twin.cpp"),
        &arrays,
        dir.path(),
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let sorted: Vec<f64> = (0..n)
        .flat_map(|i| (0..d).map(move |c| (i, c)))
        .map(|(i, c)| of(i, c))
        .collect();
    let places: [Vec<f64>; 3] = std::array::from_fn(|a| wide(&plan.sources[a]));
    let want = direct::sums::<f64>(
        kernel,
        gradient,
        parameter,
        &places,
        &places,
        &sorted,
        Isa::Portable,
    );
    let size = want.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    assert_eq!(got.len(), want.len());
    assert!(got.iter().all(|x| x.is_finite()), "{words}");
    got.iter()
        .zip(&want)
        .map(|(a, b)| (a - b).abs() / size)
        .fold(0.0, f64::max)
}

#[test]
fn u_lists_are_right_on_fibers() {
    for words in [
        "",
        "form=0,tile=0,targets=2,threads=32",
        "form=0,tile=32,targets=3,threads=64,unroll=3",
        "form=0,tile=1,targets=2,threads=64,width=1",
    ] {
        for (kernel, gradient) in [
            (Kernel::Laplace, false),
            (Kernel::Laplace, true),
            (Kernel::Yukawa { kappa: 2.0 }, true),
            (Kernel::Helmholtz { k: 3.0 }, true),
            (Kernel::Stokes { mu: 1.0 }, false),
        ] {
            let e = on_fibers::<f64>(kernel, gradient, words);
            assert!(e < 1e-12, "{kernel} {gradient} {words}: {e}");
        }
        let e = on_fibers::<f32>(Kernel::Laplace, true, words);
        assert!(e < 1e-5, "{words}: {e}");
    }
    for words in [
        "form=1,tile=32,targets=2,threads=32",
        "form=1,tile=1,targets=1,threads=64,width=2",
        "form=1,tile=32,targets=3,threads=96,width=1",
    ] {
        let e = on_fibers::<f64>(Kernel::Laplace, false, words);
        assert!(e < 1e-12, "{words}: {e}");
        let e = on_fibers::<f32>(Kernel::Laplace, false, words);
        assert!(e < 1e-5, "{words}: {e}");
    }
}

#[test]
fn a_source_alone_is_at_its_own_place() {
    let points = Points {
        x: [vec![-1.0, 1.0], vec![0.5, 0.25], vec![0.0, 0.125]],
    };
    for words in ["form=1,tile=32,threads=32", "form=1,tile=1", "tile=1"] {
        let e = of_points::<f32>(&points, 1, Kernel::Laplace, false, words);
        assert!(e < 1e-6, "{words}: {e}");
    }
}
