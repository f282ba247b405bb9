//! GPU kernels without a GPU: all compile, and evaluations are right on the emulator: the same launches of the same source.

use super::largest_difference;
use greenup_device::cuda::{Compiler, Emulator, Source};
use greenup_fmm::cpu::Cpu;
use greenup_fmm::engine::Engine as _;
use greenup_fmm::gpu::{
    Config, Gpu, InstructionMix, KERNELS, MIX_KERNELS, mix_positions, mix_source, shared_bytes,
    siblings, source,
};
use greenup_fmm::kernel::Kernel;
use greenup_fmm::operators::surface;
use greenup_fmm::options::{M2l, Options};
use greenup_fmm::plan::Plan;
use greenup_fmm::points::{Distribution, Points, charges, generate};
use greenup_fmm::precision::Real;
use std::sync::Arc;

fn compiles<R: Real>(
    compiler: &Compiler,
    kernel: Kernel,
    gradient: bool,
    p: usize,
    parameters: &str,
) {
    let config = Config::default_for::<R>(kernel, gradient)
        .with(parameters)
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
    assert!(shared_bytes::<R>(p, siblings::<R>(p)) < 227 * 1024);
    for k in &compiled.kernels {
        let max = if k.name.contains("p2p") { 0 } else { 512 };
        assert!(k.spill_store_bytes <= max, "{kernel} {gradient} {p}: {k:?}");
    }
}

#[test]
#[ignore = "needs NVRTC (GREENUP_CUDA)"]
fn kernels_compile() {
    let compiler = Compiler::new(None).unwrap();
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
    for config in [
        "form=1,tile=32",
        "form=1,tile=1,width=1",
        "form=0,tile=1",
        "form=0,tile=0,width=2",
    ] {
        compiles::<f32>(&compiler, Kernel::Laplace, false, 4, config);
        compiles::<f64>(&compiler, Kernel::Laplace, false, 7, config);
    }
}

fn options(kernel: Kernel, gradient: bool, ncrit: usize) -> Options {
    Options {
        kernel,
        tolerance: 1e-3,
        gradient,
        ncrit,
        m2l: M2l::Fft,
        order: Some(3),
    }
}

/// The largest difference of sums on the emulator from those of the CPU, over the largest of these.
fn difference<R: Real>(
    kernel: Kernel,
    gradient: bool,
    (points, targets): (&Points, Option<&Points>),
    ncrit: usize,
    parameters: &str,
) -> f64 {
    let plan =
        Arc::new(Plan::<R>::new(points, targets, &options(kernel, gradient, ncrit)).unwrap());
    let config = Config::default_for::<R>(kernel, gradient)
        .with(parameters)
        .unwrap();
    let charges = charges(points.len() * kernel.inputs(), false, 3);
    let text = source::<R>(kernel, gradient, plan.order(), plan.surface(), &config);
    let folder = tempfile::tempdir().unwrap();
    let emulator = Emulator::compile(&text, &KERNELS, folder.path()).unwrap();
    // SAFETY: the emulator was compiled from the source of this plan and config.
    let mut gpu = unsafe { Gpu::on(emulator, Arc::clone(&plan), config) }.unwrap();
    let got = gpu.evaluate(&charges).unwrap();
    let want = Cpu::new(Arc::clone(&plan)).evaluate(&charges).unwrap();
    assert!(got.iter().all(|x| x.is_finite()), "{kernel} {parameters}");
    largest_difference(&got, &want, plan.targets())
}

/// What the CPU's reciprocal roots allow in double precision: 2e-11 each with AVX2 (`vector.h`), three of them
/// in a gradient (1/r³), and sums may cancel.
const OF_ROOTS: f64 = 5e-10;

const ALL: [(Kernel, bool); 5] = [
    (Kernel::Laplace, false),
    (Kernel::Laplace, true),
    (Kernel::Yukawa { kappa: 2.0 }, true),
    (Kernel::Helmholtz { k: 1.0 }, true),
    (Kernel::Stokes { mu: 1.0 }, false),
];

