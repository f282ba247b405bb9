//! Signals held back while this library works in a thread of the program.

use std::ffi::c_int;
use std::mem::MaybeUninit;

/// While it lives, this thread handles no signal and cannot be cancelled (an unwinding through this library would abort the
/// program); threads started meanwhile never do. Signals of a full disk or a closed
/// pipe that the library itself caused are dropped, so that they do not end the program.
pub struct Quiet {
    before: libc::sigset_t,
    /// Those two that were not waiting before.
    own: libc::sigset_t,
    _cancel: NoCancel,
}

/// While it lives, this thread is not cancelled. Sleeping and writing are points at which it would be.
pub struct NoCancel(c_int);

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

/// `PTHREAD_CANCEL_DISABLE` of this system.
const DISABLE: c_int = if cfg!(target_os = "macos") { 0 } else { 1 };

impl NoCancel {
    pub fn new() -> Self {
        let mut old = 0;
        // SAFETY: the pointer is valid for writes.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut old) };
        Self(old)
    }
}

impl Drop for NoCancel {
    fn drop(&mut self) {
        // SAFETY: sets what was before.
        unsafe { pthread_setcancelstate(self.0, std::ptr::null_mut()) };
    }
}

impl Quiet {
    pub fn new() -> Self {
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        let mut own = MaybeUninit::uninit();
        let mut waiting = MaybeUninit::uninit();
        // SAFETY: each set is filled before it is used.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            // Faults of the program's own code must still end it.
            for signal in [
                libc::SIGSEGV,
                libc::SIGBUS,
                libc::SIGFPE,
                libc::SIGILL,
                libc::SIGABRT,
            ] {
                libc::sigdelset(all.as_mut_ptr(), signal);
            }
            libc::sigpending(waiting.as_mut_ptr());
            libc::sigemptyset(own.as_mut_ptr());
            for signal in [libc::SIGXFSZ, libc::SIGPIPE] {
                if libc::sigismember(waiting.as_ptr(), signal) == 0 {
                    libc::sigaddset(own.as_mut_ptr(), signal);
                }
            }
            libc::sigemptyset(before.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            Self {
                before: before.assume_init(),
                own: own.assume_init(),
                _cancel: NoCancel::new(),
            }
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: both sets were filled in `new`.
        unsafe {
            #[cfg(target_os = "linux")]
            while libc::sigtimedwait(&raw const self.own, std::ptr::null_mut(), &raw const now) > 0
            {
            }
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_signals_are_dropped() {
        // The runtime of tests ignores SIGPIPE; SIGXFSZ would end the process.
        let quiet = Quiet::new();
        // SAFETY: sends a signal to this thread.
        unsafe { libc::raise(libc::SIGXFSZ) };
        drop(quiet);
    }
}
