//! Data on standard output. A reader that left (`greenup machines | head`) is no error; any other failure ends the
//! command with a message and an exit code.

use std::io::{ErrorKind, Write as _};
use std::sync::Mutex;

/// The first failure.
static FAILED: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// Writes a line.
pub fn line(text: impl AsRef<str>) {
    let mut out = std::io::stdout().lock();
    // One write a line where it fits: several processes may share the output.
    let text = text.as_ref();
    keep(writeln!(out, "{text}").and_then(|()| out.flush()));
}

/// Writes bytes.
pub fn bytes(data: &[u8]) {
    let mut out = std::io::stdout().lock();
    keep(out.write_all(data).and_then(|()| out.flush()));
}

fn keep(written: std::io::Result<()>) {
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
pub fn finish() -> Result<(), String> {
    keep(std::io::stdout().flush());
    match FAILED.lock().ok().and_then(|mut f| f.take()) {
        Some(e) => Err(format!("standard output cannot be written: {e}")),
        None => Ok(()),
    }
}
