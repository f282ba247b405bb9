//! Groups of kernels that readers know, by the names that libraries and compilers give theirs.

use crate::groups::Key;
use serde::Serialize;

/// What kernels do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Products of matrices, convolutions.
    Gemm,
    /// Fused attention.
    Attention,
    /// One value at a time.
    Elementwise,
    /// Sums, norms, softmax.
    Reduction,
    /// Copies, transposes, memsets.
    Copy,
    /// Steps of an optimizer.
    Optimizer,
    /// All others.
    #[default]
    Other,
}

/// Words of names, those that decide first.
const WORDS: [(Kind, &[&str]); 6] = [
    (
        Kind::Optimizer,
        &[
            "multi_tensor",
            "multitensor",
            "adam",
            "optimizer",
            "lamb_",
            "sgd",
        ],
    ),
    (Kind::Attention, &["flash", "fmha", "attention"]),
    (
        Kind::Gemm,
        &[
            "gemm",
            "gemv",
            "nvjet",
            "cutlass",
            "wgrad",
            "dgrad",
            "fprop",
            "conv2d",
            "conv3d",
            "convolve",
            "implicit_conv",
            "matmul",
            "xmma",
            "splitk",
        ],
    ),
    (
        Kind::Copy,
        &["copy", "memcpy", "memset", "transpose", "permute"],
    ),
    (
        Kind::Reduction,
        &[
            "reduce",
            "reduction",
            "softmax",
            "norm",
            "triton_red",
            "triton_per",
            "cross_entropy",
            "nll_loss",
            "argmax",
            "cumsum",
            "scan",
        ],
    ),
    (
        Kind::Elementwise,
        &[
            "elementwise",
            "pointwise",
            "triton_poi",
            "vectorized",
            "unrolled",
            "dropout",
            "fill",
        ],
    ),
];

impl Kind {
    /// All of them, in the order of figures.
    pub const ALL: [Self; 7] = [
        Self::Gemm,
        Self::Attention,
        Self::Elementwise,
        Self::Reduction,
        Self::Copy,
        Self::Optimizer,
        Self::Other,
    ];

    /// Of a kernel with this name, or of a copy.
    pub fn of(key: &Key, full_name: &str) -> Self {
        if !matches!(key, Key::Kernel { .. }) {
            return Self::Copy;
        }
        let name = full_name.to_lowercase();
        let found = WORDS
            .iter()
            .find(|(_, words)| words.iter().any(|w| name.contains(w)));
        found.map_or(Self::Other, |(kind, _)| *kind)
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gemm => "GEMM",
            Self::Attention => "attention",
            Self::Elementwise => "elementwise",
            Self::Reduction => "reduction",
            Self::Copy => "copy",
            Self::Optimizer => "optimizer",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_libraries_have_their_groups() {
        let kernel = Key::Kernel {
            name: String::new(),
            grid: [1; 3],
            block: [1; 3],
            part: 0,
        };
        for (name, kind) in [
            ("nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTT", Kind::Gemm),
            ("cublasSplitKReduce_kernel", Kind::Gemm),
            (
                "pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>",
                Kind::Attention,
            ),
            (
                "at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>",
                Kind::Elementwise,
            ),
            (
                "at::native::elementwise_kernel<128, direct_copy_kernel_cuda>",
                Kind::Copy,
            ),
            ("at::native::reduce_kernel<512, 1>", Kind::Reduction),
            ("vectorized_layer_norm_kernel<float>", Kind::Reduction),
            (
                "multi_tensor_apply_kernel<FusedAdamMathFunctor>",
                Kind::Optimizer,
            ),
            ("stencil", Kind::Other),
        ] {
            assert_eq!(Kind::of(&kernel, name), kind, "{name}");
        }
        assert_eq!(Kind::of(&Key::Set, "memset"), Kind::Copy);
    }
}
