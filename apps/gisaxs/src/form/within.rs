//! Whether a solid lies in another, and whether two overlap. Convex ones are known by how far they reach in each direction.

use super::{FormFactor, Polyhedron};
use crate::mesh::{Mesh, cross};
use nalgebra::{DMatrix, DVector};
use std::f64::consts::PI;

/// Depth below which surfaces touch, over the size: rounding of a file in single precision.
const TOUCH: f64 = 1e-6;
/// Number of directions in which solids are compared.
const DIRECTIONS: usize = 1000;
/// Vertices times directions, or points times triangles, beyond which fewer are compared.
const WORK: usize = 10_000_000;
/// Size of a solid that must still meet the other, so that both surely overlap.
const SHRUNK: f64 = 0.98;
/// Steps of the search for a common point.
const STEPS: usize = 60;

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a + s b.
fn plus(a: [f64; 3], s: f64, b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k] + s * b[k])
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = dot(a, a).sqrt().max(f64::MIN_POSITIVE);
    a.map(|x| x / length)
}

/// The ends of a solid at a position along each axis, nm.
pub(crate) fn bounds(form: &dyn FormFactor, at: [f64; 3]) -> [[f64; 2]; 3] {
    std::array::from_fn(|k| {
        let mut toward = [0.0; 3];
        toward[k] = 1.0;
        let back = toward.map(|x: f64| -x);
        [at[k] - form.reach(back), at[k] + form.reach(toward)]
    })
}

fn size(form: &dyn FormFactor) -> f64 {
    let all = bounds(form, [0.0; 3]).map(|[lo, hi]| hi - lo);
    all.into_iter().fold(0.0, f64::max)
}

fn vertices(form: &dyn FormFactor) -> usize {
    form.polyhedron().map_or(1, |p| p.mesh().vertices.len())
}

/// Directions to faces, edges and corners of a cube, and others spread evenly (on a Fibonacci spiral).
fn directions(n: usize) -> Vec<[f64; 3]> {
    let cube = (0..27).filter(|c| *c != 13).map(|c| {
        let at = |k: i32| f64::from(c / 3_i32.pow(k as u32) % 3 - 1);
        unit([at(0), at(1), at(2)])
    });
    let spiral = (0..n).map(|i| {
        let z = 1.0 - (2.0 * i as f64 + 1.0) / n as f64;
        let (s, c) = (i as f64 * PI * (3.0 - 5.0_f64.sqrt())).sin_cos();
        let r = (1.0 - z * z).sqrt();
        [r * c, r * s, z]
    });
    cube.chain(spiral).collect()
}

/// The largest value over directions, from the best of some.
fn greatest(starts: &[[f64; 3]], f: impl Fn([f64; 3]) -> f64) -> f64 {
    let all = starts.iter().map(|n| (f(*n), *n));
    let Some((mut best, mut at)) = all.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return f64::NEG_INFINITY;
    };
    let mut step = 0.1;
    while step > 1e-7 {
        let far = if at[0].abs() < 0.6 {
            [1.0, 0.0, 0.0]
        } else {
            [0.0, 1.0, 0.0]
        };
        let first = unit(cross(at, far));
        let second = cross(at, first);
        let near = (0..8).map(|k| {
            let (s, c) = (0.25 * PI * f64::from(k)).sin_cos();
            let n = unit(plus(plus(at, step * c, first), step * s, second));
            (f(n), n)
        });
        match near.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((value, n)) if value > best => (best, at) = (value, n),
            _ => step *= 0.5,
        }
    }
    best
}

/// Whether a solid at a position lies in a shell, or touches it from inside. Of a shell with hollows, surfaces of more than
/// some million triangles, and those with few points, are compared at fewer places.
pub(crate) fn contains(shell: &dyn FormFactor, core: &dyn FormFactor, at: [f64; 3]) -> bool {
    let beyond = |n: [f64; 3]| core.reach(n) + dot(n, at) - shell.reach(n);
    let each = vertices(shell) + vertices(core);
    let mut starts = directions(DIRECTIONS.min(WORK / each));
    // A convex polyhedron is the space below its faces.
    if let Some(p) = shell.polyhedron().filter(|p| p.triangles() * each <= WORK) {
        let mesh = p.mesh();
        starts.extend(mesh.triangles.iter().map(|t| mesh.face(*t).1));
    }
    if greatest(&starts, beyond) > TOUCH * size(shell) {
        return false;
    }
    match shell.polyhedron() {
        Some(p) if !is_convex(p) => {
            let most = (WORK / p.triangles().max(1)).max(8);
            let points = points(core, most);
            points
                .iter()
                .all(|r| is_inside(p.mesh(), plus(*r, 1.0, at)))
        }
        _ => true,
    }
}

