//! Fits of images whose sample is known.

use assert_cmd::Command;
use serde_json::Value as J;
use std::path::Path;

fn gisaxs(dir: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    Command::new(env!("CARGO_BIN_EXE_gisaxs"))
        .current_dir(dir)
        .args(args)
        .assert()
}

/// Simulates the example, counts photons, and writes a page that fits radius, height, lattice and beam.
fn noisy(dir: &Path, noise: u64, starts: u64, seed: u64) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/paracrystal.toml");
    std::fs::copy(page, dir.join("s.toml")).unwrap();
    let seed_text = noise.to_string();
    let args = [
        "simulate",
        "s.toml",
        "--counts",
        &seed_text,
        "-o",
        "noisy.csv",
    ];
    gisaxs(dir, &args).success();
    let mut fit =
        format!("sample = 's.toml'\ndata = 'noisy.csv'\nstarts = {starts}\nseed = {seed}\n");
    for (path, from, to, more) in [
        ("particles.0.form.radius", 2.0, 10.0, ""),
        ("particles.0.form.height", 3.0, 15.0, ""),
        (
            "particles.0.paracrystal.a",
            12.0,
            35.0,
            "same = ['particles.0.paracrystal.b']",
        ),
        ("beam.intensity", 1e7, 1e10, "log = true"),
    ] {
        fit.push_str(&format!(
            "[[parameters]]\npath = '{path}'\nfrom = {from}\nto = {to}\n{more}\n"
        ));
    }
    std::fs::write(dir.join("fit.toml"), fit).unwrap();
}

/// Fits, and returns how many errors each number is off.
fn pulls(dir: &Path, truth: &[f64]) -> Vec<f64> {
    let run = gisaxs(dir, &["fit", "fit.toml", "--json"]).success();
    let j: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    j["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .zip(truth)
        .map(|(p, t)| (p["value"].as_f64().unwrap() - t) / p["error"].as_f64().unwrap())
        .collect()
}

const TRUTH: [f64; 4] = [5.0, 8.0, 20.0, 3e8];

#[test]
fn a_noisy_image_gives_its_sample_back() {
    let dir = tempfile::tempdir().unwrap();
    noisy(dir.path(), 1, 1, 1);
    let off = pulls(dir.path(), &TRUTH);
    assert!(off.iter().all(|p| p.abs() < 3.5), "{off:?}");
}

/// A core that is mostly larger than its shell: such values have no model, and no start prints χ² NaN.
#[test]
fn random_starts_without_a_model_are_drawn_again() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let sample = "layers = [{}, { delta = 6e-6, beta = 2e-8 }]\n[beam]\nwavelength = 0.1\nangle = 0.2\nintensity = 1e9\n[detector]\n\
        phi = { from = -1.0, to = 1.0, n = 12 }\nalpha = { from = 0.1, to = 1.5, n = 12 }\n[[particles]]\ndensity = 0.001\n\
        form = { shape = 'sphere', radius = 5.0 }\ndelta = 1e-5\nbeta = 1e-7\n\
        core = { form = { shape = 'sphere', radius = 3.0 }, delta = 3e-5, beta = 2e-6, at = [0.0, 0.0, 2.0] }\n";
    std::fs::write(at("s.toml"), sample).unwrap();
    gisaxs(dir.path(), &["simulate", "s.toml", "-o", "d.npy"]).success();
    let fit = |to: f64, from: f64| {
        let text = format!(
            "sample = 's.toml'\ndata = 'd.npy'\nnoise = 'relative'\nswarm = 0\nstarts = 6\n[[parameters]]\n\
             path = 'particles.0.core.form.radius'\nfrom = {from}\nto = {to}\n"
        );
        std::fs::write(at("fit.toml"), text).unwrap();
        gisaxs(dir.path(), &["fit", "fit.toml", "--json"])
    };
    let run = fit(15.0, 2.0).success();
    let j: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let starts = j["starts"].as_array().unwrap();
    assert_eq!(starts.len(), 6, "{j}");
    assert!(starts.iter().all(|x| x.as_f64().is_some()), "{j}");
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(!said.contains("NaN"), "{said}");
    let none = fit(40.0, 20.0).failure();
    let said = String::from_utf8_lossy(&none.get_output().stderr).into_owned();
    assert!(
        said.contains("no start had a finite model: ") && !said.contains("NaN"),
        "{said}"
    );
}

