//! The C microbenchmark kernels, dispatched to the best instruction set.

use greenup_device::{Buffer, Isa};

type Intensity<T> = unsafe extern "C" fn(*const T, usize, i32) -> f64;

/// The kernels compiled for one instruction set.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// Instruction set of these kernels.
    pub isa: Isa,
    intensity_f64: Intensity<f64>,
    intensity_f32: Intensity<f32>,
    integer: unsafe extern "C" fn(*const u32, usize, i32) -> u64,
    square_roots: unsafe extern "C" fn(*const f64, *mut f64, usize),
    read: unsafe extern "C" fn(*const f64, usize) -> u64,
    write: unsafe extern "C" fn(*mut f64, usize),
    copy: unsafe extern "C" fn(*mut f64, *const f64, usize),
    triad: unsafe extern "C" fn(*mut f64, *const f64, *const f64, f64, usize),
    chase: unsafe extern "C" fn(*const u64, u64, usize) -> u64,
}

/// Arrays must be a multiple of this many bytes: 48 of the widest vectors.
pub const GRAIN_BYTES: usize = 48 * 64;

macro_rules! kernels {
    ($module:ident, $isa:expr, $f64:ident, $f32:ident, $int:ident, $sqrt:ident, $read:ident, $write:ident, $copy:ident, $triad:ident, $chase:ident) => {
        mod $module {
            unsafe extern "C" {
                pub fn $f64(x: *const f64, n: usize, k: i32) -> f64;
                pub fn $f32(x: *const f32, n: usize, k: i32) -> f64;
                pub fn $int(x: *const u32, n: usize, k: i32) -> u64;
                pub fn $sqrt(x: *const f64, y: *mut f64, n: usize);
                pub fn $read(x: *const f64, n: usize) -> u64;
                pub fn $write(a: *mut f64, n: usize);
                pub fn $copy(a: *mut f64, b: *const f64, n: usize);
                pub fn $triad(a: *mut f64, b: *const f64, c: *const f64, s: f64, n: usize);
                pub fn $chase(next: *const u64, start: u64, steps: usize) -> u64;
            }
            pub const KERNELS: super::Kernels = super::Kernels {
                isa: $isa,
                intensity_f64: $f64,
                intensity_f32: $f32,
                integer: $int,
                square_roots: $sqrt,
                read: $read,
                write: $write,
                copy: $copy,
                triad: $triad,
                chase: $chase,
            };
        }
    };
}

kernels!(
    portable,
    greenup_device::Isa::Portable,
    intensity_v_f64_portable,
    intensity_v_f32_portable,
    integer_portable,
    square_roots_portable,
    read_portable,
    write_portable,
    copy_portable,
    triad_portable,
    chase_portable
);
#[cfg(target_arch = "x86_64")]
kernels!(
    avx2,
    greenup_device::Isa::Avx2,
    intensity_v_f64_avx2,
    intensity_v_f32_avx2,
    integer_avx2,
    square_roots_avx2,
    read_avx2,
    write_avx2,
    copy_avx2,
    triad_avx2,
    chase_avx2
);
#[cfg(target_arch = "x86_64")]
kernels!(
    avx512,
    greenup_device::Isa::Avx512,
    intensity_v_f64_avx512,
    intensity_v_f32_avx512,
    integer_avx512,
    square_roots_avx512,
    read_avx512,
    write_avx512,
    copy_avx512,
    triad_avx512,
    chase_avx512
);
#[cfg(target_arch = "aarch64")]
kernels!(
    neon,
    greenup_device::Isa::Neon,
    intensity_v_f64_neon,
    intensity_v_f32_neon,
    integer_neon,
    square_roots_neon,
    read_neon,
    write_neon,
    copy_neon,
    triad_neon,
    chase_neon
);

impl Kernels {
    /// The kernels of one instruction set, if it was compiled and this CPU has it.
    pub fn for_isa(isa: Isa) -> Option<Self> {
        let kernels = match isa {
            Isa::Portable => portable::KERNELS,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2::KERNELS,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512::KERNELS,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => neon::KERNELS,
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => return None,
            #[cfg(not(target_arch = "aarch64"))]
            Isa::Neon => return None,
        };
        isa.available().then_some(kernels)
    }

    /// The kernels of the best instruction set of this CPU.
    pub fn best() -> Self {
        Self::for_isa(Isa::best()).unwrap_or(portable::KERNELS)
    }

    /// `k` FMAs on each element (0: one add; −1: one add for two elements).
    ///
    /// # Panics
    /// When the slice is not a whole number of grains, or not aligned to 64 bytes.
    pub fn intensity_f64(&self, x: &[f64], k: i32) -> f64 {
        check(x);
        // SAFETY: the ISA is available (constructor), and the slice is whole blocks, aligned.
        unsafe { (self.intensity_f64)(x.as_ptr(), x.len(), k) }
    }

