//! Pinned threads that start and stop together.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Time that threads spin before they park: longer than passes on dedicated cores differ.
const PATIENCE: Duration = Duration::from_millis(10);

/// A set of logical CPUs, one thread each.
#[derive(Clone, Debug)]
pub struct Team {
    cpus: Vec<usize>,
}

/// Passes of one timed run.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    /// Wall time of each pass, from all threads ready to all threads done, s.
    pub seconds: Vec<f64>,
    /// Wall time of the whole run, s.
    pub total_s: f64,
}

impl Team {
    /// A team on these CPUs.
    ///
    /// # Panics
    /// Never; an empty list gives one unpinned thread.
    pub fn new(cpus: &[usize]) -> Self {
        Self {
            cpus: cpus.to_vec(),
        }
    }

    /// Number of threads, at least 1.
    pub fn len(&self) -> usize {
        self.cpus.len().max(1)
    }

    /// Always false.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The first `n` CPUs of this team.
    pub fn first(&self, n: usize) -> Self {
        Self::new(&self.cpus[..n.min(self.cpus.len())])
    }

    /// Runs `pass` on every thread, repeatedly, while `more(passes done, seconds so far)`.
    ///
    /// Each thread first creates its state with `setup(rank)`, so that memory is first touched by its user. All threads wait for each other before and after each pass.
    pub fn run<S>(
        &self,
        setup: impl Fn(usize) -> S + Sync,
        pass: impl Fn(&mut S) + Sync,
        more: impl Fn(usize, f64) -> bool + Sync,
    ) -> Passes {
        let n = self.len();
        let barrier = SpinBarrier::new(n, PATIENCE);
        let stop = AtomicBool::new(false);
        let member = |rank: usize| {
            if let Some(&cpu) = self.cpus.get(rank) {
                // Without permission it stays unpinned.
                let _ = crate::affinity::pin(cpu);
            }
            let mut state = setup(rank);
            let mut seconds = Vec::new();
            barrier.wait();
            let start = Instant::now();
            loop {
                if rank == 0 && !more(seconds.len(), start.elapsed().as_secs_f64()) {
                    stop.store(true, Ordering::Relaxed);
                }
                barrier.wait();
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let t = Instant::now();
                pass(&mut state);
                barrier.wait();
                seconds.push(t.elapsed().as_secs_f64());
            }
            Passes {
                seconds,
                total_s: start.elapsed().as_secs_f64(),
            }
        };
        std::thread::scope(|scope| {
            for rank in 1..n {
                let member = &member;
                scope.spawn(move || member(rank));
            }
            // Rank 0 has a new thread too: pinning must not outlive the run.
            let first = scope.spawn(|| member(0));
            match first.join() {
                Ok(passes) => passes,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

/// Spins between looks at the clock, and all of a wait that does not expect to end while it spins.
const FEW_SPINS: u32 = 128;

/// Of waits in a row that parked, each so many-th one is patient.
const TRY_AGAIN: u32 = 16;

/// A barrier that spins, since kernels of tens of microseconds would drown in a futex's wake-up time, and parks when that
/// lasts too long: the thread that is waited for may need this one's core.
pub struct SpinBarrier {
    threads: usize,
    patience: Duration,
    arrived: AtomicUsize,
    generation: AtomicU32,
    parked: AtomicU32,
    /// Waits that parked since the last that did not. Where cores are busy nearly all do, and spin for nothing before.
    in_a_row: AtomicU32,
}

impl SpinBarrier {
    /// A barrier of this number of threads, which spin for `patience` before they park.
    pub fn new(threads: usize, patience: Duration) -> Self {
        Self {
            threads,
            patience,
            arrived: AtomicUsize::new(0),
            generation: AtomicU32::new(0),
            parked: AtomicU32::new(0),
            in_a_row: AtomicU32::new(0),
        }
    }

    /// Waits for all threads.
    pub fn wait(&self) {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // One order of this and `parked`, here and in `park`: no thread parks unseen.
            self.generation.fetch_add(1, Ordering::SeqCst);
            if self.parked.load(Ordering::SeqCst) > 0 {
                atomic_wait::wake_all(&raw const self.generation);
            }
            return;
        }
        let in_a_row = self.in_a_row.load(Ordering::Relaxed);
        let patient = in_a_row.is_multiple_of(TRY_AGAIN);
        let mut begin = None;
        let mut spins = 0u32;
        while self.generation.load(Ordering::Acquire) == generation {
            spins += 1;
            if spins.is_multiple_of(FEW_SPINS)
                && !(patient && begin.get_or_insert_with(Instant::now).elapsed() < self.patience)
            {
                return self.park(generation);
            }
            // A core shared with another process must get its turn.
            if spins.is_multiple_of(16384) {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
        if in_a_row > 0 {
            self.in_a_row.store(0, Ordering::Relaxed);
        }
    }

    #[cold]
    fn park(&self, generation: u32) {
        self.parked.fetch_add(1, Ordering::SeqCst);
        while self.generation.load(Ordering::SeqCst) == generation {
            atomic_wait::wait(&self.generation, generation);
        }
        self.parked.fetch_sub(1, Ordering::Relaxed);
        self.in_a_row.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_does_every_pass() {
        let count = AtomicUsize::new(0);
        let team = Team::new(&[0, 0, 0]);
        let passes = team.run(
            |rank| rank,
            |_| {
                count.fetch_add(1, Ordering::Relaxed);
            },
            |done, _| done < 5,
        );
        assert_eq!(passes.seconds.len(), 5);
        assert_eq!(count.into_inner(), 15);
    }

    #[test]
    fn threads_that_park_are_woken() {
        // Without patience nearly every wait parks.
        for patience in [Duration::ZERO, Duration::from_micros(1)] {
            let (threads, rounds) = (4, 2000);
            let barrier = SpinBarrier::new(threads, patience);
            let count = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        for round in 1..=rounds {
                            count.fetch_add(1, Ordering::Relaxed);
                            barrier.wait();
                            assert_eq!(count.load(Ordering::Relaxed), round * threads);
                            barrier.wait();
                        }
                    });
                }
            });
            assert_eq!(barrier.parked.into_inner(), 0);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_that_waits_long_takes_no_time() {
        let cpu_s = || {
            let mut t = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            // SAFETY: `t` is valid for writes.
            unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t) };
            t.tv_sec as f64 + 1e-9 * t.tv_nsec as f64
        };
        let barrier = SpinBarrier::new(2, Duration::from_millis(1));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                barrier.wait();
            });
            let before = cpu_s();
            barrier.wait();
            let took = cpu_s() - before;
            assert!(took < 0.1, "{took} s of the CPU");
        });
    }
}
