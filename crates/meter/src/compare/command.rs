//! Running commands and timing them.

use crate::sensor::now_s;
use greenup_process::group::{Group, OnInterrupt, Waited};
use greenup_process::watch::Watch;
use serde::Serialize;
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Where standard output and standard error of a command go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Shown {
    /// They are discarded.
    #[default]
    Nowhere,
    /// Each to that of this process.
    Terminal,
    /// Both to standard error, where standard output has the results.
    StandardError,
    /// Standard output to a pipe that is read to its end, standard error discarded: some programs do less on `/dev/null`.
    Pipe,
    /// Standard output to a file, which each run writes anew, standard error discarded.
    File(PathBuf),
}

/// A command to measure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CommandLine {
    /// Program to start.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where its output goes.
    pub shown: Shown,
    /// What the user calls it.
    pub name: Option<String>,
    /// File that it reads as standard input; else there is none.
    pub input: Option<PathBuf>,
    /// Shell command that runs before each of its runs, not timed.
    pub prepare: Option<String>,
    /// Parameters whose values stand in it.
    pub parameters: Vec<(String, String)>,
}

/// A command line that cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CommandError {
    /// The text cannot be split into words.
    #[error("`{text}` is not a command line: {cause}")]
    Unreadable {
        /// The text.
        text: String,
        /// The cause.
        cause: String,
    },
    /// The program cannot be started.
    #[error("`{program}` cannot be started: {cause}")]
    NotStarted {
        /// The program.
        program: String,
        /// The cause.
        cause: String,
    },
    /// The program failed.
    #[error("`{command}` {how}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        how: String,
    },
    /// Its input cannot be opened.
    #[error("the input {} of `{command}` cannot be read: {cause}", path.display())]
    Input {
        /// The command.
        command: String,
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// There is no place for its output.
    #[error("the output of `{command}` cannot be written: {cause}")]
    Output {
        /// The command.
        command: String,
        /// The cause.
        cause: String,
    },
    /// A command before or after the measured ones failed.
    #[error("the {} command `{script}` {how}", what.name())]
    Script {
        /// Which one.
        what: Script,
        /// The command.
        script: String,
        /// How it ended.
        how: String,
    },
}

/// Whether a shell would act on a word.
pub fn of_a_shell(word: &str) -> bool {
    let plain = word.trim_start_matches(|c: char| c.is_ascii_digit());
    ["|", "||", "&&", "&", ";", "|&"].contains(&word)
        || plain.starts_with(['>', '<'])
        || word.starts_with("$(")
        || word.contains('`')
        || word.len() > 1 && word.ends_with(';')
}

impl CommandLine {
    /// Splits one string as a shell would, without running a shell.
    ///
    /// # Errors
    /// [`CommandError::Unreadable`] for unbalanced quotes or an empty text.
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
            ..Self::default()
        })
    }

    /// The first word that a shell would act on, and that the program only gets as it is.
    pub fn of_a_shell(&self) -> Option<&str> {
        (self.args.iter().map(String::as_str)).find(|w| of_a_shell(w))
    }

    /// As the user would type it.
    pub fn display(&self) -> String {
        greenup_setting::shell::joined(std::iter::once(&self.program).chain(&self.args))
    }

    /// Its name, else as the user would type it.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.display())
    }
}

/// How one run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// Exit code.
    Code(i32),
    /// Number of the signal that killed it.
    Signal(i32),
}

impl Exit {
    /// From the system's status.
    fn of(status: ExitStatus) -> Self {
        match (status.signal(), status.code()) {
            (Some(n), _) => Exit::Signal(n),
            (None, code) => Exit::Code(code.unwrap_or(-1)),
        }
    }

    /// Whether it exited with code 0.
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }

    /// The exit code, or the signal's number below 0.
    pub fn number(self) -> i32 {
        match self {
            Exit::Code(c) => c,
            Exit::Signal(s) => -s,
        }
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
    /// End by [`now_s`].
    pub end_s: f64,
    /// User CPU time, s.
    pub user_s: f64,
    /// System CPU time, s.
    pub system_s: f64,
    /// Largest resident set, bytes; `None` for a run that ended before it could be seen.
    pub max_rss_bytes: Option<u64>,
    /// Context switches, voluntary and involuntary, of it and of the processes that it waited for.
    pub context_switches: u64,
    /// Time that its threads, and those of processes below it, were ready to run and had no core, s; `None` where the system does not
    /// count it.
    pub run_queue_s: Option<f64>,
    /// Exit status.
    pub exit: Exit,
}

/// A shell command that is not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Once, before all runs.
    Setup,
    /// Before each run.
    Prepare,
    /// Once, after all runs, also after an interrupt.
    Cleanup,
}

impl Script {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Prepare => "prepare",
            Self::Cleanup => "cleanup",
        }
    }
}

/// Runs commands; a mock stands in for it in tests.
pub trait Executor {
    /// # Errors
    /// When the command cannot be started at all.
    fn run(&mut self, command: &CommandLine) -> Result<CommandRun, CommandError>;

