//! Scenes against each other: what is the same sample must give the same image.

use greenup_gisaxs::mesh_form_factor::Watch;
use greenup_gisaxs::sample::Sample;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A page with this detector and these particles, in an absorbing film.
fn page(detector: &str, particles: &str) -> String {
    format!(
        "[beam]\nwavelength = 0.1\nangle = 0.2\n[detector]\n{detector}\n\
         [materials]\ngold = {{ delta = 3e-5, beta = 2e-6 }}\nglass = {{ delta = 9e-6, beta = 1e-7 }}\n\
         [[layers]]\n[[layers]]\ndelta = 3e-6\nbeta = 2e-7\nthickness = 40.0\nroughness = 0.5\n\
         [[layers]]\ndelta = 6e-6\nbeta = 2e-8\n{particles}"
    )
}

const ANGLES: &str =
    "phi = { from = -1.2, to = 1.3, n = 31 }\nalpha = { from = -0.1, to = 1.7, n = 29 }";
const FLAT: &str =
    "flat = { distance = 1000.0, pixel = 1.1, columns = 37, rows = 31, centre = [17.5, 3.2] }";

fn image(text: &str, dir: &Path) -> Vec<f64> {
    let path = dir.join("page.toml");
    std::fs::write(&path, text).unwrap();
    let progress = |_: u64| {};
    let stop = AtomicBool::new(false);
    Sample::read(&path)
        .unwrap()
        .scene(dir)
        .unwrap()
        .image(&Watch {
            progress: &progress,
            stop: &stop,
        })
        .unwrap()
        .unwrap()
}

/// Largest difference where there is more than a millionth of the largest intensity.
fn off(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let top = a.iter().copied().fold(0.0, f64::max);
    assert!(top > 0.0);
    a.iter()
        .zip(b)
        .filter(|(a, _)| **a > 1e-6 * top)
        .map(|(a, b)| (b / a - 1.0).abs())
        .fold(0.0, f64::max)
}

const BOX_OBJ: &str = "v -4 -6 0\nv 4 -6 0\nv 4 6 0\nv -4 6 0\nv -4 -6 5\nv 4 -6 5\nv 4 6 5\nv -4 6 5\n\
    f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

#[test]
fn a_mesh_is_its_shape_turned_tilted_in_a_film_on_any_detector() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("box.obj"), BOX_OBJ).unwrap();
    let particles = |form: &str| {
        format!(
            "[[particles]]\nform = {form}\nmaterial = 'gold'\nlayer = 1\nheight = 9.0\ndensity = 0.001\n\
             turn = 20.0\ntilt = 35.0\nrotation = -50.0\nat = [1.0, 2.0, 3.0]\n"
        )
    };
    let shape = particles("{ shape = 'box', length_x = 8.0, width_y = 12.0, height = 5.0 }");
    let mesh = particles("{ shape = 'mesh', file = 'box.obj' }");
    for detector in [ANGLES, FLAT] {
        let (a, b) = (
            image(&page(detector, &shape), dir.path()),
            image(&page(detector, &mesh), dir.path()),
        );
        let e = off(&a, &b);
        assert!(e < 2e-6, "{detector}: {e}");
    }
}

#[test]
fn evanescent_waves_differ_along_a_row_of_a_flat_detector() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("box.obj"), BOX_OBJ).unwrap();
    let particles = |form: &str| {
        format!(
            "[[particles]]\nform = {form}\nmaterial = 'gold'\nlayer = 1\nheight = 9.0\ndensity = 0.001\n"
        )
    };
    // No absorption: below the film's critical angle of 0.44° its q_z are purely imaginary.
    let clear = |form: &str| {
        let wide = "flat = { distance = 200.0, pixel = 0.4, columns = 81, rows = 9, centre = [10.0, 0.5] }";
        page(wide, &particles(form))
            .replace("delta = 3e-6\nbeta = 2e-7", "delta = 3e-5\nbeta = 0.0")
    };
    let shape = image(
        &clear("{ shape = 'box', length_x = 8.0, width_y = 12.0, height = 5.0 }"),
        dir.path(),
    );
    let mesh = image(&clear("{ shape = 'mesh', file = 'box.obj' }"), dir.path());
    let e = off(&shape, &mesh);
    assert!(e < 2e-6, "{e}");
}

