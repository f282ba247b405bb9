//! The nonuniform FFT on rows of a detector; the host computes phases, the GPU the rest.

use super::spread;
use super::{Device, NUFFT_DETECTOR};
use crate::mesh_form_factor::{Layout, QGrid, Request, chebyshev};
use greenup_device::cuda::{Arg, CudaError, Event, Memory, Shape};
use num_complex::Complex64;
use rayon::prelude::*;

/// F on each grid, nm³, and the time on the GPU, s. `sums`: the nodes, spread; without them they are spread here.
///
/// # Errors
/// The GPU fails, or the memory is too small for one row.
pub(super) fn run(
    device: &Device,
    request: &Request,
    grids: &[QGrid],
    sums: Option<&[i64]>,
) -> Result<(Vec<Vec<Complex64>>, f64), CudaError> {
    let surface = &*request.surface;
    let memory = request.memory;
    let nodes = &surface.nodes;
    let layout = Layout::new(nodes, &request.extent, request.accuracy);
    let module = device.module("nufft_detector.cu", NUFFT_DETECTOR, &[])?;
    let read = module.function("read")?;
    let heights = module.function("heights")?;
    let (terms, center, half) = layout.x;
    let (count, first, step) = layout.nodes;
    let cells = request.cells()?;
    let unit = cells.unit;
    let mut device_s = 0.0;
    let cells = match sums {
        Some(sums) => spread::upload(device, sums)?,
        None => {
            let (sums, s) = spread::run(device, nodes, 0..nodes.len(), cells)?;
            device_s += s;
            spread::upload(device, &sums)?
        }
    };
    let session = &device.session;
    let (begin, end) = (session.event()?, session.event()?);
    let coefficients = coefficients(device, (&layout, unit), (&cells, (&begin, &end)))?;
    device_s += end.since(&begin)?;
    let line = terms * count * 3;
    let z = &layout.z;
    // The table of each q_z, its wave, and F.
    let each = |s: &QGrid| 16 * (s.z.len() * (line + z.cells) + s.len() + s.xy.len()) as u64;
    let fixed = 16 * (line * z.cells) as u64 + 48 * nodes.len() as u64;
    let mut out = Vec::with_capacity(grids.len());
    let mut rest = grids;
    while !rest.is_empty() {
        let mut used = fixed;
        let fit = rest
            .iter()
            // The limit of blocks of a launch along z.
            .take(1 << 15)
            .take_while(|s| {
                used += each(s);
                used <= memory
            })
            .count();
        if fit == 0 {
            return Err(CudaError::Driver {
                what: "the memory given is too small for one row on the GPU",
                cause: format!("{} bytes", fixed + each(&rest[0])),
            });
        }
        let (some, after) = rest.split_at(fit);
        rest = after;
        let all: Vec<Complex64> = some.iter().flat_map(|s| s.z.iter().copied()).collect();
        if all.is_empty() {
            out.extend(some.iter().map(|_| Vec::new()));
            continue;
        }
        let c = nodes.centre;
        let waves: Vec<Complex64> = all
            .par_iter()
            .flat_map_iter(|q| {
                let shift = (Complex64::I * q * c[2]).exp();
                z.waves(*q, &layout.window)
                    .into_iter()
                    .map(move |w| w * shift)
            })
            .collect();
        let table = device.session.alloc(16 * all.len() * line)?;
        let (waves, qz) = (complex(device, &waves)?, complex(device, &all)?);
        let positions: Vec<f64> = some
            .iter()
            .flat_map(|s| s.xy.iter().flat_map(|p| p.iter().copied()))
            .collect();
        let positions = device.session.doubles(&positions)?;
        let mut rows: Vec<u8> = Vec::new();
        let (mut position, mut height, mut value) = (0, 0, 0);
        for s in some {
            for n in [position, s.xy.len(), height, s.z.len(), value] {
                rows.extend((n as i64).to_le_bytes());
            }
            position += s.xy.len();
            height += s.z.len();
            value += s.len();
        }
        let row = device.session.alloc(rows.len())?;
        row.upload(&rows)?;
        let f = device.session.alloc(16 * value)?;
        let widest = some.iter().map(|s| s.xy.len()).max().unwrap_or(0);
        let most = some.iter().map(|s| s.z.len()).max().unwrap_or(0);
        begin.record()?;
        // SAFETY: arguments in the order that nufft_detector.cu gives; arrays have the sizes that it indexes.
        unsafe {
            // At most 65,535 blocks along y.
            for from in (0..all.len()).step_by(1 << 15) {
                let n = (all.len() - from).min(1 << 15);
                let shape = Shape {
                    grid: [line.div_ceil(128) as u32, n as u32, 1],
                    block: [128, 1, 1],
                    shared: 0,
                };
                heights.call(
                    &shape,
                    &[
                        line.into(),
                        z.cells.into(),
                        (&coefficients).into(),
                        Arg::At(waves.address() + (16 * from * z.cells) as u64),
                        Arg::At(table.address() + (16 * from * line) as u64),
                    ],
                )?;
            }
            let shape = Shape {
                grid: [widest.div_ceil(128) as u32, most as u32, some.len() as u32],
                block: [128, 1, 1],
                shared: 0,
            };
            read.call(
                &shape,
                &[
                    (&row).into(),
                    (&positions).into(),
                    (&qz).into(),
                    terms.into(),
                    count.into(),
                    center.into(),
                    half.into(),
                    first.into(),
                    step.into(),
                    Arg::Int(layout.window.width as i32),
                    layout.window.beta.into(),
                    c[0].into(),
                    c[1].into(),
                    (&table).into(),
                    (&f).into(),
                ],
            )?;
        }
        end.record()?;
        end.wait()?;
        device_s += end.since(&begin)?;
        let mut bytes = vec![0; 16 * value];
        f.download(&mut bytes)?;
        let mut rest = &bytes[..];
        for s in some {
            let (own, after) = rest.split_at(16 * s.len());
            rest = after;
            let (pairs, _) = own.as_chunks::<16>();
            let at = |(n, b): (usize, &[u8; 16])| {
                let (parts, _) = b.as_chunks::<8>();
                let [re, im] = [parts[0], parts[1]].map(f64::from_le_bytes);
                surface.near(&s.q(n)).unwrap_or(Complex64::new(re, im))
            };
            out.push(
                pairs
                    .par_iter()
                    .enumerate()
                    .with_min_len(1024)
                    .map(at)
                    .collect(),
            );
        }
    }
    Ok((out, device_s))
}

