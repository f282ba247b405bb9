//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use greenup_model::Op;
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
    /// Let a search strategy meet a recorded sweep, with a simulated clock
    Replay(ReplayArgs),
    /// Explain a sweep: winners, trade-off, what separates them
    Analyze(AnalyzeArgs),
    #[command(hide = true)]
    TrialWorker(WorkerArgs),
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
    /// Print the result in this form on standard output, or write it: FORMAT:FILE
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
    /// Resamples of the bootstrap
    #[arg(long, default_value_t = 400)]
    pub resamples: usize,
    /// Name of the machine
    #[arg(long, default_value = "fitted")]
    pub name: String,
    /// Also write the machine
    #[arg(short, long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct MachinesArgs {
    /// Show all of one machine
    pub name: Option<String>,
    /// Place the machines on the dimensionless map, with the distances from the first (or NAME)
    #[arg(long)]
    pub map: bool,
    /// Draw the map: FILE.svg or FILE.png
    #[arg(short, long, value_name = "FILE", requires = "map")]
    pub out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

fn op_help() -> String {
    let mut text = String::from("Operation names:\n");
    for op in Op::ALL {
        text.push_str(&format!("  {:<12} {}\n", op.name(), op.describe()));
    }
    text.push_str("\nExamples:\n  greenup predict --machine gtx-titan --op f32=1e12 --op dram=1e11\n  greenup predict --machine study/machine.toml --op f64=2e9 --op dram=1.6e10 --json");
    text
}

#[derive(Args)]
#[command(after_help = op_help())]
pub struct PredictArgs {
    /// Machine: a name of `greenup machines`, or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: String,
    /// How many operations of a class: NAME=COUNT; repeat
    #[arg(long = "op", required = true, value_parser = op_count, value_name = "NAME=COUNT")]
    pub ops: Vec<(Op, f64)>,
    /// Bound on the total power of one node, W
    #[arg(long, value_name = "W")]
    pub cap: Option<f64>,
    /// So many nodes with a free network
    #[arg(long, value_name = "N")]
    pub nodes: Option<f64>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct WhatifArgs {
    #[command(subcommand)]
    pub question: Question,
    /// Print one JSON document
    #[arg(long, global = true)]
    pub json: bool,
    /// Flop class [default: f64 where the machine has it, else its first]
    #[arg(long, global = true, value_name = "OP")]
    pub flop: Option<Op>,
}

#[derive(Args)]
pub struct Intensities {
    /// Intensities to tabulate, flop/B
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "0.25,1,4,16,64",
        value_name = "I,…"
    )]
    pub intensity: Vec<f64>,
}

#[derive(Subcommand)]
pub enum Question {
    /// Usable power cut to Δπ/k: speed, power and flop/J over intensity
    Throttle {
        #[arg(long)]
        machine: String,
        /// Factors k
        #[arg(long, value_delimiter = ',', default_value = "1,2,4,8")]
        k: Vec<f64>,
        #[command(flatten)]
        at: Intensities,
    },
    /// One big node under a power bound against as many small nodes as the bound feeds
    Bound {
        #[arg(long)]
        machine: String,
        /// The bound, W
        #[arg(long)]
        watts: f64,
        /// The small node
        #[arg(long)]
        against: Option<String>,
        #[command(flatten)]
        at: Intensities,
    },
    /// As many small nodes as draw the power of the big one
    Cluster {
        /// The big node
        #[arg(long)]
        machine: String,
        /// The small node
        #[arg(long)]
        of: String,
        /// So many nodes instead
        #[arg(long)]
        nodes: Option<f64>,
        #[command(flatten)]
        at: Intensities,
    },
    /// f times the flops for 1/m of the bytes: speedup, greenup and their bounds
    Tradeoff {
        #[arg(long)]
        machine: String,
        /// Intensity of the baseline, flop/B
        #[arg(long)]
        intensity: f64,
        /// f: flops of the new algorithm over the baseline's
        #[arg(short = 'f', long)]
        work: f64,
        /// m: bytes of the baseline over the new algorithm's
        #[arg(short = 'm', long)]
        traffic: f64,
    },
    /// Energy of streaming one byte, constant power included, on every machine
    Streaming,
    /// Peak of an instruction mix
    Refined {
        /// name=count:flops:lanes per cycle[:co-issued lanes]; repeat
        #[arg(long = "instr", required = true)]
        instructions: Vec<String>,
        /// Lanes an instruction covers (32 threads of a warp, 8 doubles of a vector)
        #[arg(long, default_value_t = 32.0)]
        lanes: f64,
        #[arg(long)]
        cores: f64,
        /// Clock, Hz
        #[arg(long)]
        clock: f64,
    },
}

