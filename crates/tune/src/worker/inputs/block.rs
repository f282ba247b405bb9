//! Memory of one array between canary bytes and guard pages.

use std::ffi::c_void;

/// Smallest length of the canary before and after an array, bytes.
pub const CANARY: usize = 64 << 10;
const PATTERN: u8 = 0xa5;
/// Length of the guard pages before and after the canaries, bytes.
const GUARD: usize = 1 << 20;
/// Size of a huge page, where the system has them, bytes.
pub(super) const HUGE: usize = 2 << 20;
pub(super) const PAGE: usize = 4096;
/// A cache line; vectors of every width are aligned to it.
const LINE: usize = 64;

/// Position of an array in its mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One small page after the start of a huge one, canaries on both sides.
    Usual,
    /// Its end within 64 bytes of a guard page, its start at a cache line.
    AtEnd,
}

/// Where memory outside of an array was overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfBounds {
    /// Number of bytes before the start.
    Before(usize),
    /// Number of bytes behind the end.
    Behind(usize),
}

impl std::fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Before(n) => write!(f, "{n} bytes before its start"),
            Self::Behind(n) => write!(f, "{n} bytes behind its end"),
        }
    }
}

/// An array in memory of its own.
pub struct Block {
    /// The whole mapping, guard pages included.
    map: *mut u8,
    mapped: usize,
    /// The accessible range, relative to `map`.
    open: usize,
    opened: usize,
    /// The array, relative to `map`.
    start: usize,
    bytes: usize,
}

fn up(n: usize, to: usize) -> usize {
    n.div_ceil(to) * to
}

impl Block {
    /// Memory of this length in bytes, all zero.
    ///
    /// # Errors
    /// The system cannot map or protect the memory.
    pub fn new(bytes: usize) -> std::io::Result<Self> {
        let none = || std::io::Error::from_raw_os_error(libc::ENOMEM);
        let before = up(GUARD + CANARY + HUGE, PAGE);
        let mapped = before
            .checked_add(bytes)
            .and_then(|n| n.checked_add(CANARY + GUARD + 2 * PAGE))
            .filter(|n| *n < isize::MAX as usize)
            .map(|n| up(n, PAGE))
            .ok_or_else(none)?;
        // SAFETY: a new mapping at an address of the system's choice touches nothing that exists.
        let map = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let at = map as usize;
        let start = up(at + GUARD + CANARY, HUGE) + PAGE - at;
        let open = start - CANARY;
        let opened = up(start + bytes + CANARY, PAGE) - open;
        let mut block = Self {
            map: map.cast(),
            mapped,
            open,
            opened,
            start,
            bytes,
        };
        block.protect(open, opened, libc::PROT_READ | libc::PROT_WRITE)?;
        #[cfg(target_os = "linux")]
        // SAFETY: the range is the mapping's own; advice changes no contents.
        unsafe {
            libc::madvise(map.byte_add(open), opened, libc::MADV_HUGEPAGE);
        }
        block.fill_canaries();
        Ok(block)
    }

