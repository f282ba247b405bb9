//! Triangles of a polygon: a fan where that is right, else ears, so that corners on a straight edge and reflex corners give
//! no triangle without area and none that is turned.

use crate::mesh::{cross, dot, minus};

/// Area of a triangle over the square of the polygon's size, below which it has none.
const THIN: f64 = 1e-14;

/// The triangles of a polygon with these corners, whose positions `at` gives.
pub(super) fn triangles(corners: &[usize], at: impl Fn(usize) -> [f64; 3]) -> Vec<[usize; 3]> {
    let fan = |c: &[usize]| -> Vec<[usize; 3]> {
        let pairs = c.windows(2).skip(1);
        pairs.map(|w| [c[0], w[0], w[1]]).collect()
    };
    if corners.len() <= 3 {
        return fan(corners);
    }
    let origin = at(corners[0]);
    let place = |i: usize| minus(at(i), origin);
    // Newell's normal: twice the area of the polygon.
    let mut normal = [0.0; 3];
    for w in corners.windows(2) {
        let n = cross(place(w[0]), place(w[1]));
        normal = std::array::from_fn(|k| normal[k] + n[k]);
    }
    let length = dot(normal, normal).sqrt();
    if length == 0.0 || !length.is_finite() {
        return fan(corners);
    }
    let unit = normal.map(|x| x / length);
    let size = corners.iter().fold(0.0, |far: f64, &i| {
        let p = place(i);
        far.max(dot(p, p))
    });
    // Twice the area, seen along the normal.
    let area = |a: usize, b: usize, c: usize| {
        let (a, b, c) = (place(a), place(b), place(c));
        dot(cross(minus(b, a), minus(c, a)), unit)
    };
    let least = THIN * size;
    let whole = fan(corners);
    if whole.iter().all(|t| area(t[0], t[1], t[2]) > least) {
        return whole;
    }
    let mut left = corners.to_vec();
    let mut out = Vec::with_capacity(corners.len() - 2);
    while left.len() > 3 {
        let n = left.len();
        let is_ear = |k: usize| {
            let [a, b, c] = [left[(k + n - 1) % n], left[k], left[(k + 1) % n]];
            area(a, b, c) > least
                && left.iter().all(|&i| {
                    let corner = [a, b, c].iter().any(|&j| j == i || at(i) == at(j));
                    corner
                        || [(a, b), (b, c), (c, a)]
                            .iter()
                            .any(|&(p, q)| area(p, q, i) < -least)
                })
        };
        let Some(k) = (0..n).find(|&k| is_ear(k)) else {
            break;
        };
        out.push([left[(k + n - 1) % n], left[k], left[(k + 1) % n]]);
        left.remove(k);
    }
    // Of a polygon without an ear, which crosses itself: the checks of the mesh say what is wrong.
    out.extend(fan(&left));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn areas(corners: &[[f64; 2]]) -> Vec<f64> {
        let at = |i: usize| [corners[i][0], corners[i][1], 0.0];
        let all: Vec<usize> = (0..corners.len()).collect();
        triangles(&all, at)
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(at);
                0.5 * cross(minus(b, a), minus(c, a))[2]
            })
            .collect()
    }

    #[test]
    fn fans_stay_and_others_are_cut_into_ears() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        assert_eq!(areas(&square), [0.5, 0.5]);
        let all: Vec<usize> = (0..4).collect();
        let at = |i: usize| [square[i][0], square[i][1], 0.0];
        assert_eq!(triangles(&all, at), [[0, 1, 2], [0, 2, 3]]);
        for (name, corners, area) in [
            // Corners on straight edges, first and last among them.
            (
                "middles",
                vec![
                    [0.5, 0.0],
                    [1.0, 0.0],
                    [1.0, 0.5],
                    [1.0, 1.0],
                    [0.0, 1.0],
                    [0.0, 0.0],
                    [0.25, 0.0],
                ],
                1.0,
            ),
            (
                "triangle",
                vec![[0.0, 0.0], [0.3, 0.0], [0.6, 0.0], [1.0, 0.0], [0.0, 1.0]],
                0.5,
            ),
            // An L, from its reflex corner and from the next.
            (
                "reflex",
                vec![
                    [1.0, 1.0],
                    [1.0, 2.0],
                    [0.0, 2.0],
                    [0.0, 0.0],
                    [2.0, 0.0],
                    [2.0, 1.0],
                ],
                3.0,
            ),
            (
                "arrow",
                vec![[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.5, 1.0]],
                1.5,
            ),
        ] {
            let areas = areas(&corners);
            assert_eq!(areas.len(), corners.len() - 2, "{name}");
            assert!(areas.iter().all(|a| *a > 1e-3), "{name}: {areas:?}");
            assert!((areas.iter().sum::<f64>() - area).abs() < 1e-12, "{name}");
        }
    }
}
