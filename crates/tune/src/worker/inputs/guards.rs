//! Reports out-of-bounds accesses of kernels: a SIGSEGV handler names the array before the process ends.

use super::arguments::Arguments;
use crate::sweep::Failure;
use crate::worker::channel::Secret;
use crate::worker::protocol::Message;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// An array, and the messages for each kind of access outside of it.
struct Entry {
    /// First and last address of the whole, and of the array.
    whole: [usize; 2],
    array: [usize; 2],
    /// [read, written][before, behind]: the message up to the number and from there on.
    messages: [[(Vec<u8>, Vec<u8>); 2]; 2],
}

/// What the handler needs. It is never freed, as another thread may be in the handler.
struct Table {
    entries: Vec<Entry>,
    secret: &'static Secret,
    descriptor: c_int,
}

static TABLE: AtomicPtr<Table> = AtomicPtr::new(null_mut());
/// Whether a thread is in the handler already.
static CAUGHT: AtomicBool = AtomicBool::new(false);

/// A number that no name holds, to be replaced by the true one.
const MARK: &str = "18446744073709551557";

fn messages(name: &str) -> [[(Vec<u8>, Vec<u8>); 2]; 2] {
    let one = |written: bool, place: &str| {
        let (failure, verb) = if written {
            (Failure::Wrong, "wrote")
        } else {
            (Failure::Crash, "read")
        };
        let message = format!("it {verb} outside of `{name}`: {MARK} bytes {place}");
        let line = serde_json::to_string(&Message::Failed { failure, message }).unwrap_or_default();
        let (a, b) = line.split_once(MARK).unwrap_or_default();
        (a.as_bytes().to_vec(), b.as_bytes().to_vec())
    };
    [false, true]
        .map(|written| ["before its start", "behind its end"].map(|place| one(written, place)))
}

/// From now on an access outside of these arrays is reported to the descriptor before it ends the process.
pub(crate) fn watch(arguments: &Arguments, secret: &'static Secret, descriptor: c_int) {
    let entries = arguments
        .blocks()
        .map(|(name, block)| {
            let [first, start, end, last] = block.addresses();
            Entry {
                whole: [first, last],
                array: [start, end],
                messages: messages(name),
            }
        })
        .collect();
    let table = Box::leak(Box::new(Table {
        entries,
        secret,
        descriptor,
    }));
    if TABLE.swap(table, Ordering::AcqRel).is_null() {
        install();
    }
}

fn install() {
    // SAFETY: the handler has the signature that SA_SIGINFO asks for and only does what a handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGSEGV, &raw const action, null_mut());
    }
}

/// Whether the access was a write.
fn written(context: *mut c_void) -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        // SAFETY: the system gives the handler a valid context.
        let error = unsafe {
            (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_ERR as usize]
        };
        error & 2 != 0
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        // Unknown here; writes are the usual case.
        let _ = context;
        true
    }
}

/// Reports the access, and lets it end the process.
extern "C" fn handler(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if CAUGHT.swap(true, Ordering::AcqRel) {
        // Another thread is reporting; the process ends when it has.
        loop {
            // SAFETY: only waits.
            unsafe { libc::pause() };
        }
    }
    // SAFETY: the system gives the handler a valid siginfo, of a signal that has an address.
    report(unsafe { (*info).si_addr() } as usize, written(context));
    // SAFETY: the usual action: on return the access happens again and ends the process.
    unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
}

/// Says where the access was, if it was outside of an array. Nothing here allocates or waits.
fn report(at: usize, written: bool) {
    // SAFETY: null, or a table that is never freed.
    let Some(table) = (unsafe { TABLE.load(Ordering::Acquire).as_ref() }) else {
        return;
    };
    let Some(e) = table
        .entries
        .iter()
        .find(|e| (e.whole[0]..e.whole[1]).contains(&at))
    else {
        return;
    };
    let (behind, bytes) = if at < e.array[0] {
        (0, e.array[0] - at)
    } else {
        (1, (at + 1).saturating_sub(e.array[1]))
    };
    let (head, tail) = &e.messages[usize::from(written)][behind];
    let mut line = [0_u8; 1024];
    let mut n = 0;
    let mut put = |bytes: &[u8]| {
        let room = bytes.len().min(line.len() - n);
        line[n..n + room].copy_from_slice(&bytes[..room]);
        n += room;
    };
    put(b"\n");
    table.secret.with(&mut |nonce| put(nonce));
    put(b" ");
    put(head);
    let mut digits = [0_u8; 20];
    let mut left = bytes;
    let mut first = digits.len();
    while first > 0 && (left > 0 || first == digits.len()) {
        first -= 1;
        digits[first] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    put(&digits[first..]);
    put(tail);
    put(b"\n");
    // SAFETY: the buffer is valid for reads of `n` bytes; a closed descriptor is an error that nobody needs.
    unsafe { libc::write(table.descriptor, line.as_ptr().cast(), n) };
}