    fn protect(&self, from: usize, bytes: usize, how: i32) -> std::io::Result<()> {
        // SAFETY: the range lies within the mapping, whose users hold `self`.
        match unsafe { libc::mprotect(self.map.add(from).cast::<c_void>(), bytes, how) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    /// Moves the array; its contents are unspecified afterwards.
    ///
    /// # Errors
    /// The system cannot map or protect the memory.
    pub fn lay(&mut self, layout: Layout) -> std::io::Result<()> {
        let usual = self.open + CANARY;
        let end = up(usual + self.bytes, PAGE);
        let all = up(usual + self.bytes + CANARY, PAGE);
        let (start, closed) = match layout {
            Layout::Usual => (usual, false),
            Layout::AtEnd => ((end - self.bytes) / LINE * LINE, true),
        };
        let how = if closed {
            libc::PROT_NONE
        } else {
            libc::PROT_READ | libc::PROT_WRITE
        };
        self.protect(end, all - end, how)?;
        self.start = start;
        self.opened = if closed { end } else { all } - self.open;
        self.fill_canaries();
        Ok(())
    }

    /// Address of the first element.
    pub fn start(&self) -> *mut u8 {
        // SAFETY: the start lies within the mapping.
        unsafe { self.map.add(self.start) }
    }

    pub fn contents(&self) -> &[u8] {
        // SAFETY: the bytes are the block's own, open and initialised.
        unsafe { std::slice::from_raw_parts(self.start(), self.bytes) }
    }

    pub fn contents_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `contents`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.bytes) }
    }

    /// Ranges of the canaries, relative to `map`: before and after the array.
    fn canaries(&self) -> [std::ops::Range<usize>; 2] {
        [
            self.open..self.start,
            self.start + self.bytes..self.open + self.opened,
        ]
    }

    fn fill_canaries(&mut self) {
        for r in self.canaries() {
            // SAFETY: both ranges are open and the block's own.
            unsafe { std::ptr::write_bytes(self.map.add(r.start), PATTERN, r.len()) };
        }
    }

    /// The overwritten canary byte that is nearest to the array.
    pub fn overwritten(&self) -> Option<OutOfBounds> {
        let [front, back] = self.canaries().map(|r| {
            // SAFETY: both ranges are open, initialised and the block's own.
            unsafe { std::slice::from_raw_parts(self.map.add(r.start), r.len()) }
        });
        overwritten(front, back)
    }

    /// First and last address of the mapping, and of the array.
    pub fn addresses(&self) -> [usize; 4] {
        let at = self.map as usize;
        let start = at + self.start;
        [at, start, start + self.bytes, at + self.mapped]
    }
}

/// The overwritten byte of the canaries that is nearest to the array.
pub fn overwritten(front: &[u8], back: &[u8]) -> Option<OutOfBounds> {
    let other = |b: &u8| *b != PATTERN;
    let behind = back
        .iter()
        .position(other)
        .map(|i| OutOfBounds::Behind(i + 1));
    behind.or_else(|| {
        let at = front.iter().rposition(other)?;
        Some(OutOfBounds::Before(front.len() - at))
    })
}

/// The bytes of a canary.
pub fn canary() -> Vec<u8> {
    vec![PATTERN; CANARY]
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; nobody has the memory any more.
        unsafe { libc::munmap(self.map.cast(), self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_aligned_and_the_memory_around_them_is_watched() {
        for bytes in [0, 1, 8, 8008, 4096, 65536, HUGE, 3 * HUGE + 24] {
            let mut b = Block::new(bytes).unwrap();
            assert_eq!(b.start() as usize % HUGE, PAGE, "{bytes}");
            for layout in [Layout::Usual, Layout::AtEnd, Layout::Usual] {
                b.lay(layout).unwrap();
                assert_eq!(b.start() as usize % LINE, 0, "{bytes}");
                b.contents_mut().fill(1);
                assert_eq!(b.overwritten(), None, "{bytes} {layout:?}");
                // SAFETY: in front of an array there is always a pattern of that length.
                unsafe { b.start().sub(4800).write(0) };
                assert_eq!(b.overwritten(), Some(OutOfBounds::Before(4800)));
            }
            // SAFETY: behind it likewise in the usual layout.
            unsafe { b.start().add(bytes + 4799).write(0) };
            assert_eq!(b.overwritten(), Some(OutOfBounds::Behind(4800)));
        }
    }

    #[test]
    fn the_end_is_next_to_a_page_that_nobody_may_touch() {
        for bytes in [8, 8008, 4096] {
            let mut b = Block::new(bytes).unwrap();
            b.lay(Layout::AtEnd).unwrap();
            let [_, _, end, _] = b.addresses();
            let next = up(end, LINE);
            assert_eq!(next % PAGE, 0);
            // Writing to a pipe reads the memory: a page that may not be read is an error there, not a signal.
            let readable = |at: usize| {
                let mut pipe = [0; 2];
                // SAFETY: the array holds two descriptors; the kernel checks the address itself.
                unsafe {
                    assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
                    let n = libc::write(pipe[1], at as *const c_void, 1);
                    libc::close(pipe[0]);
                    libc::close(pipe[1]);
                    n == 1
                }
            };
            assert!(readable(next - 1) && !readable(next), "{bytes}");
        }
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        assert!(Block::new(usize::MAX - 10).is_err());
        assert!(Block::new(1 << 60).is_err());
    }
}
