//! Machines, models and fits as a user asks for them: output, exit codes, errors with file, line and fix.

use crate::common::{command, fails, file, greenup, json, ok};
use greenup_testing::{is_refused, text};
use std::fs;

#[test]
fn predict_keeps_its_contract() {
    let p = json(&[
        "predict",
        "--machine",
        "gtx-titan",
        "--op",
        "f32=1e12",
        "--op",
        "dram=1e11",
        "--json",
    ]);
    let n = |key: &str| p[key].as_f64().unwrap();
    assert!((n("energy_j") - n("power_w") * n("time_s")).abs() < 1e-9 * n("energy_j"));
    assert_eq!(p["bound"], "dram");
    // 4 nodes: a quarter of the time, the same energy; a cap never speeds up.
    let four = json(&[
        "predict",
        "--machine",
        "gtx-titan",
        "--op",
        "f32=1e12",
        "--op",
        "dram=1e11",
        "--nodes",
        "4",
        "--json",
    ]);
    assert!((four["time_s"].as_f64().unwrap() * 4.0 / n("time_s") - 1.0).abs() < 1e-9);
    let capped = json(&[
        "predict",
        "--machine",
        "gtx-titan",
        "--op",
        "f32=1e12",
        "--op",
        "dram=1e11",
        "--cap",
        "150",
        "--json",
    ]);
    assert_eq!(capped["bound"], "cap");
    assert!((capped["power_w"].as_f64().unwrap() - 150.0).abs() < 1e-6);
    assert!(text(&greenup(&["predict", "--help"]).stdout).contains("tensor_bf16"));
}

#[test]
fn predict_refuses_what_cannot_be() {
    assert!(
        fails(&["predict", "--machine", "gtx-tita", "--op", "f32=1"])
            .contains("did you mean gtx-titan")
    );
    assert!(
        fails(&["predict", "--machine", "gtx-titan", "--op", "f64=1"])
            .contains("no cost for `f64`")
    );
    assert!(fails(&["predict", "--machine", "gtx-titan", "--op", "f32=0"]).contains("empty"));
    assert!(
        fails(&[
            "predict",
            "--machine",
            "gtx-titan",
            "--op",
            "f32=1",
            "--cap",
            "100"
        ])
        .contains("constant power")
    );
    for bad in ["f32=nan", "f32=-1", "f99=1", "f32"] {
        assert_eq!(
            greenup(&["predict", "--machine", "gtx-titan", "--op", bad])
                .status
                .code(),
            Some(2)
        );
    }
}

#[test]
fn broken_machine_files_are_named_with_line_and_column() {
    let dir = tempfile::tempdir().unwrap();
    let good = "name='m'\ntitle='M'\n[cost.f32]\ntime_s={value=1e-12}\n[cost.dram]\ntime_s={value=1e-11}\n";
    let path = file(dir.path(), "m.toml", good);
    assert!(ok(&["predict", "--machine", &path, "--op", "f32=1"]).contains("energy  unknown"));
    for (from, to, want) in [
        ("value=1e-12", "value=nan", "cost.f32.time_s"),
        ("value=1e-12", "value=-1.0", "cost.f32.time_s"),
        ("title='M'", "title=", "line 2"),
        ("[cost.f32]", "[cost.f33]", "f33"),
    ] {
        let path = file(dir.path(), "bad.toml", &good.replace(from, to));
        let e = fails(&["predict", "--machine", &path, "--op", "f32=1"]);
        assert!(e.contains("bad.toml") && e.contains(want), "{e}");
    }
    assert!(fails(&["predict", "--machine", "/none.toml", "--op", "f32=1"]).contains("/none.toml"));
}

#[test]
fn machines_and_the_map() {
    let all = json(&["machines", "--json"]);
    assert!(all.as_array().unwrap().len() >= 16);
    assert!(ok(&["machines"]).contains("gtx-580"));
    assert!(ok(&["machines", "gtx-580"]).contains("table 5"));
    let dir = tempfile::tempdir().unwrap();
    let svg = dir.path().join("map.svg");
    let map = json(&[
        "machines",
        "gtx-titan",
        "--map",
        "-o",
        svg.to_str().unwrap(),
        "--json",
    ]);
    assert_eq!(map[0]["name"], "gtx-titan");
    assert_eq!(map[0]["distance"], 0.0);
    assert!(fs::read_to_string(svg).unwrap().contains("arndale-gpu"));
}

