//! Arguments of `init` and `best`: from a kernel to a build.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup init c my-kernel\n  greenup tune my-kernel/problem.toml --budget 20s"
)]
pub struct InitArgs {
    /// Kernel, by its language, or any program
    #[arg(value_enum)]
    pub template: Template,
    /// Folder of the project: a new one, or one without files
    pub dir: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// Blocked matrix transpose in C, with OpenMP threads
    C,
    /// Blocked matrix product as a C++ template
    Cpp,
    /// Matrix transpose on an NVIDIA GPU through shared memory
    Cuda,
    /// Matrix transpose in OpenCL through local memory, on any device with an OpenCL driver
    Opencl,
    /// Compiler flags and arguments of a program, built and run by commands; in any language
    Command,
}

#[derive(Args)]
#[command(
    after_help = "Examples:\n  cc $(greenup best sweeps/stencil --format flags) -c stencil.c\n  greenup best sweeps/stencil --format header -o tuned.h\n  greenup best sweeps/stencil --format flags --problem examples/stencil/problem.toml\n  greenup best clblast_xgemm_1_32.json            # results of another tuner\n  greenup best 'database.json#Xgemm,32,Tesla V100'"
)]
pub struct BestArgs {
    /// Sweep folder, or a file of Kernel Tuner, KTT, CLBlast or in the T4 format (.gz allowed); FILE#WORDS chooses one of several
    /// sweeps of a file
    pub sweep: PathBuf,
    /// Format: compiler flags, a C header, a command line, JSON or TOML [default: flags; command where a command was tuned]
    #[arg(long, value_enum)]
    pub format: Option<BestFormat>,
    /// Objective: time, energy, another one of `greenup tune`, or metric:NAME; metric:NAME:max and :min say what is better [default: the sweep's]
    #[arg(long)]
    pub objective: Option<greenup_tune::Objective>,
    /// Problem file of the sweep: flags and header also define its derived values
    #[arg(long, value_name = "FILE")]
    pub problem: Option<PathBuf>,
    /// Write it to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BestFormat {
    /// Flags of the build and -DNAME=VALUE … of parameters and constants, on one line
    Flags,
    /// The commands that build and run it, a line each
    Command,
    /// C header with a #define per parameter and constant; the flags are in its comment
    Header,
    /// {"config":{…},"time_s":…,"energy_j":…}
    Json,
    /// The same as TOML
    Toml,
}
