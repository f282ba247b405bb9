//! Direct sums on a tensor grid by the tuned kernel.

use super::grid_of_threads as blocks;
use super::route::{Data, Group, Route};
use super::{COPIES, DIRECT, Device, DirectConfig, SINE};
use crate::mesh_form_factor::{Nodes, QGrid, Surface};
use greenup_device::cuda::{Arg, CudaError, Function, Memory, Module, Shape};
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::{LOG2_E, TAU};

/// The direct method on a tensor grid.
pub(super) struct Direct {
    config: DirectConfig,
    kernel: Function,
    finish: Function,
    packed: Memory,
    count: usize,
    /// q_y / 2π of each group.
    qy: Vec<Memory>,
    qz: Memory,
    loss: Memory,
    sums: Memory,
}

/// Nodes in the layout of the direct kernels: x y z s_x s_y s_z 0 0, padded with zeros to whole tiles.
pub(super) fn packed(nodes: &Nodes, tile: usize) -> Vec<f64> {
    let mut out = vec![0.0; 8 * nodes.len().next_multiple_of(tile)];
    out.par_chunks_mut(8)
        .zip(nodes.position.par_iter().zip(&nodes.strength))
        .with_min_len(4096)
        .for_each(|(to, (r, s))| {
            to[..3].copy_from_slice(r);
            to[3..6].copy_from_slice(s);
        });
    out
}

impl Direct {
    pub fn new(
        device: &Device,
        (surface, grid, data): (&Surface, &QGrid, &Data),
        (config, damped): (DirectConfig, bool),
        module: &Module,
    ) -> Result<Self, CudaError> {
        let text = DIRECT
            .replace("#include \"copies.cuh\"", COPIES)
            .replace("#include \"sine.cuh\"", SINE);
        let kernel = device
            .module("direct.cu", &text, &config.options(damped))?
            .function("direct")?;
        let nodes = packed(&surface.nodes, config.tile as usize);
        let narrow = |x: &[f64]| -> Vec<f32> { x.par_iter().map(|x| *x as f32).collect() };
        let turns = |q: &f64| (q / TAU) as f32;
        let own = |q: &dyn Fn(&Complex64) -> f32| -> Vec<f32> { grid.z.iter().map(q).collect() };
        let of = |g: &Group| {
            device
                .session
                .floats(&g.values.iter().map(turns).collect::<Vec<_>>())
        };
        Ok(Self {
            config,
            kernel,
            finish: module.function("finish")?,
            count: nodes.len() / 8,
            packed: device.session.floats(&narrow(&nodes))?,
            qy: data.groups.iter().map(of).collect::<Result<_, _>>()?,
            qz: device.session.floats(&own(&|z| turns(&z.re)))?,
            loss: device.session.floats(&own(&|z| (-z.im * LOG2_E) as f32))?,
            sums: device.session.alloc(16 * data.most * data.nz)?,
        })
    }
}

impl Route for Direct {
    fn group(&self, data: &Data, n: usize) -> Result<(), CudaError> {
        let g = &data.groups[n];
        let (ny, nz) = (g.len(), data.nz);
        let [x, y] = self.config.blocks(ny, nz);
        let shape = Shape {
            grid: [x, y, 1],
            block: [self.config.dim_y, self.config.dim_z, 1],
            shared: 0,
        };
        let [cx, cy, cz] = data.centre;
        // SAFETY: arguments in the order that direct.cu and grid.cu give; arrays have the sizes that they
        // index, by `new`.
        unsafe {
            self.kernel.call(
                &shape,
                &[
                    self.count.into(),
                    (&self.packed).into(),
                    ny.into(),
                    (&self.qy[n]).into(),
                    nz.into(),
                    (&self.qz).into(),
                    (&self.loss).into(),
                    Arg::Float((g.qx / TAU) as f32),
                    (&self.sums).into(),
                ],
            )?;
            self.finish.call(
                &blocks(ny, nz),
                &[
                    ny.into(),
                    (&g.qy).into(),
                    nz.into(),
                    (&data.qz).into(),
                    g.qx.into(),
                    cx.into(),
                    cy.into(),
                    cz.into(),
                    (&self.sums).into(),
                    data.out(g),
                ],
            )
        }
    }
}