/// Forms of the loop over sources, and forms of Laplace's potential alone.
const FORMS: [&str; 4] = [
    "",
    "form=0,tile=0,targets=2,threads=32",
    "form=0,tile=32,targets=3,threads=64,unroll=3",
    "form=0,tile=1,targets=2,threads=64,width=1",
];
const LAPLACE_FORMS: [&str; 3] = [
    "form=1,tile=32,targets=2,threads=32",
    "form=1,tile=1,targets=1,threads=64,width=2",
    "form=1,tile=32,targets=3,threads=96,width=1",
];

/// Close pairs on boxes of level 1, which are all beside each other.
fn u_lists_are_right<R: Real>(kernel: Kernel, gradient: bool, config: &str) {
    let points = generate(Distribution::Clusters, 403, 2);
    let e = difference::<R>(kernel, gradient, (&points, None), 300, config);
    let most = if size_of::<R>() == 4 { 1e-5 } else { OF_ROOTS };
    assert!(e < most, "{kernel} {gradient} {config}: {e}");
}

#[test]
fn u_lists_are_right_on_the_emulator() {
    // Every kernel in one form, every form with one kernel.
    for (k, (kernel, gradient)) in ALL.into_iter().enumerate() {
        u_lists_are_right::<f64>(kernel, gradient, FORMS[k % 4]);
    }
    u_lists_are_right::<f32>(Kernel::Laplace, true, FORMS[2]);
    for config in LAPLACE_FORMS {
        u_lists_are_right::<f64>(Kernel::Laplace, false, config);
    }
    u_lists_are_right::<f32>(Kernel::Laplace, false, LAPLACE_FORMS[1]);
}

#[test]
#[ignore = "slow: compiles every kernel in every form"]
fn u_lists_are_right_in_every_form_at_length() {
    for config in FORMS {
        for (kernel, gradient) in ALL {
            u_lists_are_right::<f64>(kernel, gradient, config);
        }
        u_lists_are_right::<f32>(Kernel::Laplace, true, config);
    }
    for config in LAPLACE_FORMS {
        u_lists_are_right::<f64>(Kernel::Laplace, false, config);
        u_lists_are_right::<f32>(Kernel::Laplace, false, config);
    }
}

#[test]
fn a_source_alone_is_at_its_own_place() {
    let points = Points {
        x: [vec![-1.0, 1.0], vec![0.5, 0.25], vec![0.0, 0.125]],
    };
    for config in ["form=1,tile=32,threads=32", "form=1,tile=1", "tile=1"] {
        let e = difference::<f32>(Kernel::Laplace, false, (&points, None), 1, config);
        assert!(e < 1e-6, "{config}: {e}");
    }
}

#[test]
fn whole_evaluations_are_right_on_the_emulator() {
    let points = generate(Distribution::Clusters, 300, 2);
    let targets = generate(Distribution::Sphere, 150, 5);
    // All lists of an uneven tree have something.
    let plan = Plan::<f64>::new(&points, None, &options(Kernel::Laplace, false, 9)).unwrap();
    let some = |list: &dyn Fn(usize) -> bool| (0..plan.tree().nodes.len()).any(list);
    assert!(plan.tree().levels.len() > 4);
    assert!(some(&|i| !plan.lists().w.of_box(i).is_empty()));
    assert!(some(&|i| !plan.lists().x.of_box(i).is_empty()));
    for (kernel, gradient) in ALL {
        let e = difference::<f64>(kernel, gradient, (&points, Some(&targets)), 9, "");
        assert!(e < OF_ROOTS, "{kernel} {gradient}: {e}");
    }
    let e = difference::<f64>(Kernel::Laplace, true, (&points, None), 9, "");
    assert!(e < OF_ROOTS, "{e}");
    let e = difference::<f32>(Kernel::Laplace, true, (&points, Some(&targets)), 9, "");
    assert!(e < 1e-4, "{e}");
}

