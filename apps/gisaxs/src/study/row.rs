//! One line of the tables.

use super::work::{Size, paper_flops, work};
use crate::form::Polyhedron;
use crate::gpu::{Device, DirectConfig, OnGrid};
use crate::mesh::Mesh;
use crate::numeric::{
    Axis, Blocks, Extent, Precision, Rule, Sampling, Settings, Sheet, Surface, Watch, Way, Window,
    direct, prepare,
};
use greenup_meter::{Measurement, Meter, Observer, Run};
use greenup_model::{Machine, Op, predict};
use num_complex::Complex64;
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What is computed: a ball of 10 nm of so many triangles, on so many q.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Case {
    /// Rows and columns of the ball's triangles.
    pub ball: (usize, usize),
    /// Numbers of q_y in ±2/nm and of q_z in 0…2.5/nm.
    pub grid: (usize, usize),
    /// Im q_z, 1/nm.
    pub damping: f64,
    pub way: Way,
    pub precision: Precision,
}

impl Case {
    pub fn triangles(&self) -> usize {
        2 * (self.ball.0 - 1) * self.ball.1
    }

    fn sheet(&self) -> Sheet {
        let range = |from: f64, to: f64, n: usize| -> Vec<f64> {
            (0..n)
                .map(|k| from + (to - from) * k as f64 / (n - 1) as f64)
                .collect()
        };
        let z: Vec<Complex64> = range(0.0, 2.5, self.grid.1)
            .iter()
            .map(|&z| Complex64::new(z, self.damping))
            .collect();
        Sheet::grid(&[0.0], &range(-2.0, 2.0, self.grid.0), &z)
    }
}

/// A line: measured, derived and predicted.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub case: Case,
    pub triangles: usize,
    pub points: usize,
    /// One run, s; on a GPU without transfers.
    pub measured: Measurement,
    /// The same with transfers, of a GPU.
    pub with_transfers_s: Option<f64>,
    /// By the paper's counts.
    pub gflops: f64,
    /// Over the machine's single-precision peak.
    pub of_peak: Option<f64>,
    pub gflops_per_watt: Option<f64>,
    /// Triangles times q, a second and a joule.
    pub rate: f64,
    pub per_joule: Option<f64>,
    /// Largest and median error over the largest |F|, at a sample of q, beside double precision.
    pub error: (f64, f64),
    pub predicted_s: Option<f64>,
    pub predicted_j: Option<f64>,
}

/// Where it runs.
pub enum On<'a> {
    Cpu {
        blocks: Blocks,
    },
    Gpu {
        device: &'a Device,
        config: DirectConfig,
    },
}

/// Accuracy of the nonuniform transform: that of single precision.
const ACCURACY: f64 = 1e-7;
/// q at which errors are taken.
const SAMPLE: usize = 400;

/// Runs a case; nothing is returned where `stop` ended it.
///
/// # Errors
/// What the GPU or the way said.
pub fn run(
    case: &Case,
    on: &On,
    meter: &mut Meter,
    machine: Option<&Machine>,
    observer: &dyn Observer,
    stop: &AtomicBool,
) -> Result<Option<Row>, String> {
    let mesh = Mesh::ball(10.0, case.ball.0, case.ball.1);
    let sheet = case.sheet();
    let extent = Extent::of(std::slice::from_ref(&sheet));
    let quiet = |_: u64| {};
    let watch = Watch {
        progress: &quiet,
        stop,
    };
    let sheets = std::slice::from_ref(&sheet);
    let gpu = matches!(on, On::Gpu { .. });
    let surface = Surface::new(&mesh, extent.most, Sampling::Every(Rule::Centroid));
    let (measured, values, with_transfers_s) = match on {
        On::Cpu { blocks } => {
            let form = Polyhedron::new(&mesh).map_err(|e| e.to_string())?;
            let settings = Settings {
                way: Some(case.way),
                accuracy: ACCURACY,
                precision: Some(case.precision),
                rule: Some(Some(Rule::Centroid)),
                blocks: *blocks,
                ..Settings::default()
            };
            let mut values = Vec::new();
            let measured = meter.measure(observer, &mut |seconds: f64| -> Result<Run, String> {
                let start = Instant::now();
                let mut iterations = 0.0;
                while iterations == 0.0 || start.elapsed().as_secs_f64() < seconds {
                    let ready = prepare(&form, sheets, &settings)?;
                    values = ready.sheets(sheets, &watch)?.unwrap_or_default();
                    iterations += 1.0;
                }
                Ok(Run {
                    iterations,
                    seconds: start.elapsed().as_secs_f64(),
                })
            })?;
            (measured, values.concat(), None)
        }
        On::Gpu { device, config } => {
            let failed = |e: greenup_device::cuda::CudaError| crate::gpu::words(&e);
            let how = (case.way, case.precision, ACCURACY);
            // Compiled by now, or here; the second time is the honest one.
            OnGrid::new(device, &surface, &sheet, how, *config).map_err(failed)?;
            let start = Instant::now();
            let ready = OnGrid::new(device, &surface, &sheet, how, *config).map_err(failed)?;
            let values = ready.run(1).map_err(failed)?.values;
            let whole = start.elapsed().as_secs_f64();
            let once = ready.run(3).map_err(failed)?.device_s;
            let measured = meter.measure(observer, &mut |seconds: f64| {
                // Launches are cheap beside the shortest run, and never wait for the host.
                let n = (seconds / once).ceil().max(1.0);
                let ran = ready.time(n as usize).map_err(failed)?;
                Ok::<Run, String>(Run {
                    iterations: n,
                    seconds: ran * n,
                })
            })?;
            (measured, values, Some(whole))
        }
    };
    // Stopped sums have no values.
    let Some(measured) = measured.filter(|_| !watch.stopped()) else {
        return Ok(None);
    };
    let (triangles, points) = (mesh.triangles.len(), sheet.len());
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
        damped: case.damping != 0.0,
    };
    let prediction =
        machine.and_then(|m| predict(m, &work(case.way, case.precision, gpu, &size)).ok());
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
        error: error(&surface, &sheet, &values, &watch),
        predicted_s: prediction.as_ref().map(|p| p.time_s),
        predicted_j: prediction.and_then(|p| p.energy_j),
        measured,
    }))
}

/// Largest and median error at a sample of q, over the largest |F|.
fn error(surface: &Surface, sheet: &Sheet, values: &[Complex64], watch: &Watch) -> (f64, f64) {
    let step = (values.len() / SAMPLE).max(1) | 1;
    let picked: Vec<usize> = (0..values.len()).step_by(step).collect();
    let points: Vec<Sheet> = picked
        .iter()
        .map(|&n| {
            let q = sheet.q(n);
            Sheet {
                xy: [[q.x, q.y]].into(),
                z: vec![q.z],
            }
        })
        .collect();
    let how = (Precision::Double, Blocks::default());
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
