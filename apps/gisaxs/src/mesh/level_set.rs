//! The surface of the part of a box where a function is positive, by marching tetrahedra.
//!
//! Each cell of a grid is cut into the six tetrahedra around its diagonal (Kuhn), which match across cells. A layer of
//! points outside the box is negative; edges to it are cut at their end in the box, so that the faces of the box close the
//! surface exactly, and what degenerates by it is left out.

use super::Mesh;

/// A grid over a box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Its lowest corner, nm.
    pub origin: [f64; 3],
    /// Edges of the cells, nm.
    pub step: [f64; 3],
    /// Number of cells along each axis.
    pub cells: [usize; 3],
}

impl Grid {
    /// Position of a point along an axis, nm.
    pub fn at(&self, axis: usize, i: usize) -> f64 {
        self.origin[axis] + self.step[axis] * i as f64
    }

    /// Number of points of a plane of constant z.
    fn plane(&self) -> usize {
        (self.cells[0] + 1) * (self.cells[1] + 1)
    }
}

/// Corners of the tetrahedra of a cell, bit k for the upper end of axis k; all have positive volume.
const TETRAHEDRA: [[usize; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 5, 1, 7],
    [0, 3, 2, 7],
    [0, 2, 6, 7],
    [0, 4, 5, 7],
    [0, 6, 4, 7],
];
/// No vertex yet.
const NONE: u32 = u32::MAX;
/// Least distance of a cut from the ends of its edge, over its length: no triangle is without area.
const END: f64 = 1e-3;

/// Values of two planes of points with the layer outside, and their vertices.
struct Slab<'a> {
    grid: &'a Grid,
    /// Number of points along x and y, with those outside.
    wide: [usize; 2],
    /// Number of the lower plane; 0 is outside.
    low: usize,
    /// Values of the lower and the upper plane; negative infinity outside.
    values: [Vec<f32>; 2],
    /// Vertices of the points of both planes: at the point itself, then on the edge to each of the points above it.
    ids: [Vec<[u32; 8]>; 2],
    mesh: Mesh,
}

impl<'a> Slab<'a> {
    fn new(grid: &'a Grid) -> Self {
        let wide = [grid.cells[0] + 3, grid.cells[1] + 3];
        let n = wide[0] * wide[1];
        Self {
            grid,
            wide,
            low: 0,
            values: [(); 2].map(|()| vec![f32::NEG_INFINITY; n]),
            ids: [(); 2].map(|()| vec![[NONE; 8]; n]),
            mesh: Mesh::default(),
        }
    }

    /// Replaces the upper plane by values of the points in the box; none: outside.
    fn fill(&mut self, plane: Option<&[f32]>) {
        let [inner, _, _] = self.grid.cells.map(|n| n + 1);
        self.values[1].fill(f32::NEG_INFINITY);
        for (row, of) in plane.into_iter().flat_map(|p| p.chunks(inner)).enumerate() {
            let at = (row + 1) * self.wide[0] + 1;
            self.values[1][at..at + inner].copy_from_slice(of);
        }
    }

    /// Makes the upper plane the lower one.
    fn rise(&mut self) {
        self.values.swap(0, 1);
        self.ids.swap(0, 1);
        self.ids[1].fill([NONE; 8]);
        self.low += 1;
    }

    /// Number of a point of the cell at `at` within its plane.
    fn point(&self, at: usize, corner: usize) -> usize {
        at + (corner & 1) + (corner >> 1 & 1) * self.wide[0]
    }

    fn value(&self, at: usize, corner: usize) -> f32 {
        self.values[corner >> 2][self.point(at, corner)]
    }

    fn position(&self, at: usize, corner: usize) -> [f64; 3] {
        let p = self.point(at, corner);
        let index = [p % self.wide[0], p / self.wide[0], self.low + (corner >> 2)];
        // The first point of each axis is outside.
        std::array::from_fn(|k| self.grid.origin[k] + self.grid.step[k] * (index[k] as f64 - 1.0))
    }

    /// The vertex of a point, or where the edge between two corners of a cell is cut.
    fn vertex(&mut self, at: usize, inside: usize, outside: usize) -> u32 {
        let (low, high) = (inside & outside, inside | outside);
        let (owner, slot, position) = if self.value(at, outside) == f32::NEG_INFINITY {
            (inside, 0, self.position(at, inside))
        } else {
            let [a, b] = [low, high].map(|c| f64::from(self.value(at, c)));
            let t = (a / (a - b)).clamp(END, 1.0 - END);
            let [p, q] = [low, high].map(|c| self.position(at, c));
            let cut = std::array::from_fn(|k| p[k] + t * (q[k] - p[k]));
            (low, high ^ low, cut)
        };
        let of = self.point(at, owner);
        let id = &mut self.ids[owner >> 2][of][slot];
        if *id == NONE {
            *id = self.mesh.vertices.len() as u32;
            self.mesh.vertices.push(position);
        }
        *id
    }

    /// Adds a triangle that is not degenerate.
    fn triangle(&mut self, ids: [u32; 3]) {
        let [a, b, c] = ids;
        if a != b && b != c && c != a {
            self.mesh.triangles.push(ids.map(|i| i as usize));
        }
    }

