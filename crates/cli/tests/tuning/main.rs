//! Tuning runs end to end, on CPUs and with stand-ins for GPUs.

mod clocks;
mod cuda;
mod gemm;
mod gpu_faults;
mod init;
mod nvml;
mod processes;
mod tune;
