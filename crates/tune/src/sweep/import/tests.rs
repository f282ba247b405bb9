//! Files as other tuners, older versions and interrupted runs leave them.

use super::super::record::{Failure, Outcome, Sweep};
use super::*;
use crate::objective::Objective;
use std::io::Write as _;

mod values;

/// Reads bytes from a file of this name.
fn read(name: &str, bytes: &[u8]) -> Result<Sweep, ImportError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read_any(&path)
}

/// A cache of Kernel Tuner with four configs; `more` stands in each entry.
fn cache(more: &str) -> String {
    let entry = |block: i32, unroll: i32, time: f64| {
        format!(
            r#"
"{block},{unroll}": {{"block": {block}, "unroll": {unroll}, "time": {time:?}, "times": [{time:?}], "compile_time": 10.0, "verification_time": 0, "benchmark_time": 5.0{more}}}"#
        )
    };
    let entries = [
        entry(32, 1, 2.0),
        entry(32, 2, 1.5),
        entry(64, 1, 1.0),
        entry(64, 2, 3.0),
    ];
    format!(
        r#"{{"device_name": "Test GPU", "kernel_name": "axpy", "problem_size": [1000], "tune_params_keys": ["block", "unroll"], "tune_params": {{"block": [32, 64], "unroll": [1, 2]}}, "objective": "time", "cache": {{{}}}}}"#,
        entries.join(",")
    )
}

