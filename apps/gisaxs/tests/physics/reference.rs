//! Against numbers of another program (tests/data/README.md).

use greenup_gisaxs::detector::{Axis, Detector};
use greenup_gisaxs::form::Shape;
use greenup_gisaxs::mesh_form_factor::{Settings, Watch};
use greenup_gisaxs::scattering::dwba::{Mode, Scene};
use greenup_gisaxs::scattering::layers::{Layer, reflectivity};
use greenup_gisaxs::scattering::order::{Lattice, Order};
use greenup_gisaxs::scattering::particle::{Average, Part, Particle, Population};
use greenup_gisaxs::{Complex64, FormFactor, Q};
use serde_json::Value as J;
use std::f64::consts::PI;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Text of a gzipped file.
fn unpacked(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    let packed = std::fs::File::open(path).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed)
        .read_to_string(&mut text)
        .unwrap();
    text
}

fn form(page: &str) -> Box<dyn FormFactor> {
    let shape: Shape = toml::from_str(page).unwrap();
    shape.form_factor(Path::new(".")).unwrap()
}

fn rows(text: &str) -> Vec<Vec<f64>> {
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    lines
        .map(|l| l.split(',').map(|x| x.parse().unwrap()).collect())
        .collect()
}

#[test]
fn form_factors_of_every_shape() {
    let shapes = [
        ("sphere_R5", "shape = 'sphere'\nradius = 5"),
        (
            "box_10x20x5",
            "shape = 'box'\nlength_x = 10\nwidth_y = 20\nheight = 5",
        ),
        (
            "cylinder_R5_H8",
            "shape = 'cylinder'\nradius = 5\nheight = 8",
        ),
        (
            "cone_R5_H6_a70",
            "shape = 'cone'\nradius = 5\nheight = 6\nbase_angle = 70",
        ),
        (
            "pyramid2_L10_W16_H3_a54.73",
            "shape = 'pyramid'\nlength_x = 10\nwidth_y = 16\nheight = 3\nbase_angle = 54.73",
        ),
        (
            "prism3_L10_H6",
            "shape = 'prism'\nsides = 3\nedge = 10\nheight = 6",
        ),
        ("icosahedron_L5", "shape = 'icosahedron'\nedge = 5"),
    ];
    let text = unpacked("formfactors.csv.gz");
    let mut seen = 0;
    for (case, page) in shapes {
        let f = form(page);
        for line in text.lines().filter(|l| l.starts_with(&format!("{case},"))) {
            let v: Vec<f64> = line
                .split(',')
                .skip(1)
                .map(|x| x.parse().unwrap())
                .collect();
            let got = f.at(&Q {
                x: v[0],
                y: v[1],
                z: Complex64::new(v[2], v[3]),
            }
            .vector());
            let want = Complex64::new(v[4], v[5]);
            // 1e-10 of |F|; where F nearly vanishes, of a millionth of the volume.
            let scale = want.norm().max(1e-6 * f.volume());
            let error = (got - want).norm() / scale;
            assert!(error < 1e-10, "{case} at {v:?}: {got}, error {error:e}");
            seen += 1;
        }
    }
    assert_eq!(seen, 7 * 77);
}

#[test]
fn reflectivities() {
    for (name, film) in [
        ("reflectivity_si.csv", None),
        (
            "reflectivity_absorbing_film_on_si.csv",
            Some(Layer::smooth(8e-6, 8e-7, 40.0)),
        ),
    ] {
        let mut layers = vec![Layer::smooth(0.0, 0.0, 0.0)];
        layers.extend(film);
        layers.push(Layer::smooth(6e-6, 2e-8, 0.0));
        let rows = rows(&data(name));
        assert_eq!(rows.len(), 200);
        for row in rows {
            let got = reflectivity(&layers, 2.0 * PI / 0.1, row[0].to_radians());
            assert!((got / row[1] - 1.0).abs() < 1e-10, "{name} at {}°", row[0]);
        }
    }
}

