//! Kernels in OpenCL, tuned end to end on the first device of this host. Where OpenCL is missing they are skipped with a
//! note, unless `GREENUP_TEST_OPENCL` says that it must be here.

use crate::common::{command, repository};
use greenup_device::opencl::Device;
use greenup_testing::{fails, is_refused, skipped, succeeds, text};
use serde_json::Value as J;
use std::path::Path;
use std::process::Command;

/// Whether there is a device; a test that needs one ends where there is none.
fn is_here() -> bool {
    let Err(e) = Device::all() else { return true };
    let must = std::env::var_os("GREENUP_TEST_OPENCL").is_some();
    assert!(!must, "{e}: apt install pocl-opencl-icd ocl-icd-libopencl1");
    skipped(&format!("OpenCL is missing: {e}"));
    false
}

/// The command; compiled kernels stay in the build folder, those of each test apart.
fn greenup(args: &[&str]) -> Command {
    // Its name is the test's.
    let thread = std::thread::current();
    let test = thread.name().and_then(|n| n.rsplit("::").next());
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test.unwrap_or("opencl"));
    std::fs::create_dir_all(&cache).unwrap();
    let mut c = command(args);
    c.env("POCL_CACHE_DIR", cache);
    c
}

fn answer(c: &mut Command) -> J {
    let out = succeeds(c);
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&out.stdout)))
}

const QUICK: [&str; 9] = [
    "--measure",
    "0.02",
    "--finalists",
    "2",
    "--rounds",
    "3",
    "--sensor",
    "none",
    "--json",
];

/// Tunes an example and returns the answer.
fn example(name: &str, out: &Path, args: &[&str]) -> J {
    let file = repository(&format!("examples/opencl/{name}/problem.toml"));
    let mut c = greenup(&["tune", &file]);
    let found = answer(c.args(QUICK).args(args).arg("--out").arg(out));
    assert_eq!(found["verified"], true);
    assert_eq!(found["failures"].to_string(), "{}", "{found}");
    found
}

#[test]
fn vectors_are_added_and_the_sweep_can_be_used() {
    if !is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let sweep = dir.path().join("s");
    // No multiple of any work-group, so that the last vectors are cut.
    let set = ["--set", "n=100003", "--set", "block=16,64"];
    let found = example(
        "vector_add",
        &sweep,
        &[&set[..], &["--budget", "5"]].concat(),
    );
    assert_eq!(found["trials"], 5);
    let recorded: J =
        serde_json::from_slice(&std::fs::read(sweep.join("sweep.json")).unwrap()).unwrap();
    let device = &Device::all().unwrap()[0];
    assert_eq!(recorded["device"], device.name.as_str());
    assert_eq!(recorded["fingerprint"]["opencl"], device.implementation());

    let s = sweep.display().to_string();
    let best = answer(&mut greenup(&["best", &s, "--format", "json"]));
    for (name, value) in (found["parameters"].as_array().unwrap().iter())
        .zip(found["finalists"][0]["config"].as_array().unwrap())
    {
        assert_eq!(&best["config"][name.as_str().unwrap()], value);
    }
    let file = repository("examples/opencl/vector_add/problem.toml");
    let flags = succeeds(&mut greenup(&["best", &s, "--problem", &file]));
    assert!(text(&flags.stdout).contains("-Dper_group="), "{flags:?}");
    succeeds(&mut greenup(&[
        "replay",
        &s,
        "--strategy",
        "random",
        "--budget",
        "3",
    ]));
    let page = dir.path().join("page");
    succeeds(greenup(&["analyze", &s, "--out"]).arg(&page));
    assert!(page.join("report.html").is_file());
    let scaled = answer(&mut greenup(&[
        "scale",
        &file,
        "--sweep",
        &s,
        "--over",
        "n=1000,5000",
        "--configs",
        "1",
        "--measure",
        "0.02",
        "--sensor",
        "none",
        "--json",
    ]));
    assert_eq!(scaled["sizes"].as_array().unwrap().len(), 2, "{scaled}");

    // A killed run is continued; another n is another experiment.
    let more = |n: &'static str| {
        let mut c = greenup(&[
            "tune",
            &file,
            "--set",
            n,
            "--set",
            "block=16,64",
            "--out",
            &s,
        ]);
        c.args(QUICK).args(["--budget", "6", "--resume"]);
        c
    };
    assert_eq!(answer(&mut more("n=100003"))["trials"], 6);
    assert!(is_refused(&mut more("n=77")).contains("n"));
}

