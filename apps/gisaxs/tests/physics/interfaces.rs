//! Media above the sample, rough interfaces, particles across interfaces, distributions of arrangements: against numbers of
//! other programs (tests/data/README.md).

use greenup_gisaxs::mesh_form_factor::Watch;
use greenup_gisaxs::sample::Sample;
use greenup_gisaxs::scattering::layers::{Layer, reflectivity};
use serde_json::Value as J;
use std::f64::consts::PI;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn images_of_another_program() {
    let all: J = serde_json::from_str(&data("images.json")).unwrap();
    let n = all["n"].as_u64().unwrap() as usize;
    let axis = |key: &str| {
        let ends: Vec<f64> = all[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect();
        // Its edges are equal steps of the tangent.
        let edge = |k: usize| {
            (ends[0] + (ends[1] - ends[0]) * k as f64 / n as f64)
                .to_radians()
                .atan()
                .to_degrees()
        };
        let edges: Vec<String> = (0..=n).map(|k| format!("{:?}", edge(k))).collect();
        format!("{key} = {{ edges = [{}] }}\n", edges.join(", "))
    };
    let detector = format!("[detector]\n{}{}", axis("phi"), axis("alpha"));
    for case in all["cases"].as_array().unwrap() {
        let text = format!("{}\n{detector}", case["sample"].as_str().unwrap());
        let stop = AtomicBool::new(false);
        let watch = Watch {
            progress: &|_| {},
            stop: &stop,
        };
        let scene = Sample::parse(&text).unwrap().scene(Path::new(".")).unwrap();
        let image = scene.image(&watch).unwrap().unwrap();
        for pixel in case["pixels"].as_array().unwrap() {
            let number = |k: usize| pixel[k].as_f64().unwrap();
            let got = image[n * number(0) as usize + number(1) as usize];
            let error = (got / number(2) - 1.0).abs();
            assert!(error < 1e-5, "{} {pixel}: {got:e}, {error:e}", case["name"]);
        }
    }
}

/// The public set of reflectivities of the Open Reflectometry Standards Organisation.
#[test]
fn reflectivities_of_the_orso_set() {
    const LAMBDA: f64 = 0.1;
    // Thickness, both parts of the scattering length density, roughness; Å and 1e-6/Å², from the top.
    let multilayer: Vec<[f64; 4]> = (0..22)
        .map(|k| match k {
            0 => [0.0; 4],
            21 => [0.0, 2.0704, 0.0, 0.0],
            k if k % 2 == 1 => [30.0, -1.9493, 0.0, 0.0],
            _ => [70.0, 9.4245, 0.0, 0.0],
        })
        .collect();
    let film = [[1200.0, 4.66, 0.016, 10.0], [0.0, 6.36, 0.0, 3.0]];
    let stacks: [(&str, Vec<[f64; 4]>); 5] = [
        (
            "test0",
            vec![
                [0.0, 2.07, 0.0, 0.0],
                [100.0, 3.45, 0.1, 3.0],
                [200.0, 5.0, 0.01, 1.0],
                [0.0, 6.0, 0.0, 5.0],
            ],
        ),
        ("test1", multilayer),
        ("test2", vec![[0.0; 4], [0.0, 6.36, 0.0, 3.0]]),
        ("test6", vec![[0.0, 2.07, 0.0, 0.0], film[0], film[1]]),
        ("test7", vec![[0.0; 4], film[0], film[1]]),
    ];
    let text = data("orso_unpolarised.csv");
    for (name, stack) in stacks {
        let layers: Vec<Layer> = stack
            .iter()
            .map(|[d, rho, absorption, sigma]| {
                // n² = 1 − λ² ρ/π
                let square = greenup_gisaxs::Complex64::new(*rho, -absorption)
                    * (1e-4 * LAMBDA * LAMBDA / PI);
                let n = (1.0 - square).sqrt();
                Layer {
                    delta: 1.0 - n.re,
                    beta: n.im,
                    thickness: 0.1 * d,
                    roughness: 0.1 * sigma,
                }
            })
            .collect();
        let k0 = 2.0 * PI / LAMBDA;
        let mut seen = 0;
        for line in text.lines().filter(|l| l.starts_with(name)) {
            let cells: Vec<f64> = line
                .split(',')
                .skip(1)
                .map(|x| x.parse().unwrap())
                .collect();
            let angle = (10.0 * cells[0] / (2.0 * k0 * (1.0 - layers[0].delta))).asin();
            let got = reflectivity(&layers, k0, angle);
            assert!((got / cells[1] - 1.0).abs() < 1e-4, "{line}: {got:e}");
            seen += 1;
        }
        assert!(seen > 20, "{name}");
    }
}

/// Water over silicon: Fresnel's formula with both refractive indices.
#[test]
fn angles_are_those_above_the_sample() {
    let layers = [
        Layer::smooth(2.5e-6, 0.0, 0.0),
        Layer::smooth(6e-6, 2e-8, 0.0),
    ];
    let at = |degrees: f64| reflectivity(&layers, 20.0 * PI, degrees.to_radians());
    assert!((at(0.02) - 0.9985).abs() < 1e-4 && (at(0.2) - 0.0443).abs() < 1e-4);
}

/// All rotations of an arrangement: few equal steps have the sum of many.
#[test]
fn all_rotations_take_equal_steps() {
    let total = |samples: usize| {
        let text = format!(
            "beam = {{ wavelength = 0.1, angle = 0.2 }}
            [detector]
            phi = {{ from = -1.5, to = 1.5, n = 32 }}
            alpha = {{ from = 0.0, to = 2.0, n = 32 }}
            [[layers]]
            delta = 0
            beta = 0
            [[layers]]
            delta = 6e-6
            beta = 2e-8
            [[particles]]
            form = {{ shape = 'cylinder', radius = 5.0, height = 8.0 }}
            delta = 9.6e-6
            beta = 3.4e-8
            paracrystal = {{ a = 20.0, b = 20.0, angle = 90.0, rotation = 0.0, spread = [1.5, 1.5], domain = 300.0 }}
            [[particles.distributions]]
            of = 'paracrystal.rotation'
            kind = 'uniform'
            width = 180.0
            samples = {samples}"
        );
        let stop = AtomicBool::new(false);
        let watch = Watch {
            progress: &|_| {},
            stop: &stop,
        };
        let scene = Sample::parse(&text).unwrap().scene(Path::new(".")).unwrap();
        scene.image(&watch).unwrap().unwrap().iter().sum::<f64>()
    };
    let all = total(720);
    for samples in [61, 121] {
        let error = (total(samples) / all - 1.0).abs();
        assert!(error < 1e-3, "{samples}: {error:e}");
    }
}
