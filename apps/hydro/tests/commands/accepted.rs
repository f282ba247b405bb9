//! What a problem file and the flags accept changes the run, or is refused with the reason.

use super::common::{error, hydro, numbers, path};
use greenup_testing::text;
use serde_json::Value as J;

const FILE: &str = r#"name = "two gases"
viscosity = true
point_energy = 0.02
gravity = [0.0, -0.3]
[run]
mesh = "4x4"
refine = 0
t_final = 0.05
steps = 6
order = 2
energy_order = 1
ode = "rk4"
assembly = "partial"
cfl = 0.3
cg_tol = 1e-9
cg_max = 200
profile = false
[[material]]
where = "x < 0.5"
gamma = 1.4
p_inf = 0.1
density = "1 + 0.2*y"
pressure = 1.0
velocity = ["0.1*x", 0.0]
[[material]]
attribute = 1
gamma = 1.6
density = 2.0
energy = "1 + x"
[walls]
1 = "x"
2 = "fixed"
"#;

/// What a run of a problem file computes, without its times; or why it is refused.
fn outcome(dir: &tempfile::TempDir, text: &str, flags: &[&str]) -> Result<String, String> {
    let file = path(dir, "p.toml");
    std::fs::write(&file, text).unwrap();
    let run = hydro(&["run", "--problem", &file, "--json", "--threads", "1"])
        .args(flags)
        .output()
        .unwrap();
    if !run.status.success() {
        return Err(String::from_utf8(run.stderr).unwrap());
    }
    let mut json: J = serde_json::from_slice(&run.stdout).unwrap();
    let all = json.as_object_mut().unwrap();
    for times in ["provenance", "wall_s", "mdof_steps_per_s"] {
        all.remove(times);
    }
    let timings = all.remove("timings").unwrap();
    let counts: Vec<&J> = ["iterations", "solves", "evaluations"]
        .iter()
        .map(|k| &timings[k])
        .collect();
    let names: Vec<&String> = timings.as_object().unwrap().keys().collect();
    Ok(format!("{json}\n{counts:?}\n{names:?}"))
}

