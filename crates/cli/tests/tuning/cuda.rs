//! CUDA from the command line: what is missing is said, and where NVRTC is, kernels are compiled for
//! a GPU that is not here.

use assert_cmd::Command;
use greenup_testing::skipped;
use serde_json::Value as J;
use std::path::Path;

const KERNELS: &str = r#"
template <int n> struct Sum {
    __device__ static double of(const double *x) {
        double s = 0;
        for (int i = 0; i < n; i++) s += x[i];
        return s;
    }
};
extern "C" __global__ void scale(double *x, double a, long n) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
extern "C" __global__ void shared_sum(double *x) {
    __shared__ double s[tile];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = Sum<tile>::of(s);
}
"#;

fn greenup(home: &Path) -> Command {
    let mut c = Command::cargo_bin("greenup").unwrap();
    c.env("XDG_CACHE_HOME", home);
    c
}

fn stderr(run: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&run.get_output().stderr).into_owned()
}

#[test]
fn doctor_says_what_cuda_can_do_here() {
    let home = tempfile::tempdir().unwrap();
    let run = greenup(home.path())
        .args(["doctor", "--json", "--seconds", "0.05"])
        .assert()
        .success();
    let answer: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let cuda = &answer["cuda"];
    let says = |word: &str| {
        let all = cuda["missing"].as_array().unwrap();
        all.iter().any(|m| m.as_str().unwrap().contains(word))
    };
    // A compiler has its version, or is said to be missing; so with the driver.
    assert_eq!(cuda["nvrtc"].is_null(), says("libnvrtc"), "{cuda}");
    let driver = Path::new("/proc/driver/nvidia/version").exists();
    assert!(driver || says("libcuda"), "{cuda}");
    for gpu in cuda["gpus"].as_array().unwrap() {
        assert!(gpu["arch"].as_str().unwrap().starts_with("sm_"), "{cuda}");
    }
}

#[test]
fn bad_input_is_named() {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("k.cu");
    std::fs::write(&source, KERNELS).unwrap();
    let path = source.to_str().unwrap();
    for (args, word) in [
        (
            vec!["compile", "nowhere.cu", "--arch", "sm_90"],
            "nowhere.cu",
        ),
        (vec!["compile", path, "--arch", "sm_13"], "sm_13"),
        (vec!["compile", path, "--arch", "ninety"], "ninety"),
    ] {
        let run = greenup(home.path()).args(&args).assert().failure();
        assert!(stderr(&run).contains(word), "{args:?}: {}", stderr(&run));
    }
}

/// Set GREENUP_CUDA to the folder of libnvrtc.so where the loader does not find it.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_are_compiled_without_a_gpu() {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("k.cu");
    std::fs::write(&source, KERNELS).unwrap();
    let compile = |tile: &str| {
        let mut c = greenup(home.path());
        c.arg("compile")
            .arg(&source)
            .args(["--arch", "sm_90", "-D", tile, "--json"]);
        c
    };
    let json = |c: &mut Command| -> J {
        let run = c.assert().success();
        serde_json::from_slice(&run.get_output().stdout).unwrap()
    };
    let first = json(&mut compile("tile=256"));
    assert_eq!(first["cached"], false);
    let kernel = |a: &J, name: &str| -> J {
        let all = a["kernels"].as_array().unwrap();
        all.iter().find(|k| k["name"] == name).unwrap().clone()
    };
    assert_eq!(kernel(&first, "shared_sum")["shared_bytes"], 2048);
    assert_eq!(kernel(&first, "scale")["spill_store_bytes"], 0);
    assert!(kernel(&first, "scale")["registers"].as_u64().unwrap() <= 16);
    assert_eq!(json(&mut compile("tile=256"))["cached"], true);
    let other = json(&mut compile("tile=512"));
    assert_eq!(other["cached"], false);
    assert_eq!(kernel(&other, "shared_sum")["shared_bytes"], 4096);

    std::fs::write(&source, KERNELS.replace("x[i] *= a", "x[i] *= b")).unwrap();
    let run = compile("tile=256").assert().failure();
    let text = stderr(&run);
    assert!(
        text.contains("k.cu(") && text.contains("identifier \"b\" is undefined"),
        "{text}"
    );
}