#[test]
fn whatif_reproduces_the_published_answers() {
    let c = json(&[
        "whatif",
        "cluster",
        "--machine",
        "gtx-titan",
        "--of",
        "arndale-gpu",
        "--json",
    ]);
    assert!((c["iso_power_nodes"].as_f64().unwrap() - 45.9).abs() < 0.1);
    let r = json(&[
        "whatif",
        "refined",
        "--instr",
        "fma=3:2:32",
        "--instr",
        "add=4:1:32",
        "--instr",
        "rsqrt=1:1:4:16",
        "--cores",
        "16",
        "--clock",
        "1.54e9",
        "--json",
    ]);
    assert!((r["flops_per_second"].as_f64().unwrap() / 788.48e9 - 1.0).abs() < 1e-9);
    let t = json(&[
        "whatif",
        "tradeoff",
        "--machine",
        "fermi-2010",
        "--intensity",
        "1",
        "-f",
        "1.5",
        "-m",
        "2",
        "--json",
    ]);
    assert_eq!(t["case"], "both memory bound");
    let trade = [
        "whatif",
        "tradeoff",
        "--machine",
        "fermi-2010",
        "--intensity",
    ];
    assert!(fails(&[&trade[..], &["1", "-f", "inf", "-m", "2"]].concat()).contains("finite"));
    assert!(ok(&["whatif", "throttle", "--machine", "gtx-titan"]).contains("Δπ/8"));
    assert!(
        ok(&[
            "whatif",
            "bound",
            "--machine",
            "gtx-titan",
            "--watts",
            "140",
            "--against",
            "arndale-gpu"
        ])
        .contains("22 × arndale-gpu")
    );
    assert!(ok(&["whatif", "streaming"]).contains("xeon-phi"));
    assert!(
        fails(&["whatif", "bound", "--machine", "gtx-titan", "--watts", "50"])
            .contains("constant power")
    );
    assert!(
        fails(&["whatif", "throttle", "--machine", "gtx-titan", "--k", "0.5"])
            .contains("at least 1")
    );
}

