//! Flags of `hydro study`, and the cases that they name.

use super::cases::{ASSEMBLIES, Case, WORK};
use crate::session::settings::Assembly;
use clap::Args;
use greenup_app::args::{DeviceArg, FigureArgs, MachineArg, SensorArg, ThreadsArg, duration};
use greenup_app::{AppError, Result};
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  hydro study --intervals 8 --orders 2,3 --window 500ms -o study.json\n  hydro study --device cuda --machine h200 -o gpu.json"
)]
pub struct StudyArgs {
    /// Kinematic intervals per direction, held constant across orders
    #[arg(long, value_name = "N", default_value_t = 48)]
    pub intervals: usize,
    /// Dimension of the mesh: 1, 2 or 3
    #[arg(long, value_name = "D", default_value_t = 3)]
    pub dim: usize,
    /// Kinematic orders; the number of zones is rounded
    #[arg(
        long,
        value_name = "K,...",
        value_delimiter = ',',
        default_value = "2,3,4"
    )]
    pub orders: Vec<usize>,
    /// Assembly of the operators [default: both]
    #[arg(long, value_enum)]
    pub assembly: Option<Assembly>,
    /// Kinds of work: whole steps, the corner force alone, the solve for accelerations alone
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "step,corner,solve",
        value_parser = clap::builder::PossibleValuesParser::new(WORK.map(|w| w.0))
    )]
    pub work: Vec<String>,
    #[command(flatten)]
    pub device: DeviceArg,
    /// Duration of each measurement
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = duration)]
    pub window: f64,
    #[command(flatten)]
    pub machine: MachineArg,
    #[command(flatten)]
    pub sensor: SensorArg,
    #[command(flatten)]
    pub threads: ThreadsArg,
    /// Write the rows as JSON, and files of the same name: an HTML page, and the traces of power as .csv and .png. A name without
    /// an ending is a folder with these files and a sweep of the cases, which the same command continues
    #[arg(short, long, value_name = "FILE.json|DIR")]
    pub out: Option<PathBuf>,
    /// Print the rows as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub look: FigureArgs,
}

impl StudyArgs {
    /// Checks what the user asks for.
    ///
    /// # Errors
    /// A number is out of its range.
    pub fn check(&self) -> Result {
        let dim = self.dim;
        let why = if !(1..=3).contains(&dim) {
            format!("--dim {dim}: use 1, 2 or 3")
        } else if let Some(order) = self.orders.iter().find(|o| !(1..=8).contains(*o)) {
            format!("--orders {order}: use 1 to 8")
        } else {
            return Ok(());
        };
        Err(AppError::new(why))
    }

    /// The cases of the orders, assemblies and kinds of work that the user wants.
    pub fn cases(&self) -> Vec<Case> {
        let device = self.device.device.of_rank((0, 1), 1).to_string();
        let mut out = Vec::new();
        for order in self.orders.iter().copied() {
            let zones = (self.intervals as f64 / order as f64).round().max(1.0) as usize;
            for assembly in ASSEMBLIES {
                for (work, part) in WORK {
                    if self.assembly.is_none_or(|only| only == assembly)
                        && self.work.iter().any(|w| w == work)
                    {
                        out.push(Case {
                            mesh: vec![zones.to_string(); self.dim].join("x"),
                            device: device.clone(),
                            order,
                            assembly,
                            work,
                            part,
                        });
                    }
                }
            }
        }
        out
    }
}
