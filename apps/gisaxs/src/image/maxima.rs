//! The brightest pixel, and the strongest maximum away from the beam or the plane of incidence.

use super::View;
use super::axes::few_digits;
use super::cut::Cut;
use crate::scattering::dwba::Mode;

/// Pixels around a maximum that are darker, and pixels that it is away from the beam or the plane of incidence.
const AROUND: usize = 2;

/// A pixel and its momentum transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maximum {
    /// Row of the pixel.
    pub row: usize,
    /// Column of the pixel.
    pub column: usize,
    /// q at its centre, 1/nm.
    pub q: [f64; 3],
}

impl Maximum {
    fn at(view: &View, row: usize, column: usize) -> Self {
        Self {
            row,
            column,
            q: view.q(row, column),
        }
    }

    /// Its q, of which a cut through it has other values elsewhere: `q_y = 0.314 nm⁻¹`.
    pub fn names(&self, view: &View) -> [String; 2] {
        let (u, v) = (self.column as f64, self.row as f64);
        let view = view.of_q();
        let (low, high) = (view.place(u, v), view.place(u + 1.0, v + 1.0));
        let [_, y, z] = self.q;
        [("q_y", y, high.0 - low.0), ("q_z", z, high.1 - low.1)].map(|(name, q, pixel)| {
            let q = few_digits(q, (0.02 * pixel.abs()).max(1e-5 * q.abs()));
            format!("{name} = {q} nm⁻¹").replacen('-', "−", 1)
        })
    }
}

/// The brightest pixel; `None` for an image without finite pixels.
pub fn brightest(pixels: &[f64], view: &View) -> Option<Maximum> {
    let columns = view.detector.columns();
    let finite = pixels.iter().enumerate().filter(|p| p.1.is_finite());
    let (at, _) = finite.max_by(|a, b| a.1.total_cmp(b.1))?;
    Some(Maximum::at(view, at / columns, at % columns))
}

/// Both cuts through the brightest pixel; empty for an image without finite pixels.
pub fn brightest_cuts(pixels: &[f64], view: &View) -> Vec<Cut> {
    let both = |m: Maximum| vec![view.through(true, m.row), view.through(false, m.column)];
    brightest(pixels, view).map_or_else(Vec::new, both)
}

