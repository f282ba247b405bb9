//! The binary, as it is used.

use assert_cmd::Command;
use std::path::Path;

fn gisaxs(dir: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut c = Command::cargo_bin("gisaxs").unwrap();
    c.current_dir(dir).args(args).assert()
}

fn page(name: &str) -> String {
    format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn an_image_in_each_format() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["i.csv", "i.npy", "i.png"] {
        let run = gisaxs(
            dir.path(),
            &["simulate", &page("boxes.toml"), "-o", name, "--json"],
        )
        .success();
        let said: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
        assert_eq!(said["rows"], 256);
    }
    let text = std::fs::read_to_string(dir.path().join("i.csv")).unwrap();
    let numbers: Vec<f64> = text
        .lines()
        .flat_map(|l| l.split(',').map(|x| x.parse().unwrap()))
        .collect();
    let npy = std::fs::read(dir.path().join("i.npy")).unwrap();
    assert_eq!(npy.len() % 64, (8 * numbers.len()) % 64);
    let last: [u8; 8] = npy[npy.len() - 8..].try_into().unwrap();
    assert_eq!(f64::from_le_bytes(last), numbers[numbers.len() - 1]);
    // Left and right are the same; the maximum is in the center.
    for row in numbers.chunks(256) {
        for i in 0..128 {
            assert!((row[i] / row[255 - i] - 1.0).abs() < 1e-9);
        }
    }
    assert!(
        std::fs::read(dir.path().join("i.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
}

#[test]
fn a_mesh_is_the_shape_that_it_bounds() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    // A box of 2 x 4 x 3 as an OBJ with squares.
    let corners = [(1, -2), (1, 2), (-1, 2), (-1, -2)];
    let mut obj = String::new();
    for z in [0, 3] {
        for (x, y) in corners {
            obj.push_str(&format!("v {x} {y} {z}\n"));
        }
    }
    obj.push_str("f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
    std::fs::write(at("box.obj"), &obj).unwrap();
    std::fs::write(at("mesh.toml"), "shape = 'mesh'\nfile = 'box.obj'\n").unwrap();
    std::fs::write(
        at("box.toml"),
        "shape = 'box'\nlength_x = 2\nwidth_y = 4\nheight = 3\n",
    )
    .unwrap();
    std::fs::write(
        at("q.csv"),
        "qx,qy,qz_re,qz_im\n0,0,0,0\n1e-5,0,2e-5,1e-6\n0.3,-0.7,1.1,0.02\n0,2.5,0,0\n3,1,-4,-0.1\n",
    )
    .unwrap();
    let values = |name: &str| -> Vec<f64> {
        let shape = format!("{name}.toml");
        gisaxs(
            dir.path(),
            &["form-factor", &shape, "--q", "q.csv", "-o", "f.csv"],
        )
        .success();
        let text = std::fs::read_to_string(at("f.csv")).unwrap();
        text.lines()
            .skip(1)
            .flat_map(|l| l.split(',').skip(4).map(|x| x.parse().unwrap()))
            .collect()
    };
    let (mesh, plain) = (values("mesh"), values("box"));
    assert_eq!(mesh.len(), 10);
    for (m, p) in mesh.iter().zip(&plain) {
        assert!((m - p).abs() < 1e-9 * 24.0, "{mesh:?} {plain:?}");
    }
    // One square less is open, and says where.
    let open = obj.replace("f 4 1 5 8\n", "");
    std::fs::write(at("box.obj"), open).unwrap();
    let run = gisaxs(
        dir.path(),
        &["form-factor", "mesh.toml", "--q", "q.csv", "-o", "f.csv"],
    )
    .failure();
    let said = words(&run.get_output().stderr);
    assert!(said.contains("is open: 4 faulty edges"), "{said}");
}

#[test]
fn pages_tables_and_cuts_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let run = gisaxs(
        dir.path(),
        &[
            "simulate",
            &page("unit_cell.toml"),
            "-o",
            "cell.html",
            "--cut",
            "up=20:2",
            "--set",
            "particles.0.distributions.0.width=0.2",
            "--json",
        ],
    )
    .success();
    let j: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert_eq!(j["files"].as_array().unwrap().len(), 2);
    let html = std::fs::read_to_string(dir.path().join("cell.html")).unwrap();
    assert!(html.contains("data:image/png;base64,") && html.contains("[[particles.parts]]"));
    assert!(!html.contains("http://") || html.contains("www.w3.org"));
    let cut = std::fs::read_to_string(dir.path().join("cell.cut0.csv")).unwrap();
    assert!(cut.contains("\n# command: gisaxs simulate "));
    let numbers = cut.lines().filter(|l| !l.starts_with('#')).count();
    assert_eq!(numbers, 301);
    gisaxs(
        dir.path(),
        &["simulate", &page("boxes.toml"), "-o", "a.tif"],
    )
    .success();
    assert!(
        std::fs::read(dir.path().join("a.tif"))
            .unwrap()
            .starts_with(b"II")
    );
}

#[test]
fn every_way_gives_the_same_numbers_on_a_grid() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for method in ["direct", "exact", "gemm", "nufft"] {
        let file = format!("{method}.npy");
        let run = gisaxs(
            dir.path(),
            &[
                "form-factor",
                &page("icosahedron.toml"),
                "--grid",
                "0.1",
                "-1:1:21",
                "0:1.5:17",
                "--im-qz",
                "0.02",
                "--method",
                method,
                "-o",
                &file,
                "--json",
            ],
        )
        .success();
        let j: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
        assert_eq!(j["method"], method);
        assert!(j["error"].as_f64().unwrap() < 1e-8);
        let bytes = std::fs::read(dir.path().join(file)).unwrap();
        let (numbers, _) = bytes[bytes.len() - 21 * 17 * 16..].as_chunks::<8>();
        all.push(
            numbers
                .iter()
                .map(|b| f64::from_le_bytes(*b))
                .collect::<Vec<_>>(),
        );
    }
    let top = all[1].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for other in [&all[0], &all[2], &all[3]] {
        for (a, b) in all[1].iter().zip(other) {
            assert!((a - b).abs() < 1e-8 * top, "{a} {b}");
        }
    }
}

#[test]
fn wisdom_of_a_sweep_is_kept_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sweeps/form_factor_h200");
    let run = Command::new(env!("CARGO_BIN_EXE_gisaxs"))
        .env_remove("GREENUP_WISDOM")
        .env("XDG_DATA_HOME", dir.path())
        .args(["wisdom", sweep.to_str().unwrap(), "--json"])
        .assert()
        .success();
    let j: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert_eq!(j["entries"][0]["device"]["name"], "NVIDIA H200");
    assert_eq!(j["entries"][0]["config"]["dim_y"], 64);
    assert!(dir.path().join("greenup/wisdom.toml").is_file());
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sweeps/dgemm_h200");
    let run = Command::new(env!("CARGO_BIN_EXE_gisaxs"))
        .env("XDG_DATA_HOME", dir.path())
        .args(["wisdom", other.to_str().unwrap()])
        .assert()
        .failure();
    assert!(words(&run.get_output().stderr).contains("not of the form factor"));
}

