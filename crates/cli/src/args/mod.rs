//! The command line.

mod model;
mod parse;
mod tuning;

pub use model::*;
pub use parse::{BudgetArg, Sizes};
pub use tuning::*;

use clap::{Args, Parser, Subcommand, ValueEnum};
use parse::{resamples, share};
use std::path::PathBuf;

#[derive(Parser)]
#[command(
    name = "greenup",
    version,
    about = "Measures a machine's time, energy and power, models it as an energy roofline, and explains the result.",
    after_help = "Start with `greenup study`. Data goes to standard output, messages to standard error."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Calibrate this host, measure real kernels on it, and explain them on one page
    Study(StudyArgs),
    /// Say of every energy sensor whether it can be used, and if not the cause and the cure
    Doctor(DoctorArgs),
    /// Measure time, energy and power of a command, or compare two
    Run(RunArgs),
    /// Measure this host's limits and fit a machine to them
    Calibrate(CalibrateArgs),
    /// Fit a machine to anybody's measurements
    Fit(FitArgs),
    /// List the machines that are known, or place them on the dimensionless map
    Machines(MachinesArgs),
    /// Predict time, energy and power of a computation on a machine
    Predict(PredictArgs),
    /// Ask what would change: throttling, power bounds, clusters, trade-offs
    Whatif(WhatifArgs),
    /// Draw roofline, arch line and power line of machines
    Roofline(RooflineArgs),
    /// Count a search space, say what each filter prunes, sample it, draw it
    Space(SpaceArgs),
    /// Tune a kernel: search its space, build, verify and measure, keep the best
    Tune(TuneArgs),
    /// Compile a CUDA source for a GPU that need not be here; say what each kernel needs
    Compile(CompileArgs),
    /// Multiply matrices with the kernel tuned for this host, and race it against other libraries
    Gemm(GemmArgs),
    /// Let a search strategy meet a recorded sweep, with a simulated clock
    Replay(ReplayArgs),
    /// Measure selected configs of a sweep at other problem sizes
    Scale(ScaleArgs),
    /// Read hardware counters of a sweep's configs on a GPU
    Profile(ProfileArgs),
    /// Explain what applications cost, from hardware counters, beside what was measured
    Explain(ExplainArgs),
    /// Explain a sweep: winners, trade-off, what separates them
    Analyze(AnalyzeArgs),
    #[command(hide = true)]
    TrialWorker(WorkerArgs),
    #[command(hide = true)]
    ClockKeeper(KeeperArgs),
}

#[derive(Args)]
pub struct StudyArgs {
    /// Folder for report.html, summary.json, machine.toml, records.csv and the figures
    #[arg(long, default_value = "study", value_name = "DIR")]
    pub out: PathBuf,
    /// Name of the calibrated machine
    #[arg(long, default_value = "this-host")]
    pub name: String,
    /// Draw the energy side from this published machine, apart from the measurements
    #[arg(long, value_name = "MACHINE")]
    pub assume: Option<String>,
    /// Every intensity on 1, 2, 4, … all threads: takes many minutes
    #[arg(long)]
    pub full: bool,
    /// Leave out the short tuning run at the end
    #[arg(long)]
    pub no_tuning: bool,
    #[command(flatten)]
    pub sensor: SensorArg,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct SensorArg {
    /// Energy sensor: an id of `greenup doctor`, external:FILE, external:cmd:COMMAND,
    /// recorded:FILE, or none
    #[arg(long, value_name = "ID")]
    pub sensor: Option<String>,
}

#[derive(Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub sensor: SensorArg,
    /// Seconds to watch every sensor idle, and again under load
    #[arg(long, default_value_t = 1.0, value_name = "S")]
    pub seconds: f64,
    /// Load the machine with this command instead of all its cores (it must run until killed)
    #[arg(long, value_name = "CMD")]
    pub load: Option<String>,
    /// Measure each usable sensor's error on a load that is switched on and off
    #[arg(long)]
    pub square_wave: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Json,
    Csv,
    Md,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup run -- sleep 0.2\n  greenup run --compare 'gzip -9 -kc FILE' -- gzip -1 -kc FILE\n  greenup run --rel-error 1% --export json -- ./app"
)]
pub struct RunArgs {
    /// A second command; repeat for more. The first is the baseline
    #[arg(long, value_name = "CMD")]
    pub compare: Vec<String>,
    /// Runs that are not counted, first
    #[arg(long, default_value_t = 0)]
    pub warmup: usize,
    /// Exactly so many runs (default: at least 10 and 3 seconds)
    #[arg(long, conflicts_with = "rel_error")]
    pub runs: Option<usize>,
    /// Repeat until the median is known to this share, e.g. 1%
    #[arg(long, value_parser = share, value_name = "SHARE")]
    pub rel_error: Option<f64>,
    /// Print the result in this form on standard output, or write it: FORMAT:FILE; repeat
    #[arg(long, value_name = "json|csv|md[:FILE]")]
    pub export: Vec<String>,
    /// The same as --export json
    #[arg(long)]
    pub json: bool,
    /// Go on when the command exits with a code other than 0
    #[arg(short, long)]
    pub ignore_failure: bool,
    /// Show the command's own output
    #[arg(long)]
    pub show_output: bool,
    #[command(flatten)]
    pub sensor: SensorArg,
    /// The command and its arguments; no shell is involved
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CMD"
    )]
    pub command: Vec<String>,
}

