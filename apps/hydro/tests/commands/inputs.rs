//! Meshes and problems from files, and what is wrong with either.

use super::common::{hydro, numbers};
use assert_cmd::Command;
use serde_json::Value as J;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn run_on(mesh: &Path, more: &[&str]) -> J {
    let mesh = mesh.to_str().unwrap();
    let all = [&["run", "--mesh", mesh, "--refine", "1"][..], more].concat();
    numbers(&all)
}

#[test]
fn meshes_of_mfem_and_gmsh() {
    // A square of skewed zones: the matter at rest stays there, whatever its zones.
    let skew = data("tests/data/skew.mesh");
    for assembly in ["full", "partial"] {
        let j = run_on(
            &skew,
            &[
                "--problem",
                "1",
                "--t-final",
                "0.05",
                "--assembly",
                assembly,
                "--ode",
                "rk2avg",
            ],
        );
        let total = j["internal"].as_f64().unwrap() + j["kinetic"].as_f64().unwrap();
        assert!((total - 0.25).abs() < 1e-12, "{j}");
    }
    let square = data("tests/data/square.msh");
    let j = run_on(&square, &["--problem", "0", "--t-final", "0.05"]);
    // Taylor and Green's vortex on the square: ∫ v² / 2 = 1/4.
    assert!((j["kinetic"].as_f64().unwrap() - 0.25).abs() < 4e-3, "{j}");
    // A cube of six tetrahedra, refined: all its energy stays.
    let tets = data("tests/data/cube_tet.mesh");
    let j = run_on(
        &tets,
        &["--problem", "1", "--t-final", "0.05", "--ode", "rk2avg"],
    );
    let total = j["internal"].as_f64().unwrap() + j["kinetic"].as_f64().unwrap();
    assert!((total - 0.125).abs() < 1e-12 && j["zones"] == 48, "{j}");
    // Curved nodes: the unit square's sides stay, its center is bent.
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(&skew).unwrap();
    let (head, _) = text.split_once("vertices").unwrap();
    let mut nodes = String::new();
    for z in 0..4 {
        for i in 0..9 {
            let x = 0.5 * f64::from(z % 2) + 0.25 * f64::from(i % 3);
            let y = 0.5 * f64::from(z / 2) + 0.25 * f64::from(i / 3);
            let bend = 0.3 * x * (1.0 - x) * y * (1.0 - y);
            nodes.push_str(&format!("{} {}\n", x + bend, y - bend));
        }
    }
    let curved = dir.path().join("curved.mesh");
    let space = "FiniteElementSpace\nFiniteElementCollection: L2_T1_2D_P2\nVDim: 2\nOrdering: 1\n";
    std::fs::write(
        &curved,
        format!("{head}vertices\n9\n\nnodes\n{space}\n{nodes}"),
    )
    .unwrap();
    let j = run_on(
        &curved,
        &["--problem", "0", "--t-final", "0.05", "--order", "3"],
    );
    assert!((j["kinetic"].as_f64().unwrap() - 0.25).abs() < 1e-3, "{j}");
}

#[test]
fn wrong_meshes_are_named_with_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let good = std::fs::read_to_string(data("tests/data/skew.mesh")).unwrap();
    for (from, to, word) in [
        // A folded zone.
        ("1 3 0 1 4 3", "1 3 0 1 3 4", "alone"),
        // A corner that is none.
        ("2 3 1 2 5 4", "2 3 1 2 50 4", "50"),
        // A part of the boundary that is missing.
        ("8\n1 1 0 3\n", "7\n", "hangs"),
        // Attributes that say nothing.
        ("2 1 7 8", "7 1 7 8", "attribute 7"),
        ("2 1 7 8", "1 1 7 8", "normal to x"),
        ("0.5 0\n", "0.5 zero\n", "line 28"),
        ("0.5 0\n", "0.5 nan\n", "not finite"),
        ("dimension", "dimensions", "`dimensions`"),
        ("1 3 4 5 8 7", "1 2 4 5 8", "one shape"),
    ] {
        let path = dir.path().join("bad.mesh");
        assert!(good.contains(from), "{from}");
        std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let run = hydro(&["run", "--mesh", path.to_str().unwrap()])
            .assert()
            .failure();
        let said = greenup_testing::text(&run.get_output().stderr);
        assert!(
            said.contains(word) && said.contains("error:"),
            "{to}: {said}"
        );
    }
}