#[test]
fn every_key_of_a_problem_file_changes_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let before = outcome(&dir, FILE, &[]).unwrap();
    assert_eq!(outcome(&dir, FILE, &[]).unwrap(), before, "repeatable");
    for (old, new) in [
        ("viscosity = true", "viscosity = false"),
        ("point_energy = 0.02", "point_energy = 0.03"),
        ("gravity = [0.0, -0.3]", "gravity = [0.1, -0.3]"),
        ("mesh = \"4x4\"", "mesh = \"4x6\""),
        ("refine = 0", "refine = 1"),
        ("t_final = 0.05", "t_final = 0.01"),
        ("steps = 6", "steps = 5"),
        ("\norder = 2", "\norder = 3"),
        ("energy_order = 1", "energy_order = 0"),
        ("ode = \"rk4\"", "ode = \"rk2\""),
        ("assembly = \"partial\"", "assembly = \"full\""),
        ("cfl = 0.3", "cfl = 0.2"),
        ("cg_tol = 1e-9", "cg_tol = 1e-3"),
        ("cg_max = 200", "cg_max = 3"),
        ("where = \"x < 0.5\"", "where = \"x < 0.3\""),
        ("gamma = 1.4", "gamma = 1.5"),
        ("p_inf = 0.1", "p_inf = 0.2"),
        ("density = \"1 + 0.2*y\"", "density = \"1 + 0.3*y\""),
        ("pressure = 1.0", "pressure = 1.1"),
        ("velocity = [\"0.1*x\", 0.0]", "velocity = [\"0.2*x\", 0.0]"),
        ("attribute = 1", "attribute = 7"),
        ("density = 2.0", "density = 2.5"),
        ("energy = \"1 + x\"", "energy = \"1 + y\""),
        ("1 = \"x\"", "1 = { velocity = [0.2, \"free\"] }"),
        ("2 = \"fixed\"", "2 = \"free\""),
    ] {
        let text = FILE.replacen(old, new, 1);
        assert_ne!(text, FILE, "{old}");
        match outcome(&dir, &text, &[]) {
            Ok(after) => assert_ne!(after, before, "{new} changes nothing"),
            Err(why) => assert!(why.contains("material"), "{new}: {why}"),
        }
    }
    let three = FILE.replacen("2 = \"fixed\"", "3 = \"fixed\"", 1);
    let file = path(&dir, "three.toml");
    std::fs::write(&file, three).unwrap();
    for ranks in ["1", "2"] {
        let e = error(&["run", "--problem", &file, "--ranks", ranks]);
        assert!(e.contains("no face of attribute 3"), "{ranks}: {e}");
    }
    // Materials that no zone has: none fits, or one before has its zones.
    for condition in ["where = \"x > 5\"", "attribute = 7", "where = \"x > 0.7\""] {
        let more = format!("[[material]]\n{condition}\ngamma = 1.4\ndensity = 1\npressure = 1\n");
        for ranks in ["1", "2"] {
            let e = outcome(&dir, &format!("{FILE}{more}"), &["--ranks", ranks]).unwrap_err();
            assert!(e.contains("material 3: no zone has it"), "{condition}: {e}");
        }
    }
    // Components beyond the dimension: those that are 0 change nothing, others are refused.
    let velocity = |z: &str| FILE.replacen("\"0.1*x\", 0.0]", &format!("\"0.1*x\", 0.0, {z}]"), 1);
    assert_eq!(outcome(&dir, &velocity("\"0*x\""), &[]).unwrap(), before);
    for (text, why) in [
        (velocity("\"5\""), "along z"),
        (velocity("-0.5"), "along z"),
        (
            FILE.replacen("[0.0, -0.3]", "[0.0, -0.3, 1.0]", 1),
            "gravity: it acts along z",
        ),
        (
            FILE.replacen("1 = \"x\"", "1 = \"z\"", 1),
            "walls: 1: it acts along z",
        ),
    ] {
        let e = outcome(&dir, &text, &[]).unwrap_err();
        assert!(e.contains(why), "{why}: {e}");
    }
    let page = path(&dir, "p.html");
    outcome(&dir, FILE, &["--html", &page]).unwrap();
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("<title>Hydrodynamics: two gases"));
    // What has no effect here, and what is unknown.
    for (key, why) in [
        ("e0 = 2.0", "the energy of the Sedov problem"),
        ("kernels = \"zones=2\"", "parameters of GPU kernels"),
        ("share = 0.5", "one device computes all zones"),
        ("period = 9", "nothing is tuned or balanced"),
        ("history = \"h.csv\"", "names no outputs"),
        ("colour = 3", "unknown field"),
    ] {
        let text = FILE.replacen("profile = false", key, 1);
        let e = outcome(&dir, &text, &[]).unwrap_err();
        assert!(e.contains(why), "{key}: {e}");
    }
}

#[test]
fn flags_without_effect_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let png = path(&dir, "p.png");
    for (flags, why) in [
        (&["--e0", "5"][..], "the energy of the Sedov problem"),
        (&["--kernels", "zones=2"], "parameters of GPU kernels"),
        (&["--share", "0.5"], "one device computes all zones"),
        (&["--period", "9"], "nothing is tuned or balanced"),
        (&["--partition", "metis"], "one rank has all zones"),
        (
            &["--partition", "metis", "--ranks", "1"],
            "one rank has all zones",
        ),
        (&["--every", "7"], "no checkpoints"),
        (&["--snapshots", "3"], "no snapshots"),
        (&["--field", "pressure"], "no picture"),
        (&["--log-color"], "no picture"),
        (
            &["--color-range", "0:1"],
            "add --png, --animation or --html",
        ),
        (&["--mesh-lines", "on"], "no picture"),
        (&["--slice", "z=0.5"], "no picture"),
        (&["--surface"], "no picture"),
        (&["--line", "x=0:1"], "no line-outs"),
        (&["--animation-frames", "3"], "no animation"),
        (&["--width", "400"], "no figure"),
        (&["--dpi", "90"], "no figure"),
        (&["--style", "dark"], "no figure"),
        (&["--mirror"], "--surface"),
        (&["--png", &png, "--animation-frames", "3"], "no animation"),
    ] {
        let e = error(&[&["run", "--problem", "2", "--steps", "1"], flags].concat());
        assert!(e.contains(why), "{flags:?}: {e}");
    }
    assert!(!std::path::Path::new(&png).exists());
}

