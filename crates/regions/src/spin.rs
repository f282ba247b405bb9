//! A lock that is held for well under a microsecond and is nearly always free.
//!
//! It has no owner that a fork could lose, needs no system call, and costs a few nanoseconds where nobody waits.

use crate::quiet::NoCancel;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// How long a lock is waited for that may never come free.
const SOON: Duration = Duration::from_millis(200);

/// Tries again until `limit` has passed.
fn within<G>(limit: Duration, mut attempt: impl FnMut() -> Option<G>) -> Option<G> {
    if let Some(guard) = (0..1000).find_map(|_| attempt()) {
        return Some(guard);
    }
    let _whole = NoCancel::new();
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(guard) = attempt() {
            return Some(guard);
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    None
}

/// A mutex, if it comes free soon.
pub fn lock_soon<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    lock_within(mutex, SOON)
}

/// A mutex, if it comes free within a time.
pub fn lock_within<T>(mutex: &Mutex<T>, limit: Duration) -> Option<MutexGuard<'_, T>> {
    within(limit, || match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(p)) => Some(p.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    })
}

pub struct Spin<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: one guard exists at a time, so the value is used by one thread at a time.
unsafe impl<T: Send> Sync for Spin<T> {}

impl<T> Spin<T> {
    pub const fn new(value: T) -> Self {
        Self {
            held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    #[inline]
    pub fn lock(&self) -> SpinGuard<'_, T> {
        let mut tries = 0u32;
        while self
            .held
            .compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            tries += 1;
            if tries < 100 {
                std::hint::spin_loop();
            } else {
                // The other may wait for this core.
                std::thread::yield_now();
            }
        }
        SpinGuard { of: self }
    }

    /// The lock, if it comes free soon. After a fork its holder may not exist any more, and in a process that exits by a
    /// signal handler it may be the caller itself.
    pub fn lock_soon(&self) -> Option<SpinGuard<'_, T>> {
        within(SOON, || {
            self.held
                .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
                // A guard that is made and dropped would free the lock of another.
                .then(|| SpinGuard { of: self })
        })
    }
}

pub struct SpinGuard<'a, T> {
    of: &'a Spin<T>,
}

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one.
        unsafe { &*self.of.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one.
        unsafe { &mut *self.of.value.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    fn drop(&mut self) {
        self.of.held.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time() {
        let lock = Spin::new((0u64, 0u64));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..200_000 {
                        let mut pair = lock.lock();
                        pair.0 += 1;
                        pair.1 += 1;
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..20_000 {
                    let mut pair = lock.lock_soon().unwrap();
                    assert_eq!(pair.0, pair.1);
                    *pair = (pair.0 + 1, pair.1 + 1);
                }
            });
        });
        assert_eq!(*lock.lock(), (420_000, 420_000));
        let _held = lock.lock();
        assert!(lock.lock_soon().is_none());
        assert!(lock.lock_soon().is_none());
    }
}
