//! Faults of mesh files: unused vertices, positions that jump between zones, joined sides, old formats.

use super::{Bounds, Mesh};

/// Corners of 3 × 3 zones in MFEM's order, by the number of the vertex in a column and a row.
fn zones(vertex: impl Fn(usize, usize) -> usize) -> String {
    let mut out = String::from("elements\n9\n");
    for n in 0..9 {
        let (i, j) = (n % 3, n / 3);
        let [a, b, c, d] =
            [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| vertex(i, j));
        out.push_str(&format!("1 3 {a} {b} {c} {d}\n"));
    }
    out
}

/// Faces of the boundary: bottom and top, and left and right where these are sides.
fn sides(vertex: impl Fn(usize, usize) -> usize, left_and_right: bool, bottom: bool) -> String {
    let mut all = Vec::new();
    for n in 0..3 {
        if bottom {
            for j in [0, 3] {
                all.push(format!("2 1 {} {}\n", vertex(n, j), vertex(n + 1, j)));
            }
        }
        if left_and_right {
            for i in [0, 3] {
                all.push(format!("1 1 {} {}\n", vertex(i, n), vertex(i, n + 1)));
            }
        }
    }
    format!("boundary\n{}\n{}", all.len(), all.concat())
}

/// A square of side 3 whose vertices have numbers from `first` on; `more` are unused ones before and behind them.
fn square(first: usize, (before, behind): (&str, &str), nodes: bool) -> String {
    let vertex = |i: usize, j: usize| first + 4 * j + i;
    let own: String = (0..16)
        .map(|n| format!("{} {} 0\n", n % 4, n / 4))
        .collect();
    let places = format!("{before}{own}{behind}");
    let count = places.lines().count();
    let coordinates = if nodes {
        format!(
            "vertices\n{count}\nnodes\nFiniteElementSpace\nFiniteElementCollection: Linear\nVDim: 3\nOrdering: 1\n{places}"
        )
    } else {
        format!("vertices\n{count}\n3\n{places}")
    };
    format!(
        "MFEM mesh v1.0\ndimension\n2\n{}{}{coordinates}",
        zones(vertex),
        sides(vertex, true, true)
    )
}

#[test]
fn vertices_of_no_zone_do_not_count() {
    let want = Mesh::parse("a.mesh", &square(0, ("", ""), false)).unwrap();
    assert_eq!(want.vertices.len(), 16);
    for nodes in [false, true] {
        for (first, before, behind) in [
            (0, "", "100 100 0\n"),
            (0, "", "1 1 7\n"),
            (2, "-5 0 0\n0 0 3\n", ""),
            (1, "0 0 -1\n", "9 9 9\n9 9 9\n"),
        ] {
            let text = square(first, (before, behind), nodes);
            let mesh = Mesh::parse("b.mesh", &text).unwrap();
            assert_eq!(mesh, want, "{text}");
            let b = Bounds {
                dim: 2,
                low: [0.0; 3],
                high: [3.0, 3.0, 0.0],
            };
            assert_eq!(mesh.bounds(), b);
        }
    }
    // A zone that leaves the plane still does.
    let tilted = square(0, ("", ""), false).replace("\n1 1 0\n", "\n1 1 1\n");
    let e = Mesh::parse("c.mesh", &tilted).unwrap_err().to_string();
    assert!(e.contains("leaves its plane"), "{e}");
}

/// The square with nodes of each zone alone, moved by `shift` of the zone; sides are joined where there are no faces.
fn alone(
    order: usize,
    (joined_x, joined_y): (bool, bool),
    shift: impl Fn(usize, usize) -> f64,
) -> String {
    let side = |joined: bool| if joined { 3 } else { 4 };
    let (nx, ny) = (side(joined_x), side(joined_y));
    let vertex = |i: usize, j: usize| (j % ny) * nx + i % nx;
    let line: &[f64] = if order == 1 {
        &[0.0, 1.0]
    } else {
        &[0.0, 0.5, 1.0]
    };
    let mut nodes = String::new();
    for n in 0..9 {
        let (i, j) = (n % 3, n / 3);
        for y in line {
            for x in line {
                let x = i as f64 + x + shift(i, j);
                nodes.push_str(&format!("{x} {}\n", j as f64 + y));
            }
        }
    }
    format!(
        "MFEM mesh v1.0\ndimension\n2\n{}{}vertices\n{}\nnodes\nFiniteElementSpace\nFiniteElementCollection: L2_T1_2D_P{order}\nVDim: 2\nOrdering: 1\n{nodes}",
        zones(vertex),
        sides(vertex, !joined_x, !joined_y),
        nx * ny
    )
}

#[test]
fn positions_that_jump_between_zones_are_refused() {
    for order in [1, 2] {
        let whole = Mesh::parse("a.mesh", &alone(order, (false, false), |_, _| 0.0)).unwrap();
        assert_eq!(whole.bounds().range(0), (0.0, 3.0));
        // Rounding of the program that made it.
        let text = alone(order, (false, false), |i, _| 1e-9 * i as f64);
        assert!(Mesh::parse("b.mesh", &text).is_ok());
        let text = alone(order, (false, false), |i, _| {
            0.1 * f64::from(u8::from(i == 2))
        });
        let e = Mesh::parse("c.mesh", &text).unwrap_err().to_string();
        assert!(
            e.contains("zones [1, 2]") && e.contains("1.000e-1 away"),
            "{e}"
        );
    }
}

#[test]
fn periodic_meshes_are_refused_as_periodic() {
    for order in [1, 2] {
        for joined in [(true, false), (false, true), (true, true)] {
            let text = alone(order, joined, |_, _| 0.0);
            let e = Mesh::parse("a.mesh", &text).unwrap_err().to_string();
            assert!(e.contains("the mesh is periodic"), "{joined:?}: {e}");
        }
    }
    let line = "MFEM mesh v1.0\ndimension\n1\nelements\n3\n1 1 0 1\n1 1 1 2\n1 1 2 0\nboundary\n0\nvertices\n3\nnodes\nFiniteElementSpace\nFiniteElementCollection: L2_T1_1D_P1\nVDim: 1\nOrdering: 1\n0\n1\n1\n2\n2\n3\n";
    let e = Mesh::parse("line.mesh", line).unwrap_err().to_string();
    assert!(e.contains("the mesh is periodic"), "{e}");
}

#[test]
fn the_first_format_of_gmsh_is_named() {
    let text = "$NOD\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$ENDNOD\n$ELM\n1\n1 3 1 1 4 1 2 3 4\n$ENDELM\n";
    let e = Mesh::parse("old.msh", text).unwrap_err().to_string();
    assert!(e.contains("format 1") && e.contains("2.2 and 4.1"), "{e}");
}
