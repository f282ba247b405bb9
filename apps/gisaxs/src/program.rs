//! The `gisaxs` command, as a function: its executable and the Python package call it.

use crate::commands::{fit, form_factor, mesh, reflectivity, simulate, study, wisdom};
use clap::{Parser, Subcommand};
use greenup_app::ranks::check_alone;
use std::process::ExitCode;

/// Grazing-incidence X-ray scattering: images, form factors, reflectivity and fits
#[derive(Parser)]
#[command(name = "gisaxs", after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  gisaxs simulate apps/gisaxs/examples/boxes.toml -o boxes.png
  gisaxs simulate apps/gisaxs/examples/unit_cell.toml -o cell.html";

#[derive(Subcommand)]
enum Command {
    /// Simulate the detector image of a sample
    Simulate(simulate::SimulateArgs),
    /// Compute the form factor F(q) of a shape at given q
    FormFactor(form_factor::FormFactorArgs),
    /// Compute the specular reflectivity of a layer stack
    Reflectivity(reflectivity::ReflectivityArgs),
    /// Fit sample parameters to measured data, with 1σ uncertainties
    Fit(fit::FitArgs),
    /// Generate the surface of a sample as a mesh
    Mesh(mesh::MeshArgs),
    /// Measure time, rate and energy of each form-factor method, as in the tables of HipGISAXS
    Study(study::StudyArgs),
    /// Store the best config of a tuning sweep for later runs
    Wisdom(wisdom::WisdomArgs),
}

/// Commands that use tuned configs.
const USE_WISDOM: &[&str] = &["simulate", "form-factor", "fit", "study", "wisdom"];

/// Runs the command with the arguments of this process; returns its exit code.
pub fn main() -> ExitCode {
    #[cfg(feature = "hdf5")]
    greenup_report::version::set_features(&["hdf5"]);
    greenup_app::command::run(USE_WISDOM, |cli: Cli| match cli.command {
        Command::Simulate(args) => simulate::simulate(&args),
        Command::FormFactor(args) => form_factor::form_factor(&args),
        Command::Reflectivity(args) => {
            check_alone().and_then(|()| reflectivity::reflectivity(&args))
        }
        Command::Fit(args) => fit::fit(&args),
        Command::Mesh(args) => check_alone().and_then(|()| mesh::mesh(&args)),
        Command::Study(args) => check_alone().and_then(|()| study::study(&args)),
        Command::Wisdom(args) => check_alone().and_then(|()| wisdom::wisdom(&args)),
    })
}
