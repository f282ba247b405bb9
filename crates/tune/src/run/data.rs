//! Arguments of a kernel: data from a seed or a file, in arrays with guards around them.

use crate::problem::{Data, Fill, Role, Type};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::path::Path;

/// Bytes watched before and after each array.
const GUARD: usize = 4096;
const PATTERN: u8 = 0xa5;
/// Huge pages where the system gives them.
const ALIGN: usize = 2 << 20;

/// The arguments of one kernel in memory.
pub struct Arguments {
    data: Vec<Data>,
    blocks: Vec<Block>,
    /// What each array holds before a run.
    initial: Vec<Vec<u8>>,
    scalars: Vec<[u8; 8]>,
}

/// An array with its guards.
pub struct Guarded<'a> {
    pub bytes: &'a [u8],
    /// Bytes of the guard in front.
    pub guard: usize,
    /// Whether runs may change it.
    pub changes: bool,
}

struct Block {
    base: *mut u8,
    layout: Layout,
    bytes: usize,
}

impl Block {
    fn new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes + 2 * GUARD, ALIGN).ok()?;
        // SAFETY: the layout has a size above zero.
        let base = unsafe { alloc_zeroed(layout) };
        if base.is_null() {
            return None;
        }
        let block = Self {
            base,
            layout,
            bytes,
        };
        #[cfg(target_os = "linux")]
        // SAFETY: the range is the block's own; advice changes no contents.
        unsafe {
            libc::madvise(base.cast(), layout.size(), libc::MADV_HUGEPAGE);
        }
        for at in [0, GUARD + bytes] {
            // SAFETY: both guards lie within the block.
            unsafe { std::ptr::write_bytes(base.add(at), PATTERN, GUARD) };
        }
        Some(block)
    }

    fn start(&self) -> *mut u8 {
        // SAFETY: the guard lies within the block.
        unsafe { self.base.add(GUARD) }
    }

    fn contents(&self) -> &[u8] {
        // SAFETY: the bytes are the block's own and initialised.
        unsafe { std::slice::from_raw_parts(self.start(), self.bytes) }
    }

    fn contents_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `contents`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.bytes) }
    }

    fn whole(&self) -> &[u8] {
        // SAFETY: the whole block is its own and initialised.
        unsafe { std::slice::from_raw_parts(self.base, self.bytes + 2 * GUARD) }
    }

    fn whole_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `whole`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.bytes + 2 * GUARD) }
    }

    fn guards_whole(&self) -> bool {
        [0, GUARD + self.bytes].iter().all(|&at| {
            // SAFETY: both guards lie within the block.
            let guard = unsafe { std::slice::from_raw_parts(self.base.add(at), GUARD) };
            guard.iter().all(|&b| b == PATTERN)
        })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.base, self.layout) };
    }
}

fn put(kind: Type, v: f64, out: &mut [u8]) {
    match kind {
        Type::F64 => out.copy_from_slice(&v.to_ne_bytes()),
        Type::F32 => out.copy_from_slice(&(v as f32).to_ne_bytes()),
        Type::I64 => out.copy_from_slice(&(v as i64).to_ne_bytes()),
        Type::I32 => out.copy_from_slice(&(v as i32).to_ne_bytes()),
    }
}

fn get(kind: Type, b: &[u8]) -> f64 {
    match kind {
        Type::F64 => b.try_into().map_or(f64::NAN, f64::from_ne_bytes),
        Type::F32 => b
            .try_into()
            .map_or(f64::NAN, |b| f64::from(f32::from_ne_bytes(b))),
        Type::I64 => b
            .try_into()
            .map_or(f64::NAN, |b| i64::from_ne_bytes(b) as f64),
        Type::I32 => b
            .try_into()
            .map_or(f64::NAN, |b| f64::from(i32::from_ne_bytes(b))),
    }
}

fn initial(d: &Data, len: usize, seed: u64, dir: &Path) -> Result<Vec<u8>, String> {
    let n = d.kind.bytes();
    let mut out = vec![0; len * n];
    let mut each = |f: &mut dyn FnMut(usize) -> f64| {
        for (i, b) in out.chunks_exact_mut(n).enumerate() {
            put(d.kind, f(i), b);
        }
    };
    if d.role == Role::Out {
        // What an output holds before must not matter: not a number, or nonsense.
        each(&mut |_| {
            if matches!(d.kind, Type::F64 | Type::F32) {
                f64::NAN
            } else {
                -1e9
            }
        });
        return Ok(out);
    }
    match &d.fill {
        Fill::Number(v) => each(&mut |_| *v),
        Fill::Named(name) => match name.as_str() {
            "zeros" => {}
            "index" => each(&mut |i| i as f64),
            "normal" => {
                let mut rng = fastrand::Rng::with_seed(seed);
                // Box and Muller's two values at a time.
                let mut second = None;
                each(&mut |_| {
                    second.take().unwrap_or_else(|| {
                        let r = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
                        let (sin, cos) = (std::f64::consts::TAU * rng.f64()).sin_cos();
                        second = Some(r * sin);
                        r * cos
                    })
                });
            }
            name => {
                if let Some(path) = name.strip_prefix("file:") {
                    let path = dir.join(path);
                    let bytes = std::fs::read(&path)
                        .map_err(|e| format!("{} cannot be read: {e}", path.display()))?;
                    if bytes.len() != out.len() {
                        return Err(format!(
                            "{} has {} bytes, `{}` needs {}",
                            path.display(),
                            bytes.len(),
                            d.name,
                            out.len()
                        ));
                    }
                    return Ok(bytes);
                }
                let (lo, hi) = d.fill.bounds().unwrap_or((-1.0, 1.0));
                let mut rng = fastrand::Rng::with_seed(seed);
                let whole = matches!(d.kind, Type::I64 | Type::I32);
                each(&mut |_| {
                    let v = lo + (hi - lo) * rng.f64();
                    if whole { v.floor() } else { v }
                });
            }
        },
    }
    Ok(out)
}

