//! What the input file accepts has an effect on the image, or is refused.

use greenup_gisaxs::mesh_form_factor::Watch;
use greenup_gisaxs::sample::Sample;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use toml::{Table, Value};

const START: &str = "background = 1e-12
beam = { energy = 12400.0, angle = 0.25, intensity = 2.0 }
resolution = { across = 0.3, up = 0.25 }
[materials]
gold = { delta = 3e-5, beta = 2e-6 }
glass = { file = 'glass.csv' }
[[layers]]
name = 'water'
delta = 2.5e-6
beta = 1e-9
[[layers]]
material = 'glass'
thickness = 40.0
roughness = 0.5
[[layers]]
delta = 6e-6
beta = 2e-8
roughness = 0.7
";
const ANGLES: &str = "[detector]\nphi = { from = -1.2, to = 1.3, n = 9 }\nalpha = { from = -0.1, to = 1.7, n = 8 }\n";
const EDGES: &str = "[detector]\nphi = { edges = [-1.0, -0.2, 0.3, 0.9] }\nalpha = { edges = [0.0, 0.1, 0.6, 1.0] }\n";
const FLAT: &str = "[detector.flat]\ndistance = 1000.0\npixel = 3.1\ncolumns = 9\nrows = 8\n\
    centre = [3.5, 1.2]\nnormal = 'beam'\n";
const CELL: &str = "[[particles]]
form = { shape = 'box', length_x = 8.0, width_y = 12.0, height = 5.0 }
material = 'gold'
layer = 1
height = 9.0
density = 0.001
turn = 20.0
tilt = 35.0
rotation = -50.0
at = [1.0, 2.0, 3.0]
average = 'decoupled'
lattice = { a = 20.0, b = 25.0, angle = 75.0, rotation = 10.0, cells = [6, 9] }
core = { form = { shape = 'box', length_x = 3.0, width_y = 2.0, height = 2.0 }, delta = 1e-5, beta = 1e-7, at = [0.5, 0.3, 1.0] }
[[particles.parts]]
form = { shape = 'box', length_x = 3.0, width_y = 4.0, height = 7.0 }
delta = 9e-6
beta = 1e-7
at = [10.0, -4.0, 2.0]
turn = 5.0
tilt = 20.0
rotation = 30.0
[[particles.distributions]]
of = 'form.length_x'
kind = 'gaussian'
width = 0.6
samples = 3
with = ['form.width_y']
[[particles.distributions]]
of = 'lattice.rotation'
kind = 'uniform'
width = 4.0
samples = 3
";
const OTHERS: &str = "[[particles]]
form = { shape = 'sphere', radius = 5.0 }
material = 'glass'
paracrystal = { a = 20.0, b = 24.0, angle = 80.0, rotation = 10.0, spread = [1.5, 1.2], domain = 300.0 }
[[particles]]
form = { shape = 'sphere', radius = 4.0 }
material = 'gold'
density = 0.002
radial = { distance = 20.0, spread = 3.0, domain = 300.0 }
";

fn image(table: &Table, dir: &Path) -> Result<Vec<f64>, String> {
    let scene = Sample::of_table(table.clone())
        .and_then(|s| s.scene(dir))
        .map_err(|e| e.to_string())?;
    let stop = AtomicBool::new(false);
    let watch = Watch {
        progress: &|_| {},
        stop: &stop,
    };
    scene
        .image(&watch)
        .map(Option::unwrap)
        .map_err(|e| e.to_string())
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let rows = |d: &str| format!("energy,delta,beta\n10000,{d},2e-7\n15000,2e-6,1.25e-8\n");
    std::fs::write(dir.path().join("glass.csv"), rows("4e-6")).unwrap();
    std::fs::write(dir.path().join("other.csv"), rows("8e-6")).unwrap();
    dir
}

/// All paths to values that are no tables.
fn leaves(value: &Value, path: &str, out: &mut Vec<String>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        _ => format!("{path}.{key}"),
    };
    match value {
        Value::Table(t) => t.iter().for_each(|(k, v)| leaves(v, &below(k), out)),
        Value::Array(a) => {
            let numbered = a.iter().enumerate();
            numbered.for_each(|(n, v)| leaves(v, &below(&n.to_string()), out));
        }
        _ => out.push(path.to_owned()),
    }
}

fn at<'a>(value: &'a mut Value, path: &str) -> &'a mut Value {
    path.split('.').fold(value, |v, key| match v {
        Value::Table(t) => t.get_mut(key).unwrap(),
        Value::Array(a) => &mut a[key.parse::<usize>().unwrap()],
        _ => panic!("{path}"),
    })
}