    /// Runs a command by the shell `sh`, not measured.
    ///
    /// # Errors
    /// It cannot be started, or fails.
    fn script(&mut self, script: &str, what: Script) -> Result<(), CommandError>;
}

/// Runs commands as child processes, without a shell.
#[derive(Default)]
pub struct Spawner {
    /// Programs already looked up in PATH.
    resolved: Vec<(String, PathBuf)>,
    /// Where the output of shell commands that are not measured goes.
    shown: Shown,
}

impl Spawner {
    /// Shows the output of shell commands that are not measured where that of the measured ones is shown, else discards it:
    /// a file or a pipe is theirs alone.
    pub fn new(measured: &Shown) -> Self {
        let shown = match measured {
            Shown::Terminal | Shown::StandardError => measured.clone(),
            Shown::Nowhere | Shown::Pipe | Shown::File(_) => Shown::Nowhere,
        };
        Self {
            shown,
            ..Self::default()
        }
    }

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
        // Opened anew for each run, which reads it from its start.
        let input = match &command.input {
            None => Stdio::null(),
            Some(path) => File::open(path)
                .map_err(|e| CommandError::Input {
                    command: command.display(),
                    path: path.clone(),
                    cause: e.to_string(),
                })?
                .into(),
        };
        let output = command.shown.out().map_err(|e| CommandError::Output {
            command: command.display(),
            cause: e.to_string(),
        })?;
        let mut process = Command::new(self.resolve(&command.program));
        process
            .args(&command.args)
            .stdin(input)
            .stdout(output)
            .stderr(command.shown.err());
        let failed = |e: std::io::Error| CommandError::NotStarted {
            program: command.program.clone(),
            cause: e.to_string(),
        };
        let mut watch = Watch::new();
        let start_s = now_s();
        // An interrupt kills it and all that it started.
        let mut group = Group::spawn(&mut process, OnInterrupt::Kill).map_err(failed)?;
        // Our end of a pipe, without which it would never end.
        drop(process);
        let waited = group.wait_watching(&mut watch).map_err(failed)?;
        let end_s = now_s() - watch.since_end().as_secs_f64();
        if waited == Waited::WantsTerminal {
            return Err(CommandError::Failed {
                command: command.display(),
                how: "wants to read from the terminal, which a measured command has not".into(),
            });
        }
        let (status, usage) = group.reap_with_usage().map_err(failed)?;
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
        let used = watch.used(&usage);
        Ok(CommandRun {
            start_s,
            end_s,
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            max_rss_bytes: used.peak_bytes,
            context_switches: used.switches,
            run_queue_s: used.waited_s,
            exit: Exit::of(status),
        })
    }

    fn script(&mut self, script: &str, what: Script) -> Result<(), CommandError> {
        let failed = |how: String| CommandError::Script {
            what,
            script: script.to_owned(),
            how,
        };
        let started = |e: std::io::Error| failed(format!("cannot be started: {e}"));
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(self.shown.out().map_err(started)?)
            .stderr(self.shown.err());
        let on = match what {
            Script::Cleanup => OnInterrupt::Keep,
            Script::Setup | Script::Prepare => OnInterrupt::Kill,
        };
        let mut group = Group::spawn(&mut shell, on).map_err(started)?;
        if group.wait().map_err(started)? == Waited::WantsTerminal {
            return Err(failed("wants to read from the terminal".to_owned()));
        }
        let (status, _) = group.reap_with_usage().map_err(started)?;
        match Exit::of(status) {
            exit if exit.success() => Ok(()),
            exit => Err(failed(exit.describe())),
        }
    }
}

impl Shown {
    fn out(&self) -> std::io::Result<Stdio> {
        Ok(match self {
            Self::Nowhere => Stdio::null(),
            Self::Terminal => Stdio::inherit(),
            Self::StandardError => std::io::stderr().into(),
            Self::Pipe => {
                let (mut reader, writer) = std::io::pipe()?;
                // It ends with the last process that has the other end.
                std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
                writer.into()
            }
            Self::File(path) => File::create(path)?.into(),
        })
    }

    fn err(&self) -> Stdio {
        match self {
            Self::Nowhere | Self::Pipe | Self::File(_) => Stdio::null(),
            Self::Terminal | Self::StandardError => Stdio::inherit(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_reads_the_input_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("in");
        std::fs::write(&path, "one\n").unwrap();
        let mut c = CommandLine::parse("sh -c 'read x && test \"$x\" = one'").unwrap();
        let mut s = Spawner::default();
        assert!(!s.run(&c).unwrap().exit.success(), "no input");
        c.input = Some(path);
        assert!(s.run(&c).unwrap().exit.success() && s.run(&c).unwrap().exit.success());
        c.input = Some(dir.path().join("none"));
        let e = s.run(&c).unwrap_err().to_string();
        assert!(e.contains("cannot be read"), "{e}");
    }

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
        assert!(s.script("exit 0", Script::Setup).is_ok());
        let e = s.script("exit 5", Script::Prepare).unwrap_err();
        assert_eq!(
            e.to_string(),
            "the prepare command `exit 5` exited with code 5"
        );
        assert!(CommandLine::parse("'open").is_err() && CommandLine::parse(" ").is_err());
    }
}