/// Slides 95 to 101: the values follow from the machine's printed costs by the formulas of the slides.
#[test]
fn whatif_says_what_the_cap_slows_and_which_cap_slows_nothing() {
    let m = json(&["machines", "gtx-580-sustained", "--json"]);
    let of = |p: &str| m.pointer(p).unwrap().as_f64().unwrap();
    let (tf, tm) = (of("/cost/f32/time_s/value"), of("/cost/dram/time_s/value"));
    let (ef, em) = (
        of("/cost/f32/energy_j/value"),
        of("/cost/dram/energy_j/value"),
    );
    let dpi = of("/usable_power_w/value");
    let (bt, be) = (tm / tf, em / ef);
    let near = |v: &serde_json::Value, want: f64| {
        let v = v.as_f64().unwrap();
        assert!((v / want - 1.0).abs() < 1e-9, "{v} {want}");
    };

    let machine = ["--machine", "gtx-580-sustained", "--json"];
    let s = json(&[&["whatif", "schedule"], &machine[..]].concat());
    let mut limits = std::collections::BTreeSet::new();
    for p in s["points"].as_array().unwrap() {
        let i = p["intensity"].as_f64().unwrap();
        let flop = 1_f64.max(bt / i).max(ef / tf / dpi * (1.0 + be / i));
        near(&p["slowdown_flop"], flop);
        near(&p["slowdown_mem"], flop * i / bt);
        near(&p["flops_per_s"], 1.0 / (tf * flop));
        near(&p["bytes_per_s"], 1.0 / (tf * flop * i));
        limits.insert(p["limit"].as_str().unwrap().to_owned());
    }
    assert!(
        limits.contains("memory") && limits.contains("power cap"),
        "{limits:?}"
    );

    let c = json(&[&["whatif", "no-throttle"], &machine[..]].concat());
    near(&c["sufficient_w"], ef / tf * (1.0 + be / bt));
    near(&c["least_w"], ef / tf + em / tm);
    near(&c["at_intensity"], bt);
    near(&c["largest_slowdown"], (ef / tf + em / tm) / dpi);
    let total = c["total_w"].as_f64().unwrap().to_string();
    let free = json(&[&["whatif", "schedule", "--watts", &total], &machine[..]].concat());
    // The machine's own cap is the lower of the two.
    near(&free["usable_power_w"], dpi);
    let low = ["whatif", "no-throttle", "--intensity", "0.25:1"];
    near(
        &json(&[&low, &machine[..]].concat())["least_w"],
        (ef + em) / tm,
    );
    let text = ok(&["whatif", "no-throttle", "--machine", "h200"]);
    assert!(text.contains("every unit busy"), "{text}");

    let dir = tempfile::tempdir().unwrap();
    let svg = dir.path().join("s.svg");
    let to = ["-o", svg.to_str().unwrap()];
    let text = ok(&[&["whatif", "schedule", "--machine", "gtx-titan"], &to[..]].concat());
    assert!(
        text.contains("s_mem") && text.contains("power cap"),
        "{text}"
    );
    assert!(
        fs::read_to_string(&svg)
            .unwrap()
            .contains("memory operations")
    );
    let low = ["--watts", "400", "--flop", "f32"];
    let text = ok(&[&["whatif", "schedule", "--machine", "h200"], &low[..]].concat());
    assert!(text.contains("slows every intensity"), "{text}");
    let none = fails(&["whatif", "schedule", "--machine", "fermi-2010"]);
    assert!(
        none.contains("no power cap") && none.contains("--watts"),
        "{none}"
    );
    let wrong = [
        "whatif",
        "no-throttle",
        "--machine",
        "h200",
        "--intensity",
        "2:1",
    ];
    assert!(is_refused(&mut command(&wrong)).contains("smaller one first"));
}

/// Eq 40: leakage from the temperatures of a recorded calibration.
#[test]
fn fit_finds_leakage_where_records_hold_temperatures() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/data/");
    let h200 = format!("{root}h200/microbenchmarks.csv");
    let args = ["fit", &h200, "--clocked", "--resamples", "20"];
    let text = ok(&args);
    assert!(
        text.contains("leakage over temperature (thesis, eq 40)"),
        "{text}"
    );
    let all = json(&[&args[..], &["--json"]].concat());
    let of = |p: &str| all.pointer(p).unwrap().as_f64().unwrap();
    assert!(of("/leakage/records") >= 90.0);
    // One constant power is a special case: the fit cannot be worse.
    assert!(of("/leakage/theta_k/value") >= 0.0);
    assert!(of("/leakage/mean_abs_error") <= 1.02 * of("/leakage/mean_abs_error_constant"));
    // The temperature of a calibration follows its load, which is said.
    let r = of("/leakage/correlation");
    assert!((0.5..1.0).contains(&r), "{r}");
    assert!(all["leakage"]["held_out"][0].as_f64() < all["leakage"]["held_out"][1].as_f64());
}