#[test]
fn an_image_is_filtered() {
    if !is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let set = ["--set", "n=70", "--set", "size=5", "--set", "use_local=1"];
    let one = [&set[..], &["--set", "block_x=8,16", "--budget", "2"]].concat();
    example("convolution", &dir.path().join("local"), &one);
    let set = ["--set", "n=70", "--set", "use_local=0", "--budget", "1"];
    example("convolution", &dir.path().join("global"), &set);
}

#[test]
fn matrices_are_multiplied() {
    if !is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let vectors = [
        "--set",
        "n=128",
        "--set",
        "use_local=1",
        "--set",
        "width=4,16",
    ];
    let two = [&vectors[..], &["--budget", "2"]].concat();
    example("gemm", &dir.path().join("local"), &two);
    let plain = ["--set", "n=128", "--set", "use_local=0", "--set", "width=1"];
    let one = [&plain[..], &["--budget", "1"]].concat();
    example("gemm", &dir.path().join("global"), &one);
}

#[test]
fn the_template_is_tuned_and_verified() {
    if !is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    succeeds(greenup(&["init", "opencl", "k"]).current_dir(dir.path()));
    let mut c = greenup(&["tune", "problem.toml", "--set", "n=100", "--budget", "3"]);
    let found = answer(c.args(QUICK).current_dir(dir.path().join("k")));
    assert_eq!(found["verified"], true);
    assert_eq!(found["failures"].to_string(), "{}");
}

const KERNEL: &str = r"
__kernel void k(__global float *y, __global const float *x, const float a, __local float *part) {
    int i = get_global_id(0);
    part[get_local_id(0)] = a * x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = part[get_local_id(0)];
#if fault == 1
    y[i] = 2 * z[i];
#elif fault == 2
    y[i] += i == 7;
#elif fault == 3
    *(volatile __global float *)(y + 1000000000L + i) = 1;
#elif fault == 4
    volatile __global float *v = y;
    while (v[0] != 12345.0f) v[0] = 1;
#elif fault == 5
    if (i == 0) y[n + 3] = 1;
#elif fault == 6
    if (i == 0) ((__global float *)x)[5] = 9;
#endif
}
";

const PROBLEM: &str = r#"
name = "faults"
[constants]
n = 1024
[parameters]
fault = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
[derived]
items = "100000 if fault == 7 else 64"
local_bytes = "1000000000 if fault == 8 else 256"
[compiled]
few = { keep = "fault != 9 or threads < 10", because = "a filter" }
[build]
language = "opencl"
sources = ["k.cl"]
[[launch]]
kernel = "k"
grid = ["n // 64"]
block = ["items"]
shared = "local_bytes"
[[arguments]]
name = "y"
type = "f32"
size = "n"
role = "out"
[[arguments]]
name = "x"
type = "f32"
size = "n"
[[arguments]]
name = "a"
type = "f32"
value = 2
[reference]
sources = ["reference.c"]
entry = "k"
[measure]
seconds = 0.02
timeout = 15.0
"#;

fn faults(dir: &Path, problem: &str) -> String {
    std::fs::write(dir.join("k.cl"), KERNEL).unwrap();
    let reference = "void k(float *y, const float *x, float a) { for (int i = 0; i < n; i++) y[i] = a * x[i]; }";
    std::fs::write(dir.join("reference.c"), reference).unwrap();
    let file = dir.join("problem.toml");
    std::fs::write(&file, problem).unwrap();
    file.display().to_string()
}

