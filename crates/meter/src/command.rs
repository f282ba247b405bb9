//! Running commands and timing them.

use crate::sensor::now_s;
use greenup_app::process::{Group, OnInterrupt, Waited};
use serde::Serialize;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A command to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandLine {
    pub program: String,
    pub args: Vec<String>,
    /// Whether the command's output goes to the terminal.
    pub show_output: bool,
}

/// A command line that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("`{text}` is not a command line: {cause}")]
    Unreadable { text: String, cause: String },
    #[error("`{program}` cannot be started: {cause}")]
    NotStarted { program: String, cause: String },
    #[error("`{command}` {how}")]
    Failed { command: String, how: String },
}

impl CommandLine {
    /// Splits one string as a shell would, without running a shell.
    pub fn parse(text: &str) -> Result<Self, CommandError> {
        let bad = |cause: String| CommandError::Unreadable {
            text: text.to_owned(),
            cause,
        };
        let mut words = shell_words::split(text).map_err(|e| bad(e.to_string()))?;
        if words.is_empty() {
            return Err(bad("it is empty".into()));
        }
        let program = words.remove(0);
        Ok(Self {
            program,
            args: words,
            show_output: false,
        })
    }

    /// As the user would type it.
    pub fn display(&self) -> String {
        shell_words::join(std::iter::once(&self.program).chain(&self.args))
    }
}

/// How one run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

impl Exit {
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }

    /// `exited with code 3`, `was killed by signal 9`.
    pub fn describe(self) -> String {
        match self {
            Exit::Code(c) => format!("exited with code {c}"),
            Exit::Signal(s) => format!("was killed by signal {s}"),
        }
    }
}

/// One run of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommandRun {
    /// Start and end by [`now_s`].
    pub start_s: f64,
    pub end_s: f64,
    pub user_s: f64,
    pub system_s: f64,
    pub max_rss_bytes: u64,
    pub exit: Exit,
}

/// Runs commands; a mock stands in for it in tests.
pub trait Executor {
    /// # Errors
    /// When the command cannot be started at all.
    fn run(&mut self, command: &CommandLine) -> Result<CommandRun, CommandError>;
}

/// Runs commands as child processes, without a shell.
#[derive(Default)]
pub struct Spawner {
    /// Programs already looked up in PATH.
    resolved: Vec<(String, PathBuf)>,
}

impl Spawner {
    /// Looks a program up once, so that the search through PATH is not timed.
    fn resolve(&mut self, program: &str) -> PathBuf {
        if let Some((_, path)) = self.resolved.iter().find(|(p, _)| p == program) {
            return path.clone();
        }
        let found = if program.contains('/') {
            PathBuf::from(program)
        } else {
            std::env::var_os("PATH")
                .iter()
                .flat_map(std::env::split_paths)
                .map(|dir| dir.join(program))
                .find(|p| is_executable(p))
                .unwrap_or_else(|| PathBuf::from(program))
        };
        self.resolved.push((program.to_owned(), found.clone()));
        found
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

impl Executor for Spawner {
    fn run(&mut self, command: &CommandLine) -> Result<CommandRun, CommandError> {
        let output = || {
            if command.show_output {
                Stdio::inherit()
            } else {
                Stdio::null()
            }
        };
        let mut process = Command::new(self.resolve(&command.program));
        process
            .args(&command.args)
            .stdin(Stdio::null())
            .stdout(output())
            .stderr(output());
        let failed = |e: std::io::Error| CommandError::NotStarted {
            program: command.program.clone(),
            cause: e.to_string(),
        };
        let start_s = now_s();
        // An interrupt kills it and all that it started.
        let mut group = Group::spawn(&mut process, OnInterrupt::Kill).map_err(failed)?;
        let waited = group.wait().map_err(failed)?;
        let end_s = now_s();
        if waited == Waited::WantsTerminal {
            return Err(CommandError::Failed {
                command: command.display(),
                how: "wants to read from the terminal, which a measured command has not".into(),
            });
        }
        let (status, usage) = group.reap_with_usage().map_err(failed)?;
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
        Ok(CommandRun {
            start_s,
            end_s,
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            max_rss_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0)
                * if cfg!(target_os = "macos") { 1 } else { 1024 },
            exit: match (status.signal(), status.code()) {
                (Some(n), _) => Exit::Signal(n),
                (None, code) => Exit::Code(code.unwrap_or(-1)),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_report_times_and_ends() {
        let mut s = Spawner::default();
        let r = s.run(&CommandLine::parse("sleep 0.05").unwrap()).unwrap();
        assert!(r.exit.success() && r.end_s - r.start_s >= 0.05);
        let r = s
            .run(&CommandLine::parse("sh -c 'exit 3'").unwrap())
            .unwrap();
        assert_eq!(r.exit.describe(), "exited with code 3");
        let r = s
            .run(&CommandLine::parse("sh -c 'kill -9 $$'").unwrap())
            .unwrap();
        assert_eq!(r.exit, Exit::Signal(9));
        // What it leaves running is its own business, and is not waited for.
        let start = now_s();
        let r = s
            .run(&CommandLine::parse("sh -c 'sleep 5 & exit 4'").unwrap())
            .unwrap();
        assert_eq!(r.exit, Exit::Code(4));
        assert!(now_s() - start < 4.0);
        let e = s.run(&CommandLine::parse("/no/such/program").unwrap());
        assert!(matches!(e, Err(CommandError::NotStarted { .. })));
        assert!(CommandLine::parse("'open").is_err() && CommandLine::parse(" ").is_err());
    }
}