#[test]
fn paths_of_a_problem_file_are_relative_to_its_folder() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = path(&dir, "p.toml");
    let text = "[run]\nmesh = \"own.mesh\"\nrefine = 0\nsteps = 1\n[[material]]\ngamma = 1.4\ndensity = 1\npressure = 1\n";
    std::fs::write(&file, text).unwrap();
    let zones = || -> J {
        let run = hydro(&["run", "--problem", &file, "--json"])
            .current_dir(&elsewhere)
            .assert()
            .success();
        serde_json::from_slice::<J>(&run.get_output().stdout).unwrap()["zones"].clone()
    };
    let e = error(&["run", "--problem", &file]);
    let named = dir.path().join("own.mesh");
    assert!(
        e.contains(named.to_str().unwrap()) && e.contains("relative to the folder"),
        "{e}"
    );
    std::fs::write(elsewhere.path().join("own.mesh"), mesh_of_segments(2)).unwrap();
    std::fs::write(&named, mesh_of_segments(3)).unwrap();
    assert_eq!(zones(), 3);
    // A flag names a file as the shell does, also in place of one that is missing.
    std::fs::remove_file(&named).unwrap();
    let run = hydro(&["run", "--problem", &file, "--mesh", "own.mesh", "--json"])
        .current_dir(&elsewhere)
        .assert()
        .success();
    assert_eq!(
        serde_json::from_slice::<J>(&run.get_output().stdout).unwrap()["zones"],
        2
    );
}

fn mesh_of_segments(n: usize) -> String {
    let zones: String = (0..n).map(|z| format!("1 1 {z} {}\n", z + 1)).collect();
    let vertices: String = (0..=n).map(|v| format!("{v}\n")).collect();
    format!(
        "MFEM mesh v1.0\ndimension\n1\nelements\n{n}\n{zones}boundary\n2\n1 0 0\n1 0 {n}\nvertices\n{}\n1\n{vertices}",
        n + 1
    )
}

/// A machine predicts time and energy of the steps, or is refused before them with the reason.
#[test]
fn a_machine_predicts_the_steps() {
    let run = [
        "run",
        "--problem",
        "1",
        "--refine",
        "1",
        "--steps",
        "3",
        "--machine",
        "h200",
    ];
    let j = numbers(&run);
    let p = &j["predicted"];
    assert!(
        p["time_s"].as_f64().unwrap() > 0.0 && p["energy_j"].as_f64().unwrap() > 0.0,
        "{p}"
    );
    let out = hydro(&run).assert().success();
    assert!(text(&out.get_output().stdout).contains("by the model of"));
    let longer = numbers(&[&run[..5], &["--steps", "6", "--machine", "h200"]].concat());
    assert!(longer["predicted"]["time_s"].as_f64() > p["time_s"].as_f64());
    for (flags, why) in [
        (&["--assembly", "full"][..], "partial assembly"),
        (&["--ranks", "2"], "one rank"),
    ] {
        let e = error(&[&run[..], flags].concat());
        assert!(e.contains("--machine") && e.contains(why), "{e}");
    }
    assert!(numbers(&run[..7])["predicted"].is_null());
}
