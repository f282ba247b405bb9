//! The ranks of a command: processes that a launcher started, or threads of this process.

use super::world;
use crate::args::ThreadsArg;
use crate::error::{AppError, Result};
use crate::pool;
use clap::Args;
use greenup_ranks::{Alone, Ranks, launched, threads};
use std::sync::Arc;

/// `--ranks`.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct RanksArg {
    /// Number of ranks, as threads of this process; `mpirun -np N` starts them as processes [default: 1]
    #[arg(long, value_name = "N", value_parser = number)]
    pub ranks: Option<usize>,
}

/// A number of ranks: each needs a thread.
fn number(text: &str) -> std::result::Result<usize, String> {
    greenup_process::threads::parse(text)
        .map_err(|e| format!("the number of ranks must lie between 1 and {}", e.limit))
}

/// The ranks of a command, seen from this process.
pub enum RankTeam {
    /// This process is one of them.
    World(Arc<dyn Ranks>),
    /// All are threads of this process.
    Threads(usize),
}

impl RanksArg {
    /// Joins the other ranks; without the flag and a launcher there are `usual` ones.
    ///
    /// # Errors
    /// MPI is missing, ranks differ, or a launcher started this process and `--ranks` is given.
    pub fn team(self, usual: usize) -> Result<RankTeam> {
        match (launched(), self.ranks) {
            (Some(l), Some(n)) if l.size > 1 => Err(AppError::new(format!(
                "--ranks {n}, but a launcher started {} processes, a rank each",
                l.size
            ))
            .hint("leave out --ranks, or the launcher")),
            (Some(_), _) => Ok(RankTeam::World(world()?)),
            (None, asked) => match asked.unwrap_or(usual) {
                0 | 1 => Ok(RankTeam::World(Arc::new(Alone))),
                n => Ok(RankTeam::Threads(n)),
            },
        }
    }
}

/// Checks that a command that runs in one process was started as one.
///
/// # Errors
/// A launcher started several processes.
pub fn check_alone() -> Result {
    match launched() {
        Some(l) if l.size > 1 => Err(AppError::new(format!(
            "this command runs in one process, but a launcher started {}",
            l.size
        ))
        .hint("start it without the launcher")),
        _ => Ok(()),
    }
}

impl RankTeam {
    /// One rank.
    pub fn alone() -> Self {
        Self::World(Arc::new(Alone))
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        match self {
            Self::World(ranks) => ranks.size(),
            Self::Threads(n) => *n,
        }
    }

    /// Whether rank 0 is in this process, which prints and writes.
    pub fn has_first(&self) -> bool {
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

    /// Starts the threads of this process: by default its share of the cores. Ranks that are threads share them.
    ///
    /// # Errors
    /// The system does not start that many.
    pub fn start_threads(&self, arg: ThreadsArg) -> Result {
        match self {
            Self::World(r) if r.size() > 1 => pool::start(Some(super::threads(arg.threads, &**r))),
            _ => arg.start(),
        }
    }

    /// Does the work of each rank of this process; returns what the first of them has.
    ///
    /// # Errors
    /// The error of a rank, which ends the others.
    pub fn run<T: Send>(&self, work: impl Fn(&Arc<dyn Ranks>) -> Result<T> + Sync) -> Result<T> {
        match self {
            Self::World(ranks) => work(ranks),
            Self::Threads(n) => {
                pool::check(*n)?;
                let mut all = threads::run(*n, |ranks| work(&ranks))?;
                Ok(all.swap_remove(0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_as_threads_do_their_work() {
        let team = RanksArg { ranks: Some(3) }.team(1).unwrap();
        assert!(team.has_first() && team.size() == 3);
        let work = team.run(|r| {
            let mut x = [1.0];
            r.sum(&mut x);
            Ok((r.rank(), x[0]))
        });
        assert_eq!(work.unwrap(), (0, 3.0));
        let e = team.run(|r| match r.rank() {
            1 => Err(AppError::new("broken")),
            _ => {
                r.barrier();
                Ok(())
            }
        });
        assert_eq!(e.unwrap_err().message, "broken");
        let usual = |n| RanksArg::default().team(n).unwrap().size();
        assert_eq!((usual(1), usual(2)), (1, 2));
    }
}
