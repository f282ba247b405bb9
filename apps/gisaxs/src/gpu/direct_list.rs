//! Direct sums at any q, in tiles: while the GPU computes one tile, others are copied to it and back.

use super::direct::packed;
use super::{Device, LIST, ListConfig, SINE};
use crate::Q;
use crate::mesh_form_factor::{Precision, QGrid, Request};
use greenup_device::cuda::{Arg, CudaError, Function, Memory, Pinned, Session, Shape};
use rayon::prelude::*;
use std::f64::consts::{LOG2_E, TAU};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A task: the surface and the q, shared with the thread that waits for the result.
#[derive(Clone)]
pub(super) struct Job {
    pub request: Request,
    pub grids: Arc<Vec<QGrid>>,
}

/// Sums of a tile of q over a tile of nodes.
pub(super) struct Tile {
    /// Range among all q, grid after grid.
    pub points: Range<usize>,
    /// Re S1, Im S1, Re S2, Im S2 at each q.
    pub sums: Vec<[f64; 4]>,
    /// Whether later tiles of nodes add to these sums.
    pub more: bool,
}

/// Minimum number of nodes of a tile, for which a pass over all q pays off.
const FEWEST: usize = 1 << 16;

/// The tiles of a job.
struct Plan {
    /// Bytes of a number.
    real: usize,
    /// Nodes of a tile.
    nodes: usize,
    /// q of a tile.
    points: usize,
    /// Number of blocks that share the nodes.
    shares: usize,
}

impl Job {
    /// Index of the first q of each grid.
    fn begins(&self) -> Vec<usize> {
        let mut at = 0;
        self.grids
            .iter()
            .map(|s| {
                let begin = at;
                at += s.len();
                begin
            })
            .collect()
    }

    /// The tiles follow from the q of all devices, not of this one: the nodes are cut the same way on all.
    fn plan(&self, device: &Device, config: &ListConfig) -> Result<Plan, CudaError> {
        let real = if self.request.precision == Precision::F64 {
            8
        } else {
            4
        };
        let count = self.request.extent.points;
        let nodes = self.request.surface.nodes.len();
        let block = config.threads as usize * config.points as usize;
        let points = config.q.min(count).max(1);
        // At least two blocks per multiprocessor, each with some thousand nodes.
        let wanted = 2 * device.gpu.multiprocessors.max(1) as usize;
        let shares = wanted
            .div_ceil(points.div_ceil(block))
            .min(nodes.div_ceil(2048))
            .max(1);
        let bytes = |points: usize| config.buffers * points * (4 * real + 32 * shares);
        let memory = usize::try_from(self.request.memory).unwrap_or(usize::MAX);
        let mut points = points;
        while points > block && 2 * bytes(points) > memory {
            points = (points / 2).max(block);
        }
        let tile = config.tile as usize;
        let left = memory.saturating_sub(bytes(points)) / (8 * real) / tile * tile;
        if left < nodes.min(FEWEST) {
            return Err(CudaError::Driver {
                what: "the memory given is too small for one tile on the GPU",
                cause: format!(
                    "{} bytes for {points} q and {} nodes at once",
                    bytes(points) + 8 * real * nodes.min(FEWEST).next_multiple_of(tile),
                    nodes.min(FEWEST)
                ),
            });
        }
        Ok(Plan {
            real,
            nodes: left.min(nodes.next_multiple_of(tile)),
            points,
            shares,
        })
    }
}

/// A tile of q in flight: a stream of its own, buffers on the host and the GPU.
struct Slot {
    session: Session,
    kernel: Function,
    q: Memory,
    out: Memory,
    host_q: Pinned,
    host_out: Pinned,
    busy: Option<Range<usize>>,
}

/// Slots kept from one job to the next: pinning memory takes longer than most tiles.
#[derive(Default)]
pub(super) struct Kept {
    slots: Vec<Slot>,
    /// Compiler options of the kernel.
    options: Vec<String>,
    /// Bytes of q and of sums.
    bytes: [usize; 2],
}

impl Kept {
    /// Slots that are large enough for these tiles.
    fn slots(
        &mut self,
        device: &Device,
        plan: &Plan,
        (options, buffers): (Vec<String>, usize),
    ) -> Result<&mut Vec<Slot>, CudaError> {
        let bytes = [4 * plan.real * plan.points, 32 * plan.shares * plan.points];
        let fits = self.options == options
            && self.slots.len() == buffers
            && self.bytes.iter().zip(&bytes).all(|(a, b)| a >= b);
        if !fits {
            // Frees the old memory first.
            self.slots.clear();
            let text = LIST.replace("#include \"sine.cuh\"", SINE);
            let cubin = device.compiled("direct_list.cu", &text, &options, &device.gpu.arch)?;
            for _ in 0..buffers {
                let session = device.session.new_stream()?;
                self.slots.push(Slot {
                    kernel: session.load(&cubin)?.function("list")?,
                    q: session.alloc(bytes[0])?,
                    out: session.alloc(bytes[1])?,
                    host_q: session.pinned(bytes[0])?,
                    host_out: session.pinned(bytes[1])?,
                    session,
                    busy: None,
                });
            }
            (self.options, self.bytes) = (options, bytes);
        }
        for slot in &mut self.slots {
            // A stopped job may have left tiles.
            slot.busy = None;
        }
        Ok(&mut self.slots)
    }
}

