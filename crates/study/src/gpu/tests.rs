//! The kernels without a GPU: right on the host's fibers, with the work that hardware counters saw, and energies that were
//! measured on an H200.

use super::kernel::{GpuKernel, Prepared};
use super::measure::Measured;
use super::problems::ALL;
use super::tuning;
use crate::device::{DeviceStudy, Hardware};
use crate::pages::study::{page, roofline_figure};
use crate::result::KernelResult;
use crate::study::Study;
use crate::summary;
use crate::tradeoff::Tradeoff;
use crate::tradeoff::named;
use crate::tuned::Tuning;
use greenup_calibrate::machine::{of_records, raise_to};
use greenup_calibrate::suite::noise::Noise;
use greenup_calibrate::{FitOptions, record};
use greenup_device::cuda::{Compiler, Gpu, Source};
use greenup_gemm::Size;
use greenup_meter::observe::Silent;
use greenup_model::{Estimate, Machine, Op, shipped};
use greenup_report::page::Page;
use greenup_report::provenance::Provenance;
use greenup_tune::analyze::counted;
use greenup_tune::build::compile::Unit;
use greenup_tune::build::{cubin, emulator};
use greenup_tune::sweep::{Folder, Rounds};
use greenup_tune::worker::inputs::arguments::Arguments;
use greenup_tune::worker::protocol::Built;
use greenup_tune::{GpuTarget, Sweep, Trial};
use std::path::{Path, PathBuf};

fn kernel(name: &str) -> &'static GpuKernel {
    ALL.iter().find(|k| k.name == name).unwrap()
}

fn h200() -> Gpu {
    Gpu::known("h200").unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a kernel on fibers and its reference; returns the largest error and its bound.
fn verified(name: &str, constants: &[(&str, i64)], seed: u64) -> (f64, f64) {
    let dir = tempfile::tempdir().unwrap();
    let Prepared {
        problem, config, ..
    } = kernel(name)
        .prepare(&dir.path().join("problem"), &h200(), constants)
        .unwrap();
    let libraries = dir.path().join("libraries");
    std::fs::create_dir(&libraries).unwrap();
    let arguments = || {
        let mut args = Arguments::new(&problem.data, seed, dir.path()).unwrap();
        if let Some(setup) = Unit::of_setup(&problem) {
            let setup = Built::Library(setup.compile(&libraries).unwrap());
            emulator::run(&setup, &mut args).unwrap();
            args.adopt().unwrap();
        }
        args
    };
    let reference = Unit::of_reference(&problem).unwrap();
    let reference = Built::Library(reference.compile(&libraries).unwrap());
    let (mut want, mut got) = (arguments(), arguments());
    emulator::run(&reference, &mut want).unwrap();
    let built = emulator::compile(&problem, &config, &dir.path().join("build"), &Silent).unwrap();
    emulator::run(&built, &mut got).unwrap();
    let bound = problem.tolerance();
    let error = got
        .verify(Some(&want.outputs()), bound)
        .unwrap_or_else(|e| panic!("{name} {constants:?}: {e}"));
    (error, bound.real)
}

#[test]
fn triads_of_odd_sizes_are_right() {
    for n in [1, 1025] {
        let (error, bound) = verified("triad", &[("elements", n)], 3);
        assert!(error <= bound, "{n}: {error}");
    }
}

#[test]
fn products_of_a_sparse_matrix_of_odd_sides_are_right() {
    for side in [1, 7] {
        let (error, bound) = verified("spmv", &[("side", side)], 4);
        assert!(error <= bound, "{side}: {error}");
    }
}

#[test]
fn products_of_odd_matrices_are_right() {
    let size = [("size_m", 131), ("size_n", 67), ("size_k", 29)];
    let (error, bound) = verified("dgemm", &size, 5);
    assert!(error <= bound, "{error}");
}

#[test]
fn form_factors_on_odd_grids_are_right() {
    let grid = [
        ("triangles", 301),
        ("size_y", 37),
        ("size_z", 19),
        ("every_block", 1),
    ];
    let (error, bound) = verified("form factor", &grid, 6);
    assert!(error <= bound, "{error}");
}

#[test]
fn leaves_of_odd_numbers_of_points_are_right() {
    let leaves = [("side", 2), ("ncrit", 131)];
    let (error, bound) = verified("p2p", &leaves, 7);
    assert!(error <= bound, "{error}");
}

#[test]
#[ignore = "needs NVRTC"]
fn every_kernel_compiles_for_hopper_and_can_be_launched() {
    let dir = tempfile::tempdir().unwrap();
    let on = GpuTarget {
        gpu: h200(),
        cubins: dir.path().join("cubins"),
    };
    let compiler = Compiler::new(Some(&on.cubins)).unwrap();
    for kernel in ALL {
        let folder = dir.path().join(kernel.name.replace(' ', "_"));
        let p = kernel.prepare(&folder, &on.gpu, &[]).unwrap();
        let cuda = cubin::source(&p.problem, &p.config, &on).unwrap();
        let text = std::fs::read_to_string(&cuda.source).unwrap();
        let compiled = compiler
            .compile(&Source {
                name: "kernel.cu",
                text: &text,
                arch: &cuda.arch,
                options: &cuda.options,
            })
            .unwrap_or_else(|e| panic!("{}: {e}", kernel.name));
        assert_eq!(compiled.warnings, "", "{}", kernel.name);
        let file = compiled.file.clone().unwrap();
        let ready = cubin::ready(&p.problem, &p.config, &on, file, &compiled.kernels).unwrap();
        assert_eq!(ready.rejected, None, "{}", kernel.name);
        assert!(ready.facts["blocks"] > 0.0 && ready.facts["spill_bytes"] == 0.0);
    }
}

/// A recorded sweep, a kernel of the study at the size of that sweep, and the trial of the kernel's config.
fn recorded(sweep: &str, name: &str, size: &[(&str, i64)]) -> (Sweep, Prepared, Trial) {
    let sweep = Folder::read(&root().join("sweeps").join(sweep)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let prepared = (kernel(name).prepare(dir.path(), &h200(), size)).unwrap();
    let names: Vec<String> = (prepared.problem.space.names().map(str::to_owned)).collect();
    let own = named(&names, &prepared.config);
    let same = |t: &&Trial| {
        named(&sweep.facts.parameters, &t.config)
            .iter()
            .all(|p| own.contains(p))
    };
    let trial = sweep.trials.iter().find(same).unwrap().clone();
    (sweep, prepared, trial)
}

/// A sweep, a kernel, and the constants of that sweep.
type Case = (&'static str, &'static str, &'static [(&'static str, i64)]);

