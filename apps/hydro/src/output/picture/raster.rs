//! Values of triangles on pixels, and the edges over them that nothing hides.

use super::edges::Edges;
use greenup_report::chart::ink::shade;

/// A corner of a triangle.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    /// Position in the plane of the picture.
    pub at: (f64, f64),
    /// Nearer to the viewer is greater.
    pub depth: f64,
    /// Value of the field.
    pub value: f64,
}

/// A field on pixels, the first row at the top.
#[derive(Clone, Debug)]
pub struct Raster {
    /// Number of columns.
    pub columns: usize,
    /// Range on the horizontal axis.
    pub x: (f64, f64),
    /// Range on the vertical axis.
    pub y: (f64, f64),
    rows: usize,
    values: Vec<f64>,
    /// Brightness from 1 to 255; 0 where nothing is.
    light: Vec<u8>,
    depth: Vec<f64>,
    /// Edges of zones.
    pub edges: Edges,
}

/// From values to levels of the colour scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Value of level 0.
    pub lo: f64,
    /// Value of level 1.
    pub hi: f64,
    /// Whether equal ratios have equal distances.
    pub log: bool,
}

/// Pieces of edges that are hidden or not as a whole, pixels.
const PIECE: f64 = 6.0;
/// Difference of levels that readers see.
const STEP: f64 = 0.02;
/// Share of the pixels that may differ where two pictures look the same.
const FEW: f64 = 1e-4;
/// Colour where the field has no finite value.
const UNKNOWN: [u8; 3] = [150, 150, 150];
/// Colour of values without a logarithm, which the colour scale does not have.
const NO_LOGARITHM: [u8; 3] = [200, 50, 50];

impl Levels {
    /// Level of a value.
    pub fn of(&self, v: f64) -> f64 {
        if self.log {
            (v / self.lo).ln() / (self.hi / self.lo).ln()
        } else {
            (v - self.lo) / (self.hi - self.lo)
        }
    }

    /// Whether readers see that two values differ.
    pub fn differ(&self, a: f64, b: f64) -> bool {
        // Colours that the scale does not have are far from its levels.
        let level = |v: f64| match v {
            v if !v.is_finite() => 3.0,
            v if self.log && v <= 0.0 => -2.0,
            v => self.of(v).clamp(0.0, 1.0),
        };
        (level(a) - level(b)).abs() > STEP
    }

    /// Colour of a value.
    fn colour(&self, v: f64) -> [u8; 3] {
        if self.log && v <= 0.0 {
            NO_LOGARITHM
        } else {
            shade(self.of(v))
        }
    }
}

impl Raster {
    /// An empty raster whose longer side has so many pixels.
    pub fn new(x: (f64, f64), y: (f64, f64), longer: f64) -> Self {
        let (width, height) = (x.1 - x.0, y.1 - y.0);
        let scale = longer / width.max(height);
        let count = |size: f64| ((size * scale).round() as usize).clamp(1, longer.ceil() as usize);
        let (columns, rows) = (count(width), count(height));
        let n = columns * rows;
        Self {
            columns,
            x,
            y,
            rows,
            values: vec![f64::NAN; n],
            light: vec![0; n],
            depth: Vec::new(),
            edges: Edges::new(width.max(height)),
        }
    }

    /// Keeps what is nearest to the viewer; otherwise what comes last stays.
    pub fn with_depth(mut self) -> Self {
        self.depth = vec![f64::NEG_INFINITY; self.values.len()];
        self
    }

