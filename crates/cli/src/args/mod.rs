//! The command line.

mod energy;
mod everyday;
mod intensity;
mod model;
mod parse;
mod profile;
mod regions;
mod run;
mod sweeps;
mod tuning;
mod wisdom;

pub use energy::EnergyArgs;
pub use everyday::*;
pub use intensity::Intensities;
pub use model::*;
pub use parse::{OPENCL, Sizes};
pub use profile::{MethodOfProfile, ProfileArgs};
pub use regions::RegionsArgs;
pub use run::RunArgs;
pub use sweeps::{ListArgs, MergeArgs, ShowArgs, SweepsArgs, SweepsCommand};
pub use tuning::*;
pub use wisdom::*;

use clap::{Args, Parser, Subcommand, ValueEnum};
use greenup_app::args::{SensorArg, duration};
use greenup_app::ranks::RanksArg;
use greenup_device::{DeviceSpec, Usable};
use parse::resamples;
use std::path::PathBuf;

#[derive(Parser)]
#[command(
    name = "greenup",
    about = "Measures a machine's time, energy and power, models it as an energy roofline, and explains the result.",
    after_help = "Examples:\n  greenup study\n  greenup run 'sleep 0.2' 'sleep 0.1'\n  greenup init c my-kernel\n\nStart with `greenup study`, or tune a kernel with `greenup init`. Data goes to standard output, messages to standard error. Tables fit COLUMNS, else the terminal; without COLUMNS, pipes and files get all columns."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// The process of a trial alone: the tuner starts many, and the parser of all commands takes longer than the rest of the start.
#[derive(Parser)]
#[command(name = "greenup")]
pub struct WorkerCli {
    #[command(subcommand)]
    pub command: WorkerCommand,
}

#[derive(Subcommand)]
pub enum WorkerCommand {
    /// Runs configs of a sweep, as `greenup tune` asks
    TrialWorker(WorkerArgs),
}

