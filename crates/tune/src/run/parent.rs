//! Starts children, watches the time, reads what they say.

use super::child::{Job, Said};
use crate::sweep::Failure;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How a child is started: the program and its arguments, which must lead to
/// [`super::child::serve`].
#[derive(Clone, Debug)]
pub struct Launcher {
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

/// What a job gave: all it said, or why it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub said: Vec<Said>,
    pub failure: Option<(Failure, String)>,
}

impl Launcher {
    /// Runs a job for `limit_s` seconds at most, asking now and then whether to stop; `None` when
    /// stopped.
    pub fn run(&self, job: &Job, limit_s: f64, cancelled: &dyn Fn() -> bool) -> Option<Answer> {
        let failed = |message: String| {
            Some(Answer {
                said: Vec::new(),
                failure: Some((Failure::Launch, message)),
            })
        };
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match child {
            Ok(c) => c,
            Err(e) => return failed(format!("no process can be started: {e}")),
        };
        if let Some(mut stdin) = child.stdin.take() {
            // A child that died has said why, or its status tells.
            let _ = serde_json::to_writer(&mut stdin, job);
            let _ = stdin.write_all(b"\n");
        }
        let (tx, rx) = mpsc::channel();
        let stdout = child.stdout.take();
        let reader = std::thread::spawn(move || {
            for line in stdout.into_iter().flat_map(|s| BufReader::new(s).lines()) {
                let Ok(line) = line else { break };
                if let Ok(said) = serde_json::from_str::<Said>(&line)
                    && tx.send(said).is_err()
                {
                    break;
                }
            }
        });
        let stderr = child.stderr.take();
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(s) = stderr {
                let _ = s.take(4096).read_to_end(&mut text);
            }
            String::from_utf8_lossy(&text).trim().to_owned()
        });
        let start = Instant::now();
        let mut said = Vec::new();
        let mut failure = None;
        loop {
            match rx.recv_timeout(Duration::from_millis(50)) {
                Ok(Said::Done) => break,
                Ok(Said::Failed {
                    failure: f,
                    message,
                }) => failure = Some((f, message)),
                Ok(s) => said.push(s),
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    // Ctrl-C reaches the child too.
                    if cancelled() {
                        let _ = child.wait();
                        return None;
                    }
                    failure.get_or_insert((Failure::Crash, String::new()));
                    break;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if cancelled() {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            if start.elapsed().as_secs_f64() > limit_s {
                failure = Some((
                    Failure::Timeout,
                    format!("it did not end within {limit_s:.0} s"),
                ));
                let _ = child.kill();
                break;
            }
        }
        let status = child.wait();
        let _ = reader.join();
        let errors = errors.join().unwrap_or_default();
        if let Some((Failure::Crash, message)) = &mut failure {
            use std::os::unix::process::ExitStatusExt as _;
            *message = match status.ok() {
                Some(s) => match (s.signal(), s.code()) {
                    (Some(n), _) => format!("it was killed by signal {n}{}", signal_name(n)),
                    (None, Some(c)) => format!("its process ended with code {c}"),
                    _ => "its process ended".into(),
                },
                None => "its process ended".into(),
            };
            if !errors.is_empty() {
                message.push_str(": ");
                message.push_str(errors.lines().last().unwrap_or_default());
            }
        }
        Some(Answer { said, failure })
    }
}

fn signal_name(n: i32) -> &'static str {
    match n {
        libc::SIGSEGV => " (invalid memory access)",
        libc::SIGBUS => " (bus error)",
        libc::SIGFPE => " (arithmetic error)",
        libc::SIGILL => " (illegal instruction)",
        libc::SIGABRT => " (abort)",
        libc::SIGKILL => " (kill; out of memory?)",
        _ => "",
    }
}
