//! The ranks of a command: processes that a launcher started, or threads of this process.

use clap::Args;
use greenup_app::args::{ThreadsArg, start_threads};
use greenup_app::{AppError, Result, ranks};
use greenup_ranks::{Ranks, launched, threads};
use std::sync::Arc;

#[derive(Args, Clone, Copy, Debug)]
pub struct RanksArg {
    /// Ranks as threads of this process, as a test without MPI; with MPI: `mpirun -np N gisaxs ...`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    ranks: Option<u16>,
}

/// The ranks of a command, seen from this process.
pub enum Team {
    /// This process is one of them.
    World(Arc<dyn Ranks>),
    /// All are threads of this process.
    Threads(usize),
}

impl RanksArg {
    /// Joins the other ranks.
    ///
    /// # Errors
    /// MPI is missing, ranks differ, or a launcher started this process and `--ranks` is given.
    pub fn team(self) -> Result<Team> {
        match self.ranks {
            Some(_) if launched().is_some_and(|l| l.size > 1) => Err(AppError::new(
                "--ranks is for runs without a launcher. Fix: leave it out under mpirun",
            )),
            Some(n) => Ok(Team::Threads(n.into())),
            None => Ok(Team::World(ranks::world()?)),
        }
    }
}

/// Checks that a command that runs in one process was started as one.
pub fn check_alone(command: &str) -> Result {
    match launched() {
        Some(l) if l.size > 1 => Err(AppError::new(format!(
            "gisaxs {command} runs in one process, but a launcher started {}. Fix: start it without the launcher; several \
             GPUs: --device cuda:all",
            l.size
        ))),
        _ => Ok(()),
    }
}

impl Team {
    /// Number of ranks.
    pub fn size(&self) -> usize {
        match self {
            Self::World(ranks) => ranks.size(),
            Self::Threads(n) => *n,
        }
    }

    /// Whether rank 0 is in this process, which writes the results.
    pub fn first(&self) -> bool {
        match self {
            Self::World(ranks) => ranks.rank() == 0,
            Self::Threads(_) => true,
        }
    }

    /// Number of this process among those of the run on this host, and theirs.
    pub fn local(&self) -> (usize, usize) {
        match self {
            Self::World(ranks) => ranks.local(),
            Self::Threads(_) => (0, 1),
        }
    }

    /// Starts the threads of this process: by default its share of the cores.
    pub fn start_threads(&self, arg: ThreadsArg) -> Result {
        match self {
            Self::World(r) if r.size() > 1 => start_threads(ranks::threads(arg.threads, &**r)),
            _ => arg.start(),
        }
    }

    /// Runs the work of each rank of this process; the result of the first.
    pub fn run<T: Send>(&self, work: impl Fn(&dyn Ranks) -> Result<T> + Sync) -> Result<T> {
        match self {
            Self::World(ranks) => work(&**ranks),
            Self::Threads(n) => {
                let mut all = threads::run(*n, |ranks| work(&*ranks))?;
                Ok(all.swap_remove(0))
            }
        }
    }
}
