//! The GPU family without a GPU: every kind of config compiles, and gives the right product on the
//! host's fibers, from the same text.

mod product;

use fastrand::Rng;
use greenup_device::cuda::{Compiler, Gpu, Source};
use greenup_gemm::gpu;
use greenup_space::{Index, Limits};
use greenup_tune::GpuTarget;
use greenup_tune::Problem;
use greenup_tune::build::cubin::{ready, source};
use product::{Case, error_of, problem};
use std::path::Path;

/// Compiles `n` configs drawn from a problem; returns how many can be launched, and why others
/// cannot.
fn compiled(problem: &Problem, n: usize, dir: &Path) -> (usize, Vec<String>) {
    let on = GpuTarget {
        gpu: Gpu::known("h200").unwrap(),
        cubins: dir.join("cubins"),
    };
    let compiler = Compiler::new(Some(&on.cubins)).unwrap();
    let index = Index::build(&problem.space, &Limits::default()).unwrap();
    let mut rng = Rng::with_seed(7);
    let (mut launched, mut rejected) = (0, Vec::new());
    for _ in 0..n {
        let config = index.get(rng.u64(..index.len())).unwrap();
        let cuda = source(problem, &config, &on).unwrap();
        let text = std::fs::read_to_string(&cuda.source).unwrap();
        let compiled = compiler
            .compile(&Source {
                name: "gemm.cu",
                text: &text,
                arch: &cuda.arch,
                options: &cuda.options,
            })
            .unwrap_or_else(|e| panic!("{config:?}\n{e}"));
        assert_eq!(compiled.warnings, "", "{config:?}");
        let file = compiled.file.clone().unwrap();
        let r = ready(problem, &config, &on, file, &compiled.kernels).unwrap();
        match r.rejected {
            None => launched += 1,
            Some((_, why)) => rejected.push(why),
        }
    }
    (launched, rejected)
}

#[test]
#[ignore = "needs NVRTC"]
fn configs_drawn_from_the_space_compile_and_can_be_launched() {
    let dir = tempfile::tempdir().unwrap();
    let gpu = Gpu::known("h200").unwrap();
    let problem = gpu::problem(&dir.path().join("family"), &[], &gpu).unwrap();
    let (launched, rejected) = compiled(&problem, 15, dir.path());
    // The filters foresee registers well, but not to the last one.
    assert!(launched >= 10, "{rejected:?}");
}

#[test]
#[ignore = "needs NVRTC"]
fn stripes_by_tensor_maps_compile() {
    let dir = tempfile::tempdir().unwrap();
    let gpu = Gpu::known("h200").unwrap();
    let by_maps = ("way_copy".to_owned(), toml::Value::Integer(4));
    let problem = gpu::problem(&dir.path().join("family"), &[by_maps], &gpu).unwrap();
    let index = Index::build(&problem.space, &Limits::default()).unwrap();
    let maps = problem.maps(&index.get(index.len() / 2).unwrap()).unwrap();
    assert_eq!(maps.len(), 2);
    assert_eq!((maps[0].argument, maps[1].argument), (5, 7));
    assert_eq!(maps[0].shape.sizes, [16, 4096, 256]);
    let (launched, rejected) = compiled(&problem, 8, dir.path());
    assert!(launched >= 4, "{rejected:?}");
}

#[test]
#[ignore = "needs NVRTC"]
fn every_element_and_transposition_compiles() {
    every_case_compiles(1);
}

#[test]
#[ignore = "needs NVRTC (GREENUP_CUDA); a minute"]
fn more_configs_of_every_element_and_transposition_compile_at_length() {
    every_case_compiles(3);
}

/// Draws so many configs of each case.
fn every_case_compiles(configs: usize) {
    for elem in 0..4 {
        for (trans, size) in [
            ([0, 0], [64, 96, 32]),
            ([1, 2], [37, 45, 29]),
            ([2, 1], [64, 64, 64]),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let case = Case { elem, trans, size };
            let problem = problem(&dir.path().join("family"), &case);
            compiled(&problem, configs, dir.path());
        }
    }
}

/// Whether a config is wanted, by the values of its parameters.
type Wanted<'a> = dyn Fn(&dyn Fn(&str) -> i64) -> bool + 'a;

