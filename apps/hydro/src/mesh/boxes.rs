//! Boxes of zones, and the built-in meshes.

use super::{Curved, Mesh, Place, face};
use crate::fem::element::{Shape, along};
use hashbrown::HashMap;

/// Names of the built-in meshes.
pub const NAMES: [&str; 15] = [
    "segment01",
    "square01_quad",
    "square01_tri",
    "cube01_hex",
    "rectangle01_quad",
    "box01_hex",
    "square_gresho",
    "rt2D",
    "saltzman01_quad",
    "cube_12_hex",
    "cube_24_hex",
    "cube_211_hex",
    "cube_311_hex",
    "cube_522_hex",
    "cube_922_hex",
];

/// Coordinates of the faces of a built-in box along each direction; `None` for an unknown name.
pub fn faces(name: &str) -> Option<Vec<Vec<f64>>> {
    let even = |from: f64, to: f64, n: usize| -> Vec<f64> {
        (0..=n)
            .map(|i| from + (to - from) * i as f64 / n as f64)
            .collect()
    };
    let unit = even(0.0, 1.0, 2);
    Some(match name {
        "segment01" => vec![unit],
        "square01_quad" => vec![unit.clone(), unit],
        "cube01_hex" => vec![unit.clone(), unit.clone(), unit],
        "rectangle01_quad" => vec![even(0.0, 7.0, 7), even(0.0, 3.0, 3)],
        "box01_hex" => vec![
            vec![0.0, 1.0, 3.0, 5.0, 7.0],
            even(0.0, 3.0, 2),
            even(0.0, 3.0, 2),
        ],
        "square_gresho" => vec![even(-0.5, 0.5, 2), even(-0.5, 0.5, 2)],
        "rt2D" => vec![even(0.0, 0.5, 1), even(-1.0, 1.0, 4)],
        // Cubes for scaling studies with unequal zone counts. As in the public suite, sides are 1.2 or 1, and ninths
        // have eight digits.
        "cube_12_hex" => [3, 2, 2].map(|n| even(0.0, 1.2, n)).to_vec(),
        "cube_24_hex" => [4, 3, 2].map(|n| even(0.0, 1.2, n)).to_vec(),
        "cube_211_hex" => [2, 1, 1].map(|n| even(0.0, 1.2, n)).to_vec(),
        "cube_311_hex" => [3, 1, 1].map(|n| even(0.0, 1.2, n)).to_vec(),
        "cube_522_hex" => [5, 2, 2].map(|n| even(0.0, 1.0, n)).to_vec(),
        "cube_922_hex" => [9, 2, 2]
            .map(|n| {
                let mut f = even(0.0, 1.0, n);
                for x in &mut f {
                    *x = (*x * 1e8).round() / 1e8;
                }
                f
            })
            .to_vec(),
        "saltzman01_quad" => vec![even(0.0, 1.0, 10), even(0.0, 0.1, 1)],
        // nx × ny × nz zones of the unit box: 48x48, 12x12x12.
        _ => {
            let counts: Option<Vec<usize>> = name.split('x').map(|n| n.parse().ok()).collect();
            counts
                .filter(|c| c.len() <= 3 && c.iter().all(|n| (1..=4096).contains(n)))?
                .into_iter()
                .map(|n| even(0.0, 1.0, n))
                .collect()
        }
    })
}

/// The faces of a box that is refined uniformly `refine` times.
pub fn refined(mut faces: Vec<Vec<f64>>, refine: usize) -> Vec<Vec<f64>> {
    for f in &mut faces {
        for _ in 0..refine {
            let mut finer = vec![f[0]];
            for w in f.windows(2) {
                finer.extend([0.5 * (w[0] + w[1]), w[1]]);
            }
            *f = finer;
        }
    }
    faces
}

/// Shape of the zones of a box.
pub fn shape(dim: usize) -> Shape {
    [Shape::Segment, Shape::Quad, Shape::Hex][dim - 1]
}

