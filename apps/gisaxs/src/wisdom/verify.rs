//! Checks that a tuned config gives correct results on this host before it is stored.

use crate::Complex64;
use crate::GisaxsError;
use crate::gpu::{DirectConfig, ListConfig, Service};
use crate::mesh::Mesh;
use crate::mesh_form_factor::{
    Accelerator, Blocks, Method, Precision, QGrid, Quadrature, Request, Sampling, Surface, Watch,
    direct,
};
use greenup_device::cuda::Gpu;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Rows and columns of triangles on the ball of the paper.
const BALL: (usize, usize) = (56, 60);

/// Σ|s_t| divided by the largest sum at the q below: 628 nm² / 548 nm².
const CONDITION: f64 = 1.15;

/// Largest acceptable error of direct sums in single precision over blocks of `nodes` nodes, relative to the largest
/// value: independent rounding errors at six standard deviations, as derived in `kernels/problem.toml`.
pub fn tolerance(nodes: usize) -> f64 {
    let unit = 0.5 * f64::from(f32::EPSILON);
    6.0 * CONDITION * (nodes as f64).sqrt() * unit + 6e-7
}

fn surface() -> Arc<Surface> {
    let ball = Mesh::ball(10.0, BALL.0, BALL.1);
    Arc::new(Surface::new(
        &ball,
        3.5,
        Sampling::Every(Quadrature::Centroid),
    ))
}

/// A tensor grid with complex q_z, as in the tuning problem.
fn grid() -> Vec<QGrid> {
    let along = |from: f64, to: f64, n: usize| -> Vec<f64> {
        (0..n)
            .map(|k| from + (to - from) * k as f64 / (n - 1) as f64)
            .collect()
    };
    let z: Vec<Complex64> = along(0.0, 2.5, 37)
        .into_iter()
        .map(|z| Complex64::new(z, 0.01 + 0.004 * z))
        .collect();
    vec![QGrid::grid(&[0.3], &along(-2.0, 2.0, 53), &z)]
}

/// Rows of a detector with similar q.
fn rows() -> Vec<QGrid> {
    let all = &grid()[0];
    all.z
        .iter()
        .enumerate()
        .map(|(k, z)| QGrid {
            xy: all
                .xy
                .iter()
                .map(|p| [p[0] - 0.01 * k as f64, p[1]])
                .collect(),
            z: vec![*z, -*z],
        })
        .collect()
}

/// Largest difference relative to the largest value.
fn off(a: &[Vec<Complex64>], b: &[Vec<Complex64>]) -> f64 {
    let top = b.iter().flatten().map(|f| f.norm()).fold(0.0, f64::max);
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    let worst = pairs.map(|(a, b)| (a - b).norm());
    // NaN counts as the largest.
    worst.fold(0.0, |m: f64, e| if e <= m { m } else { e }) / top
}

fn right(
    values: &[Vec<Complex64>],
    surface: &Surface,
    q: &[QGrid],
    nodes: usize,
) -> Result<f64, GisaxsError> {
    let stop = AtomicBool::new(false);
    let watch = Watch {
        progress: &|_| {},
        stop: &stop,
    };
    let double = (Precision::F64, Blocks::default());
    let want = direct(surface, q, false, double, &watch).ok_or(GisaxsError::Interrupted)?;
    let error = off(values, &want);
    let most = tolerance(nodes);
    if error <= most {
        Ok(error)
    } else {
        Err(format!(
            "it is wrong by {error:.1e} of the largest value here; {most:.1e} is what rounding may do"
        ).into())
    }
}

/// The error of the direct method on this CPU with these blocks, relative to the largest value.
///
/// # Errors
/// The blocks are out of range, or the sums are wrong by more than rounding.
pub fn cpu(blocks: Blocks) -> Result<f64, GisaxsError> {
    blocks.check()?;
    let (surface, q) = (surface(), grid());
    let stop = AtomicBool::new(false);
    let watch = Watch {
        progress: &|_| {},
        stop: &stop,
    };
    let single = (Precision::F32, blocks);
    let values = direct(&surface, &q, false, single, &watch).ok_or(GisaxsError::Interrupted)?;
    right(&values, &surface, &q, blocks.nodes)
}

/// The error of the direct kernels on the GPU `name`, relative to the largest value; `None` if this host has no such
/// GPU.
///
/// # Errors
/// The GPU fails, or the sums are wrong by more than rounding.
pub fn gpu(name: &str, grids: DirectConfig, lists: ListConfig) -> Result<Option<f64>, GisaxsError> {
    grids.check()?;
    lists.check()?;
    // Without a driver there is no such GPU.
    let all = Gpu::all().unwrap_or_default();
    let Some(ordinal) = all.iter().position(|gpu| gpu.name == name) else {
        return Ok(None);
    };
    let device = Service::open(ordinal, |_| (grids, lists))?;
    let surface = surface();
    let stop = AtomicBool::new(false);
    let watch = Watch {
        progress: &|_| {},
        stop: &stop,
    };
    let mut worst = 0.0_f64;
    for q in [grid(), rows()] {
        let how = (Method::Direct, Precision::F32, 1e-6);
        let request = Request::new(Arc::clone(&surface), &q, how, 1 << 30);
        let values = device
            .grids(&request, &q, None, &watch)?
            .ok_or(GisaxsError::Interrupted)?;
        // Each thread sums over all nodes.
        worst = worst.max(right(&values, &surface, &q, surface.nodes.len())?);
    }
    Ok(Some(worst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_right_or_refused() {
        for (points, nodes, unroll) in [(16, 64, 1), (4096, 6656, 4), (512, 512, 2)] {
            let e = cpu(Blocks {
                points,
                nodes,
                unroll,
            })
            .unwrap();
            assert!(e > 1e-9, "{e}");
        }
        for (points, nodes, unroll) in [(0, 64, 1), (64, 0, 1), (64, 64, 3), (1 << 40, 64, 1)] {
            let blocks = Blocks {
                points,
                nodes,
                unroll,
            };
            assert!(cpu(blocks).is_err(), "{blocks:?}");
        }
    }

    #[test]
    fn wrong_sums_are_found() {
        let (surface, q) = (surface(), grid());
        let stop = AtomicBool::new(false);
        let watch = Watch {
            progress: &|_| {},
            stop: &stop,
        };
        // A triangle left out is beyond what rounding does.
        let mut less = (*surface).clone();
        less.nodes.strength[3000] = [0.0; 3];
        let how = (Precision::F64, Blocks::default());
        let values = direct(&less, &q, false, how, &watch).unwrap();
        assert!(right(&values, &surface, &q, 6656).is_err());
        let nan = vec![vec![Complex64::new(f64::NAN, 0.0); q[0].len()]];
        assert!(right(&nan, &surface, &q, 6656).is_err());
    }
}
