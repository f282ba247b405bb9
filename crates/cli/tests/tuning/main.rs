//! Tuning runs end to end, on CPUs and with stand-ins for GPUs.

#[path = "../common/mod.rs"]
mod common;

mod cheats;
mod clocks;
mod command_baseline;
mod command_examples;
mod command_faults;
mod command_hosts;
mod command_scale;
mod commands;
mod cuda;
mod gain;
mod gemm;
mod gpu_faults;
mod init;
mod kernel_answers;
mod launched_gpus;
mod launcher;
mod marks;
mod nvml;
mod opencl;
mod processes;
mod race;
mod silent;
mod ssh;
mod sweeps;
mod tune;
mod wisdom;
mod workers;
