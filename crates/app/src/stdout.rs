//! Data on standard output. A reader that left (`greenup machines | head`) is no error; any other failure ends the
//! command with a message and an exit code.

use std::io::{ErrorKind, Write as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by the first failure, also that of a reader that left.
static LOST: AtomicBool = AtomicBool::new(false);
/// The first failure that is an error.
static FAILED: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// Set for all processes of a run but the first.
static MUTED: AtomicBool = AtomicBool::new(false);

/// Writes nothing from now on, as another process of the run does.
pub fn mute() {
    MUTED.store(true, Ordering::Relaxed);
}

/// Data did not reach standard output.
#[derive(Debug, thiserror::Error)]
#[error("standard output cannot be written: {0}")]
pub struct StdoutError(#[from] std::io::Error);

/// Writes a line.
pub fn line(text: impl AsRef<str>) {
    if MUTED.load(Ordering::Relaxed) {
        return;
    }
    let mut out = std::io::stdout().lock();
    // One write a line where it fits: several processes may share the output.
    let text = crate::printable::printable(text.as_ref());
    keep(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// Writes bytes.
pub fn bytes(data: &[u8]) {
    if MUTED.load(Ordering::Relaxed) {
        return;
    }
    let mut out = std::io::stdout().lock();
    keep(out.write_all(data).and_then(|()| out.flush()));
}

/// Standard output as a writer, for data that is streamed: a failure shows in [`finish`], and what follows it is dropped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Writer;

impl std::io::Write for Writer {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        bytes(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether nobody gets what is still written: a long stream may end.
pub fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

fn keep(written: std::io::Result<()>) {
    if written.is_err() {
        LOST.store(true, Ordering::Relaxed);
    }
    if let Err(e) = written
        && e.kind() != ErrorKind::BrokenPipe
        && let Ok(mut failed) = FAILED.lock()
    {
        failed.get_or_insert(e);
    }
}

/// Whether all data reached standard output; call it last in `main`.
///
/// # Errors
/// What went wrong first.
pub fn finish() -> Result<(), StdoutError> {
    keep(std::io::stdout().flush());
    match FAILED.lock().ok().and_then(|mut f| f.take()) {
        Some(e) => Err(StdoutError(e)),
        None => Ok(()),
    }
}
