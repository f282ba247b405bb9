//! The nonuniform FFT of a surface: its nodes are spread onto a small grid (`spread`), which is transformed by matrix
//! products. The particle is far smaller than 2π over the spacing of q, so that the grid has few cells and a product
//! over them is faster than an FFT over zeros. A complex q_z costs no more time.

use super::spread::{Axis, Correction, inside, spread};
use super::tensor::{complex, complex_of};
use super::window::{OVERSAMPLING, Window};
use crate::mesh_form_factor::each::on_any;
use crate::mesh_form_factor::gemm::{Right, Scratch, multiply};
use crate::mesh_form_factor::kernels::Kernels;
use crate::mesh_form_factor::q_grid::{Extent, QGrid};
use crate::mesh_form_factor::{Nodes, Surface, Watch, chebyshev};
use greenup_ranks::{Alone, Ranks};
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

/// The nonuniform FFT on many grids, each with a few q_z of its own: sums are computed at the nodes of a grid in q_x
/// and q_y that all grids share, and interpolated.
pub struct DetectorNufft {
    surface: Arc<Surface>,
    window: Window,
    z: Axis,
    /// q_x: number of Chebyshev terms, centre and half-width, 1/nm.
    x: (usize, f64, f64),
    /// q_y: number of nodes, the first one and their distance, 1/nm.
    y: (usize, f64, f64),
    /// [cell in z][term in x][node in y][m].
    cells: Right,
}

/// The auxiliary grids of the transform: cells in y and z, nodes in q_x and q_y.
pub(crate) struct Layout {
    /// The window for spreading and for interpolation.
    pub window: Window,
    /// Cells along y.
    pub y: Axis,
    /// Cells along z.
    pub z: Axis,
    /// q_x: number of Chebyshev terms, centre and half-width, 1/nm.
    pub x: (usize, f64, f64),
    /// q_y: number of nodes, the first one and their distance, 1/nm.
    pub nodes: (usize, f64, f64),
    /// Correction of strengths for interpolation between the nodes in q_y.
    pub correction: Correction,
}

impl Layout {
    pub fn new(nodes: &Nodes, extent: &Extent, accuracy: f64) -> Self {
        let window = Window::new(accuracy);
        let (center, half) = (
            0.5 * (extent.x[0] + extent.x[1]),
            (0.5 * (extent.x[1] - extent.x[0])).max(1e-12),
        );
        let terms = DetectorNufft::terms(nodes, extent, accuracy).min(MAX_TERMS);
        // Nodes in q_y, with a margin for the window on both sides.
        let size = nodes.extent(1).max(1e-6);
        let step = PI / (OVERSAMPLING * size);
        let margin = 0.5 * window.width as f64 + 1.0;
        let first = extent.y[0] - margin * step;
        let count = ((extent.y[1] - extent.y[0]) / step + 2.0 * margin).ceil() as usize + 1;
        let wide = [first, first + (count - 1) as f64 * step];
        Self {
            y: Axis::new(nodes.extent(1), wide, &window),
            z: Axis::new(nodes.extent(2), extent.z, &window),
            x: (terms, center, half),
            nodes: (count, first, step),
            correction: Correction::new(&window, size, step),
            window,
        }
    }
}

/// Maximum number of terms in q_x: the limit of the interpolation kernel.
pub const MAX_TERMS: usize = 64;

impl DetectorNufft {
    /// Number of terms in q_x for this range; above [`MAX_TERMS`] the transform does not support it.
    pub(crate) fn terms(nodes: &Nodes, extent: &Extent, accuracy: f64) -> usize {
        chebyshev::terms(
            0.5 * (extent.x[1] - extent.x[0]) * nodes.extent(0),
            accuracy,
        )
    }

    /// Computes the sums of a surface at the nodes, for q within `extent`; `accuracy` is that of the window.
    /// `None` if stopped.
    pub fn new(
        surface: impl Into<Arc<Surface>>,
        extent: &Extent,
        accuracy: f64,
        watch: &Watch,
    ) -> Option<Self> {
        Self::over(surface, (extent, accuracy), (&Alone, watch))
    }

    /// The same on all of some ranks, which share the nodes; `None` if one of them was stopped.
    pub fn over(
        surface: impl Into<Arc<Surface>>,
        (extent, accuracy): (&Extent, f64),
        (ranks, watch): (&dyn Ranks, &Watch),
    ) -> Option<Self> {
        let surface = surface.into();
        let nodes = &surface.nodes;
        let Layout {
            window,
            y,
            z,
            x: (terms, center, half),
            nodes: (count, first, step),
            correction,
        } = Layout::new(nodes, extent, accuracy);
        let positions: Vec<f64> = (0..terms)
            .map(|k| center + half * chebyshev::node(k, terms))
            .collect();
        let grids = spread(
            nodes,
            &positions,
            (y, z),
            (&window, Some(&correction)),
            (ranks, watch),
        );
        if on_any(ranks, watch.stopped()) {
            return None;
        }
        let along: Vec<Complex64> = (0..count)
            .flat_map(|n| y.waves(Complex64::new(first + n as f64 * step, 0.0), &window))
            .collect();
        let wide = 3 * z.cells;
        let sums: Vec<Vec<[f64; 2]>> = grids
            .par_iter()
            .map(|g| {
                let right = Right::new(y.cells, wide, &complex(g, y.cells, z.cells));
                let mut scratch = Scratch::default();
                multiply(count, &along, &right, &mut scratch).to_vec()
            })
            .collect();
        // Values at the nodes of q_x become coefficients.
        let mut cells = vec![Complex64::ZERO; z.cells * terms * count * 3];
        for j in 0..terms {
            for (k, values) in sums.iter().enumerate() {
                let weight = chebyshev::weight(j, k, terms);
                for n in 0..count {
                    for m in 0..3 {
                        let from = &values[n * wide + m * z.cells..][..z.cells];
                        for (g, v) in from.iter().enumerate() {
                            cells[((g * terms + j) * count + n) * 3 + m] += complex_of(*v) * weight;
                        }
                    }
                }
            }
        }
        Some(Self {
            surface,
            window,
            z,
            x: (terms, center, half),
            y: (count, first, step),
            cells: Right::new(z.cells, terms * count * 3, &cells),
        })
    }