#[test]
fn a_fault_of_a_kernel_is_one_failed_trial_with_its_reason() {
    if !is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = faults(dir.path(), PROBLEM);
    let sweep = dir.path().join("s");
    let mut c = greenup(&[
        "tune",
        &file,
        "--strategy",
        "exhaustive",
        "--budget",
        "100%",
    ]);
    answer(c.args(QUICK).arg("--out").arg(&sweep));
    let trials = std::fs::read_to_string(sweep.join("trials.jsonl")).unwrap();
    let trials: Vec<J> = (trials.lines())
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(trials.len(), 10);
    for (fault, (kind, words)) in [
        ("", ""),
        ("compile", "k.cl:8:16: use of undeclared identifier 'z'"),
        ("wrong", "`y`[7] is"),
        ("crash", "signal 11"),
        ("timeout", "within 15 s"),
        ("wrong", "it wrote outside of `y`: 1"),
        ("wrong", "it changed its input `x`"),
        ("launch", "100000 work-items a work-group"),
        ("launch", "1000000000 bytes of local memory"),
        ("invalid", "few: a filter"),
    ]
    .iter()
    .enumerate()
    {
        let trial = trials.iter().find(|t| t["config"][0] == fault).unwrap();
        if kind.is_empty() {
            assert!(trial["measured"]["time_s"].as_f64().unwrap() > 0.0);
            continue;
        }
        assert_eq!(trial["failed"]["failure"], *kind, "{trial}");
        let message = trial["failed"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn parameters_that_do_not_fit_the_kernel_are_named() {
    if !is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let tried = |from: &str, to: &str| {
        assert!(PROBLEM.contains(from));
        let file = faults(dir.path(), &PROBLEM.replace(from, to));
        let mut c = greenup(&["tune", &file, "--budget", "1", "--set", "fault=0"]);
        let out = dir.path().join(to.len().to_string());
        fails(c.args(QUICK).arg("--out").arg(out))
    };
    let said = tried("shared = \"local_bytes\"\n", "");
    assert!(
        said.contains("`k` takes 4 parameters, the problem has 3"),
        "{said}"
    );
    let said = tried(
        "name = \"a\"\ntype = \"f32\"",
        "name = \"a\"\ntype = \"f64\"",
    );
    assert!(
        said.contains("parameter 3 (`a`)") && said.contains("ARG_SIZE"),
        "{said}"
    );
    let said = tried("kernel = \"k\"", "kernel = \"other\"");
    assert!(said.contains("there is no kernel `other`"), "{said}");
}

#[test]
fn what_opencl_does_not_have_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |more: &str| {
        let file = faults(dir.path(), &format!("{PROBLEM}{more}"));
        is_refused(&mut greenup(&["tune", &file, "--out", "never"]))
    };
    if is_here() {
        let said = refused("[[textures]]\nof = \"x\"\ntexel = 4\n");
        assert!(said.contains("texture memory is CUDA's"), "{said}");
        let said = refused("[[maps]]\nof = \"x\"\nsizes = [4]\nsteps = []\nbox = [4]\n");
        assert!(said.contains("tensor maps belong to NVIDIA"), "{said}");
        let file = faults(dir.path(), PROBLEM);
        for (device, words) in [
            ("opencl:77", "there is no OpenCL device `77.0`"),
            ("cuda:0", "the kernels are in OpenCL"),
            ("gpu", "opencl:PLATFORM.DEVICE"),
        ] {
            let said = is_refused(&mut greenup(&["tune", &file, "--device", device]));
            assert!(said.contains(words), "{said}");
        }
        // The loader finds no implementation where it is told to look.
        let empty = tempfile::tempdir().unwrap();
        let mut c = greenup(&["tune", &file]);
        let said = is_refused(c.env("OCL_ICD_VENDORS", empty.path()));
        assert!(
            said.contains("no platform") && said.contains("apt install pocl"),
            "{said}"
        );
        let said = is_refused(&mut greenup(&["tune", &file, "--launcher", "env"]));
        assert!(said.contains("--launcher"), "{said}");
    }
    let stencil = repository("examples/stencil/problem.toml");
    let said = is_refused(&mut greenup(&["tune", &stencil, "--device", "opencl"]));
    assert!(said.contains("the kernels are not in OpenCL"), "{said}");
}

#[test]
fn doctor_lists_the_devices_or_says_what_is_missing() {
    let found = answer(&mut greenup(&["doctor", "--json", "--seconds", "0.05"]));
    let opencl = &found["opencl"];
    match Device::all() {
        Ok(all) => {
            assert_eq!(opencl["devices"].as_array().unwrap().len(), all.len());
            assert!(opencl["missing"].is_null());
        }
        Err(e) => assert_eq!(opencl["missing"], e.to_string()),
    }
}