/// Configs of a case, drawn until `n` are within what fibers can do in a moment.
fn check(case: &Case, n: usize, seed: u64, want: &Wanted<'_>) {
    let dir = tempfile::tempdir().unwrap();
    let p = problem(&dir.path().join("family"), case);
    let index = Index::build(&p.space, &Limits::default()).unwrap();
    let mut rng = Rng::with_seed(seed);
    let mut done = 0;
    for _ in 0..200_000 {
        let config = index.get(rng.u64(..index.len())).unwrap();
        let v = |name: &str| {
            let i = p.space.names().position(|n| n == name).unwrap();
            config[i].as_int().unwrap()
        };
        // Fibers have no copy engine.
        if v("way_copy") > 2 || !want(&v) {
            continue;
        }
        let e = error_of(&p, case, &config, dir.path());
        let bound = if case.elem % 2 == 0 { 2e-6 } else { 1e-14 };
        assert!(
            e < bound,
            "error {e:e} of {config:?} at {:?} {:?}",
            case.size,
            case.trans
        );
        done += 1;
        if done == n {
            return;
        }
    }
    panic!(
        "only {done} of {n} configs found for elem {} {:?}",
        case.elem, case.trans
    );
}

#[test]
fn products_of_odd_sizes_are_right() {
    let case = |trans| Case {
        elem: 1,
        trans,
        size: [37, 45, 29],
    };
    check(&case([0, 0]), 2, 1, &|v| v("use_mma") > 0);
    check(&case([0, 0]), 1, 2, &|v| {
        v("use_mma") == 0 && v("way_copy") < 2
    });
    check(&case([1, 1]), 1, 3, &|v| {
        v("use_mma") == 0 && v("way_copy") == 2
    });
}

#[test]
fn shares_of_k_may_be_empty() {
    // Four steps of k in shares of two leave the third block of a tile nothing; one step, two.
    for depth in [32, 8] {
        let case = Case {
            elem: 1,
            trans: [0, 0],
            size: [64, 64, depth],
        };
        let empty = |v: &dyn Fn(&str) -> i64| {
            let steps = (depth as i64 + v("blk_k") - 1) / v("blk_k");
            let share = (steps + v("split_k") - 1) / v("split_k");
            v("split_k") == 3 && 2 * share >= steps && v("blk_k") == 8
        };
        check(&case, 1, 5, &|v| empty(v) && v("way_copy") < 2);
        check(&case, 1, 6, &|v| {
            empty(v) && v("way_copy") == 2 && v("use_mma") > 0
        });
    }
}

#[test]
fn swizzled_stripes_and_interleaved_lanes_are_right() {
    let case = |size| Case {
        elem: 1,
        trans: [0, 0],
        size,
    };
    check(&case([128, 192, 96]), 3, 8, &|v| v("swizzle") == 1);
    check(&case([90, 100, 33]), 1, 9, &|v| v("lanes") == 1);
    check(&case([90, 100, 34]), 1, 10, &|v| v("swizzle") == 1);
}

#[test]
fn swizzled_stripes_of_every_transposition_are_right() {
    for (i, trans) in [[0, 1], [1, 0], [1, 1]].into_iter().enumerate() {
        for (elem, size) in [(1, [90, 100, 34]), (3, [45, 67, 29])] {
            let case = Case { elem, trans, size };
            check(&case, 1, 20 + i as u64, &|v| {
                v("swizzle") == 1 && v("dim_n") * v("dim_m") <= 256
            });
        }
    }
}

#[test]
fn turned_operands_textures_and_clipped_edges_are_right() {
    // f32 is turned.
    let size = [37, 45, 29];
    for (elem, trans) in [(0, [0, 0]), (2, [1, 0])] {
        let case = Case { elem, trans, size };
        check(&case, 1, 30, &|v| v("way_copy") == 2 && v("edges") == 1);
        check(&case, 1, 31, &|v| v("texture") == 1);
    }
    // Whole vectors, but neither whole tiles nor a whole step of k.
    let size = [100, 84, 36];
    for (elem, wide) in [(0, 4), (1, 2)] {
        let trans = [0, 0];
        let case = Case { elem, trans, size };
        for copy in 0..3 {
            check(&case, 1, 32, &|v| {
                v("way_copy") == copy && v("vec_read") == wide && v("edges") == 1
            });
        }
        check(&case, 1, 33, &|v| {
            v("texture") == 1 && v("vec_read") == wide && v("edges") == 1
        });
    }
}