/// The strongest maximum away from the edges of the image and the plane of incidence; in transmission away from the beam.
pub fn aside(pixels: &[f64], view: &View, mode: Mode) -> Option<Maximum> {
    let (columns, rows) = (view.detector.columns(), view.detector.rows());
    let inner = |n: usize| AROUND..n.saturating_sub(AROUND);
    let all = inner(rows).flat_map(|r| inner(columns).map(move |c| (r, c)));
    let at = |(r, c): (usize, usize)| pixels[r * columns + c];
    let around = |k: usize| k - AROUND..=k + AROUND;
    let is_top = |p: &(usize, usize)| {
        let mut others = around(p.0).flat_map(|r| around(p.1).map(move |c| (r, c)));
        at(*p) > 0.0 && others.all(|o| o == *p || at(o) < at(*p))
    };
    let one_sign = |q: &[f64]| q.iter().all(|q| *q > 0.0) || q.iter().all(|q| *q < 0.0);
    let is_aside = |(r, c): &(usize, usize)| {
        let across: Vec<f64> = around(*c).map(|c| view.q(*r, c)[1]).collect();
        let upward = || -> Vec<f64> { around(*r).map(|r| view.q(r, *c)[2]).collect() };
        // The plane of incidence is at q_y = 0, the beam at q = 0.
        one_sign(&across) || mode == Mode::Transmission && one_sign(&upward())
    };
    all.filter(|p| is_aside(p) && is_top(p))
        .max_by(|a, b| at(*a).total_cmp(&at(*b)))
        .map(|(row, column)| Maximum::at(view, row, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Axes;
    use crate::sample::Sample;
    use crate::scattering::dwba::Scene;

    /// The scene of a detector with 20 × 40 pixels in these ranges of φ and α, degrees.
    fn scene(mode: &str, [phi, alpha]: [(f64, f64); 2]) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.toml");
        let beam = match mode {
            "saxs" => "",
            _ => "angle = 0.2\n[[layers]]\n[[layers]]\ndelta = 6e-6",
        };
        let text = format!(
            "mode = '{mode}'\n[detector]\nphi = {{ from = {}, to = {}, n = 40 }}\nalpha = {{ from = {}, to = {}, n = 20 }}\n\
             [[particles]]\nform = {{ shape = 'sphere', radius = 5.0 }}\ndelta = 1e-6\ndensity = 0.01\n\
             [beam]\nwavelength = 0.1\n{beam}\n",
            phi.0, phi.1, alpha.0, alpha.1
        );
        std::fs::write(&path, text).unwrap();
        Sample::read(&path).unwrap().scene(dir.path()).unwrap()
    }

    #[test]
    fn maxima_are_those_of_the_pixels() {
        let scene = scene("dwba", [(-1.0, 1.0), (0.0, 1.0)]);
        let view = View::new(&scene, Axes::Q);
        let mut pixels = vec![1.0; 800];
        // The specular rod, a shoulder of it, a maximum, and a brighter pixel at the edge.
        pixels[4 * 40 + 19] = 1e6;
        pixels[4 * 40 + 23] = 50.0;
        pixels[4 * 40 + 22] = 60.0;
        pixels[9 * 40 + 30] = 40.0;
        pixels[19 * 40 + 5] = 90.0;
        let top = brightest(&pixels, &view).unwrap();
        assert_eq!((top.row, top.column), (4, 19));
        let side = aside(&pixels, &view, scene.mode).unwrap();
        assert_eq!((side.row, side.column), (4, 22));
        assert!((side.q[1] - 62.83 * (2.5 * 0.05_f64).to_radians()).abs() < 1e-3);
        assert_eq!(side.names(&view), ["q_y = 0.137 nm⁻¹", "q_z = 0.466 nm⁻¹"]);
        let cuts = brightest_cuts(&pixels, &view);
        assert_eq!(cuts[0].inside(&scene.detector).unwrap(), [4]);
        assert_eq!(cuts[1].inside(&scene.detector).unwrap(), [19]);
        assert!(aside(&vec![1.0; 800], &view, scene.mode).is_none());
        assert!(brightest(&vec![f64::NAN; 800], &view).is_none());
    }

    /// Also far from the axis, where a column of pixels has many q_y.
    #[test]
    fn names_are_those_of_the_pixel() {
        let scene = scene("dwba", [(-70.0, 70.0), (0.0, 70.0)]);
        let view = View::new(&scene, Axes::Q);
        for (row, column) in [(19, 39), (19, 0), (10, 20), (0, 5)] {
            let m = Maximum::at(&view, row, column);
            for (name, q) in m.names(&view).iter().zip(&m.q[1..]) {
                let shown = name.split(' ').nth(2).unwrap().replace('−', "-");
                let shown: f64 = shown.parse().unwrap();
                assert!((shown / q - 1.0).abs() < 0.01, "{name}: {q}");
            }
        }
    }

    /// Without a plane of incidence a maximum above the beam counts, the beam does not.
    #[test]
    fn maxima_of_transmission_are_away_from_the_beam() {
        let scene = scene("saxs", [(-1.0, 1.0), (-1.0, 1.0)]);
        let view = View::new(&scene, Axes::Q);
        let mut pixels = vec![1.0; 800];
        pixels[10 * 40 + 20] = 1e6;
        pixels[15 * 40 + 20] = 50.0;
        let m = aside(&pixels, &view, scene.mode).unwrap();
        assert_eq!((m.row, m.column), (15, 20));
        pixels[15 * 40 + 20] = 1.0;
        assert!(aside(&pixels, &view, scene.mode).is_none());
    }
}
