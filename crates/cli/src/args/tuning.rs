//! Arguments of the commands for search spaces and tuning: space, tune, replay, analyze, scale, gemm, compile.

use super::parse::{Sizes, budget, constant, gpu, rounds, sample, share, sizes};
use clap::Args;
use greenup_app::args::{FigureArgs, SensorArg, bytes, duration};
use greenup_study::pages::sweep::heat::Axes;
use greenup_tune::Energies;
use greenup_tune::search::Budget;
use greenup_tune::shard::Shard;
use greenup_tune::strategy;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup space spaces/beast_dgemm_k20x.toml --sample 3\n  greenup space examples/stencil/problem.toml --set n=1026 -o pruning.svg\n  greenup space examples/spmv/problem.toml --points points.csv"
)]
pub struct SpaceArgs {
    /// A space or problem (TOML), a T1 problem (JSON), or a neutral space file (JSON)
    pub file: PathBuf,
    /// Print the counts as JSON
    #[arg(long)]
    pub json: bool,
    /// Draw the pruning as FILE.svg or FILE.png; `-` prints the SVG instead of the counts
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write every valid point to FILE.csv; `-` prints them instead of the counts
    #[arg(long, value_name = "FILE.csv")]
    pub points: Option<PathBuf>,
    /// Print N points chosen uniformly at random
    #[arg(long, default_value = "0", value_name = "N", value_parser = sample)]
    pub sample: usize,
    /// Random seed of the sample
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Time limit, such as 30s; what is not counted by then is estimated [default: 30s for the valid points, then 5s for those left by
    /// each filter, with --json 1]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time: Option<f64>,
    /// Override a constant, e.g. n=1024, or restrict a parameter, e.g. tile=16,32; repeatable (TOML only)
    #[arg(long = "set", value_name = "NAME=VALUE[,VALUE]", value_parser = constant)]
    pub named: Vec<(String, toml::Value)>,
    /// Device whose properties `device.NAME` refers to: a GPU here (cuda:N) or a known GPU (cuda:h200) [default for CUDA
    /// kernels: the first GPU, or h200 if there is none; for OpenCL kernels: opencl:0.0]
    #[arg(long = "device", value_name = "cuda[:N|:NAME]|opencl[:PLATFORM.DEVICE]", value_parser = gpu)]
    pub gpu: Option<String>,
    /// Memory limit of the index, e.g. 768M or 2G; larger spaces are counted without an index
    #[arg(long, default_value = "768M", value_parser = bytes)]
    pub memory: u64,
    #[command(flatten)]
    pub look: FigureArgs,
}

/// How to search a space on this host.
#[derive(Args)]
pub struct SearchArgs {
    #[arg(long, default_value = greenup_tune::DEFAULT, help = format!("Search strategy: {}", strategy::names()))]
    pub strategy: String,
    /// Budget: trials (100), a time (60s, 10m) or a share of the space (5%)
    #[arg(long, default_value = "60s", value_parser = budget)]
    pub budget: Budget,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Measure the config of wisdom first: of this device, else of the nearest
    #[arg(long)]
    pub from_wisdom: bool,
    /// Continue the sweep in the output folder
    #[arg(long)]
    pub resume: bool,
    /// Replace the sweep in the output folder; it stays until a trial of the new one is measured
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// With --resume: continue although these parts of the experiment changed (named in the error message), or `all`
    #[arg(
        long,
        value_name = "CHANGED",
        value_delimiter = ',',
        requires = "resume"
    )]
    pub accept: Vec<String>,
    /// Objective, such as time, energy, edp or metric:NAME of a command [default: the problem's]; a second one for nsga2 and alternate
    #[arg(long)]
    pub objective: Vec<greenup_tune::Objective>,
    /// Configs whose energy is measured: `all`, `front` (those that can be the fastest or need the least energy; a slower one is
    /// stopped as soon as that is clear), or `none`. With an objective that has a bound, flops/w or a metric always all
    #[arg(long, value_name = "WHICH", default_value = "front")]
    pub energy: Energies,
    /// Machine model that ranks the configs for the strategy `steered`
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Number of finalists: best configs by measurements at the end, interleaved
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub finalists: usize,
    /// Rounds of the finalists [default: until their order is decided, at least 5, on a GPU 4]
    #[arg(long, value_name = "N", value_parser = rounds)]
    pub rounds: Option<usize>,
    /// Most configs that are measured next to the finalists, as the search could not tell them from the last
    #[arg(long, default_value_t = greenup_tune::plan::NEAR_TIES, value_name = "N")]
    pub near_ties: usize,
    /// GPU that runs CUDA kernels, or several of one model with a worker each, as cuda:0,1 or cuda:all; or device that runs OpenCL
    /// kernels, its platform by number or a part of its name [default: cuda:0, opencl:0.0]
    #[arg(long = "device", value_name = "cuda[:N,M,...|:all]|opencl[:PLATFORM.DEVICE]", value_parser = gpu)]
    pub gpu: Option<String>,
    #[command(flatten)]
    pub sensor: SensorArg,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup tune examples/stencil/problem.toml --budget 60s\n  greenup tune problem.toml --device cuda:all --strategy random --budget 200\n  greenup tune problem.toml --shard $SLURM_ARRAY_TASK_ID/8 --out part-$SLURM_ARRAY_TASK_ID   # then `greenup sweeps merge`"
)]
pub struct TuneArgs {
    /// Problem file
    pub problem: PathBuf,
    /// Override a constant of the problem, e.g. n=1024, or restrict a parameter, e.g. tile=16,32; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE[,VALUE]", value_parser = constant)]
    pub named: Vec<(String, toml::Value)>,
    /// Contents of input arrays [default: the problem's]: random, random(LO, HI), normal, zeros, index, file:PATH or
    /// a number
    #[arg(long, value_name = "FILL")]
    pub data: Option<String>,
    /// Measuring time of a config, such as 100ms [default: the problem's]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub measure: Option<f64>,
    /// Output folder of the sweep [default: sweeps/NAME]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub search: SearchArgs,
    /// File, pipe or `-` (standard input) from which another program's search requests configs, in place of a strategy: a line is a JSON
    /// list of configs, as [[16,"row"],[32,"row"]], which are built together
    #[arg(long, value_name = "FILE", conflicts_with_all = ["strategy", "from_wisdom"])]
    pub requests: Option<PathBuf>,
    /// GPUs with a worker each, the same as --device cuda:…
    #[arg(long, value_name = "all|N,M,...", conflicts_with = "gpu")]
    pub gpus: Option<String>,
    /// Search a part of the space: shard I of N, from 1, for job arrays; `greenup sweeps merge` joins their sweeps
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Command that starts a worker on another host or on a part of this one, such as 'ssh node2' or 'srun -N1 --gpus=1';
    /// repeatable. `{}` in it is the worker's command as one quoted word, for commands that give it to a shell. Each has one
    /// worker, or with --device cuda:all or cuda:0,1 one for each of these GPUs of its host; there are no other workers. A [run]
    /// command is built and run there; the folder of the problem file must be there at the same path. Not for OpenCL
    #[arg(long, value_name = "CMD", conflicts_with = "workers")]
    pub launcher: Vec<String>,
    /// The program greenup where launchers start it
    #[arg(
        long,
        value_name = "PATH",
        default_value = "greenup",
        requires = "launcher"
    )]
    pub remote_program: String,
    /// Time in which a launched worker must introduce itself
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "launcher")]
    pub launcher_timeout: f64,
    /// Workers that share the host's cores. Their kernels disturb each other: for tests
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one, hide = true)]
    pub workers: usize,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup gemm --n 2048\n  greenup gemm --n 2048 --tune --budget 60s\n  greenup gemm --n 2048 --against libopenblas.so.0 --against libmkl_rt.so.2",
    mut_arg("rounds", |arg| arg.help("Interleaved rounds of the comparison [default: 15], and of the finalists with --tune"))
)]
pub struct GemmArgs {
    /// Matrix size n; --m and --k for rectangular matrices
    #[arg(long, default_value_t = 1024)]
    pub n: usize,
    /// Rows of A and C [default: n]
    #[arg(long)]
    pub m: Option<usize>,
    /// Columns of A, rows of B [default: n]
    #[arg(long)]
    pub k: Option<usize>,
    /// Tune for this size first, and save the best config as wisdom
    #[arg(long)]
    pub tune: bool,
    /// Output folder of the sweep [default: in the cache folder]
    #[arg(short, long, value_name = "DIR", requires = "tune")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub search: SearchArgs,
    /// Library with cblas_dgemm to compare with, interleaved; repeatable
    #[arg(long, value_name = "LIBRARY")]
    pub against: Vec<PathBuf>,
    /// List the wisdom for DGEMM on CPUs and exit, as `greenup wisdom list --problem dgemm`
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
    /// Sweep folder; writes scaling.json into it, which `greenup analyze` draws
    #[arg(long, value_name = "DIR")]
    pub sweep: PathBuf,
    /// Constants that set the problem size, and their values
    #[arg(long, value_name = "NAME[+NAME…]=V,V,…", value_parser = sizes)]
    pub over: Sizes,
    /// Override a constant of the problem as in the sweep, or give a parameter that the sweep does not have its value;
    /// repeatable
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = constant)]
    pub named: Vec<(String, toml::Value)>,
    /// Measuring time of a config, such as 100ms [default: the problem's]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub measure: Option<f64>,
    /// GPU that runs CUDA kernels, or device that runs OpenCL kernels [default: cuda:0, opencl:0.0]
    #[arg(long = "device", value_name = "cuda[:N]|opencl[:PLATFORM.DEVICE]", value_parser = gpu)]
    pub gpu: Option<String>,
    /// Number of configs: the fastest, the lowest-energy, and others evenly spaced by time
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
    after_help = "Examples:\n  greenup compile examples/cuda/triad.cu --arch sm_90 --block-threads 256\n  greenup compile kernel.cu -D tile=64 -D unroll_by=4 --shared 49152 -o kernel.cubin"
)]
pub struct CompileArgs {
    /// CUDA C++ source
    pub source: PathBuf,
    /// GPU architecture [default: of the first GPU here]
    #[arg(long, value_name = "sm_NN")]
    pub arch: Option<String>,
    /// Define a macro; repeatable
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub define: Vec<String>,
    /// Option passed to NVRTC; repeatable
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub option: Vec<String>,
    /// Threads per block, for the occupancy
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub block_threads: u32,
    /// Dynamic shared memory per block, for the occupancy, e.g. 48K
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub shared: Option<u64>,
    /// Write the compiled kernels (cubin)
    #[arg(short, long, value_name = "FILE.cubin")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup analyze sweeps/zen5_dgemm_2048 --out analysis\n  greenup analyze sweeps/kt_vector_add_time_energy.json --json"
)]
pub struct AnalyzeArgs {
    /// Sweep folder, or a file of Kernel Tuner, KTT, CLBlast or in the T4 format (.gz allowed); FILE#WORDS chooses one of several
    /// sweeps of a file
    pub sweep: PathBuf,
    /// Output folder: report.html, the figures, analysis.json, trials.csv and results-t4.json
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Draw a heat map of the minimum time over two parameters into --out; repeatable
    #[arg(long, value_name = "X,Y", requires = "out")]
    pub heat: Vec<Axes>,
    /// Flops of one run, if the sweep does not record them
    #[arg(long, value_name = "N")]
    pub flops: Option<f64>,
    /// Share of the configs used to train the surrogate model, e.g. 10%
    #[arg(long, default_value = "10%", value_parser = share)]
    pub sample: f64,
    /// Predict the time of every config from that sample: FILE.csv (measured and predicted times) or a figure (.svg, .png,
    /// .pdf)
    #[arg(long, value_name = "FILE")]
    pub predict: Option<PathBuf>,
    /// Random seed of that sample
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print the analysis as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub look: FigureArgs,
}

