//! Results that other tools wrote: sweeps of KTT and CLBlast, tables of ncu, power logs of nvidia-smi.

use crate::common::{fails, file, greenup, json, ok, repository};
use std::path::Path;

/// KTT's XML of three configs, of which one failed.
fn ktt(dir: &Path) -> String {
    let result = |block: u32, status: &str, ms: &str| {
        format!(
            r#"<KernelResult KernelName="axpy" Status="{status}" TotalDuration="{ms}" TotalOverhead="1" ExtraDuration="0"><Configuration>
            <Pair ValueType="UnsignedInt" Name="block" Value="{block}"/><Pair ValueType="Int" Name="unroll" Value="2"/></Configuration><ComputationResults/></KernelResult>"#
        )
    };
    let all = [
        result(32, "Ok", "0.5"),
        result(64, "Ok", "0.25"),
        result(4096, "DeviceLimitsExceeded", "18446744073709.550781"),
    ];
    let text = format!(
        r#"<?xml version="1.0"?><TuningData><Metadata Device="Test GPU" KttVersion="2.2.0" TimeUnit="Milliseconds"/><Results>{}</Results></TuningData>"#,
        all.concat()
    );
    file(dir, "results.xml", &text)
}

/// CLBlast's database of two sections.
fn database(dir: &Path) -> String {
    let section = |precision: u32| {
        format!(
            r#"{{"kernel": "Xaxpy", "kernel_family": "xaxpy", "precision": "{precision}", "clblast_device_name": "Test GPU", "arg_n": "4096",
            "parameter_names": ["VW", "WGS"], "results": [["1,64", 2.0], ["2,128", 0.{precision}]]}}"#
        )
    };
    let text = format!(r#"{{"sections": [{}, {}]}}"#, section(32), section(64));
    file(dir, "database.json", &text)
}

#[test]
fn sweeps_of_other_tuners_are_shown_analyzed_replayed_and_exported() {
    let dir = tempfile::tempdir().unwrap();
    let xml = ktt(dir.path());
    let shown = json(&["sweeps", "show", &xml, "--json"]);
    assert_eq!(
        (&shown["device"], &shown["trials"]),
        (&"Test GPU".into(), &3.into())
    );
    assert_eq!(shown["failures"]["launch"], 1);
    assert_eq!(shown["facts"]["tuner"], "KTT 2.2.0");
    assert!(ok(&["sweeps", "show", &xml]).contains("KTT 2.2.0"));
    assert_eq!(ok(&["best", &xml]).trim(), "-Dblock=64 -Dunroll=2");
    let replay = json(&[
        "replay",
        &xml,
        "--budget",
        "100%",
        "--strategy",
        "random",
        "--json",
    ]);
    assert!(replay.is_object() || replay.is_array());
    let out = dir.path().join("analysis").display().to_string();
    ok(&["analyze", &xml, "--out", &out]);
    // What was exported is the same sweep again.
    let t4 = format!("{out}/results-t4.json");
    assert_eq!(ok(&["best", &t4]).trim(), "-Dblock=64 -Dunroll=2");
    let database = database(dir.path());
    let e = fails(&["best", &database]);
    assert!(
        e.contains("holds 2 sweeps") && e.contains("#Xaxpy,32,Test GPU"),
        "{e}"
    );
    let one = format!("{database}#64");
    assert_eq!(ok(&["best", &one]).trim(), "-DVW=2 -DWGS=128");
    let shown = json(&["sweeps", "show", &one, "--json"]);
    assert!((shown["best_time_s"].as_f64().unwrap() - 0.64e-3).abs() < 1e-12);
    // The file is not replaced by what is made of it.
    let e = fails(&["best", &one, "-o", &database]);
    assert!(e.contains("database.json"), "{e}");
}