const RECORDED: [Case; 4] = [
    ("dgemm_h200", "dgemm", &[]),
    ("spmv_h200", "spmv", &[]),
    ("form_factor_h200", "form factor", &[("triangles", 6600)]),
    ("one_board_h200/fmm_ulist_h200", "p2p", &[("side", 16)]),
];

#[test]
fn counts_are_those_of_hardware_counters() {
    for (sweep, name, size) in RECORDED {
        let (_, prepared, trial) = recorded(sweep, name, size);
        let counted = counted::work(&trial).unwrap();
        let own = kernel(name).work(&prepared).unwrap();
        for (op, tolerance) in [
            (Op::TensorF64, 0.01),
            (Op::F64, 0.01),
            (Op::F32, 0.01),
            (Op::Special, 0.01),
            (Op::L1, 0.35),
            (Op::L2, 0.25),
        ] {
            // Special functions of DGEMM and bytes of L2 of the form factor are a millionth of the energy.
            if own.count(op) == 0.0 {
                continue;
            }
            let error = own.count(op) / counted.count(op) - 1.0;
            assert!(error.abs() < tolerance, "{name} {op}: {error}");
        }
        // The least traffic is no more than what was counted, within what L2 keeps from run to run.
        assert!(
            own.count(Op::Dram) < counted.count(Op::Dram) + 60e6,
            "{name}"
        );
        assert!(own.count(Op::Int) < 1.05 * counted.count(Op::Int), "{name}");
    }
}

fn results(machine: &Machine) -> Vec<KernelResult> {
    RECORDED
        .iter()
        .map(|(sweep, name, size)| {
            let (sweep, prepared, trial) = recorded(sweep, name, size);
            let cost = trial.cost().unwrap();
            // As if it had been measured again in one round.
            let rounds = Rounds {
                metrics: Vec::new(),
                configs: vec![trial.config.clone()],
                times_s: vec![vec![cost.time_s], vec![2.7e-3]],
                energies_j: vec![vec![cost.energy_j.unwrap()], vec![1.9]],
                with_baseline: true,
                ties_by_order: false,
            };
            let kernel = kernel(name);
            let work = kernel.work(&prepared).unwrap();
            let sensor = sweep.facts.more.get("sensor").map(String::as_str);
            Measured::of(kernel, &prepared, work, (&trial, &rounds), sensor)
                .unwrap()
                .explain(kernel, machine, None)
                .unwrap()
        })
        .collect()
}

#[test]
fn recorded_energies_are_predicted_within_8_percent() {
    let h200 = shipped::find("h200").unwrap().unwrap();
    for k in results(&h200) {
        let error = k.energy_error.unwrap();
        assert!(error.abs() < 0.08, "{}: {error}", k.name);
        assert!(k.share_of_roof.unwrap() < 1.05, "{}: {k:?}", k.name);
        let split = k.explained.unwrap();
        let sum = split.arithmetic_j + split.data_j + split.constant_j;
        assert!((sum / split.total_j - 1.0).abs() < 1e-9);
        assert_eq!(k.library.is_some(), k.name == "dgemm");
    }
}

