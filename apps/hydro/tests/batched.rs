//! Batched tuning problems without a GPU: every version is right on the host's fibers at odd sizes, the baselines call cuBLAS as
//! it is documented, and all versions compile for Hopper.

use fastrand::Rng;
use greenup_device::Library;
use greenup_device::cuda::{Compiler, Gpu, Source};
use greenup_meter::observe::Silent;
use greenup_space::{Facts, Index, Limits, Value};
use greenup_testing::skipped;
use greenup_tune::build::compile::Unit;
use greenup_tune::build::{cubin, emulator};
use greenup_tune::worker::inputs::arguments::Arguments;
use greenup_tune::worker::protocol::Built;
use greenup_tune::{GpuTarget, Problem};
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;

type Constants<'a> = &'a [(&'a str, i64)];

fn problem(name: &str, constants: Constants) -> Problem {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kernels/batched");
    let named: Vec<(String, toml::Value)> = (constants.iter())
        .map(|(n, v)| ((*n).to_owned(), toml::Value::Integer(*v)))
        .collect();
    let facts: Facts = (Gpu::known("h200").unwrap().named().iter())
        .map(|(k, v)| ((*k).to_owned(), Value::Int(*v)))
        .collect();
    let file = root.join(name).join("problem.toml");
    Problem::read_with(&file, &facts, &named).unwrap_or_else(|e| panic!("{e}"))
}

/// Some configs of each version, which is the first parameter.
fn drawn(problem: &Problem, of_each: usize) -> Vec<Vec<Value>> {
    let index = Index::build(&problem.space, &Limits::default()).unwrap();
    let mut all: Vec<u64> = (0..index.len()).collect();
    Rng::with_seed(5).shuffle(&mut all);
    let mut out: Vec<Vec<Value>> = Vec::new();
    for i in all {
        let config = index.get(i).unwrap();
        if out.iter().filter(|c| c[0] == config[0]).count() < of_each {
            out.push(config);
        }
    }
    out
}

struct Host {
    problem: Problem,
    dir: tempfile::TempDir,
}

impl Host {
    fn new(name: &str, constants: Constants) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let problem = problem(name, constants);
        Self { problem, dir }
    }

    fn library(&self, unit: &Unit) -> PathBuf {
        (unit.compile(self.dir.path())).unwrap_or_else(|e| panic!("{:?}: {e}", unit.sources))
    }

    fn arguments(&self) -> Arguments {
        let mut args = Arguments::new(&self.problem.data, 3, self.dir.path()).unwrap();
        if let Some(setup) = Unit::of_setup(&self.problem) {
            let setup = Built::Library(self.library(&setup));
            emulator::run(&setup, &mut args).unwrap();
            args.adopt().unwrap();
        }
        args
    }

    fn reference(&self) -> Vec<u8> {
        let reference = self.library(&Unit::of_reference(&self.problem).unwrap());
        let mut args = self.arguments();
        emulator::run(&Built::Library(reference), &mut args).unwrap();
        args.outputs()
    }

    fn is_right(&self, args: &mut Arguments, expected: &[u8], what: &str) {
        let bound = self.problem.tolerance();
        (args.verify(Some(expected), bound)).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
}

fn on_fibers(name: &str, constants: Constants) {
    let host = Host::new(name, constants);
    let expected = host.reference();
    for config in drawn(&host.problem, 1) {
        let build = host.dir.path().join("build");
        let what = format!("{name} {constants:?} {config:?}");
        let built = emulator::compile(&host.problem, &config, &build, &Silent)
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        let mut args = host.arguments();
        emulator::run(&built, &mut args).unwrap();
        host.is_right(&mut args, &expected, &what);
    }
}

#[test]
fn products_are_right_on_fibers() {
    on_fibers("products", &[("total", 37)]);
    on_fibers("products", &[("total", 37), ("dim", 2), ("trans_b", 1)]);
    on_fibers("products", &[("total", 74), ("layout", 1)]);
}

#[test]
fn forces_are_right_on_fibers() {
    on_fibers("forces", &[("zones", 3)]);
    on_fibers("forces", &[("zones", 5), ("dim", 2), ("order", 3)]);
}

#[test]
fn jacobians_are_right_on_fibers() {
    on_fibers("forces", &[("zones", 3), ("number", 3)]);
    on_fibers("forces", &[("zones", 5), ("number", 3), ("dim", 2)]);
}

#[test]
fn vectors_are_right_on_fibers() {
    for number in [8, 10] {
        on_fibers("vectors", &[("zones", 3), ("number", number)]);
        let flat = [("zones", 5), ("number", number), ("dim", 2), ("order", 4)];
        on_fibers("vectors", &flat);
    }
}

#[test]
fn points_are_right_on_fibers() {
    for number in [1, 2] {
        on_fibers("points", &[("total", 37), ("number", number)]);
        on_fibers("points", &[("total", 37), ("number", number), ("dim", 2)]);
    }
}

/// Runs a baseline with a stand-in for cuBLAS and the driver, which is found by the name that it was loaded with.
fn by_baseline(name: &str, constants: Constants) {
    let host = Host::new(name, constants);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cublas.c");
    for soname in ["libcublas.so.13", "libcuda.so.1"] {
        let to = host.dir.path().join(soname);
        let done = Command::new("cc")
            .args(["-O1", "-shared", "-fPIC", &format!("-Wl,-soname,{soname}")])
            .args([&source, Path::new("-o"), &to])
            .status()
            .unwrap();
        assert!(done.success());
        Library::open_global(&to).unwrap_or_else(|e| panic!("{soname}: {e}"));
    }
    let expected = host.reference();
    let library = host.library(&Unit::of_baseline(&host.problem).unwrap());
    let entry = Library::open(&library).unwrap().symbol("greenup_run");
    // SAFETY: the wrapper of every unit defines it with this signature.
    let entry = unsafe {
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut *mut u8, i64)>(entry.unwrap())
    };
    let mut args = host.arguments();
    let mut pointers = args.pointers();
    // The stream.
    pointers.push(std::ptr::null_mut());
    // SAFETY: the arguments are those of the problem, and the stand-in computes on the host.
    unsafe { entry(pointers.as_mut_ptr(), 1) };
    host.is_right(&mut args, &expected, &format!("{name} {constants:?}"));
}

#[test]
fn baselines_call_cublas_as_documented() {
    if Path::new("/proc/driver/nvidia/version").exists() {
        skipped("the GPU's own libraries would be taken instead of the stand-in");
        return;
    }
    for kind in [0, 1, 2] {
        let kind = ("baseline_kind", kind);
        by_baseline("products", &[("total", 37), kind]);
        by_baseline(
            "products",
            &[("total", 37), ("dim", 2), ("trans_b", 1), kind],
        );
        by_baseline("forces", &[("zones", 3), kind]);
        by_baseline("forces", &[("zones", 3), ("number", 3), kind]);
        for number in [8, 10] {
            by_baseline("vectors", &[("zones", 3), ("number", number), kind]);
        }
    }
}

/// Compiles configs of each version.
fn compiled(name: &str, constants: Constants) {
    let dir = tempfile::tempdir().unwrap();
    let on = GpuTarget {
        gpu: Gpu::known("h200").unwrap(),
        cubins: dir.path().join("cubins"),
    };
    let compiler = Compiler::new(Some(&on.cubins)).unwrap();
    let problem = problem(name, constants);
    let mut launched = Vec::new();
    for config in drawn(&problem, 2) {
        let what = format!("{name} {constants:?} {config:?}");
        let cuda = cubin::source(&problem, &config, &on).unwrap();
        let text = std::fs::read_to_string(&cuda.source).unwrap();
        let compiled = compiler
            .compile(&Source {
                name: "kernel.cu",
                text: &text,
                arch: &cuda.arch,
                options: &cuda.options,
            })
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(compiled.warnings, "", "{what}");
        // Only the workspace of points is in local memory, where it is asked for.
        let local = name == "points" && config[0] == Value::Int(1);
        let mut spills = false;
        for k in &compiled.kernels {
            spills |= k.spill_store_bytes > 0;
            assert!(spills || (k.stack_bytes > 0) == local, "{what}");
        }
        let file = compiled.file.clone().unwrap();
        let ready = cubin::ready(&problem, &config, &on, file, &compiled.kernels).unwrap();
        assert_eq!(ready.rejected.is_some(), spills, "{what}");
        assert!(spills || ready.facts["blocks"] > 0.0, "{what}");
        launched.extend((!spills).then(|| config[0].clone()));
    }
    let versions: Vec<Value> = drawn(&problem, 1).iter().map(|c| c[0].clone()).collect();
    for v in versions {
        assert!(launched.contains(&v), "{name} {constants:?} {v}");
    }
}

#[test]
#[ignore = "needs NVRTC (GREENUP_CUDA); a minute"]
fn all_versions_compile_for_hopper() {
    compiled("products", &[]);
    compiled("products", &[("dim", 2), ("layout", 1)]);
    compiled("forces", &[]);
    compiled("forces", &[("order", 4), ("zones", 256)]);
    compiled("forces", &[("number", 3)]);
    compiled("vectors", &[]);
    compiled("vectors", &[("number", 10)]);
    compiled("points", &[("number", 1)]);
    compiled("points", &[("number", 2)]);
}
