//! The kernel of the library faer as a baseline: the crate private-gemm-x86, called as faer calls it. This avoids a
//! dependency on faer itself, which takes long to compile.

use crate::{Matrices, Product, Size};

/// The kernel that faer uses for matrix products on x86 with AVX2 or AVX-512; elsewhere the crate matrixmultiply.
pub struct Faer {
    /// Number of threads.
    pub threads: usize,
}

impl Product for Faer {
    fn name(&self) -> &str {
        if simd().is_some() {
            "faer"
        } else {
            "matrixmultiply"
        }
    }

    fn multiply(&self, x: &mut Matrices) {
        let (a, b) = (x.a.as_slice(), x.b.as_slice());
        self.add_product(x.size, a, b, x.c.as_mut_slice());
    }
}

impl Faer {
    /// C += A·B for row-major A (m × k), B (k × n) and C (m × n).
    ///
    /// # Panics
    /// A slice has another length than its matrix.
    pub fn add_product(&self, size: Size, a: &[f64], b: &[f64], c: &mut [f64]) {
        let Size { m, n, k } = size;
        assert_eq!([a.len(), b.len(), c.len()], [m * k, k * n, m * n]);
        add_product(size, a, b, c, self.threads);
    }
}

/// The instruction set of faer's kernel on this host.
#[cfg(target_arch = "x86_64")]
fn simd() -> Option<private_gemm_x86::InstrSet> {
    use private_gemm_x86::InstrSet;
    if std::arch::is_x86_feature_detected!("avx512f") {
        Some(InstrSet::Avx512)
    } else if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma")
    {
        Some(InstrSet::Avx256)
    } else {
        None
    }
}

#[cfg(target_arch = "x86_64")]
fn add_product(size: Size, a: &[f64], b: &[f64], c: &mut [f64], threads: usize) {
    use private_gemm_x86::{Accum, DType, DstKind, IType, gemm};
    let Some(set) = simd() else {
        return portable(size, a, b, c);
    };
    let none = std::ptr::null::<()>();
    // faer's threshold for threads.
    let parallel = size.m * size.n * size.k >= 4096 * size_of::<f64>();
    // SAFETY: the matrices have the sizes and strides that are passed, and the host has the instructions.
    unsafe {
        gemm(
            DType::F64,
            IType::U64,
            set,
            size.m,
            size.n,
            size.k,
            c.as_mut_ptr().cast(),
            size.n.cast_signed(),
            1,
            none,
            none,
            DstKind::Full,
            Accum::Add,
            a.as_ptr().cast(),
            size.k.cast_signed(),
            1,
            false,
            none,
            0,
            b.as_ptr().cast(),
            size.n.cast_signed(),
            1,
            false,
            (&raw const ONE).cast(),
            if parallel { threads } else { 1 },
        );
    }
}

#[cfg(target_arch = "x86_64")]
static ONE: f64 = 1.0;

#[cfg(not(target_arch = "x86_64"))]
fn simd() -> Option<()> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn add_product(size: Size, a: &[f64], b: &[f64], c: &mut [f64], _threads: usize) {
    portable(size, a, b, c);
}

fn portable(size: Size, a: &[f64], b: &[f64], c: &mut [f64]) {
    let Size { m, n, k } = size;
    let (across, down) = (n.cast_signed(), k.cast_signed());
    // SAFETY: the matrices have the sizes and strides that are passed.
    unsafe {
        matrixmultiply::dgemm(
            m,
            k,
            n,
            1.0,
            a.as_ptr(),
            down,
            1,
            b.as_ptr(),
            across,
            1,
            1.0,
            c.as_mut_ptr(),
            across,
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kernels_give_the_same_product() {
        for (m, n, k) in [(1, 1, 1), (3, 5, 7), (65, 33, 129), (1, 40, 9), (40, 1, 9)] {
            let size = Size { m, n, k };
            let x = Matrices::random(size, 7);
            let (a, b) = (x.a.as_slice(), x.b.as_slice());
            let [mut one, mut two, mut own] = [(); 3].map(|()| x.c.as_slice().to_vec());
            Faer { threads: 1 }.add_product(size, a, b, &mut one);
            Faer { threads: 2 }.add_product(size, a, b, &mut two);
            portable(size, a, b, &mut own);
            for (i, c) in x.c.as_slice().iter().enumerate() {
                let sum: f64 = (0..k).map(|l| a[i / n * k + l] * b[l * n + i % n]).sum();
                for got in [one[i], two[i], own[i]] {
                    assert!((got - c - sum).abs() < 1e-12, "{size} {i}");
                }
            }
        }
    }
}