/// Another value that the key accepts.
fn other(value: &Value) -> Value {
    match value {
        Value::Float(x) => Value::Float(x * 1.07 + if *x == 0.0 { 0.01 } else { 0.0 }),
        Value::Integer(n) => Value::Integer(n + 1),
        Value::String(s) => Value::String(
            match s.as_str() {
                "gold" => "glass",
                "glass" => "gold",
                "glass.csv" => "other.csv",
                "beam" => "sample",
                "decoupled" => "local",
                "gaussian" => "uniform",
                "uniform" => "cauchy",
                "form.length_x" => "form.height",
                "form.width_y" => "core.form.width_y",
                "lattice.rotation" => "lattice.angle",
                "box" | "cylinder" | "sphere" | "water" => s,
                _ => panic!("{s}"),
            }
            .to_owned(),
        ),
        _ => panic!("{value}"),
    }
}

/// Whether two images differ, also where it matters least.
fn differ(a: &[f64], b: &[f64]) -> bool {
    a.len() != b.len() || a.iter().zip(b).any(|(a, b)| (a / b - 1.0).abs() > 1e-9)
}

#[test]
fn each_key_changes_the_image() {
    let dir = folder();
    let mut seen = 0;
    for text in [
        format!("{START}{ANGLES}{CELL}"),
        format!("{START}{EDGES}{OTHERS}"),
        format!("{START}{FLAT}{OTHERS}")
            .replace("energy = 12400.0", "wavelength = 0.1")
            .replace("across = 0.3, up = 0.25", "across = 2.0, up = 1.9"),
    ] {
        let whole: Table = toml::from_str(&text).unwrap();
        let plain = image(&whole, dir.path()).unwrap();
        let mut paths = Vec::new();
        leaves(&Value::Table(whole.clone()), "", &mut paths);
        for path in paths {
            let mut changed = Value::Table(whole.clone());
            let place = at(&mut changed, &path);
            let new = other(place);
            // Names of layers are for messages; other shapes have other keys, below.
            if new == *place {
                continue;
            }
            *place = new;
            match image(changed.as_table().unwrap(), dir.path()) {
                Ok(now) => assert!(differ(&plain, &now), "{path} is accepted and ignored"),
                Err(e) => assert!(
                    ["particles.0.layer", "materials", "particles"]
                        .iter()
                        .any(|p| path.starts_with(p)),
                    "{path}: {e}"
                ),
            }
            seen += 1;
        }
    }
    assert!(seen > 120, "{seen}");
    for (mode, layers) in [("born", START), ("saxs", "beam = { wavelength = 0.1 }\n")] {
        let text = format!(
            "mode = '{mode}'\n{layers}{EDGES}[[particles]]\nform = {{ shape = 'sphere', radius = 5.0 }}\ndelta = 1e-5\ndensity = 0.01\n"
        );
        let dwba = text.replace(mode, "dwba").replace(
            "beam = { wavelength = 0.1 }",
            "beam = { wavelength = 0.1, angle = 0.2 }\nlayers = [{}, {}]",
        );
        let of = |text: &str| image(&toml::from_str(text).unwrap(), dir.path()).unwrap();
        assert!(differ(&of(&dwba), &of(&text)), "{mode}");
    }
}

#[test]
fn each_key_of_each_shape_changes_the_image() {
    let dir = folder();
    for form in [
        "shape = 'sphere', radius = 5.0",
        "shape = 'spheroid', radius = 5.0, height = 7.0",
        "shape = 'box', length_x = 8.0, width_y = 12.0, height = 5.0",
        "shape = 'cylinder', radius = 5.0, height = 8.0",
        "shape = 'cone', radius = 5.0, height = 6.0, base_angle = 70.0",
        "shape = 'pyramid', length_x = 10.0, width_y = 12.0, height = 5.0, base_angle = 60.0",
        "shape = 'regular_pyramid', sides = 5, edge = 8.0, height = 4.0, base_angle = 60.0",
        "shape = 'prism', sides = 3, edge = 8.0, height = 4.0",
        "shape = 'icosahedron', edge = 5.0",
        "shape = 'dodecahedron', edge = 4.0",
        "shape = 'truncated_cube', edge = 8.0, cut = 2.0",
        "shape = 'truncated_sphere', radius = 5.0, height = 6.0, below = 1.0",
        "shape = 'hemi_ellipsoid', radius = 5.0, height = 6.0",
    ] {
        let text = format!(
            "{START}{EDGES}[[particles]]\nform = {{ {form} }}\nmaterial = 'gold'\ndensity = 0.001\n"
        );
        let whole: Table = toml::from_str(&text).unwrap();
        let plain = image(&whole, dir.path()).unwrap();
        let mut paths = Vec::new();
        leaves(&Value::Table(whole.clone()), "", &mut paths);
        let of_form = paths
            .iter()
            .filter(|p| p.contains(".form.") && !p.ends_with("shape"));
        for path in of_form {
            let mut changed = Value::Table(whole.clone());
            let place = at(&mut changed, path);
            *place = other(place);
            let now = image(changed.as_table().unwrap(), dir.path()).unwrap();
            assert!(differ(&plain, &now), "{form}: {path}");
        }
    }
}

