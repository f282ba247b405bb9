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

#[cfg(test)]
mod throwaway {
    use super::*;
    #[test]
    #[ignore = "THROWAWAY fuzz"]
    fn fuzz_messages() {
        let mut rng = fastrand::Rng::with_seed(9);
        let nonce = "0123456789abcdef0123456789abcdef";
        let valid = [
            r#""Ready""#,
            r#""Done""#,
            r#"{"Measured":{"times_s":[1.0,-1],"energy_j":null,"time_error":0.0,"flags":["a"],"state":{"x":1},"baseline_s":[],"baseline_j":null}}"#,
            r#"{"Failed":{"failure":"wrong","message":"m"}}"#,
            r#"{"Interleaved":{"times_s":[[1.0]],"energies_j":[[]]}}"#,
            r#"{"Verified":{"error":0.0,"seconds":1e400}}"#,
            r#"{"Introduced":{"version":"1","gpus":[]}}"#,
        ];
        let (mut n, mut got) = (0, 0);
        while n < 400_000 {
            let mut bytes = Vec::new();
            for _ in 0..50 {
                n += 1;
                let mut line =
                    format!("\n{nonce} {}\n", valid[rng.usize(0..valid.len())]).into_bytes();
                for _ in 0..rng.usize(0..4) {
                    let at = rng.usize(0..line.len());
                    match rng.u8(0..3) {
                        0 => line[at] = rng.u8(..),
                        1 => {
                            line.remove(at);
                        }
                        _ => line.insert(at, rng.u8(..)),
                    }
                }
                bytes.extend(line);
            }
            let (tx, rx) = mpsc::sync_channel(10_000);
            answers(
                &bytes[..],
                &Mutex::new(nonce.into()),
                &Mutex::new(Skipped::default()),
                &tx,
            );
            drop(tx);
            for m in rx {
                got += 1;
                if let Message::Measured {
                    times_s, energy_j, ..
                } = m
                {
                    let _ = (times_s.len(), energy_j);
                }
            }
        }
        println!("{n} lines, {got} messages");
    }
}
