//! Arguments of the two largest kernels: one structure each, passed by value; the CUDA source checks the sizes.

use crate::hydro::PointRules;
use greenup_device::cuda::{Arguments, Pointer};

/// Arguments of the kernel `corner`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct CornerArguments {
    pub rules: PointRules,
    pub zones: i64,
    pub nodes: i64,
    pub index: Pointer<u32>,
    pub x: Pointer<f64>,
    pub v: Pointer<f64>,
    pub e: Pointer<f64>,
    pub gamma: Pointer<f64>,
    pub p_inf: Pointer<f64>,
    pub mass: Pointer<f64>,
    pub start: Pointer<f64>,
    pub stress: Pointer<f64>,
    pub source: Pointer<f64>,
    pub zone_forces: Pointer<f64>,
    pub right: Pointer<f64>,
    pub rate: Pointer<f64>,
}

// SAFETY: `repr(C)`, with the fields of `corner_arguments` in CUDA; the source checks the size.
unsafe impl Arguments for CornerArguments {}

/// Arguments of the kernel `solve`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct SolveArguments {
    pub zones: i64,
    pub nodes: i64,
    pub index: Pointer<u32>,
    pub begin: Pointer<u32>,
    pub shares: Pointer<u32>,
    pub mass: Pointer<f64>,
    pub zone_forces: Pointer<f64>,
    pub gravity: Pointer<f64>,
    pub over: Pointer<f64>,
    pub constrained: Pointer<u8>,
    pub row: Pointer<u32>,
    pub columns: Pointer<u32>,
    pub values: Pointer<f64>,
    pub out: Pointer<f64>,
    pub solution: Pointer<f64>,
    pub residual: Pointer<f64>,
    pub direction: Pointer<f64>,
    pub image: Pointer<f64>,
    pub products: Pointer<f64>,
    pub grid_barrier: Pointer<u32>,
    pub counted: Pointer<f64>,
    pub tolerance: f64,
    pub max_iterations: i64,
}

// SAFETY: `repr(C)`, with the fields of `solve_arguments` in CUDA; the source checks the size.
unsafe impl Arguments for SolveArguments {}

/// Contributions to shared nodes, as `contributions` in CUDA.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Contributions {
    pub begin: Pointer<u32>,
    pub at: Pointer<Pointer<f64>>,
}

/// What a solve by several ranks needs, as `rank_arguments` in CUDA.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct RankArguments {
    pub by_zone: Contributions,
    pub by_rank: Contributions,
    pub meetings: Pointer<Pointer<u8>>,
    pub stop: Pointer<u32>,
    pub ranks: i64,
    pub me: i64,
}

/// Arguments of the kernel `solve` of several ranks.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct RankSolveArguments {
    pub solve: SolveArguments,
    pub team: RankArguments,
}

// SAFETY: as `SolveArguments`, with the fields of several ranks.
unsafe impl Arguments for RankSolveArguments {}

/// Arguments of the kernels of a solve in parts.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct SolvePart {
    pub solve: RankSolveArguments,
    pub alpha: [f64; 3],
    pub beta: [f64; 3],
}

// SAFETY: `repr(C)`, with the fields of `solve_part` in CUDA; the source checks the size.
unsafe impl Arguments for SolvePart {}

/// Maximum number of ranks whose GPUs have access to each other's memory.
pub(super) const MAX_RANKS: usize = 16;

/// Size of `rank_meeting` in CUDA, bytes.
pub(super) const MEETING_BYTES: usize = 2 * MAX_RANKS * 3 * 8 + MAX_RANKS * 4;

/// Macros with the sizes of the structures, bytes.
pub(super) fn sizes(ranks: bool) -> Vec<(&'static str, usize)> {
    let solve = if ranks {
        size_of::<RankSolveArguments>()
    } else {
        size_of::<SolveArguments>()
    };
    vec![
        ("CORNER_ARGUMENTS_BYTES", size_of::<CornerArguments>()),
        ("SOLVE_ARGUMENTS_BYTES", solve),
        ("SOLVE_PART_BYTES", size_of::<SolvePart>()),
        ("MAX_RANKS", MAX_RANKS),
        ("MEETING_BYTES", MEETING_BYTES),
    ]
}
