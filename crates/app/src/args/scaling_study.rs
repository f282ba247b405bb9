//! Flags of `greenup study --scaling`, which `greenup` reads and passes on.

use super::{at_least_one, duration};
use clap::{Args, ValueEnum};

/// A case that `study --scaling` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// Lagrangian hydrodynamics: Sedov in 3D, Q2Q1, the same zones on all devices
    Hydro,
    /// The same with as many zones on each device
    HydroWeak,
    /// Q3Q2, the same zones on all devices, with as many unknowns as Q2Q1
    #[value(name = "hydro-q3")]
    HydroQ3,
    /// Q3Q2 with as many zones on each device
    #[value(name = "hydro-q3-weak")]
    HydroQ3Weak,
    /// X-ray scattering: form factor of an icosahedron by direct sums
    Gisaxs,
    /// Form factor of a bicontinuous blend of millions of triangles by GEMM
    GisaxsTriangles,
    /// An image by direct sums over a blend of up to 91,680 triangles
    GisaxsImage,
    /// Fast multipole method: Laplace, uniform points, all points on each GPU
    Fmm,
    /// As many points for each device
    FmmWeak,
    /// A part of the points on each device
    FmmDistributed,
    /// DGEMM tuned with a worker for each device
    Tune,
}

/// Flags of `greenup study --scaling`.
#[derive(Args)]
pub struct ScalingStudyArgs {
    /// Measure applications instead: hydro, gisaxs, fmm and tuning on 1, 2, 4, … all GPUs, or without GPUs on as many ranks as
    /// cores; speedup, powerup and greenup compared with the prediction
    #[arg(long)]
    pub scaling: bool,
    /// With --scaling: cases, the most important first [default: hydro,gisaxs,fmm; on a CPU hydro,fmm]
    #[arg(
        long,
        value_enum,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "scaling",
        conflicts_with = "all_cases"
    )]
    pub cases: Vec<Case>,
    /// With --scaling: all cases, the most important first
    #[arg(long, requires = "scaling")]
    pub all_cases: bool,
    /// With --scaling: largest number of GPUs or ranks [default: all GPUs, or all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub max: Option<usize>,
    /// With --scaling: numbers of GPUs or ranks; 1 is always measured [default: 1, 2, 4, … and the largest]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = at_least_one, requires = "scaling", conflicts_with = "max")]
    pub counts: Vec<usize>,
    /// With --scaling: interleaved rounds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one, requires = "scaling")]
    pub rounds: usize,
    /// With --scaling: time after which no run starts, such as 90s, 20m or 2h; a run that exceeds it is stopped [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "scaling")]
    pub budget: Option<f64>,
    /// With --scaling: continue the study in the output folder; what it has is not measured again
    #[arg(long, requires = "scaling")]
    pub resume: bool,
    /// With --scaling: machine with the link between the devices, a name of `greenup machines` or a file [default: measured]
    #[arg(long, value_name = "NAME|FILE", requires = "scaling")]
    pub machine: Option<String>,
    /// With --scaling: zones of hydro along an edge for Q2Q1; Q3Q2 has two thirds [default: 16, on GPUs 64]
    #[arg(long, value_name = "N", requires = "scaling", value_parser = at_least_one)]
    pub hydro_zones: Option<usize>,
    /// With --scaling: the same of one device in the weak cases [default: 16, on GPUs 64]
    #[arg(long, value_name = "N", requires = "scaling", value_parser = at_least_one)]
    pub hydro_weak_zones: Option<usize>,
    /// With --scaling: time steps of hydro [default: 6, on GPUs 60]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub hydro_steps: Option<usize>,
    /// With --scaling: points of fmm; if one GPU has no memory for them, fewer [default: 400000, on GPUs 20000000]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub fmm_points: Option<usize>,
    /// With --scaling: values of q_y and of q_z of gisaxs, each [default: 401, on GPUs 2001]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub gisaxs_grid: Option<usize>,
    /// With --scaling: triangles of gisaxs-triangles [default: 20000, on GPUs 7500000]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub gisaxs_triangles: Option<usize>,
    /// With --scaling: pixels along an edge of gisaxs-image [default: 96, on GPUs 2048]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub gisaxs_image: Option<usize>,
    /// With --scaling: trials of tune [default: 8, on GPUs 32]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub tune_trials: Option<usize>,
}
