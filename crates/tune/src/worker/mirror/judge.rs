//! Results that are compared where they lie, on the GPU. It only acquits: whatever is in doubt is brought to the host, which judges
//! and says what is wrong.

use crate::worker::inputs::arguments::Array;
use greenup_device::cuda::{Arguments, Backend, CudaError, Pointer, Shape};
use std::path::{Path, PathBuf};

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
mod tests {
    use super::*;
    use crate::problem::{Data, ExpectedValues, Fill, Role, Tolerance, Type};
    use crate::worker::inputs::arguments::Arguments;
    use greenup_device::cuda::Emulator;

    /// An array of an odd length.
    fn array(kind: Type, len: usize, role: Role) -> Data {
        Data {
            name: format!("{kind:?}{len}"),
            kind,
            len: Some(len),
            value: 0.0,
            bytes: Vec::new(),
            fill: Fill::Named("random".into()),
            role,
            answer: None,
            symbol: None,
        }
    }

    struct Bench {
        arguments: Arguments,
        judge: Judge<Emulator>,
        now: Vec<u64>,
        before: Vec<u64>,
        /// The arrays as a run leaves them that is right.
        own: Vec<Vec<u8>>,
        /// The reference's outputs.
        right: Vec<u8>,
    }

    const TOLERANCE: Tolerance = Tolerance {
        real: 1e-6,
        whole: 0.0,
    };

    impl Bench {
        fn new(data: &[Data], dir: &Path) -> Self {
            let arguments = Arguments::new(data, 1, dir).unwrap();
            let judge = Judge::new(Emulator::compile(SOURCE, &KERNELS, dir).unwrap());
            let mut rng = fastrand::Rng::with_seed(7);
            let initial: Vec<_> = arguments.arrays().flatten().map(|a| a.bytes).collect();
            let own: Vec<Vec<u8>> = (data.iter().zip(&initial))
                .map(|(d, initial)| match d.role {
                    Role::In => initial.to_vec(),
                    _ => (0..d.len.unwrap())
                        .flat_map(|_| match d.kind {
                            Type::F64 => (rng.f64() - 0.5).to_ne_bytes().to_vec(),
                            Type::F32 => (rng.f32() - 0.5).to_ne_bytes().to_vec(),
                            kind => (0..kind.bytes()).map(|_| rng.u8(..)).collect(),
                        })
                        .collect(),
                })
                .collect();
            let alloc = |bytes: &[u8]| {
                let at = judge.backend.alloc_bytes(bytes.len()).unwrap();
                judge.backend.upload_bytes(at, bytes).unwrap();
                at
            };
            Self {
                now: own.iter().map(|b| alloc(b)).collect(),
                before: initial.iter().map(|b| alloc(b)).collect(),
                right: (data.iter().zip(&own))
                    .filter(|(d, _)| d.role != Role::In)
                    .flat_map(|(_, b)| b.clone())
                    .collect(),
                own,
                judge,
                arguments,
            }
        }

        /// What is found where arrays hold this, on the device and on the host.
        fn found(&mut self, own: &[Vec<u8>]) -> (Option<Acquitted>, Option<Acquitted>) {
            for (at, bytes) in self.now.iter().zip(own) {
                self.judge.backend.upload_bytes(*at, bytes).unwrap();
            }
            for (to, bytes) in self.arguments.contents_mut().flatten().zip(own) {
                to.copy_from_slice(bytes);
            }
            let host = self.arguments.verify(Some(&self.right), TOLERANCE);
            let changed = self.arguments.changed_bytes();
            let host = host.ok().map(|error| Acquitted { error, changed });
            let mut rest = &self.right[..];
            let arrays = self.arguments.arrays().flatten().enumerate();
            let places: Vec<Place> = arrays
                .map(|(i, array)| {
                    let mut reference = None;
                    if array.changes {
                        let (own, later) = rest.split_at(array.bytes.len());
                        (reference, rest) = (Some((own, TOLERANCE.of(array.data.kind))), later);
                    }
                    Place {
                        now: self.now[i],
                        before: self.before[i],
                        hash: hash(array.bytes),
                        array,
                        reference,
                    }
                })
                .collect();
            let device = self.judge.acquit(&places, Some(Path::new("reference")));
            (device.unwrap(), host)
        }
    }

