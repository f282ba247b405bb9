//! `gisaxs mesh`, and the scattering of what it generates.

use assert_cmd::Command;
use std::f64::consts::TAU;
use std::path::Path;

fn gisaxs(dir: &Path, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut c = Command::cargo_bin("gisaxs").unwrap();
    c.current_dir(dir).args(args).assert()
}

fn json(run: &assert_cmd::assert::Assert) -> serde_json::Value {
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

/// The intensity of a blend, averaged over directions, has its maximum at 2π over the wavelength.
#[test]
fn a_blend_scatters_into_a_ring() {
    let dir = tempfile::tempdir().unwrap();
    let blend = "mesh bicontinuous --triangles 1.5e5 --wavelength 20 --size 120 120 100 --seed 3 -o blend.stl --json";
    let made = json(&gisaxs(dir.path(), &blend.split(' ').collect::<Vec<_>>()).success());
    let triangles = made["triangles"].as_f64().unwrap();
    assert!((triangles / 1.5e5 - 1.0).abs() < 0.03, "{made}");
    assert!(
        (made["fraction"].as_f64().unwrap() - 0.5).abs() < 0.01,
        "{made}"
    );
    std::fs::write(
        dir.path().join("blend.toml"),
        "shape = 'mesh'\nfile = 'blend.stl'\n",
    )
    .unwrap();
    // Directions of a spiral over half of the sphere, away from the axes, where the faces of the box scatter.
    let ring = TAU / 20.0;
    let (sizes, directions) = (25, 150);
    let size = |i: usize| ring * (0.4 + 0.05 * i as f64);
    let mut text = String::from("qx,qy,qz_re,qz_im\n");
    for i in 0..sizes {
        for n in 0..directions {
            let z = 0.2 + 0.65 * (n as f64 + 0.5) / directions as f64;
            let r = (1.0 - z * z).sqrt();
            let (s, c) = (2.399_963 * n as f64).sin_cos();
            let q = size(i);
            text.push_str(&format!("{},{},{},0\n", q * r * c, q * r * s, q * z));
        }
    }
    std::fs::write(dir.path().join("q.csv"), text).unwrap();
    let args = "form-factor blend.toml --q q.csv -o f.csv --accuracy 1e-4 --method direct --quadrature one --precision f32 --json";
    let computed = json(&gisaxs(dir.path(), &args.split(' ').collect::<Vec<_>>()).success());
    let ratio = computed["volume"].as_f64().unwrap() / made["volume"].as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 1e-5, "{computed}");
    let text = std::fs::read_to_string(dir.path().join("f.csv")).unwrap();
    let square = |line: &str| -> f64 {
        (line.split(',').skip(4))
            .map(|x| x.parse::<f64>().unwrap().powi(2))
            .sum()
    };
    let all: Vec<f64> = text.lines().skip(1).map(square).collect();
    let mean: Vec<f64> = (all.chunks(directions))
        .map(|some| some.iter().sum::<f64>() / directions as f64)
        .collect();
    let peak = (0..sizes)
        .max_by(|a, b| mean[*a].total_cmp(&mean[*b]))
        .unwrap();
    assert!((size(peak) / ring - 1.0).abs() < 0.06, "{mean:?}");
    // Far above what is within and outside the ring. The whole box scatters at the smallest q.
    for i in [6, 19] {
        assert!(mean[peak] > 8.0 * mean[i], "{mean:?}");
    }
}

#[test]
fn wrong_blends_are_refused_before_the_work() {
    let dir = tempfile::tempdir().unwrap();
    for (args, what) in [
        ("--triangles 2e5 -o b.xyz", "stl"),
        ("--triangles 0.5 -o b.stl", "whole number"),
        ("--triangles 100 -o b.stl", "triangles at least"),
        ("--triangles 2e7 -o b.stl", "more than 10000000"),
        ("--triangles 2e5 --fraction 2 -o b.stl", "0.05 to 0.95"),
    ] {
        let args = format!("mesh bicontinuous {args}");
        let run = gisaxs(dir.path(), &args.split(' ').collect::<Vec<_>>()).failure();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(said.contains(what) && !said.contains("panicked"), "{said}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
