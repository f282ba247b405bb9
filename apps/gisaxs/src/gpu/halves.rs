//! Sums on a tensor grid as a product of matrices on tensor cores, every number as two halves.

use super::grid::{Data, Group, Route};
use super::launch::{Arg, launch};
use super::{Device, HALVES};
use crate::numeric::{Extent, Surface, about_middle};
use greenup_device::cuda::{CudaError, Function, Memory, Shape};

/// Nodes of one product: fewer, and reading and writing sums costs as much as the products.
const NODES: usize = 8192;
/// Nodes of a tile, rows and columns of a block.
const DEEP: usize = 64;
const SIDE: usize = 128;
/// Bytes of a tile, hi and lo; tiles on their way at once.
const TILE: usize = 4 * DEEP * SIDE;
const STAGES: usize = 3;

/// Places in pairs about their middle.
struct Pairs {
    middle: f64,
    distance: Memory,
    count: usize,
    /// Rounded up to whole blocks.
    across: usize,
    /// 4; 6 where q_x or the middle are not 0.
    sets: usize,
    /// Of the strengths, and of those along the surface.
    scale: f64,
    along: f64,
}

pub(super) struct Halves {
    left: Function,
    right: Function,
    multiply: Function,
    finish: Function,
    groups: Vec<Pairs>,
    factors: [Memory; 2],
    sums: Memory,
    /// Heights rounded up to whole blocks.
    heights: usize,
}

fn refused(cause: String) -> CudaError {
    CudaError::Driver {
        what: "products of halves on tensor cores",
        cause,
    }
}

/// Largest of (q_x s_x + m s_y) and of the strengths, and what halves of halves leave of the sum, over the area.
fn scales(surface: &Surface, qx: f64, middle: f64) -> (f64, f64) {
    surface
        .nodes
        .strength
        .iter()
        .fold((0.0_f64, 0.0_f64), |(a, b), s| {
            (
                a.max(s[1].abs()).max(s[2].abs()),
                b.max((qx * s[0] + middle * s[1]).abs()),
            )
        })
}

impl Halves {
    /// # Errors
    /// Not a Hopper GPU; q_y that are not symmetric; triangles or waves of so different sizes that halves
    /// do not hold their accuracy.
    pub fn new(
        device: &Device,
        (surface, data): (&Surface, &Data),
        extent: &Extent,
    ) -> Result<Self, CudaError> {
        if !device.multiplies_halves() {
            return Err(refused(format!(
                "they are written for Hopper (sm_90), this is {}; take --precision f32",
                device.gpu.arch
            )));
        }
        let nodes = &surface.nodes;
        let largest = scales(surface, 0.0, 0.0).0;
        let lift = (extent.damping * nodes.extent(2)).exp();
        // What is below 2^-25 of the largest is lost.
        if nodes.len() as f64 * largest > 64.0 * nodes.area || lift > 64.0 {
            return Err(refused(
                "triangles or waves of too different sizes; take --precision f32".into(),
            ));
        }
        let groups = data
            .groups
            .iter()
            .map(|g| pairs(device, surface, g))
            .collect::<Result<Vec<_>, _>>()?;
        let heights = data.nz.next_multiple_of(DEEP);
        let width = groups.iter().map(|p| p.sets * p.across).max().unwrap_or(0);
        let tiles = NODES.min(nodes.len()).div_ceil(DEEP);
        let module =
            device
                .session
                .load(&device.compiled("halves.cu", HALVES, &[], "sm_90a")?)?;
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
    let found = about_middle(&g.values, surface.nodes.extent(1));
    let (middle, distance) = found.ok_or_else(|| {
        refused("q_y must lie symmetrically about their middle; take --precision f32".into())
    })?;
    let (scale, along) = scales(surface, g.qx, middle);
    let sets = if along > 0.0 { 6 } else { 4 };
    Ok(Pairs {
        middle,
        distance: device.doubles(&distance)?,
        count: distance.len(),
        across: distance.len().next_multiple_of(DEEP),
        sets,
        scale,
        along,
    })
}

impl Route for Halves {
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
            // SAFETY: arguments in the order that halves.cu gives; arrays have the sizes that it indexes, by
            // `new`.
            unsafe {
                launch(
                    &self.left,
                    &blocks(self.heights, tiles),
                    &[
                        data.count.into(),
                        (&data.nodes).into(),
                        first.into(),
                        deep,
                        data.nz.into(),
                        (&data.qz).into(),
                        g.qx.into(),
                        p.middle.into(),
                        (&self.factors[0]).into(),
                    ],
                )?;
                launch(
                    &self.right,
                    &blocks(p.across, tiles),
                    &[
                        data.count.into(),
                        (&data.nodes).into(),
                        first.into(),
                        deep,
                        Arg::Int(p.count as i32),
                        Arg::Int(p.across as i32),
                        (&p.distance).into(),
                        Arg::Int(p.sets as i32),
                        g.qx.into(),
                        p.middle.into(),
                        inverse(p.scale).into(),
                        inverse(p.along).into(),
                        (&self.factors[1]).into(),
                    ],
                )?;
                launch(
                    &self.multiply,
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
            launch(
                &self.finish,
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
                    p.middle.into(),
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