/// A box of zones whose faces lie at these coordinates, with walls on all sides.
pub fn between(faces: &[Vec<f64>]) -> Mesh {
    let vertices: usize = faces.iter().map(Vec::len).product();
    let zones: usize = faces.iter().map(|f| f.len() - 1).product();
    of_zones(faces, 0..zones, 0..vertices, &|v| v as u32)
}

/// Some zones of such a box, ascending: numbers of zones and vertices are those of the whole by order.
pub fn part(faces: &[Vec<f64>], zones: &[u32]) -> Mesh {
    let zones = zones.iter().map(|z| *z as usize);
    let (lines, counts) = sizes(faces);
    let mut vertices: Vec<usize> = (zones.clone())
        .flat_map(|z| corners(z, &lines, &counts))
        .collect();
    vertices.sort_unstable();
    vertices.dedup();
    let local = |v: usize| vertices.partition_point(|x| *x < v) as u32;
    of_zones(faces, zones, vertices.iter().copied(), &local)
}

/// Numbers of faces and of zones along each direction.
fn sizes(faces: &[Vec<f64>]) -> (Vec<usize>, Vec<usize>) {
    let lines: Vec<usize> = faces.iter().map(Vec::len).collect();
    let counts = lines.iter().map(|n| n - 1).collect();
    (lines, counts)
}

/// Vertices of a zone.
fn corners(z: usize, lines: &[usize], counts: &[usize]) -> Vec<usize> {
    let dim = lines.len();
    let strides: Vec<usize> = (0..dim).map(|g| lines[..g].iter().product()).collect();
    let at = along(z, counts);
    let first: usize = at.iter().zip(&strides).map(|(i, s)| i * s).sum();
    let off = |c: usize| -> usize { (0..dim).map(|g| (c >> g & 1) * strides[g]).sum() };
    (0..1 << dim).map(|c| first + off(c)).collect()
}

fn of_zones(
    faces: &[Vec<f64>],
    zones: impl ExactSizeIterator<Item = usize>,
    vertices: impl Iterator<Item = usize>,
    local: &dyn Fn(usize) -> u32,
) -> Mesh {
    let shape = shape(faces.len());
    let (lines, counts) = sizes(faces);
    let vertices = vertices
        .map(|n| {
            let mut x: Place = [0.0; 3];
            for (g, i) in along(n, &lines).into_iter().enumerate() {
                x[g] = faces[g][i];
            }
            x
        })
        .collect();
    let count = zones.len();
    let mut all = Vec::with_capacity(count * shape.corners());
    let mut boundary = HashMap::new();
    for z in zones {
        let begin = all.len();
        all.extend(corners(z, &lines, &counts).into_iter().map(local));
        let at = along(z, &counts);
        for (g, (i, count)) in at.iter().zip(&counts).enumerate() {
            for (side, end) in [(0, 0), (1, count - 1)] {
                if *i == end {
                    let own = &all[begin..];
                    let on = (0..own.len()).filter(|c| c >> g & 1 == side);
                    boundary.insert(face(on.map(|c| own[c])), g as u32 + 1);
                }
            }
        }
    }
    Mesh {
        shape,
        vertices,
        corners: all,
        material: vec![1; count],
        boundary,
        curved: None::<Curved>,
        notes: Vec::new(),
    }
}

/// Name of the built-in mesh of triangles.
pub const TRIANGLES: &str = "square01_tri";

/// The unit square as eight triangles.
pub fn triangles() -> Mesh {
    let square = between(&[vec![0.0, 0.5, 1.0], vec![0.0, 0.5, 1.0]]);
    let mut corners = Vec::new();
    for z in 0..4 {
        let c = square.zone(z);
        corners.extend([c[0], c[1], c[3], c[0], c[3], c[2]]);
    }
    let mut mesh = Mesh {
        shape: Shape::Triangle,
        material: vec![1; 8],
        corners,
        ..square
    };
    mesh.turn_triangles();
    mesh
}