    /// As [`Kernels::intensity_f64`] in single precision.
    pub fn intensity_f32(&self, x: &[f32], k: i32) -> f64 {
        check(x);
        // SAFETY: as above.
        unsafe { (self.intensity_f32)(x.as_ptr(), x.len(), k) }
    }

    /// 2·k integer operations on each element, k a multiple of 48.
    pub fn integer(&self, x: &[u32], k: i32) -> u64 {
        check(x);
        // SAFETY: as above.
        unsafe { (self.integer)(x.as_ptr(), x.len(), k) }
    }

    /// `y[i]` = `√x[i]`.
    pub fn square_roots(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!(x.len(), y.len());
        // SAFETY: the ISA is available, and the slices do not overlap and are of one length.
        unsafe { (self.square_roots)(x.as_ptr(), y.as_mut_ptr(), x.len()) }
    }

    /// Reads all of `x`; returns a checksum.
    pub fn read(&self, x: &[f64]) -> u64 {
        check(x);
        // SAFETY: as for `intensity_f64`.
        unsafe { (self.read)(x.as_ptr(), x.len()) }
    }

    /// Writes all of `a`.
    pub fn write(&self, a: &mut [f64]) {
        check(a);
        // SAFETY: as for `intensity_f64`.
        unsafe { (self.write)(a.as_mut_ptr(), a.len()) }
    }

    /// Copies `b` to `a`.
    pub fn copy(&self, a: &mut [f64], b: &[f64]) {
        check(a);
        check(b);
        assert_eq!(a.len(), b.len());
        // SAFETY: as for `intensity_f64`; the borrow rules keep the slices apart.
        unsafe { (self.copy)(a.as_mut_ptr(), b.as_ptr(), a.len()) }
    }

    /// a = b + s·c.
    pub fn triad(&self, a: &mut [f64], b: &[f64], c: &[f64], s: f64) {
        check(a);
        check(b);
        check(c);
        assert!(a.len() == b.len() && b.len() == c.len());
        // SAFETY: as for `copy`.
        unsafe { (self.triad)(a.as_mut_ptr(), b.as_ptr(), c.as_ptr(), s, a.len()) }
    }

    /// Follows `steps` links from `start`.
    ///
    /// # Panics
    /// When the start is outside.
    pub fn chase(&self, chain: &Chain, start: u64, steps: usize) -> u64 {
        let next = chain.as_slice();
        assert!((start as usize) < next.len());
        // SAFETY: every link of a chain is an index below its length.
        unsafe { (self.chase)(next.as_ptr(), start, steps) }
    }
}

/// Links that all lead to links: what [`Kernels::chase`] follows without looking.
pub struct Chain(Buffer<u64>);

impl Chain {
    /// # Panics
    /// When a link leads outside.
    pub fn new(next: Buffer<u64>) -> Self {
        let links = next.as_slice();
        assert!(
            links.iter().all(|&i| i < links.len() as u64),
            "a link leads outside"
        );
        Self(next)
    }

    /// The links: element i holds the index that follows i.
    pub fn as_slice(&self) -> &[u64] {
        self.0.as_slice()
    }
}