impl Arguments {
    /// Allocates and fills; every array has a seed of its own.
    ///
    /// # Errors
    /// No memory, or a file that does not fit.
    pub fn new(data: &[Data], seed: u64, dir: &Path) -> Result<Self, String> {
        let mut out = Self {
            data: data.to_vec(),
            blocks: Vec::new(),
            initial: Vec::new(),
            scalars: Vec::new(),
        };
        for (i, d) in data.iter().enumerate() {
            let mut scalar = [0; 8];
            put(d.kind, d.value, &mut scalar[..d.kind.bytes()]);
            out.scalars.push(scalar);
            let len = d.len.unwrap_or(0);
            let own = seed.wrapping_mul(0x9e37_79b9).wrapping_add(i as u64);
            out.initial.push(if d.len.is_some() {
                initial(d, len, own, dir)?
            } else {
                Vec::new()
            });
            out.blocks.push(
                Block::new(len * d.kind.bytes())
                    .ok_or_else(|| format!("no memory for `{}`", d.name))?,
            );
        }
        out.reset(true);
        Ok(out)
    }

    /// Restores what kernels change; with `all` the inputs too.
    pub fn reset(&mut self, all: bool) {
        for ((d, block), initial) in self.data.iter().zip(&mut self.blocks).zip(&self.initial) {
            if d.len.is_some() && (all || d.role != Role::In) {
                block.contents_mut().copy_from_slice(initial);
            }
        }
    }

    /// Takes what the arrays hold now as what they hold at the start; outputs stay undefined.
    ///
    /// # Errors
    /// Something was written outside of an array.
    pub fn adopt(&mut self) -> Result<(), String> {
        for ((d, block), initial) in self.data.iter().zip(&self.blocks).zip(&mut self.initial) {
            if !block.guards_whole() {
                return Err(format!("it wrote outside of `{}`", d.name));
            }
            if d.len.is_some() && d.role != Role::Out {
                initial.copy_from_slice(block.contents());
            }
        }
        Ok(())
    }

    /// What the wrapper takes: a pointer an argument.
    pub fn pointers(&mut self) -> Vec<*mut u8> {
        self.data
            .iter()
            .zip(&self.blocks)
            .zip(&mut self.scalars)
            .map(|((d, b), s)| {
                if d.len.is_some() {
                    b.start()
                } else {
                    s.as_mut_ptr()
                }
            })
            .collect()
    }

    /// Each array with the guards around it; none for a scalar.
    pub fn arrays(&self) -> impl Iterator<Item = Option<Guarded<'_>>> {
        self.data.iter().zip(&self.blocks).map(|(d, b)| {
            d.len.map(|_| Guarded {
                bytes: b.whole(),
                guard: GUARD,
                changes: d.role != Role::In,
            })
        })
    }

    /// Each block with its guards, to be overwritten.
    pub fn whole_blocks(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.blocks.iter_mut().map(Block::whole_mut)
    }

    /// Contents of all outputs, one after the other.
    pub fn outputs(&self) -> Vec<u8> {
        self.data
            .iter()
            .zip(&self.blocks)
            .filter(|(d, _)| d.role != Role::In)
            .flat_map(|(_, b)| b.contents().iter().copied())
            .collect()
    }

    /// Compares outputs with the reference's, and inputs and guards with what they were.
    ///
    /// # Errors
    /// The first difference, in words.
    pub fn verify(&self, reference: Option<&[u8]>, tolerance: f64) -> Result<f64, String> {
        for ((d, b), initial) in self.data.iter().zip(&self.blocks).zip(&self.initial) {
            if !b.guards_whole() {
                return Err(format!("it wrote outside of `{}`", d.name));
            }
            if d.len.is_some() && d.role == Role::In && b.contents() != initial.as_slice() {
                return Err(format!("it changed its input `{}`", d.name));
            }
        }
        let Some(mut rest) = reference else {
            return Ok(0.0);
        };
        let mut worst = 0.0_f64;
        for (d, b) in self.data.iter().zip(&self.blocks) {
            if d.role == Role::In || d.len.is_none() {
                continue;
            }
            let own = b.contents();
            let (expected, later) = rest.split_at(own.len().min(rest.len()));
            rest = later;
            let n = d.kind.bytes();
            let scale = expected
                .chunks_exact(n)
                .map(|c| get(d.kind, c).abs())
                .fold(f64::MIN_POSITIVE, f64::max);
            for (i, (x, y)) in own
                .chunks_exact(n)
                .zip(expected.chunks_exact(n))
                .enumerate()
            {
                let (x, y) = (get(d.kind, x), get(d.kind, y));
                let error = (x - y).abs() / scale;
                if error > tolerance || error.is_nan() {
                    return Err(format!(
                        "`{}`[{i}] is {x:e}, the reference has {y:e} (error {error:.1e} of the largest value, {tolerance:.0e} allowed)",
                        d.name
                    ));
                }
                worst = worst.max(error);
            }
        }
        Ok(worst)
    }
}
