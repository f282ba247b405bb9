//! The brightest pixel, and the strongest maximum off the plane of incidence.

use super::View;
use super::cut::Cut;

/// Pixels around a maximum that are darker, and pixels that it is away from the plane of incidence.
const AROUND: usize = 2;

/// A pixel and its momentum transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Maximum {
    /// Row of the pixel.
    pub row: usize,
    /// Column of the pixel.
    pub column: usize,
    /// q_y and q_z at its centre, 1/nm.
    pub q: (f64, f64),
}

impl Maximum {
    fn at(view: &View, row: usize, column: usize) -> Self {
        Self {
            row,
            column,
            q: view.q(row, column),
        }
    }

    /// Both its coordinates, as cuts through it are named: `q_y = 0.314 nm⁻¹`.
    pub fn names(&self, view: &View) -> [String; 2] {
        let view = view.of_q();
        [(false, self.column), (true, self.row)]
            .map(|(across, line)| view.through(across, line).label(view.detector))
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

/// The strongest maximum away from the plane of incidence and from the edges of the image.
pub fn off_plane(pixels: &[f64], view: &View) -> Option<Maximum> {
    let (columns, rows) = (view.detector.columns(), view.detector.rows());
    let inner = |n: usize| AROUND..n.saturating_sub(AROUND);
    let all = inner(rows).flat_map(|r| inner(columns).map(move |c| (r, c)));
    let at = |(r, c): (usize, usize)| pixels[r * columns + c];
    let around = |k: usize| k - AROUND..=k + AROUND;
    let is_top = |p: &(usize, usize)| {
        let mut others = around(p.0).flat_map(|r| around(p.1).map(move |c| (r, c)));
        at(*p) > 0.0 && others.all(|o| o == *p || at(o) < at(*p))
    };
    let aside = |(r, c): &(usize, usize)| {
        let ends = around(*c).map(|c| view.q(*r, c).0);
        // The plane of incidence is at q_y = 0.
        ends.clone().all(|q| q > 0.0) || ends.clone().all(|q| q < 0.0)
    };
    all.filter(|p| aside(p) && is_top(p))
        .max_by(|a, b| at(*a).total_cmp(&at(*b)))
        .map(|(row, column)| Maximum::at(view, row, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Axes;
    use crate::sample::Sample;

    #[test]
    fn maxima_are_those_of_the_pixels() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.toml");
        let text = "[beam]\nwavelength = 0.1\nangle = 0.2\n[detector]\n\
                    phi = { from = -1.0, to = 1.0, n = 40 }\nalpha = { from = 0.0, to = 1.0, n = 20 }\n\
                    [[layers]]\n[[layers]]\ndelta = 6e-6\n[[particles]]\n\
                    form = { shape = 'sphere', radius = 5.0 }\ndelta = 1e-6\ndensity = 0.01\n";
        std::fs::write(&path, text).unwrap();
        let scene = Sample::read(&path).unwrap().scene(dir.path()).unwrap();
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
        let side = off_plane(&pixels, &view).unwrap();
        assert_eq!((side.row, side.column), (4, 22));
        assert!((side.q.0 - 62.83 * (2.5 * 0.05_f64).to_radians()).abs() < 1e-3);
        assert_eq!(side.names(&view), ["q_y = 0.14 nm⁻¹", "q_z = 0.47 nm⁻¹"]);
        let cuts = brightest_cuts(&pixels, &view);
        assert_eq!(cuts[0].inside(&scene.detector).unwrap(), [4]);
        assert_eq!(cuts[1].inside(&scene.detector).unwrap(), [19]);
        assert!(off_plane(&vec![1.0; 800], &view).is_none());
        assert!(brightest(&vec![f64::NAN; 800], &view).is_none());
    }
}