/// The image of a case with one kind of particle on 0.01 / nm².
fn scene(name: &str, page: &str, optics: (f64, f64), height: f64, mode: Mode) -> Scene {
    let j: J = serde_json::from_str(&data(&format!("{name}.json"))).unwrap();
    let list = |key: &str| -> Vec<f64> {
        let a = j[key].as_array().unwrap().iter();
        a.map(|x| x.as_f64().unwrap()).collect()
    };
    let axis = |centres: &str, edges: &str| Axis {
        centres: list(centres),
        edges: list(edges),
    };
    let number = |v: &J| v.as_f64().unwrap_or(0.0);
    Scene {
        k0: 2.0 * PI / number(&j["wavelength_nm"]),
        incidence: number(&j["alpha_i_deg"]).to_radians(),
        intensity: 1.0,
        layers: j["layers_top_to_bottom"]
            .as_array()
            .unwrap()
            .iter()
            .map(|l| {
                Layer::smooth(
                    number(&l["delta"]),
                    number(&l["beta"]),
                    number(&l["thickness_nm"]),
                )
            })
            .collect(),
        populations: vec![Population {
            orders: vec![(0.01, Order::Dilute)],
            members: vec![(
                1.0,
                Particle {
                    parts: vec![Part {
                        form: form(page),
                        index: optics,
                        around: None,
                        at: [0.0; 3],
                        layer: j["structure_in_layer"].as_u64().unwrap() as usize,
                    }],
                    height,
                },
            )],
            average: Average::Decoupled,
        }],
        detector: Detector::Angles {
            phi: axis("pixel_phi_rad", "pixel_phi_edges_rad"),
            alpha: axis("pixel_alpha_rad", "pixel_alpha_edges_rad"),
        },
        smearing: None,
        numeric: Settings::default(),
        notes: Vec::new(),
        mode,
        background: 0.0,
    }
}

#[test]
fn images() {
    let usual = (9.6e-6, 3.4e-8);
    let cylinder = "shape = 'cylinder'\nradius = 5\nheight = 8";
    let cases = [
        (
            "dwba_box_on_si",
            scene(
                "dwba_box_on_si",
                "shape = 'box'\nlength_x = 10\nwidth_y = 20\nheight = 5",
                usual,
                0.0,
                Mode::Distorted,
            ),
        ),
        (
            "dwba_sphere_on_si",
            scene(
                "dwba_sphere_on_si",
                "shape = 'sphere'\nradius = 5",
                usual,
                0.0,
                Mode::Distorted,
            ),
        ),
        (
            "dwba_cylinder_on_si",
            scene("dwba_cylinder_on_si", cylinder, usual, 0.0, Mode::Distorted),
        ),
        (
            "dwba_cylinder_in_absorbing_film",
            scene(
                "dwba_cylinder_in_absorbing_film",
                cylinder,
                (2e-5, 1e-6),
                -30.0,
                Mode::Distorted,
            ),
        ),
        (
            "dwba_cylinder_born",
            scene("dwba_cylinder_born", cylinder, usual, 0.0, Mode::Born),
        ),
    ];
    let mut lattice = scene(
        "dwba_finite_lattice_6x9_boxes",
        "shape = 'box'\nlength_x = 8\nwidth_y = 12\nheight = 5",
        usual,
        0.0,
        Mode::Distorted,
    );
    let side = |length: f64, angle: f64| {
        let (sine, cosine) = angle.to_radians().sin_cos();
        [length * cosine, length * sine]
    };
    let order = Lattice {
        sides: [side(20.0, 10.0), side(25.0, 85.0)],
        cells: [6, 9],
    };
    lattice.populations[0].orders = vec![(1.0 / order.cell(), Order::Lattice(order))];
    for (name, scene) in cases
        .into_iter()
        .chain([("dwba_finite_lattice_6x9_boxes", lattice)])
    {
        let got = scene
            .image(&Watch {
                progress: &|_| {},
                stop: &AtomicBool::new(false),
            })
            .unwrap()
            .unwrap();
        let want = rows(&unpacked(&format!("{name}.csv.gz"))).concat();
        assert_eq!(got.len(), want.len());
        let top = want.iter().copied().fold(0.0, f64::max);
        let worst = got
            .iter()
            .zip(&want)
            .filter(|(_, w)| **w > 1e-6 * top)
            .map(|(g, w)| (g / w - 1.0).abs())
            .fold(0.0, f64::max);
        // Corner pixels of the last lie near zeros of both factors of F.
        let bound = if name == "dwba_cylinder_born" {
            3e-5
        } else {
            2e-5
        };
        assert!(worst < bound, "{name}: {worst:e}");
    }
}