#[derive(Args)]
pub struct RooflineArgs {
    /// Machine: a name of `greenup machines`, or a file; repeat to compare
    #[arg(long, required = true, value_name = "NAME|FILE")]
    pub machine: Vec<String>,
    /// Measured runs to draw as points, in the form that `greenup fit` reads; they belong to the
    /// first machine
    #[arg(long, value_name = "FILE.csv")]
    pub sweep: Option<PathBuf>,
    /// Flop class [default: f64 where all machines have it, else f32]
    #[arg(long, value_name = "OP")]
    pub flop: Option<Op>,
    /// Range of intensity, flop/B
    #[arg(long, num_args = 2, value_names = ["LO", "HI"], default_values_t = [0.0625, 512.0])]
    pub intensity: Vec<f64>,
    /// FILE.svg or FILE.png
    #[arg(short, long, default_value = "roofline.svg", value_name = "FILE")]
    pub out: PathBuf,
    #[arg(long)]
    pub title: Option<String>,
}

#[derive(Args)]
pub struct SpaceArgs {
    /// A space or problem in our notation (TOML), a T1 problem, or a neutral file (JSON)
    pub file: PathBuf,
    /// Print the counts as JSON
    #[arg(long)]
    pub json: bool,
    /// Draw the pruning: FILE.svg or FILE.png
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write every valid point to FILE.csv
    #[arg(long, value_name = "FILE.csv")]
    pub points: Option<PathBuf>,
    /// Print this many points, uniformly chosen
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub sample: usize,
    /// Seed of the choice
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seconds to spend on counting what each filter leaves [default: 5, with --json 1]
    #[arg(long, value_name = "S")]
    pub time: Option<f64>,
    /// Memory for the index, like 768M or 2G; a larger space is counted without one
    #[arg(long, default_value = "768M", value_parser = bytes)]
    pub memory: usize,
}

