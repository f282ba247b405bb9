//! Every number of every example, made absurd: a message that names the key, or an image that is finite and nowhere
//! negative.

use greenup_gisaxs::form::Shape;
use greenup_gisaxs::mesh_form_factor::Watch;
use greenup_gisaxs::sample::Sample;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use toml::Value;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Paths of all numbers.
fn numbers(value: &Value, at: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    let mut deeper = |key: String, v: &Value| {
        at.push(key);
        numbers(v, at, out);
        at.pop();
    };
    match value {
        Value::Table(t) => t.iter().for_each(|(k, v)| deeper(k.clone(), v)),
        Value::Array(a) => a
            .iter()
            .enumerate()
            .for_each(|(n, v)| deeper(n.to_string(), v)),
        Value::Float(_) | Value::Integer(_) => out.push(at.clone()),
        _ => {}
    }
}

fn set(value: &mut Value, path: &[String], to: Value) {
    let Some((first, rest)) = path.split_first() else {
        *value = to;
        return;
    };
    match value {
        Value::Table(t) => set(t.get_mut(first).unwrap(), rest, to),
        Value::Array(a) => set(&mut a[first.parse::<usize>().unwrap()], rest, to),
        _ => unreachable!(),
    }
}

/// Few pixels: their number is not what is tested.
fn small(page: &mut Value) {
    let Some(Value::Table(d)) = page.get_mut("detector") else {
        return;
    };
    for (name, v) in d.iter_mut() {
        if name == "flat" {
            set(v, &["columns".into()], Value::Integer(12));
            set(v, &["rows".into()], Value::Integer(10));
        } else {
            set(v, &["n".into()], Value::Integer(9));
        }
    }
}

const HOSTILE: [f64; 8] = [
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1e308,
    -1.0,
    0.0,
    1e-308,
    1e12,
];

/// All values of all numbers of a page.
fn hostile(page: &Value) -> Vec<(String, Value)> {
    let mut paths = Vec::new();
    numbers(page, &mut Vec::new(), &mut paths);
    assert!(!paths.is_empty());
    let mut out = Vec::new();
    for path in &paths {
        let mut kinds: Vec<Value> = HOSTILE.into_iter().map(Value::Float).collect();
        // A number of something is refused as a fraction; the largest and the least as whole numbers are not.
        kinds.extend([-1, 0, 1 << 20, i64::MAX].map(Value::Integer));
        for v in kinds {
            let mut other = page.clone();
            let name = format!("{} = {v}", path.join("."));
            set(&mut other, path, v);
            out.push((name, other));
        }
    }
    out
}

/// The image's intensities, or what was said.
fn image(path: &Path) -> Result<Vec<f64>, String> {
    let stop = AtomicBool::new(false);
    let watch = Watch {
        progress: &|_| {},
        stop: &stop,
    };
    let sample = Sample::read(path).map_err(|e| e.to_string())?;
    if sample.detector.is_none() {
        let stack = sample
            .stack(path.parent().unwrap())
            .map_err(|e| e.to_string())?;
        let k0 = sample.wave_number().map_err(|e| e.to_string())?;
        return Ok([0.05_f64, 0.3, 2.0]
            .map(|a| greenup_gisaxs::scattering::layers::reflectivity(&stack, k0, a.to_radians()))
            .to_vec());
    }
    let scene = sample
        .scene(path.parent().unwrap())
        .map_err(|e| e.to_string())?;
    let image = scene.image(&watch).map_err(|e| e.to_string())?;
    Ok(image.unwrap())
}

#[test]
fn absurd_numbers_are_refused_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("page.toml");
    let (mut refused, mut computed) = (0, 0);
    for name in ["boxes", "film", "lattice", "paracrystal", "unit_cell"] {
        let text = std::fs::read_to_string(examples().join(format!("{name}.toml"))).unwrap();
        let mut page: Value = toml::from_str::<toml::Table>(&text).unwrap().into();
        small(&mut page);
        for (what, other) in hostile(&page) {
            // Detectors of a million and more pixels are refused by size or take long.
            if what.ends_with(" = 1048576") && what.starts_with("detector") {
                continue;
            }
            std::fs::write(&at, toml::to_string(&other).unwrap()).unwrap();
            match image(&at) {
                Ok(values) => {
                    let bad = values.iter().find(|v| !(**v >= 0.0 && v.is_finite()));
                    assert!(bad.is_none(), "{name}: {what}: {bad:?}");
                    computed += 1;
                }
                Err(said) => {
                    assert!(!said.is_empty());
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 300 && computed > 50, "{refused} {computed}");
}

#[test]
fn the_key_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("page.toml");
    let page = std::fs::read_to_string(examples().join("paracrystal.toml")).unwrap();
    for (from, to, words) in [
        ("a = 20.0", "a = inf", "particles.0.paracrystal.a = inf"),
        (
            "radius = 5.0",
            "radius = 1e12",
            "particles.0.form.radius = 1e12",
        ),
        (
            "to = 2.0",
            "to = 1e12",
            "detector.alpha.to = 1e12: it must lie between -90 and 90 degrees",
        ),
        ("domain = 300.0", "domain = nan", "domain = NaN"),
    ] {
        assert!(page.contains(from));
        std::fs::write(&at, page.replacen(from, to, 1)).unwrap();
        let said = image(&at).unwrap_err();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn shapes_of_any_size_are_solids_or_refused() {
    let shapes = [
        "shape = 'sphere'\nradius = 5.0",
        "shape = 'spheroid'\nradius = 5.0\nheight = 3.0",
        "shape = 'cylinder'\nradius = 5.0\nheight = 3.0",
        "shape = 'cone'\nradius = 5.0\nheight = 3.0\nbase_angle = 60.0",
        "shape = 'pyramid'\nlength_x = 9.0\nwidth_y = 8.0\nheight = 3.0\nbase_angle = 60.0",
        "shape = 'regular_pyramid'\nsides = 6\nedge = 9.0\nheight = 3.0\nbase_angle = 60.0",
        "shape = 'prism'\nsides = 5\nedge = 9.0\nheight = 3.0",
        "shape = 'icosahedron'\nedge = 5.0",
        "shape = 'dodecahedron'\nedge = 5.0",
        "shape = 'truncated_cube'\nedge = 9.0\ncut = 2.0",
        "shape = 'truncated_sphere'\nradius = 5.0\nheight = 6.0\nbelow = 1.0",
        "shape = 'hemi_ellipsoid'\nradius = 5.0\nheight = 3.0",
    ];
    for text in shapes {
        let page: Value = toml::from_str::<toml::Table>(text).unwrap().into();
        let whole: Shape = page.clone().try_into().unwrap();
        assert!(whole.form_factor(Path::new(".")).is_ok(), "{text}");
        for (what, other) in hostile(&page) {
            let Ok(shape) = toml::from_str::<Shape>(&toml::to_string(&other).unwrap()) else {
                continue;
            };
            if let Ok(form) = shape.form_factor(Path::new(".")) {
                let v = form.volume();
                assert!(v >= 0.0 && v.is_finite(), "{text}: {what}: {v}");
            }
        }
    }
}
