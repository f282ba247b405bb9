//! `greenup init`: each template can be tuned, or without a GPU checked, as it is written.

use assert_cmd::Command;
use greenup_device::cuda::{Compiler, Gpu, Source};
use greenup_meter::observe::Silent;
use greenup_space::{Index, Limits};
use greenup_testing::is_refused;
use greenup_tune::build::cubin::{ready, source};
use greenup_tune::build::emulator;
use greenup_tune::session::device_facts::of_gpu;
use greenup_tune::worker::inputs::arguments::Arguments;
use greenup_tune::{GpuTarget, Problem};
use serde_json::Value as J;
use std::path::{Path, PathBuf};

fn greenup(args: &[&str]) -> Command {
    let mut c = Command::cargo_bin("greenup").unwrap();
    c.args(args);
    c
}

/// A project from a template, and what the command printed.
fn project(template: &str, dir: &Path) -> (PathBuf, String) {
    let out = greenup(&["init", template, "k"])
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(out.status.success(), "{out:?}");
    (dir.join("k"), String::from_utf8(out.stdout).unwrap())
}

/// Tunes it as a user would, on a small size.
fn tuned(template: &str, n: &str) {
    let dir = tempfile::tempdir().unwrap();
    let (project, printed) = project(template, dir.path());
    assert!(
        printed.contains("cd k\n") && printed.contains("greenup tune problem.toml"),
        "{printed}"
    );
    let run = greenup(&["tune", "problem.toml", "--budget", "4", "--set", n])
        .args(["--measure", "0.01", "--finalists", "2"])
        // A second thread would wait for a core on a busy host.
        .args(["--set", "nthreads=1", "--sensor", "none", "--json"])
        .current_dir(&project)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let answer: J = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(answer["verified"], true);
    assert_eq!(
        (&answer["trials"], answer["failures"].to_string()),
        (&4.into(), "{}".into())
    );
    let best = greenup(&["best", answer["out"].as_str().unwrap(), "--format", "json"])
        .current_dir(&project)
        .output()
        .unwrap();
    let best: J = serde_json::from_slice(&best.stdout).unwrap();
    let names = answer["parameters"].as_array().unwrap();
    for (name, value) in names
        .iter()
        .zip(answer["finalists"][0]["config"].as_array().unwrap())
    {
        assert_eq!(&best["config"][name.as_str().unwrap()], value);
    }
}

#[test]
fn the_c_template_is_tuned_and_verified() {
    tuned("c", "n=100");
}

#[test]
fn the_cpp_template_is_tuned_and_verified() {
    tuned("cpp", "n=240");
}

#[test]
fn a_folder_with_files_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let blocked = dir.path().join("k");
    std::fs::create_dir(&blocked).unwrap();
    std::fs::write(blocked.join("README.md"), "mine").unwrap();
    let mut c = std::process::Command::new(assert_cmd::cargo::cargo_bin!("greenup"));
    c.args(["init", "c"]).arg(&blocked);
    let e = is_refused(&mut c);
    assert!(
        e.contains("README.md") && e.contains("overwrites nothing"),
        "{e}"
    );
    assert_eq!(std::fs::read_dir(&blocked).unwrap().count(), 1);
    let mut c = std::process::Command::new(assert_cmd::cargo::cargo_bin!("greenup"));
    c.args(["init", "c"]).arg(blocked.join("README.md"));
    assert!(is_refused(&mut c).contains("cannot be used"));
    let mut c = std::process::Command::new(assert_cmd::cargo::cargo_bin!("greenup"));
    c.args(["init", "fortran"]).arg(dir.path().join("new"));
    assert!(is_refused(&mut c).contains("[possible values: c, cpp, cuda, opencl, command]"));
    // An empty folder will do.
    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    greenup(&["init", "cuda", "."])
        .current_dir(&empty)
        .assert()
        .success();
    assert!(empty.join("kernel.cu").is_file());
}

fn cuda_problem(dir: &Path) -> Problem {
    let (project, _) = project("cuda", dir);
    let n = [("n".to_owned(), toml::Value::Integer(70))];
    let facts = of_gpu(&Gpu::known("h200").unwrap());
    Problem::read_with(&project.join("problem.toml"), &facts, &n).unwrap()
}

/// Configs spread over the space.
fn configs(p: &Problem, n: u64) -> Vec<Vec<greenup_space::Value>> {
    let index = Index::build(&p.space, &Limits::default()).unwrap();
    (0..n)
        .map(|i| index.get(i * (index.len() - 1) / (n - 1)).unwrap())
        .collect()
}

#[test]
fn the_cuda_template_transposes_on_the_hosts_fibers() {
    let dir = tempfile::tempdir().unwrap();
    let p = cuda_problem(dir.path());
    for config in configs(&p, 3) {
        let built = emulator::compile(&p, &config, &dir.path().join("build"), &Silent).unwrap();
        let mut args = Arguments::new(&p.data, 1, dir.path()).unwrap();
        emulator::run(&built, &mut args).unwrap();
        args.verify(None, greenup_tune::problem::Tolerance::default())
            .unwrap();
        let arrays: Vec<Vec<f32>> = args
            .blocks()
            .map(|(_, a)| {
                let each = a.contents().chunks_exact(4);
                each.map(|c| f32::from_ne_bytes(c.try_into().unwrap()))
                    .collect()
            })
            .collect();
        for i in 0..70 {
            for j in 0..70 {
                assert_eq!(
                    arrays[0][j * 70 + i],
                    arrays[1][i * 70 + j],
                    "{config:?} {i} {j}"
                );
            }
        }
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn the_cuda_template_compiles_and_can_be_launched() {
    let dir = tempfile::tempdir().unwrap();
    let p = cuda_problem(dir.path());
    let on = GpuTarget {
        gpu: Gpu::known("h200").unwrap(),
        cubins: dir.path().join("cubins"),
    };
    let compiler = Compiler::new(Some(&on.cubins)).unwrap();
    for config in configs(&p, 6) {
        let cuda = source(&p, &config, &on).unwrap();
        let text = std::fs::read_to_string(&cuda.source).unwrap();
        let compiled = compiler
            .compile(&Source {
                name: "kernel.cu",
                text: &text,
                arch: &cuda.arch,
                options: &cuda.options,
            })
            .unwrap_or_else(|e| panic!("{config:?}\n{e}"));
        assert_eq!(compiled.warnings, "", "{config:?}");
        let file = compiled.file.clone().unwrap();
        let r = ready(&p, &config, &on, file, &compiled.kernels).unwrap();
        assert_eq!(r.rejected, None, "{config:?}");
    }
}
