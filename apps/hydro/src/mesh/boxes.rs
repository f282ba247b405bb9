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

/// A box of zones with these faces, refined uniformly `refine` times.
pub fn refined(mut faces: Vec<Vec<f64>>, refine: usize) -> Mesh {
    for f in &mut faces {
        for _ in 0..refine {
            let mut finer = vec![f[0]];
            for w in f.windows(2) {
                finer.extend([0.5 * (w[0] + w[1]), w[1]]);
            }
            *f = finer;
        }
    }
    between(&faces)
}

/// Shape of the zones of a box.
pub fn shape(dim: usize) -> Shape {
    [Shape::Segment, Shape::Quad, Shape::Hex][dim - 1]
}

/// A box of zones whose faces lie at these coordinates, with walls on all sides.
pub fn between(faces: &[Vec<f64>]) -> Mesh {
    let dim = faces.len();
    let shape = shape(dim);
    let lines: Vec<usize> = faces.iter().map(Vec::len).collect();
    let counts: Vec<usize> = lines.iter().map(|n| n - 1).collect();
    let vertices = (0..lines.iter().product())
        .map(|n| {
            let mut x: Place = [0.0; 3];
            for (g, i) in along(n, &lines).into_iter().enumerate() {
                x[g] = faces[g][i];
            }
            x
        })
        .collect();
    let strides: Vec<usize> = (0..dim).map(|g| lines[..g].iter().product()).collect();
    let zones: usize = counts.iter().product();
    let mut corners = Vec::with_capacity(zones * shape.corners());
    let mut boundary = HashMap::new();
    for z in 0..zones {
        let at = along(z, &counts);
        let first: usize = at.iter().zip(&strides).map(|(i, s)| i * s).sum();
        let begin = corners.len();
        for c in 0..shape.corners() {
            let off: usize = (0..dim).map(|g| (c >> g & 1) * strides[g]).sum();
            corners.push((first + off) as u32);
        }
        for (g, (i, count)) in at.iter().zip(&counts).enumerate() {
            for (side, end) in [(0, 0), (1, count - 1)] {
                if *i == end {
                    let own = &corners[begin..];
                    let on = (0..own.len()).filter(|c| c >> g & 1 == side);
                    boundary.insert(face(on.map(|c| own[c])), g as u32 + 1);
                }
            }
        }
    }
    Mesh {
        shape,
        vertices,
        corners,
        material: vec![1; zones],
        boundary,
        curved: None::<Curved>,
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
