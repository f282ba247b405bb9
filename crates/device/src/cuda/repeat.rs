//! Repeats work on a GPU without gaps, timed by events.

use super::{CudaError, Event, Graph, Session};
use crate::batches::{self, Queue, Repeated};

/// Enqueues one run.
pub type Enqueue<'a> = dyn FnMut() -> Result<(), CudaError> + 'a;

/// Runs shorter than this are recorded and repeated in groups, s.
const SHORT_S: f64 = 2e-4;
/// Repeats runs of one kind.
#[derive(Default)]
pub struct Repeater {
    /// A graph of several runs, if one is so short that its launch would take longer, and their number.
    graph: Option<(Graph, i64)>,
    /// Estimated time of a run, s.
    once: f64,
}

impl Queue for Session {
    type Event = Event;
    type Error = CudaError;

    fn event(&self) -> Result<Event, CudaError> {
        let e = Session::event(self)?;
        e.record()?;
        Ok(e)
    }

    fn wait(&self, event: &Event) -> Result<(), CudaError> {
        event.wait()
    }

    fn between(&self, from: &Event, to: &Event) -> Result<f64, CudaError> {
        to.since(from)
    }
}

impl Repeater {
    /// # Safety
    /// As [`Self::window`].
    unsafe fn enqueue(&mut self, n: i64, one: &mut Enqueue) -> Result<(), CudaError> {
        let mut left = n;
        if let Some((graph, size)) = &self.graph {
            while left >= *size {
                // SAFETY: the caller's promise.
                unsafe { graph.launch() }?;
                left -= size;
            }
        }
        for _ in 0..left {
            one()?;
        }
        Ok(())
    }

    /// Runs `n` times; returns the seconds on the GPU.
    ///
    /// # Safety
    /// As [`Self::window`].
    ///
    /// # Errors
    /// A run failed.
    pub unsafe fn run(
        &mut self,
        session: &Session,
        n: i64,
        one: &mut Enqueue,
    ) -> Result<f64, CudaError> {
        // SAFETY: the caller's promise.
        let seconds = batches::run(session, n, &mut |n| unsafe { self.enqueue(n, one) })?;
        self.once = seconds / n as f64;
        Ok(seconds)
    }

    /// Repeats for about some seconds; puts the mean of each batch into `times`.
    ///
    /// # Safety
    /// What `one` enqueues may be recorded and repeated without it, now and at later calls: the memory that it works on
    /// lives as long as this repeater runs.
    ///
    /// # Errors
    /// A run failed.
    pub unsafe fn window(
        &mut self,
        session: &Session,
        seconds: f64,
        one: &mut Enqueue,
        times: &mut Vec<f64>,
    ) -> Result<Repeated, CudaError> {
        if self.once <= 0.0 {
            // SAFETY: the caller's promise.
            unsafe { self.run(session, 1, one) }?;
        }
        if self.once < SHORT_S && self.graph.is_none() {
            // SAFETY: the caller's promise.
            unsafe { self.run(session, 20, one) }?;
            let size = ((1e-3 / self.once.max(1e-7)) as i64).clamp(2, 512);
            let graph = session.graph(&mut || {
                for _ in 0..size {
                    one()?;
                }
                Ok(())
            });
            // Host code that cannot be recorded is enqueued one by one.
            self.graph = graph.ok().map(|g| (g, size));
        }
        let mut size = batches::batch(seconds, self.once);
        if let Some((_, group)) = &self.graph {
            size = (size / group).max(1) * group;
        }
        let mut once = self.once;
        // SAFETY: the caller's promise.
        let mut enqueue = |n| unsafe { self.enqueue(n, one) };
        let done = batches::window(session, seconds, size, &mut once, &mut enqueue, times);
        self.once = once;
        done
    }
}
