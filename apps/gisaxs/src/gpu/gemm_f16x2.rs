//! Sums on a tensor grid as a matrix product on tensor cores, each number as a sum of two f16.

use super::route::{Data, Group, Route};
use super::{Device, GEMM_F16X2};
use crate::mesh_form_factor::{Extent, Surface, about_center};
use greenup_device::cuda::{Arg, CudaError, Function, Memory, Shape};
use greenup_setting::setting;
use rayon::prelude::*;

/// Nodes of one product: with fewer, memory traffic of the sums would take as long as the products.
const NODES: usize = 8192;
/// Nodes of a tile.
const DEEP: usize = 64;
/// Rows and columns of a block.
const SIDE: usize = 128;
/// Bytes of a tile, with both terms of each number.
const TILE: usize = 4 * DEEP * SIDE;
/// Number of tiles in flight.
const STAGES: usize = 3;

/// Positions in pairs about their centre.
struct Pairs {
    center: f64,
    distance: Memory,
    count: usize,
    /// Rounded up to whole blocks.
    across: usize,
    /// Number of sums per pair: 4, or 6 if q_x or the centre is not 0.
    sets: usize,
    /// Scale of the strengths.
    scale: f64,
    /// Scale of q_x s_x + m s_y.
    along: f64,
}

/// The GEMM method on tensor cores.
pub(super) struct GemmF16x2 {
    left: Function,
    right: Function,
    multiply: Function,
    finish: Function,
    groups: Vec<Pairs>,
    factors: [Memory; 2],
    sums: Memory,
    /// Number of q_z, rounded up to whole blocks.
    heights: usize,
}

fn refused(cause: String) -> CudaError {
    CudaError::Driver {
        what: "GEMM of f16x2 on tensor cores",
        cause,
    }
}

/// Largest |s_y| or |s_z| of the nodes, and largest |q_x s_x + m s_y|.
fn scales(surface: &Surface, qx: f64, center: f64) -> (f64, f64) {
    let larger = |(a, b): (f64, f64), (c, d): (f64, f64)| (a.max(c), b.max(d));
    surface
        .nodes
        .strength
        .par_iter()
        .with_min_len(1 << 14)
        .map(|s| {
            (
                s[1].abs().max(s[2].abs()),
                (qx * s[0] + center * s[1]).abs(),
            )
        })
        .reduce(|| (0.0, 0.0), larger)
}

impl GemmF16x2 {
    /// Compiles the kernels and allocates memory.
    ///
    /// # Errors
    /// The GPU is not a Hopper GPU, the q_y are not symmetric, or the sizes of triangles or waves differ too much for
    /// two f16.
    pub fn new(
        device: &Device,
        (surface, data): (&Surface, &Data),
        extent: &Extent,
    ) -> Result<Self, CudaError> {
        if !device.has_f16x2() {
            return Err(refused(format!(
                "they are written for Hopper (sm_90), this is {}; use {}",
                device.gpu.arch,
                setting("precision").to("f32")
            )));
        }
        let nodes = &surface.nodes;
        let largest = scales(surface, 0.0, 0.0).0;
        let lift = (extent.im_qz * nodes.extent(2)).exp();
        // Terms below 2^-25 of the largest are lost.
        if nodes.len() as f64 * largest > 64.0 * nodes.area || lift > 64.0 {
            return Err(refused(format!(
                "triangles or waves of too different sizes; use {}",
                setting("precision").to("f32")
            )));
        }
        let groups = data
            .groups
            .iter()
            .map(|g| pairs(device, surface, g))
            .collect::<Result<Vec<_>, _>>()?;
        let heights = data.nz.next_multiple_of(DEEP);
        let width = groups.iter().map(|p| p.sets * p.across).max().unwrap_or(0);
        let tiles = NODES.min(nodes.len()).div_ceil(DEEP);
        let module = device.module_for("gemm_f16x2.cu", GEMM_F16X2, &[], "sm_90a")?;
        let multiply = module.function("multiply")?;
        multiply.allow_shared(shared())?;
        let memory = |lines: usize| device.session.alloc(lines / SIDE * tiles * TILE);
        Ok(Self {
            left: module.function("left")?,
            right: module.function("right")?,
            finish: module.function("finish")?,
            multiply,
            groups,
            factors: [memory(2 * heights)?, memory(width)?],
            sums: device.session.alloc(4 * 2 * heights * width)?,
            heights,
        })
    }
}

