//! A lock that is held for well under a microsecond and is nearly always free.
//!
//! It has no owner that a fork could lose, needs no system call, and costs a few nanoseconds where nobody waits.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

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
        SpinGuard(self)
    }
}

impl<T> Spin<T> {
    /// The lock, if it comes free soon: after a fork its holder may not exist any more.
    pub fn try_lock(&self) -> Option<SpinGuard<'_, T>> {
        (0..1000).find_map(|_| {
            std::hint::spin_loop();
            self.held
                .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
                .then_some(SpinGuard(self))
        })
    }
}

pub struct SpinGuard<'a, T>(&'a Spin<T>);

impl<T> Deref for SpinGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for SpinGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for SpinGuard<'_, T> {
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::Release);
    }
}