/// A distribution of each number of particles changes the image, or is refused with the reason.
#[test]
fn each_path_of_a_distribution_changes_the_image() {
    let dir = folder();
    let mut refused = Vec::new();
    let cell = CELL.split("[[particles.distributions]]").next().unwrap();
    for (text, n) in [
        (format!("{START}{EDGES}{cell}"), 0),
        (format!("{START}{EDGES}{OTHERS}"), 0),
        (format!("{START}{EDGES}{OTHERS}"), 1),
    ] {
        let whole: Table = toml::from_str(&text).unwrap();
        let plain = image(&whole, dir.path()).unwrap();
        let mut paths = Vec::new();
        leaves(&whole["particles"][n], "", &mut paths);
        for path in paths {
            let mut changed = Value::Table(whole.clone());
            let own = &mut changed["particles"][n];
            let width = match at(own, &path) {
                Value::Float(x) => 0.1 * x.abs(),
                Value::Integer(_) => 0.5,
                _ => continue,
            };
            let d: Table = toml::from_str(&format!(
                "distributions = [{{ of = '{path}', kind = 'gaussian', width = {width:?}, samples = 3 }}]"
            ))
            .unwrap();
            own.as_table_mut().unwrap().extend(d);
            match image(changed.as_table().unwrap(), dir.path()) {
                Ok(now) => assert!(differ(&plain, &now), "{path} is accepted and ignored"),
                Err(e) => {
                    assert!(e.contains(&path), "{e}");
                    refused.push(path);
                }
            }
        }
    }
    refused.sort();
    refused.dedup();
    let whole = ["density", "lattice.cells.0", "lattice.cells.1", "layer"];
    assert_eq!(refused, whole);
}

/// The mean of a distribution of an arrangement is the sum of populations.
#[test]
fn arrangements_average_as_populations_by_hand() {
    let dir = folder();
    let start = format!("{START}{EDGES}").replace("intensity = 2.0", "intensity = 1.0");
    let away = 0.6 / 3.0_f64.sqrt();
    let one = |key: &str, x: f64, radius: f64, density: f64, more: &str| {
        let (rotation, a) = if key == "a" { (10.0, x) } else { (x, 20.0) };
        format!(
            "[[particles]]\nform = {{ shape = 'sphere', radius = {radius} }}\nmaterial = 'gold'\ndensity = {density}\n\
             paracrystal = {{ a = {a}, b = 24.0, angle = 80.0, rotation = {rotation}, spread = [1.5, 1.2], domain = 300.0 }}\n{more}"
        )
    };
    let spread = |of: &str, more: &str| {
        format!(
            "[[particles.distributions]]\nof = '{of}'\nkind = 'uniform'\nwidth = 0.6\nsamples = 2\n{more}"
        )
    };
    let of = |text: &str| {
        image(
            &toml::from_str(&format!("{start}{text}")).unwrap(),
            dir.path(),
        )
        .unwrap()
    };
    for (key, x) in [("a", 20.0), ("rotation", 10.0)] {
        let mean = one(
            key,
            x,
            5.0,
            0.001,
            &spread(&format!("paracrystal.{key}"), ""),
        );
        let both = [x - away, x + away]
            .map(|x| one(key, x, 5.0, 0.0005, ""))
            .concat();
        let close = of(&mean)
            .iter()
            .zip(of(&both))
            .all(|(a, b)| (a / b - 1.0).abs() < 1e-9);
        assert!(close, "{key}");
    }
    // A distribution of both: each value is a population.
    let mean = one(
        "a",
        20.0,
        5.0,
        0.001,
        &spread("paracrystal.a", "with = ['form.radius']\n"),
    );
    let radius = |a: f64| 5.0 * a / 20.0;
    let both = [20.0 - away, 20.0 + away]
        .map(|a| one("a", a, radius(a), 0.0005, ""))
        .concat();
    let close = of(&mean)
        .iter()
        .zip(of(&both))
        .all(|(a, b)| (a / b - 1.0).abs() < 1e-9);
    assert!(close);
}