#[derive(Subcommand)]
pub enum Command {
    /// Calibrate this host, measure real kernels on it, and explain them on one HTML page
    Study(StudyArgs),
    /// Write a small project that can be tuned at once: problem file, kernel or program, reference
    Init(InitArgs),
    /// Check every energy sensor: usable or not, with the cause and the fix; list OpenCL devices
    Doctor(DoctorArgs),
    /// Measure time, energy and power of a command, or compare several
    Run(RunArgs),
    /// Integrate a power log, such as that of nvidia-smi: energy and mean power between two times, of each GPU
    Energy(EnergyArgs),
    /// Show time, energy and power of the regions that programs marked; install the C header and library
    Regions(RegionsArgs),
    /// Run the microbenchmarks on this host or a GPU and fit a machine model to them
    Calibrate(CalibrateArgs),
    /// Fit a machine model to measurements in a CSV file
    Fit(FitArgs),
    /// List known machines, show one, or place them on a dimensionless map
    Machines(MachinesArgs),
    /// Predict time, energy and power of a computation on a machine
    Predict(PredictArgs),
    /// Ask what-if questions: power throttling, power bounds, clusters, work-traffic trade-offs
    Whatif(WhatifArgs),
    /// Draw the time roofline, the energy arch line and the power line of machines
    Roofline(RooflineArgs),
    /// Count a search space, show what each filter prunes, sample it, draw it
    Space(SpaceArgs),
    /// Tune a kernel or any command: search its space; build, verify and measure configs; report the best
    Tune(TuneArgs),
    /// Print the best config of a sweep for use in a build: compiler flags, C header, JSON, TOML or a command
    Best(BestArgs),
    /// Compile a CUDA source for any GPU architecture; print registers, spills and occupancy of its kernels
    Compile(CompileArgs),
    /// Multiply matrices with the kernel tuned for this host, compared with other libraries
    Gemm(GemmArgs),
    /// Run a search strategy on a recorded sweep, with a simulated clock
    Replay(ReplayArgs),
    /// Join or list recorded sweeps
    Sweeps(SweepsArgs),
    /// Measure selected configs of a sweep at other problem sizes
    Scale(ScaleArgs),
    /// Split time and energy of any program over its kernels: times, counters, joules; or count a sweep's configs
    Profile(ProfileArgs),
    /// Split the energy of applications into its parts, from hardware counters, and compare with measurements
    Explain(ExplainArgs),
    /// Analyze a sweep: best configs, time-energy trade-off, importance of parameters
    Analyze(AnalyzeArgs),
    /// List, export and import tuned configs by problem and device; show which one a device would use
    Wisdom(WisdomArgs),
    #[command(hide = true)]
    ClockKeeper(KeeperArgs),
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup study\n  greenup study --device cuda -o gpu\n\n`greenup scaling study` measures applications over GPUs or ranks."
)]
pub struct StudyArgs {
    /// Output folder: report.html, summary.json, and for each device its machine, records and figures
    #[arg(short, long, default_value = "study", value_name = "DIR")]
    pub out: PathBuf,
    /// Devices to study: the host's cores, one GPU, or every device present
    #[arg(long, default_value = "all", value_name = "cpu|cuda[:N]|all", value_parser = |text: &str| Usable::ALL.parse(text))]
    pub device: DeviceSpec,
    /// Name of the calibrated machine; that of a GPU ends in -cuda0
    #[arg(long, default_value = "this-host")]
    pub name: String,
    /// Machine whose energy costs are used for estimates where there is no sensor, apart from the measurements
    #[arg(long, value_name = "MACHINE")]
    pub assume: Option<String>,
    /// Measure every intensity on 1, 2, 4, … all threads, and all microbenchmarks of a GPU (many minutes)
    #[arg(long)]
    pub full: bool,
    /// Skip the short tuning run at the end
    #[arg(long)]
    pub no_tuning: bool,
    #[command(flatten)]
    pub sensor: SensorArg,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  greenup doctor\n  greenup doctor --seconds 2s --json")]
pub struct DoctorArgs {
    /// Energy sensors that are checked: an id, the first words of several ids, external:FILE, external:cmd:COMMAND, or
    /// recorded:FILE [default: all]
    #[arg(long, value_name = "ID")]
    pub sensor: Option<String>,
    /// Time to read every sensor while idle, and again under load
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = duration)]
    pub seconds: f64,
    /// Command that loads the machine, instead of all cores busy; it must run until it is killed
    #[arg(long, value_name = "CMD")]
    pub load: Option<String>,
    /// Measure each usable sensor's error under a load that is switched on and off
    #[arg(long)]
    pub square_wave: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup calibrate --quick\n  greenup calibrate --levels\n  greenup calibrate --device cuda:0 --records gpu.csv\n  greenup calibrate --network --ranks 2"
)]
pub struct CalibrateArgs {
    /// Name of the machine
    #[arg(long, default_value = "this-host")]
    pub name: String,
    /// Machine file to write [default: machines/NAME.toml]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also write the measurements, as `greenup fit` reads them
    #[arg(long, value_name = "FILE.csv")]
    pub records: Option<PathBuf>,
    /// Also write an HTML page: fitted lines with the measured points, constants with intervals, residuals
    #[arg(long, value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Fewer intensities and shorter measurements: about 40 seconds without a sensor
    #[arg(long)]
    pub quick: bool,
    /// Device to calibrate: cpu, or a GPU as cuda or cuda:N; with --network several GPUs as cuda:all or cuda:0,1 [default: cpu]
    #[arg(long = "device", value_name = "cpu|cuda[:N]", value_parser = |text: &str| Usable::SEVERAL.parse(text))]
    pub device: Option<DeviceSpec>,
    /// Measure messages instead: between ranks (`mpirun -np 2 greenup calibrate --network`, or --ranks), or with --device
    /// cuda:all between the GPUs of this host
    #[arg(long, conflicts_with_all = ["records", "page", "method"])]
    pub network: bool,
    /// Measure the levels of the memory hierarchy instead: what a byte and a random access cost at each, and its latency
    #[arg(long, conflicts_with_all = ["network", "records", "page", "out", "name", "method"])]
    pub levels: bool,
    #[command(flatten)]
    pub ranks: RanksArg,
    /// Machine that the network is added to: a name of `greenup machines`, or a file [default: the machine file, if it exists]
    #[arg(long, value_name = "NAME|FILE", requires = "network")]
    pub machine: Option<String>,
    /// Fitting method
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
    /// Ordinary least squares
    Linear,
    /// Non-negative least squares: no cost is below 0
    Nnls,
    /// Times, energies and the power cap together
    Capped,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup fit docs/results/data/host/records.csv -o fitted.toml\n  greenup fit docs/results/data/h200/microbenchmarks.csv --clocked\n  greenup fit --dvfs --race-to-halt crates/calibrate/tests/data/dvfs/gtx980.csv\n\nColumns of FILE.csv: time_s and operation counts (see `greenup predict --help`), and\noptionally energy_j, benchmark, setting, occupancy; columns that start with _ are ignored.\nWith --dvfs: four header lines (number of clock domains; default clocks, MHz; components per\ndomain; component names), then rows `power W, core MHz, memory MHz, utilisations…`."
)]
pub struct FitArgs {
    /// Measurements, one row a run
    #[arg(value_name = "FILE.csv")]
    pub file: PathBuf,
    /// Fitting method
    #[arg(long, value_enum, default_value_t = MethodArg::Capped)]
    pub method: MethodArg,
    /// Fit a DVFS model: board power as a function of core and memory clocks
    #[arg(long)]
    pub dvfs: bool,
    /// With --dvfs: compare the lowest-energy clocks of the model with race-to-halt (the fastest clocks), per kernel
    #[arg(long, requires = "dvfs")]
    pub race_to_halt: bool,
    /// Fit clock and voltage at the power cap and leakage over temperature, and compare with a model of constant clock
    #[arg(long, conflicts_with = "dvfs")]
    pub clocked: bool,
    /// Take time costs from the highest sustained rates, as `calibrate` does, instead of a least-squares fit of all times
    #[arg(long, conflicts_with_all = ["dvfs", "clocked"])]
    pub roofs: bool,
    /// Number of bootstrap resamples, for confidence intervals
    #[arg(long, default_value = "400", value_parser = resamples)]
    pub resamples: usize,
    /// Name of the machine
    #[arg(long, default_value = "fitted")]
    pub name: String,
    /// Also write the machine file; `-` prints it instead of the table
    #[arg(short, long, value_name = "FILE.toml", conflicts_with = "dvfs")]
    pub out: Option<PathBuf>,
    /// Also write an HTML page: fitted lines with the measured points, constants with intervals, residuals
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["dvfs", "clocked"])]
    pub page: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
