//! Arguments.

use clap::{Args, ValueEnum};
use greenup_app::args::FigureArgs;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup paper --list\n  greenup paper beast --out beast\n  greenup paper thesis --figure 12 --out fig12\n  greenup paper blast --figure table-7 --out table7\n  greenup paper beast --figure 4 --measure --out fig4   # measured now, on this host\n  greenup paper --list --json\n\nStates: `reproduced` (the same inputs give the paper's numbers), `other hardware` (the same experiment on\ntoday's devices), `part` (the item names what is missing), `not possible` (why). Run it in a checkout, whose\nrecords it reads."
)]
pub struct PaperArgs {
    /// The paper
    #[arg(value_enum, value_name = "PAPER", required_unless_present = "list")]
    pub paper: Option<PaperName>,
    /// List every figure, table and claim with its state, of one paper or of all
    #[arg(long, conflicts_with_all = ["figure", "out"])]
    pub list: bool,
    /// Only this figure, table or slide: its number, or a name as in --list
    #[arg(long, value_name = "N")]
    pub figure: Option<String>,
    /// Output folder: index.html, figures/*.png, numbers.json; a new one, an empty one, or one written before
    #[arg(short, long, value_name = "DIR", required_unless_present = "list")]
    pub out: Option<PathBuf>,
    /// Measure the records of the selected items anew on this host, where a command can; takes minutes each. The
    /// same command goes on after a stop
    #[arg(long, conflicts_with = "list")]
    pub measure: bool,
    /// Folder of the records: the root of a checkout
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub records: PathBuf,
    /// Print the list, or the numbers, as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub look: FigureArgs,
}

/// Papers whose experiments are redrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaperName {
    /// Anzt et al. 2015: autotuning DGEMM on GPUs for energy
    Beast,
    /// Choi 2015: algorithms and machines for energy
    Thesis,
    /// Choi et al. 2013: slides on generalised rooflines
    Slides,
    /// Dong et al. 2014: BLAST hydrodynamics on CPU-GPU clusters
    Blast,
    /// Sarje et al. 2013: HipGISAXS on many-core supercomputers
    Hipgisaxs,
}

impl PaperName {
    /// Its name in the data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Beast => "beast",
            Self::Thesis => "thesis",
            Self::Slides => "slides",
            Self::Blast => "blast",
            Self::Hipgisaxs => "hipgisaxs",
        }
    }
}
