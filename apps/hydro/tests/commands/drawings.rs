//! Drawings of meshes and surfaces, and comparisons of studies.

use crate::common::{error, hydro, numbers, path};
use serde_json::Value as J;

fn read(path: &str) -> J {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn meshes_are_drawn_and_written_as_data() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| path(&dir, name);
    for (words, panels) in [
        (
            &["--problem", "0", "--t-final", "0.05", "--orders", "1,2"][..],
            2,
        ),
        (
            &[
                "--show",
                "parts",
                "--mesh",
                "rectangle01_quad",
                "--refine",
                "1",
            ],
            2,
        ),
        (&["--show", "shared", "--mesh", "4x4", "--orders", "2"], 3),
    ] {
        let data = at("mesh.json");
        let args = [&["mesh"][..], words, &["-o", &data]].concat();
        hydro(&args).assert().success();
        let figure = &read(&data)["figure"];
        assert_eq!(
            figure["panels"].as_array().unwrap().len(),
            panels,
            "{words:?}"
        );
        let picture = at("mesh.png");
        hydro(&[&["mesh"][..], words, &["-o", &picture, "--dpi", "48"]].concat())
            .assert()
            .success();
        assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    }
    // A moved mesh is another one.
    let moved = |t: &str| {
        let data = at("moved.json");
        hydro(&["mesh", "--orders", "2", "--t-final", t, "-o", &data])
            .assert()
            .success();
        read(&data)["figure"]["panels"][0]["nodes"].clone()
    };
    assert_ne!(moved("0"), moved("0.05"));
    for (args, word) in [
        (&["--mesh", "cube01_hex"][..], "2D"),
        (&["--show", "shared", "--rank", "4"], "counted from 0"),
        (&["--show", "parts", "--ranks", "9"], "fewer ranks"),
        (&["-o", "mesh.txt"], "mesh.txt"),
        // What changes nothing of the drawing.
        (&["--ranks", "3"], "draws the whole mesh"),
        (&["--rank", "0"], "draws the whole mesh"),
        (&["--show", "parts", "--rank", "0"], "draws all ranks"),
        (&["--show", "parts", "--orders", "2"], "draws zones"),
        (&["--show", "parts", "--problem", "3"], "draws zones"),
        (&["--show", "parts", "--t-final", "1"], "only `dofs`"),
        (&["--show", "shared", "--t-final", "1"], "only `dofs`"),
        (&["--show", "parts", "--ranks", "0"], "--ranks"),
    ] {
        let said = error(&[&["mesh"][..], args].concat());
        assert!(said.contains(word), "{args:?}: {said}");
    }
}

#[test]
fn surfaces_are_one_picture() {
    let dir = tempfile::tempdir().unwrap();
    let picture = path(&dir, "ball.png");
    let base = ["run", "--refine", "0", "--steps", "2", "--threads", "1"];
    let surface = [
        "--mesh",
        "cube01_hex",
        "--surface",
        "--mirror",
        "--only",
        "r < 0.9",
        "--png",
        &picture,
        "--dpi",
        "24",
    ];
    hydro(&[&base[..], &surface].concat()).assert().success();
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let flat = ["--mesh", "square01_quad", "--surface", "--png", &picture];
    let said = error(&[&base[..], &flat].concat());
    assert!(said.contains("three dimensions"), "{said}");
    let said = error(&[&base[..], &["--mesh", "cube01_hex", "--only", "r < 1"]].concat());
    assert!(said.contains("--surface"), "{said}");
    let said = error(&[&base[..], &["--surface", "--only", "q < 1"]].concat());
    assert!(said.contains("q < 1"), "{said}");
}

#[test]
fn studies_of_chosen_work_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| path(&dir, name);
    let small = [
        "study",
        "--dim",
        "2",
        "--intervals",
        "8",
        "--orders",
        "2",
        "--window",
        "0.02",
        "--sensor",
        "none",
    ];
    let chosen = [
        "--assembly",
        "partial",
        "--work",
        "step",
        "--out",
        &at("a.json"),
    ];
    hydro(&[&small[..], &chosen].concat()).assert().success();
    let mut study = read(&at("a.json"));
    let rows = study["rows"].as_array_mut().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["work"], &rows[0]["device"]),
        (&J::from("step"), &J::from("cpu"))
    );
    // As a GPU would have measured it.
    let seconds = rows[0]["seconds"].as_f64().unwrap();
    rows[0]["device"] = "cuda:0".into();
    rows[0]["watts"] = 300.0.into();
    rows[0]["seconds"] = (0.5 * seconds).into();
    std::fs::write(at("b.json"), study.to_string()).unwrap();
    let machine = "name = \"host\"\ntitle = \"Host\"\nconstant_power_w = { value = 50.0 }\n\
                   usable_power_w = { value = 150.0 }\ncost.f64 = { time_s = { value = 1e-12 } }\n";
    std::fs::write(at("host.toml"), machine).unwrap();
    let all = numbers(&[
        "compare",
        &at("a.json"),
        &at("b.json"),
        "--machine",
        &at("host.toml"),
    ]);
    let row = &all["rows"][0];
    assert_eq!(
        (&row["speedup"], &row["label"]),
        (&J::from(2.0), &J::from("estimated"))
    );
    assert!((row["greenup"]["value"].as_f64().unwrap() - 2.0 * 200.0 / 500.0).abs() < 1e-12);
    let run = hydro(&["compare", &at("a.json"), &at("b.json")])
        .assert()
        .success();
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(said.contains("--machine"), "{said}");
    let solves = at("c.json");
    let other = [&small[..], &["--work", "solve", "--out", &solves]].concat();
    hydro(&other).assert().success();
    let said = error(&["compare", &at("a.json"), &solves]);
    assert!(said.contains("no step in common"), "{said}");
}
