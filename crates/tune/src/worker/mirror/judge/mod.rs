//! Results that are compared where they lie, on the GPU. It only acquits: whatever is in doubt is brought to the host, which judges
//! and says what is wrong.

use crate::worker::inputs::arguments::Array;
use greenup_device::cuda::{Arguments, Backend, CudaError, GpuBackend, Pointer, Shape};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Kernels of the comparison; each takes one structure.
pub const SOURCE: &str = include_str!("judge.cu");
/// Their names.
pub const KERNELS: [&str; 2] = [COMPARE, HASH];
const COMPARE: &str = "judge_compare";
const HASH: &str = "judge_hash";
/// Blocks and threads of a launch.
const SHAPE: (u32, u32) = (1024, 256);
/// Words of [`Found`].
const WORDS: usize = 6;

#[derive(Clone, Copy)]
#[repr(C)]
struct Compare {
    own: u64,
    right: u64,
    before: u64,
    found: u64,
    count: u64,
    bytes: u64,
    real: u64,
    atol: f64,
    rtol: f64,
}

// SAFETY: the fields of the kernel's structure.
unsafe impl Arguments for Compare {}

#[derive(Clone, Copy)]
#[repr(C)]
struct Hash {
    own: u64,
    found: u64,
    bytes: u64,
}

// SAFETY: as above.
unsafe impl Arguments for Hash {}

/// What was found in an array.
struct Found {
    worst: f64,
    largest: f64,
    /// Elements that only the host can judge.
    odd: u64,
    /// Elements outside of the tolerances of their answer.
    wrong: u64,
    changed: u64,
    hash: u64,
}

impl Found {
    fn of(w: &[u64]) -> Option<Self> {
        let [worst, largest, odd, wrong, changed, hash] = *w else {
            return None;
        };
        Some(Self {
            worst: f64::from_bits(worst),
            largest: f64::from_bits(largest),
            odd,
            wrong,
            changed,
            hash,
        })
    }

    /// Largest error over the largest value of the right array.
    fn error(&self) -> f64 {
        self.worst / self.largest.max(f64::MIN_POSITIVE)
    }
}

/// An array on the device.
pub struct Place<'a> {
    /// The array and its contents before a run, 0 where the device has none.
    pub now: u64,
    pub before: u64,
    /// [`hash`] of what an input must hold.
    pub hash: u64,
    pub array: Array<'a>,
    /// What the array holds if the results are those of the reference, and the largest error over its largest value.
    pub reference: Option<(&'a [u8], f64)>,
}

/// Results that are right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acquitted {
    /// Largest error over the largest value of its array.
    pub error: f64,
    /// Bytes that the run changed.
    pub changed: usize,
}

/// Right contents of arrays, kept on the device.
struct Kept {
    /// The reference, or none for answers, and the number of the array.
    of: (Option<PathBuf>, usize),
    at: u64,
    bytes: usize,
    hash: u64,
}

/// Compares arrays on a device.
pub struct Judge<B: Backend> {
    backend: B,
    found: Option<(Pointer<u64>, usize)>,
    kept: Vec<Kept>,
}

impl Judge<GpuBackend> {
    /// On the GPU of this number; `None` without a compiler for it.
    pub fn open(ordinal: i32) -> Option<Self> {
        let kernels = KERNELS.map(|k| (k, 0));
        let number = usize::try_from(ordinal).ok()?;
        let backend = GpuBackend::open(number, "judge.cu", SOURCE, &[], &kernels);
        backend.ok().map(Self::new)
    }
}

/// A GPU that is opened, and the comparison that is compiled, in the background: driver and compiler take a while to start. What is wrong who
/// opens them next finds again.
#[derive(Clone)]
pub struct Opening(Arc<OnceLock<()>>);

/// Says that it is over, however the thread ends.
struct Over(Opening);

impl Drop for Over {
    fn drop(&mut self) {
        let _ = self.0.0.set(());
    }
}

