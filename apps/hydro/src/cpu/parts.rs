//! Parallel work in parts that do not depend on the number of threads, so that sums are reproducible.

use greenup_device::SpinBarrier;
use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::Range;
use std::time::Duration;

/// Length of a part.
pub const BLOCK: usize = 4096;

/// The parts of a vector, with their indices.
pub fn blocks(x: &mut [f64]) -> impl IndexedParallelIterator<Item = (usize, &mut [f64])> {
    x.par_chunks_mut(BLOCK).enumerate()
}

/// A vector that several threads write, each in disjoint parts.
#[derive(Clone, Copy)]
pub struct Shared(*mut f64);

// SAFETY: whoever writes through it writes parts that no other thread touches; see `at`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Shares a vector; it must outlive all uses.
    pub fn new(x: &mut [f64]) -> Self {
        Self(x.as_mut_ptr())
    }

    /// Pointer to element `i`; the caller must stay within the vector and within its own part.
    pub fn at(self, i: usize) -> *mut f64 {
        self.0.wrapping_add(i)
    }

    /// A part to write.
    ///
    /// # Safety
    /// The range is within the vector, which is alive, and no other thread touches it meanwhile.
    pub unsafe fn part<'a>(self, range: Range<usize>) -> &'a mut [f64] {
        // SAFETY: as the caller says.
        unsafe { std::slice::from_raw_parts_mut(self.at(range.start), range.len()) }
    }

    /// A part to read.
    ///
    /// # Safety
    /// The range is within the vector, which is alive, and no thread writes it meanwhile.
    pub unsafe fn read<'a>(self, range: Range<usize>) -> &'a [f64] {
        // SAFETY: as the caller says.
        unsafe { std::slice::from_raw_parts(self.at(range.start), range.len()) }
    }
}

thread_local! {
    static SCRATCH: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with `n` numbers of scratch memory of the thread, with arbitrary contents.
pub fn with_scratch<T>(n: usize, f: impl FnOnce(&mut [f64]) -> T) -> T {
    SCRATCH.with_borrow_mut(|s| {
        if s.len() < n {
            s.resize(n, 0.0);
        }
        f(&mut s[..n])
    })
}

/// How long threads spin before they park: longer than the imbalance between the parts of a solve, and than the time to
/// wake a thread.
const PATIENCE: Duration = Duration::from_micros(60);

/// One thread of a parallel region, with its parts of the work.
pub struct Member<'a> {
    rank: usize,
    size: usize,
    barrier: &'a SpinBarrier,
}

impl Member<'_> {
    /// The range of parts of this thread.
    pub fn share(&self, parts: usize) -> Range<usize> {
        self.share_of(0..parts)
    }

    /// The same of a range of parts.
    pub fn share_of(&self, parts: Range<usize>) -> Range<usize> {
        let at = |rank: usize| parts.start + rank * parts.len() / self.size;
        at(self.rank)..at(self.rank + 1)
    }

    /// Whether this is the member that acts for all.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Waits until all threads of the region arrive.
    pub fn wait(&self) {
        if self.size > 1 {
            self.barrier.wait();
        }
    }
}

/// A parallel region: calls `f` on all threads of the pool, or only on this one.
pub fn together(alone: bool, f: impl Fn(&Member) + Sync) {
    let size = if alone || rayon::current_thread_index().is_none() {
        1
    } else {
        rayon::current_num_threads()
    };
    let barrier = SpinBarrier::new(size, PATIENCE);
    let run = |rank| {
        f(&Member {
            rank,
            size,
            barrier: &barrier,
        });
    };
    if size == 1 {
        run(0);
    } else {
        rayon::broadcast(|context| run(context.index()));
    }
}
