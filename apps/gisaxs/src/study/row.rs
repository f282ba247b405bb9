//! One row of the tables.

use super::work::{Size, paper_flops, work};
use crate::GisaxsError;
use crate::form::Polyhedron;
use crate::gpu::{Device, DirectConfig, OnGrid};
use crate::mesh::Mesh;
use crate::mesh_form_factor::{
    Axis, Blocks, Extent, Method, Precision, QGrid, Quadrature, QuadratureChoice, Request,
    Sampling, Settings, Surface, Watch, Window, direct, prepare, zeros,
};
use greenup_app::progress::Bars;
use greenup_app::study::Bench;
use greenup_meter::{Measurement, Run};
use greenup_model::{Machine, Op, predict};
use greenup_ranks::Alone;
use greenup_report::si::si;
use num_complex::Complex64;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// A case: the form factor of a ball of radius 10 nm on a grid of q.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Rows and columns of triangles on the ball.
    pub ball: (usize, usize),
    /// Number of q_y between ±2/nm, and of q_z between 0 and 2.5/nm.
    pub grid: (usize, usize),
    /// Im(q_z), 1/nm.
    pub im_qz: f64,
    /// Method.
    pub method: Method,
    /// Precision of the direct and GEMM methods.
    pub precision: Precision,
}

impl Case {
    /// Number of triangles of the ball.
    pub fn triangles(&self) -> usize {
        2 * (self.ball.0 - 1) * self.ball.1
    }

    /// Number of q.
    pub fn points(&self) -> usize {
        self.grid.0 * self.grid.1
    }

    /// Name of the method with its precision, if that is not an ordinary one.
    pub fn method(&self) -> String {
        let name = self.method.name();
        match self.precision {
            Precision::F16x2 => format!("{name} f16x2"),
            _ => name.to_owned(),
        }
    }

    /// `real` or `complex`.
    pub fn q_z(&self) -> &'static str {
        if self.im_qz > 0.0 { "complex" } else { "real" }
    }

    /// Its name in figures.
    pub fn name(&self) -> String {
        format!(
            "{}, {} q_z; {} triangles, {} q",
            self.method(),
            self.q_z(),
            si(self.triangles() as f64, "").trim(),
            si(self.points() as f64, "").trim()
        )
    }

    pub(super) fn mesh(&self) -> Mesh {
        Mesh::ball(10.0, self.ball.0, self.ball.1)
    }

    pub(super) fn settings(&self, blocks: Blocks) -> Settings {
        Settings {
            method: Some(self.method),
            accuracy: ACCURACY,
            precision: Some(self.precision),
            quadrature: QuadratureChoice::Rule(Quadrature::Centroid),
            blocks,
            ..Settings::default()
        }
    }

    pub(super) fn grid(&self) -> QGrid {
        let range = |from: f64, to: f64, n: usize| -> Vec<f64> {
            (0..n)
                .map(|k| from + (to - from) * k as f64 / (n - 1) as f64)
                .collect()
        };
        let z: Vec<Complex64> = range(0.0, 2.5, self.grid.1)
            .iter()
            .map(|&z| Complex64::new(z, self.im_qz))
            .collect();
        QGrid::grid(&[0.0], &range(-2.0, 2.0, self.grid.0), &z)
    }
}

/// A row: measured, derived and predicted values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The case.
    pub case: Case,
    /// Number of triangles.
    pub triangles: usize,
    /// Number of q.
    pub points: usize,
    /// Time and energy of one run; on a GPU without transfers.
    pub measured: Measurement,
    /// Time of one run with transfers, s; `None` on a CPU.
    pub with_transfers_s: Option<f64>,
    /// GFLOP/s, by the operation counts of the paper for direct sums.
    pub gflops: f64,
    /// The same rate as a fraction of the machine's single-precision peak; `None` without a machine model.
    pub of_peak: Option<f64>,
    /// GFLOP/s per watt; `None` if no energy was measured.
    pub gflops_per_watt: Option<f64>,
    /// Pairs of a triangle and a q per second.
    pub rate: f64,
    /// Pairs of a triangle and a q per joule; `None` if no energy was measured.
    pub per_joule: Option<f64>,
    /// Largest and median error at a sample of q, relative to the largest |F|; the reference is a direct sum in double
    /// precision.
    pub error: (f64, f64),
    /// Time predicted by the machine model, s; `None` without one.
    pub predicted_s: Option<f64>,
    /// Energy predicted by the machine model, J; `None` without one.
    pub predicted_j: Option<f64>,
}

/// The device of a case.
pub enum On<'a> {
    /// This CPU.
    Cpu {
        /// Tuning parameters of the direct method.
        blocks: Blocks,
    },
    /// A CUDA GPU.
    Gpu {
        /// The GPU.
        device: &'a Device,
        /// Tuning parameters of the direct kernel.
        config: DirectConfig,
    },
}

/// Accuracy of the nonuniform FFT, equal to that of single precision.
const ACCURACY: f64 = 1e-7;
/// Number of q at which errors are evaluated.
const SAMPLE: usize = 400;