#[test]
fn problems_of_users() {
    let page = data("problems/bubble.toml");
    let page = page.to_str().unwrap();
    let j = numbers(&[
        "run",
        "--problem",
        page,
        "--refine",
        "2",
        "--t-final",
        "0.02",
    ]);
    assert!(j["energy_drift"].as_f64().unwrap().abs() < 1e-13, "{j}");
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(page).unwrap();
    for (from, to, word) in [
        ("refine = 4", "refinement = 4", "refinement"),
        ("density = 0.05", "density = \"1/0*0\"", "material 1"),
        ("gamma = 4.4\n", "gamma = 4.4\ncolour = 3\n", "colour"),
    ] {
        let path = dir.path().join("bad.toml");
        assert!(text.contains(from));
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let run = hydro(&["run", "--problem", path.to_str().unwrap()])
            .timeout(std::time::Duration::from_secs(20))
            .assert()
            .failure();
        let said = greenup_testing::text(&run.get_output().stderr);
        assert!(
            said.contains(word) || said.contains("density"),
            "{to}: {said}"
        );
    }
}

/// Files that no reader of meshes, problems or checkpoints may fall over.
#[test]
fn hostile_inputs_end_with_a_message() {
    let dir = tempfile::tempdir().unwrap();
    let skew = std::fs::read_to_string(data("tests/data/skew.mesh")).unwrap();
    let square = std::fs::read_to_string(data("tests/data/square.msh")).unwrap();
    let l2 = |n: u64, degree: usize| {
        let (head, _) = skew.split_once("vertices").unwrap();
        format!(
            "{head}vertices\n{n}\n\nnodes\nFiniteElementSpace\nFiniteElementCollection: L2_T1_2D_P{degree}\nVDim: 2\nOrdering: 1\n0 0\n"
        )
    };
    let mut all = vec![
        ("mesh", String::new()),
        ("mesh", "MFEM mesh v1.0".into()),
        (
            "mesh",
            skew.replace("vertices\n9", "vertices\n1000000000000000000"),
        ),
        ("mesh", skew.replace("vertices\n9", "vertices\n200000000")),
        (
            "mesh",
            skew.replace("elements\n4", "elements\n1000000000000000000"),
        ),
        ("mesh", skew.replace("0.5 0\n", "1e308 -1e308\n")),
        ("mesh", skew.replace("0.5 0\n", "1e999 0\n")),
        ("mesh", skew.replace("0.5", "1e308").replace('1', "1e308")),
        ("mesh", l2(200_000_000, 8)),
        ("mesh", l2(9, 8)),
        ("mesh", l2(2, 1)),
        ("mesh", l2(9, 1).replace("L2_T1_2D_P1", "H1_2D_P8")),
        (
            "mesh",
            l2(9, 1)
                .replace("L2_T1_2D_P1", "Quadratic")
                .replace("1 3 0 1 4 3", "1 3 0 1 4 4000000000"),
        ),
        ("msh", String::new()),
        (
            "msh",
            square.replace("$Nodes\n", "$Nodes\n1000000000000000000 "),
        ),
        ("msh", square.replace("$Elements\n", "$Elements\n99999999 ")),
        (
            "toml",
            "[[material]]\ngamma = nan\ndensity = 1\npressure = 1\n".into(),
        ),
        (
            "toml",
            format!(
                "[[material]]\ngamma = 1.4\ndensity = \"{}x\"\npressure = 1\n",
                "(".repeat(100_000)
            ),
        ),
        ("toml", format!("a = {}", "[".repeat(100_000))),
        (
            "toml",
            "[run]\nsnapshots = 1000000000000\n[[material]]\ngamma = 1.4\ndensity = 1\npressure = 1\n"
                .into(),
        ),
        (
            "toml",
            "gravity = [nan, 0]\n[[material]]\ngamma = 1.4\ndensity = 1\npressure = 1\n".into(),
        ),
        (
            "toml",
            "[[material]]\ngamma = 1.4\nstiffness = inf\ndensity = 1\npressure = 1\n".into(),
        ),
        ("ckpt", String::new()),
        ("ckpt", "\n".into()),
        ("ckpt", "{\"format\":\"greenup-hydro/2\"}\n".into()),
    ];
    let hostile = all.len();
    // Every file, cut off somewhere.
    let mut rng = fastrand::Rng::with_seed(11);
    for (ending, text) in [("mesh", &skew), ("msh", &square)] {
        all.extend((0..30).map(|_| (ending, text[..rng.usize(..text.len())].to_owned())));
    }
    for (i, (ending, text)) in all.iter().enumerate() {
        let path = dir.path().join(format!("{i}.{ending}"));
        std::fs::write(&path, text).unwrap();
        // A cut may leave a whole mesh, and many snapshots are none without --vtu.
        let may_pass = i >= hostile || text.contains("snapshots");
        refused(ending, &path, text, may_pass);
    }
    for ending in ["mesh", "msh", "toml", "ckpt"] {
        let path = dir.path().join(format!("zero.{ending}"));
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        refused(ending, &path, "/dev/zero", false);
    }
}