fn complex(device: &Device, numbers: &[Complex64]) -> Result<Memory, CudaError> {
    device.session.doubles(
        &numbers
            .iter()
            .flat_map(|z| [z.re, z.im])
            .collect::<Vec<_>>(),
    )
}

/// Sums over the cells in y at the nodes of q_y, as Chebyshev coefficients in q_x: [cell in z][term][node][m]; `unit` is
/// the value of an integer in `grids`.
fn coefficients(
    device: &Device,
    (layout, unit): (&Layout, f64),
    (grids, (begin, end)): (&Memory, (&Event, &Event)),
) -> Result<Memory, CudaError> {
    let (y, z, window) = (&layout.y, &layout.z, &layout.window);
    let terms = layout.x.0;
    let (count, first, step) = layout.nodes;
    let module = device.module("nufft_detector.cu", NUFFT_DETECTOR, &[])?;
    let phases: Vec<Complex64> = (0..count)
        .into_par_iter()
        .flat_map_iter(|n| y.waves(Complex64::new(first + n as f64 * step, 0.0), window))
        .collect();
    let phases = complex(device, &phases)?;
    let weights: Vec<f64> = (0..terms)
        .flat_map(|j| (0..terms).map(move |k| chebyshev::weight(j, k, terms)))
        .collect();
    let weights = device.session.doubles(&weights)?;
    let size = terms * count * 3 * z.cells;
    let values = device.session.alloc(16 * size)?;
    let out = device.session.alloc(16 * size)?;
    let line = |n: usize| Shape::line(n.div_ceil(128) as u32, 128);
    begin.record()?;
    // SAFETY: arguments in the order that nufft_detector.cu gives; arrays have the sizes that they index.
    unsafe {
        module.function("across")?.call(
            &line(size),
            &[
                terms.into(),
                count.into(),
                y.cells.into(),
                z.cells.into(),
                grids.into(),
                unit.into(),
                (&phases).into(),
                (&values).into(),
            ],
        )?;
        module.function("coefficients")?.call(
            &line(size),
            &[
                terms.into(),
                count.into(),
                z.cells.into(),
                (&weights).into(),
                (&values).into(),
                (&out).into(),
            ],
        )?;
    }
    // The memory used above is freed after this.
    end.record()?;
    end.wait()?;
    Ok(out)
}