fn shared() -> u32 {
    // Each stage holds a tile of both factors; tiles begin at whole KiB.
    (STAGES * 2 * TILE + 1024) as u32
}

fn pairs(device: &Device, surface: &Surface, g: &Group) -> Result<Pairs, CudaError> {
    let found = about_center(&g.values, surface.nodes.extent(1));
    let (center, distance) = found.ok_or_else(|| {
        refused(format!(
            "q_y must lie symmetrically about their center; use {}",
            setting("precision").to("f32")
        ))
    })?;
    let (scale, along) = scales(surface, g.qx, center);
    let sets = if along > 0.0 { 6 } else { 4 };
    Ok(Pairs {
        center,
        distance: device.session.doubles(&distance)?,
        count: distance.len(),
        across: distance.len().next_multiple_of(DEEP),
        sets,
        scale,
        along,
    })
}

impl Route for GemmF16x2 {
    fn group(&self, data: &Data, n: usize) -> Result<(), CudaError> {
        let (g, p) = (&data.groups[n], &self.groups[n]);
        let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
        let width = p.sets * p.across;
        let blocks = |lines: usize, tiles: usize| Shape {
            grid: [lines.div_ceil(16) as u32, tiles as u32, 1],
            block: [128, 1, 1],
            shared: 0,
        };
        for first in (0..data.count).step_by(NODES) {
            let tiles = NODES.min(data.count - first).div_ceil(DEEP);
            let deep = Arg::Int(tiles as i32);
            // SAFETY: arguments in the order that gemm_f16x2.cu gives; arrays have the sizes that it indexes, by
            // `new`.
            unsafe {
                self.left.call(
                    &blocks(self.heights, tiles),
                    &[
                        data.count.into(),
                        (&*data.nodes).into(),
                        first.into(),
                        deep,
                        data.nz.into(),
                        (&data.qz).into(),
                        g.qx.into(),
                        p.center.into(),
                        (&self.factors[0]).into(),
                    ],
                )?;
                self.right.call(
                    &blocks(p.across, tiles),
                    &[
                        data.count.into(),
                        (&*data.nodes).into(),
                        first.into(),
                        deep,
                        Arg::Int(p.count as i32),
                        Arg::Int(p.across as i32),
                        (&p.distance).into(),
                        Arg::Int(p.sets as i32),
                        g.qx.into(),
                        p.center.into(),
                        inverse(p.scale).into(),
                        inverse(p.along).into(),
                        (&self.factors[1]).into(),
                    ],
                )?;
                self.multiply.call(
                    &Shape {
                        grid: [(width / SIDE) as u32, (2 * self.heights / SIDE) as u32, 1],
                        block: [384, 1, 1],
                        shared: shared(),
                    },
                    &[
                        deep,
                        (&self.factors[0]).into(),
                        (&self.factors[1]).into(),
                        width.into(),
                        Arg::Int((first == 0).into()),
                        (&self.sums).into(),
                    ],
                )?;
            }
        }
        let [x, y, z] = data.centre.map(Arg::from);
        let shape = Shape {
            grid: [p.count.div_ceil(128) as u32, data.nz as u32, 1],
            block: [128, 1, 1],
            shared: 0,
        };
        // SAFETY: as above.
        unsafe {
            self.finish.call(
                &shape,
                &[
                    Arg::Int(p.count as i32),
                    Arg::Int(p.across as i32),
                    (&p.distance).into(),
                    g.len().into(),
                    (&g.qy).into(),
                    data.nz.into(),
                    (&data.qz).into(),
                    g.qx.into(),
                    p.center.into(),
                    Arg::Int(p.sets as i32),
                    p.scale.into(),
                    p.along.into(),
                    x,
                    y,
                    z,
                    width.into(),
                    (&self.sums).into(),
                    data.out(g),
                ],
            )
        }
    }
}
