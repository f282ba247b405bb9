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
    // Left and right are the same; the maximum is in the middle.
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
fn what_is_wrong_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let good = std::fs::read_to_string(page("boxes.toml")).unwrap();
    for (from, to, word) in [
        ("angle = 0.2", "angle = -0.2", "above the horizon"),
        ("height = 5.0", "height = -5.0", "must be above 0"),
        ("density = 0.01", "density = 0.01\nlayer = 7", "layer = 7"),
        ("delta = 6e-6", "delta = nan", "no index"),
        ("wavelength = 0.1", "", "wavelength (nm) or energy"),
        ("[beam]", "[beam", "line"),
        ("shape = \"box\"", "shape = \"ball\"", "ball"),
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
    assert!(words(&run.get_output().stderr).contains("csv, npy, tif, png or html"));
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
}
