//! The nonuniform transform of a surface: its nodes are spread over a small grid (`spread`), which is
//! transformed by matrix products. The particle is far smaller than 2π over the spacing of q, so that the
//! grid has few cells and a product over them beats an FFT over zeros; a complex q_z costs nothing more.

use super::gemm::{Right, Scratch, multiply};
use super::kernels::Kernels;
use super::sheet::{Extent, Sheet};
use super::spread::{Axis, Correction, inside, spread};
use super::window::{OVERSAMPLING, Window};
use super::{Nodes, Surface, Watch, chebyshev};
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

/// Rows of q_z of one product.
const BLOCK: usize = 32;

/// F on a tensor grid whose places have few different q_x: the grid of cells is transformed in y, then in
/// z, at the very q asked for.
pub fn grid(
    surface: &Surface,
    sheet: &Sheet,
    accuracy: f64,
    watch: &Watch,
) -> Option<Vec<Complex64>> {
    let nodes = &surface.nodes;
    let extent = Extent::of(std::slice::from_ref(sheet));
    let window = Window::new(accuracy);
    let y = Axis::new(nodes.extent(1), extent.y, &window);
    let z = Axis::new(nodes.extent(2), extent.z, &window);
    let (places, heights) = (sheet.xy.len(), sheet.z.len());
    let mut out = vec![Complex64::ZERO; sheet.len()];
    // e^{i q_z r} for all q_z, a row each.
    let across: Vec<Complex64> = sheet
        .z
        .par_iter()
        .flat_map_iter(|q| {
            let shift = (Complex64::I * q * nodes.centre[2]).exp();
            z.waves(*q, &window).into_iter().map(move |w| w * shift)
        })
        .collect();
    for (first, n) in sheet.runs() {
        let x = sheet.xy[first][0];
        let row = &sheet.xy[first..first + n];
        let cells = complex(
            &spread(nodes, &[x], (y, z), &window, None)[0],
            y.cells,
            z.cells,
        );
        // [place][m][cell in z] → two sums of each place, [cell in z][2][place].
        let along: Vec<Complex64> = row
            .par_iter()
            .flat_map_iter(|[_, q]| y.waves(Complex64::new(*q, 0.0), &window))
            .collect();
        let mut scratch = Scratch::default();
        let right = Right::new(y.cells, 3 * z.cells, &cells);
        let sums = multiply(n, &along, &right, &mut scratch);
        let mut pairs = vec![Complex64::ZERO; z.cells * 2 * n];
        for (j, [qx, qy]) in row.iter().enumerate() {
            let shift = Complex64::from_polar(1.0, qx * nodes.centre[0] + qy * nodes.centre[1]);
            for g in 0..z.cells {
                let at = |m: usize| complex_of(sums[(3 * j + m) * z.cells + g]);
                pairs[g * 2 * n + j] = shift * (at(0) * qx + at(1) * qy);
                pairs[g * 2 * n + n + j] = shift * at(2);
            }
        }
        let pairs = Right::new(z.cells, 2 * n, &pairs);
        out.par_chunks_mut(BLOCK * places)
            .enumerate()
            .for_each_init(Scratch::default, |scratch, (block, rows)| {
                if watch.stopped() {
                    return;
                }
                let begin = block * BLOCK;
                let m = BLOCK.min(heights - begin);
                let waves = &across[begin * z.cells..(begin + m) * z.cells];
                let both = multiply(m, waves, &pairs, scratch);
                for (k, sums) in both.chunks(2 * n).enumerate() {
                    let qz = sheet.z[begin + k];
                    let to = &mut rows[k * places + first..k * places + first + n];
                    surface.row(row, qz, sums.split_at(n), to);
                }
                watch.tick((m * n) as u64);
            });
    }
    (!watch.stopped()).then_some(out)
}

fn complex_of([re, im]: [f64; 2]) -> Complex64 {
    Complex64::new(re, im)
}

/// Real and imaginary planes [y][6][z] as complex numbers [y][3][z].
fn complex(grid: &[f64], rows: usize, columns: usize) -> Vec<Complex64> {
    let mut out = Vec::with_capacity(rows * 3 * columns);
    for plane in grid[..rows * 6 * columns].chunks(2 * columns) {
        let (re, im) = plane.split_at(columns);
        out.extend(re.iter().zip(im).map(|(&a, &b)| Complex64::new(a, b)));
    }
    out
}

/// F on many sheets, each with its own few q_z: sums are made at the nodes of a grid in q_x and q_y that
/// all sheets share, and read between them.
pub struct Band {
    surface: Arc<Surface>,
    window: Window,
    z: Axis,
    /// q_x: terms of Chebyshev, middle and half width.
    x: (usize, f64, f64),
    /// q_y: nodes, the first of them, their distance.
    y: (usize, f64, f64),
    /// [cell in z][term in x][node in y][m].
    cells: Right,
}

/// The grids of a transform on many sheets.
pub(crate) struct Layout {
    pub window: Window,
    pub y: Axis,
    pub z: Axis,
    /// q_x: terms of Chebyshev, middle and half width.
    pub x: (usize, f64, f64),
    /// q_y: nodes, the first of them, their distance.
    pub nodes: (usize, f64, f64),
    /// Of strengths, for reading between the nodes.
    pub correction: Correction,
}

