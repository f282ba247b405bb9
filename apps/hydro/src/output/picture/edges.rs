//! Edges of zones: their pieces without those drawn twice, joined to lines as long as they go.

use hashbrown::{HashMap, HashSet};

/// A position in the plane of a picture.
type Point = (f64, f64);
/// The same in steps of the grid on which ends meet.
type Key = (i64, i64);

/// Steps of that grid along the longer side of a picture.
const STEPS: f64 = 20_000.0;
/// Distance from a straight line that is left out, steps.
const STRAIGHT: f64 = 6.0;

/// Pieces of edges.
#[derive(Clone, Debug)]
pub struct Edges {
    step: f64,
    pieces: Vec<[Key; 2]>,
    seen: HashSet<[Key; 2]>,
}

fn minus(a: Key, b: Key) -> (f64, f64) {
    ((a.0 - b.0) as f64, (a.1 - b.1) as f64)
}

impl Edges {
    /// None, in a picture whose longer side has this length.
    pub fn new(longer: f64) -> Self {
        Self {
            step: longer / STEPS,
            pieces: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Adds a piece, unless it is there.
    pub fn add(&mut self, a: Point, b: Point) {
        let key = |p: Point| {
            (
                (p.0 / self.step).round() as i64,
                (p.1 / self.step).round() as i64,
            )
        };
        let mut ends = [key(a), key(b)];
        ends.sort_unstable();
        let finite = [a.0, a.1, b.0, b.1].iter().all(|x| x.is_finite());
        if finite && ends[0] != ends[1] && self.seen.insert(ends) {
            self.pieces.push(ends);
        }
    }

    /// The pieces joined to lines, which a point that is not finite ends.
    pub fn lines(&self) -> Vec<Point> {
        let mut at: HashMap<Key, Vec<usize>> = HashMap::new();
        for (k, ends) in self.pieces.iter().enumerate() {
            for end in ends {
                at.entry(*end).or_default().push(k);
            }
        }
        let mut used = vec![false; self.pieces.len()];
        // The straightest piece that goes on from `b`, to which the line comes from `a`.
        let next = |a: Key, b: Key, used: &mut Vec<bool>| -> Option<Key> {
            let d = minus(b, a);
            let turn = |k: usize| {
                let ends = self.pieces[k];
                let to = if ends[0] == b { ends[1] } else { ends[0] };
                let e = minus(to, b);
                let cosine = (d.0 * e.0 + d.1 * e.1) / (d.0.hypot(d.1) * e.0.hypot(e.1));
                (k, to, cosine)
            };
            let all = at.get(&b)?.iter().filter(|k| !used[**k]);
            let (k, to, cosine) = all.map(|k| turn(*k)).max_by(|x, y| x.2.total_cmp(&y.2))?;
            // A sharp turn begins a line of its own.
            (cosine > 0.5).then(|| {
                used[k] = true;
                to
            })
        };
        let mut out = Vec::new();
        for k in 0..self.pieces.len() {
            if std::mem::replace(&mut used[k], true) {
                continue;
            }
            let mut line = self.pieces[k].to_vec();
            for _ in 0..2 {
                while let Some(to) = next(line[line.len() - 2], line[line.len() - 1], &mut used) {
                    line.push(to);
                }
                line.reverse();
            }
            let places = straightened(&line);
            out.extend(
                places
                    .into_iter()
                    .map(|p| (p.0 as f64 * self.step, p.1 as f64 * self.step)),
            );
            out.push((f64::NAN, f64::NAN));
        }
        out
    }
}

/// A line without the points that are not needed (Douglas and Peucker).
fn straightened(line: &[Key]) -> Vec<Key> {
    let mut kept = vec![false; line.len()];
    let last = line.len() - 1;
    (kept[0], kept[last]) = (true, true);
    let mut parts = vec![(0, last)];
    while let Some((from, to)) = parts.pop() {
        let d = minus(line[to], line[from]);
        let length = d.0.hypot(d.1);
        let away = |k: usize| {
            let e = minus(line[k], line[from]);
            if length > 0.0 {
                (d.0 * e.1 - d.1 * e.0).abs() / length
            } else {
                e.0.hypot(e.1)
            }
        };
        let farthest = (from + 1..to).max_by(|a, b| away(*a).total_cmp(&away(*b)));
        if let Some(k) = farthest.filter(|k| away(*k) > STRAIGHT) {
            kept[k] = true;
            parts.extend([(from, k), (k, to)]);
        }
    }
    (line.iter().zip(kept))
        .filter(|(_, k)| *k)
        .map(|(p, _)| *p)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(edges: &Edges) -> Vec<Vec<Point>> {
        let all = edges.lines();
        let runs = all.split(|p| p.0.is_nan()).filter(|r| !r.is_empty());
        runs.map(<[Point]>::to_vec).collect()
    }

    #[test]
    fn sides_of_neighbours_are_lines_across_the_mesh() {
        // 3 x 3 squares, each with its four sides in two pieces.
        let mut edges = Edges::new(3.0);
        for (i, j) in (0..9).map(|k| (f64::from(k % 3), f64::from(k / 3))) {
            let corners = [
                (i, j),
                (i + 1.0, j),
                (i + 1.0, j + 1.0),
                (i, j + 1.0),
                (i, j),
            ];
            for side in corners.windows(2) {
                let half = (0.5 * (side[0].0 + side[1].0), 0.5 * (side[0].1 + side[1].1));
                edges.add(side[0], half);
                edges.add(half, side[1]);
            }
        }
        let all = runs(&edges);
        assert_eq!(all.len(), 8, "{all:?}");
        for run in &all {
            assert_eq!(run.len(), 2);
            let length = (run[1].0 - run[0].0).hypot(run[1].1 - run[0].1);
            assert!((length - 3.0).abs() < 1e-3, "{run:?}");
        }
    }

    #[test]
    fn curves_keep_their_shape_and_odd_points_are_left_out() {
        let mut edges = Edges::new(2.0);
        let at = |k: i32| (std::f64::consts::PI * f64::from(k) / 64.0).sin_cos();
        for k in 0..64 {
            edges.add(at(k), at(k + 1));
        }
        edges.add((f64::NAN, 0.0), (1.0, 1.0));
        edges.add((0.5, 0.5), (0.5, 0.5));
        let all = runs(&edges);
        assert_eq!(all.len(), 1);
        assert!((20..=65).contains(&all[0].len()), "{}", all[0].len());
        assert!(all[0].iter().all(|p| (p.0.hypot(p.1) - 1.0).abs() < 1e-3));
        assert!(runs(&Edges::new(1.0)).is_empty());
    }
}
