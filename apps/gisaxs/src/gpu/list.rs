//! Direct sums at any q, tile by tile: while the GPU sums one, others are on their way to it and back.

use super::direct::packed;
use super::launch::{Arg, launch};
use super::{Device, LIST, ListConfig, SINE};
use crate::Q;
use crate::numeric::{Extent, Precision, Sheet, Surface};
use greenup_device::cuda::{CudaError, Function, Memory, Pinned, Session, Shape};
use rayon::prelude::*;
use std::f64::consts::{LOG2_E, TAU};
use std::ops::Range;
use std::sync::Arc;

/// What is summed, shared with whoever waits for it.
#[derive(Clone)]
pub(super) struct Job {
    pub surface: Arc<Surface>,
    pub sheets: Arc<Vec<Sheet>>,
    pub precision: Precision,
    /// Bytes on the GPU for nodes, q and sums.
    pub memory: u64,
}

/// Sums of a tile of q over a tile of nodes.
pub(super) struct Tile {
    /// Of all q, sheet by sheet.
    pub points: Range<usize>,
    /// Re S1, Im S1, Re S2, Im S2 of each.
    pub sums: Vec<[f64; 4]>,
    /// Whether later tiles of nodes add to them.
    pub more: bool,
}

/// Nodes of the least tile that is worth a pass over all q.
const FEWEST: usize = 1 << 16;

/// How a job is cut.
struct Plan {
    /// Bytes of a number.
    real: usize,
    /// Nodes and q of a tile, and blocks that share the nodes.
    nodes: usize,
    points: usize,
    shares: usize,
}

impl Job {
    /// Where each sheet's q begin.
    fn begins(&self) -> Vec<usize> {
        let mut at = 0;
        self.sheets
            .iter()
            .map(|s| {
                let begin = at;
                at += s.len();
                begin
            })
            .collect()
    }

    fn plan(&self, device: &Device, config: &ListConfig) -> Result<Plan, CudaError> {
        let real = if self.precision == Precision::Double {
            8
        } else {
            4
        };
        let count: usize = self.sheets.iter().map(Sheet::len).sum();
        let nodes = self.surface.nodes.len();
        let block = (config.threads * config.points) as usize;
        let points = config.q.min(count).max(1);
        // Twice as many blocks as multiprocessors at least, each with some thousand nodes.
        let wanted = 2 * device.gpu.multiprocessors.max(1) as usize;
        let shares = wanted
            .div_ceil(points.div_ceil(block))
            .min(nodes.div_ceil(2048))
            .max(1);
        let bytes = |points: usize| config.buffers * points * (4 * real + 32 * shares);
        let memory = usize::try_from(self.memory).unwrap_or(usize::MAX);
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

/// A tile of q on its way: its own stream, memory on both sides.
struct Slot {
    session: Session,
    kernel: Function,
    q: Memory,
    out: Memory,
    host_q: Pinned,
    host_out: Pinned,
    busy: Option<Range<usize>>,
}

/// Slots from one job to the next: pinning memory takes longer than most tiles.
#[derive(Default)]
pub(super) struct Kept {
    slots: Vec<Slot>,
    /// Of the kernel, and bytes of q and of sums.
    options: Vec<String>,
    bytes: [usize; 2],
}

impl Kept {
    /// Slots that hold these tiles.
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
            // First the memory of before.
            self.slots.clear();
            let text = LIST.replace("#include \"sine.cuh\"", SINE);
            let cubin = device.compiled("list.cu", &text, &options, &device.gpu.arch)?;
            for _ in 0..buffers {
                let session = device.session.beside()?;
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
            // What a stopped job left.
            slot.busy = None;
        }
        Ok(&mut self.slots)
    }
}

/// Computes all of it; gives each tile to `to`, which says whether to go on.
pub(super) fn run(
    (device, kept): (&Device, &mut Kept),
    job: &Job,
    config: &ListConfig,
    to: &mut dyn FnMut(Tile) -> bool,
) -> Result<(), CudaError> {
    let plan = job.plan(device, config)?;
    let damped = Extent::of(&job.sheets).damping > 0.0;
    let options = config.options(8 * plan.real as u32, damped);
    let slots = kept.slots(device, &plan, (options, config.buffers.max(1)))?;
    let all = packed(&job.surface.nodes, config.tile as usize);
    let nodes = device.session.alloc(8 * plan.real * plan.nodes)?;
    let begins = job.begins();
    let count: usize = job.sheets.iter().map(Sheet::len).sum();
    let parts: Vec<&[f64]> = all.chunks(8 * plan.nodes).collect();
    for (n, part) in parts.iter().enumerate() {
        let more = n + 1 < parts.len();
        // Nobody reads the nodes of before any more: every slot was waited for.
        nodes.upload(&bytes(part, plan.real))?;
        for (k, from) in (0..count).step_by(plan.points).enumerate() {
            let slot = k % slots.len();
            let slot = &mut slots[slot];
            if let Some(tile) = slot.take(plan.shares, more)?
                && !to(tile)
            {
                return Ok(());
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
                return Ok(());
            }
        }
    }
    Ok(())
}

impl Slot {
    /// Waits for the tile that is under way, if there is one.
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

    /// Puts a tile on the stream: to the GPU, its sums, and back.
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
                let q = point(&job.sheets, begins, range.start + i);
                number(q.x / TAU, x);
                number(q.y / TAU, y);
                number(q.z.re / TAU, z);
                number(-q.z.im * LOG2_E, d);
            });
        self.host_q.upload(&self.q, 4 * real * n)?;
        let block = (config.threads * config.points) as usize;
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
        // SAFETY: arguments in the order that list.cu gives; nodes in whole tiles, n q in and shares × 4 n
        // sums out, which the memory holds by `plan`.
        unsafe { launch(&self.kernel, &shape, &arguments) }?;
        self.host_out.download(&self.out, 32 * plan.shares * n)?;
        self.busy = Some(range);
        Ok(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Memory must not go while a kernel uses it.
        let _ = self.session.synchronize();
    }
}

/// The n-th q of all sheets.
pub(super) fn point(sheets: &[Sheet], begins: &[usize], n: usize) -> Q {
    // Sheets without q share their beginning with the next one, which is the last of both.
    let s = begins.partition_point(|b| *b <= n) - 1;
    sheets[s].q(n - begins[s])
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
