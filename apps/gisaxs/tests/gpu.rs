//! The GPU kernels without a GPU: every one compiles, and the direct sums are right on the host's fibers,
//! from the same text.

use greenup_device::cuda::{Compiler, Gpu, Source};
use greenup_meter::observe::Silent;
use greenup_space::{Facts, Index, Limits, Value};
use greenup_tune::GpuTarget;
use greenup_tune::Problem;
use greenup_tune::build::cubin::{ready, source};
use greenup_tune::build::emulator;
use greenup_tune::worker::inputs::arguments::Arguments;
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kernels/gpu")
}

fn problem(constants: &[(&str, i64)]) -> Problem {
    page("problem.toml", constants)
}

fn page(name: &str, constants: &[(&str, i64)]) -> Problem {
    let gpu = Gpu::known("h200").unwrap();
    let facts: Facts = gpu
        .named()
        .iter()
        .map(|(k, v)| ((*k).to_owned(), Value::Int(*v)))
        .collect();
    let set: Vec<(String, toml::Value)> = constants
        .iter()
        .map(|(k, v)| ((*k).to_owned(), toml::Value::Integer(*v)))
        .collect();
    Problem::read_with(&folder().join(name), &facts, &set).unwrap()
}

#[test]
#[ignore = "needs NVRTC"]
fn kernels_compile_without_spills() {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&[]);
    let on = GpuTarget {
        gpu: Gpu::known("h200").unwrap(),
        cubins: dir.path().join("cubins"),
    };
    let compiler = Compiler::new(Some(&on.cubins)).unwrap();
    let index = Index::build(&p.space, &Limits::default()).unwrap();
    let mut rng = fastrand::Rng::with_seed(3);
    let mut launched = 0;
    for _ in 0..12 {
        let config = index.get(rng.u64(..index.len())).unwrap();
        let cuda = source(&p, &config, &on).unwrap();
        let text = std::fs::read_to_string(&cuda.source).unwrap();
        let compiled = compiler
            .compile(&Source {
                name: "direct.cu",
                text: &text,
                arch: &cuda.arch,
                options: &cuda.options,
            })
            .unwrap_or_else(|e| panic!("{config:?}\n{e}"));
        assert_eq!(compiled.warnings, "", "{config:?}");
        let file = compiled.file.clone().unwrap();
        let r = ready(&p, &config, &on, file, &compiled.kernels).unwrap();
        launched += usize::from(r.rejected.is_none());
    }
    assert!(launched >= 8, "{launched}");
    let sine = std::fs::read_to_string(folder().join("sine.cuh")).unwrap();
    let list = [
        "threads=128",
        "points=4",
        "tile=128",
        "by_hand=0",
        "damped=1",
    ];
    let list = |bits: u32| -> Vec<String> {
        let named = format!("bits={bits}");
        let all = list.into_iter().chain([named.as_str()]);
        all.map(|d| format!("-D{d}")).collect()
    };
    for (name, arch, options, count) in [
        ("grid.cu", "sm_90", vec!["-DBITS=32".to_owned()], 7),
        ("grid.cu", "sm_90", vec!["-DBITS=64".to_owned()], 7),
        ("direct_list.cu", "sm_90", list(32), 1),
        ("direct_list.cu", "sm_90", list(64), 1),
        ("gemm_f16x2.cu", "sm_90a", vec![], 4),
        ("nufft_detector.cu", "sm_90", vec![], 4),
    ] {
        let text = std::fs::read_to_string(folder().join(name)).unwrap();
        let text = text.replace("#include \"sine.cuh\"", &sine);
        let source = Source {
            name,
            text: &text,
            arch,
            options: &options,
        };
        let compiled = compiler.compile(&source).unwrap();
        assert_eq!(compiled.kernels.len(), count, "{name} {options:?}");
        for k in &compiled.kernels {
            let spilled = k.spill_store_bytes + k.spill_load_bytes;
            assert_eq!(spilled, 0, "{name} {options:?}: {}", k.name);
        }
    }
}

/// The floats of an array.
fn floats(bytes: &[u8]) -> Vec<f64> {
    let (all, _) = bytes.as_chunks::<4>();
    all.iter().map(|b| f32::from_ne_bytes(*b).into()).collect()
}

/// Largest error and largest sum of a kernel on a grid of q, run on fibers.
fn off_the_formula(
    p: &Problem,
    config: &[Value],
    (ny, nz): (usize, usize),
    damped: i64,
) -> (f64, f64) {
    let dir = tempfile::tempdir().unwrap();
    let built = emulator::compile(p, config, &dir.path().join("build"), &Silent)
        .unwrap_or_else(|e| panic!("{e}"));
    let mut args = Arguments::new(&p.data, 5, dir.path()).unwrap();
    let all = |args: &Arguments| -> Vec<Vec<f64>> {
        args.blocks()
            .map(|(_, array)| floats(array.contents()))
            .collect()
    };
    let before = all(&args);
    emulator::run(&built, &mut args).unwrap();
    let after = all(&args);
    let (node, qy, qz, loss) = (&before[0], &before[1], &before[2], &before[3]);
    let out = after.last().unwrap();
    let qx = 0.05_f32 as f64;
    let (mut worst, mut top) = (0.0_f64, 0.0_f64);
    for k in 0..nz {
        for j in 0..ny {
            let mut sum = [0.0; 4];
            for n in node.chunks(8) {
                let (s, c) = (TAU * (qx * n[0] + qy[j] * n[1] + qz[k] * n[2])).sin_cos();
                let e = if damped == 1 {
                    (loss[k] * n[2]).exp2()
                } else {
                    1.0
                };
                let w = qx * n[3] + qy[j] * n[4];
                for (m, v) in [w * c, w * s, n[5] * c, n[5] * s].iter().enumerate() {
                    sum[m] += e * v;
                }
            }
            for (m, want) in sum.iter().enumerate() {
                worst = worst.max((out[(m * nz + k) * ny + j] - want).abs());
                top = top.max(want.abs());
            }
        }
    }
    (worst, top)
}

