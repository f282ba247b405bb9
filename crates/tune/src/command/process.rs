//! One run of a command: its time, its end, and what it prints.

use super::build::seconds;
use super::of_config::Command;
use super::template::path_of;
use crate::error::disk_is_full;
use crate::sweep::Failure;
use crate::worker::supervise::kill_left_behind;
use greenup_process::group::{Group, OnInterrupt};
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

/// Bytes of the output that are kept, the last ones.
pub(super) const KEPT: usize = 64 << 20;
/// The same of what it says about errors.
const KEPT_ERRORS: usize = 64 << 10;

/// A run that ended well.
pub(crate) struct Once {
    /// From its start to its end, s.
    pub(crate) wall_s: f64,
    /// Its own and the system's time on all cores, s.
    pub(crate) cpu_s: f64,
    /// Largest resident set, bytes.
    pub(crate) memory_bytes: f64,
    /// What it printed.
    pub(crate) stdout: Vec<u8>,
}

/// Why a run gives nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Ended {
    #[error("{1}")]
    Failed(Failure, String),
    #[error("{0}")]
    Environment(String),
    #[error("was stopped")]
    Stopped,
}

/// Runs words with the folder, input and environment of a command.
pub(crate) fn run_words(
    words: &[String],
    of: &Command,
    timeout_s: f64,
    stop: &dyn Fn() -> bool,
) -> Result<Once, Ended> {
    let failed = |f: Failure, m: String| Ended::Failed(f, m);
    let (program, args) = words
        .split_first()
        .ok_or_else(|| failed(Failure::Launch, "there is no command".into()))?;
    let input = match &of.input {
        None => Stdio::null(),
        Some(path) => File::open(path)
            .map_err(|e| {
                failed(
                    Failure::Launch,
                    format!("{} cannot be read: {e}", path.display()),
                )
            })?
            .into(),
    };
    let mut command = std::process::Command::new(path_of(program, &of.dir));
    command
        .args(args)
        .current_dir(&of.dir)
        .envs(&of.environment)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let start = Instant::now();
    let mut group = Group::spawn(&mut command, OnInterrupt::Kill).map_err(|e| {
        failed(
            Failure::Launch,
            format!("`{program}` cannot be started: {e}"),
        )
    })?;
    let until = start + seconds(timeout_s);
    let stopped = std::cell::Cell::new(false);
    let watched = || {
        stopped.set(stop());
        stopped.get()
    };
    let got = group.collect(until, &watched, (KEPT, KEPT_ERRORS));
    let wall_s = (got.at - start).as_secs_f64();
    if stopped.get() && !got.ended {
        group.kill();
        return Err(Ended::Stopped);
    }
    if !got.ended {
        group.kill();
        return Err(failed(
            Failure::Timeout,
            format!("did not end within {timeout_s} s"),
        ));
    }
    // What it left running would disturb the next run.
    group.signal(libc::SIGKILL);
    let reaped = group.reap_with_usage();
    kill_left_behind();
    let (status, usage) =
        reaped.map_err(|e| failed(Failure::Runtime, format!("`{program}`: {e}")))?;
    let said = || {
        let text = String::from_utf8_lossy(&got.stderr);
        let last = text
            .lines()
            .rev()
            .find(|l| !l.trim().is_empty())
            .map(str::trim);
        last.map_or_else(String::new, |l| {
            format!(": {}", l.chars().take(300).collect::<String>())
        })
    };
    match (status.signal(), status.code()) {
        (Some(n), _) => Err(failed(
            Failure::Crash,
            format!("was killed by signal {n}{}", said()),
        )),
        (None, Some(0)) => {
            let of = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
            Ok(Once {
                wall_s,
                cpu_s: of(usage.ru_utime) + of(usage.ru_stime),
                memory_bytes: usage.ru_maxrss as f64
                    * if cfg!(target_os = "macos") {
                        1.0
                    } else {
                        1024.0
                    },
                stdout: got.stdout,
            })
        }
        (None, _) if disk_is_full(&String::from_utf8_lossy(&got.stderr)) => {
            Err(Ended::Environment(format!("`{program}`{}", said())))
        }
        (None, code) => {
            let code = code.unwrap_or(-1);
            Err(failed(
                Failure::Runtime,
                format!("ended with code {code}{}", said()),
            ))
        }
    }
}

/// Runs words in a folder, without input.
pub(crate) fn run_in(words: &[String], dir: &Path, timeout_s: f64) -> Result<Once, Ended> {
    let place = Command {
        dir: dir.to_owned(),
        ..Command::default()
    };
    run_words(words, &place, timeout_s, &|| false)
}

/// Runs a command once.
pub(crate) fn run(command: &Command, stop: &dyn Fn() -> bool) -> Result<Once, Ended> {
    run_words(&command.words, command, command.timeout_s, stop)
}
