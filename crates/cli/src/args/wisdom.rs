//! Arguments of `greenup wisdom`.

use super::parse::constant;
use clap::{Args, Subcommand, ValueEnum};
use greenup_wisdom::entry::OBJECTIVES;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup wisdom list\n  greenup wisdom find dgemm\n  greenup wisdom import sweeps/dgemm_h200\n  greenup wisdom export h200.toml --device H200"
)]
pub struct WisdomArgs {
    #[command(subcommand)]
    pub command: WisdomCommand,
}

#[derive(Subcommand)]
pub enum WisdomCommand {
    /// List the tuned configs: your own and the shipped ones
    List(WisdomListArgs),
    /// Show entries with their facts and origin
    Show(WisdomShowArgs),
    /// Show which config a device uses for a problem, and why
    Find(WisdomFindArgs),
    /// Write your entries to a file, for another host
    Export(WisdomExportArgs),
    /// Add entries of a file, or the winners of recorded sweeps
    Import(WisdomImportArgs),
    /// Remove entries of your file
    Forget(WisdomForgetArgs),
    /// Measure what the winner of the nearest other device loses, by recorded sweeps of the same space on several devices
    Transfer(WisdomTransferArgs),
}

/// Which entries.
#[derive(Args, Clone)]
pub struct Selection {
    /// Entries of this problem; repeatable
    #[arg(long, value_name = "NAME")]
    pub problem: Vec<String>,
    /// Entries of devices whose name contains this text; repeatable
    #[arg(long, value_name = "TEXT")]
    pub device: Vec<String>,
    /// Entries that are the best by this objective; repeatable
    #[arg(long, value_name = "time|energy|…", value_parser = OBJECTIVES, hide_possible_values = true)]
    pub objective: Vec<String>,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup wisdom list\n  greenup wisdom list --own --json\n  greenup wisdom list --problem dgemm --objective time"
)]
pub struct WisdomListArgs {
    #[command(flatten)]
    pub select: Selection,
    /// Only your own entries, without the shipped ones
    #[arg(long)]
    pub own: bool,
    /// Print the entries as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(after_help = "Example:\n  greenup wisdom show 3f9a")]
pub struct WisdomShowArgs {
    /// Ids, or their first digits, as `greenup wisdom list` prints them
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Print the entries as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup wisdom find dgemm --size size_m=2048 --size size_n=2048 --size size_k=2048\n  greenup wisdom find fmm_ulist --on H100 --precision f64\n  greenup wisdom find stencil --check examples/stencil/problem.toml"
)]
pub struct WisdomFindArgs {
    /// Name of the problem
    pub problem: String,
    /// Device: cpu, a GPU here (cuda:N), or one of the list by a part of its name [default: the first GPU here for problems
    /// with entries of GPUs, else this host]
    #[arg(long, value_name = "cpu|cuda[:N]|NAME")]
    pub on: Option<String>,
    /// Leave out the entries of that device itself
    #[arg(long)]
    pub others: bool,
    /// Precision
    #[arg(long, default_value = "", value_name = "f32|f64")]
    pub precision: String,
    /// Objective
    #[arg(long, default_value = "time", value_name = "time|energy|…", value_parser = OBJECTIVES, hide_possible_values = true)]
    pub objective: String,
    /// Constant that sets the size; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub size: Vec<(String, toml::Value)>,
    /// Problem file, whose filters decide which configs the device can run
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup wisdom export mine.toml\n  greenup wisdom export - --problem dgemm | ssh cluster 'cat > mine.toml'"
)]
pub struct WisdomExportArgs {
    /// New file to write; `-` prints it
    pub file: PathBuf,
    #[command(flatten)]
    pub select: Selection,
    /// The shipped entries too
    #[arg(long)]
    pub shipped: bool,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PreferArg {
    /// The one with the lower measured value
    Better,
    /// The imported one
    Imported,
    /// The one that is there
    Kept,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup wisdom import sweeps/dgemm_h200\n  greenup wisdom import cluster.toml --dry-run\n  greenup wisdom import cluster.toml --prefer kept"
)]
pub struct WisdomImportArgs {
    /// Files that `export` wrote, sweep folders, folders of them, or files of other tuners as `greenup best` reads them
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub select: Selection,
    /// Which of two entries for the same problem and device stays
    #[arg(long, value_enum, default_value = "better")]
    pub prefer: PreferArg,
    /// Show what is new, better or worse; change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(after_help = "Example:\n  greenup wisdom forget 3f9a 77c0")]
pub struct WisdomForgetArgs {
    /// Ids of entries of your file
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    /// Print the removed entries as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  greenup wisdom transfer sweeps/convolution_*.json.gz --facts docs/results/data/wisdom/devices.toml"
)]
pub struct WisdomTransferArgs {
    /// Recorded sweeps; those with the same parameters, precision and size are compared
    #[arg(required = true)]
    pub sweeps: Vec<PathBuf>,
    /// Facts of devices that the sweeps name but do not describe: a file of [[device]] tables
    #[arg(long, value_name = "FILE.toml")]
    pub facts: Option<PathBuf>,
    /// Default config to compare with; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub default: Vec<(String, toml::Value)>,
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}