    fn pixel(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            (x - self.x.0) / (self.x.1 - self.x.0) * self.columns as f64,
            (self.y.1 - y) / (self.y.1 - self.y.0) * self.rows as f64,
        )
    }

    /// Fills a triangle; `light` from 0 to 1.
    pub fn fill(&mut self, t: [Corner; 3], light: f64) {
        let [a, b, c] = t.map(|c| self.pixel(c.at));
        let area = (b.0 - a.0) * (c.1 - a.1) - (c.0 - a.0) * (b.1 - a.1);
        if area == 0.0 || !area.is_finite() {
            return;
        }
        let light = (255.0 * light.clamp(0.0, 1.0)).round().max(1.0) as u8;
        let mix = |f: fn(&Corner) -> f64, u: f64, v: f64| {
            let (p, q, r) = (f(&t[0]), f(&t[1]), f(&t[2]));
            p + u * (q - p) + v * (r - p)
        };
        for row in range([a.1, b.1, c.1], self.rows) {
            for column in range([a.0, b.0, c.0], self.columns) {
                let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
                let u = ((x - a.0) * (c.1 - a.1) - (c.0 - a.0) * (y - a.1)) / area;
                let v = ((b.0 - a.0) * (y - a.1) - (x - a.0) * (b.1 - a.1)) / area;
                // A little over the edges: no gaps between neighbours.
                if u < -1e-6 || v < -1e-6 || u + v > 1.0 + 1e-6 {
                    continue;
                }
                let i = row * self.columns + column;
                if let Some(depth) = self.depth.get_mut(i) {
                    let d = mix(|c| c.depth, u, v);
                    if d <= *depth {
                        continue;
                    }
                    *depth = d;
                }
                self.values[i] = mix(|c| c.value, u, v);
                self.light[i] = light;
            }
        }
    }

    /// Adds an edge; with depths the parts before which nothing is nearer by more than `behind`.
    pub fn edge(&mut self, a: Corner, b: Corner, behind: f64) {
        let (p, q) = (self.pixel(a.at), self.pixel(b.at));
        let length = (q.0 - p.0).hypot(q.1 - p.1);
        if !length.is_finite() {
            return;
        }
        if self.depth.is_empty() {
            self.edges.add(a.at, b.at);
            return;
        }
        let parts = (length / PIECE).ceil().max(1.0) as usize;
        let mix = |s: f64, a: f64, b: f64| a + s * (b - a);
        let seen = |s: f64| {
            let (x, y) = (mix(s, p.0, q.0), mix(s, p.1, q.1));
            let index = |v: f64, n: usize| (v.max(0.0) as usize).min(n - 1);
            let i = index(y, self.rows) * self.columns + index(x, self.columns);
            mix(s, a.depth, b.depth) >= self.depth[i] - behind
        };
        let visible: Vec<bool> = (0..parts)
            .map(|k| seen((k as f64 + 0.5) / parts as f64))
            .collect();
        let at = |k: usize| {
            let s = k as f64 / parts as f64;
            (mix(s, a.at.0, b.at.0), mix(s, a.at.1, b.at.1))
        };
        for k in (0..parts).filter(|k| visible[*k]) {
            self.edges.add(at(k), at(k + 1));
        }
    }

    /// Whether both look the same: they cover the same range, and hardly any pixel has values that `differ`.
    pub fn alike(&self, other: &Self, differ: impl Fn(f64, f64) -> bool) -> bool {
        let size = (self.columns, self.rows) == (other.columns, other.rows);
        // To a pixel.
        let close = |a: (f64, f64), b: (f64, f64), n: usize| {
            (a.0 - b.0).abs().max((a.1 - b.1).abs()) * n as f64 <= a.1 - a.0
        };
        let range = close(self.x, other.x, self.columns) && close(self.y, other.y, self.rows);
        let off = |i: &usize| match (self.light[*i] > 0, other.light[*i] > 0) {
            (true, true) => differ(self.values[*i], other.values[*i]),
            (a, b) => a != b,
        };
        let most = FEW * self.values.len() as f64;
        size && range && (0..self.values.len()).filter(off).count() as f64 <= most
    }

    /// Values of the pixels that are covered.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        let all = self.values.iter().zip(&self.light);
        all.filter(|(_, light)| **light > 0).map(|(v, _)| *v)
    }

    /// Colours of the pixels that are covered and that `shown` keeps.
    pub fn colours(
        &self,
        shown: impl Fn(f64) -> bool,
        colour: impl Fn(f64) -> [u8; 3],
    ) -> Vec<Option<[u8; 3]>> {
        let one = |i: usize| {
            let v = self.values[i];
            if self.light[i] == 0 || !shown(v) {
                return None;
            }
            let base = if v.is_finite() { colour(v) } else { UNKNOWN };
            Some(base.map(|c| (f64::from(c) * f64::from(self.light[i]) / 255.0).round() as u8))
        };
        (0..self.values.len()).map(one).collect()
    }

    /// Colours of the scale.
    pub fn shades(&self, levels: &Levels) -> Vec<Option<[u8; 3]>> {
        self.colours(|_| true, |v| levels.colour(v))
    }
}

