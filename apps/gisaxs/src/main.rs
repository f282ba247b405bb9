//! `gisaxs`: X-ray scattering at grazing incidence from a page that describes the sample.

mod commands;

use clap::{Parser, Subcommand};
use commands::fit::{FitArgs, fit};
use commands::form_factor::{FormFactorArgs, form_factor};
use commands::note;
use commands::reflectivity::{ReflectivityArgs, reflectivity};
use commands::simulate::{SimulateArgs, simulate};
use commands::study::{StudyArgs, study};
use commands::wisdom::{WisdomArgs, wisdom};
use greenup_app::{interrupt, stdout};
use greenup_gisaxs::GisaxsError;
use std::process::ExitCode;

#[derive(Parser)]
#[command(version, about = "X-ray scattering at grazing incidence", after_help = EXAMPLES)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  gisaxs simulate apps/gisaxs/examples/boxes.toml -o boxes.png
  gisaxs simulate apps/gisaxs/examples/lattice.toml -o lattice.html --cut alpha=0.3
  gisaxs reflectivity apps/gisaxs/examples/film.toml --angles angles.csv -o r.csv
  gisaxs form-factor apps/gisaxs/examples/icosahedron.toml --q q.csv -o f.csv
  gisaxs form-factor apps/gisaxs/examples/icosahedron.toml --grid 0 -2:2:401 0:2:201 -o f.npy
  gisaxs fit apps/gisaxs/examples/fit.toml -o fit.html
  gisaxs study --machine host.toml";

#[derive(Subcommand)]
enum Command {
    /// The detector's image of a sample
    Simulate(SimulateArgs),
    /// F(q) of a shape at given q
    FormFactor(FormFactorArgs),
    /// The share of the beam that the layers of a sample reflect
    Reflectivity(ReflectivityArgs),
    /// Numbers of a sample from a measured image or cut, with their uncertainties
    Fit(FitArgs),
    /// Time, rates and joules of each way to the form factor, as in the paper's tables
    Study(StudyArgs),
    /// Keeps the best config of a tuning sweep for every later run
    Wisdom(WisdomArgs),
}

fn main() -> ExitCode {
    interrupt::install();
    let done = match &Args::parse().command {
        Command::Simulate(args) => simulate(args),
        Command::FormFactor(args) => form_factor(args),
        Command::Reflectivity(args) => reflectivity(args),
        Command::Fit(args) => fit(args),
        Command::Study(args) => study(args),
        Command::Wisdom(args) => wisdom(args),
    };
    match done {
        Ok(()) => {}
        Err(e) => {
            note(&format!("error: {e}"));
            if let GisaxsError::Io(file) = &e
                && let Some(hint) = file.hint()
            {
                note(&format!("hint: {hint}"));
            }
            let code = if interrupt::requested() {
                interrupt::CODE
            } else {
                1
            };
            return ExitCode::from(code);
        }
    }
    match stdout::finish() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            note(&format!("error: {e}"));
            ExitCode::FAILURE
        }
    }
}
