//! Images by several ranks: the bytes of one.

use greenup_testing::mpi::{launchers, with_ranks};
use std::path::Path;
use std::process::{Command, Output};

const MESH: &str = "v -4 -6 0\nv 4 -6 0\nv 4 6 0\nv -4 6 0\nv -4 -6 5\nv 4 -6 5\nv 4 6 5\nv -4 6 5\n\
    f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// Odd sizes, rows below the horizon, a mesh and a shape with a formula, smearing and background.
const SAMPLE: &str = "background = 0.5\n[beam]\nwavelength = 0.1\nangle = 0.2\nintensity = 1e9\n[detector]\n\
    phi = { from = -1.2, to = 1.3, n = 31 }\nalpha = { from = -0.1, to = 1.7, n = 67 }\n\
    [resolution]\nacross = 0.02\nup = 0.03\n[[layers]]\n[[layers]]\ndelta = 6e-6\nbeta = 2e-8\n\
    [[particles]]\nform = { shape = \"mesh\", file = \"box.obj\", scale = 1.0 }\ndelta = 3e-5\nbeta = 2e-6\n\
    density = 0.002\n[[particles]]\nform = { shape = \"cylinder\", radius = 5.0, height = 8.0 }\ndelta = 3e-5\n\
    beta = 2e-6\ndensity = 0.001\n";

fn prepare(dir: &Path) {
    std::fs::write(dir.join("box.obj"), MESH).unwrap();
    std::fs::write(dir.join("sample.toml"), SAMPLE).unwrap();
}

fn gisaxs(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gisaxs"));
    command.args(args).current_dir(dir);
    command
}

fn run(dir: &Path, args: &[&str]) -> Output {
    gisaxs(dir, args).output().unwrap()
}

fn checked(out: Output, ranks: usize) {
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{text}");
    // One line: one rank prints.
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(value["ranks"], ranks);
}

#[test]
fn ranks_have_the_bytes_of_one() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let simulate = |method: &[&str], name: &str, ranks: &str| {
        let mut args = vec![
            "simulate",
            "sample.toml",
            "-o",
            name,
            "--json",
            "--counts",
            "7",
        ];
        args.extend(method);
        args.extend(["--ranks", ranks]);
        checked(run(dir.path(), &args), ranks.parse().unwrap());
        std::fs::read(dir.path().join(name)).unwrap()
    };
    let methods: [&[&str]; 5] = [
        &[],
        &["--method", "nufft", "--threads", "1"],
        &["--method", "gemm"],
        &["--method", "direct", "--precision", "f32"],
        &["--method", "exact"],
    ];
    for method in methods {
        let one = simulate(method, "one.npy", "1");
        assert!(one.len() > 31 * 67 * 8);
        for ranks in ["2", "3", "4", "9"] {
            let several = simulate(method, "several.npy", ranks);
            assert!(several == one, "{method:?} on {ranks} ranks");
        }
    }
    let more_threads = simulate(&["--method", "nufft", "--threads", "5"], "one.npy", "1");
    let one_thread = simulate(&["--method", "nufft", "--threads", "1"], "one.npy", "1");
    assert!(more_threads == one_thread, "digits depend on threads");
}

#[test]
fn an_error_of_ranks_is_that_of_one() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let args = ["simulate", "sample.toml", "-o", "i.npy", "--ranks"];
    let bad = run(dir.path(), &[&args[..], &["0"]].concat());
    assert_eq!(bad.status.code(), Some(2));
    let device = ["2", "--device", "cuda:0,x"];
    let bad = run(dir.path(), &[&args[..], &device].concat());
    assert!(String::from_utf8_lossy(&bad.stderr).contains("cuda:all"));
    let large = [
        "3",
        "--set",
        "beam.intensity=1e308",
        "--set",
        "particles.1.density=1e300",
    ];
    let bad = run(dir.path(), &[&args[..], &large].concat());
    assert!(!bad.status.success());
    assert!(String::from_utf8_lossy(&bad.stderr).contains("intensity"));
    assert!(!dir.path().join("i.npy").exists());
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_ranks_have_the_bytes_of_one() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let args = |name| ["simulate", "sample.toml", "-o", name, "--json"];
    checked(run(dir.path(), &args("one.npy")), 1);
    let one = std::fs::read(dir.path().join("one.npy")).unwrap();
    for launcher in launchers() {
        for ranks in [2, 3] {
            let command = gisaxs(dir.path(), &args("several.npy"));
            let out = with_ranks(launcher, ranks, &command).output().unwrap();
            checked(out, ranks);
            let several = std::fs::read(dir.path().join("several.npy")).unwrap();
            assert!(several == one, "{launcher} {ranks}");
            let fit = gisaxs(dir.path(), &["fit", "fit.toml"]);
            let fit = with_ranks(launcher, ranks, &fit).output().unwrap();
            assert!(String::from_utf8_lossy(&fit.stderr).contains("runs in one process"));
        }
    }
}