impl Opening {
    /// Once in a process for each GPU, which stays open.
    pub fn begin(ordinal: i32) -> Self {
        static ALL: Mutex<BTreeMap<i32, Opening>> = Mutex::new(BTreeMap::new());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = || {
            let opening = Self(Arc::new(OnceLock::new()));
            let over = Over(opening.clone());
            std::thread::spawn(move || {
                let _over = over;
                Judge::open(ordinal).map(std::mem::forget)
            });
            opening
        };
        all.entry(ordinal).or_insert_with(begin).clone()
    }

    /// Waits for the end: nothing is measured beside it.
    pub fn wait(&self) {
        self.0.wait();
    }
}

impl<B: Backend> Judge<B> {
    /// Of a backend with [`KERNELS`].
    pub fn new(backend: B) -> Self {
        Self {
            backend,
            found: None,
            kept: Vec::new(),
        }
    }

    /// Bytes that are not yet on the device, of the right contents that `places` need.
    pub fn missing_bytes(&self, places: &[Place], reference: Option<&Path>) -> usize {
        (rights(places, reference))
            .filter(|(of, ..)| !self.kept.iter().any(|k| &k.of == of))
            .map(|(_, right, _)| right.len())
            .sum()
    }

    /// Whether all arrays hold what they must; `None` where the host must look. All work on the device is over.
    ///
    /// # Errors
    /// The device is lost, or has no memory for the right contents.
    pub fn acquit(
        &mut self,
        places: &[Place],
        reference: Option<&Path>,
    ) -> Result<Option<Acquitted>, CudaError> {
        let asked: Vec<_> = rights(places, reference).collect();
        for (of, right, _) in &asked {
            if !self.kept.iter().any(|k| &k.of == of) {
                let at = self.backend.alloc_bytes(right.len().max(1))?;
                self.backend.upload_bytes(at, right)?;
                self.kept.push(Kept {
                    of: of.clone(),
                    at,
                    bytes: right.len(),
                    hash: hash(right),
                });
            }
        }
        let n = places.len() + 2 * asked.len();
        let found = match self.found {
            Some((at, len)) if len == n => at,
            _ => {
                let at = self.backend.alloc(n * WORDS)?;
                self.found = Some((at, n));
                at
            }
        };
        self.backend.upload(found, &vec![0_u64; n * WORDS])?;
        let result = |i: usize| found.address() + (8 * WORDS * i) as u64;
        for (i, p) in places.iter().enumerate() {
            if p.array.changes {
                self.compare(p, 0, (0.0, 0.0), result(i))?;
            } else if p.array.checked {
                self.hash(p.now, p.array.bytes.len(), result(i))?;
            }
        }
        for (k, (of, _, want)) in asked.iter().enumerate() {
            let (Some(p), Some(kept)) = (
                places.get(of.1),
                self.kept.iter().find(|kept| &kept.of == of),
            ) else {
                return Ok(None);
            };
            let at = places.len() + 2 * k;
            // A kernel may have written there too.
            self.hash(kept.at, kept.bytes, result(at))?;
            let tolerances = match want {
                Want::Within { atol, rtol } => (*atol, *rtol),
                Want::Relative(_) => (f64::INFINITY, 0.0),
            };
            self.compare(p, kept.at, tolerances, result(at + 1))?;
        }
        self.backend.wait()?;
        let mut words = vec![0_u64; n * WORDS];
        self.backend.download(found, &mut words)?;
        let all: Option<Vec<Found>> = words.chunks_exact(WORDS).map(Found::of).collect();
        let Some(all) = all else {
            return Ok(None);
        };
        for ((of, right, _), f) in asked.iter().zip(all[places.len()..].chunks_exact(2)) {
            let kept = self.kept.iter().find(|k| &k.of == of);
            if let Some(kept) = kept.filter(|kept| kept.hash != f[0].hash) {
                self.backend.upload_bytes(kept.at, right)?;
            }
        }
        Ok(self.judged(places, &asked, &all))
    }

