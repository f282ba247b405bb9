//! Nodes spread onto the cells of the nonuniform FFT, in integers.

use super::{Device, GRID};
use crate::mesh_form_factor::{Cells, Nodes};
use greenup_device::cuda::{Arg, CudaError, Function, Memory, Shape};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of a node.
const NODE: usize = 48;

/// Nodes from the `from`-th as the kernels read them: x y z s_x s_y s_z, the strengths times `factors`.
fn fill(nodes: &Nodes, from: usize, factors: Option<&[f64]>, to: &mut [u8]) {
    let (all, _) = to.as_chunks_mut::<NODE>();
    all.par_iter_mut()
        .enumerate()
        .with_min_len(4096)
        .for_each(|(i, to)| {
            let n = from + i;
            let f = factors.map_or(1.0, |f| f[n]);
            let strength = nodes.strength[n].iter().map(|s| f * s);
            let (words, _) = to.as_chunks_mut::<8>();
            for (to, x) in words
                .iter_mut()
                .zip(nodes.position[n].iter().copied().chain(strength))
            {
                *to = x.to_ne_bytes();
            }
        });
}

/// The nodes of a range on the GPU.
pub(super) fn copied(
    device: &Device,
    nodes: &Nodes,
    range: Range<usize>,
    factors: Option<&[f64]>,
) -> Result<Memory, CudaError> {
    let memory = device.session.alloc(NODE * range.len())?;
    device.staged(NODE, |staging| {
        staging.upload(&memory, (range.len(), NODE), |some, to| {
            fill(nodes, range.start + some.start, factors, to);
        })
    })?;
    Ok(memory)
}

/// The nodes of a range as the kernels read them.
#[cfg(test)]
pub(super) fn flat(nodes: &Nodes, range: Range<usize>, factors: Option<&[f64]>) -> Vec<f64> {
    let mut out = vec![0; NODE * range.len()];
    fill(nodes, range.start, factors, &mut out);
    let (words, _) = out.as_chunks::<8>();
    words.iter().map(|b| f64::from_ne_bytes(*b)).collect()
}

/// Enqueues the spreading of `count` nodes for one q_x onto cells at an address, which were cleared.
///
/// # Safety
/// `nodes` holds them as [`flat`] does, and `to` is memory for one grid of cells.
pub(super) unsafe fn enqueue(
    kernel: &Function,
    (count, nodes): (usize, &Memory),
    (cells, qx): (&Cells, f64),
    to: Arg,
) -> Result<(), CudaError> {
    let (y, z) = (&cells.y, &cells.z);
    let threads = count * cells.window.width;
    if threads == 0 {
        return Ok(());
    }
    let shape = Shape::line(threads.div_ceil(128) as u32, 128);
    // SAFETY: arguments in the order that grid.cu gives; the caller's promise.
    unsafe {
        kernel.call(
            &shape,
            &[
                count.into(),
                nodes.into(),
                qx.into(),
                y.start.into(),
                y.step.into(),
                y.center.into(),
                z.start.into(),
                z.step.into(),
                z.center.into(),
                Arg::Int(cells.window.width as i32),
                cells.window.beta.into(),
                (1.0 / cells.unit).into(),
                z.cells.into(),
                to,
            ],
        )
    }
}

/// Spreads the nodes of a range for each q_x: the integers of all cells, and the time on the GPU, s.
pub(super) fn run(
    device: &Device,
    nodes: &Nodes,
    range: Range<usize>,
    cells: &Cells,
) -> Result<(Vec<i64>, f64), CudaError> {
    let session = &device.session;
    let kernel = device
        .module("grid.cu", GRID, &["-DBITS=64".to_owned()])?
        .function("spread")?;
    let count = range.len();
    let own = copied(device, nodes, range, cells.factors.as_deref())?;
    let size = 8 * cells.each() * cells.qx.len();
    let sums = session.kept(&vec![0; size])?;
    let (begin, end) = (session.event()?, session.event()?);
    begin.record()?;
    for (k, qx) in cells.qx.iter().enumerate() {
        let to = Arg::At(sums.address() + (8 * k * cells.each()) as u64);
        // SAFETY: the memory was made for these nodes and cells.
        unsafe { enqueue(&kernel, (count, &own), (cells, *qx), to) }?;
    }
    end.record()?;
    end.wait()?;
    let mut bytes = vec![0; size];
    sums.download(&mut bytes)?;
    let (words, _) = bytes.as_chunks::<8>();
    let out = words.iter().map(|b| i64::from_le_bytes(*b)).collect();
    Ok((out, end.since(&begin)?))
}

