//! Arguments of the commands for machine models: machines, predict, whatif, roofline.

use super::intensity::{INTENSITIES, Intensities, RANGE, intensities};
use super::parse::op_count;
use clap::{Args, Subcommand};
use greenup_app::args::{FigureArgs, at_least_one, count, hertz, watts};
use greenup_model::Op;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup machines\n  greenup machines h200\n  greenup machines --map -o map.svg"
)]
pub struct MachinesArgs {
    /// Show all values of this machine
    pub name: Option<String>,
    /// Place the machines on a dimensionless map, with distances from the first machine (or NAME)
    #[arg(long)]
    pub map: bool,
    /// Draw the map: FILE.svg or FILE.png; `-` prints the SVG instead of the table
    #[arg(short, long, value_name = "FILE", requires = "map")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub look: FigureArgs,
}

fn op_help() -> String {
    let mut text = String::from("Operation names:\n");
    for op in Op::ALL {
        text.push_str(&format!("  {:<12} {}\n", op.name(), op.describe()));
    }
    text.push_str("\nExamples:\n  greenup predict --machine gtx-titan --op f32=1e12 --op dram=1e11\n  greenup predict --machine study/machine.toml --op f64=2e9 --op dram=1.6e10 --json\n  greenup predict --machine h200 --nodes 64 --op f64=1e15 --messages 6 --message-bytes 1e6 --all-reduces 100\n  greenup predict --machine h100 --from-counters counted.csv       # of `ncu --csv --page raw`");
    text
}

#[derive(Args)]
#[command(after_help = op_help())]
pub struct PredictArgs {
    /// Machine: a name of `greenup machines`, or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: String,
    /// Number of operations of a class: NAME=COUNT; repeatable
    #[arg(long = "op", required_unless_present = "from_counters", value_parser = op_count, value_name = "NAME=COUNT")]
    pub ops: Vec<(Op, f64)>,
    /// Predict the energy of a sweep's configs from their hardware counters (`greenup profile`), and
    /// compare with the measurements; or that of the kernels in a table that `ncu --csv` printed
    #[arg(long, value_name = "SWEEP|FILE.csv", conflicts_with_all = ["ops", "cap", "nodes", "devices"])]
    pub from_counters: Option<std::path::PathBuf>,
    /// Bound on the total power of one node, such as 250W or 1.2kW
    #[arg(long, value_name = "POWER", value_parser = watts)]
    pub cap: Option<f64>,
    /// Number of nodes that share the work; the machine's network says how many devices a node has [default: one device]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub nodes: Option<usize>,
    /// Number of devices that share the work, instead of full nodes
    #[arg(long, value_name = "N", conflicts_with = "nodes", value_parser = at_least_one)]
    pub devices: Option<usize>,
    #[command(flatten)]
    pub traffic: TrafficArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// What each device sends during the work.
#[derive(Args, Clone, Copy, Debug)]
pub struct TrafficArgs {
    /// Messages that each device sends to others, one after another
    #[arg(long, default_value_t = 0.0, value_name = "N", value_parser = count)]
    pub messages: f64,
    /// Bytes of each message
    #[arg(long, default_value_t = 0.0, value_name = "BYTES", value_parser = count)]
    pub message_bytes: f64,
    /// All-reduces of a few numbers
    #[arg(long, default_value_t = 0.0, value_name = "N", value_parser = count)]
    pub all_reduces: f64,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup explain\n  greenup explain fmm hydro -o explain.html\n  greenup explain sweeps/mine --machine mine.toml"
)]
pub struct ExplainArgs {
    /// fmm, gemm, gisaxs, hydro (their recorded sweeps), or folders of sweeps with counters [default: all four]
    #[arg(value_name = "APP")]
    pub apps: Vec<String>,
    /// Machine: a name of `greenup machines`, or a file
    #[arg(long, default_value = "h200", value_name = "NAME|FILE")]
    pub machine: String,
    /// Folder of the recorded sweeps
    #[arg(long, default_value = "sweeps/one_board_h200", value_name = "DIR")]
    pub sweeps: std::path::PathBuf,
    /// Write an HTML page; `-` prints it instead of the table
    #[arg(short, long, value_name = "FILE.html")]
    pub out: Option<std::path::PathBuf>,
    /// Write the figure: FILE.svg or FILE.png
    #[arg(long, value_name = "FILE")]
    pub figure: Option<std::path::PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub look: FigureArgs,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup whatif bound --machine gtx-titan --watts 140W --against arndale-gpu\n  greenup whatif cluster --machine gtx-titan --of arndale-gpu\n  greenup whatif streaming"
)]
pub struct WhatifArgs {
    #[command(subcommand)]
    pub question: Question,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Flop class [default: f64 where the machine has it, else its first]
    #[arg(long, global = true, value_name = "OP")]
    pub flop: Option<Op>,
}