/// Pixels between the least and the greatest of three positions.
fn range(x: [f64; 3], most: usize) -> std::ops::Range<usize> {
    let low = x.iter().copied().fold(f64::INFINITY, f64::min);
    let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    low.floor().max(0.0) as usize..(high.ceil().max(0.0) as usize).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(x: f64, y: f64, depth: f64, value: f64) -> Corner {
        Corner {
            at: (x, y),
            depth,
            value,
        }
    }

    fn square(r: &mut Raster, depth: f64, value: f64) {
        let [a, b, c, d] = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
            .map(|p| corner(p.0, p.1, depth, value));
        r.fill([a, b, c], 1.0);
        r.fill([b, d, c], 1.0);
    }

    #[test]
    fn triangles_cover_every_pixel_and_the_nearest_stays() {
        let mut r = Raster::new((0.0, 1.0), (0.0, 0.5), 40.0);
        assert_eq!((r.columns, r.rows, r.values().count()), (40, 20, 0));
        square(&mut r, 0.0, 3.0);
        assert!(r.values().count() == 800 && r.values().all(|v| (v - 3.0).abs() < 1e-12));
        let mut r = Raster::new((0.0, 1.0), (0.0, 1.0), 8.0).with_depth();
        square(&mut r, 1.0, 1.0);
        square(&mut r, 0.0, 2.0);
        assert!(r.values().all(|v| v == 1.0));
        let nan = corner(0.1, f64::NAN, 2.0, 5.0);
        r.fill([nan; 3], 1.0);
        r.edge(nan, nan, 0.0);
        assert!(r.values().all(|v| v == 1.0));
    }

    /// Colours decide, of nearly all pixels: also of logarithmic scales, of values without a colour and of those beyond the scale.
    #[test]
    fn pictures_that_look_alike() {
        let filled = |value: f64| {
            let mut r = Raster::new((0.0, 1.0), (0.0, 1.0), 200.0);
            square(&mut r, 0.0, value);
            r
        };
        let scale = |lo: f64, hi: f64, log: bool| Levels { lo, hi, log };
        let linear = scale(0.0, 10.0, false);
        for (a, b, levels, alike) in [
            (3.0, 3.1, linear, true),
            (3.0, 3.3, linear, false),
            (11.0, 99.0, linear, true),
            (0.01, 0.02, linear, true),
            (0.01, 0.02, scale(1e-3, 10.0, true), false),
            (-1.0, 1e-3, scale(1e-3, 10.0, true), false),
            (-1.0, -2.0, scale(1e-3, 10.0, true), true),
            (f64::NAN, 3.0, linear, false),
            (f64::NAN, f64::INFINITY, linear, true),
        ] {
            let differ = |a, b| levels.differ(a, b);
            assert_eq!(filled(a).alike(&filled(b), differ), alike, "{a} {b}");
            // A thin jet is seen, a few pixels are not.
            for (pixels, share) in [(4, true), (40, alike)] {
                let mut few = filled(a);
                few.values[..pixels].fill(b);
                assert_eq!(filled(a).alike(&few, differ), share, "{a} {b} {pixels}");
            }
        }
        let differ = |a, b| linear.differ(a, b);
        let mut empty = filled(3.0);
        empty.light[..40].fill(0);
        assert!(!filled(3.0).alike(&empty, differ));
        for (x, y) in [((0.0, 2.0), (0.0, 2.0)), ((0.0, 1.0), (0.0, 0.5))] {
            let mut other = Raster::new(x, y, 200.0);
            let [a, b, c, d] = [(x.0, y.0), (x.1, y.0), (x.0, y.1), (x.1, y.1)]
                .map(|p| corner(p.0, p.1, 0.0, 3.0));
            other.fill([a, b, c], 1.0);
            other.fill([b, d, c], 1.0);
            assert!(!filled(3.0).alike(&other, differ), "{x:?} {y:?}");
        }
    }

    #[test]
    fn unknown_values_are_grey_and_edges_behind_are_hidden() {
        let levels = Levels {
            lo: 0.0,
            hi: 1.0,
            log: false,
        };
        let mut r = Raster::new((0.0, 1.0), (0.0, 1.0), 60.0).with_depth();
        square(&mut r, 1.0, f64::NAN);
        assert!(r.shades(&levels).iter().all(|c| *c == Some(UNKNOWN)));
        // From before the square to behind it.
        let ends = [corner(0.0, 0.5, 2.0, 0.0), corner(1.0, 0.5, 0.0, 0.0)];
        r.edge(ends[0], ends[1], 0.0);
        let line = r.edges.lines();
        assert!(line[0].0.min(line[1].0) == 0.0 && (line[0].0.max(line[1].0) - 0.5).abs() < 0.06);
        let mut flat = Raster::new((0.0, 1.0), (0.0, 1.0), 60.0);
        flat.edge(ends[0], ends[1], 0.0);
        assert_eq!(flat.edges.lines().len(), 3);
    }
}
