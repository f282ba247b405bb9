//! Predictions, and comparisons with measured and published runs.

use crate::{command, fails, json, ok};
use greenup_testing::is_refused;
use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn scaling_rows_have_time_energy_and_efficiency() {
    let rows = json(&["hydro", "--machine", "h200", "--nodes", "1,8,64", "--json"]);
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
    assert!(ok(&["fmm", "--weak", "--nodes", "1:4"]).contains("weak scaling"));
    assert!(ok(&["gisaxs", "--devices", "1:4", "-o", "-"]).contains("<svg"));
    assert!(fails(&["tune"]).contains("--record"));
    assert!(fails(&["hydro", "--order", "9"]).contains("--order"));
    assert!(fails(&["gisaxs", "--zones", "5"]).contains("--zones is of hydro"));
}

#[test]
fn runs_on_ranks_are_compared_with_a_network() {
    let dir = tempfile::tempdir().unwrap();
    let net = dir.path().join("net.toml");
    let link = "latency_s = { value = 1e-6 }\nbandwidth_bytes_per_s = { value = 1e10 }\n";
    std::fs::write(&net, format!("name = 'm'\ntitle = 'M'\n[link]\n{link}")).unwrap();
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
    let e = fails(&["hydro", "--machine", text(&net), "--measured", text(&two)]);
    assert!(e.contains("one device"), "{e}");
    let e = fails(&["fmm", "--measured", text(&one)]);
    assert!(e.contains("a run of hydro"), "{e}");
}

#[test]
fn a_page_has_strong_and_weak_scaling() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fmm.html");
    let args = [
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
    ok(&["gisaxs", "--published", "-o", text(&path)]);
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("Not compared") && page.contains("Why they differ"));
    let e = is_refused(&mut command(&[
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
    let all = json(&["hydro", "--published", "--json"]);
    let blast = &all["studies"][0];
    assert_eq!(blast["figure"], "Fig 12");
    assert!(blast["reason"].as_str().unwrap().contains("MFEM"));
    assert!(all["not_compared"][0].as_str().unwrap().contains("Fig 13"));
    assert_eq!(blast["points"].as_array().unwrap().len(), 2);
    assert!(blast["predicted_s"][1].as_f64().unwrap() > 0.85);
    let text = ok(&["gisaxs", "--published"]);
    for part in ["1.25 Pflop/s", "7 % of 8,192", "miss", "Fig 8"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(fails(&["fmm", "--published"]).contains("hydro and gisaxs"));
}