impl Layout {
    pub fn new(nodes: &Nodes, extent: &Extent, accuracy: f64) -> Self {
        let window = Window::new(accuracy);
        let (middle, half) = (
            0.5 * (extent.x[0] + extent.x[1]),
            (0.5 * (extent.x[1] - extent.x[0])).max(1e-12),
        );
        let terms = Band::terms(nodes, extent, accuracy).min(MOST_TERMS);
        // Nodes in q_y, with room for the window on both sides.
        let size = nodes.extent(1).max(1e-6);
        let step = PI / (OVERSAMPLING * size);
        let margin = 0.5 * window.width as f64 + 1.0;
        let first = extent.y[0] - margin * step;
        let count = ((extent.y[1] - extent.y[0]) / step + 2.0 * margin).ceil() as usize + 1;
        let wide = [first, first + (count - 1) as f64 * step];
        Self {
            y: Axis::new(nodes.extent(1), wide, &window),
            z: Axis::new(nodes.extent(2), extent.z, &window),
            x: (terms, middle, half),
            nodes: (count, first, step),
            correction: Correction::new(&window, size, step),
            window,
        }
    }
}

/// Most terms in q_x: what the reading kernel holds.
pub const MOST_TERMS: usize = 64;

impl Band {
    /// Terms in q_x that this range needs; above [`MOST_TERMS`] it cannot be served.
    pub fn terms(nodes: &Nodes, extent: &Extent, accuracy: f64) -> usize {
        chebyshev::terms(
            0.5 * (extent.x[1] - extent.x[0]) * nodes.extent(0),
            accuracy,
        )
    }

    pub fn new(surface: impl Into<Arc<Surface>>, extent: &Extent, accuracy: f64) -> Self {
        let surface = surface.into();
        let nodes = &surface.nodes;
        let Layout {
            window,
            y,
            z,
            x: (terms, middle, half),
            nodes: (count, first, step),
            correction,
        } = Layout::new(nodes, extent, accuracy);
        let places: Vec<f64> = (0..terms)
            .map(|k| middle + half * chebyshev::node(k, terms))
            .collect();
        let grids = spread(nodes, &places, (y, z), &window, Some(&correction));
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
        Self {
            surface,
            window,
            z,
            x: (terms, middle, half),
            y: (count, first, step),
            cells: Right::new(z.cells, terms * count * 3, &cells),
        }
    }

    /// F of each sheet.
    ///
    /// # Panics
    /// A q_y beyond the extent that it was made for.
    pub fn sheets(&self, sheets: &[Sheet], watch: &Watch) -> Option<Vec<Vec<Complex64>>> {
        // As many rows a product as keep its result within the caches.
        let wide = self.x.0 * self.y.0 * 3;
        let per = ((1 << 18) / wide.max(1)).clamp(4, 64);
        let blocks = blocks(sheets, per);
        let out: Vec<Vec<Vec<Complex64>>> = blocks
            .into_par_iter()
            .map_init(Scratch::default, |scratch, sheets| {
                if watch.stopped() {
                    return Vec::new();
                }
                let out = self.block(sheets, wide, scratch);
                watch.tick(sheets.iter().map(|s| s.len() as u64).sum());
                out
            })
            .collect();
        (!watch.stopped()).then(|| out.concat())
    }

    fn block(&self, sheets: &[Sheet], wide: usize, scratch: &mut Scratch) -> Vec<Vec<Complex64>> {
        let kernels = Kernels::best();
        let rows: usize = sheets.iter().map(|s| s.z.len()).sum();
        let waves: Vec<Complex64> = sheets
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
        sheets
            .iter()
            .map(|s| {
                let heights = s.z.len();
                if s.is_empty() {
                    // A row below the horizon.
                    return Vec::new();
                }
                // [term][node][q_z, m, re or im], in whole eights.
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

    fn read(&self, kernels: &Kernels, s: &Sheet, table: &[f64], values: usize) -> Vec<Complex64> {
        let (terms, middle, half) = self.x;
        let (count, first, step) = self.y;
        let places: Vec<f64> =
            s.xy.iter()
                .map(|p| self.window.place((p[1] - first) / step))
                .collect();
        let scaled: Vec<f64> = s.xy.iter().map(|p| (p[0] - middle) / half).collect();
        let n = s.xy.len();
        let mut read = vec![0.0; n * values];
        assert!(
            terms <= MOST_TERMS && inside(&places, count, &self.window),
            "q_y outside of the range that the transform was made for"
        );
        // SAFETY: every place lies between 0 and the nodes less the window's width; there are at most
        // MOST_TERMS terms; arrays have the sizes that the kernel is told.
        unsafe {
            (kernels.read)(
                n as _,
                places.as_ptr(),
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

/// Sheets in runs of about so many q_z.
fn blocks(sheets: &[Sheet], per: usize) -> Vec<&[Sheet]> {
    let mut out = Vec::new();
    let (mut begin, mut rows) = (0, 0);
    for (n, s) in sheets.iter().enumerate() {
        rows += s.z.len();
        if rows >= per {
            out.push(&sheets[begin..=n]);
            (begin, rows) = (n + 1, 0);
        }
    }
    if begin < sheets.len() {
        out.push(&sheets[begin..]);
    }
    out
}