fn check<T>(slice: &[T]) {
    assert!(
        size_of_val(slice).is_multiple_of(GRAIN_BYTES)
            && (slice.as_ptr() as usize).is_multiple_of(64),
        "kernels need whole grains of {GRAIN_BYTES} bytes, aligned to 64"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Kernels> {
        Isa::ALL.into_iter().filter_map(Kernels::for_isa).collect()
    }

    /// The accumulators of `intensity`, recomputed one lane at a time in f64.
    fn reference(x: &[f64], isa: Isa, bytes: usize, k: i32) -> f64 {
        let lanes = isa.vector_bytes() / bytes;
        let u = if isa == Isa::Avx512 || cfg!(target_arch = "aarch64") {
            16
        } else {
            12
        };
        let mut acc = vec![vec![0.0; lanes]; u];
        for (i, a) in acc.iter_mut().enumerate() {
            a.fill(0.25 * (i + 1) as f64);
        }
        let vectors = x.len() / lanes;
        let mut op = 0;
        for i in 0..vectors {
            let step = |acc: &mut Vec<Vec<f64>>, op: usize, f: &dyn Fn(f64, f64) -> f64| {
                for l in 0..lanes {
                    acc[op % 48 % u][l] = f(acc[op % 48 % u][l], x[i * lanes + l]);
                }
            };
            match k {
                0 => {
                    step(&mut acc, op, &|a, x| a + x);
                    op += 1;
                }
                _ => {
                    for _ in 0..k {
                        step(&mut acc, op, &|a, x| a * x + 0.25);
                        op += 1;
                    }
                }
            }
        }
        acc.iter().flatten().sum()
    }

    #[test]
    fn arithmetic_matches_a_scalar_reference_on_every_isa() {
        let mut rng = fastrand::Rng::with_seed(5);
        let x = Buffer::from_fn(3 * GRAIN_BYTES / 8, |_| 0.5 + 0.5 * rng.f64());
        let y = Buffer::from_fn(3 * GRAIN_BYTES / 4, |_| 0.5 + 0.5 * rng.f32());
        let y64: Vec<f64> = y.as_slice().iter().map(|&v| f64::from(v)).collect();
        for k in all() {
            for n in [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 96] {
                let got = k.intensity_f64(x.as_slice(), n);
                let want = reference(x.as_slice(), k.isa, 8, n);
                assert!(
                    (got / want - 1.0).abs() < 1e-11,
                    "{} k={n}: {got} {want}",
                    k.isa
                );
                let got = k.intensity_f32(y.as_slice(), n);
                let want = reference(&y64, k.isa, 4, n);
                assert!(
                    (got / want - 1.0).abs() < 1e-4,
                    "{} f32 k={n}: {got} {want}",
                    k.isa
                );
            }
            assert!(k.intensity_f64(x.as_slice(), -1).is_finite());
        }
    }

    #[test]
    #[should_panic(expected = "a link leads outside")]
    fn a_chain_that_leads_outside_is_refused() {
        let _ = Chain::new(Buffer::from_fn(3, |i| i as u64 + 1));
    }

    /// XOR into eight accumulators of vectors, then the sum of their lanes.
    fn read_reference(x: &[f64], isa: Isa) -> u64 {
        let lanes = isa.vector_bytes() / 8;
        let mut acc = vec![0_u64; 8 * lanes];
        for block in x.chunks(8 * lanes) {
            for (a, x) in acc.iter_mut().zip(block) {
                *a ^= x.to_bits();
            }
        }
        acc.iter().fold(0, |sum, &a| sum.wrapping_add(a))
    }

    /// One round of 48 add-and-xor operations on each vector, one lane at a time.
    fn integer_reference(x: &[u32], isa: Isa) -> u64 {
        let lanes = isa.vector_bytes() / 4;
        let u = if isa == Isa::Avx512 || cfg!(target_arch = "aarch64") {
            16
        } else {
            12
        };
        let c = 0x9e37_79b9_u32;
        let mut acc: Vec<Vec<u32>> = (1..=u).map(|i| vec![c.wrapping_mul(i); lanes]).collect();
        for vector in x.chunks(lanes) {
            for j in 0..48 {
                for (a, x) in acc[j % u as usize].iter_mut().zip(vector) {
                    *a = a.wrapping_add(*x) ^ c;
                }
            }
        }
        acc.iter().flatten().map(|&a| u64::from(a)).sum()
    }

    #[test]
    fn memory_kernels_do_what_they_say_on_every_isa() {
        let n = 2 * GRAIN_BYTES / 8;
        let mut rng = fastrand::Rng::with_seed(6);
        let b = Buffer::from_fn(n, |_| rng.f64());
        let c = Buffer::from_fn(n, |_| rng.f64());
        let ints = Buffer::from_fn(2 * n, |_| rng.u32(..));
        let mut integers = Vec::new();
        for k in all() {
            let mut a = Buffer::from_fn(n, |_| 0.0);
            k.copy(a.as_mut_slice(), b.as_slice());
            assert_eq!(a.as_slice(), b.as_slice());
            k.triad(a.as_mut_slice(), b.as_slice(), c.as_slice(), 3.0);
            let ok = |i: usize| {
                (a.as_slice()[i] - (b.as_slice()[i] + 3.0 * c.as_slice()[i])).abs() < 1e-15
            };
            assert!((0..n).all(ok));
            k.write(a.as_mut_slice());
            assert!(a.as_slice().iter().all(|&x| x == 1.5));
            k.square_roots(b.as_slice(), a.as_mut_slice());
            assert!((0..n).all(|i| a.as_slice()[i] == b.as_slice()[i].sqrt()));
            assert_eq!(k.read(b.as_slice()), read_reference(b.as_slice(), k.isa));
            integers.push((
                k.integer(ints.as_slice(), 48),
                integer_reference(ints.as_slice(), k.isa),
            ));
            let chain = Chain::new(Buffer::from_fn(3, |i| [2, 0, 1][i]));
            assert_eq!(k.chase(&chain, 0, 4), 2);
        }
        assert!(
            integers.iter().all(|(got, want)| got == want),
            "{integers:?}"
        );
    }
}
