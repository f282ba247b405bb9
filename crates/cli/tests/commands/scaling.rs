//! `calibrate --network`, `predict --nodes` with messages, `scaling`.

use crate::common::{command, fails, greenup, json, ok};
use greenup_testing::is_refused;
use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn scaling_rows_have_time_energy_and_efficiency() {
    let rows = json(&[
        "scaling",
        "hydro",
        "--machine",
        "h200",
        "--nodes",
        "1,8,64",
        "--json",
    ]);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for (row, nodes) in rows.iter().zip([1, 8, 64]) {
        assert_eq!(row["nodes"], nodes);
        assert_eq!(row["devices"], 8 * nodes);
        let n = |key: &str| row[key].as_f64().unwrap();
        assert!(n("time_s") > 0.0 && n("energy_j") > 0.0 && n("efficiency") <= 1.0);
        assert!((n("greenup") / (n("powerup") * n("speedup")) - 1.0).abs() < 1e-9);
        let parts = n("compute_s") + n("exchange_s") + n("all_reduce_s");
        assert!((parts / n("time_s") - 1.0).abs() < 1e-9);
    }
    assert!(ok(&["scaling", "fmm", "--weak", "--nodes", "1:4"]).contains("weak scaling"));
    assert!(ok(&["scaling", "gisaxs", "--devices", "1:4", "-o", "-"]).contains("<svg"));
    assert!(fails(&["scaling", "tune"]).contains("--record"));
    assert!(fails(&["scaling", "hydro", "--order", "9"]).contains("--order"));
}

#[test]
fn ranks_measure_a_network_that_scaling_uses() {
    let dir = tempfile::tempdir().unwrap();
    let net = dir.path().join("net.toml");
    let calibrate = [
        "calibrate",
        "--network",
        "--ranks",
        "2",
        "--quick",
        "--sensor",
        "none",
        "-o",
        text(&net),
        "--json",
    ];
    // On a busy host a few bytes may take as long as many: no bandwidth follows.
    let attempt = |_| {
        let out = greenup(&calibrate);
        let said = greenup_testing::text(&out.stderr);
        assert!(
            out.status.success() || said.contains("does not grow with their size"),
            "{said}"
        );
        let answer = || serde_json::from_slice::<serde_json::Value>(&out.stdout).unwrap();
        out.status.success().then(answer)
    };
    let measured = (0..5).find_map(attempt);
    let measured = measured.expect("one of five attempts has a bandwidth");
    assert_eq!(measured["ranks"], 2);
    assert!(measured["fit"]["latency_s"]["value"].as_f64().unwrap() >= 0.0);
    let written = std::fs::read_to_string(&net).unwrap();
    assert!(written.contains("[link.latency_s]") && written.contains("[[host.active]]"));
    assert_eq!(measured["host"]["active"][0]["cores"], 1);
    assert!(ok(&["machines", text(&net)]).contains("latency"));
    let run = |ranks: usize, wall_s: f64| {
        let path = dir.path().join(format!("{ranks}.json"));
        let text = format!(
            "{{\"zones\":4096,\"unknowns\":140579,\"steps\":6,\"wall_s\":{wall_s},\"ranks\":{ranks},\
             \"timings\":{{\"iterations\":900,\"solves\":24,\"evaluations\":25}}}}"
        );
        std::fs::write(&path, text).unwrap();
        path
    };
    let (one, two) = (run(1, 2.0), run(2, 1.1));
    let compared = json(&[
        "scaling",
        "hydro",
        "--machine",
        text(&net),
        "--measured",
        text(&one),
        text(&two),
        "--json",
    ]);
    assert_eq!(compared["runs"].as_array().unwrap().len(), 2);
    assert!(compared["mean_error"].as_f64().unwrap().is_finite());
    let e = fails(&[
        "scaling",
        "hydro",
        "--machine",
        text(&net),
        "--measured",
        text(&two),
    ]);
    assert!(e.contains("one device"), "{e}");
    let e = fails(&["scaling", "fmm", "--measured", text(&one)]);
    assert!(e.contains("a run of hydro"), "{e}");
    let e = fails(&["calibrate", "--network", "--ranks", "1", "-o", text(&net)]);
    assert!(e.contains("mpirun -np 2"), "{e}");
}

#[test]
fn messages_cost_what_the_network_says() {
    let predict = |more: &[&str]| {
        let all = [
            &["predict", "--machine", "h200", "--op", "f64=1e15", "--json"],
            more,
        ]
        .concat();
        json(&all)["time_s"].as_f64().unwrap()
    };
    let none = predict(&["--nodes", "2"]);
    let some = predict(&[
        "--nodes",
        "2",
        "--messages",
        "10",
        "--message-bytes",
        "1e9",
        "--all-reduces",
        "4",
    ]);
    // Eight devices share 400 GB/s; an all-reduce has three stages over the link, and one over the network.
    let expected = 10.0 * (1.5e-6 + 1e9 / 5e10) + 4.0 * (3.0 * 2e-6 + 1.5e-6);
    assert!(
        ((some - none) / expected - 1.0).abs() < 1e-6,
        "{some} {none}"
    );
    assert!((predict(&["--devices", "16"]) - none).abs() < 1e-12 * none);
    assert!(
        fails(&[
            "predict",
            "--machine",
            "h200",
            "--op",
            "f64=1",
            "--messages",
            "3"
        ])
        .contains("--nodes")
    );
}

#[test]
fn a_page_has_strong_and_weak_scaling() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fmm.html");
    let args = [
        "scaling",
        "fmm",
        "--machine",
        "h200",
        "--nodes",
        "1:64",
        "-o",
        text(&path),
    ];
    assert!(ok(&args).contains("bound by"));
    let page = std::fs::read_to_string(&path).unwrap();
    for part in [
        "Strong scaling",
        "Weak scaling",
        "bound by",
        "latency α",
        "fmm run -n N",
        "<svg",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let path = dir.path().join("published.html");
    ok(&["scaling", "gisaxs", "--published", "-o", text(&path)]);
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("Not compared") && page.contains("Why they differ"));
    let e = is_refused(&mut command(&[
        "scaling",
        "fmm",
        "-o",
        "x.html",
        "--measured",
        "one.json",
    ]));
    assert!(e.contains("cannot be used with"), "{e}");
}

#[test]
fn published_studies_stand_beside_the_model() {
    let all = json(&["scaling", "hydro", "--published", "--json"]);
    let blast = &all["studies"][0];
    assert_eq!(blast["figure"], "Fig 12");
    assert!(blast["reason"].as_str().unwrap().contains("MFEM"));
    assert!(all["not_compared"][0].as_str().unwrap().contains("Fig 13"));
    assert_eq!(blast["points"].as_array().unwrap().len(), 2);
    assert!(blast["predicted_s"][1].as_f64().unwrap() > 0.85);
    let text = ok(&["scaling", "gisaxs", "--published"]);
    for part in ["1.25 Pflop/s", "7 % of 8,192", "miss", "Fig 8"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(fails(&["scaling", "fmm", "--published"]).contains("hydro and gisaxs"));
}