/// A study of an H200 from recorded microbenchmarks, kernels and a sweep.
fn study() -> Study {
    let file = root().join("docs/results/data/h200/microbenchmarks.csv");
    let records = record::read(&file).unwrap();
    let options = FitOptions {
        resamples: 10,
        validate: false,
        ..FitOptions::default()
    };
    let (machine, fit, _) = of_records("h200", "NVIDIA H200", &records, &options).unwrap();
    let (mut sweep, _, trial) = recorded("dgemm_h200", "dgemm", &[]);
    let other = sweep.trials.iter().find(|t| t.cost().is_some()).unwrap();
    sweep.finals = Some(Rounds {
        metrics: Vec::new(),
        configs: vec![trial.config.clone(), other.config.clone()],
        times_s: vec![vec![2.6e-3, 2.61e-3], vec![2.8e-3, 2.81e-3]],
        energies_j: vec![vec![1.84, 1.85], vec![1.7, 1.71]],
        with_baseline: false,
        ties_by_order: false,
    });
    let tuning = Tuning {
        size: Size {
            m: 4096,
            n: 4096,
            k: 4096,
        },
        points: 300,
        trials: 25,
        failed: 1,
        config: named(&sweep.facts.parameters, &trial.config),
        comparison: tuning::comparison(&sweep, &trial.config).unwrap(),
        tradeoff: Tradeoff::of(&sweep, None),
    };
    Study {
        devices: vec![DeviceStudy {
            device: "cuda:0".into(),
            hardware: Hardware::Gpu(Box::new(h200())),
            kernels: results(&machine),
            machine,
            fit,
            records,
            sensor: Some("nvml:0:energy".into()),
            no_sensor: None,
            noise: Noise::default(),
            tuning: Some(Ok(tuning)),
            missing: vec!["spmv: the device was lost".into()],
            interrupted: false,
        }],
        missing: vec!["cuda:1: NVRTC cannot be loaded".into()],
        assume: None,
        interrupted: false,
        provenance: Provenance::now("greenup study --device cuda".into()),
        saving: Vec::new(),
    }
}

#[test]
fn a_recorded_gpu_has_a_page_and_a_summary() {
    let study = study();
    let s = summary(&study);
    let device = &s["devices"][0];
    assert_eq!(device["kind"], "gpu");
    assert_eq!(device["energy"], true);
    assert_eq!(device["name"], "NVIDIA H200");
    for k in device["kernels"].as_array().unwrap() {
        for key in [
            "time_s",
            "energy_j",
            "power_w",
            "predicted_time_s",
            "predicted_energy_j",
        ] {
            assert!(k[key].as_f64().is_some_and(|v| v > 0.0), "{key} of {k}");
        }
        for part in ["arithmetic_j", "data_j", "constant_j"] {
            assert!(k["energy_split"][part].as_f64().is_some(), "{part} of {k}");
        }
    }
    for key in ["date", "host", "command", "version", "commit"] {
        assert!(s["provenance"][key].as_str().is_some_and(|v| !v.is_empty()));
    }
    for key in ["machine", "kernels", "tuning", "fit_errors", "sensor"] {
        assert!(!s[key].is_null(), "{key}");
    }
    assert!(s["cpu"].is_null());
    assert!(device["tuning"]["tradeoff"]["greenup"]["median"].as_f64() > Some(1.0));

    let figure = roofline_figure(&study.devices[0]).unwrap();
    assert_eq!(figure.panels().len(), 3);
    // f64, f64 on tensor cores, f32; each kernel on its own.
    let kernels = figure.points.iter().filter(|p| !p.calibration);
    let lines: Vec<usize> = kernels.map(|p| p.line).collect();
    assert_eq!((figure.lines.len(), lines), (3, vec![1, 0, 2, 2]));
    assert!(figure.points.iter().any(|p| p.calibration));
    assert!(figure.above_roof().is_empty(), "{:?}", figure.above_roof());

    let html = page(&study).unwrap().render().unwrap();
    for text in [
        "Each kernel against its roof",
        "Energies of an iteration",
        "Arch line",
        "Power line",
        "cuBLAS in the same rounds",
        "Tuned for time and for energy",
        "the device was lost",
        "NVRTC cannot be loaded",
        "machine-cuda0.toml",
        "The kernel tuned for energy saves",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert!(!html.contains("times only"));

    let mut two = study;
    let mut other = self::study().devices.remove(0);
    other.device = "cuda:1".into();
    two.devices.push(other);
    let page = page(&two).unwrap();
    let mut ids: Vec<&str> = page.sections.iter().map(|s| s.id.as_str()).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "{ids:?}");
    assert!(page.answer.sure.iter().any(|t| t.starts_with("cuda:1: ")));
}

