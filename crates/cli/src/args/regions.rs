//! Arguments of `greenup regions`.

use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup regions --install ~/greenup            # greenup.h, greenup.f90, libgreenup_regions.so\n  GREENUP_REGIONS_FILE=regions.jsonl ./app\n  greenup regions regions.jsonl\n  greenup regions rank-*.jsonl --json\n\nA program marks regions by greenup_region_begin(\"name\") and greenup_region_end(\"name\") in C, C++, Fortran, Rust or Python; see docs/regions.md."
)]
pub struct RegionsArgs {
    /// Files that programs with regions wrote, of one or more runs or ranks
    #[arg(
        value_name = "FILE",
        required_unless_present = "install",
        conflicts_with = "install"
    )]
    pub files: Vec<PathBuf>,
    /// Print one table per process instead of one of all
    #[arg(long)]
    pub each: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the header, the Fortran module and the libraries into include and lib of this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["each", "json"])]
    pub install: Option<PathBuf>,
    /// With --install: replace files that differ
    #[arg(long, requires = "install", conflicts_with = "files")]
    pub force: bool,
}
