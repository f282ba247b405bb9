//! Counters of Linux's `perf_event_open(2)`.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd, FromRawFd as _, RawFd};

/// Kinds of events, `perf_event_attr.type`.
pub const HARDWARE: u32 = 0;
/// Counted by the kernel.
pub const SOFTWARE: u32 = 1;
/// Numbers of the processor's maker.
pub const RAW: u32 = 4;

/// Events of [`HARDWARE`].
pub const CYCLES: u64 = 0;
/// Instructions retired.
pub const INSTRUCTIONS: u64 = 1;
/// Misses of the last cache.
pub const CACHE_MISSES: u64 = 3;
/// Events of [`SOFTWARE`].
pub const PAGE_FAULTS: u64 = 2;
/// Moves between cores.
pub const MIGRATIONS: u64 = 4;

/// Bits of `perf_event_attr`.
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// `read` gives the time enabled and the time running too.
const TIMES: u64 = 0b11;
/// A program that is started does not have the descriptor.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// The first version of `perf_event_attr`, which all kernels take.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample: u64,
    read: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    address: u64,
}

/// A counter, from its opening until it is dropped.
pub struct Counter(File);

/// What a counter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Events.
    pub value: u64,
    /// Time since the opening, ns.
    pub enabled_ns: u64,
    /// Time in which it was on a counter of the processor, ns.
    pub running_ns: u64,
}

impl Counter {
    /// Counts this thread, and what it starts from now on, outside of the kernel.
    ///
    /// # Errors
    /// The kernel's.
    pub fn of_this_thread(kind: u32, event: u64) -> io::Result<Self> {
        let flags = INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
        Self::open(kind, event, flags, (0, -1))
    }

    /// Counts everything that a core does.
    ///
    /// # Errors
    /// The kernel's.
    pub fn of_core(kind: u32, event: u64, core: usize) -> io::Result<Self> {
        let core = i32::try_from(core).map_err(io::Error::other)?;
        Self::open(kind, event, 0, (-1, core))
    }

    fn open(kind: u32, config: u64, flags: u64, (pid, core): (i32, i32)) -> io::Result<Self> {
        let attributes = Attributes {
            kind,
            size: size_of::<Attributes>() as u32,
            config,
            read: TIMES,
            flags,
            ..Attributes::default()
        };
        // SAFETY: the attributes have the size that they state, and live longer than the call.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                pid,
                core,
                -1,
                CLOSE_ON_EXEC,
            )
        };
        match RawFd::try_from(fd) {
            // SAFETY: the kernel has just given the descriptor, which nothing else owns.
            Ok(fd) if fd >= 0 => Ok(Self(unsafe { File::from_raw_fd(fd) })),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// What it has counted.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(&self) -> io::Result<Count> {
        let mut bytes = [0; 24];
        (&self.0).read_exact(&mut bytes)?;
        let word = |k: usize| {
            let mut w = [0; 8];
            w.copy_from_slice(&bytes[8 * k..8 * (k + 1)]);
            u64::from_ne_bytes(w)
        };
        Ok(Count {
            value: word(0),
            enabled_ns: word(1),
            running_ns: word(2),
        })
    }
}

impl AsRawFd for Counter {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_faults_of_this_thread_are_counted() {
        // Where the kernel refuses all counters there is nothing to count.
        let Ok(counter) = Counter::of_this_thread(SOFTWARE, PAGE_FAULTS) else {
            return;
        };
        let before = counter.read().unwrap();
        let fresh = vec![1u8; 1 << 22];
        assert_eq!(fresh.iter().map(|b| u64::from(*b)).sum::<u64>(), 1 << 22);
        let after = counter.read().unwrap();
        assert!(after.value > before.value && after.enabled_ns > before.enabled_ns);
        let e = Counter::of_this_thread(u32::MAX, 0).err().unwrap();
        assert!(e.raw_os_error().is_some());
    }
}
