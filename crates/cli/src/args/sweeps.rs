//! Arguments of `greenup sweeps`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup sweeps list\n  greenup sweeps show sweeps/zen5_dgemm_2048\n  greenup sweeps merge sweeps/all sweeps/part-1 sweeps/part-2"
)]
pub struct SweepsArgs {
    #[command(subcommand)]
    pub command: SweepsCommand,
}

#[derive(Subcommand)]
pub enum SweepsCommand {
    /// Join sweeps of one experiment, such as the shards of a job array, into a new sweep with all their trials
    Merge(MergeArgs),
    /// List the sweeps in a folder
    List(ListArgs),
    /// Show what a sweep holds: problem, device, trials, failures, best configs, merged shards, command
    Show(ShowArgs),
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup sweeps show stencil\n  greenup sweeps show sweeps/all --best 10 --json\n  greenup sweeps show ktt-results.xml              # of KTT; also of Kernel Tuner, CLBlast, T4: docs/tune.md"
)]
pub struct ShowArgs {
    /// Sweep folder or file of another tuner, or the name of one in the folder sweeps
    #[arg(value_name = "NAME|DIR")]
    pub sweep: PathBuf,
    /// Number of best configs
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub best: usize,
    /// Print the sweep as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup sweeps merge sweeps/all sweeps/part-1 sweeps/part-2\n  greenup tune problem.toml --out sweeps/all --resume --budget 1   # measures the finalists of all parts on one device"
)]
pub struct MergeArgs {
    /// Folder of the new sweep; it must not exist, or be empty
    pub out: PathBuf,
    /// Sweep folders to join
    #[arg(required = true)]
    pub sweeps: Vec<PathBuf>,
    /// Join although these parts of the experiments differ (named in the error message), or `all`
    #[arg(long, value_name = "CHANGED", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup sweeps list\n  greenup sweeps list sweeps/one_board_h200 --json"
)]
pub struct ListArgs {
    /// Folder that holds sweep folders
    #[arg(default_value = "sweeps")]
    pub dir: PathBuf,
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}