#[test]
fn parts_shells_and_positions_are_one_sum() {
    let dir = tempfile::tempdir().unwrap();
    // A shell of the core's own material is no shell; two halves are a whole.
    let whole = "[[particles]]\nform = { shape = 'box', length_x = 8.0, width_y = 8.0, height = 6.0 }\n\
        material = 'gold'\nlayer = 1\ndensity = 0.001\n";
    let core = format!(
        "{whole}core = {{ form = {{ shape = 'sphere', radius = 2.0 }}, material = 'gold', at = [0.5, 0.0, 1.0] }}\n"
    );
    let two_halves = "[[particles]]\nform = { shape = 'box', length_x = 8.0, width_y = 8.0, height = 3.0 }\n\
        material = 'gold'\nlayer = 1\ndensity = 0.001\n[[particles.parts]]\n\
        form = { shape = 'box', length_x = 8.0, width_y = 8.0, height = 3.0 }\nmaterial = 'gold'\nat = [0.0, 0.0, 3.0]\n";
    let a = image(&page(ANGLES, whole), dir.path());
    for other in [core.as_str(), two_halves] {
        let e = off(&a, &image(&page(ANGLES, other), dir.path()));
        assert!(e < 1e-9, "{e}");
    }
    // And a real shell is not the same.
    let glass = core.replace(
        "radius = 2.0 }, material = 'gold'",
        "radius = 2.0 }, material = 'glass'",
    );
    assert!(off(&a, &image(&page(ANGLES, &glass), dir.path())) > 0.1);
}

#[test]
fn distributions_average_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    let one = |radius: f64, density: f64, more: &str| {
        format!(
            "[[particles]]\nform = {{ shape = 'sphere', radius = {radius} }}\nmaterial = 'gold'\nlayer = 1\n\
             density = {density}\n{more}"
        )
    };
    // Two points of Gauss's rule on a uniform distribution: the center ± width / √3, half each.
    let spread = one(
        5.0,
        0.001,
        "[[particles.distributions]]\nof = 'form.radius'\nkind = 'uniform'\nwidth = 0.6\nsamples = 2\n",
    );
    let away = 0.6 / 3.0_f64.sqrt();
    let both = one(5.0 - away, 0.0005, "") + one(5.0 + away, 0.0005, "").as_str();
    let e = off(
        &image(&page(ANGLES, &both), dir.path()),
        &image(&page(ANGLES, &spread), dir.path()),
    );
    assert!(e < 1e-9, "{e}");
    // Far apart and at random, the local approximation is the same.
    let local = spread.replace("density = 0.001", "density = 0.001\naverage = 'local'");
    let e = off(
        &image(&page(ANGLES, &both), dir.path()),
        &image(&page(ANGLES, &local), dir.path()),
    );
    assert!(e < 1e-9, "{e}");
}

#[test]
fn transmission_through_air_is_the_form_factor() {
    let dir = tempfile::tempdir().unwrap();
    let text = "mode = 'saxs'\n[beam]\nwavelength = 0.1\nintensity = 2.0\n[detector]\n\
        phi = { from = -1.0, to = 1.0, n = 21 }\nalpha = { from = -1.0, to = 1.0, n = 21 }\n\
        [[particles]]\nform = { shape = 'sphere', radius = 5.0 }\ndelta = 1e-5\ndensity = 0.001\n";
    let a = image(text, dir.path());
    // As far up as down, left as right.
    for r in 0..21 {
        for c in 0..21 {
            let (v, w) = (a[r * 21 + c], a[(20 - r) * 21 + (20 - c)]);
            assert!((v / w - 1.0).abs() < 1e-6, "{r} {c}");
        }
    }
    let k0 = std::f64::consts::TAU / 0.1;
    let pixel = (2.0_f64 / 21.0).to_radians();
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 125.0;
    let contrast: f64 = 2.0 * 1e-5 - 1e-10;
    let forward = 2.0
        * 0.001
        * (k0 * k0 / (4.0 * std::f64::consts::PI) * contrast * volume).powi(2)
        * pixel
        * pixel;
    assert!((a[10 * 21 + 10] / forward - 1.0).abs() < 1e-4);
}
