//! Pools of threads: started here, before the work, so that a host that does not start them is an error and no panic.

use crate::error::{AppError, Result};
use greenup_process::threads;
use greenup_setting::setting;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::env;
use std::error::Error;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;

/// Variables from which rayon takes a number of threads, the first that is set.
const VARIABLES: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

/// Threads of the pool of this process, once it was started here.
static STARTED: Mutex<Option<usize>> = Mutex::new(None);

/// Number of threads where the user names none: that of `RAYON_NUM_THREADS`, or all cores.
///
/// # Errors
/// The variable is not a number of threads that a command may start.
pub fn usual() -> Result<usize> {
    usual_of(|name| env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
}

fn usual_of(variable: impl Fn(&str) -> Option<String>) -> Result<usize> {
    for name in VARIABLES {
        let Some(text) = variable(name).filter(|t| !t.is_empty()) else {
            continue;
        };
        match text.as_str() {
            "0" => break,
            text => {
                return threads::parse(text)
                    .map_err(|e| AppError::new(format!("{name}={text}: {e}")));
            }
        }
    }
    Ok(available_parallelism().map_or(1, NonZero::get))
}

/// Starts the pool of this process, with the [`usual`] number of threads if `threads` names none. A pool that runs
/// already serves where no number is asked for.
///
/// # Errors
/// The number is invalid, the system does not start that many, or a pool with another number runs already.
pub fn start(threads: Option<usize>) -> Result {
    if threads.is_none() && rayon::current_thread_index().is_some() {
        return Ok(());
    }
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if started.is_some_and(|now| threads.is_none_or(|n| n == now)) {
        return Ok(());
    }
    let n = threads.map_or_else(usual, Ok)?;
    match ThreadPoolBuilder::new().num_threads(n).build_global() {
        Ok(()) => *started = Some(n),
        Err(e) if e.source().is_none() && threads.is_none() => {}
        Err(e) => return Err(failed(n, &e)),
    }
    Ok(())
}

/// A pool of its own, for work that is installed in it.
///
/// # Errors
/// The system does not start that many threads.
pub fn of_own(threads: usize) -> Result<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| failed(threads, &e))
}

/// Checks that the system starts `n` more threads now; they end at once.
///
/// # Errors
/// It does not.
pub fn check(n: usize) -> Result {
    ThreadPoolBuilder::new()
        .num_threads(n)
        .build()
        .map(drop)
        .map_err(|e| failed(n, &e))
}

fn failed(n: usize, e: &ThreadPoolBuildError) -> AppError {
    AppError::new(format!("{n} threads cannot be started: {e}")).hint(format!(
        "ask for fewer ({}, RAYON_NUM_THREADS), or raise the limits of processes and memory (ulimit -u, ulimit -v)",
        setting("threads")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_numbers_in_variables_are_refused() {
        let of = |name: &'static str, text: &'static str| {
            usual_of(move |n| (n == name).then(|| text.to_owned()))
        };
        let cores = available_parallelism().unwrap().get();
        for name in VARIABLES {
            assert_eq!(of(name, "3").unwrap(), 3);
            assert_eq!(of(name, "0").unwrap(), cores);
            assert_eq!(of(name, "").unwrap(), cores);
            for bad in ["100000", "-1", "two", "1e3"] {
                let e = of(name, bad).unwrap_err().message;
                assert!(e.starts_with(&format!("{name}={bad}: ")), "{e}");
                assert!(e.contains("between 1 and"), "{e}");
            }
        }
    }

    #[test]
    fn a_pool_that_runs_serves_where_no_number_is_asked_for() {
        let pool = of_own(2).unwrap();
        assert_eq!(pool.install(rayon::current_num_threads), 2);
        pool.install(|| start(None)).unwrap();
        check(2).unwrap();
    }
}
