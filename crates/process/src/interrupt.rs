//! Ctrl-C, TERM and HUP. The first asks the command to stop, so that it keeps what was measured; a command that has not
//! ended two seconds later, or is asked again, is ended.

use crate::request::REQUESTED;
pub use crate::request::{flag, requested};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Exit code of a command that was interrupted.
pub const CODE: u8 = 130;

/// Time to stop in.
const GRACE: Duration = Duration::from_millis(1700);
/// Time in which a file under way must be complete.
const SAVING: Duration = Duration::from_secs(60);

static SAVES: AtomicUsize = AtomicUsize::new(0);

/// Takes over the signals, but those that were already ignored at the start (`nohup`). Call it first in
/// `main`.
pub fn install() {
    failures();
    let ignored = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].map(|s| (s, is_ignored(s)));
    // Without a handler a signal ends the program, which is still right.
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            end();
        }
        crate::group::interrupted();
        // Without a thread for it, a second signal is not seen before the time is over.
        if std::thread::Builder::new().spawn(watch).is_err() {
            watch();
        }
    });
    for (signal, _) in ignored.into_iter().filter(|(_, ignored)| *ignored) {
        // SAFETY: sets a disposition; no handler of ours runs by it.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// A file that may not grow is an error of the write, and the end by a failed allocation has a message and a code of its
/// own. Programs that are started have the usual meaning again.
fn failures() {
    extern "C" fn nothing(_: libc::c_int) {}
    extern "C" fn aborted(_: libc::c_int) {
        const WHY: &[u8] = b"error: the program ended where it could not go on; if a line above is of a memory allocation, it \
            needs more memory than there is\n\nhint: use a smaller problem or fewer threads, or raise the limit (ulimit -v)\n";
        // SAFETY: both calls may be made in a handler, and the text is whole.
        unsafe {
            libc::write(libc::STDERR_FILENO, WHY.as_ptr().cast(), WHY.len());
            libc::_exit(1);
        }
    }
    for (signal, handler) in [
        (libc::SIGXFSZ, nothing as extern "C" fn(libc::c_int)),
        (libc::SIGABRT, aborted),
    ] {
        // SAFETY: sets a disposition; the handlers call only what may be called in one.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: all zeros is a sigaction; the call only writes what is there now into it.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0
            && now.sa_sigaction == libc::SIG_IGN
    }
}

/// While it lives, what was computed is being saved: the command is given a minute, not two seconds.
#[must_use]
#[derive(Debug)]
pub struct Saving(());

/// Starts to save.
pub fn saving() -> Saving {
    SAVES.fetch_add(1, Ordering::SeqCst);
    Saving(())
}

impl Drop for Saving {
    fn drop(&mut self) {
        SAVES.fetch_sub(1, Ordering::SeqCst);
    }
}

fn watch() {
    let asked = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(20));
        let saving = SAVES.load(Ordering::SeqCst) > 0;
        let limit = if saving { SAVING } else { GRACE };
        if asked.elapsed() > limit {
            end();
        }
    }
}

fn end() -> ! {
    crate::group::kill_all();
    greenup_files::atomic::remove_unfinished();
    std::process::exit(i32::from(CODE));
}