/// ⟨|F|²⟩ over all orientations of a shape that z is an axis of, or three are.
fn average(page: &str, q: f64) -> f64 {
    let f = form(page);
    let n = 200;
    let mut sum = 0.0;
    for (cosine, w) in greenup_gisaxs::form::gauss(n) {
        let sine = (1.0 - cosine * cosine).sqrt();
        // A quarter turn of a box says all.
        for (x, v) in greenup_gisaxs::form::gauss(60) {
            let angle = (x + 1.0) * PI / 4.0;
            let q = Q {
                x: q * sine * angle.cos(),
                y: q * sine * angle.sin(),
                z: Complex64::new(q * cosine, 0.0),
            };
            sum += 0.25 * w * v * f.at(&q.vector()).norm_sqr();
        }
    }
    sum
}

#[test]
fn averages_over_orientations() {
    let text = unpacked("sasmodels_1d.csv.gz");
    let mut seen = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let value = |key: &str| -> f64 {
            let all = cells[1].split(';').filter_map(|p| p.split_once('='));
            all.filter(|p| p.0 == key)
                .map(|p| p.1.parse().unwrap())
                .next()
                .unwrap_or(0.0)
        };
        let (q, want): (f64, f64) = (cells[2].parse().unwrap(), cells[3].parse().unwrap());
        // Å to nm.
        let nm = |key: &str| 0.1 * value(key);
        let q = 10.0 * q;
        let contrast = (value("sld") - value("sld_solvent")).powi(2);
        let ball = |r: f64| format!("shape = 'sphere'\nradius = {r}");
        let (got, tolerance) = match cells[0] {
            "sphere" => {
                let f = form(&ball(nm("radius")));
                let z = Complex64::new(q, 0.0);
                let f = f.at(&[z, 0.0.into(), 0.0.into()]).norm_sqr() / f.volume();
                (contrast * f, 1e-12)
            }
            "core_shell_sphere" => {
                let (r, d) = (nm("radius"), nm("thickness"));
                let z = Complex64::new(q, 0.0);
                let at = |r: f64| form(&ball(r)).at(&[z, 0.0.into(), 0.0.into()]).norm();
                // Both about one centre; signs of the amplitudes count.
                let of = |r: f64| {
                    let x = q * r;
                    at(r) * (x.sin() - x * x.cos()).signum()
                };
                let whole = (value("sld_shell") - value("sld_solvent")) * of(r + d);
                let core = (value("sld_core") - value("sld_shell")) * of(r);
                ((whole + core).powi(2) / form(&ball(r + d)).volume(), 1e-9)
            }
            "cylinder" => {
                let page = format!(
                    "shape = 'cylinder'\nradius = {}\nheight = {}",
                    nm("radius"),
                    nm("length")
                );
                (contrast * average(&page, q) / form(&page).volume(), 1e-3)
            }
            "ellipsoid" => {
                let page = format!(
                    "shape = 'spheroid'\nradius = {}\nheight = {}",
                    nm("radius_equatorial"),
                    2.0 * nm("radius_polar")
                );
                (contrast * average(&page, q) / form(&page).volume(), 1e-3)
            }
            "parallelepiped" => {
                let page = format!(
                    "shape = 'box'\nlength_x = {}\nwidth_y = {}\nheight = {}",
                    nm("length_a"),
                    nm("length_b"),
                    nm("length_c")
                );
                (contrast * average(&page, q) / form(&page).volume(), 1e-3)
            }
            other => panic!("{other}"),
        };
        // nm³ to Å³.
        let got = 1e-4 * 1e3 * got;
        assert!((got / want - 1.0).abs() < tolerance, "{line}: {got}");
        seen += 1;
    }
    assert_eq!(seen, 5 * 61);
}
