//! What `gisaxs study` measures.

use crate::mesh_form_factor::{Method, Precision};
use crate::study::Case;
use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Cases {
    /// The smallest
    Small,
    /// Those that a CPU computes in minutes
    Paper,
    /// All
    All,
}

/// Rows and columns of balls with 6,600, 91,680 and 7,500,000 triangles.
const BALLS: [(usize, usize); 3] = [(56, 60), (192, 240), (1501, 2500)];
/// Grids of 2 and 8 million q.
const GRIDS: [(usize, usize); 2] = [(2000, 1000), (4000, 2000)];

/// The cases of tables I to III. `tensor`: whether the device has tensor cores for f16x2.
pub fn cases(which: Cases, gpu: bool, tensor: bool) -> Vec<Case> {
    let mut out = Vec::new();
    let methods = [Method::Direct, Method::Gemm, Method::Nufft];
    for (b, ball) in BALLS.into_iter().enumerate() {
        for (g, grid) in GRIDS.into_iter().enumerate() {
            for method in methods {
                for im_qz in [0.0, 0.01] {
                    let case = Case {
                        ball,
                        grid,
                        im_qz,
                        method,
                        precision: Precision::F32,
                    };
                    // Direct sums of the large meshes take minutes to hours on a CPU, those of the largest on any machine.
                    let wanted = match which {
                        Cases::Small => b == 0 && g == 0,
                        Cases::Paper => b == 0 || (b == 1 && (gpu || method == Method::Nufft)),
                        Cases::All => {
                            b < 2 || method == Method::Nufft || (tensor && method == Method::Gemm)
                        }
                    };
                    if !wanted || !(im_qz > 0.0 || method == Method::Direct || b == 0) {
                        continue;
                    }
                    // The largest factors of a product in single precision fill no GPU.
                    if b < 2 || method != Method::Gemm {
                        out.push(case);
                    }
                    if tensor && method == Method::Gemm {
                        out.push(Case {
                            precision: Precision::F16x2,
                            ..case
                        });
                    }
                }
            }
        }
    }
    out
}

/// The cases of `--scaling`: 7.5 million triangles and 8 million q by GEMM on tensor cores and by the nonuniform FFT, and
/// 91,680 triangles by direct sums.
pub fn of_gpus() -> Vec<Case> {
    let case = |ball: usize, method: Method, precision: Precision| Case {
        ball: BALLS[ball],
        grid: GRIDS[1],
        im_qz: 0.01,
        method,
        precision,
    };
    [
        case(2, Method::Gemm, Precision::F16x2),
        case(2, Method::Nufft, Precision::F32),
        case(1, Method::Direct, Precision::F32),
    ]
    .into()
}

/// The cases of `--scaling` without GPUs: 6,600 triangles and 2 million q by each method.
pub fn of_threads() -> Vec<Case> {
    let case = |method| Case {
        ball: BALLS[0],
        grid: GRIDS[0],
        im_qz: 0.01,
        method,
        precision: Precision::F32,
    };
    [Method::Direct, Method::Gemm, Method::Nufft]
        .map(case)
        .into()
}
