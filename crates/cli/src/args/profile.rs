//! Arguments of `greenup profile`.

use super::parse::{constant, gpu};
use clap::{Args, ValueEnum};
use greenup_app::args::{SensorArg, at_least_one};
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup profile --out train -- python3 train.py\n  greenup profile 'sort words.txt'\n  greenup profile --method counters --out gemm -- ./app --size 8192\n  greenup profile --from train --machine h100\n  ncu --csv --page raw --set full ./app > counted.csv; greenup profile --from counted.csv --machine h100 --out page\n  greenup profile crates/gemm/src/kernels/gpu/problem.toml --sweep sweeps/dgemm_gpu --configs 150"
)]
pub struct ProfileArgs {
    /// Command in quotes; with --sweep the problem file of the sweep
    #[arg(value_name = "'CMD'|PROBLEM", conflicts_with = "command")]
    pub problem: Option<PathBuf>,
    /// Program and its arguments, run without a shell
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<String>,
    /// How its kernels are measured
    #[arg(long, value_enum, default_value_t = MethodOfProfile::Auto, conflicts_with_all = ["sweep", "from"])]
    pub method: MethodOfProfile,
    /// Output folder: report.html, profile.json, kernels.csv, and the records from which --from draws them again
    #[arg(short, long, value_name = "DIR", conflicts_with = "sweep")]
    pub out: Option<PathBuf>,
    /// Redraw the page of an earlier run from the folder of its --out; written there, or to another --out. Or read a table that
    /// `ncu --csv` printed (page raw or details) instead of running a program
    #[arg(long, value_name = "DIR|FILE.csv", conflicts_with_all = ["command", "problem", "sweep", "sensor"])]
    pub from: Option<PathBuf>,
    /// Machine model of the GPU: a name of `greenup machines`, or a file [default: by the GPU's name]
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "sweep")]
    pub machine: Option<String>,
    /// Machine model of the CPU
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "sweep")]
    pub cpu_machine: Option<String>,
    /// With --method counters: launches that are counted of each kernel and grid [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), conflicts_with_all = ["sweep", "from"])]
    pub launches: Option<u32>,
    /// NVIDIA's tracing library [default: searched in CUDA toolkits and Python packages; or GREENUP_CUPTI]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sweep", "from"])]
    pub cupti: Option<PathBuf>,
    /// File that the program reads as its standard input [default: none, /dev/null]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sweep", "from"])]
    pub input: Option<PathBuf>,
    /// Kernels in the table on the terminal
    #[arg(long, default_value_t = 15, value_name = "N", conflicts_with_all = ["sweep", "json"])]
    pub top: usize,
    #[command(flatten)]
    pub sensor: SensorArg,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Override a constant of the problem, as in the sweep; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = constant, requires = "sweep", help_heading = "Counters of a sweep's configs")]
    pub named: Vec<(String, toml::Value)>,
    /// Sweep folder; writes counters.jsonl into it, which `greenup analyze` reads
    #[arg(
        long,
        value_name = "DIR",
        requires = "problem",
        help_heading = "Counters of a sweep's configs"
    )]
    pub sweep: Option<PathBuf>,
    /// Number of configs: the fastest, the lowest-energy, and others evenly spaced by time [default: 20]
    #[arg(
        long,
        value_name = "N",
        value_parser = at_least_one,
        requires = "sweep",
        help_heading = "Counters of a sweep's configs"
    )]
    pub configs: Option<usize>,
    /// Additional metric of the profiler; repeatable
    #[arg(
        long,
        value_name = "METRIC",
        requires = "sweep",
        help_heading = "Counters of a sweep's configs"
    )]
    pub metric: Vec<String>,
    /// GPU to profile on [default: cuda:0]
    #[arg(long = "device", value_name = "cuda[:N]", value_parser = gpu, requires = "sweep", help_heading = "Counters of a sweep's configs")]
    pub gpu: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodOfProfile {
    /// `time` where there is an NVIDIA GPU, else `cpu`
    Auto,
    /// One run: when each kernel ran, by CUPTI; needs no privileges. Energies by time and kind of kernel
    Time,
    /// The same, and two more runs under `ncu` that count bytes and operations of each kernel; may need privileges
    Counters,
    /// One run: counters of the CPU alone
    Cpu,
}