    /// The triangles of a tetrahedron, counter-clockwise seen from outside.
    fn tetrahedron(&mut self, at: usize, corners: [usize; 4]) {
        let inside = |c: usize| self.value(at, c) > 0.0;
        let mut order: [usize; 4] = corners;
        let mut count = 0;
        let mut odd = false;
        // Those inside first, by moves of one over its neighbours.
        for n in 0..4 {
            if inside(order[n]) {
                order[count..=n].rotate_right(1);
                odd ^= (n - count) % 2 == 1;
                count += 1;
            }
        }
        let [a, b, c, d] = order;
        let mut cut = |i: usize, o: usize| self.vertex(at, i, o);
        let (first, second) = match count {
            1 => ([cut(a, b), cut(a, c), cut(a, d)], None),
            2 => {
                let [ac, ad, bd, bc] = [cut(a, c), cut(a, d), cut(b, d), cut(b, c)];
                ([ac, ad, bd], Some([ac, bd, bc]))
            }
            3 => ([cut(a, d), cut(b, d), cut(c, d)], None),
            _ => return,
        };
        for t in [Some(first), second].into_iter().flatten() {
            self.triangle(if odd { [t[0], t[2], t[1]] } else { t });
        }
    }

    /// The triangles between both planes.
    fn march(&mut self) {
        for y in 0..self.wide[1] - 1 {
            for x in 0..self.wide[0] - 1 {
                let at = y * self.wide[0] + x;
                let inside = (0..8).filter(|c| self.value(at, *c) > 0.0).count();
                if inside == 0 || inside == 8 {
                    continue;
                }
                for corners in TETRAHEDRA {
                    self.tetrahedron(at, corners);
                }
            }
        }
    }
}

/// The closed surface of the part of the box where a function is positive. `planes(from, to)` gives the function at the
/// points of some planes of constant z, rows of x one after the other.
pub(super) fn surface(grid: &Grid, mut planes: impl FnMut(usize, usize) -> Vec<f32>) -> Mesh {
    const AT_ONCE: usize = 16;
    let mut slab = Slab::new(grid);
    let count = grid.cells[2] + 1;
    for from in (0..count).step_by(AT_ONCE) {
        let to = (from + AT_ONCE).min(count);
        for plane in planes(from, to).chunks(grid.plane()) {
            slab.fill(Some(plane));
            slab.march();
            slab.rise();
        }
    }
    slab.fill(None);
    slab.march();
    slab.mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(grid: &Grid, f: impl Fn([f64; 3]) -> f64) -> Mesh {
        surface(grid, |from, to| {
            let mut out = Vec::new();
            for k in from..to {
                for j in 0..=grid.cells[1] {
                    for i in 0..=grid.cells[0] {
                        out.push(f([grid.at(0, i), grid.at(1, j), grid.at(2, k)]) as f32);
                    }
                }
            }
            out
        })
    }

    const GRID: Grid = Grid {
        origin: [-2.0, -1.0, 0.0],
        step: [0.5, 0.25, 0.125],
        cells: [8, 8, 24],
    };

    /// Each edge belongs to two triangles.
    fn manifold(mesh: &Mesh) {
        mesh.check().unwrap();
        let mut edges: Vec<[usize; 2]> = (mesh.triangles.iter())
            .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        assert!(edges.chunk_by(|a, b| a == b).all(|e| e.len() == 2));
    }

    #[test]
    fn a_full_box_is_the_box() {
        let mesh = of(&GRID, |_| 1.0);
        manifold(&mesh);
        assert!((mesh.volume() - 4.0 * 2.0 * 3.0).abs() < 1e-12);
        assert!(of(&GRID, |_| -1.0).triangles.is_empty());
    }

    #[test]
    fn planes_cut_the_box_exactly() {
        // x + y + z > 1 and its complement: linear, so that the surface is exact.
        let f = |p: [f64; 3]| p[0] + 2.0 * p[1] + p[2] - 1.03;
        let (above, below) = (of(&GRID, f), of(&GRID, |p| -f(p)));
        manifold(&above);
        manifold(&below);
        assert!((above.volume() + below.volume() - 24.0).abs() < 1e-5);
        let center = (above.volume() - below.volume()) / 24.0;
        assert!(center.abs() < 0.5 && center.abs() > 0.01, "{center}");
    }

    #[test]
    fn a_sphere_has_its_volume_and_no_handles() {
        let grid = Grid {
            origin: [-1.2; 3],
            step: [0.06; 3],
            cells: [40; 3],
        };
        let mesh = of(&grid, |p| 1.0 - p.iter().map(|x| x * x).sum::<f64>());
        manifold(&mesh);
        let want = 4.0 / 3.0 * std::f64::consts::PI;
        assert!(
            (mesh.volume() / want - 1.0).abs() < 3e-3,
            "{}",
            mesh.volume()
        );
        // V − E + F = 2, with three edges for two triangles.
        assert_eq!(2 * mesh.vertices.len(), mesh.triangles.len() + 4);
    }
}
