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

/// Parts of names of products of matrices and convolutions, for [`has`].
pub const PRODUCTS: &[&str] = &[
    "gemm", "gemv", "nvjet", "cutlass", "wgrad", "dgrad", "fprop", "conv.", "convol", "matmul",
    "xmma", "splitk",
];

/// Parts of names, those that decide first.
const WORDS: [(Kind, &[&str]); 6] = [
    (
        Kind::Optimizer,
        &[
            "multi_tensor",
            "multitensor",
            "adam.",
            "adamw.",
            "adamax",
            "optimizer",
            "lamb.",
            "sgd.",
        ],
    ),
    (Kind::Attention, &["flash", "fmha", "attention"]),
    (Kind::Gemm, PRODUCTS),
    (
        Kind::Copy,
        &["copy.", "memcpy", "memset", "transpose.", "permute."],
    ),
    (
        Kind::Reduction,
        &[
            "reduce.",
            "reduction",
            "softmax",
            "norm.",
            "layernorm",
            "rmsnorm",
            "batchnorm",
            "groupnorm",
            "normalize.",
            "normalization",
            "triton_red",
            "triton_per",
            "cross_entropy",
            "nll_loss",
            "argmax",
            "cumsum",
            "scan.",
        ],
    ),
    (
        Kind::Elementwise,
        &["elementwise", "pointwise", "triton_poi", "dropout", "fill."],
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
        let found = WORDS.iter().find(|(_, parts)| has(full_name, parts));
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

/// Whether a name has one of these parts; with a stop a part ends a word: `norm.` is in `layer_norm` and `NormKernel`, not in `normal`.
pub fn has(full_name: &str, parts: &[&str]) -> bool {
    let name = full_name.to_ascii_lowercase();
    parts.iter().any(|part| match part.strip_suffix('.') {
        None => name.contains(part),
        Some(word) => (name.match_indices(word))
            .any(|(at, _)| ends_a_word(full_name.as_bytes(), at + word.len())),
    })
}

/// Whether no letter of the same word follows: `layer_norm`, `LayerNorm`, `SGDKernel`.
fn ends_a_word(name: &[u8], at: usize) -> bool {
    let lower = |k: usize| name.get(k).is_some_and(u8::is_ascii_lowercase);
    match name.get(at) {
        Some(next) if next.is_ascii_uppercase() => lower(at - 1) || lower(at + 1),
        next => !next.is_some_and(u8::is_ascii_lowercase),
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
            (
                "at::native::distribution_elementwise_grid_stride_kernel<float, 4, normal_and_transform>",
                Kind::Elementwise,
            ),
            (
                "at::native::vectorized_elementwise_kernel<4, copysign_kernel_cuda>",
                Kind::Elementwise,
            ),
            ("CatArrayBatchedCopy_aligned16_contig", Kind::Copy),
            ("conv_depthwise2d_forward_kernel<float>", Kind::Gemm),
            ("implicit_convolve_sgemm", Kind::Gemm),
            ("convert_f16_to_f32", Kind::Other),
            ("RMSNormKernel", Kind::Reduction),
            ("cuComputeGradLayerNorm2d", Kind::Reduction),
            ("l2norm", Kind::Reduction),
            ("DeviceScanKernel", Kind::Reduction),
            ("SGDKernel", Kind::Optimizer),
            ("adamw_kernel", Kind::Optimizer),
            ("NORMAL_KERNEL", Kind::Other),
            ("scanner_lambda_reduced_precision", Kind::Other),
            ("stencil_unrolled_filled", Kind::Other),
            ("stencil", Kind::Other),
        ] {
            assert_eq!(Kind::of(&kernel, name), kind, "{name}");
        }
        assert_eq!(Kind::of(&Key::Set, "memset"), Kind::Copy);
    }
}
