//! The power of work that was not counted: by the kind of its kernel.

use crate::groups::Key;
use crate::kind::{self, PRODUCTS};
use greenup_model::{Machine, Op, Work};
use greenup_study::energy::at_roof;
use serde::Serialize;

/// Kinds of kernels that differ in power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Products of matrices on tensor cores, by their class.
    Tensor(Op),
    /// Products of matrices on other pipes.
    Vector(Op),
    /// Streams slow memory: all others.
    Memory,
    /// Crosses the bus of the host.
    Bus,
}

impl Class {
    /// By the name of a kernel, as libraries and compilers call theirs.
    pub fn of(key: &Key) -> Self {
        let full = match key {
            Key::Kernel { name, .. } => name,
            Key::Copy(5..=8 | 10) | Key::Set => return Self::Memory,
            Key::Copy(_) => return Self::Bus,
        };
        let has = |words: &[&str]| kind::has(full, words);
        let product = has(PRODUCTS) || has(&["flash", "fmha"]);
        if !product || has(&["splitkreduce", "gemv", "reduce_kernel"]) {
            return Self::Memory;
        }
        match () {
            () if has(&["fp8", "e4m3", "e5m2", "qmma"]) => Self::Tensor(Op::TensorFp8),
            () if has(&[
                "bf16",
                "f16",
                "h16",
                "s16816",
                "s1688gemm_f",
                "half",
                "nvjet_t",
                "nvjet_h",
                "flash",
                "fmha",
            ]) =>
            {
                Self::Tensor(Op::TensorBf16)
            }
            () if has(&["tf32", "nvjet_s", "s1688"]) => Self::Tensor(Op::TensorTf32),
            () if has(&["d884", "dgemm_tensor", "nvjet_d"]) => Self::Tensor(Op::TensorF64),
            () if has(&["int8", "imma", "i8"]) => Self::Tensor(Op::TensorInt8),
            () if has(&["dgemm", "f64", "double"]) => Self::Vector(Op::F64),
            () => Self::Vector(Op::F32),
        }
    }

    /// In words.
    pub fn name(self) -> String {
        match self {
            Self::Tensor(op) | Self::Vector(op) => format!("products, {op}"),
            Self::Memory => "streams memory".to_owned(),
            Self::Bus => "host bus".to_owned(),
        }
    }

    /// Its power above the constant power at the roof of its class, W; `None` if the machine lacks it.
    pub fn power_w(self, machine: &Machine) -> Option<f64> {
        let pi0 = machine.constant_power_w.as_ref()?.value;
        let power = |counts: &[(Op, f64)]| -> Option<f64> {
            let mut work = Work::new();
            for (op, n) in counts {
                work.add(*op, *n).ok()?;
            }
            let p = at_roof(machine, &work).ok()?;
            Some((p.power_w? - pi0).max(0.0))
        };
        match self {
            // Blocks of a product are read from L2 now and then.
            Self::Tensor(op) | Self::Vector(op) => {
                power(&[(op, 1e12), (Op::L2, 2e9), (Op::Dram, 1e9)])
                    .or_else(|| power(&[(Op::F32, 1e12)]))
            }
            Self::Memory => power(&[(Op::Dram, 1e12)]),
            Self::Bus => Some(0.0),
        }
    }
}

/// The share of a GPU that a launch can keep busy: a product fills a multiprocessor with one block; other kernels need half of the
/// threads that it holds.
pub fn filled(key: &Key, class: Class, multiprocessors: Option<i64>) -> f64 {
    let (Key::Kernel { grid, block, .. }, Some(n)) = (key, multiprocessors.filter(|n| *n > 0))
    else {
        return 1.0;
    };
    let product = |v: &[i32; 3]| v.iter().map(|n| f64::from(*n)).product::<f64>();
    let each = match class {
        Class::Memory => product(block) / 1024.0,
        _ => 1.0,
    };
    (product(grid) * each / n as f64).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, grid: i32) -> Key {
        Key::Kernel {
            name: name.into(),
            grid: [grid, 1, 1],
            block: [256, 1, 1],
            part: 0,
        }
    }

    #[test]
    fn kernels_of_libraries_have_their_classes() {
        for (name, class) in [
            (
                "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTT",
                Class::Tensor(Op::TensorBf16),
            ),
            (
                "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
                Class::Tensor(Op::TensorBf16),
            ),
            (
                "cutlass_80_tensorop_s1688gemm_128x128",
                Class::Tensor(Op::TensorTf32),
            ),
            ("ampere_sgemm_128x64_tn", Class::Vector(Op::F32)),
            (
                "_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi",
                Class::Memory,
            ),
            ("cublasSplitKReduce_kernel_gemm", Class::Memory),
            ("convert_f16_to_f32", Class::Memory),
            (
                "sm90_xmma_gemm_f64f64_f64f64_f64_d884",
                Class::Tensor(Op::TensorF64),
            ),
        ] {
            assert_eq!(Class::of(&key(name, 1)), class, "{name}");
        }
        assert_eq!(Class::of(&Key::Copy(1)), Class::Bus);
        assert_eq!(Class::of(&Key::Set), Class::Memory);
    }

    #[test]
    fn powers_are_those_of_the_roofs() {
        let h100 = greenup_model::shipped::find("h100").unwrap().unwrap();
        let tensor = Class::Tensor(Op::TensorBf16).power_w(&h100).unwrap();
        let memory = Class::Memory.power_w(&h100).unwrap();
        assert!(tensor > 450.0 && tensor < 700.0, "{tensor}");
        assert!(memory > 300.0 && memory < tensor, "{memory}");
        let memory = |grid| filled(&key("a", grid), Class::Memory, Some(132));
        assert_eq!((memory(132), memory(100_000)), (0.25, 1.0));
        let product = Class::Tensor(Op::TensorBf16);
        assert_eq!(filled(&key("a", 132), product, Some(132)), 1.0);
        assert!(filled(&key("a", 1), product, Some(132)) < 0.01);
    }
}