    #[test]
    fn the_device_acquits_only_what_the_host_does() {
        let dir = tempfile::tempdir().unwrap();
        let kinds = [
            (Type::F32, 1003),
            (Type::F64, 517),
            (Type::I64, 3),
            (Type::I32, 33),
            (Type::U16, 21),
            (Type::U8, 77),
        ];
        let mut data: Vec<Data> = Vec::new();
        for (kind, len) in kinds {
            for role in [Role::In, Role::Out, Role::InOut] {
                data.push(array(kind, len, role));
            }
        }
        let mut bench = Bench::new(&data, dir.path());
        let right = bench.own.clone();
        let (device, host) = bench.found(&right);
        assert_eq!(device, host);
        assert!(device.unwrap().changed > 10_000);
        let mut rng = fastrand::Rng::with_seed(3);
        let mut caught = 0;
        for round in 0..8 {
            for (i, d) in data.iter().enumerate() {
                let mut own = right.clone();
                let len = own[i].len();
                // First, last and any byte; any bits.
                let at = match round {
                    0 => 0,
                    1 => len - 1,
                    _ => rng.usize(..len),
                };
                own[i][at] ^= 1 << rng.u32(..8);
                let (device, host) = bench.found(&own);
                // The last bits of outputs are within the tolerance.
                assert!(host.is_some() || device.is_none(), "{} at {at}", d.name);
                if d.role == Role::In || d.kind.is_integer() {
                    assert_eq!(device, None, "{} at {at}", d.name);
                }
                if let (Some(device), Some(host)) = (device, host) {
                    assert_eq!(device, host, "{} at {at}", d.name);
                }
                caught += usize::from(device.is_none());
            }
        }
        assert!(caught > 100, "{caught}");
        // What is not finite is the host's, also where both are.
        for (kind, value) in [
            (Type::F32, f32::NAN.to_ne_bytes().to_vec()),
            (Type::F32, f32::INFINITY.to_ne_bytes().to_vec()),
            (Type::F64, f64::NAN.to_ne_bytes().to_vec()),
            (Type::F64, f64::NEG_INFINITY.to_ne_bytes().to_vec()),
        ] {
            let i = (data.iter()).position(|d| d.kind == kind && d.role == Role::Out);
            let mut own = right.clone();
            let to = own[i.unwrap()].chunks_exact_mut(kind.bytes()).last();
            to.unwrap().copy_from_slice(&value);
            assert_eq!(bench.found(&own).0, None, "{kind:?}");
        }
        // Nor does what a kernel wrote over the right contents acquit it.
        assert!(bench.found(&right).0.is_some());
        let (kept, place) = (bench.judge.kept[2].at, bench.judge.kept[2].of.1);
        let mut own = right.clone();
        own[place].fill(1);
        bench.judge.backend.upload_bytes(kept, &own[place]).unwrap();
        assert_eq!(bench.found(&own).0, None);
        // They are as they were for the next.
        assert!(bench.found(&right).0.is_some());
    }

    #[test]
    fn answers_have_absolute_and_relative_tolerances() {
        let dir = tempfile::tempdir().unwrap();
        let values = |of: &[f32]| -> Vec<u8> { of.iter().flat_map(|v| v.to_ne_bytes()).collect() };
        std::fs::write(dir.path().join("right.bin"), values(&[0.0, 100.0, -7.0])).unwrap();
        let answer = ExpectedValues {
            file: "right.bin".into(),
            atol: 0.1,
            rtol: 0.01,
        };
        let data = [Data {
            answer: Some(answer),
            ..array(Type::F32, 3, Role::Out)
        }];
        let mut bench = Bench::new(&data, dir.path());
        for (own, fine) in [
            ([0.0, 100.0, -7.0], true),
            ([0.09, 101.0, -7.1], true),
            ([0.11, 100.0, -7.0], false),
            ([0.0, 102.0, -7.0], false),
            ([0.0, 100.0, f32::NAN], false),
        ] {
            // The reference agrees with all of them.
            bench.right = values(&own);
            bench.judge.kept.clear();
            let (device, host) = bench.found(&[values(&own)]);
            assert_eq!(device, host, "{own:?}");
            assert_eq!(device.is_some(), fine, "{own:?}");
        }
    }

    #[test]
    fn each_byte_and_its_place_change_the_number() {
        let bytes: Vec<u8> = (0..29).collect();
        let mut seen = std::collections::BTreeSet::from([hash(&bytes), hash(&bytes[..28])]);
        for i in 0..bytes.len() {
            for j in i..bytes.len() {
                let mut other = bytes.clone();
                if i == j {
                    other[i] ^= 0x80;
                } else {
                    other.swap(i, j);
                }
                assert!(seen.insert(hash(&other)), "{i}, {j}");
            }
        }
    }
}
