use super::*;
use crate::problem::{Data, ExpectedValues, Role, Tolerance, Type};
use crate::worker::inputs::arguments::Arguments;
use crate::worker::inputs::arguments::tests::array as named;
use greenup_device::cuda::Emulator;

/// An array of some length.
fn array(kind: Type, len: usize, role: Role) -> Data {
    Data {
        kind,
        len: Some(len),
        ..named(&format!("{kind:?}{len}"), role)
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
