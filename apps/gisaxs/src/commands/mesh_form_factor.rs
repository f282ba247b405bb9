//! Flags of the form factors of meshes.

use super::unused;
use crate::mesh_form_factor::{FINEST, Method, Precision, Quadrature, QuadratureChoice, Settings};
use crate::session;
use clap::{Args, ValueEnum};
use greenup_app::args::{DeviceSetArg, PinArg, ThreadsArg, bytes};
use greenup_app::ranks::RankTeam;
use greenup_app::{AppError, Result};

#[derive(Args, Clone, Debug)]
pub struct MeshFormFactorArgs {
    #[command(flatten)]
    device: DeviceSetArg,
    /// Method for form factors of meshes [default: the cheapest that is accurate enough]
    #[arg(long, value_enum)]
    pub method: Option<MethodArg>,
    /// Largest error |F − F_exact| / V of a mesh, V its volume, 1e-12 or more; `error` in the summary is this quantity
    /// (an upper bound for nufft)
    #[arg(long, default_value = "1e-9", value_name = "E")]
    pub accuracy: f64,
    /// Precision of the direct and GEMM methods [default: f32 if the accuracy permits]
    #[arg(long, value_enum)]
    pub precision: Option<PrecisionArg>,
    /// Quadrature on each triangle [default: the cheapest that is accurate enough]
    #[arg(long, value_enum)]
    pub quadrature: Option<QuadratureArg>,
    /// Memory for tables, e.g. 500M or 2G
    #[arg(long, default_value = "2G", value_parser = bytes, value_name = "SIZE")]
    pub memory: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    pin: PinArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum MethodArg {
    /// Direct sums: one exponential per triangle and q
    Direct,
    /// The analytic transform of each flat triangle
    Exact,
    /// Matrix products (tensor grids, rows of a detector)
    Gemm,
    /// Nonuniform FFT: cost independent of the number of triangles
    Nufft,
}

impl From<MethodArg> for Method {
    fn from(w: MethodArg) -> Self {
        match w {
            MethodArg::Direct => Self::Direct,
            MethodArg::Exact => Self::Exact,
            MethodArg::Gemm => Self::Gemm,
            MethodArg::Nufft => Self::Nufft,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PrecisionArg {
    /// Single precision
    F32,
    /// Double precision
    F64,
    /// Two half-precision terms per number: GEMM on tensor cores, tensor grids only
    F16x2,
}

impl From<PrecisionArg> for Precision {
    fn from(p: PrecisionArg) -> Self {
        match p {
            PrecisionArg::F32 => Self::F32,
            PrecisionArg::F64 => Self::F64,
            PrecisionArg::F16x2 => Self::F16x2,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum QuadratureArg {
    /// 1 point: the centroid
    One,
    /// The centroid with a second-order correction (direct only)
    Corrected,
    /// 3 points
    Three,
    /// 6 points
    Six,
}

impl MeshFormFactorArgs {
    /// Starts the threads and opens the devices: the settings of each rank of this process.
    pub fn settings_of_ranks(&self, team: &RankTeam) -> Result<Vec<Settings>> {
        let threads = match team {
            RankTeam::Threads(n) if self.device.device.is_gpu() => *n,
            // On the CPU they share one.
            RankTeam::Threads(n) => return Ok(vec![self.settings(team)?; *n]),
            RankTeam::World(_) => return Ok(vec![self.settings(team)?]),
        };
        let none = DeviceSetArg::default();
        let cpu = Self {
            device: none,
            ..self.clone()
        };
        let shared = cpu.settings(team)?;
        (0..threads)
            .map(|rank| {
                Ok(Settings {
                    on: session::accelerator(&self.device.device, (rank, threads))?,
                    ..shared.clone()
                })
            })
            .collect()
    }

    /// Checks that the flags have an effect, with and without a mesh.
    pub fn check(mesh: bool) -> Result {
        if mesh {
            return Ok(());
        }
        unused(
            &[
                "--method",
                "--accuracy",
                "--precision",
                "--quadrature",
                "--memory",
            ],
            "no shape is a mesh or a polyhedron; round ones have formulas",
        )
    }

    /// Starts the threads and opens the device.
    pub fn settings(&self, team: &RankTeam) -> Result<Settings> {
        if !(self.accuracy >= FINEST && self.accuracy < 1.0) {
            return Err(AppError::new(format!(
                "invalid --accuracy {}: it must lie between {FINEST:e} and 1",
                self.accuracy
            )));
        }
        team.start_threads(self.threads)?;
        self.pin.start(team.local())?;
        Ok(Settings {
            method: self.method.map(Method::from),
            precision: self.precision.map(Precision::from),
            quadrature: match self.quadrature {
                None => QuadratureChoice::Fitted,
                Some(QuadratureArg::One) => QuadratureChoice::Rule(Quadrature::Centroid),
                Some(QuadratureArg::Corrected) => QuadratureChoice::Corrected,
                Some(QuadratureArg::Three) => QuadratureChoice::Rule(Quadrature::Three),
                Some(QuadratureArg::Six) => QuadratureChoice::Rule(Quadrature::Six),
            },
            memory: self.memory,
            ..session::settings(&self.device.device, team.local(), self.accuracy)?
        })
    }
}