/// Whether no vertex is above a face; `false` of large surfaces, where that is not known.
fn is_convex(p: &Polyhedron) -> bool {
    let mesh = p.mesh();
    let above = TOUCH * mesh.size();
    mesh.triangles.len() * mesh.vertices.len() <= WORK
        && mesh.triangles.iter().all(|t| {
            let (normal, from) = (mesh.face(*t).1, mesh.vertices[t[0]]);
            let height = |v: &[f64; 3]| dot(normal, plus(*v, -1.0, from));
            mesh.vertices.iter().all(|v| height(v) <= above)
        })
}

/// Some points just inside of the surface of a solid.
fn points(form: &dyn FormFactor, most: usize) -> Vec<[f64; 3]> {
    let inward = 1e-4 * size(form);
    match form.polyhedron() {
        Some(p) => {
            let mesh = p.mesh();
            let step = mesh.triangles.len().div_ceil(most).max(1);
            let shares = [
                [1.0, 1.0, 1.0],
                [8.0, 1.0, 1.0],
                [1.0, 8.0, 1.0],
                [1.0, 1.0, 8.0],
            ];
            (mesh.triangles.iter().step_by(step).enumerate())
                .map(|(n, t)| {
                    let w = shares[n % 4];
                    let sum: f64 = w.iter().sum();
                    let v = t.map(|i| mesh.vertices[i]);
                    let on = std::array::from_fn(|k| {
                        (w[0] * v[0][k] + w[1] * v[1][k] + w[2] * v[2][k]) / sum
                    });
                    plus(on, -inward, mesh.face(*t).1)
                })
                .collect()
        }
        None => {
            let center = center(form);
            let toward = |r: [f64; 3]| plus(r, 1e-4, plus(center, -1.0, r));
            let all = directions(DIRECTIONS.min(most));
            all.iter().map(|n| toward(farthest(form, *n))).collect()
        }
    }
}

/// Whether a position is inside of a surface: the solid angle of all triangles is a whole sphere (van Oosterom and Strackee
/// 1983).
fn is_inside(mesh: &Mesh, at: [f64; 3]) -> bool {
    let angle = |t: &[usize; 3]| {
        let [a, b, c] = t.map(|i| plus(mesh.vertices[i], -1.0, at));
        let [x, y, z] = [a, b, c].map(|v| dot(v, v).sqrt());
        let below = x * y * z + dot(a, b) * z + dot(a, c) * y + dot(b, c) * x;
        2.0 * dot(a, cross(b, c)).atan2(below)
    };
    mesh.triangles.iter().map(angle).sum::<f64>() > 2.0 * PI
}