/// An input ends with a message, quickly and in little memory; cut off behind its last number it may be whole.
fn refused(ending: &str, path: &Path, text: &str, may_pass: bool) {
    let name = path.to_str().unwrap();
    let run = ["run", "--refine", "0", "--steps", "1"];
    let args = match ending {
        "toml" => [&run[..], &["--problem", name]].concat(),
        "ckpt" => vec!["restart", name],
        _ => [&run[..], &["--problem", "0", "--mesh", name]].concat(),
    };
    // 2 GB of addresses.
    let out = Command::new("sh")
        .args([
            "-c",
            "ulimit -v 2000000; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_hydro"),
        ])
        .args(&args)
        .timeout(std::time::Duration::from_secs(60))
        .output()
        .unwrap();
    let said = greenup_testing::text(&out.stderr);
    let what: String = text.chars().take(2000).collect();
    match out.status.code() {
        Some(0) => assert!(may_pass, "accepted: {what}"),
        code => {
            assert_eq!(code, Some(1), "{said}\n{what}");
            assert!(said.starts_with("error: "), "{said}");
        }
    }
}

/// Meshes with words exchanged, dropped or replaced by extreme ones: read or refused, never a panic.
#[test]
fn random_damage_to_meshes_does_not_panic() {
    use greenup_hydro::hydro::Hydro;
    use greenup_hydro::mesh::Mesh;
    use greenup_hydro::problem::Problem;
    use greenup_hydro::problem::initial_state::Orders;
    let extreme = [
        "-1",
        "0",
        "1",
        "2",
        "3",
        "5",
        "15",
        "4294967295",
        "1e308",
        "-1e308",
        "nan",
        "1e-300",
        "H1_2D_P3",
        "nodes",
        "vertices",
    ];
    let orders = Orders::default();
    let mut rng = fastrand::Rng::with_seed(12);
    for name in ["skew.mesh", "cube_tet.mesh", "square.msh"] {
        let text = std::fs::read_to_string(data("tests/data").join(name)).unwrap();
        let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
        for _ in 0..300 {
            let mut own: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            for _ in 0..rng.usize(1..4) {
                let (i, j) = (rng.usize(..own.len()), rng.usize(..own.len()));
                match rng.u8(..3) {
                    0 => own[i] = format!("{} ", extreme[rng.usize(..extreme.len())]),
                    1 => own[i] = String::new(),
                    _ => own.swap(i, j),
                }
            }
            let Ok(mesh) = Mesh::parse(name, &own.concat()) else {
                continue;
            };
            for mesh in [mesh.refined(), mesh] {
                let _ = Hydro::new(&mesh, Problem::of("0").unwrap(), &orders, 1.0);
            }
        }
    }
}