#[test]
fn what_has_no_effect_or_no_image_is_refused() {
    let dir = folder();
    let plain = format!("{START}{EDGES}{OTHERS}");
    let with = |from: &str, to: &str| {
        assert!(plain.contains(from), "{from}");
        image(
            &toml::from_str(&plain.replacen(from, to, 1)).unwrap(),
            dir.path(),
        )
        .unwrap_err()
    };
    let sphere = "form = { shape = 'sphere', radius = 5.0 }\nmaterial = 'glass'\n";
    let distribution = |d: &str| format!("distributions = [{{ {d} }}]\n{sphere}");
    let core = |shell: &str, radius: f64, more: &str| {
        format!(
            "{more}\n{}core = {{ form = {{ shape = 'sphere', radius = {radius} }}, material = 'gold' }}\n",
            sphere.replace("'sphere', radius = 5.0", shell)
        )
    };
    let shrunk =
        "distributions = [{ of = 'form.radius', kind = 'uniform', width = 2.0, samples = 3 }]";
    let grown =
        "distributions = [{ of = 'core.form.radius', kind = 'uniform', width = 2.0, samples = 3 }]";
    for (from, to, words) in [
        (
            "[1.5, 1.2], domain = 300.0",
            "[0.0, 0.0]",
            "Bragg peaks of zero width",
        ),
        (
            "[1.5, 1.2], domain = 300.0",
            "[1.5, 0.0]",
            "paracrystal.spread.1 = 0",
        ),
        (
            "spread = 3.0, domain = 300.0",
            "spread = 0.0, domain = inf",
            "radial.spread = 0",
        ),
        (
            "beta = 1e-9\n",
            "beta = 1e-9\nroughness = 1.0\n",
            "the first layer has none",
        ),
        (
            "beta = 1e-9\n",
            "beta = 1e-9\nthickness = 1.0\n",
            "the first layer has no end",
        ),
        (
            "roughness = 0.7\n",
            "thickness = 7.0\n",
            "the last layer has no end",
        ),
        ("background", "mode = 'saxs'\nbackground", "one medium"),
        (
            sphere,
            &distribution("of = 'form.radius', kind = 'uniform', width = 1.0, samples = 1"),
            "2 to 10000",
        ),
        (
            sphere,
            &(distribution("of = 'height', kind = 'lognormal', width = 1.0") + "height = 0.0\n"),
            "about 0 are 0",
        ),
        (
            sphere,
            &distribution("of = 'orientation', kind = 'isotropic', width = 1.0, samples = 2"),
            "no width",
        ),
        (
            sphere,
            &distribution("of = 'distributions.0.width', kind = 'uniform', width = 1.0"),
            "one value",
        ),
        (
            sphere,
            &core("'sphere', radius = 3.0", 10.0, ""),
            "a core of x -10 to 10, y -10 to 10, z 0 to 20 nm is not inside of its shell of x -3 to 3, y -3 to 3, z 0 to 6 nm",
        ),
        (
            sphere,
            &core("'sphere', radius = 5.0", 4.0, shrunk),
            "is not inside of its shell of x -3.450807 to 3.450807",
        ),
        (
            sphere,
            &core("'sphere', radius = 5.0", 4.0, grown),
            "a core of x -5.549193 to 5.549193",
        ),
        // Within the box around its shell, whose side is 4.16 nm from the centre of the core.
        (
            sphere,
            &core(
                "'cone', radius = 5.0, height = 9.0, base_angle = 80.0",
                4.4,
                "",
            ),
            "is not inside of its shell",
        ),
        (
            sphere,
            &(sphere.to_owned()
                + "parts = [{ form = { shape = 'sphere', radius = 5.0 }, material = 'gold' }]\n"),
            "the first solid and parts.0 are the same solid at the same place",
        ),
        (
            sphere,
            &(sphere.to_owned() + "layer = 2\n"),
            "no particle is in it",
        ),
        (
            sphere,
            &(sphere.to_owned() + "height = -12.0\n"),
            "no particle is in it",
        ),
    ] {
        let said = with(from, to);
        assert!(said.contains(words), "{to}: {said}");
    }
    let said = with(
        sphere,
        "form = { shape = 'cylinder', radius = 3.0, height = 9.0 }\nmaterial = 'glass'\ntilt = 30.0\nheight = 1.0\n",
    );
    assert!(
        said.contains("reaches from -0.5 to") && said.contains("interface at 0 nm"),
        "{said}"
    );

    // Cores up to the surface, and solids that touch.
    let notes = |to: &str| {
        let table = toml::from_str(&plain.replacen(sphere, to, 1)).unwrap();
        let scene = Sample::of_table(table).and_then(|s| s.scene(dir.path()));
        scene.unwrap().notes.concat()
    };
    let part = |x: f64| {
        format!(
            "{sphere}parts = [{{ form = {{ shape = 'sphere', radius = 3.0 }}, material = 'gold', at = [{x}, 0.0, 2.0] }}]\n"
        )
    };
    for good in [
        core("'sphere', radius = 5.0", 5.0, ""),
        core("'cylinder', radius = 4.0, height = 8.0", 4.0, ""),
        part(8.0),
    ] {
        assert!(!notes(&good).contains("parts.0 overlap"), "{good}");
    }
    let said = notes(&part(7.0));
    assert!(
        said.contains("the first solid and parts.0 overlap"),
        "{said}"
    );
}