    fn judged(
        &self,
        places: &[Place],
        asked: &[(Of, &[u8], Want)],
        all: &[Found],
    ) -> Option<Acquitted> {
        let (arrays, rest) = all.split_at(places.len());
        let mut out = Acquitted {
            error: 0.0,
            changed: 0,
        };
        for (p, f) in places.iter().zip(arrays) {
            if p.array.changes {
                out.changed += f.changed as usize * p.array.data.kind.bytes();
            } else if p.array.checked && f.hash != p.hash {
                return None;
            }
        }
        for ((of, _, want), f) in asked.iter().zip(rest.chunks_exact(2)) {
            let kept = self.kept.iter().find(|k| &k.of == of)?;
            let error = f[1].error();
            let fine = match want {
                Want::Within { .. } => f[1].wrong == 0,
                Want::Relative(tolerance) => error <= *tolerance,
            };
            if f[0].hash != kept.hash || f[1].odd > 0 || !fine {
                return None;
            }
            out.error = out.error.max(error);
        }
        Some(out)
    }

    fn compare(
        &self,
        p: &Place,
        right: u64,
        (atol, rtol): (f64, f64),
        found: u64,
    ) -> Result<(), CudaError> {
        let (kind, bytes) = (p.array.data.kind, p.array.bytes.len());
        let own = Compare {
            own: p.now,
            right,
            before: if right == 0 { p.before } else { 0 },
            found,
            count: (bytes / kind.bytes()) as u64,
            bytes: kind.bytes() as u64,
            real: u64::from(!kind.is_integer()),
            atol,
            rtol,
        };
        // SAFETY: the structure of the kernel; each array has as many elements.
        unsafe { self.backend.launch(COMPARE, &shape(own.count), &own) }
    }

    fn hash(&self, own: u64, bytes: usize, found: u64) -> Result<(), CudaError> {
        let bytes = bytes as u64;
        let own = Hash { own, found, bytes };
        // SAFETY: as above.
        unsafe { self.backend.launch(HASH, &shape(bytes / 8), &own) }
    }
}

/// Few blocks for few elements.
fn shape(count: u64) -> Shape {
    let (blocks, threads) = SHAPE;
    let needed = count.div_ceil(u64::from(threads)).clamp(1, blocks.into());
    Shape::line(needed as u32, threads)
}

/// Of a reference or, without, of an answer; the number of the array.
type Of = (Option<PathBuf>, usize);

/// What is asked of the values of an array.
enum Want {
    /// Absolute and relative to each value.
    Within { atol: f64, rtol: f64 },
    /// Relative to the largest value.
    Relative(f64),
}

/// Right contents of the arrays, with what is asked.
fn rights<'a>(
    places: &'a [Place<'a>],
    reference: Option<&'a Path>,
) -> impl Iterator<Item = (Of, &'a [u8], Want)> {
    places.iter().enumerate().flat_map(move |(i, p)| {
        let answer = p.array.answer.map(|(right, a)| {
            let (atol, rtol) = (a.atol, a.rtol);
            ((None, i), right, Want::Within { atol, rtol })
        });
        let of_reference = p.reference.map(|(right, tolerance)| {
            let of = (reference.map(Path::to_owned), i);
            (of, right, Want::Relative(tolerance))
        });
        answer.into_iter().chain(of_reference)
    })
}

/// A number of all bytes with their places, as the kernel computes it.
pub fn hash(bytes: &[u8]) -> u64 {
    let mixed = |word: u64, i: u64| {
        let mut w = word ^ i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        w = (w ^ (w >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        w = (w ^ (w >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        w ^ (w >> 31)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sum = 0_u64;
    for (i, w) in (1..).zip(words) {
        sum = sum.wrapping_add(mixed(u64::from_le_bytes(*w), i));
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        sum = sum.wrapping_add(mixed(u64::from_le_bytes(last), words.len() as u64 + 1));
    }
    sum
}

#[cfg(test)]
mod tests;
