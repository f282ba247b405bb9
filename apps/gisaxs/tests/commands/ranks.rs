//! Images, form factors and fits by several ranks: the bytes of one.

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

/// A form factor's bytes.
fn form_factor(dir: &Path, args: &[&str], ranks: &str) -> Vec<u8> {
    let mut all = vec!["form-factor", "shape.toml", "-o", "f.csv", "--json"];
    all.extend(args);
    all.extend(["--ranks", ranks]);
    checked(run(dir, &all), ranks.parse().unwrap());
    std::fs::read(dir.join("f.csv")).unwrap()
}

#[test]
fn form_factors_of_ranks_have_the_bytes_of_one() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let mesh = "shape = \"icosahedron\"\nedge = 5.0\n";
    std::fs::write(dir.path().join("shape.toml"), mesh).unwrap();
    let q: String = (0..900)
        .map(|i| {
            let x = f64::from(i);
            format!(
                "{},{},{},{}\n",
                0.001 * x,
                (0.7 * x).sin(),
                0.002 * x,
                1e-3 * (i % 3) as f64
            )
        })
        .collect();
    std::fs::write(dir.path().join("q.csv"), format!("qx,qy,qz_re,qz_im\n{q}")).unwrap();
    let grid = ["--grid", "0.1", "-1:1.3:23", "0:2:300", "--im-qz", "0.01"];
    let symmetric = ["--grid", "0", "-1:1:24", "0:2:600"];
    let list = ["--q", "q.csv"];
    let methods: [&[&str]; 5] = [
        &["--method", "nufft"],
        &["--method", "gemm"],
        &["--method", "gemm", "--precision", "f32"],
        &["--method", "direct", "--precision", "f32"],
        &["--method", "exact"],
    ];
    for q in [&grid[..], &symmetric[..], &list[..]] {
        for method in methods {
            let args = [q, method].concat();
            let one = form_factor(dir.path(), &args, "1");
            assert!(one.len() > 900 * 50);
            for ranks in ["2", "3", "5"] {
                let several = form_factor(dir.path(), &args, ranks);
                assert!(several == one, "{args:?} on {ranks} ranks");
            }
        }
    }
    // A formula.
    let sphere = "shape = \"sphere\"\nradius = 4.0\n";
    std::fs::write(dir.path().join("shape.toml"), sphere).unwrap();
    for q in [&grid[..], &list[..]] {
        let one = form_factor(dir.path(), q, "1");
        assert!(form_factor(dir.path(), q, "3") == one);
    }
}

#[test]
fn times_and_ranks_of_a_form_factor_are_told() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let mesh = "shape = \"mesh\"\nfile = \"box.obj\"\n";
    std::fs::write(dir.path().join("shape.toml"), mesh).unwrap();
    let args = [
        "form-factor",
        "shape.toml",
        "-o",
        "f.npy",
        "--json",
        "--grid",
        "0",
        "-1:1:40",
        "0:2:50",
        "--method",
        "direct",
        "--ranks",
        "2",
        "--repeat",
        "3",
    ];
    let out = run(dir.path(), &args);
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let time = |key: &str| value[key].as_f64().unwrap();
    assert!(time("evaluation_s") > 0.0 && time("prepare_s") > 0.0);
    assert!(time("seconds") >= time("prepare_s") + time("evaluation_s") - 1e-9);
    assert!(value["kernel_s"].is_null() && value["boards"].is_null());
    let measure = run(dir.path(), &[&args[..], &["--measure"]].concat());
    assert!(!measure.status.success());
    assert!(String::from_utf8_lossy(&measure.stderr).contains("--device cuda"));
}

