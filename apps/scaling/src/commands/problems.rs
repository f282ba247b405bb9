//! Sizes and inputs of the cases of a study of scaling.

/// The number of points to try where these do not fit into a GPU.
pub fn fewer(points: usize, gpus: bool) -> Option<usize> {
    let next = points / 5 * 4;
    (gpus && next >= 5_000_000).then_some(next)
}

/// Zones along an edge with about as many unknowns as Q2Q1 with `zones`.
pub fn of_order(zones: usize, order: usize) -> usize {
    match order {
        2 => zones,
        _ => even(2.0 * zones as f64 / order as f64),
    }
}

/// Zones along an edge of a cube with `devices` times the zones of a cube of side `one`: all zones are cubes.
pub fn weak_side(one: usize, devices: usize) -> usize {
    match devices {
        1 => one,
        _ => even(one as f64 * (devices as f64).cbrt()),
    }
}

/// The nearest even number, so that a cube is cut into equal parts.
fn even(x: f64) -> usize {
    (2 * (0.5 * x).round() as usize).max(2)
}

/// Arguments of a Sedov problem.
pub fn sedov(side: usize, order: usize, steps: usize) -> String {
    format!(
        "run --problem 1 --mesh {side}x{side}x{side} --refine 0 --order {order} --steps {steps} --t-final 10 --json"
    )
}

/// Arguments that write a mesh, in a box small enough for as few triangles.
pub fn blend(triangles: usize, file: &str) -> Vec<String> {
    // A box of 200 nm has at least 549,040.
    let edge = 200.0 * (triangles as f64 / (4.0 * 549_040.0)).cbrt();
    let edge = edge.clamp(20.0, 200.0);
    format!(
        "mesh bicontinuous --triangles {triangles} --size {edge:.1} {edge:.1} {edge:.1} -o {file}"
    )
    .split(' ')
    .map(str::to_owned)
    .collect()
}

/// A sample whose particles are a mesh.
pub fn scene(pixels: usize) -> String {
    format!(
        "background = 0.5\n[beam]\nwavelength = 0.1\nangle = 0.2\nintensity = 1e9\n[detector]\n\
         phi = {{ from = -1.2, to = 1.3, n = {pixels} }}\nalpha = {{ from = -0.1, to = 1.7, n = {pixels} }}\n\
         [[layers]]\n[[layers]]\ndelta = 6e-6\nbeta = 2e-8\n[[particles]]\n\
         form = {{ shape = \"mesh\", file = \"image.stl\", scale = 1.0 }}\ndelta = 3e-5\nbeta = 2e-6\ndensity = 0.002\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_cubes_have_nearly_as_many_zones_for_each_device() {
        for one in [12, 40, 64, 126] {
            for devices in [1, 2, 4, 8, 16] {
                let side = weak_side(one, devices) as f64;
                let each = side.powi(3) / devices as f64 / (one as f64).powi(3);
                assert!((each - 1.0).abs() < 0.2, "{one} {devices} {each}");
            }
        }
        assert_eq!([1, 2, 4, 8].map(|n| weak_side(64, n)), [64, 80, 102, 128]);
        assert_eq!(
            (of_order(126, 2), of_order(126, 3), of_order(2, 3)),
            (126, 84, 2)
        );
    }

    #[test]
    fn meshes_of_few_triangles_have_a_small_box() {
        let size = |n: usize| blend(n, "x.stl")[5].clone();
        assert_eq!(
            (size(7_500_000), size(2000)),
            ("200.0".into(), "20.0".into())
        );
        assert_eq!(
            (fewer(100_000_000, true), fewer(6_000_000, true)),
            (Some(80_000_000), None)
        );
        assert_eq!(fewer(100_000_000, false), None);
    }
}
