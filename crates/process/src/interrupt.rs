//! Ctrl-C, TERM and HUP. The first asks the command to stop, so that it keeps what was measured; a command that has not
//! ended two seconds later, or is asked again, is ended.

use crate::request::REQUESTED;
pub use crate::request::{flag, requested};
use std::io::Read as _;
use std::os::fd::FromRawFd as _;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
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
    let parent = named_parent();
    failures();
    let ignored = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].map(|s| (s, is_ignored(s)));
    // Without a handler a signal ends the program, which is still right.
    let _ = on_signals(ignored.iter().filter(|(_, i)| !i).map(|(s, _)| *s), || {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            end();
        }
        crate::group::interrupted();
        // Without a thread for it, a second signal is not seen before the time is over.
        if std::thread::Builder::new().spawn(watch).is_err() {
            watch();
        }
    });
    if let Some(parent) = parent {
        end_with(parent);
    }
}

/// The process for which this program works, `GREENUP_PARENT`: its number, and where numbers may differ the link of its namespace
/// of processes. It is meant for this program alone: elsewhere, such as on another host, nobody has this number.
fn named_parent() -> Option<libc::pid_t> {
    let given = std::env::var("GREENUP_PARENT").ok()?;
    // SAFETY: no thread is there yet that reads the environment.
    unsafe { std::env::remove_var("GREENUP_PARENT") };
    // In a container numbers of processes are others: the name of theirs comes along.
    let (number, space) = given.split_once(' ').unwrap_or((&given, ""));
    let own = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    (space.is_empty() || own.to_string_lossy() == space)
        .then(|| number.parse().ok())
        .flatten()
}

/// Ends this program when another one is killed: also one that was before this program came so far.
fn end_with(parent: libc::pid_t) {
    // A program in between may have started this one: it has another parent then.
    // SAFETY: the call has no conditions.
    let lives = move || unsafe { libc::getppid() } == parent || is_running(parent);
    let _ = std::thread::Builder::new()
        .name("parent".into())
        .spawn(move || {
            while lives() {
                std::thread::sleep(Duration::from_millis(200));
            }
            // SAFETY: a signal to this process.
            unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
        });
}

/// A process that is there and has not ended: one that has may wait for who asks for its status.
fn is_running(process: libc::pid_t) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
        !state.starts_with(['Z', 'X'])
    })
}

/// End of the pipe into which the handler writes a byte for each signal.
static SIGNALLED: AtomicI32 = AtomicI32::new(-1);

/// Calls `act` in a thread of its own for each signal: in a handler itself hardly anything may be done.
fn on_signals(
    signals: impl Iterator<Item = libc::c_int>,
    act: impl Fn() + Send + 'static,
) -> std::io::Result<()> {
    extern "C" fn tell(_: libc::c_int) {
        let pipe = SIGNALLED.load(Ordering::Relaxed);
        // SAFETY: `write` may be called in a handler; the byte is valid. What it sets `errno` to is set back, since the
        // interrupted code may be about to read it. A full pipe has signals enough.
        unsafe {
            let errno = libc::__errno_location();
            let before = *errno;
            libc::write(pipe, [0u8].as_ptr().cast(), 1);
            *errno = before;
        }
    }
    let mut ends = [0; 2];
    // SAFETY: the call fills both ends.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    let [read, write] = ends;
    // SAFETY: the descriptor is open and nobody else has it. A handler must not wait.
    let mut read = unsafe {
        libc::fcntl(write, libc::F_SETFL, libc::O_NONBLOCK);
        std::fs::File::from_raw_fd(read)
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            while read.read_exact(&mut [0]).is_ok() {
                act();
            }
        })?;
    SIGNALLED.store(write, Ordering::SeqCst);
    for signal in signals {
        // SAFETY: all zeros is a sigaction without masked signals; the handler does what a handler may.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = tell as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
    Ok(())
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
