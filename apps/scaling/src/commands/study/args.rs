//! Flags of `greenup scaling study`.

use clap::{Args, ValueEnum};
use greenup_app::args::{at_least_one, duration};
use greenup_device::{DeviceSpec, Usable};
use std::path::PathBuf;

/// A case of the study.
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

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup scaling study\n  greenup scaling study --cases hydro,hydro-weak --max 2 --machine h200\n  greenup scaling study --all-cases --budget 30m --resume -o scaling\n  greenup scaling --study scaling -o scaling.md"
)]
pub struct StudyArgs {
    /// Output folder: scaling.html, scaling.json, figures, and the runs, from which --resume continues
    #[arg(short, long, default_value = "study", value_name = "DIR")]
    pub out: PathBuf,
    /// Devices: all GPUs, or ranks on the cores of the host; all takes the GPUs, if there are any
    #[arg(long, default_value = "all", value_name = "cpu|cuda|all", value_parser = |text: &str| Usable::ALL.parse(text))]
    pub device: DeviceSpec,
    /// Cases, the most important first [default: hydro,gisaxs,fmm; on a CPU hydro,fmm]
    #[arg(
        long,
        value_enum,
        value_name = "NAME,…",
        value_delimiter = ',',
        conflicts_with = "all_cases"
    )]
    pub cases: Vec<Case>,
    /// All cases, the most important first
    #[arg(long)]
    pub all_cases: bool,
    /// Largest number of GPUs or ranks [default: all GPUs, or all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max: Option<usize>,
    /// Numbers of GPUs or ranks; 1 is always measured [default: 1, 2, 4, … and the largest]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = at_least_one, conflicts_with = "max")]
    pub counts: Vec<usize>,
    /// Interleaved rounds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one)]
    pub rounds: usize,
    /// Time after which no run starts, such as 90s, 20m or 2h; a run that exceeds it is stopped [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<f64>,
    /// Continue the study in the output folder; what it has is not measured again
    #[arg(long)]
    pub resume: bool,
    /// Machine with the link between the devices, a name of `greenup machines` or a file [default: measured]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Zones of hydro along an edge for Q2Q1; Q3Q2 has two thirds [default: 16, on GPUs 64]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub hydro_zones: Option<usize>,
    /// The same of one device in the weak cases [default: 16, on GPUs 64]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub hydro_weak_zones: Option<usize>,
    /// Time steps of hydro [default: 6, on GPUs 60]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub hydro_steps: Option<usize>,
    /// Points of fmm; if one GPU has no memory for them, fewer [default: 400000, on GPUs 20000000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub fmm_points: Option<usize>,
    /// Values of q_y and of q_z of gisaxs, each [default: 401, on GPUs 2001]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub gisaxs_grid: Option<usize>,
    /// Triangles of gisaxs-triangles [default: 20000, on GPUs 7500000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub gisaxs_triangles: Option<usize>,
    /// Pixels along an edge of gisaxs-image [default: 96, on GPUs 2048]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub gisaxs_image: Option<usize>,
    /// Trials of tune [default: 8, on GPUs 32]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub tune_trials: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