/// Where the copy engine puts the real number `inner` of a line of a panel must hold the element that the kernel reads there.
#[test]
fn tensor_maps_cut_what_the_kernels_read() {
    for elem in [1, 3] {
        for trans in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let dir = tempfile::tempdir().unwrap();
            let case = Case {
                elem,
                trans,
                size: [256, 512, 128],
            };
            let p = problem(&dir.path().join("family"), &case);
            let index = Index::build(&p.space, &Limits::default()).unwrap();
            let mut rng = Rng::with_seed(3);
            let config = std::iter::repeat_with(|| index.get(rng.u64(..index.len())).unwrap())
                .find(|c| c[1].as_int() == Some(4))
                .unwrap();
            let value = |name: &str| {
                let i = p.space.names().position(|n| n == name).unwrap();
                config[i].as_int().unwrap() as u64
            };
            let blk = [value("blk_m"), value("blk_n")];
            let reals = if elem == 3 { 2 } else { 1 };
            let panel = 16 / reals;
            let maps = p.maps(&config).unwrap();
            for (map, (across, of)) in maps.iter().zip([(256, 0), (512, 1)]) {
                let along_k = (trans[of] == 0) == (of == 1);
                let (lines, length) = if along_k {
                    (across, 128)
                } else {
                    (128, across)
                };
                assert_eq!(map.shape.sizes, [16, lines, length / panel]);
                let cut = if along_k {
                    [16, blk[of], value("blk_k") / panel]
                } else {
                    [16, value("blk_k"), blk[of] / panel]
                };
                assert_eq!(map.shape.cut, cut, "elem {elem} {trans:?} operand {of}");
                for (inner, line, part) in [(0, 0, 0), (5, 3, 1), (15, 17, 6)] {
                    let at = inner + line * map.shape.steps[0] + part * map.shape.steps[1];
                    assert_eq!(
                        at,
                        (line * length + part * panel) * reals + inner,
                        "elem {elem} {trans:?} operand {of}"
                    );
                }
            }
        }
    }
}

/// All transpositions and methods for one element type, each with one of the sizes; one test a type, since they run at the
/// same time. Over the types each transposition meets each size.
fn every_transposition_and_method_is_right(elem: i64) {
    let sizes = [[37, 45, 29], [96, 64, 48], [1, 70, 3]];
    let all = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [0, 2]];
    for (t, trans) in all.into_iter().enumerate() {
        let i = (t + elem as usize) % sizes.len();
        let size = sizes[i];
        let case = Case { elem, trans, size };
        let seed = 10 + i as u64;
        check(&case, 1, seed, &|v| v("use_mma") == 0);
        if elem % 2 == 1 {
            check(&case, 2, seed, &|v| v("use_mma") > 0);
        }
        check(&case, 1, seed, &|v| v("edges") == 1);
    }
}

#[test]
#[ignore = "half a minute"]
fn every_transposition_and_method_of_single_is_right() {
    every_transposition_and_method_is_right(0);
}

#[test]
#[ignore = "half a minute"]
fn every_transposition_and_method_of_double_is_right_at_length() {
    every_transposition_and_method_is_right(1);
}

#[test]
#[ignore = "half a minute"]
fn every_transposition_and_method_of_single_complex_is_right_at_length() {
    every_transposition_and_method_is_right(2);
}

#[test]
#[ignore = "half a minute"]
fn every_transposition_and_method_of_double_complex_is_right_at_length() {
    every_transposition_and_method_is_right(3);
}

#[test]
fn the_space_has_an_index_on_a_host_of_many_cores() {
    let dir = tempfile::tempdir().unwrap();
    let gpu = Gpu::known("h200").unwrap();
    let p = gpu::problem(dir.path(), &[], &gpu).unwrap();
    let limits = Limits {
        threads: 64,
        ..Limits::default()
    };
    let points = Index::build(&p.space, &limits).unwrap().len();
    assert!(points > 50_000_000, "{points} points");
}