#[test]
#[ignore = "slow: compiles every kernel"]
fn points_that_are_sources_and_targets_are_right_for_every_kernel_at_length() {
    let points = generate(Distribution::Clusters, 300, 2);
    for (kernel, gradient) in ALL {
        let e = difference::<f64>(kernel, gradient, (&points, None), 9, "");
        assert!(e < OF_ROOTS, "{kernel} {gradient}: {e}");
    }
}

/// Sums of the instruction mix on the emulator, and what its arithmetic gives in double precision.
fn mix<R: Real>(config: &str, rounds: usize) -> [f64; 2] {
    let config = Config::default_for::<R>(Kernel::Laplace, false)
        .with(config)
        .unwrap();
    let text = mix_source::<R>(Kernel::Laplace, false, &config);
    let folder = tempfile::tempdir().unwrap();
    let emulator = Emulator::compile(&text, &MIX_KERNELS, folder.path()).unwrap();
    let of = (Kernel::Laplace, false);
    // SAFETY: the emulator was compiled from the source of this kernel and config.
    let mix = unsafe { InstructionMix::<R, _>::on(emulator, of, config, 3) }.unwrap();
    let got = mix.sums(rounds).unwrap();
    let p: Vec<[f64; 4]> = mix_positions()
        .into_iter()
        .map(|p| p.map(|x| R::of(x).wide()))
        .collect();
    let (steps, starts, tile) = (&p[..8], &p[8..1032], &p[1032..]);
    assert_eq!(tile.len(), 128);
    let inverse = |d: [f64; 3]| d.iter().map(|x| x * x).sum::<f64>().sqrt().recip();
    let mut worst = [0.0f64; 2];
    for (i, unrolled) in got[0].iter().enumerate() {
        let [x, y, z, _] = starts[i % 1024];
        let (mut d, mut sum) = ([x, y, z], 0.0);
        for _ in 0..rounds {
            for s in steps {
                d = [d[0] - s[0], d[1] - s[1], d[2] - s[2]];
                sum += s[3] * inverse(d);
            }
        }
        worst[0] = worst[0].max((unrolled.wide() / sum - 1.0).abs());
        let sum: f64 = tile
            .iter()
            .map(|s| s[3] * inverse([x - s[0], y - s[1], z - s[2]]))
            .sum();
        let sum = sum * rounds as f64;
        worst[1] = worst[1].max((got[1][i].wide() / sum - 1.0).abs());
    }
    assert!(got[0].len() == got[1].len() && got[0].len() % 96 == 0);
    worst
}

#[test]
fn the_instruction_mix_sums_what_it_counts() {
    for config in ["", "threads=32,targets=3,unroll=4,width=2"] {
        let e = mix::<f64>(config, 5);
        assert!(e.iter().all(|e| *e < 1e-12), "{config}: {e:?}");
        let e = mix::<f32>(config, 5);
        assert!(e.iter().all(|e| *e < 1e-5), "{config}: {e:?}");
    }
}

#[test]
#[ignore = "needs NVRTC (GREENUP_CUDA)"]
fn the_instruction_mix_compiles() {
    let compiler = Compiler::new(None).unwrap();
    let compile = |text: &str| {
        let source = Source {
            name: "mix.cu",
            text,
            arch: "sm_90",
            options: &["--ftz=true".to_owned()],
        };
        compiler.compile(&source).unwrap()
    };
    for (kernel, gradient) in ALL {
        let f32 = Config::default_for::<f32>(kernel, gradient);
        let f64 = Config::default_for::<f64>(kernel, gradient);
        for compiled in [
            compile(&mix_source::<f32>(kernel, gradient, &f32)),
            compile(&mix_source::<f64>(kernel, gradient, &f64)),
        ] {
            assert!(compiled.warnings.is_empty(), "{}", compiled.warnings);
            for k in &compiled.kernels {
                assert_eq!(k.spill_store_bytes, 0, "{kernel} {gradient}: {k:?}");
            }
        }
    }
}
