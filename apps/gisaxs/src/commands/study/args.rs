//! Flags of `gisaxs study`.

use super::cases::Cases;
use crate::commands::mesh_form_factor::MethodArg;
use clap::Args;
use greenup_app::args::{DeviceSetArg, MachineArg, SensorArg, ThreadsArg, duration, order};
use greenup_device::affinity::Pin;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gisaxs study\n  gisaxs study --device cuda --machine h200 -o study.html\n  gisaxs study --scaling --device cuda:all -o scaling.json"
)]
pub struct StudyArgs {
    #[command(flatten)]
    pub device: DeviceSetArg,
    /// Cases of the HipGISAXS paper to measure
    #[arg(long, value_enum, default_value = "small")]
    pub cases: Cases,
    /// Measure this method only (repeatable)
    #[arg(long, value_enum)]
    pub method: Vec<MethodArg>,
    /// Compare 1, 2, 4, … and all GPUs of --device on the largest case of each method: time, energy, equality of all digits.
    /// Without GPUs: 1, 2, 4, … and all threads on the smallest case of each method
    #[arg(long, conflicts_with_all = ["cases", "machine", "sensor", "window"])]
    pub scaling: bool,
    /// Interleaved rounds of --scaling
    #[arg(long, default_value_t = 3, value_name = "N", requires = "scaling", value_parser = clap::value_parser!(u16).range(1..))]
    pub rounds: u16,
    /// Do not measure energy with --scaling
    #[arg(long, requires = "scaling")]
    pub no_energy: bool,
    #[command(flatten)]
    pub machine: MachineArg,
    #[command(flatten)]
    pub threads: ThreadsArg,
    /// Pin threads to CPUs: none, compact, balanced or scatter; with --scaling several, to be compared
    #[arg(long, value_name = "ORDER", default_value = "none", value_delimiter = ',', value_parser = order)]
    pub pin: Vec<Pin>,
    #[command(flatten)]
    pub sensor: SensorArg,
    /// Duration of a measurement window
    #[arg(long, default_value = "300ms", value_name = "TIME", value_parser = duration)]
    pub window: f64,
    /// Write the rows after each case: json, or html (an HTML page). A name without an ending is a folder with both and a sweep
    /// of the cases, which the same command continues
    #[arg(short, long, value_name = "FILE|DIR")]
    pub out: Option<PathBuf>,
    /// Print the rows as JSON
    #[arg(long)]
    pub json: bool,
}
