//! Pinned threads that start and stop together.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Time that threads spin before they park: longer than passes on dedicated cores differ.
const PATIENCE: Duration = Duration::from_millis(10);

/// A set of logical CPUs, one thread each.
#[derive(Clone, Debug)]
pub struct Team {
    cpus: Vec<usize>,
}

/// Passes of one timed run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passes {
    /// Wall time of each pass, from the first thread's start to the last one's end, s.
    pub seconds: Vec<f64>,
    /// Time in each pass that a thread had no core, or waited for its start while others ran, s: the most of any thread.
    /// 0 where the system has no clock of a thread's own time.
    pub lost_s: Vec<f64>,
    /// Wall time of the whole run, s.
    pub total_s: f64,
}

/// Share of a pass that may be lost to other programs: more, and the pass says nothing of the machine.
pub const LOST: f64 = 0.02;

impl Passes {
    /// Whether nothing took a core away during pass `i`.
    pub fn undisturbed(&self, i: usize) -> bool {
        self.lost_s
            .get(i)
            .is_none_or(|lost| *lost <= LOST * self.seconds[i])
    }

    /// Times of the undisturbed passes, s.
    pub fn clean_s(&self) -> Vec<f64> {
        (0..self.seconds.len())
            .filter(|&i| self.undisturbed(i))
            .map(|i| self.seconds[i])
            .collect()
    }

    /// Adds the passes of another run of the same work.
    pub fn extend(&mut self, more: Self) {
        self.seconds.extend(more.seconds);
        self.lost_s.extend(more.lost_s);
        self.total_s += more.total_s;
    }
}

/// What one thread did in a pass, ns since the run's start: begin, end, time on a core.
#[derive(Default)]
struct Turn {
    begin: AtomicU64,
    end: AtomicU64,
    on_core: AtomicU64,
}

/// Wall time of a pass and the most that a thread lost in it, s. All threads have done it.
fn pass_of(turns: &[Turn]) -> (f64, f64) {
    let of = |x: &AtomicU64| x.load(Ordering::Relaxed);
    let first = turns.iter().map(|t| of(&t.begin)).min().unwrap_or(0);
    let last = turns.iter().map(|t| of(&t.end)).max().unwrap_or(0);
    let lost = turns.iter().map(|t| {
        let since = of(&t.end).saturating_sub(first);
        since.saturating_sub(of(&t.on_core))
    });
    let s = |ns: u64| 1e-9 * ns as f64;
    (s(last.saturating_sub(first)), s(lost.max().unwrap_or(0)))
}

/// Time that this thread has had a core, ns; `None` where the system does not tell.
pub fn on_core_ns() -> Option<u64> {
    #[cfg(unix)]
    {
        let mut t = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `t` is valid for writes.
        let known = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t) } == 0;
        known.then_some(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
    }
    #[cfg(not(unix))]
    None
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
        let turns: Vec<Turn> = (0..n).map(|_| Turn::default()).collect();
        let epoch = Instant::now();
        let ns = || epoch.elapsed().as_nanos() as u64;
        let member = |rank: usize| {
            if let Some(&cpu) = self.cpus.get(rank) {
                // Without permission it stays unpinned.
                let _ = crate::affinity::pin(cpu);
            }
            let mut state = setup(rank);
            let (mut seconds, mut lost_s) = (Vec::new(), Vec::new());
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
                let before = on_core_ns();
                let begin = ns();
                pass(&mut state);
                let end = ns();
                let on_core = before.zip(on_core_ns()).map(|(b, a)| a - b);
                let turn = &turns[rank];
                // The barrier orders these and the reads of the first thread, which arrives at the next one after them.
                turn.begin.store(begin, Ordering::Relaxed);
                turn.end.store(end, Ordering::Relaxed);
                turn.on_core
                    .store(on_core.unwrap_or(u64::MAX), Ordering::Relaxed);
                barrier.wait();
                if rank == 0 {
                    let (wall, lost) = pass_of(&turns);
                    seconds.push(wall);
                    lost_s.push(lost);
                }
            }
            Passes {
                seconds,
                lost_s,
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
        assert_eq!((passes.seconds.len(), passes.lost_s.len()), (5, 5));
        assert_eq!(count.into_inner(), 15);
    }

    #[test]
    fn a_pass_without_a_core_or_with_a_late_start_is_disturbed() {
        let turn = |begin: u64, end: u64, on_core: u64| Turn {
            begin: begin.into(),
            end: end.into(),
            on_core: on_core.into(),
        };
        let of = |turns: &[Turn]| {
            let (wall, lost) = pass_of(turns);
            let passes = Passes {
                seconds: vec![wall],
                lost_s: vec![lost],
                total_s: wall,
            };
            (wall, lost, passes.undisturbed(0))
        };
        // Both threads had their cores: the second needed a tenth longer.
        let (wall, lost, clean) = of(&[
            turn(0, 1_000_000, 999_000),
            turn(1000, 1_100_000, 1_098_000),
        ]);
        assert!((wall - 1.1e-3).abs() < 1e-12 && lost < 3e-6 && clean);
        // One lost its core for a while.
        assert!(!of(&[turn(0, 1_000_000, 1_000_000), turn(0, 1_500_000, 1_000_000)]).2);
        // One began when the other was done: they never ran at the same time.
        assert!(
            !of(&[
                turn(0, 1_000_000, 1_000_000),
                turn(1_000_000, 2_000_000, 1_000_000)
            ])
            .2
        );
        // No clock of a thread's own time.
        assert!(of(&[turn(0, 1_000_000, u64::MAX)]).2);
        let none = Passes {
            seconds: vec![1.0, 2.0],
            ..Passes::default()
        };
        assert_eq!(none.clean_s(), [1.0, 2.0]);
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