#[test]
fn what_needs_a_gpu_says_what_is_missing() {
    if Path::new("/proc/driver/nvidia/version").exists() {
        skipped("there is a GPU");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let problem = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../crates/gemm/src/kernels/gpu/problem.toml"
    );
    for command in [vec!["tune", problem], vec!["calibrate", "--device", "cuda"]] {
        let run = greenup(home.path()).args(&command).assert().failure();
        let said = stderr(&run);
        assert!(
            said.contains("libcuda") && said.contains("driver"),
            "{said}"
        );
    }
    // Counted all the same, with the facts of a known one.
    let part = ["--set", "way_copy=4", "--set", "vec_read=1,2"];
    let run = greenup(home.path())
        .args(["space", problem, "--json"])
        .args(part)
        .assert()
        .success();
    assert!(stderr(&run).contains("no GPU here"), "{}", stderr(&run));
    let stand_in: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let run = greenup(home.path())
        .args(["space", problem, "--device", "cuda:h200", "--json"])
        .assert()
        .success();
    let answer: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert!(answer["valid"].as_f64().unwrap() > 5e7, "{answer}");
    let all = answer["valid"].as_f64().unwrap();
    let run = greenup(home.path())
        .args(["space", problem, "--device", "cuda:h200", "--json"])
        .args(part)
        .assert()
        .success();
    assert!(!stderr(&run).contains("no GPU here"), "{}", stderr(&run));
    let fewer: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert_eq!(fewer["valid"], stand_in["valid"]);
    let fewer = fewer["valid"].as_f64().unwrap();
    assert!(fewer > 0.0 && fewer < 0.01 * all, "{fewer} of {all}");
    let run = greenup(home.path())
        .args(["tune", problem, "--device", "cuda:rtx"])
        .assert()
        .failure();
    assert!(
        stderr(&run).contains("invalid GPU `rtx`"),
        "{}",
        stderr(&run)
    );
}

#[test]
fn recorded_counters_predict_their_energies() {
    let home = tempfile::tempdir().unwrap();
    let sweep = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sweeps/dgemm_h200");
    let run = greenup(home.path())
        .args([
            "predict",
            "--machine",
            "h200",
            "--json",
            "--from-counters",
            sweep,
        ])
        .assert()
        .success();
    let rows: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let errors: Vec<f64> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|r| {
            let (p, m) = (&r["predicted_j"], &r["measured_j"]);
            (p.as_f64().unwrap() / m.as_f64().unwrap() - 1.0).abs()
        })
        .collect();
    // The published method's mean error is 6.2 % on another application (thesis, chapter 6).
    assert_eq!(errors.len(), 151);
    assert!(errors.iter().sum::<f64>() / 151.0 < 0.08, "{errors:?}");
}

#[test]
fn applications_are_explained_on_one_page() {
    let home = tempfile::tempdir().unwrap();
    let sweeps = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sweeps/one_board_h200");
    let page = home.path().join("explain.html");
    let run = greenup(home.path())
        .args(["explain", "--json", "--sweeps", sweeps, "-o"])
        .arg(&page)
        .assert()
        .success();
    let a: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let applications = a["applications"].as_array().unwrap();
    assert_eq!(applications.len(), 4);
    assert!(a["cases"].as_u64().unwrap() >= 64, "{}", a["cases"]);
    assert!(
        a["mean_error"].as_f64().unwrap() < 0.06
            && a["mean_of_applications"].as_f64().unwrap() < 0.06
    );
    for app in applications {
        for c in app["cases"].as_array().unwrap() {
            let parts: f64 = c["by_op_j"]
                .as_object()
                .unwrap()
                .values()
                .map(|v| v.as_f64().unwrap())
                .sum();
            let (constant, all) = (
                c["constant_j"].as_f64().unwrap(),
                c["predicted_j"].as_f64().unwrap(),
            );
            assert!((parts + constant - all).abs() < 1e-9 * all);
            // No kernel is faster than what its busiest class needs, but for the spread of roofs.
            assert!(
                c["time_s"].as_f64().unwrap() > 0.9 * c["predicted_s"].as_f64().unwrap(),
                "{c}"
            );
        }
    }
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("<svg") && html.contains("constant power"));
    // Whole evaluations of the fast multipole method, by kernel.
    assert!(html.contains("points=plummer") && html.contains("near_points"));
    let run = greenup(home.path())
        .args(["explain", "nothing"])
        .assert()
        .failure();
    assert!(
        stderr(&run).contains("APP is fmm, gemm, gisaxs, hydro"),
        "{}",
        stderr(&run)
    );
}

#[test]
fn race_to_halt_has_excess_energy() {
    let home = tempfile::tempdir().unwrap();
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../calibrate/tests/data/dvfs/k40c.csv"
    );
    let run = greenup(home.path())
        .args(["fit", "--dvfs", "--race-to-halt", "--json", file])
        .assert()
        .success();
    let a: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let lost = |way: &str| a[way]["wrong"].as_f64().unwrap() * a[way]["mean"].as_f64().unwrap();
    assert_eq!(a["kernels"], 100);
    assert!(lost("model") < 0.3 * lost("fastest"), "{a}");
}