#[test]
#[ignore = "slow"]
fn twenty_starts_and_twenty_noises_stay_within_their_errors_at_length() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for n in 0..20 {
        // One start each: every one of them must find the minimum.
        noisy(dir.path(), 100 + n, 1, 1000 + n);
        let off = pulls(dir.path(), &TRUTH);
        assert!(off.iter().all(|p| p.abs() < 4.0), "noise {n}: {off:?}");
        all.extend(off);
    }
    let variance = all.iter().map(|p| p * p).sum::<f64>() / all.len() as f64;
    // Errors are neither too small nor too large: 80 pulls have a variance of 1 ± 0.16.
    assert!((0.5..1.6).contains(&variance), "{variance}");
}

#[test]
fn an_image_of_another_program_gives_its_sample_back() {
    // Boxes of 8 × 12 × 5 nm on 6 × 9 cells of 20 and 25 nm, by BornAgain.
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let name = "dwba_finite_lattice_6x9_boxes";
    let text = std::fs::read_to_string(data.join(format!("{name}.json"))).unwrap();
    let j: J = serde_json::from_str(&text).unwrap();
    let edges = |key: &str| -> Vec<f64> {
        let all = j[key].as_array().unwrap().iter();
        all.map(|x| x.as_f64().unwrap().to_degrees()).collect()
    };
    let dir = tempfile::tempdir().unwrap();
    let packed = std::fs::File::open(data.join(format!("{name}.csv.gz"))).unwrap();
    let mut image = std::fs::File::create(dir.path().join("data.csv")).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut image).unwrap();
    let layer = &j["layers_top_to_bottom"][1];
    std::fs::write(
        dir.path().join("s.toml"),
        format!(
            "[beam]\nwavelength = {}\nangle = {}\n[detector]\nphi = {{ edges = {:?} }}\nalpha = {{ edges = {:?} }}\n\
             [[layers]]\n[[layers]]\ndelta = {}\nbeta = {}\n[[particles]]\n\
             form = {{ shape = 'box', length_x = 8.0, width_y = 11.0, height = 6.0 }}\ndelta = 9.6e-6\nbeta = 3.4e-8\n\
             lattice = {{ a = 21.0, b = 24.0, angle = 75.0, rotation = 10.0, cells = [6, 9] }}\n",
            j["wavelength_nm"], j["alpha_i_deg"], edges("pixel_phi_edges_rad"), edges("pixel_alpha_edges_rad"),
            layer["delta"], layer["beta"]
        ),
    )
    .unwrap();
    let mut fit = String::from(
        "sample = 's.toml'\ndata = 'data.csv'\nnoise = 'relative'\nswarm = 60\nsteps = 60\n",
    );
    let truth = [
        ("form.width_y", 12.0),
        ("form.height", 5.0),
        ("lattice.a", 20.0),
        ("lattice.b", 25.0),
    ];
    for (path, value) in truth {
        fit.push_str(&format!(
            "[[parameters]]\npath = 'particles.0.{path}'\nfrom = {}\nto = {}\n",
            0.8 * value,
            1.3 * value
        ));
    }
    std::fs::write(dir.path().join("fit.toml"), fit).unwrap();
    let run = gisaxs(dir.path(), &["fit", "fit.toml", "--json"]).success();
    let j: J = serde_json::from_slice(&run.get_output().stdout).unwrap();
    for (p, (path, value)) in j["parameters"].as_array().unwrap().iter().zip(truth) {
        let got = p["value"].as_f64().unwrap();
        assert!((got / value - 1.0).abs() < 1e-4, "{path}: {got}\n{j:#}");
    }
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let dir = tempfile::tempdir().unwrap();
    noisy(dir.path(), 1, 1, 1);
    let good = std::fs::read_to_string(dir.path().join("fit.toml")).unwrap();
    std::fs::write(dir.path().join("small.csv"), "1,2\n3,4\n").unwrap();
    for (from, to, word) in [
        ("noisy.csv", "small.csv", "2 × 2 pixels"),
        ("noisy.csv", "none.csv", "none.csv"),
        ("from = 2", "from = 20", "from < to"),
        ("form.radius", "form.breadth", "breadth"),
        ("'s.toml'", "'t.toml'", "t.toml"),
        ("starts = 1", "starts = 0", "starts"),
    ] {
        std::fs::write(dir.path().join("bad.toml"), good.replacen(from, to, 1)).unwrap();
        let run = gisaxs(dir.path(), &["fit", "bad.toml"]).failure();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(said.contains(word), "{from} → {to}: {said}");
    }
}