/// Computes a job; passes each tile to `to`, which returns whether to continue. Returns the time from the first tile to
/// the last, with copies, s.
pub(super) fn run(
    (device, kept): (&Device, &mut Kept),
    job: &Job,
    config: &ListConfig,
    to: &mut dyn FnMut(Tile) -> bool,
) -> Result<f64, CudaError> {
    let plan = job.plan(device, config)?;
    let damped = job.request.extent.im_qz > 0.0;
    let options = config.options(8 * plan.real as u32, damped);
    let slots = kept.slots(device, &plan, (options, config.buffers.max(1)))?;
    let all = packed(&job.request.surface.nodes, config.tile as usize);
    let nodes = device.session.alloc(8 * plan.real * plan.nodes)?;
    let begins = job.begins();
    let count: usize = job.grids.iter().map(QGrid::len).sum();
    let parts: Vec<&[f64]> = all.chunks(8 * plan.nodes).collect();
    let start = Instant::now();
    for (n, part) in parts.iter().enumerate() {
        let more = n + 1 < parts.len();
        // No kernel uses the previous nodes any more: all slots have ended.
        nodes.upload(&bytes(part, plan.real))?;
        for (k, from) in (0..count).step_by(plan.points).enumerate() {
            let slot = k % slots.len();
            let slot = &mut slots[slot];
            if let Some(tile) = slot.take(plan.shares, more)?
                && !to(tile)
            {
                return Ok(0.0);
            }
            let range = from..count.min(from + plan.points);
            slot.start(
                job,
                &begins,
                range,
                (&nodes, part.len() / 8),
                (&plan, config),
            )?;
        }
        // The oldest first.
        let next = count.div_ceil(plan.points.max(1)) % slots.len().max(1);
        slots.rotate_left(next);
        for slot in slots.iter_mut() {
            if let Some(tile) = slot.take(plan.shares, more)?
                && !to(tile)
            {
                return Ok(0.0);
            }
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

impl Slot {
    /// Waits for the tile in flight, if there is one.
    fn take(&mut self, shares: usize, more: bool) -> Result<Option<Tile>, CudaError> {
        let Some(points) = self.busy.take() else {
            return Ok(None);
        };
        let n = points.len();
        let (numbers, _) = self.host_out.bytes()?[..32 * shares * n].as_chunks::<8>();
        let at = |k: usize| f64::from_le_bytes(numbers[k]);
        let sums = (0..n)
            .into_par_iter()
            .with_min_len(4096)
            .map(|i| std::array::from_fn(|m| (0..shares).map(|s| at((4 * s + m) * n + i)).sum()))
            .collect();
        Ok(Some(Tile { points, sums, more }))
    }

    /// Enqueues a tile: copy to the GPU, sums, copy back.
    fn start(
        &mut self,
        job: &Job,
        begins: &[usize],
        range: Range<usize>,
        (nodes, count): (&Memory, usize),
        (plan, config): (&Plan, &ListConfig),
    ) -> Result<(), CudaError> {
        let n = range.len();
        let real = plan.real;
        let (x, rest) = self.host_q.bytes()?[..4 * real * n].split_at_mut(real * n);
        let (y, rest) = rest.split_at_mut(real * n);
        let (z, d) = rest.split_at_mut(real * n);
        x.par_chunks_mut(real)
            .zip(y.par_chunks_mut(real))
            .zip(z.par_chunks_mut(real).zip(d.par_chunks_mut(real)))
            .with_min_len(4096)
            .enumerate()
            .for_each(|(i, ((x, y), (z, d)))| {
                let q = point(&job.grids, begins, range.start + i);
                number(q.x / TAU, x);
                number(q.y / TAU, y);
                number(q.z.re / TAU, z);
                number(-q.z.im * LOG2_E, d);
            });
        self.host_q.upload(&self.q, 4 * real * n)?;
        let block = config.threads as usize * config.points as usize;
        let shape = Shape {
            grid: [n.div_ceil(block) as u32, plan.shares as u32, 1],
            block: [config.threads, 1, 1],
            shared: 0,
        };
        let arguments: [Arg; 5] = [
            count.into(),
            nodes.into(),
            n.into(),
            (&self.q).into(),
            (&self.out).into(),
        ];
        // SAFETY: arguments in the order that direct_list.cu gives; nodes in whole tiles, n q in and shares × 4 n
        // sums out, which the memory holds by `plan`.
        unsafe { self.kernel.call(&shape, &arguments) }?;
        self.host_out.download(&self.out, 32 * plan.shares * n)?;
        self.busy = Some(range);
        Ok(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Memory must not be freed while a kernel uses it.
        let _ = self.session.synchronize();
    }
}

/// The n-th q of all grids.
pub(super) fn point(grids: &[QGrid], begins: &[usize], n: usize) -> Q {
    // An empty grid starts at the same index as the next one; the last of them holds the q.
    let s = begins.partition_point(|b| *b <= n) - 1;
    grids[s].q(n - begins[s])
}

fn number(x: f64, to: &mut [u8]) {
    if to.len() == 8 {
        to.copy_from_slice(&x.to_le_bytes());
    } else {
        to.copy_from_slice(&(x as f32).to_le_bytes());
    }
}

fn bytes(numbers: &[f64], real: usize) -> Vec<u8> {
    let mut out = vec![0; real * numbers.len()];
    for (x, to) in numbers.iter().zip(out.chunks_mut(real)) {
        number(*x, to);
    }
    out
}