#[derive(Args)]
pub struct CalibrateArgs {
    /// Name of the machine
    #[arg(long, default_value = "this-host")]
    pub name: String,
    /// Machine file to write [default: machines/NAME.toml]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also write the records, which `greenup fit` reads
    #[arg(long, value_name = "FILE.csv")]
    pub records: Option<PathBuf>,
    /// Fewer intensities and shorter windows: about 40 seconds without a sensor
    #[arg(long)]
    pub quick: bool,
    /// Calibrate this GPU, by its number, instead of the host's cores
    #[arg(long, value_name = "N")]
    pub gpu: Option<String>,
    /// How energy is fitted
    #[arg(long, value_enum, default_value_t = MethodArg::Capped)]
    pub method: MethodArg,
    #[command(flatten)]
    pub sensor: SensorArg,
    /// Print the fit as one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// Ordinary least squares (eq 9)
    Linear,
    /// Non-negative least squares (eq 48)
    Nnls,
    /// Times, energies and the power cap together (eqs 32–38)
    Capped,
}

#[derive(Args)]
#[command(
    after_help = "Columns of FILE.csv: time_s and operation counts (see `greenup predict --help`), and\noptionally energy_j, benchmark, setting, occupancy; columns that start with _ are ignored.\nWith --dvfs: four header lines (number of clock domains; default clocks, MHz; components per\ndomain; component names), then rows `power W, core MHz, memory MHz, utilisations…`."
)]
pub struct FitArgs {
    /// Measurements
    #[arg(value_name = "FILE.csv")]
    pub file: PathBuf,
    /// How energy is fitted
    #[arg(long, value_enum, default_value_t = MethodArg::Capped)]
    pub method: MethodArg,
    /// Fit board power over clocks, with voltage as a function of clock
    #[arg(long)]
    pub dvfs: bool,
    /// With --dvfs: for every kernel, the setting that the model chooses against the fastest one (race to halt), and the
    /// energy that each loses
    #[arg(long, requires = "dvfs")]
    pub races: bool,
    /// Fit how clock and voltage fall at the power cap, and hold it against the flat cap
    #[arg(long, conflicts_with = "dvfs")]
    pub clocked: bool,
    /// Times by the best rate that any record sustained (roofs), as `calibrate` and `study` give them, instead of least
    /// squares over all records
    #[arg(long, conflicts_with_all = ["dvfs", "clocked"])]
    pub roofs: bool,
    /// Resamples of the bootstrap
    #[arg(long, default_value = "400", value_parser = resamples)]
    pub resamples: usize,
    /// Name of the machine
    #[arg(long, default_value = "fitted")]
    pub name: String,
    /// Also write the machine; `-` prints it instead of the table
    #[arg(short, long, value_name = "FILE.toml", conflicts_with = "dvfs")]
    pub out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