/// A table of ncu: `scale` was counted completely, `odd` lacks a counter.
fn table(dir: &Path) -> String {
    let work = "dram__bytes_read.sum dram__bytes_write.sum lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum \
        l1tex__data_pipe_lsu_wavefronts_mem_shared.sum smsp__sass_thread_inst_executed_op_dfma_pred_on.sum \
        smsp__sass_thread_inst_executed_op_dadd_pred_on.sum smsp__sass_thread_inst_executed_op_dmul_pred_on.sum \
        smsp__sass_thread_inst_executed_op_ffma_pred_on.sum smsp__sass_thread_inst_executed_op_fadd_pred_on.sum \
        smsp__sass_thread_inst_executed_op_fmul_pred_on.sum smsp__sass_thread_inst_executed_op_integer_pred_on.sum \
        smsp__inst_executed_pipe_xu.sum sm__inst_executed_pipe_tensor.sum smsp__inst_executed.sum \
        smsp__sass_inst_executed_op_shared_ld.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum \
        smsp__sass_inst_executed_op_global_ld.sum";
    let metrics: Vec<&str> = work.split_whitespace().collect();
    let cells = |of: &dyn Fn(&str) -> String| {
        let all: Vec<String> = metrics.iter().map(|m| format!("\"{}\"", of(m))).collect();
        all.join(",")
    };
    let row = |id: u32, kernel: &str, lacks: &str| {
        let value = |m: &str| match m {
            m if !lacks.is_empty() && m.contains(lacks) => "n/a".to_owned(),
            m if m.starts_with("dram") => "1.234,50".to_owned(),
            _ => "0".to_owned(),
        };
        format!(
            "\"{id}\",\"9\",\"app\",\"{kernel}(float *)\",\"(256, 1, 1)\",\"(40, 1, 1)\",\"0\",\"2,50\",{}\n",
            cells(&value)
        )
    };
    let head = "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"gpu__time_duration.sum\"";
    let unit = |m: &str| if m.starts_with("dram") { "Mbyte" } else { "" }.to_owned();
    let text = format!(
        "==PROF== Connected to process 9\nhello\n{head},{}\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ms\",{}\n{}{}{}",
        cells(&|m: &str| m.to_owned()),
        cells(&unit),
        row(0, "scale", ""),
        row(1, "scale", ""),
        row(2, "odd", "op_dfma")
    );
    file(dir, "counted.csv", &text)
}

#[test]
fn tables_of_ncu_are_profiled_and_predicted() {
    let dir = tempfile::tempdir().unwrap();
    let table = table(dir.path());
    let out = greenup(&[
        "predict",
        "--machine",
        "h100",
        "--from-counters",
        &table,
        "--json",
    ]);
    let rows: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("odd: not counted completely"), "{said}");
    assert!(
        said.contains("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"),
        "{said}"
    );
    let of = |name: &str| {
        rows.as_array()
            .unwrap()
            .iter()
            .find(|r| r["kernel"] == name)
            .unwrap()
            .clone()
    };
    let (scale, odd) = (of("scale"), of("odd"));
    assert_eq!(
        (&scale["launches"], &scale["work"]["dram"]),
        (&2.into(), &2.469e9.into())
    );
    assert!((scale["time_s"].as_f64().unwrap() - 5e-3).abs() < 1e-9);
    assert!(
        scale["energy_j"].as_f64().unwrap() > 0.1 && odd["energy_j"].is_null(),
        "{rows}"
    );
    let page = dir.path().join("page");
    let profile = json(&[
        "profile",
        "--from",
        &table,
        "--machine",
        "h100",
        "--out",
        &page.display().to_string(),
        "--json",
    ]);
    assert!(profile["cpu"].is_null() && profile["exit"].is_null());
    assert_eq!(profile["gpus"][0]["kernels"].as_array().unwrap().len(), 2);
    assert!(profile["gpus"][0]["measured_j"].is_null());
    assert!(page.join("report.html").is_file() && page.join("kernels.csv").is_file());
    assert!(ok(&["profile", "--from", &table, "--machine", "h100"]).contains("scale"));
    let text = std::fs::read_to_string(&table).unwrap();
    let cut = file(dir.path(), "cut.csv", &text[..text.len() - 30]);
    for args in [
        vec!["profile", "--from", &cut],
        vec!["predict", "--machine", "h100", "--from-counters", &cut],
    ] {
        let e = fails(&args);
        assert!(e.contains("cut.csv: line 7: the row"), "{e}");
    }
    let empty = file(dir.path(), "empty.csv", "");
    let e = fails(&["predict", "--machine", "h100", "--from-counters", &empty]);
    assert!(e.contains("empty.csv: no line of it is the header"), "{e}");
    let e = fails(&["profile", "--from", &table, "--cpu-machine", "h100"]);
    assert!(e.contains("--cpu-machine has no effect"), "{e}");
}

/// A log of two GPUs over 20 s, a sample each 0.5 s: 100 W and 200 W.
fn log(dir: &Path) -> String {
    let lines: String = (0..=40)
        .map(|i| {
            let t = 20.0 + 0.5 * f64::from(i);
            let line = |gpu: u32| {
                format!(
                    "2026/11/28 08:59:{t:06.3}, {gpu}, {}.00 W, [N/A]\n",
                    100 * (gpu + 1)
                )
            };
            line(0) + &line(1)
        })
        .collect();
    file(
        dir,
        "gpu.csv",
        &format!("timestamp, index, power.draw [W], fan.speed [%]\n{lines}"),
    )
}

