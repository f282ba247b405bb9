//! Starts children, watches the time, reads what they say.

use super::job::{Job, Said};
use crate::sweep::Failure;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How a child is started: the program and its arguments, which must lead to
/// [`super::child::serve`] for each line it reads.
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
    /// Starts a process that takes jobs.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self) -> Result<Worker, String> {
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("no process can be started: {e}"))?;
        let (tx, said) = mpsc::channel();
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
        Ok(Worker {
            stdin: child.stdin.take(),
            child,
            said,
            threads: Some((reader, errors)),
        })
    }

    /// Runs one job in a process of its own; as [`Worker::ask`].
    pub fn run(&self, job: &Job, limit_s: f64, cancelled: &dyn Fn() -> bool) -> Option<Answer> {
        match self.start() {
            Ok(mut worker) => worker.ask(job, limit_s, cancelled),
            Err(message) => Some(Answer {
                said: Vec::new(),
                failure: Some((Failure::Launch, message)),
            }),
        }
    }
}

/// A process that takes one job after the other. It is killed when dropped.
pub struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    said: mpsc::Receiver<Said>,
    /// Readers of what it says and of its errors.
    threads: Option<(JoinHandle<()>, JoinHandle<String>)>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Worker {
    /// Whether it can take another job.
    pub fn alive(&self) -> bool {
        self.threads.is_some()
    }

    /// Gives it a job of `limit_s` seconds at most, asking now and then whether to stop; `None`
    /// when stopped.
    pub fn ask(&mut self, job: &Job, limit_s: f64, cancelled: &dyn Fn() -> bool) -> Option<Answer> {
        if let Some(stdin) = &mut self.stdin {
            // A child that died has said why, or its status tells.
            let _ = serde_json::to_writer(&mut *stdin, job);
            let _ = stdin.write_all(b"\n").and_then(|()| stdin.flush());
        }
        let start = Instant::now();
        let mut said = Vec::new();
        let mut failure = None;
        loop {
            match self.said.recv_timeout(Duration::from_millis(50)) {
                Ok(Said::Done) => return Some(Answer { said, failure }),
                Ok(Said::Failed {
                    failure: f,
                    message,
                }) => failure = Some((f, message)),
                Ok(s) => said.push(s),
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let end = self.end();
                    // Ctrl-C reaches the child too.
                    if cancelled() {
                        return None;
                    }
                    failure.get_or_insert((Failure::Crash, end));
                    return Some(Answer { said, failure });
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if cancelled() {
                self.stop();
                return None;
            }
            if start.elapsed().as_secs_f64() > limit_s {
                self.stop();
                let message = format!("it did not end within {limit_s:.0} s");
                return Some(Answer {
                    said,
                    failure: Some((Failure::Timeout, message)),
                });
            }
        }
    }

    /// Lets it end, and waits for that.
    pub fn finish(mut self) {
        self.end();
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        self.end();
    }

    /// Waits for its end, and says how it came.
    fn end(&mut self) -> String {
        use std::os::unix::process::ExitStatusExt as _;
        self.stdin = None;
        let status = self.child.wait();
        let errors = self.threads.take().map_or_else(String::new, |(r, e)| {
            let _ = r.join();
            e.join().unwrap_or_default()
        });
        let mut message = match status.ok() {
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
        message
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
