//! The kernels of a GPU's study, as problems of the tuner with a fixed config. Those of the applications are their own
//! files: nothing is written twice, and the crate does not depend on them.

use super::kernel::{Files, GpuKernel};
use greenup_model::Op;

macro_rules! text {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

/// All kernels in the order of their measurement.
///
/// Counts: what is paid for is mostly the instruction, so an addition counts as the two flops of an FMA, as in counters
/// (`analyze::counted`). A warp that reads 16 bytes common to all of its lanes from shared memory takes two wavefronts of 128
/// bytes. A loop costs three integer instructions (add, compare, branch) per iteration. Bytes of slow memory are the least;
/// bytes of L2 are those that slow memory did not give.
pub const ALL: &[GpuKernel] = &[TRIAD, DGEMM, SPMV, FORM_FACTOR, P2P];

const TRIAD: GpuKernel = GpuKernel {
    name: "triad",
    about: "a = b + s·c, f64, arrays of 256 MiB",
    library: None,
    files: Files::Here(&[
        (
            "problem.toml",
            text!("crates/study/src/gpu/kernels/triad/problem.toml"),
        ),
        ("triad.cu", text!("examples/cuda/triad.cu")),
        (
            "reference.c",
            text!("crates/study/src/gpu/kernels/triad/reference.c"),
        ),
    ]),
    constants: &[],
    configs: &[&[("TILE", 4), ("THREADS", 256)]],
    counts: &[(Op::F64, "2 * elements"), (Op::Dram, "24 * elements")],
};

/// The fastest config of `sweeps/dgemm_h200`, and one without features of Hopper.
const DGEMM: GpuKernel = GpuKernel {
    name: "dgemm",
    about: "C = A·B, n = 4096, f64, by the kernel family of greenup gemm",
    library: Some("cuBLAS"),
    files: Files::Gemm,
    constants: &[],
    configs: &[
        &[
            ("use_mma", 8),
            ("way_copy", 4),
            ("dim_m", 16),
            ("dim_n", 16),
            ("blk_m", 128),
            ("blk_n", 128),
            ("blk_k", 16),
            ("read_a", 8),
            ("read_b", 4),
            ("vec_read", 2),
            ("vec_tile", 2),
            ("pair_k", 1),
            ("parts_ahead", 1),
            ("pad_a", 0),
            ("pad_b", 0),
            ("stage_count", 5),
            ("raster_m", 8),
            ("split_k", 1),
            ("grid_fixed", 1),
            ("blocks_wanted", 1),
            ("lanes", 0),
            ("swizzle", 1),
            ("texture", 0),
            ("edges", 0),
        ],
        &[
            ("use_mma", 0),
            ("way_copy", 2),
            ("dim_m", 16),
            ("dim_n", 16),
            ("blk_m", 128),
            ("blk_n", 64),
            ("blk_k", 8),
            ("read_a", 16),
            ("read_b", 8),
            ("vec_read", 1),
            ("vec_tile", 1),
            ("pair_k", 0),
            ("parts_ahead", 0),
            ("pad_a", 0),
            ("pad_b", 0),
            ("stage_count", 3),
            ("raster_m", 8),
            ("split_k", 1),
            ("grid_fixed", 0),
            ("blocks_wanted", 1),
            ("lanes", 1),
            ("swizzle", 0),
            ("texture", 0),
            ("edges", 0),
        ],
    ],
    // A warp of 8 x 4 lanes reads its rows of A and columns of B from shared memory; each block all of its own from L2.
    counts: &[
        (
            Op::TensorF64,
            "2 * size_m * size_n * size_k if use_mma else 0",
        ),
        (Op::F64, "0 if use_mma else 2 * size_m * size_n * size_k"),
        (
            Op::L1,
            "8 * size_k * tiles * (threads // 32) * (8 * tile_m + 4 * tile_n)",
        ),
        (
            Op::L2,
            "8 * size_k * tiles * (blk_m + blk_n) - 8 * size_k * (size_m + size_n)",
        ),
        (
            Op::Dram,
            "8 * (size_m * size_k + size_k * size_n + size_m * size_n)",
        ),
    ],
};

const SPMV: GpuKernel = GpuKernel {
    name: "spmv",
    about: "y = A·x, CSR with 32-bit columns, f64, seven-point operator of 192×192×192",
    library: None,
    files: Files::Here(&[
        (
            "problem.toml",
            text!("crates/study/src/gpu/kernels/spmv/problem.toml"),
        ),
        (
            "spmv.cu",
            text!("crates/study/src/gpu/kernels/spmv/spmv.cu"),
        ),
        (
            "matrix.c",
            text!("crates/study/src/gpu/kernels/spmv/matrix.c"),
        ),
        ("reference.c", text!("examples/spmv/reference.c")),
    ]),
    constants: &[],
    configs: &[&[("LANES", 4), ("THREADS", 256)]],
    // Of a row, as hardware counters say on an H200 (`sweeps/spmv_h200`): values and columns are fetched from L2 in parts,
    // by two rounds of the loop, and so are the x of neighbouring lines and planes; four threads add up.
    counts: &[
        (Op::F64, "24 * rows"),
        (Op::Int, "236 * rows"),
        (Op::L1, "80 * rows"),
        (Op::L2, "96 * rows"),
        (Op::Dram, "12 * entries + 24 * rows"),
    ],
};

/// The lowest-energy config of `sweeps/form_factor_h200`.
const FORM_FACTOR: GpuKernel = GpuKernel {
    name: "form factor",
    about: "direct form factor of 1,024 triangles at 500,000 q, f32, by the kernel of gisaxs",
    library: None,
    files: Files::Here(&[
        (
            "problem.toml",
            text!("apps/gisaxs/src/kernels/gpu/problem.toml"),
        ),
        ("direct.cu", text!("apps/gisaxs/src/kernels/gpu/direct.cu")),
        (
            "copies.cuh",
            text!("apps/gisaxs/src/kernels/gpu/copies.cuh"),
        ),
        ("sine.cuh", text!("apps/gisaxs/src/kernels/gpu/sine.cuh")),
        (
            "reference.c",
            text!("apps/gisaxs/src/kernels/gpu/reference.c"),
        ),
    ]),
    constants: &[("triangles", 1024)],
    configs: &[&[
        ("dim_y", 64),
        ("dim_z", 4),
        ("per_y", 4),
        ("per_z", 2),
        ("tile", 256),
        ("buffers", 1),
        ("steps", 1),
        ("sine", 1),
        ("by_hand", 0),
        ("h_y", 2048),
        ("h_z", 1024),
        ("h_t", 2048),
    ]],
    // Threads beyond the last q compute too. A node and q: 8 f32 instructions, sine and cosine; a node and q_y four more, a
    // node and q_z two, an exponential, and a compare and a select that scale its argument.
    counts: &[
        (
            Op::F32,
            "node_count * blocks_y * dim_y * blocks_z * dim_z * 2 * (8 * per_y * per_z + 4 * per_y + 2 * per_z)",
        ),
        (
            Op::Special,
            "node_count * blocks_y * dim_y * blocks_z * dim_z * (2 * per_y * per_z + per_z)",
        ),
        (
            Op::Int,
            "node_count * blocks_y * dim_y * blocks_z * dim_z * (3 / steps + 2 * per_z)",
        ),
        (
            Op::L1,
            "node_count * blocks_y * dim_y * blocks_z * dim_z * 2 * 256 / 32",
        ),
        (
            Op::Dram,
            "16 * size_y * size_z + 32 * node_count + 4 * size_y + 8 * size_z",
        ),
    ],
};

/// A config of `sweeps/one_board_h200/fmm_ulist_h200` that keeps a GPU busy with fewer leaves.
const P2P: GpuKernel = GpuKernel {
    name: "p2p",
    about: "U lists of the fast multipole method, 12³ leaves of 305 points, f32, by the kernel of fmm",
    library: None,
    files: Files::Here(&[
        (
            "tune/problem.toml",
            text!("apps/fmm/src/kernels/tune/problem.toml"),
        ),
        (
            "tune/ulist_tune.cu",
            text!("apps/fmm/src/kernels/tune/ulist_tune.cu"),
        ),
        (
            "tune/reference.c",
            text!("apps/fmm/src/kernels/tune/reference.c"),
        ),
        ("gpu/pair.cuh", text!("apps/fmm/src/kernels/gpu/pair.cuh")),
        (
            "gpu/accumulate.cuh",
            text!("apps/fmm/src/kernels/gpu/accumulate.cuh"),
        ),
        (
            "gpu/expanded.cuh",
            text!("apps/fmm/src/kernels/gpu/expanded.cuh"),
        ),
        ("gpu/p2p.cu", text!("apps/fmm/src/kernels/gpu/p2p.cu")),
    ]),
    constants: &[("side", 12)],
    configs: &[&[
        ("THREADS", 64),
        ("TARGETS", 5),
        ("TILE", 512),
        ("UNROLL", 8),
        ("ROOT", 0),
        ("BLOCKS", 12),
        ("FORM", 0),
        ("WIDTH", 4),
    ]],
    // Sources × the targets of all threads, idle ones too: seven f32 instructions and a reciprocal root a pair.
    counts: &[
        (
            Op::F32,
            "14 * neighbours * ncrit * ((ncrit + THREADS * TARGETS - 1) // (THREADS * TARGETS)) * THREADS * TARGETS",
        ),
        (
            Op::Special,
            "neighbours * ncrit * ((ncrit + THREADS * TARGETS - 1) // (THREADS * TARGETS)) * THREADS * TARGETS",
        ),
        (
            Op::Int,
            "neighbours * ncrit * ((ncrit + THREADS * TARGETS - 1) // (THREADS * TARGETS)) * THREADS * 3 / UNROLL",
        ),
        (
            Op::L1,
            "neighbours * ncrit * ((ncrit + THREADS * TARGETS - 1) // (THREADS * TARGETS)) * THREADS // 32 * 256",
        ),
        (
            Op::L2,
            "16 * neighbours * ncrit * ((ncrit + THREADS * TARGETS - 1) // (THREADS * TARGETS))",
        ),
        (Op::Dram, "32 * total + 100 * leaves"),
    ],
};