#[test]
fn a_power_log_gives_the_energy_between_two_times() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path());
    let all = json(&["energy", &log, "--json"]);
    let near = |v: &serde_json::Value, x: f64| {
        assert!((v.as_f64().unwrap() / x - 1.0).abs() < 1e-9, "{v} {x}")
    };
    near(&all[0]["energy_j"], 2000.0);
    near(&all[1]["energy_j"], 4000.0);
    assert_eq!(all[1]["device"], "1");
    let times = ["--from", "2026/11/28 08:59:25", "--to", "08:59:35.5"];
    let one = json(&[&["energy", &log, "--device", "1", "--json"][..], &times].concat());
    near(&one[0]["energy_j"], 2100.0);
    assert!(one[0]["error_j"].as_f64().unwrap() > 0.0);
    assert_eq!(one[0]["sensor_error"], 0.05);
    let text = ok(&[
        "energy",
        &log,
        "--region",
        "solve=5..15",
        "--region",
        "08:59:36..08:59:38",
    ]);
    assert!(text.contains("solve, all 2 together: 3.00 kJ"), "{text}");
    for (args, why) in [
        (
            vec!["energy", &log, "--from", "08:58:00"],
            "the log holds other times",
        ),
        (
            vec!["energy", &log, "--device", "7"],
            "no device of it is `7`: it has 0, 1",
        ),
        (vec!["energy", &log, "--from", "1795852764"], "--utc-offset"),
        (
            vec!["energy", &log, "--from", "08:59:30", "--to", "08:59:25"],
            "the end is not after the start",
        ),
        (
            vec!["energy", &log, "--power", "power.draw.instant"],
            "no column of power `power.draw.instant`",
        ),
        (
            vec!["energy", &log, "--every", "1s"],
            "its lines have times: --every has no effect",
        ),
    ] {
        let e = fails(&args);
        assert!(e.contains("gpu.csv") && e.contains(why), "{why}: {e}");
    }
    for unused in [&["--from", "08:59:25"][..], &[]] {
        let e = fails(&[&["energy", &log, "--utc-offset", "+01:00"][..], unused].concat());
        assert!(e.contains("--utc-offset has no effect"), "{e}");
    }
    let empty = file(dir.path(), "empty.csv", "");
    assert!(fails(&["energy", &empty]).contains("empty.csv: it holds 0 samples"));
    let dmon = file(
        dir.path(),
        "dmon.txt",
        "# gpu    pwr\n# Idx      W\n    0    100\n    0    100\n    0    100\n",
    );
    assert!(fails(&["energy", &dmon]).contains("--every"));
    near(
        &json(&["energy", &dmon, "--every", "2s", "--json"])[0]["energy_j"],
        400.0,
    );
    // One of them as a meter.
    let e = fails(&[
        "run",
        "--runs",
        "3",
        "--sensor",
        &format!("recorded:{log}"),
        "--",
        "true",
    ]);
    assert!(e.contains("recorded:FILE#0"), "{e}");
    ok(&[
        "run",
        "--runs",
        "3",
        "--sensor",
        &format!("recorded:{log}#1"),
        "--",
        "true",
    ]);
}

#[test]
fn the_examples_are_read() {
    let of = |name: &str| repository(&format!("examples/imports/{name}"));
    assert_eq!(
        json(&["energy", &of("gpu.csv"), "--json"])
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let rows = json(&[
        "predict",
        "--machine",
        "h100",
        "--from-counters",
        &of("counted.csv"),
        "--json",
    ]);
    assert_eq!(
        (&rows[0]["launches"], rows[0]["energy_j"].is_number()),
        (&3.into(), true)
    );
    assert_eq!(
        ok(&["best", &of("ktt.xml")]).trim(),
        "-DBLOCK=256 -DUNROLL=2"
    );
    let best = ok(&["best", &of("clblast_xaxpy_32.json")]);
    assert_eq!(best.trim(), "-DPRECISION=32 -DVW=1 -DWGS=128 -DWPT=1");
    let section = format!("{}#64", of("database.json"));
    assert_eq!(ok(&["best", &section]).trim(), "-DVW=1 -DWGS=128 -DWPT=1");
}
