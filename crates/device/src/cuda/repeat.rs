//! Repeats work on a GPU without gaps, timed by events.

use super::{CudaError, Event, Graph, Session};
use std::collections::VecDeque;

/// Enqueues one run.
pub type Enqueue<'a> = dyn FnMut() -> Result<(), CudaError> + 'a;

/// Runs shorter than this are recorded and repeated in groups, s.
const SHORT_S: f64 = 2e-4;
/// Length of a batch between two events, s.
const BATCH_S: f64 = 0.02;

/// Repeats runs of one kind.
#[derive(Default)]
pub struct Repeater {
    /// A graph of several runs, if one is so short that its launch would take longer, and their number.
    graph: Option<(Graph, i64)>,
    /// Estimated time of a run, s.
    once: f64,
}

/// Repeated runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// Number of runs.
    pub runs: i64,
    /// Their time on the GPU, s.
    pub seconds: f64,
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
        let (start, end) = (session.event()?, session.event()?);
        start.record()?;
        // SAFETY: the caller's promise.
        unsafe { self.enqueue(n, one) }?;
        end.record()?;
        end.wait()?;
        let seconds = end.since(&start)?;
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
        let batch = BATCH_S.min(seconds / 4.0) / self.once.max(1e-7);
        let mut size = (batch.round() as i64).max(1);
        if let Some((_, group)) = &self.graph {
            size = (size / group).max(1) * group;
        }
        let first = session.event()?;
        first.record()?;
        // Two batches are enqueued while one is waited for.
        let mut waiting: VecDeque<Event> = VecDeque::new();
        let mut last: Option<Event> = None;
        let (mut total, mut batches, mut enqueued) = (0.0, 0_i64, 0_i64);
        loop {
            let expected = total + self.once * (size * (enqueued - batches)) as f64;
            if expected < 0.98 * seconds || enqueued == 0 {
                // SAFETY: the caller's promise.
                unsafe { self.enqueue(size, one) }?;
                let e = session.event()?;
                e.record()?;
                waiting.push_back(e);
                enqueued += 1;
                if waiting.len() < 3 {
                    continue;
                }
            }
            let Some(e) = waiting.pop_front() else { break };
            e.wait()?;
            times.push(e.since(last.as_ref().unwrap_or(&first))? / size as f64);
            total = e.since(&first)?;
            batches += 1;
            self.once = total / (batches * size) as f64;
            last = Some(e);
        }
        Ok(Repeated {
            runs: batches * size,
            seconds: total,
        })
    }
}