#[test]
fn direct_sums_on_fibers_are_those_of_the_formula() {
    // Odd sizes: blocks, tiles and hyperblocks with remainders.
    let (ny, nz) = (37, 19);
    for damped in [0, 1] {
        let p = problem(&[
            ("triangles", 300),
            ("size_y", ny as i64),
            ("size_z", nz as i64),
            ("damped", damped),
        ]);
        for (names, values) in [
            ([8, 16, 1, 1, 32, 1, 1, 0], [0, 256, 64]),
            ([16, 4, 2, 2, 64, 2, 2, 2], [1, 256, 64]),
            ([32, 2, 2, 1, 32, 3, 4, 1], [0, 256, 128]),
            ([32, 4, 4, 2, 128, 4, 1, 2], [3, 512, 64]),
        ] {
            let [dim_y, dim_z, per_y, per_z, tile, buffers, steps, sine] = names.map(Value::Int);
            let [by_hand, h_y, h_z] = values.map(Value::Int);
            let config = [
                dim_y,
                dim_z,
                per_y,
                per_z,
                tile,
                buffers,
                steps,
                sine,
                by_hand,
                h_y,
                h_z,
                Value::Int(512),
            ];
            let (worst, top) = off_the_formula(&p, &config, (ny, nz), damped);
            assert!(worst < 2e-6 * top, "{names:?} {values:?}: {worst} of {top}");
        }
    }
}

#[test]
fn sums_of_one_and_of_two_kernels_are_those_of_the_formula() {
    let (ny, nz) = (37, 19);
    for damped in [0, 1] {
        let sizes = [
            ("triangles", 300),
            ("size_y", ny as i64),
            ("size_z", nz as i64),
            ("damped", damped),
        ];
        let p = page("unfused.toml", &sizes);
        for config in [[0, 32, 2, 64, 4], [0, 32, 1, 4, 1], [1, 64, 2, 16, 16]] {
            let (worst, top) = off_the_formula(&p, &config.map(Value::Int), (ny, nz), damped);
            assert!(worst < 2e-6 * top, "{config:?}: {worst} of {top}");
        }
    }
}

#[test]
fn listed_sums_on_fibers_are_those_of_the_formula() {
    let count = 777;
    for damped in [0, 1] {
        let sizes = [
            ("triangles", 300),
            ("point_count", count),
            ("damped", damped),
        ];
        let p = page("direct_list.toml", &sizes);
        for config in [[64, 1, 32, 0], [128, 4, 128, 2], [64, 8, 256, 3]] {
            let config = config.map(Value::Int);
            let dir = tempfile::tempdir().unwrap();
            let built = emulator::compile(&p, &config, &dir.path().join("build"), &Silent)
                .unwrap_or_else(|e| panic!("{e}"));
            let mut args = Arguments::new(&p.data, 5, dir.path()).unwrap();
            let arrays: Vec<Vec<f64>> = args
                .blocks()
                .take(2)
                .map(|(_, array)| floats(array.contents()))
                .collect();
            let (node, q) = (&arrays[0], &arrays[1]);
            emulator::run(&built, &mut args).unwrap();
            let (_, out) = args.blocks().last().unwrap();
            let (out, _) = out.contents().as_chunks::<8>();
            let count = count as usize;
            let (mut worst, mut top) = (0.0_f64, 0.0_f64);
            for i in 0..count {
                let q = [0, 1, 2, 3].map(|m| q[m * count + i]);
                let mut sum = [0.0; 4];
                for n in node.chunks(8) {
                    let (s, c) = (TAU * (q[0] * n[0] + q[1] * n[1] + q[2] * n[2])).sin_cos();
                    let e = if damped == 1 {
                        (q[3] * n[2]).exp2()
                    } else {
                        1.0
                    };
                    let w = q[0] * n[3] + q[1] * n[4];
                    for (m, v) in [w * c, w * s, n[5] * c, n[5] * s].iter().enumerate() {
                        sum[m] += e * v;
                    }
                }
                for (m, want) in sum.iter().enumerate() {
                    let got = f64::from_ne_bytes(out[m * count + i]);
                    worst = worst.max((got - want).abs());
                    top = top.max(want.abs());
                }
            }
            assert!(worst < 2e-6 * top, "{config:?}: {worst} of {top}");
        }
    }
}