#[derive(Args)]
pub struct TuneArgs {
    /// Problem file
    pub problem: PathBuf,
    /// Search strategy: forest, gp, exhaustive, random, local, anneal, genetic, evolve, halving, nsga2, steered
    #[arg(long, default_value = greenup_tune::DEFAULT)]
    pub strategy: String,
    /// Trials (100), seconds (60s) or a share of the space (5%)
    #[arg(long, default_value = "60s", value_parser = budget)]
    pub budget: BudgetArg,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder of the sweep [default: sweeps/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on with the sweep in the folder
    #[arg(long)]
    pub resume: bool,
    /// Objective instead of the problem's; a second one for nsga2
    #[arg(long)]
    pub objective: Vec<greenup_tune::Objective>,
    /// Machine whose model orders the configs for `steered`
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Configs measured again at the end
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub finalists: usize,
    #[command(flatten)]
    pub sensor: SensorArg,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct AnalyzeArgs {
    /// A sweep folder, a T4 file or a cache of Kernel Tuner, .gz allowed
    pub sweep: PathBuf,
    /// Folder for report.html, the figures, analysis.json, trials.csv and results-t4.json
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Flops of one run, where the sweep does not tell
    #[arg(long, value_name = "N")]
    pub flops: Option<f64>,
    /// Share of the configs from which the surrogate learns, like 10%
    #[arg(long, default_value = "10%", value_parser = share)]
    pub sample: f64,
    /// Seed of the sample
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print the analysis as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct WorkerArgs {
    /// Energy sensor, by its id
    #[arg(long)]
    pub sensor: Option<String>,
    /// Change period of the sensor, s
    #[arg(long, default_value_t = 0.1)]
    pub period: f64,
}

#[derive(Args)]
pub struct ReplayArgs {
    /// A sweep folder, a T4 file or a cache of Kernel Tuner, .gz allowed
    pub recorded: PathBuf,
    /// Search strategy: forest, gp, random, exhaustive, local, anneal, genetic, evolve, halving, nsga2
    #[arg(long, default_value = greenup_tune::DEFAULT)]
    pub strategy: String,
    /// Trials (100), simulated seconds (60s) or a share of the recording (5%)
    #[arg(long, default_value = "5%", value_parser = budget)]
    pub budget: BudgetArg,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Repeat with this many seeds and report the mean
    #[arg(long, default_value_t = 1)]
    pub seeds: usize,
    /// time, energy, edp, ed2p, flops/w, alpha=A, time@power<=W, energy@time<=S; a second one for nsga2
    #[arg(long, default_value = "time")]
    pub objective: Vec<greenup_tune::Objective>,
    /// Print what was found, and its trace, as JSON
    #[arg(long)]
    pub json: bool,
}

/// How long a search may go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BudgetArg {
    Evaluations(usize),
    Seconds(f64),
    /// Of all points.
    Share(f64),
}

/// `100`, `60s`, `5%`.
fn budget(text: &str) -> Result<BudgetArg, String> {
    let wrong = || "give a number of trials (100), seconds (60s) or a share (5%)".to_owned();
    let positive = |t: &str| {
        t.trim()
            .parse::<f64>()
            .ok()
            .filter(|x| *x > 0.0 && x.is_finite())
            .ok_or_else(wrong)
    };
    if let Some(s) = text.strip_suffix('s') {
        return positive(s).map(BudgetArg::Seconds);
    }
    if let Some(s) = text.strip_suffix('%') {
        return positive(s).map(|x| BudgetArg::Share(x / 100.0));
    }
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(BudgetArg::Evaluations(n)),
        _ => Err(wrong()),
    }
}

/// `512M`, `2G` or plain bytes.
fn bytes(text: &str) -> Result<usize, String> {
    let (digits, scale) = match text.trim_end_matches(['B', 'b']).char_indices().last() {
        Some((i, 'k' | 'K')) => (&text[..i], 1 << 10),
        Some((i, 'm' | 'M')) => (&text[..i], 1 << 20),
        Some((i, 'g' | 'G')) => (&text[..i], 1 << 30),
        _ => (text, 1_usize),
    };
    match digits.trim().parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok((x * scale as f64) as usize),
        _ => Err("give a size like 512M or 2G".into()),
    }
}

/// `1%` or `0.01`.
fn share(text: &str) -> Result<f64, String> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(d) => (d, 0.01),
        None => (text, 1.0),
    };
    match digits.trim().parse::<f64>() {
        Ok(x) if x > 0.0 && x * scale < 1.0 => Ok(x * scale),
        _ => Err("give a share between 0 and 1, like 1% or 0.01".into()),
    }
}

/// `f32=1e12`.
fn op_count(text: &str) -> Result<(Op, f64), String> {
    let (name, count) = text
        .split_once('=')
        .ok_or_else(|| "give NAME=COUNT, like f32=1e12".to_owned())?;
    let op: Op = name
        .parse()
        .map_err(|e: greenup_model::op::UnknownOp| e.to_string())?;
    let count: f64 = count
        .parse()
        .map_err(|_| format!("`{count}` is not a number"))?;
    if !count.is_finite() || count < 0.0 {
        return Err(format!("{count} must be finite and not negative"));
    }
    Ok((op, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
        assert_eq!(share("1%"), Ok(0.01));
        assert!(share("0").is_err() && share("200%").is_err());
        assert!(op_count("f32=nan").is_err() && op_count("f32").is_err());
    }
}
