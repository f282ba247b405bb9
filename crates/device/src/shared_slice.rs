//! A slice of which threads write disjoint elements.

use std::marker::PhantomData;

/// A mutable slice shared between threads that use disjoint elements.
#[derive(Debug)]
pub struct SharedSlice<'a, T> {
    begin: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

impl<T> Clone for SharedSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedSlice<'_, T> {}

// SAFETY: users access disjoint elements, as each promises.
unsafe impl<T: Send> Send for SharedSlice<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    /// Shares a slice.
    pub fn new(slice: &'a mut [T]) -> Self {
        Self {
            begin: slice.as_mut_ptr(),
            len: slice.len(),
            slice: PhantomData,
        }
    }

    /// Shares memory at an address, whose elements need not be initialised.
    ///
    /// # Safety
    /// It holds `len` elements for the lifetime `'a`, and nothing else uses them meanwhile.
    pub unsafe fn from_raw(begin: *mut T, len: usize) -> Self {
        Self {
            begin,
            len,
            slice: PhantomData,
        }
    }

    /// The address of element `i`; `i` may be the length.
    ///
    /// # Safety
    /// `i` is at most the length, and no other thread uses the elements that are accessed through the address.
    pub unsafe fn at(&self, i: usize) -> *mut T {
        debug_assert!(i <= self.len);
        // SAFETY: the caller's promise.
        unsafe { self.begin.add(i) }
    }

    /// Elements from `i` on.
    ///
    /// # Safety
    /// They lie within the slice, and no other thread uses them.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn part(&self, i: usize, len: usize) -> &'a mut [T] {
        debug_assert!(i + len <= self.len);
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.begin.add(i), len) }
    }
}