/// T4 results: configuration, what stands in `measurements`, run times, and the rest.
fn t4(results: &[(&str, &str, &str)], more: &str) -> String {
    let each: Vec<String> = (results.iter())
        .map(|(configuration, measurements, runs)| {
            format!(
                r#"{{"timestamp": "2024-01-01", "configuration": {configuration}, "times": {{"compilation_time": 100, "runtimes": {runs}, "framework": 1, "search_algorithm": 1, "validation": 1}}, "invalidity": "correct", "correctness": 1, "measurements": {measurements}, "objectives": ["time"]{more}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"schema_version": "1.0.0", "results": [{}]}}"#,
        each.join(",")
    )
}

fn time_of(sweep: &Sweep, i: usize) -> f64 {
    sweep.trials[i].cost().unwrap().time_s
}

fn winner(sweep: &Sweep) -> Option<usize> {
    let own = sweep.own_objective().unwrap();
    sweep.aimed(own).unwrap().winner(own)
}

#[test]
fn numbers_that_python_cannot_measure_are_missing() {
    for none in ["NaN", "Infinity", "-Infinity", "null"] {
        let text = cache(&format!(r#", "GFLOP/s": {none}, "bytes": 8.0"#));
        let s = read("c.json", text.as_bytes()).unwrap();
        assert_eq!((s.trials.len(), winner(&s)), (4, Some(2)), "{none}");
        assert!(
            s.trials
                .iter()
                .all(|t| t.metrics.len() == 1 && t.metrics["bytes"] == 8.0)
        );
        assert_eq!(time_of(&s, 2), 1e-3);
    }
}

#[test]
fn caches_that_were_cut_off_keep_their_whole_entries() {
    let text = cache("");
    for cut in [text.len() - 10, text.find("\"64,2\"").unwrap() + 40] {
        let s = read("c.json", &text.as_bytes()[..cut]).unwrap();
        assert_eq!(s.trials.len(), 3);
        assert!(
            s.warnings[0].contains("c.json: the file is cut off"),
            "{:?}",
            s.warnings
        );
    }
    // A cache that was not closed has lost nothing.
    let open = format!("{},\n", &text[..text.len() - 2]);
    let s = read("c.json", open.as_bytes()).unwrap();
    assert_eq!((s.trials.len(), s.warnings.len()), (4, 0));
    for nothing in [20, text.find("\"32,1\"").unwrap() + 20] {
        let e = read("c.json", &text.as_bytes()[..nothing]).unwrap_err();
        assert!(e.to_string().contains("is not valid JSON"), "{e}");
    }
    let t = t4(
        &[(r#"{"b": 1}"#, r#"[{"name": "time", "value": 2.0}]"#, "[]"); 3],
        "",
    );
    let s = read("t.json", &t.as_bytes()[..t.len() - 40]).unwrap();
    assert_eq!((s.trials.len(), s.warnings.len()), (2, 1));
}

#[test]
fn marks_of_the_encoding_and_all_members_of_a_gzip_are_read() {
    let text = cache("");
    let s = read("c.json", format!("\u{feff}{text}").as_bytes()).unwrap();
    assert_eq!(s.trials.len(), 4);
    let half = text.find("\n\"64,1\"").unwrap();
    let mut file = Vec::new();
    for part in [&text[..half], &text[half..]] {
        let mut z = flate2::write::GzEncoder::new(file, flate2::Compression::best());
        z.write_all(part.as_bytes()).unwrap();
        file = z.finish().unwrap();
    }
    assert_eq!(read("c.json.gz", &file).unwrap().trials.len(), 4);
}

#[test]
fn failures_of_all_versions_are_failures() {
    let text = cache("").replace(
        "\"time\": 1.5, \"times\": [1.5]",
        "\"time\": 1e20, \"times\": [1e20]",
    );
    let text = text.replace(
        "\"time\": 3.0, \"times\": [3.0]",
        "\"time\": \"InvalidConfig\"",
    );
    let text = text.replace(
        "\"time\": 2.0, \"times\": [2.0]",
        "\"__error__\": \"CompilationFailedConfig\"",
    );
    let s = read("c.json", text.as_bytes()).unwrap();
    let kinds: Vec<_> = s.trials.iter().map(|t| t.failure().map(|f| f.0)).collect();
    let want = [
        Some(Failure::Compile),
        Some(Failure::Runtime),
        None,
        Some(Failure::Invalid),
    ];
    assert_eq!(kinds, want);
    assert!(
        s.trials[1]
            .failure()
            .unwrap()
            .1
            .contains("1e17 s marks a failure")
    );
    for bad in ["-1.0", "0.0", "0"] {
        let text = cache("").replace(
            "\"time\": 1.0, \"times\": [1.0]",
            &format!("\"time\": {bad}"),
        );
        let s = read("c.json", text.as_bytes()).unwrap();
        assert!(
            matches!(s.trials[2].outcome, Outcome::Failed { .. }),
            "{bad}"
        );
    }
    // A parameter may have such a name.
    let text = cache("").replace("\"unroll\": 1", "\"unroll\": \"InvalidConfig\"");
    assert_eq!(
        read("c.json", text.as_bytes()).unwrap().measured().count(),
        4
    );
}

#[test]
fn values_that_a_parameter_cannot_have_are_named() {
    for (value, what) in [("[1, 1]", "a list"), ("null", "null"), ("{}", "an object")] {
        let text = cache("").replace("\"unroll\": 1,", &format!("\"unroll\": {value},"));
        let e = read("c.json", text.as_bytes()).unwrap_err().to_string();
        assert!(
            e.contains("entry `32,1`: the value of `unroll` is") && e.contains(what),
            "{e}"
        );
    }
    let text = cache("").replace("\"unroll\": 1, \"time\"", "\"time\"");
    let e = read("c.json", text.as_bytes()).unwrap_err().to_string();
    assert!(e.contains("`unroll` is missing"), "{e}");
}

#[test]
fn times_and_energies_of_t4_have_their_units() {
    let of = |time: f64, unit: &str, runs: &str, metadata: &str| {
        let m = format!(
            r#"[{{"name": "time", "value": {time}, "unit": "{unit}"}}, {{"name": "energy", "value": 500.0, "unit": "mJ"}}]"#
        );
        let text = t4(&[(r#"{"b": 1}"#, &m, runs)], "");
        let text = text.replacen('{', &format!("{{{metadata}"), 1);
        read("t.json", text.as_bytes())
    };
    let micro = r#""metadata": {"timeunit": "microseconds"}, "#;
    for (time, unit, runs, metadata) in [
        (2.0, "ms", "[2.0, 2.0]", ""),
        (2.0, "", "[2.0, 2.0]", ""),
        (2000.0, "us", "[2000.0, 2000.0]", ""),
        (0.002, "s", "[0.002, 0.002]", ""),
        (0.002, "s", "[2.0, 2.0]", ""),
        (2.0, "milliseconds", "[2.0, \"2.0\"]", ""),
        (2000.0, "", "[2000.0, 2000.0]", micro),
        (2.0, "ms", "[2000.0, 2000.0]", micro),
    ] {
        let s = of(time, unit, runs, metadata).unwrap();
        let Outcome::Measured {
            times_s,
            time_s,
            energy_j,
            ..
        } = &s.trials[0].outcome
        else {
            panic!("{:?}", s.trials[0]);
        };
        assert!((time_s - 0.002).abs() < 1e-12, "{unit}: {time_s}");
        assert!(
            times_s.len() == 2 && (times_s[0] - 0.002).abs() < 1e-12,
            "{times_s:?}"
        );
        assert_eq!(*energy_j, Some(0.5));
    }
    for (unit, time, seconds) in [
        ("h", 2.0, 7200.0),
        ("minutes", 2.0, 120.0),
        ("Seconds", 2.0, 2.0),
        ("ps", 2e9, 2e-3),
        ("nsec", 2e6, 2e-3),
    ] {
        let metadata = format!(r#""metadata": {{"timeunit": "{unit}"}}, "#);
        let s = of(time, "", "[]", &metadata).unwrap();
        assert!((time_of(&s, 0) / seconds - 1.0).abs() < 1e-12, "{unit}");
    }
    let e = of(2.0, "fortnights", "[]", "").unwrap_err().to_string();
    assert!(e.contains("the unit `fortnights` of time"), "{e}");
    let e = of(2.0, "ms", "[]", r#""metadata": {"timeunit": "ages"}, "#);
    assert!(e.unwrap_err().to_string().contains("`ages`"));
}

#[test]
fn values_of_several_types_are_read() {
    for value in ["2.0", "[2.0, 2.0]", "\"2.0\"", "\"2000 us\"", "[null, 2.0]"] {
        let m = format!(r#"[{{"name": "time", "value": {value}, "unit": "ms"}}]"#);
        let text = t4(&[(r#"{"b": 1}"#, &m, "[]")], "");
        let s = read("t.json", text.as_bytes()).unwrap();
        assert_eq!(time_of(&s, 0), 2e-3, "{value}");
    }
    let m = r#"[{"name": "time", "value": "RuntimeFailedConfig", "unit": "ms"}]"#;
    let s = read("t.json", t4(&[(r#"{"b": 1}"#, m, "[]")], "").as_bytes()).unwrap();
    assert_eq!(
        s.trials[0].failure().unwrap(),
        (Failure::Runtime, "RuntimeFailedConfig")
    );
}

#[test]
fn keys_of_all_results_are_united() {
    let time = |t: f64| format!(r#"[{{"name": "time", "value": {t}, "unit": "ms"}}]"#);
    let (slow, fast) = (time(2.0), time(1.0));
    let text = t4(
        &[
            (r#"{"b": 32}"#, &slow, "[]"),
            (r#"{"b": 64, "unroll": 2}"#, &fast, "[]"),
        ],
        "",
    );
    let s = read("t.json", text.as_bytes()).unwrap();
    assert_eq!(s.facts.parameters, ["b", "unroll"]);
    assert_eq!(s.trials[1].config[1].to_string(), "2");
    assert_eq!(s.trials[0].config[1].to_string(), "");
    assert!(s.warnings[0].contains("1 of 2 results do not give all of b, unroll"));
    // The first may be invalid, and without a configuration.
    let text = t4(&[("{}", &fast, "[]"), (r#"{"b": 32}"#, &slow, "[]")], "");
    let text = text.replacen("\"correct\"", "\"constraints\"", 1);
    let s = read("t.json", text.as_bytes()).unwrap();
    assert_eq!(s.trials[0].failure().unwrap().0, Failure::Invalid);
    assert_eq!((winner(&s), time_of(&s, 1)), (Some(1), 2e-3));
    let e = read("t.json", t4(&[("{}", &fast, "[]")], "").as_bytes()).unwrap_err();
    assert!(e.to_string().contains("no results with a configuration"));
}

#[test]
fn results_without_times_have_their_metric() {
    let rate = |x: f64| format!(r#"[{{"name": "GFLOP/s", "value": {x}, "unit": "GFLOP/s"}}]"#);
    let (a, b) = (rate(200.0), rate(300.0));
    let text = t4(
        &[(r#"{"b": 32}"#, &a, "[]"), (r#"{"b": 128}"#, &b, "[]")],
        "",
    );
    let text = text.replace("[\"time\"]", "[\"GFLOP/s\"]");
    let s = read("t.json", text.as_bytes()).unwrap();
    assert_eq!(s.facts.objective.as_deref(), Some("metric:GFLOP/s"));
    assert_eq!(winner(&s), Some(1));
    assert_eq!(s.winner(Objective::Time), None);
    let aimed = s.aimed(s.own_objective().unwrap()).unwrap();
    let json = super::super::best::best(&aimed, aimed.own_objective().unwrap());
    let json = json.unwrap().json().unwrap();
    assert!(json["time_s"].is_null() && json["value"] == 300.0, "{json}");
    let again = super::super::to_t4(&s).unwrap();
    assert!(!again.contains("\"time\""), "{again}");
    assert!(crate::analyze::analyze(&s, 0.5, 1).is_err());
}

#[test]
fn energies_are_of_one_meter() {
    let s = read("c.json", cache(r#", "pmt_energy": 0.5"#).as_bytes()).unwrap();
    assert_eq!(s.trials[0].cost().unwrap().energy_j, Some(0.5));
    let both = cache(r#", "rapl_energy": 0.5, "pmt_energy": 0.7"#);
    let s = read("c.json", both.as_bytes()).unwrap();
    assert_eq!(s.trials[0].cost().unwrap().energy_j, Some(0.7));
    assert_eq!(s.trials[0].metrics["rapl_energy"], 0.5);
    assert!(s.warnings[0].contains("`pmt_energy` counts as the energy, rapl_energy as metrics"));
    // Where one meter saw nothing, another does not stand in.
    let one = both.replacen(", \"pmt_energy\": 0.7", "", 1);
    let s = read("c.json", one.as_bytes()).unwrap();
    assert_eq!(s.trials[0].cost().unwrap().energy_j, None);
    let power = read("c.json", cache(r#", "nvml_power": 100.0"#).as_bytes()).unwrap();
    assert_eq!(power.trials[0].cost().unwrap().energy_j, Some(0.2));
}

#[test]
fn objectives_of_other_tuners_are_ours() {
    let of = |name: &str, more: &str| {
        let text =
            cache(more).replace("\"objective\": \"time\"", &format!("\"objective\": {name}"));
        let s = read("c.json", text.as_bytes()).unwrap();
        (s.facts.objective, s.warnings.len())
    };
    let more = r#", "TFLOPS/J": 0.25, "nvml_energy": 1.0"#;
    assert_eq!(of("\"time\"", more), (Some("time".into()), 0));
    assert_eq!(
        of("\"TFLOPS/J\"", more),
        (Some("metric:TFLOPS/J".into()), 0)
    );
    assert_eq!(
        of("[\"nvml_energy\", \"time\"]", more),
        (Some("energy".into()), 0)
    );
    assert_eq!(of("\"fitness\"", more), (None, 1));
    assert_eq!(of("null", more), (None, 0));
}

#[test]
fn times_of_t4_may_have_another_name() {
    let m = r#"[{"name": "TotalDuration", "value": 96.25, "unit": "Microseconds"}, {"name": "hits", "value": 3, "unit": ""}]"#;
    let text = t4(&[(r#"{"b": 1}"#, m, "[96.25]")], "");
    let s = read(
        "t.json",
        text.replace("[\"time\"]", "[\"TotalDuration\"]").as_bytes(),
    )
    .unwrap();
    assert_eq!(s.facts.objective.as_deref(), Some("time"));
    assert!((time_of(&s, 0) - 96.25e-6).abs() < 1e-12);
    // All its times are in this unit.
    assert!(
        (s.trials[0].build_s - 100e-6).abs() < 1e-12,
        "{}",
        s.trials[0].build_s
    );
    assert!((s.trials[0].measure_s - 96.25e-6).abs() < 1e-12);
}

#[test]
fn t4_of_ktt_has_texts_for_numbers() {
    let m = r#"[{"name": "time", "value": 2.0, "unit": ""}]"#;
    let more = r#", "compilation_data": {"registers": 32, "local_size": {"x": 8}}"#;
    let text = t4(
        &[(r#"{"b": "64", "f": "0.500000", "s": "row"}"#, m, "[2.0]")],
        more,
    );
    let of_ktt = r#"{"metadata": {"autotuner": "KTT", "autotuner_version": "2.3", "device": "Test GPU", "timeunit": "microseconds"}, "#;
    let s = read("t.json", text.replacen('{', of_ktt, 1).as_bytes()).unwrap();
    assert_eq!(
        (s.facts.device.as_str(), s.facts.more["tuner"].as_str()),
        ("Test GPU", "KTT 2.3")
    );
    let values: Vec<String> = s.trials[0]
        .config
        .iter()
        .map(|v| format!("{v:?}"))
        .collect();
    assert_eq!(values, ["Int(64)", "Float(0.5)", "Str(\"row\")"]);
    assert_eq!(
        (time_of(&s, 0), s.trials[0].metrics["registers"]),
        (2e-6, 32.0)
    );
    // Of other tuners a text is a text.
    let s = read("t.json", text.as_bytes()).unwrap();
    assert_eq!(format!("{:?}", s.trials[0].config[0]), "Str(\"64\")");
}
