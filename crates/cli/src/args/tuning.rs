//! Arguments of the commands that search: space, tune, replay, analyze, gemm.

use super::SensorArg;
use super::parse::{BudgetArg, Sizes, budget, bytes, constant, sample, seconds, share, sizes};
use crate::commands::analyze::Axes;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct SpaceArgs {
    /// A space or problem in our notation (TOML), a T1 problem, or a neutral file (JSON)
    pub file: PathBuf,
    /// Print the counts as JSON
    #[arg(long)]
    pub json: bool,
    /// Draw the pruning: FILE.svg or FILE.png; `-` prints the SVG instead of the counts
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write every valid point to FILE.csv; `-` prints them instead of the counts
    #[arg(long, value_name = "FILE.csv")]
    pub points: Option<PathBuf>,
    /// Print this many points, uniformly chosen
    #[arg(long, default_value = "0", value_name = "N", value_parser = sample)]
    pub sample: usize,
    /// Seed of the choice
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seconds to spend on counting what each filter leaves [default: 5, with --json 1]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub time: Option<f64>,
    /// Another value for a constant, like n=1024, or fewer for a parameter, like tile=16,32; repeat
    /// (TOML only)
    #[arg(long = "set", value_name = "NAME=VALUE[,VALUE]", value_parser = constant)]
    pub named: Vec<(String, toml::Value)>,
    /// The GPU that `device.NAME` means: its number here, or a known one (h200) [default, for kernels in CUDA: the first,
    /// or h200 where there is none]
    #[arg(long, value_name = "N|NAME")]
    pub gpu: Option<String>,
    /// Memory for the index, like 768M or 2G; a larger space is counted without one
    #[arg(long, default_value = "768M", value_parser = bytes)]
    pub memory: usize,
}

/// How to search a space on this host.
#[derive(Args)]
pub struct SearchArgs {
    /// Search strategy: forest, gp, exhaustive, random, local, anneal, genetic, evolve, halving, nsga2, steered
    #[arg(long, default_value = greenup_tune::DEFAULT)]
    pub strategy: String,
    /// Trials (100), seconds (60s) or a share of the space (5%)
    #[arg(long, default_value = "60s", value_parser = budget)]
    pub budget: BudgetArg,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Go on with the sweep in the folder
    #[arg(long)]
    pub resume: bool,
    /// Go on although these parts of the experiment changed, as named by the message that refuses; `all` for any
    #[arg(
        long,
        value_name = "CHANGED",
        value_delimiter = ',',
        requires = "resume"
    )]
    pub accept: Vec<String>,
    /// Objective instead of the problem's; a second one for nsga2
    #[arg(long)]
    pub objective: Vec<greenup_tune::Objective>,
    /// Machine whose model orders the configs for `steered`
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Configs measured again at the end
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub finalists: usize,
    /// GPU for kernels in CUDA: its number [default: 0]
    #[arg(long, value_name = "N")]
    pub gpu: Option<String>,
    #[command(flatten)]
    pub sensor: SensorArg,
}

