//! Work without the interpreter lock, which Ctrl-C stops.

use crate::errors::{GreenupError, hinted};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Between two looks at Python's signals.
const LOOK: Duration = Duration::from_millis(20);

/// The process that first computed here; 0 before.
static FIRST: AtomicU32 = AtomicU32::new(0);

/// Refuses work in a process that was forked after its parent computed: a fork copies no threads, so that the pool never answers.
///
/// # Errors
/// This process is such a child.
pub fn check_fork() -> PyResult<()> {
    let now = std::process::id();
    match FIRST.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != now => Err(hinted(
            GreenupError::new_err(
                "this process was forked after its parent had computed with greenup, and a fork copies no threads",
            ),
            Some(
                "use multiprocessing.get_context(\"spawn\"), or fork before the first computation",
            ),
        )),
        _ => Ok(()),
    }
}

/// Set when the work should stop.
#[derive(Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Whether the work should stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}

/// Runs `work` on a thread of its own. Other Python threads go on; a signal whose handler raises (Ctrl-C) sets the
/// flag, and the exception is raised once the work has ended. For work of a few microseconds, `Python::detach` costs less.
///
/// # Errors
/// What a signal handler raised.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send) -> PyResult<T> {
    check_fork()?;
    let (stop, done) = (Stop::default(), Done::default());
    py.detach(|| {
        std::thread::scope(|scope| {
            let worker = std::thread::Builder::new()
                .spawn_scoped(scope, || {
                    let _done = Announced(&done);
                    work(&stop)
                })
                .map_err(|e| GreenupError::new_err(format!("no thread can be started: {e}")))?;
            let mut raised = None;
            while !done.wait(LOOK) {
                if raised.is_none()
                    && let Err(e) = Python::attach(|py| py.check_signals())
                {
                    stop.0.store(true, Ordering::Relaxed);
                    raised = Some(e);
                }
            }
            let result = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match raised {
                Some(e) => Err(e),
                None => Ok(result),
            }
        })
    })
}

#[derive(Default)]
struct Done {
    is: Mutex<bool>,
    changed: Condvar,
}

impl Done {
    /// Waits until it is done, at most so long; whether it is.
    fn wait(&self, most: Duration) -> bool {
        let is = self.is.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(is, most, |is| !*is);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Says that it is done when dropped, also by a panic.
struct Announced<'a>(&'a Done);

impl Drop for Announced<'_> {
    fn drop(&mut self) {
        *self.0.is.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}