    /// F on each grid, nm³; `None` if stopped.
    ///
    /// # Panics
    /// A q_y is outside the extent for which the transform was made.
    pub fn grids(&self, grids: &[QGrid], watch: &Watch) -> Option<Vec<Vec<Complex64>>> {
        // The result of a product must stay in the caches.
        let wide = self.x.0 * self.y.0 * 3;
        let per = ((1 << 18) / wide.max(1)).clamp(4, 64);
        let blocks = blocks(grids, per);
        let out: Vec<Vec<Vec<Complex64>>> = blocks
            .into_par_iter()
            .map_init(Scratch::default, |scratch, grids| {
                if watch.stopped() {
                    return Vec::new();
                }
                let out = self.block(grids, wide, scratch);
                watch.tick(grids.iter().map(|s| s.len() as u64).sum());
                out
            })
            .collect();
        (!watch.stopped()).then(|| out.concat())
    }

    fn block(&self, grids: &[QGrid], wide: usize, scratch: &mut Scratch) -> Vec<Vec<Complex64>> {
        let kernels = Kernels::best();
        let rows: usize = grids.iter().map(|s| s.z.len()).sum();
        let waves: Vec<Complex64> = grids
            .iter()
            .flat_map(|s| &s.z)
            .flat_map(|q| {
                let shift = (Complex64::I * q * self.surface.nodes.centre[2]).exp();
                self.z
                    .waves(*q, &self.window)
                    .into_iter()
                    .map(move |w| w * shift)
            })
            .collect();
        let sums = multiply(rows, &waves, &self.cells, scratch);
        let mut from = 0;
        let mut table = Vec::new();
        grids
            .iter()
            .map(|s| {
                let heights = s.z.len();
                if s.is_empty() {
                    // A row below the horizon.
                    return Vec::new();
                }
                // [term][node][q_z, m, re or im], padded to multiples of eight.
                let values = (6 * heights).next_multiple_of(8);
                table.resize(self.x.0 * self.y.0 * values, 0.0);
                for (k, row) in sums[from * wide..(from + heights) * wide]
                    .chunks(wide.max(1))
                    .enumerate()
                {
                    for (cell, m) in table.chunks_mut(values).zip(row.chunks(3)) {
                        for (to, c) in cell[6 * k..6 * k + 6].chunks_mut(2).zip(m) {
                            to.copy_from_slice(c);
                        }
                    }
                }
                from += heights;
                self.read(&kernels, s, &table, values)
            })
            .collect()
    }

    fn read(&self, kernels: &Kernels, s: &QGrid, table: &[f64], values: usize) -> Vec<Complex64> {
        let (terms, center, half) = self.x;
        let (count, first, step) = self.y;
        let positions: Vec<f64> =
            s.xy.iter()
                .map(|p| self.window.position((p[1] - first) / step))
                .collect();
        let scaled: Vec<f64> = s.xy.iter().map(|p| (p[0] - center) / half).collect();
        let n = s.xy.len();
        let mut read = vec![0.0; n * values];
        assert!(
            terms <= MAX_TERMS && inside(&positions, count, &self.window),
            "q_y outside of the range that the transform was made for"
        );
        // SAFETY: every position lies between 0 and the nodes less the window's width; there are at most
        // MAX_TERMS terms; arrays have the sizes that the kernel is told.
        unsafe {
            (kernels.read)(
                n as _,
                positions.as_ptr(),
                self.window.coefficients.as_ptr(),
                self.window.degree as _,
                self.window.width as _,
                terms as _,
                scaled.as_ptr(),
                table.as_ptr(),
                count as _,
                values as _,
                read.as_mut_ptr(),
            );
        }
        let centre = self.surface.nodes.centre;
        let shifts: Vec<Complex64> =
            s.xy.iter()
                .map(|[x, y]| Complex64::from_polar(1.0, x * centre[0] + y * centre[1]))
                .collect();
        let mut out = vec![Complex64::ZERO; s.len()];
        let [mut along, mut up] = [(); 2].map(|()| vec![[0.0; 2]; n]);
        for (k, (&z, out)) in s.z.iter().zip(out.chunks_mut(n)).enumerate() {
            for (j, g) in read.chunks(values).enumerate() {
                let [x, y] = s.xy[j];
                let sum = |m: usize| Complex64::new(g[6 * k + 2 * m], g[6 * k + 2 * m + 1]);
                let (a, u) = ((sum(0) * x + sum(1) * y) * shifts[j], sum(2) * shifts[j]);
                along[j] = [a.re, a.im];
                up[j] = [u.re, u.im];
            }
            self.surface.row(&s.xy, z, (&along, &up), out);
        }
        out
    }
}

/// The grids in blocks of about `per` q_z.
fn blocks(grids: &[QGrid], per: usize) -> Vec<&[QGrid]> {
    let mut out = Vec::new();
    let (mut begin, mut rows) = (0, 0);
    for (n, s) in grids.iter().enumerate() {
        rows += s.z.len();
        if rows >= per {
            out.push(&grids[begin..=n]);
            (begin, rows) = (n + 1, 0);
        }
    }
    if begin < grids.len() {
        out.push(&grids[begin..]);
    }
    out
}
