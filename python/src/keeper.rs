//! A value that lives on a thread of its own, which Python calls. Sessions of GPUs stay on their thread that way, Ctrl-C is
//! seen at once, and Python's other threads go on.

use crate::errors::{GreenupError, of_application};
use crate::run::check_fork;
use greenup_app::pool;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Between two looks at Python's signals.
const LOOK: Duration = Duration::from_millis(20);

type Job<T> = Box<dyn FnOnce(&mut T) + Send>;

/// A handle of a value on its thread. The thread ends when the handle is dropped.
pub struct Keeper<T> {
    jobs: Sender<Job<T>>,
}

/// What Ctrl-C does to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSignal {
    /// The work is asked to stop, and its end is awaited; a second signal is not that patient.
    Wait,
    /// The exception is raised at once. The work is asked to stop, too.
    Leave,
}

impl<T: 'static> Keeper<T> {
    /// Makes the value on a new thread, within a pool of its own if `threads` are asked for.
    ///
    /// # Errors
    /// What a signal handler raised, or the error of `make`.
    pub fn start<E: Into<PyErr> + Send + 'static>(
        py: Python<'_>,
        threads: Option<usize>,
        make: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> PyResult<Self> {
        check_fork()?;
        let (jobs, work) = channel::<Job<T>>();
        let (done, made) = channel::<Result<(), PyErr>>();
        let serve = move || match make() {
            Ok(mut value) => {
                // Nobody waits after a signal: the first wait for a job then ends this thread.
                let _ = done.send(Ok(()));
                while let Ok(job) = work.recv() {
                    job(&mut value);
                }
            }
            Err(e) => {
                let _ = done.send(Err(e.into()));
            }
        };
        let spawned = match threads {
            None => {
                pool::start(None).map_err(|e| of_application::<GreenupError>(&e))?;
                std::thread::Builder::new().spawn(serve)
            }
            Some(n) => {
                let pool = pool::of_own(n).map_err(|e| of_application::<GreenupError>(&e))?;
                std::thread::Builder::new().spawn(move || pool.install(serve))
            }
        };
        spawned.map_err(|e| GreenupError::new_err(format!("no thread can be started: {e}")))?;
        wait(py, made, &AtomicBool::new(false), OnSignal::Leave)??;
        Ok(Self { jobs })
    }

    /// Runs `work` on the thread of the value; the flag is set when it should stop.
    ///
    /// # Errors
    /// What a signal handler raised; the value was lost.
    pub fn call<R: Send + 'static>(
        &self,
        py: Python<'_>,
        on_signal: OnSignal,
        work: impl FnOnce(&mut T, &AtomicBool) -> R + Send + 'static,
    ) -> PyResult<R> {
        check_fork()?;
        let stop = Arc::new(AtomicBool::new(false));
        let (done, result) = channel();
        let flag = Arc::clone(&stop);
        let job: Job<T> = Box::new(move |value| {
            // Nobody waits for it after a signal.
            let _ = done.send(work(value, &flag));
        });
        self.jobs.send(job).map_err(|_| lost())?;
        wait(py, result, &stop, on_signal)
    }
}

fn lost() -> PyErr {
    GreenupError::new_err(
        "the computation ended by an internal error, which was printed; make the object again",
    )
}

/// Waits for a result; looks at Python's signals from time to time.
fn wait<R: Send>(
    py: Python<'_>,
    result: Receiver<R>,
    stop: &AtomicBool,
    on_signal: OnSignal,
) -> PyResult<R> {
    let mut raised: Option<PyErr> = None;
    // Shared with the closure that waits.
    let result = Mutex::new(result);
    loop {
        let got = py.detach(|| {
            let result = result.lock().unwrap_or_else(PoisonError::into_inner);
            result.recv_timeout(LOOK)
        });
        match got {
            Ok(value) => {
                return match raised {
                    Some(e) => Err(e),
                    None => Ok(value),
                };
            }
            Err(RecvTimeoutError::Disconnected) => return Err(raised.unwrap_or_else(lost)),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(e) = py.check_signals() {
                    stop.store(true, Ordering::Relaxed);
                    if on_signal == OnSignal::Leave || raised.is_some() {
                        return Err(e);
                    }
                    raised = Some(e);
                }
            }
        }
    }
}