/// Data of the sample, and a fit of a radius and a height.
fn prepare_fit(dir: &Path) {
    prepare(dir);
    let args = [
        "simulate",
        "sample.toml",
        "-o",
        "data.npy",
        "--json",
        "--counts",
        "7",
    ];
    checked(run(dir, &args), 1);
    let fit = "sample = 'sample.toml'\ndata = 'data.npy'\nswarm = 7\nsteps = 4\nstarts = 2\n\
               [[parameters]]\npath = 'particles.1.form.radius'\nfrom = 3.0\nto = 8.0\n\
               [[parameters]]\npath = 'particles.0.form.scale'\nfrom = 0.8\nto = 1.3\n";
    std::fs::write(dir.join("fit.toml"), fit).unwrap();
}

/// What a fit found, without times.
fn found(out: Output, ranks: usize) -> serde_json::Value {
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{text}");
    let mut value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(value["ranks"], ranks);
    let fields = value.as_object_mut().unwrap();
    for key in ["seconds", "provenance", "ranks"] {
        assert!(fields.remove(key).is_some(), "{key}");
    }
    value
}

#[test]
fn fits_of_ranks_have_the_digits_of_one() {
    let dir = tempfile::tempdir().unwrap();
    prepare_fit(dir.path());
    let fit = |ranks: &str| {
        let out = run(dir.path(), &["fit", "fit.toml", "--json", "--ranks", ranks]);
        found(out, ranks.parse().unwrap())
    };
    let one = fit("1");
    assert!(one["convergence"].as_array().unwrap().len() > 5, "{one}");
    for ranks in ["2", "3"] {
        assert_eq!(fit(ranks), one, "{ranks}");
    }
}

#[test]
fn a_fit_that_a_rank_cannot_compute_ends_all() {
    let dir = tempfile::tempdir().unwrap();
    prepare_fit(dir.path());
    let fit = std::fs::read_to_string(dir.path().join("fit.toml")).unwrap();
    // A mesh that is too large for the limits of a shape: every model fails.
    let fit = fit.replace("from = 0.8\nto = 1.3", "from = 1e8\nto = 9e8");
    std::fs::write(dir.path().join("fit.toml"), fit).unwrap();
    for ranks in ["1", "3"] {
        let out = run(dir.path(), &["fit", "fit.toml", "--json", "--ranks", ranks]);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(
            !out.status.success() && text.lines().count() <= 2,
            "{ranks}: {text}"
        );
        assert!(text.contains("scale"), "{ranks}: {text}");
    }
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
    prepare_fit(dir.path());
    let args = |name| ["simulate", "sample.toml", "-o", name, "--json"];
    checked(run(dir.path(), &args("one.npy")), 1);
    let one = std::fs::read(dir.path().join("one.npy")).unwrap();
    let fit = ["fit", "fit.toml", "--json"];
    let fitted = found(run(dir.path(), &fit), 1);
    let mesh = "shape = \"icosahedron\"\nedge = 5.0\n";
    std::fs::write(dir.path().join("shape.toml"), mesh).unwrap();
    let form = |name| {
        let grid = [
            "--grid", "0", "-1:1:24", "0:2:100", "--method", "nufft", "--json",
        ];
        [&["form-factor", "shape.toml", "-o", name][..], &grid].concat()
    };
    checked(run(dir.path(), &form("f.npy")), 1);
    let f = std::fs::read(dir.path().join("f.npy")).unwrap();
    for launcher in launchers() {
        for ranks in [2, 3] {
            let command = gisaxs(dir.path(), &args("several.npy"));
            let out = with_ranks(launcher, ranks, &command).output().unwrap();
            checked(out, ranks);
            let several = std::fs::read(dir.path().join("several.npy")).unwrap();
            assert!(several == one, "{launcher} {ranks}");
            let out = with_ranks(launcher, ranks, &gisaxs(dir.path(), &fit));
            assert_eq!(
                found({ out }.output().unwrap(), ranks),
                fitted,
                "{launcher} {ranks}"
            );
            let out = with_ranks(launcher, ranks, &gisaxs(dir.path(), &form("g.npy")));
            checked({ out }.output().unwrap(), ranks);
            let g = std::fs::read(dir.path().join("g.npy")).unwrap();
            assert!(g == f, "{launcher} {ranks}");
        }
    }
}