#[derive(Args)]
pub struct IntensityArg {
    #[arg(long, value_name = "I,…|FROM:TO[:N]", value_parser = intensities, default_value = "0.25,1,4,16,64", help = INTENSITIES)]
    pub intensity: Intensities,
}

#[derive(Subcommand)]
pub enum Question {
    /// Usable power reduced to Δπ/k: speed, power and flop/J over intensity
    #[command(
        after_help = "Example:\n  greenup whatif throttle --machine gtx-titan --intensity 0.25:64"
    )]
    Throttle {
        /// Machine: a name of `greenup machines`, or a file
        #[arg(long, value_name = "NAME|FILE")]
        machine: String,
        /// Factors k
        #[arg(long, value_delimiter = ',', default_value = "1,2,4,8")]
        k: Vec<f64>,
        #[command(flatten)]
        at: IntensityArg,
    },
    /// How far the power cap slows flops and memory operations, and the rates it leaves, over intensity
    #[command(
        after_help = "Examples:\n  greenup whatif schedule --machine gtx-titan --watts 200W\n  greenup whatif schedule --machine gtx-titan --intensity 0.25:64:17 -o cap.svg"
    )]
    Schedule {
        /// Machine: a name of `greenup machines`, or a file
        #[arg(long, value_name = "NAME|FILE")]
        machine: String,
        /// Bound on the total power, such as 250W or 1.2kW [default: the machine's own cap]
        #[arg(long, value_name = "POWER", value_parser = watts)]
        watts: Option<f64>,
        #[arg(long, value_name = "I,…|FROM:TO[:N]", value_parser = intensities, default_value = "0.25:64", help = INTENSITIES)]
        intensity: Intensities,
        /// Draw the coefficients: FILE.svg, FILE.png or FILE.pdf; `-` prints the SVG instead of the table
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        look: FigureArgs,
    },
    /// The least usable power at which the cap slows no computation
    #[command(
        after_help = "Examples:\n  greenup whatif no-throttle --machine gtx-580\n  greenup whatif no-throttle --machine gtx-580 --intensity 0.25:1"
    )]
    NoThrottle {
        /// Machine: a name of `greenup machines`, or a file
        #[arg(long, value_name = "NAME|FILE")]
        machine: String,
        #[arg(long, value_name = "FROM:TO|I,…", value_parser = intensities, help = format!("{RANGE} [default: all]"))]
        intensity: Option<Intensities>,
    },
    /// One large node under a power bound, compared with as many small nodes as the bound allows
    #[command(
        after_help = "Example:\n  greenup whatif bound --machine gtx-titan --watts 140W --against arndale-gpu"
    )]
    Bound {
        /// The large node: a name of `greenup machines`, or a file
        #[arg(long, value_name = "NAME|FILE")]
        machine: String,
        /// Power bound, such as 140W
        #[arg(long, value_name = "POWER", value_parser = watts)]
        watts: f64,
        /// The small node [default: the same machine]
        #[arg(long, value_name = "NAME|FILE")]
        against: Option<String>,
        #[command(flatten)]
        at: IntensityArg,
    },
    /// A cluster of small nodes that draws the power of one large node
    #[command(
        after_help = "Examples:\n  greenup whatif cluster --machine gtx-titan --of arndale-gpu\n  greenup whatif cluster --machine k40c --of jetson-tk1 --nodes 15"
    )]
    Cluster {
        /// The large node
        #[arg(long, value_name = "NAME|FILE")]
        machine: String,
        /// The small node
        #[arg(long, value_name = "NAME|FILE")]
        of: String,
        /// Number of small nodes [default: by power]
        #[arg(long, value_name = "N")]
        nodes: Option<f64>,
        #[command(flatten)]
        at: IntensityArg,
    },
    /// f times the flops for 1/m of the bytes: speedup, greenup and their limits
    #[command(
        after_help = "Examples:\n  greenup whatif tradeoff --machine fermi-2010 --intensity 2 --work 1.5 --traffic 4\n  greenup whatif tradeoff --machine gtx-580 --intensity 0.25:16 -f 1.5 -m 4"
    )]
    Tradeoff {
        /// Machine: a name of `greenup machines`, or a file
        #[arg(long, value_name = "NAME|FILE")]
        machine: String,
        #[arg(long, value_name = "I,…|FROM:TO[:N]", value_parser = intensities, help = format!("{INTENSITIES}; of the baseline"))]
        intensity: Intensities,
        /// f: flops of the new algorithm divided by those of the baseline
        #[arg(short = 'f', long, value_name = "F")]
        work: f64,
        /// m: bytes of the baseline divided by those of the new algorithm
        #[arg(short = 'm', long, value_name = "M")]
        traffic: f64,
    },
    /// Energy of streaming one byte, constant power included, on every machine
    #[command(after_help = "Example:\n  greenup whatif streaming")]
    Streaming,
    /// Peak performance of an instruction mix
    #[command(
        after_help = "Example:\n  greenup whatif refined --instr fma=3:2:16:16 --instr rsqrt=1:1:4:16 --cores 16 --clock 1.54GHz"
    )]
    Refined {
        /// name=count:flops:lanes per cycle[:co-issued lanes]; repeatable
        #[arg(long = "instr", required = true)]
        instructions: Vec<String>,
        /// Lanes of an instruction: 32 for a warp, 8 for a vector of 8 doubles
        #[arg(long, default_value_t = 32.0)]
        lanes: f64,
        /// Number of cores, or of multiprocessors
        #[arg(long, value_name = "N")]
        cores: f64,
        /// Clock, such as 1.54GHz
        #[arg(long, value_name = "CLOCK", value_parser = hertz)]
        clock: f64,
    },
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup roofline --machine gtx-titan --machine arndale-gpu -o compare.png\n  greenup roofline --machine h200 --flop f64 --sweep docs/results/data/h200/microbenchmarks.csv -o h200.html\n  greenup roofline --machine gtx-580 --intensity 0.25:64"
)]
pub struct RooflineArgs {
    /// Machine: a name of `greenup machines`, or a file; repeatable
    #[arg(long, required = true, value_name = "NAME|FILE")]
    pub machine: Vec<String>,
    /// Measured runs of the first machine to draw as points, in the format of `greenup fit`
    #[arg(long, value_name = "FILE.csv")]
    pub sweep: Option<PathBuf>,
    /// Flop class [default: f64 where all machines have it, else f32]
    #[arg(long, value_name = "OP")]
    pub flop: Option<Op>,
    #[arg(long, value_name = "FROM:TO|I,…", value_parser = intensities, default_value = "0.0625:512", help = RANGE)]
    pub intensity: Intensities,
    /// Figure (.svg, .png, .pdf) or HTML page (.html) to write; `-` prints the SVG
    #[arg(short, long, default_value = "roofline.svg", value_name = "FILE")]
    pub out: PathBuf,
    /// Title of the figure
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    #[command(flatten)]
    pub look: FigureArgs,
}
