//! Buffers for kernels, on huge pages so that page walks do not distort measured memory times.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::slice;

const HUGE_PAGE: usize = 2 << 20;
const LINE: usize = 64;

/// Plain values.
///
/// # Safety
/// Any bit pattern is valid, and there is no padding.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

// SAFETY: numbers of the machine.
unsafe impl Plain for f64 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for u128 {}

/// Plain values as bytes, in the byte order of the host.
pub fn bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: plain values have no padding.
    unsafe { slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Plain values as bytes to be written.
pub fn bytes_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: plain values have no padding, and any bit pattern is valid.
    unsafe { slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// A fixed number of elements, aligned to cache lines or, if large, to huge pages.
pub struct Buffer<T: Plain> {
    ptr: *mut T,
    len: usize,
    layout: Layout,
}

// SAFETY: the buffer owns its memory, and T is plain data.
unsafe impl<T: Plain> Send for Buffer<T> {}
// SAFETY: shared access only reads.
unsafe impl<T: Plain> Sync for Buffer<T> {}

impl<T: Plain> Buffer<T> {
    /// A buffer whose element i is `value(i)`.
    pub fn from_fn(len: usize, mut value: impl FnMut(usize) -> T) -> Self {
        // SAFETY: written below, before it can be read.
        let new = unsafe { Self::unwritten(len) };
        for i in 0..len {
            // SAFETY: i is below len, within the allocation.
            unsafe { new.ptr.add(i).write(value(i)) };
        }
        new
    }

    /// The same while `go` says so, which is asked now and then; `None` once it does not.
    pub fn from_fn_while(
        len: usize,
        go: &dyn Fn() -> bool,
        mut value: impl FnMut(usize) -> T,
    ) -> Option<Self> {
        // SAFETY: written below, before it can be read.
        let new = unsafe { Self::unwritten(len) };
        for begin in (0..len).step_by(1 << 16) {
            if !go() {
                return None;
            }
            for i in begin..len.min(begin + (1 << 16)) {
                // SAFETY: i is below len, within the allocation.
                unsafe { new.ptr.add(i).write(value(i)) };
            }
        }
        Some(new)
    }

    /// An uninitialised buffer: each thread first touches the part that it uses, for NUMA placement.
    ///
    /// # Safety
    /// Nothing is read before it was written.
    pub unsafe fn unwritten(len: usize) -> Self {
        // Beyond the address space the layout is refused below.
        let bytes = len.saturating_mul(size_of::<T>()).max(LINE);
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { LINE };
        let Ok(layout) = Layout::from_size_align(bytes, align) else {
            panic!("a buffer of {bytes} bytes is beyond the address space");
        };
        // SAFETY: the layout has a size above 0.
        let ptr = unsafe { alloc(layout) }.cast::<T>();
        if ptr.is_null() {
            handle_alloc_error(layout);
        }
        #[cfg(target_os = "linux")]
        if align == HUGE_PAGE {
            // SAFETY: the range is this allocation; the call is advice only.
            unsafe { libc::madvise(ptr.cast(), bytes, libc::MADV_HUGEPAGE) };
        }
        Self { ptr, len, layout }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All elements.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: all elements were written by `from_fn`.
        unsafe { slice::from_raw_parts(self.ptr, self.len) }
    }

    /// Address of the first element.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr
    }

    /// All elements, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: all elements were written by `from_fn`, and access is exclusive.
        unsafe { slice::from_raw_parts_mut(self.ptr, self.len) }
    }
}

impl<T: Plain> Drop for Buffer<T> {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and freed once.
        unsafe { dealloc(self.ptr.cast(), self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::Buffer;

    #[test]
    fn elements_and_alignment() {
        let b = Buffer::from_fn(1 << 19, |i| i as f64);
        assert_eq!(b.as_slice()[12345], 12345.0);
        assert_eq!(b.as_slice().as_ptr() as usize % (2 << 20), 0);
        assert!(Buffer::<f32>::from_fn(0, |_| 0.0).as_slice().is_empty());
    }

    #[test]
    #[should_panic(expected = "beyond the address space")]
    fn a_length_that_overflows_is_refused() {
        let _ = Buffer::<u64>::from_fn((1 << 61) + 1, |_| 0);
    }
}