#[test]
fn fit_reads_measurements_and_names_broken_cells() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = String::from("benchmark,setting,time_s,energy_j,f32,dram\n");
    for (k, i) in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
        .into_iter()
        .enumerate()
    {
        let (w, q) = (i * 1e12, 1e12);
        let t: f64 = f64::max(w * 1e-12, q * 8e-12) * (1.0 + 0.01 * (k % 3) as f64);
        let e = w * 30e-12 + q * 200e-12 + 50.0 * t;
        csv.push_str(&format!("b{k},s{},{t},{e},{w},{q}\n", k % 3));
    }
    let path = file(dir.path(), "m.csv", &csv);
    let out = dir.path().join("m.toml").display().to_string();
    for method in ["linear", "nnls", "capped"] {
        let fit = json(&["fit", &path, "--method", method, "--json", "-o", &out]);
        let pi0 = fit["constant_power_w"]["value"].as_f64().unwrap();
        assert!((pi0 / 50.0 - 1.0).abs() < 0.05, "{method}: {pi0}");
        assert!(fit["constant_power_w"]["lo"].as_f64().unwrap() <= pi0);
        assert!(
            fit["validation"]["by_setting"]["mean_abs"]
                .as_f64()
                .unwrap()
                < 0.05
        );
    }
    assert!(ok(&["predict", "--machine", &out, "--op", "f32=1e12"]).contains("measured"));
    let svg = dir.path().join("r.png").display().to_string();
    ok(&["roofline", "--machine", &out, "--sweep", &path, "-o", &svg]);
    assert!(fs::read(&svg).unwrap().starts_with(b"\x89PNG"));

    let bad = file(dir.path(), "bad.csv", &csv.replacen("b1,s1,", "b1,s1,x", 1));
    let e = fails(&["fit", &bad]);
    assert!(e.contains("bad.csv, line 3, column 3 (time_s)"), "{e}");
    let few = file(dir.path(), "few.csv", "time_s,f32,dram\n1,2,3\n");
    assert!(fails(&["fit", &few]).contains("1 records"));
}

#[test]
fn dvfs_data_is_fitted() {
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../calibrate/tests/data/dvfs/gtx980.csv"
    );
    let fit = json(&["fit", "--dvfs", data, "--json"]);
    assert_eq!(fit["samples"], 765);
    let dir = tempfile::tempdir().unwrap();
    let bad = file(
        dir.path(),
        "p.csv",
        "2\n975,3505\n1,1\nA,B\n10,975,3505,0.5,zz\n",
    );
    assert!(fails(&["fit", "--dvfs", &bad]).contains("line 5, column 5"));
}

/// What a study writes and what `fit` makes of its records are the same machine, if roofs are asked for.
#[test]
fn roofs_of_a_studys_records_are_its_machine() {
    let host = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/data/host");
    let records = format!("{host}/records.csv");
    let study: toml::Table = fs::read_to_string(format!("{host}/machine.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let fitted: toml::Table = ok(&["fit", &records, "--roofs", "-o", "-"])
        .parse()
        .unwrap();
    let (expected, got) = (study["cost"].as_table().unwrap(), &fitted["cost"]);
    assert!(expected.len() > 5);
    let json = json(&["fit", &records, "--roofs", "--json"]);
    for (op, cost) in expected {
        let time = |v: &toml::Value| v["time_s"]["value"].as_float().unwrap();
        let e = time(cost);
        assert!((time(&got[op]) / e - 1.0).abs() < 1e-12, "{op}");
        let j = json["time_s"][op]["value"].as_f64().unwrap();
        assert!((j / e - 1.0).abs() < 1e-12, "{op}");
    }
    // Without the flag they differ, which is explained.
    let run = greenup(&["fit", &records]);
    assert!(
        text(&run.stderr).contains("--roofs"),
        "{}",
        text(&run.stderr)
    );
    let run = greenup(&["fit", &records, "--roofs"]);
    assert!(!text(&run.stderr).contains("--roofs"));
}

#[test]
fn devices_of_a_study_are_those_that_are_present() {
    let wrong = greenup(&["study", "--device", "gpu"]);
    assert_eq!(wrong.status.code(), Some(2));
    let e = text(&wrong.stderr);
    assert!(e.contains("use cpu, cuda, cuda:N or all"), "{e}");
    // A GPU that is named must be there: nothing is measured or written without it.
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("study");
    let out = out.display().to_string();
    let mut study = crate::common::command(&["study", "--device", "cuda", "--out", &out]);
    let e = greenup_testing::fails(study.env("CUDA_VISIBLE_DEVICES", ""));
    assert!(e.contains("CUDA driver") && e.contains("hint:"), "{e}");
    assert!(!dir.path().join("study").exists());
}
