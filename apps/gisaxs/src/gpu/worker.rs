//! A thread that owns what cannot be sent to others, such as a GPU, and runs the tasks of others with it.

use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

type Task<'a, S> = Box<dyn FnOnce(&mut S) + Send + 'a>;

/// A thread that owns an `S`. It ends, and drops it, after the last task of a dropped `Worker`.
pub(super) struct Worker<S> {
    tasks: Sender<Task<'static, S>>,
}

impl<S> fmt::Debug for Worker<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Worker")
    }
}

/// The thread has ended: a task before panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost;

/// A task that borrows, and where its result goes. It is moved as one, and its fields are dropped in this order: whoever
/// waits for the answer learns that there is none when nothing borrowed is left.
struct Borrowing<F, T> {
    work: F,
    answer: Sender<T>,
}

impl<F, T> Borrowing<F, T> {
    fn run<S>(self, owned: &mut S)
    where
        F: FnOnce(&mut S) -> T,
    {
        let Self { work, answer } = self;
        // Consumes the work before the answer, also if it panics.
        let done = work(owned);
        let _ = answer.send(done);
    }
}

impl<S: 'static> Worker<S> {
    /// Starts a thread with what `open` makes there, and returns what else it gives.
    ///
    /// # Errors
    /// That of `open`; `Err(None)` if it panics, or no thread can be started.
    pub fn start<T: Send + 'static, E: Send + 'static>(
        open: impl FnOnce() -> Result<(S, T), E> + Send + 'static,
    ) -> Result<(Self, T), Option<E>> {
        let (tasks, queue): (_, Receiver<Task<'static, S>>) = channel();
        let (answer, opened) = channel();
        let spawned = thread::Builder::new().spawn(move || match open() {
            Ok((mut owned, other)) => {
                let _ = answer.send(Ok(other));
                for task in queue {
                    task(&mut owned);
                }
            }
            Err(e) => {
                let _ = answer.send(Err(e));
            }
        });
        spawned.map_err(|_| None)?;
        let other = opened.recv().map_err(|_| None)?.map_err(Some)?;
        Ok((Self { tasks }, other))
    }

    /// Enqueues a task.
    ///
    /// # Errors
    /// The thread has ended; the task was dropped.
    pub fn put(&self, task: impl FnOnce(&mut S) + Send + 'static) -> Result<(), Lost> {
        self.tasks.send(Box::new(task)).map_err(|_| Lost)
    }

    /// Runs a task and waits for its result. The task may borrow.
    ///
    /// # Errors
    /// The thread has ended, or the task panicked.
    pub fn run<'a, T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut S) -> T + Send + 'a,
    ) -> Result<T, Lost> {
        let (answer, result) = channel();
        let whole = Borrowing { work, answer };
        let task: Task<'a, S> = Box::new(move |owned| whole.run(owned));
        // SAFETY: only the lifetime 'a of what the work borrows is changed, so the work must be gone when this function
        // returns. It returns in two ways. `send` fails: it dropped the task, here. `recv` returns: either with the
        // answer, which `Borrowing::run` sends when it has consumed the work; or because the only sender of answers is
        // dropped, which `Borrowing` owns and drops after the work, whether the task ran, panicked, or was dropped in the
        // queue. If the task is never dropped, `recv` never returns. Nothing between can unwind: `send` and `recv` do
        // not panic. The result has no borrows, as T is 'static.
        let task = unsafe { std::mem::transmute::<Task<'a, S>, Task<'static, S>>(task) };
        self.tasks.send(task).map_err(|_| Lost)?;
        result.recv().map_err(|_| Lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// Something that other threads cannot have.
    fn counter() -> Worker<Rc<Cell<usize>>> {
        let open = || Ok::<_, ()>((Rc::new(Cell::new(0)), "open"));
        let (worker, opened) = Worker::start(open).unwrap();
        assert_eq!(opened, "open");
        worker
    }

    /// Writes to memory of its borrower when it is dropped, after a while.
    struct Late<'a>(&'a AtomicUsize);

    impl Drop for Late<'_> {
        fn drop(&mut self) {
            thread::sleep(Duration::from_millis(20));
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn tasks_write_into_borrowed_memory_in_turn() {
        let worker = counter();
        let mut out = vec![0; 100];
        for x in &mut out {
            let task = |n: &mut Rc<Cell<usize>>| {
                n.set(n.get() + 1);
                *x = n.get();
            };
            worker.run(task).unwrap();
        }
        assert!(out.iter().copied().eq(1..=100));
        thread::scope(|scope| {
            for x in &mut out {
                let worker = &worker;
                scope.spawn(move || worker.run(|n| *x = n.replace(0)).unwrap());
            }
        });
        assert_eq!(out.iter().sum::<usize>(), 100);
    }

    #[test]
    fn what_opens_badly_says_why() {
        let open = || Err::<(Rc<()>, ()), _>("no driver");
        assert_eq!(Worker::start(open).unwrap_err(), Some("no driver"));
    }

    #[test]
    fn a_task_that_panics_is_dropped_before_its_caller_goes_on() {
        let worker = counter();
        let dropped = AtomicUsize::new(0);
        let late = Late(&dropped);
        let lost = worker.run(move |_| {
            let _late = late;
            std::panic::resume_unwind(Box::new("a broken task"));
        });
        assert_eq!(lost, Err::<(), _>(Lost));
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        // The thread has ended, or ends: later tasks do not run, and are dropped in time too.
        let late = Late(&dropped);
        let lost = worker.run(move |_| {
            let _late = &late;
            unreachable!("the thread has ended");
        });
        assert_eq!(lost, Err::<(), _>(Lost));
        assert_eq!(dropped.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn tasks_left_in_the_queue_are_dropped_before_their_callers_go_on() {
        let worker = counter();
        let dropped = AtomicUsize::new(0);
        let (begin, begun) = channel();
        let (end, ended) = channel::<()>();
        // Occupies the thread, then ends it.
        worker
            .put(move |_| {
                begin.send(()).unwrap();
                let _ = ended.recv();
                std::panic::resume_unwind(Box::new("a broken task"));
            })
            .unwrap();
        begun.recv().unwrap();
        thread::scope(|scope| {
            let waiting: Vec<_> = (0..4)
                .map(|_| {
                    let (worker, dropped) = (&worker, &dropped);
                    scope.spawn(move || {
                        let own = AtomicUsize::new(0);
                        let late = (Late(&own), Late(dropped));
                        let lost = worker.run(move |_| {
                            let _late = &late;
                            unreachable!("it waits behind a task that panics");
                        });
                        assert_eq!(lost, Err::<(), _>(Lost));
                        // Else its end would write to memory that is gone.
                        assert_eq!(own.load(Ordering::SeqCst), 1);
                    })
                })
                .collect();
            thread::sleep(Duration::from_millis(50));
            drop(end);
            for w in waiting {
                w.join().unwrap();
            }
        });
        assert_eq!(dropped.load(Ordering::SeqCst), 4);
    }
}