#[test]
fn what_is_wrong_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let good = std::fs::read_to_string(page("boxes.toml")).unwrap();
    for (from, to, word) in [
        ("angle = 0.2", "angle = -0.2", "above the horizon"),
        ("height = 5.0", "height = -5.0", "must be above 0"),
        ("density = 0.01", "density = 0.01\nlayer = 7", "layer = 7"),
        ("delta = 6e-6", "delta = nan", "invalid refractive index"),
        ("delta = 6e-6", "delta = 0.999994", "n = 1 - delta + i beta"),
        ("wavelength = 0.1", "", "wavelength (nm) or energy"),
        ("[beam]", "[beam", "line"),
        ("shape = \"box\"", "shape = \"ball\"", "ball"),
        (
            "density = 0.01",
            "density = 0.01\nradial = { distance = -1.0, spread = 1.0 }",
            "distance = -1",
        ),
        (
            "density = 0.01",
            "density = 0.01\n[[particles.distributions]]\nof = \"form.radius\"\nkind = \"gaussian\"\nwidth = 1.0",
            "radius",
        ),
        ("density = 0.01", "density = nan", "density = NaN"),
        (
            "density = 0.01",
            "density = 0.01\nrotatoin = 3.0",
            "rotatoin",
        ),
        (
            "density = 0.01",
            "density = 0.01\n[[particles.parts]]\nform = { shape = \"sphere\", radius = 2.0 }\nrotatoin = 3.0",
            "rotatoin",
        ),
        (
            "density = 0.01",
            "density = 0.01\ncore = { form = { shape = \"sphere\", radius = 2.0 }, turm = 3.0 }",
            "turm",
        ),
        ("density = 0.01", "density = 0.01\ntilt = inf", "tilt = inf"),
        (
            "name = \"silicon\"",
            "name = \"silicon\"\nmaterial = \"glas\"",
            "not both",
        ),
        (
            "delta = 6e-6\nbeta = 2e-8",
            "material = \"glas\"",
            "\"glas\" is unknown",
        ),
        (
            "[[particles]]",
            "[[layers]]\nthickness = 0.0\n[[layers]]\n[[particles]]",
            "thickness above 0",
        ),
        (
            "phi = {",
            "flat = { distance = 1.0, pixel = 0.172, columns = 3, rows = 3, centre = [1.0, 1.0] }\nphi = {",
            "needs phi and alpha",
        ),
    ] {
        let bad = dir.path().join("bad.toml");
        std::fs::write(&bad, good.replacen(from, to, 1)).unwrap();
        let run = gisaxs(dir.path(), &["simulate", "bad.toml", "-o", "x.csv"]).failure();
        let said = words(&run.get_output().stderr);
        assert!(said.contains(word), "{from} → {to}: {said}");
    }
    let run = gisaxs(
        dir.path(),
        &["simulate", &page("boxes.toml"), "-o", "x.bmp"],
    )
    .failure();
    assert!(
        words(&run.get_output().stderr).contains(".csv, .npy, .npz, .tif, .tiff, .svg, .png, .pdf")
    );
    std::fs::write(
        dir.path().join("q.csv"),
        "qx,qy,qz_re,qz_im\n0,1,0,0\n0,x,0,0\n",
    )
    .unwrap();
    let run = gisaxs(
        dir.path(),
        &[
            "form-factor",
            &page("icosahedron.toml"),
            "--q",
            "q.csv",
            "-o",
            "f.csv",
        ],
    )
    .failure();
    assert!(words(&run.get_output().stderr).contains("line 3"));
    let run = gisaxs(
        dir.path(),
        &[
            "form-factor",
            &page("icosahedron.toml"),
            "--grid",
            "0",
            "-1:1:200",
            "0:1:200",
            "-o",
            "f.npy",
            "--memory",
            "1K",
            "--method",
            "nufft",
        ],
    )
    .failure();
    assert!(words(&run.get_output().stderr).contains("too small for one tile"));
    for (name, text, word) in [
        ("none.obj", "v 0 0 0\n", "no triangles"),
        (
            "flat.obj",
            "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 1\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n",
            "area",
        ),
    ] {
        std::fs::write(dir.path().join(name), text).unwrap();
        std::fs::write(
            dir.path().join("m.toml"),
            format!("shape = 'mesh'\nfile = '{name}'\n"),
        )
        .unwrap();
        std::fs::write(dir.path().join("q.csv"), "0,1,0,0\n").unwrap();
        let run = gisaxs(
            dir.path(),
            &["form-factor", "m.toml", "--q", "q.csv", "-o", "f.csv"],
        )
        .failure();
        let said = words(&run.get_output().stderr);
        assert!(said.contains(word), "{name}: {said}");
    }
}

#[test]
fn versions_completions_and_manual_pages() {
    let out = |args: &[&str]| {
        let done = assert_cmd::Command::cargo_bin("gisaxs")
            .unwrap()
            .args(args)
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(out(&["--version"]).contains("\ncommit: "));
    assert!(out(&["completions", "bash"]).contains("_gisaxs()"));
    assert!(out(&["man"]).contains(".TH gisaxs 1"));
}

#[test]
fn every_command_of_the_papers_parses() {
    let all = greenup_testing::commands_of_papers("gisaxs");
    assert!(!all.is_empty());
    for args in all {
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        args.push("--help");
        gisaxs(Path::new("."), &args).success();
    }
}
