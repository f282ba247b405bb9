//! The tuner's ends of a worker's pipes.

use crate::sweep::Failure;
use crate::worker::protocol::Message;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::ChildStdin;
use std::sync::{Mutex, PoisonError, mpsc};

/// Bytes of an answer at most.
const LONGEST: usize = 4 << 20;
/// Answers that wait to be taken at most: a worker that sends more waits.
pub(super) const WAITING: usize = 16;

/// Passes on the lines that carry the number of the job under way; whatever else a kernel wrote there is left out.
pub(super) fn answers(
    pipe: impl Read,
    nonce: &Mutex<String>,
    skipped: &Mutex<Skipped>,
    tx: &mpsc::SyncSender<Message>,
) {
    let mut lines = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        let room = (LONGEST - line.len()) as u64;
        match lines.by_ref().take(room).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let own = {
            let nonce = nonce.lock().unwrap_or_else(PoisonError::into_inner);
            line.strip_prefix(nonce.as_bytes())
                .filter(|_| !nonce.is_empty())
                .and_then(|rest| rest.strip_prefix(b" "))
        };
        if let Some(own) = own {
            let message = serde_json::from_slice(own).unwrap_or_else(|e| Message::Failed {
                failure: Failure::Runtime,
                message: format!("the worker's answer cannot be read: {e}"),
            });
            if tx.send(message).is_err() {
                return;
            }
        } else if line != b"\n" {
            let mut skipped = skipped.lock().unwrap_or_else(PoisonError::into_inner);
            skipped.bytes += line.len();
            if skipped.first.is_empty() {
                let start = &line[..line.len().min(80)];
                String::from_utf8_lossy(start)
                    .trim()
                    .clone_into(&mut skipped.first);
            }
        }
        line.clear();
    }
}

/// Output of a worker that is no answer.
#[derive(Clone, Debug, Default)]
pub struct Skipped {
    /// Its length.
    pub bytes: usize,
    /// Begin of its first line.
    pub first: String,
}

/// Writes lines to a worker from a thread of its own: one that reads nothing must not stop the tuner.
pub(super) fn writer(mut stdin: ChildStdin) -> mpsc::Sender<Vec<u8>> {
    let (tx, lines) = mpsc::channel::<Vec<u8>>();
    std::thread::spawn(move || {
        for line in lines {
            // If the worker has died, its messages or its exit status give the reason.
            if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    tx
}
