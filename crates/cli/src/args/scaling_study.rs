//! Arguments of `greenup study --scaling`.

use super::parse::at_least_one;
use clap::{Args, ValueEnum};

/// An application that `study --scaling` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Measured {
    /// Lagrangian hydrodynamics: Sedov in 3D
    Hydro,
    /// Form factors of X-ray scattering, on GPUs
    Gisaxs,
    /// Fast multipole method: Laplace, uniform points
    Fmm,
}

#[derive(Args)]
pub struct ScalingStudyArgs {
    /// Measure applications instead: hydro, gisaxs and fmm on 1, 2, 4, … all GPUs, or without GPUs on as many ranks as cores;
    /// speedup, powerup and greenup compared with the prediction
    #[arg(long, conflicts_with_all = ["assume", "full", "no_tuning"])]
    pub scaling: bool,
    /// With --scaling: applications [default: all; on a CPU hydro and fmm]
    #[arg(
        long,
        value_enum,
        value_name = "NAME,…",
        value_delimiter = ',',
        requires = "scaling"
    )]
    pub apps: Vec<Measured>,
    /// With --scaling: largest number of GPUs or ranks [default: all GPUs, or all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub most: Option<usize>,
    /// With --scaling: interleaved rounds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one, requires = "scaling")]
    pub rounds: usize,
    /// With --scaling: machine with the link between the devices, a name of `greenup machines` or a file [default: measured]
    #[arg(long, value_name = "NAME|FILE", requires = "scaling")]
    pub machine: Option<String>,
    /// With --scaling: refinements of hydro's mesh of 8 zones [default: 3, on GPUs 5]
    #[arg(long, value_name = "N", requires = "scaling", value_parser = clap::value_parser!(u8).range(0..=8))]
    pub hydro_refine: Option<u8>,
    /// With --scaling: time steps of hydro [default: 6, on GPUs 60]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub hydro_steps: Option<usize>,
    /// With --scaling: points of fmm [default: 400000, on GPUs 20000000]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub fmm_points: Option<usize>,
    /// With --scaling: values of q_y and of q_z of gisaxs, each [default: 401, on GPUs 2001]
    #[arg(long, value_name = "N", value_parser = at_least_one, requires = "scaling")]
    pub gisaxs_grid: Option<usize>,
}