#[derive(Args)]
pub struct WorkerArgs {
    /// Energy sensor, by its id
    #[arg(long)]
    pub sensor: Option<String>,
    /// Update period of the sensor, s
    #[arg(long, default_value_t = 0.1)]
    pub period: f64,
    /// Started by a launcher: introduce yourself, and take files with the jobs
    #[arg(long)]
    pub remote: bool,
    /// GPU that is opened at once
    #[arg(long)]
    pub gpu: Option<i32>,
    /// Without a watcher process, as under a profiler
    #[arg(long)]
    pub alone: bool,
}

#[derive(Args)]
pub struct KeeperArgs {
    /// Index of the GPU in NVML
    #[arg(long)]
    pub index: u32,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup replay sweeps/zen5_dgemm_2048 --strategy genetic --budget 10% --seeds 50\n  greenup replay sweeps/zen5_dgemm_2048 --strategy portfolio,random --seeds 50 -o strategies.html\n  greenup replay sweeps/zen5_dgemm_2048 decoy:1 --strategy portfolio,forest,local --budget 5%,10%,20% --seeds 50 -o table.csv"
)]
pub struct ReplayArgs {
    /// Sweep folders, files of Kernel Tuner, KTT, CLBlast or in the T4 format (.gz allowed), or generated sweeps FAMILY:SEED of the families
    /// flat, rim, decoy, paths, divisors, rugged, failing. Several of them give a table
    #[arg(required = true)]
    pub recorded: Vec<PathBuf>,
    #[arg(long, default_value = greenup_tune::DEFAULT, value_delimiter = ',',
        help = format!("Search strategies, separated by commas or repeated: {}", strategy::names()))]
    pub strategy: Vec<String>,
    /// Budget: trials (100), simulated time (60s, 10m) or a share of the recorded configs (5%). Several, separated by commas,
    /// give a table: shares only
    #[arg(long, default_value = "5%", value_delimiter = ',', value_parser = budget)]
    pub budget: Vec<Budget>,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Repeat with this many seeds and report the mean
    #[arg(long, default_value_t = 1, value_parser = at_least_one)]
    pub seeds: usize,
    /// HTML page (.html) or figure (.svg, .png, .pdf) that compares the strategies; - for HTML on standard output. For a
    /// table: FILE.csv
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Objective: time, energy, edp, ed2p, flops/w, alpha=A, time@power<=W, energy@time<=S; a second one for nsga2 and alternate
    #[arg(long, default_value = "time")]
    pub objective: Vec<greenup_tune::Objective>,
    /// For the strategy `steered`: machine model that ranks the configs
    #[arg(long, value_name = "NAME|FILE", requires = "problem")]
    pub machine: Option<String>,
    /// For the strategy `steered`: problem file of the sweep, whose `[work]` the model takes
    #[arg(long, value_name = "FILE", requires = "machine")]
    pub problem: Option<PathBuf>,
    /// Constant of that problem as in the sweep; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = constant, requires = "problem")]
    pub named: Vec<(String, toml::Value)>,
    /// Print the result and the trace of the search as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub look: FigureArgs,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("use a number from 1".to_owned()),
    }
}