/// New memory that holds these integers.
pub(super) fn upload(device: &Device, sums: &[i64]) -> Result<Memory, CudaError> {
    let memory = device.session.alloc(8 * sums.len())?;
    device.staged(8, |staging| {
        staging.upload(&memory, (sums.len(), 8), |some, to| {
            let (words, _) = to.as_chunks_mut::<8>();
            words
                .par_iter_mut()
                .zip(&sums[some])
                .with_min_len(1 << 14)
                .for_each(|(to, n)| *to = n.to_le_bytes());
        })
    })?;
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::mesh_form_factor::{
        Method, Precision, QGrid, Request, Sampling, Surface, Watch, grid as on_cpu,
    };
    use greenup_device::cuda::on_fibers;
    use num_complex::Complex64;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_transform_is_right_on_fibers_and_its_cells_do_not_depend_on_the_order() {
        let mut mesh = Mesh::ball(4.0, 12, 14);
        for v in &mut mesh.vertices {
            *v = [v[0] + 0.7, 1.4 * v[1] - 0.3, v[2]];
        }
        let axis = |from: f64, to: f64, n: usize| -> Vec<f64> {
            (0..n)
                .map(|k| from + (to - from) * k as f64 / (n - 1) as f64)
                .collect()
        };
        let heights: Vec<Complex64> = axis(0.1, 2.0, 11)
            .iter()
            .map(|z| Complex64::new(*z, 0.02))
            .collect();
        let grid = QGrid::grid(&[0.3], &axis(-1.5, 1.2, 17), &heights);
        let grids = std::slice::from_ref(&grid);
        let surface = Arc::new(Surface::new(&mesh, 2.6, Sampling::Within(1e-9)));
        let how = (Method::Nufft, Precision::F64, 1e-9);
        let request = Request::new(Arc::clone(&surface), grids, how, 1 << 30);
        let cells = request.cells().unwrap();
        let nodes = &surface.nodes;
        let (y, z, window) = (&cells.y, &cells.z, &cells.window);
        let numbers = [
            vec![
                y.cells as f64,
                z.cells as f64,
                window.width as f64,
                window.beta,
                cells.unit,
                cells.qx[0],
            ],
            vec![y.start, y.step, y.center, z.start, z.step, z.center],
            nodes.centre.to_vec(),
        ];
        let pairs = |all: &[Complex64]| all.iter().flat_map(|z| [z.re, z.im]).collect();
        let rule = window.quadrature().iter().flat_map(|(t, w)| [*t, *w]);
        let arrays = [
            flat(nodes, 0..nodes.len(), None),
            grid.xy.iter().map(|p| p[1]).collect(),
            pairs(&grid.z),
            rule.collect(),
            numbers.concat(),
        ];
        let source = format!(
            "#define BITS 64\nstatic void sincospi(double x, double *s, double *c) {{\n\
             *s = sin(M_PI * x);\n*c = cos(M_PI * x);\n}}\n{GRID}"
        );
        let main = include_str!("../../tests/transform_on_fibers.cc");
        let dir = tempfile::tempdir().unwrap();
        let out = on_fibers(&source, main, &arrays, dir.path()).unwrap();
        let (f, integers) = out.split_at(2 * grid.len());
        let (all, others) = integers.split_at(2 * cells.each());
        let (reversed, parts) = others.split_at(2 * cells.each());
        assert!(all.iter().any(|n| *n != 0.0) && parts.len() == all.len());
        assert_eq!(all, reversed);
        assert_eq!(all, parts);
        let stop = AtomicBool::new(false);
        let watch = Watch {
            progress: &|_| {},
            stop: &stop,
        };
        let want = on_cpu(&surface, &grid, 1e-9, &watch).unwrap();
        let top = want.iter().map(|f| f.norm()).fold(0.0, f64::max);
        let off = f.as_chunks::<2>().0.iter().zip(&want);
        let worst = off
            .map(|([re, im], w)| (Complex64::new(*re, *im) - w).norm())
            .fold(0.0, f64::max);
        assert!(worst < 1e-9 * top, "{worst:e} of {top:e}");
    }
}