#[derive(Args)]
pub struct TuneArgs {
    /// Problem file
    pub problem: PathBuf,
    /// Another value for one of the problem's constants, like n=1024, or fewer for a parameter,
    /// like tile=16,32; repeat
    #[arg(long = "set", value_name = "NAME=VALUE[,VALUE]", value_parser = constant)]
    pub named: Vec<(String, toml::Value)>,
    /// What arrays hold that kernels only read, instead of the problem's own: random,
    /// random(LO, HI), normal, zeros, index, file:PATH or a number
    #[arg(long, value_name = "FILL")]
    pub data: Option<String>,
    /// Seconds of measuring a config, instead of the problem's own
    #[arg(long, value_name = "S")]
    pub measure: Option<f64>,
    /// Folder of the sweep [default: sweeps/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub search: SearchArgs,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup gemm --n 2048\n  greenup gemm --n 2048 --tune --budget 300\n  greenup gemm --n 2048 --against libopenblas.so.0 --against libmkl_rt.so.2"
)]
pub struct GemmArgs {
    /// Order of square matrices; --m and --k make them oblong
    #[arg(long, default_value_t = 1024)]
    pub n: usize,
    /// Rows of A and C [default: n]
    #[arg(long)]
    pub m: Option<usize>,
    /// Columns of A, rows of B [default: n]
    #[arg(long)]
    pub k: Option<usize>,
    /// Tune for these sizes first, and keep the winner as wisdom
    #[arg(long)]
    pub tune: bool,
    /// Folder of the sweep [default: beside the compiled kernels]
    #[arg(long, value_name = "DIR", requires = "tune")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub search: SearchArgs,
    /// A library with cblas_dgemm to run against, in turns; repeat
    #[arg(long, value_name = "LIBRARY")]
    pub against: Vec<PathBuf>,
    /// Rounds in which all take their turn
    #[arg(long, default_value_t = 15)]
    pub rounds: usize,
    /// Wisdom file [default: greenup/gemm.toml in the user's data folder]
    #[arg(long, value_name = "FILE")]
    pub wisdom: Option<PathBuf>,
    /// List the wisdom and end
    #[arg(long)]
    pub list: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup scale examples/stencil/problem.toml --sweep sweeps/stencil --over n=258,514,1026,2050\n  greenup scale … --over size_m+size_n+size_k=256,512,1024   # several constants together"
)]
pub struct ScaleArgs {
    /// Problem file of the sweep
    pub problem: PathBuf,
    /// Sweep folder; scaling.json is written into it, and `greenup analyze` draws it
    #[arg(long, value_name = "DIR")]
    pub sweep: PathBuf,
    /// Constants that are the size, and its values
    #[arg(long, value_name = "NAME[+NAME…]=V,V,…", value_parser = sizes)]
    pub over: Sizes,
    /// GPU for kernels in CUDA: its number [default: 0]
    #[arg(long, value_name = "N")]
    pub gpu: Option<String>,
    /// Configs: the fastest, the greenest and others evenly down the order of speed
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub configs: usize,
    #[command(flatten)]
    pub sensor: SensorArg,
    /// Print the measurements as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup profile apps/gemm/src/kernels/gpu/problem.toml --sweep sweeps/dgemm_gpu --configs 150\n  greenup profile … --set size_m=2048 --metric smsp__cycles_active.avg"
)]
pub struct ProfileArgs {
    /// Problem file of the sweep
    pub problem: PathBuf,
    /// Another value for one of the problem's constants, as the sweep had it; repeat
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = constant)]
    pub named: Vec<(String, toml::Value)>,
    /// Sweep folder; counters.jsonl is written into it, and `greenup analyze` reads it
    #[arg(long, value_name = "DIR")]
    pub sweep: PathBuf,
    /// Configs: the fastest, the greenest and others evenly down the order of speed
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub configs: usize,
    /// Another metric of the profiler; repeat
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,
    /// GPU: its number [default: 0]
    #[arg(long, value_name = "N")]
    pub gpu: Option<String>,
    /// Print the counters as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup compile kernel.cu --arch sm_90 --threads 256\n  greenup compile kernel.cu -D tile=64 -D unroll_by=4 --shared 49152 -o kernel.cubin"
)]
pub struct CompileArgs {
    /// CUDA C++ source
    pub source: PathBuf,
    /// Architecture [default: that of the first GPU here]
    #[arg(long, value_name = "sm_NN")]
    pub arch: Option<String>,
    /// A macro; repeat
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub define: Vec<String>,
    /// Another option of NVRTC; repeat
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub option: Vec<String>,
    /// Threads a block, for the occupancy
    #[arg(long, default_value_t = 256)]
    pub threads: u32,
    /// Dynamic shared memory of a block, for the occupancy, like 48K
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub shared: Option<usize>,
    /// Write the compiled kernels
    #[arg(short, long, value_name = "FILE.cubin")]
    pub out: Option<PathBuf>,
    /// Print one JSON document
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
    /// Draw a heat map of the least time over two parameters into --out; again for more
    #[arg(long, value_name = "X,Y", requires = "out")]
    pub heat: Vec<Axes>,
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
    /// Without a watcher: a profiler watches this process
    #[arg(long)]
    pub alone: bool,
}

#[derive(Args)]
pub struct KeeperArgs {
    /// NVML's number of the GPU
    #[arg(long)]
    pub index: u32,
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
