//! Runs of work enqueued in batches without a gap between them, timed by events of the device.

use std::collections::VecDeque;

/// A queue of a device that executes in order, with events.
pub trait Queue {
    /// A place in the queue, whose time is known when the device has come to it.
    type Event;
    /// An error of the device.
    type Error;

    /// Enqueues an event.
    ///
    /// # Errors
    /// The device refuses it.
    fn event(&self) -> Result<Self::Event, Self::Error>;

    /// Waits until the device has come to an event.
    ///
    /// # Errors
    /// What was enqueued before it failed.
    fn wait(&self, event: &Self::Event) -> Result<(), Self::Error>;

    /// Time from one event to a later one, s.
    ///
    /// # Errors
    /// The device does not tell.
    fn between(&self, from: &Self::Event, to: &Self::Event) -> Result<f64, Self::Error>;
}

/// Length of a batch between two events, s.
const BATCH_S: f64 = 0.02;

/// Repeated runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// Number of runs.
    pub runs: i64,
    /// Their time on the device, s.
    pub seconds: f64,
}

/// Number of runs that make a batch of a window of some seconds, by the time of one.
pub fn batch(seconds: f64, once: f64) -> i64 {
    let batch = BATCH_S.min(seconds / 4.0) / once.max(1e-7);
    (batch.round() as i64).max(1)
}

/// Runs `n` times; returns the seconds on the device.
///
/// # Errors
/// A run failed.
pub fn run<Q: Queue>(
    queue: &Q,
    n: i64,
    enqueue: &mut dyn FnMut(i64) -> Result<(), Q::Error>,
) -> Result<f64, Q::Error> {
    let start = queue.event()?;
    enqueue(n)?;
    let end = queue.event()?;
    queue.wait(&end)?;
    queue.between(&start, &end)
}

/// Repeats batches of `size` runs for about some seconds; puts the mean of each batch into `times`, and that of all into
/// `once`, which holds an estimate before.
///
/// # Errors
/// A run failed.
pub fn window<Q: Queue>(
    queue: &Q,
    seconds: f64,
    size: i64,
    once: &mut f64,
    enqueue: &mut dyn FnMut(i64) -> Result<(), Q::Error>,
    times: &mut Vec<f64>,
) -> Result<Repeated, Q::Error> {
    let first = queue.event()?;
    // Two batches are enqueued while one is waited for.
    let mut waiting: VecDeque<Q::Event> = VecDeque::new();
    let mut last: Option<Q::Event> = None;
    let (mut total, mut batches, mut enqueued) = (0.0, 0_i64, 0_i64);
    loop {
        let expected = total + *once * (size * (enqueued - batches)) as f64;
        if expected < 0.98 * seconds || enqueued == 0 {
            enqueue(size)?;
            waiting.push_back(queue.event()?);
            enqueued += 1;
            if waiting.len() < 3 {
                continue;
            }
        }
        let Some(e) = waiting.pop_front() else { break };
        queue.wait(&e)?;
        times.push(queue.between(last.as_ref().unwrap_or(&first), &e)? / size as f64);
        total = queue.between(&first, &e)?;
        batches += 1;
        *once = total / (batches * size) as f64;
        last = Some(e);
    }
    Ok(Repeated {
        runs: batches * size,
        seconds: total,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A device whose runs take a second each.
    struct Ideal(Cell<i64>);

    impl Queue for Ideal {
        type Event = i64;
        type Error = ();

        fn event(&self) -> Result<i64, ()> {
            Ok(self.0.get())
        }

        fn wait(&self, _: &i64) -> Result<(), ()> {
            Ok(())
        }

        fn between(&self, from: &i64, to: &i64) -> Result<f64, ()> {
            Ok((to - from) as f64)
        }
    }

    #[test]
    fn a_window_has_as_many_runs_as_fit() {
        let queue = Ideal(Cell::new(0));
        let mut enqueue = |n| {
            queue.0.set(queue.0.get() + n);
            Ok(())
        };
        assert_eq!(run(&queue, 5, &mut enqueue), Ok(5.0));
        let (mut once, mut times) = (1.0, Vec::new());
        let done = window(&queue, 20.0, 4, &mut once, &mut enqueue, &mut times).unwrap();
        assert_eq!((done.runs, done.seconds), (20, 20.0));
        assert_eq!(times, [1.0; 5]);
        assert_eq!(queue.0.get(), 25);
        // One that is far longer than the window still runs.
        let (mut once, mut times) = (1.0, Vec::new());
        let done = window(&queue, 0.1, 1, &mut once, &mut enqueue, &mut times).unwrap();
        assert_eq!((done.runs, times.len()), (1, 1));
        assert_eq!((batch(1.0, 1e-3), batch(1.0, 1.0)), (20, 1));
    }
}