/// The farthest point of a convex solid, nearly in a direction: the gradient of its reach.
fn farthest(form: &dyn FormFactor, toward: [f64; 3]) -> [f64; 3] {
    const STEP: f64 = 1e-6;
    // Across faces and edges, so that one point is the farthest.
    let n = plus(toward, 1e-4, [0.577, -0.303, 0.758]);
    std::array::from_fn(|k| {
        let moved = |by: f64| {
            let mut m = n;
            m[k] += by;
            form.reach(m)
        };
        (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
    })
}

/// A point of a convex solid, deep inside.
fn center(form: &dyn FormFactor) -> [f64; 3] {
    let ends = (0..6).map(|k| {
        let mut n = [0.0; 3];
        n[k / 2] = if k % 2 == 0 { 1.0 } else { -1.0 };
        farthest(form, n)
    });
    ends.fold([0.0; 3], |sum, r| plus(sum, 1.0 / 6.0, r))
}

/// Whether two convex solids at their positions surely overlap: solids somewhat smaller than both have a common point. The
/// search is that of Gilbert, Johnson and Keerthi (1988) for the shortest difference of their points.
pub(crate) fn overlap(
    (a, at_a): (&dyn FormFactor, [f64; 3]),
    (b, at_b): (&dyn FormFactor, [f64; 3]),
) -> bool {
    let small = |form: &dyn FormFactor, at: [f64; 3]| {
        let middle = center(form);
        (plus(at, 1.0 - SHRUNK, middle), middle)
    };
    let ((from_a, mid_a), (from_b, mid_b)) = (small(a, at_a), small(b, at_b));
    let apart = plus(from_a, -1.0, from_b);
    let near = 1e-4 * size(a).min(size(b));
    let mut corners = vec![plus(plus(apart, SHRUNK, mid_a), -SHRUNK, mid_b)];
    for _ in 0..STEPS {
        let difference = shortest(&mut corners);
        let length = dot(difference, difference).sqrt();
        if length < near {
            return true;
        }
        let n = difference.map(|x| -x / length);
        let back = n.map(|x| -x);
        if dot(n, apart) + SHRUNK * (a.reach(n) + b.reach(back)) < 0.0 {
            return false;
        }
        let (p, q) = (farthest(a, n), farthest(b, back));
        corners.push(plus(plus(apart, SHRUNK, p), -SHRUNK, q));
    }
    false
}

/// The point nearest to the origin in the hull of at most five, of which those around it are kept.
fn shortest(points: &mut Vec<[f64; 3]>) -> [f64; 3] {
    let mut best: Option<(f64, [f64; 3], Vec<[f64; 3]>)> = None;
    for subset in 1_usize..1 << points.len() {
        if subset.count_ones() > 4 {
            continue;
        }
        let some: Vec<[f64; 3]> = (0..points.len())
            .filter(|k| subset >> k & 1 == 1)
            .map(|k| points[k])
            .collect();
        let from = some[0];
        let sides: Vec<[f64; 3]> = some[1..].iter().map(|p| plus(*p, -1.0, from)).collect();
        let m = sides.len();
        let gram = DMatrix::from_fn(m, m, |i, j| dot(sides[i], sides[j]));
        let right = DVector::from_fn(m, |i, _| -dot(sides[i], from));
        // A point alone has no sides to solve for.
        let solved = if m == 0 {
            Some(right)
        } else {
            gram.lu().solve(&right)
        };
        let Some(shares) = solved else {
            continue;
        };
        if !(shares.iter().all(|s| *s >= 0.0) && shares.sum() <= 1.0) {
            continue;
        }
        let at = (sides.iter().zip(shares.iter())).fold(from, |at, (e, s)| plus(at, *s, *e));
        let square = dot(at, at);
        if best.as_ref().is_none_or(|b| square < b.0) {
            best = Some((square, at, some));
        }
    }
    match best {
        Some((_, at, some)) => {
            *points = some;
            at
        }
        None => points[0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Shape, turned};
    use crate::sample::rotation::Rotation;
    use std::path::Path;

    fn form(text: &str) -> Box<dyn FormFactor> {
        let shape: Shape = toml::from_str(text).unwrap();
        shape.form_factor(Path::new(".")).unwrap()
    }

    fn sphere(radius: f64) -> Box<dyn FormFactor> {
        form(&format!("shape = 'sphere'\nradius = {radius}"))
    }

    fn block(x: f64, y: f64, z: f64) -> Box<dyn FormFactor> {
        form(&format!(
            "shape = 'box'\nlength_x = {x}\nwidth_y = {y}\nheight = {z}"
        ))
    }

    #[test]
    fn cores_lie_in_their_shells_up_to_the_surface() {
        let cylinder = form("shape = 'cylinder'\nradius = 5.0\nheight = 8.0");
        let prism = form("shape = 'prism'\nsides = 6\nedge = 5.0\nheight = 9.0");
        let cone = form("shape = 'cone'\nradius = 5.0\nheight = 4.5\nbase_angle = 45.0");
        type Core<'a> = &'a dyn Fn(f64) -> Box<dyn FormFactor>;
        // The largest of each kind, and what is added to it.
        let half = 0.5_f64.sqrt();
        let (ball, cube) = (sphere(5.0), block(4.0, 4.0, 4.0));
        let cases: [(&dyn FormFactor, Core, [f64; 3]); 8] = [
            (&*ball, &|s| sphere(3.0 * s), [0.0, 0.0, 4.0]),
            (&*ball, &|s| sphere(5.0 * s), [0.0; 3]),
            // Its corners are on the sphere.
            (&*ball, &|s| block(6.0 * s, 0.01, 8.0), [0.0, 0.0, 1.0]),
            (&*cylinder, &|s| block(8.0 * s, 6.0, 8.0), [0.0; 3]),
            (&*cylinder, &|s| sphere(4.0 * s), [0.0; 3]),
            // A sphere of the inscribed circle.
            (
                &*prism,
                &|s| sphere(2.5 * 3.0_f64.sqrt() * s),
                [0.0, 0.0, 0.0],
            ),
            (&*cube, &|s| sphere(2.0 * s), [0.0; 3]),
            // The circle in a right-angled triangle on its longest side, 10: r = 5 (√2 − 1).
            (&*cone, &|s| sphere(5.0 * (2.0 * half - 1.0) * s), [0.0; 3]),
        ];
        for (shell, core, at) in cases {
            assert!(contains(shell, &*core(1.0), at), "{at:?}");
            assert!(contains(shell, &*core(0.9), at), "{at:?}");
            assert!(!contains(shell, &*core(1.001), at), "{at:?}");
            assert!(!contains(
                shell,
                &*core(1.0),
                [at[0] + 0.01, at[1], at[2] + 0.01]
            ));
        }
    }

    #[test]
    fn hollows_of_a_shell_are_not_in_it() {
        // A box with a notch from above to half of its height.
        let outline = [
            [-3.0, 0.0],
            [3.0, 0.0],
            [3.0, 4.0],
            [1.0, 4.0],
            [1.0, 2.0],
            [-1.0, 2.0],
            [-1.0, 4.0],
            [-3.0, 4.0],
        ];
        let vertex = |y: f64| outline.map(|[x, z]| [x, y, z]);
        let vertices = [vertex(-2.0), vertex(2.0)].concat();
        let mut triangles = Vec::new();
        for [a, b, c] in [
            [0, 1, 4],
            [1, 2, 3],
            [1, 3, 4],
            [0, 4, 5],
            [0, 5, 7],
            [5, 6, 7],
        ] {
            triangles.push([a, b, c]);
            triangles.push([8 + a, 8 + c, 8 + b]);
        }
        for k in 0..8 {
            let next = (k + 1) % 8;
            triangles.push([k, 8 + k, 8 + next]);
            triangles.push([k, 8 + next, next]);
        }
        let mesh = Mesh {
            vertices,
            triangles,
        };
        let shell = Polyhedron::new(&mesh).unwrap();
        assert!((shell.volume() - 80.0).abs() < 1e-9);
        assert!(contains(&shell, &shell, [0.0; 3]));
        let small = block(1.0, 1.0, 2.0);
        assert!(contains(&shell, &*small, [0.0; 3]));
        assert!(contains(&shell, &*small, [2.0, 0.0, 1.0]));
        assert!(!contains(&shell, &*small, [0.0, 0.0, 1.0]));
        assert!(!contains(&shell, &*small, [2.0, 0.0, 2.1]));
        assert!(!contains(&shell, &shell, [0.0, 0.0, 0.1]));
    }

    #[test]
    fn solids_that_touch_do_not_overlap() {
        let level = [0.0; 3];
        let (ball, cube) = (sphere(2.0), block(4.0, 4.0, 4.0));
        let cone = form("shape = 'cone'\nradius = 5.0\nheight = 4.0\nbase_angle = 45.0");
        let tilted = turned(block(4.0, 4.0, 4.0), &Rotation::new(0.3, 0.7, 0.1));
        for (a, b, at) in [
            (&ball, &ball, [4.0, 0.0, 0.0]),
            (&ball, &cube, [4.0, 0.0, 0.0]),
            (&cube, &cube, [4.0, 1.0, 1.0]),
            (&cube, &cube, [0.0, 0.0, 4.0]),
            (&cone, &ball, [0.0, 0.0, 4.0]),
            // Just below the base, which is 0.7 rad off the level: 2 + 2/cos 0.7 = 4.6149.
            (&tilted, &ball, [0.0, 0.0, -4.615]),
        ] {
            let at_half = at.map(|x| 0.5 * x);
            assert!(!overlap((&**a, level), (&**b, at)), "{at:?}");
            assert!(!overlap((&**b, at), (&**a, level)), "{at:?}");
            assert!(overlap((&**a, level), (&**b, at_half)), "{at:?}");
            assert!(overlap((&**a, level), (&**a, level)), "{at:?}");
        }
        // A corner before a face.
        let turn = |angle: f64| turned(block(4.0, 4.0, 4.0), &Rotation::new(angle, 0.0, 0.0));
        let (a, b) = (turn(PI / 4.0), turn(0.0));
        let corner = 2.0 * 2.0_f64.sqrt();
        assert!(!overlap((&*a, level), (&*b, [corner + 2.01, 0.0, 0.0])));
        assert!(overlap((&*a, level), (&*b, [corner + 1.5, 0.0, 0.0])));
    }
}