#[test]
fn without_a_sensor_the_page_says_so_once() {
    let mut study = study();
    let device = &mut study.devices[0];
    device.sensor = None;
    device.no_sensor = Some("no energy sensor on this host; run `greenup doctor`".into());
    for k in &mut device.kernels {
        k.explained = None;
        if let Some(m) = &mut k.measured {
            m.energy_j = None;
            m.power_w = None;
        }
    }
    device.machine = {
        let mut m = device.machine.clone();
        m.constant_power_w = None;
        m
    };
    let html = page(&study).unwrap().render().unwrap();
    assert_eq!(html.matches("times only; no energy sensor").count(), 1);
    assert!(html.contains("--assume MACHINE") && !html.contains("predicted E"));
    assert!(html.contains("<title>Time roofline of"));
}

#[test]
fn what_disturbed_a_device_stands_above_its_numbers() {
    let mut study = study();
    let quiet = page(&study).unwrap();
    assert!(quiet.title.starts_with("Energy roofline of") && quiet.banner.is_empty());
    let lower = |p: &Page| {
        let memory = p.answer.says[0]
            .split(", ")
            .find(|t| t.contains("from memory"));
        memory.unwrap().starts_with("at least ")
    };
    assert!(!lower(&quiet));
    assert_eq!(summary(&study)["devices"][0]["disturbed"], false);

    let noise = &mut study.devices[0].noise;
    noise.repeated("triad", 2, "its rounds differ by ±9.0 %");
    noise.not_clean("dram", "read DRAM: its windows differ by 9 %");
    let page = page(&study).unwrap();
    assert!(
        page.banner[0].starts_with("cuda:0 (NVIDIA H200): Disturbed"),
        "{:?}",
        page.banner
    );
    assert!(lower(&page));
    assert!(page.render().unwrap().contains("class=\"banner\""));
    let device = &summary(&study)["devices"][0];
    assert_eq!(device["disturbed"], true);
    assert_eq!(device["repeated"][0]["what"], "triad");
    assert_eq!(device["repeated"][0]["times"], 2);
    assert_eq!(device["not_clean"][0]["what"], "dram");
}

/// As if memory had been slow while the machine was calibrated.
fn with_slow_memory() -> Study {
    let h200 = shipped::find("h200").unwrap().unwrap();
    let mut study = study();
    let device = &mut study.devices[0];
    let slow = 2.2 * h200.time_of(Op::Dram).unwrap();
    device.machine.cost.get_mut(&Op::Dram).unwrap().time_s = Some(Estimate::new(slow));
    // No record shows that it is faster.
    (device.records).retain(|r| r.work.count(Op::Dram) == 0.0);
    for k in &mut device.kernels {
        super::measure::predict(k, &device.machine).unwrap();
    }
    study
}

#[test]
fn a_kernel_above_the_roof_raises_it() {
    let mut study = with_slow_memory();
    let device = &mut study.devices[0];
    let above = |d: &DeviceStudy| {
        let shares = d.kernels.iter().filter_map(|k| k.share_of_roof);
        shares.fold(0.0, f64::max)
    };
    assert!(above(device) > 1.2, "{}", above(device));
    super::raise(device).unwrap();
    assert!(above(device) < 1.06, "{}", above(device));
    let tau = device.machine.cost[&Op::Dram].time_s.clone().unwrap();
    assert!(
        tau.source.as_deref().unwrap().contains("kernel spmv"),
        "{tau:?}"
    );
    let found = device.records.iter().find(|r| r.benchmark == "kernel spmv");
    let mut slower = found.unwrap().clone();
    assert!(!device.noise.is_not_clean("dram"));
    // A slower record leaves the roof as it is.
    slower.time_s *= 3.0;
    raise_to(&mut device.machine, Op::Dram, &slower);
    assert_eq!(device.machine.time_of(Op::Dram).unwrap(), tau.value);
}

#[test]
fn a_roof_of_a_disturbed_kernel_is_a_lower_bound() {
    let mut study = with_slow_memory();
    let device = &mut study.devices[0];
    for k in &mut device.kernels {
        k.disturbed = Some("its windows differ by 9 %".into());
    }
    super::raise(device).unwrap();
    assert!(device.noise.is_not_clean("dram"));
    let page = page(&study).unwrap();
    assert!(
        page.answer.says[0].contains(", at least ") && page.answer.says[0].contains("from memory")
    );
}