/// Measures a case; `None` if it was stopped.
///
/// # Errors
/// The method does not support the case, or the GPU or a measurement fails.
pub fn run(
    case: &Case,
    on: &On,
    bench: &mut Bench,
    machine: Option<&Machine>,
    watch: &Watch,
) -> Result<Option<Row>, GisaxsError> {
    let (mesh, grid) = (case.mesh(), case.grid());
    let grids = std::slice::from_ref(&grid);
    let extent = Extent::of(grids);
    let gpu = matches!(on, On::Gpu { .. });
    let surface = Surface::new(&mesh, extent.most, Sampling::Every(Quadrature::Centroid));
    let surface = Arc::new(surface);
    let (measured, values, with_transfers_s) = match on {
        On::Cpu { blocks } => {
            let form = Polyhedron::new(&mesh)?;
            let settings = case.settings(*blocks);
            let mut values = Vec::new();
            let measured = bench.measure(&mut || -> Result<(), GisaxsError> {
                let ready = prepare(&form, grids, &settings, &Alone, watch)?;
                let ready = ready.ok_or(GisaxsError::Interrupted)?;
                values = ready.grids(grids, watch)?.unwrap_or_default();
                Ok(())
            })?;
            (measured.map(|m| m.measurement), values.concat(), None)
        }
        On::Gpu { device, config } => {
            let how = (case.method, case.precision, ACCURACY);
            let request = Request::new(Arc::clone(&surface), grids, how, u64::MAX);
            let all = || (0..surface.nodes.len(), None);
            // The first call compiles the kernels; only the second is timed.
            OnGrid::new(device, &request, &grid, all(), *config)?;
            let start = Instant::now();
            let ready = OnGrid::new(device, &request, &grid, all(), *config)?;
            let mut values = zeros(grid.len());
            ready.run(&mut values)?;
            let whole = start.elapsed().as_secs_f64();
            let once = ready.time(3)?;
            let measured = bench.meter.measure(&Bars::quiet(), &mut |seconds: f64| {
                // Launches are short compared with the shortest run, and never wait for the host.
                let n = (seconds / once).ceil().max(1.0);
                let ran = ready.time(n as usize)?;
                Ok::<Run, GisaxsError>(Run {
                    iterations: n,
                    seconds: ran * n,
                })
            })?;
            (measured, values, Some(whole))
        }
    };
    // A stopped run has no values.
    let Some(measured) = measured.filter(|_| !watch.stopped()) else {
        return Ok(None);
    };
    let (triangles, points) = (mesh.triangles.len(), grid.len());
    let time = measured.time_s.median;
    let energy = measured.energy_j.map(|e| e.median);
    let flops = paper_flops(triangles as f64, points as f64, gpu);
    let pairs = triangles as f64 * points as f64;
    let window = Window::new(ACCURACY);
    let cells = |axis: usize, range: [f64; 2]| {
        Axis::new(surface.nodes.extent(axis), range, &window).cells as f64
    };
    let size = Size {
        nodes: triangles as f64,
        points: points as f64,
        cells: (cells(1, extent.y), cells(2, extent.z)),
        width: window.width as f64,
        grid: (case.grid.0 as f64, case.grid.1 as f64),
        damped: case.im_qz != 0.0,
    };
    let prediction =
        machine.and_then(|m| predict(m, &work(case.method, case.precision, gpu, &size)).ok());
    let peak = machine
        .and_then(|m| m.time_of(Op::F32).ok())
        .map(|t| 1.0 / t);
    Ok(Some(Row {
        case: *case,
        triangles,
        points,
        with_transfers_s,
        gflops: flops / time * 1e-9,
        of_peak: peak.map(|p| flops / time / p),
        gflops_per_watt: energy.map(|e| flops / e * 1e-9),
        rate: pairs / time,
        per_joule: energy.map(|e| pairs / e),
        error: error(&surface, &grid, &values, watch),
        predicted_s: prediction.as_ref().map(|p| p.time_s),
        predicted_j: prediction.and_then(|p| p.energy_j),
        measured,
    }))
}

/// Largest and median error at a sample of q, relative to the largest |F|.
fn error(surface: &Surface, grid: &QGrid, values: &[Complex64], watch: &Watch) -> (f64, f64) {
    let step = (values.len() / SAMPLE).max(1) | 1;
    let picked: Vec<usize> = (0..values.len()).step_by(step).collect();
    let points: Vec<QGrid> = picked
        .iter()
        .map(|&n| {
            let q = grid.q(n);
            QGrid {
                xy: [[q.x, q.y]].into(),
                z: vec![q.z],
            }
        })
        .collect();
    let how = (Precision::F64, Blocks::default());
    let Some(exact) = direct(surface, &points, false, how, watch) else {
        return (f64::NAN, f64::NAN);
    };
    let top = values.iter().map(|f| f.norm()).fold(0.0, f64::max);
    let mut off: Vec<f64> = exact
        .iter()
        .zip(&picked)
        .map(|(e, &n)| (e[0] - values[n]).norm() / top)
        .collect();
    off.sort_by(f64::total_cmp);
    (
        off.last().copied().unwrap_or(0.0),
        off.get(off.len() / 2).copied().unwrap_or(0.0),
    )
}
