//! Commands started by MPI's launchers.

use super::wrapped;
use std::process::Command;

/// The launchers that are installed: Open MPI's and MPICH's.
///
/// # Panics
/// If neither is installed.
pub fn launchers() -> Vec<&'static str> {
    let installed = |name: &&str| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|v| v.status.success())
    };
    let all: Vec<_> = ["mpirun.openmpi", "mpirun.mpich"]
        .into_iter()
        .filter(installed)
        .collect();
    assert!(!all.is_empty(), "neither Open MPI nor MPICH is installed");
    all
}

/// The same command as some processes, started by a launcher.
pub fn with_ranks(launcher: &str, ranks: usize, command: &Command) -> Command {
    let ranks = ranks.to_string();
    // Tests have few cores, and run as root in containers.
    let words = "--allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1";
    let mut args: Vec<&str> = if launcher.contains("openmpi") {
        words.split_whitespace().collect()
    } else {
        Vec::new()
    };
    args.extend(["-np", &ranks]);
    wrapped(launcher, &args, command)
}
