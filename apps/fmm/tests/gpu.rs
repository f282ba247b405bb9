//! Kernels of GPUs without one: all compile, and whole evaluations are right on the host's fibers: the same launches of the
//! same text.

mod fibers;

use fibers::Fibers;
use greenup_device::cuda::{Compiler, Source};
use greenup_fmm::cpu::Cpu;
use greenup_fmm::engine::Engine as _;
use greenup_fmm::gpu::{Config, Gpu, room, sisters, source};
use greenup_fmm::kernel::Kernel;
use greenup_fmm::operators::surface;
use greenup_fmm::plan::{M2l, Options, Plan};
use greenup_fmm::points::{Distribution, Points, charges, generate};
use greenup_fmm::real::Real;

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

fn options(kernel: Kernel, gradient: bool, most: usize) -> Options {
    Options {
        kernel,
        tolerance: 1e-3,
        gradient,
        most,
        m2l: M2l::Fft,
        edge: Some(3),
    }
}

/// The largest difference of sums on fibers from those of the CPU, over the largest of these.
fn difference<R: Real>(
    kernel: Kernel,
    gradient: bool,
    (points, targets): (&Points, Option<&Points>),
    most: usize,
    words: &str,
) -> f64 {
    let plan = Plan::<R>::new(points, targets, &options(kernel, gradient, most)).unwrap();
    let config = Config::default_for::<R>(kernel, gradient)
        .with(words)
        .unwrap();
    let charges = charges(points.len() * kernel.inputs(), false, 3);
    let text = source::<R>(kernel, gradient, plan.order(), plan.surface(), &config);
    // SAFETY: the fibers were built of this plan's and config's source.
    let mut gpu = unsafe { Gpu::on(Fibers::new(&text), &plan, config) }.unwrap();
    let got = gpu.evaluate(&charges).unwrap();
    let want = Cpu::new(&plan).evaluate(&charges).unwrap();
    assert_eq!(got.len(), want.len());
    assert!(got.iter().all(|x| x.is_finite()), "{kernel} {words}");
    // Slopes and potentials are of different sizes.
    let n = plan.targets();
    (got.chunks(n).zip(want.chunks(n)))
        .map(|(g, w)| {
            let size = w.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let away = g.iter().zip(w).map(|(a, b)| (a - b).abs());
            away.fold(0.0, f64::max) / size
        })
        .fold(0.0, f64::max)
}

const ALL: [(Kernel, bool); 5] = [
    (Kernel::Laplace, false),
    (Kernel::Laplace, true),
    (Kernel::Yukawa { kappa: 2.0 }, true),
    (Kernel::Helmholtz { k: 1.0 }, true),
    (Kernel::Stokes { mu: 1.0 }, false),
];

#[test]
fn u_lists_are_right_on_fibers() {
    // Boxes of level 1: all beside each other.
    let points = generate(Distribution::Clusters, 403, 2);
    let all = (&points, None);
    for words in [
        "",
        "form=0,tile=0,targets=2,threads=32",
        "form=0,tile=32,targets=3,threads=64,unroll=3",
        "form=0,tile=1,targets=2,threads=64,width=1",
    ] {
        for (kernel, gradient) in ALL {
            let e = difference::<f64>(kernel, gradient, all, 300, words);
            assert!(e < 1e-12, "{kernel} {gradient} {words}: {e}");
        }
        let e = difference::<f32>(Kernel::Laplace, true, all, 300, words);
        assert!(e < 1e-5, "{words}: {e}");
    }
    for words in [
        "form=1,tile=32,targets=2,threads=32",
        "form=1,tile=1,targets=1,threads=64,width=2",
        "form=1,tile=32,targets=3,threads=96,width=1",
    ] {
        let e = difference::<f64>(Kernel::Laplace, false, all, 300, words);
        assert!(e < 1e-12, "{words}: {e}");
        let e = difference::<f32>(Kernel::Laplace, false, all, 300, words);
        assert!(e < 1e-5, "{words}: {e}");
    }
}

#[test]
fn a_source_alone_is_at_its_own_place() {
    let points = Points {
        x: [vec![-1.0, 1.0], vec![0.5, 0.25], vec![0.0, 0.125]],
    };
    for words in ["form=1,tile=32,threads=32", "form=1,tile=1", "tile=1"] {
        let e = difference::<f32>(Kernel::Laplace, false, (&points, None), 1, words);
        assert!(e < 1e-6, "{words}: {e}");
    }
}

#[test]
fn whole_evaluations_are_right_on_fibers() {
    let points = generate(Distribution::Clusters, 300, 2);
    let targets = generate(Distribution::Sphere, 150, 5);
    // All lists of an uneven tree have something.
    let plan = Plan::<f64>::new(&points, None, &options(Kernel::Laplace, false, 9)).unwrap();
    let some = |list: &dyn Fn(usize) -> bool| (0..plan.tree().nodes.len()).any(list);
    assert!(plan.tree().levels.len() > 4);
    assert!(some(&|i| !plan.lists().w.of_box(i).is_empty()));
    assert!(some(&|i| !plan.lists().x.of_box(i).is_empty()));
    for (kernel, gradient) in ALL {
        for given in [(&points, None), (&points, Some(&targets))] {
            let e = difference::<f64>(kernel, gradient, given, 9, "");
            assert!(e < 1e-11, "{kernel} {gradient}: {e}");
        }
    }
    let e = difference::<f32>(Kernel::Laplace, true, (&points, Some(&targets)), 9, "");
    assert!(e < 1e-4, "{e}");
}
