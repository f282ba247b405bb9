//! Starts workers, watches the time, reads what they answer.

mod end;
mod pipes;
mod process;

#[cfg(target_os = "linux")]
pub(crate) use end::SIGNALLED;
pub use pipes::Skipped;
pub use process::Worker;

use crate::error::EnvironmentFault;
use crate::sweep::Failure;
use crate::worker::protocol::{Job, Message, Question};
use greenup_process::group::{Group, OnInterrupt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Seconds in which a worker starts and fills its data, before the time for its job.
pub(crate) const FILLING_S: f64 = 120.0;

/// How a worker is started: the program and its arguments, which must lead to
/// [`crate::worker::serve::serve`] for each job that comes through a [`crate::worker::channel::Channel`].
#[derive(Clone, Debug)]
pub struct Launcher {
    /// Program that runs the worker.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it is asked first, if it may run on another host: then it introduces itself, and gets the files that its jobs name.
    pub remote: Option<Question>,
    /// The process of a device that was started before it was needed.
    pub ahead: Ahead,
}

/// At most one process, for the first who asks.
#[derive(Clone, Default)]
pub struct Ahead(Arc<Mutex<Option<Worker>>>);

impl Ahead {
    fn lock(&self) -> MutexGuard<'_, Option<Worker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Ahead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ahead")
    }
}

/// What a job gave: all that it answered, or why it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct JobResult {
    /// Messages in the order of their arrival.
    pub messages: Vec<Message>,
    /// Why it ended early.
    pub failure: Option<(Failure, String)>,
}

impl Launcher {
    /// Starts a process that takes jobs.
    ///
    /// # Errors
    /// It cannot be started, which is never a config's fault.
    pub fn start(&self, cancelled: &dyn Fn() -> bool) -> Result<Worker, EnvironmentFault> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let group = Group::spawn(&mut command, OnInterrupt::Watched)
            .map_err(|e| EnvironmentFault(format!("no process can be started: {e}")))?;
        let mut worker = Worker::of(group);
        if let Some(question) = &self.remote {
            worker.introduce(question, cancelled)?;
        }
        Ok(worker)
    }

    /// Starts the process for a device with more arguments, while the caller finds out about the device. Without it the first who needs
    /// one starts it, and says what is wrong.
    pub fn start_ahead(&self, more: &[String]) {
        let mut own = self.clone();
        own.arguments.extend_from_slice(more);
        let started = own.start(&|| false).ok();
        *self.ahead.lock() = started;
    }

    /// The process for a device: that which was started ahead, else a new one.
    ///
    /// # Errors
    /// As [`Launcher::start`].
    pub(crate) fn for_device(
        &self,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Worker, EnvironmentFault> {
        match self.ahead.lock().take().filter(Worker::alive) {
            Some(worker) => Ok(worker),
            None => self.start(cancelled),
        }
    }

    /// Runs one job in a process of its own; as [`Worker::ask`].
    ///
    /// # Errors
    /// As [`Worker::ask`], or no process can be started.
    pub fn run(
        &self,
        job: &Job,
        limit_s: f64,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<JobResult>, EnvironmentFault> {
        self.start(cancelled)?.ask(job, limit_s, cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::protocol::{Built, Task};
    use std::time::{Duration, Instant};

    /// A worker that is a shell script.
    fn script(text: &str) -> Launcher {
        Launcher {
            program: "sh".into(),
            arguments: vec!["-c".into(), text.into()],
            remote: None,
            ahead: Ahead::default(),
        }
    }

    fn job() -> Job {
        let kernel = Built::Library("k.so".into());
        Job::of(Task::Show { kernel, runs: 0 }, 1.0)
    }

    #[test]
    fn answers_without_the_jobs_number_are_not_heard() {
        let w = script(
            r#"read n rest
            printf '"Loaded"\n\n"Done"\n0123456789abcdef0123456789abcdef "Done"\n'
            printf 'half a line\n%s "Ready"\n' $n
            printf '\n%s "Ran"\n\n%s "Done"\n' $n $n
            sleep 1000"#,
        );
        let answer = w.run(&job(), 100.0, &|| false).unwrap().unwrap();
        assert_eq!(answer.messages, [Message::Ran]);
        assert_eq!(answer.failure, None);
    }

    #[test]
    fn a_worker_that_ends_is_not_waited_for_through_its_pipes() {
        let w = script(
            r#"read n rest; printf '\n%s "Ready"\n' $n; sleep 1000 & setsid sleep 999 & echo why >&2; exit 3"#,
        );
        let start = Instant::now();
        let answer = w.run(&job(), 100.0, &|| false).unwrap().unwrap();
        let (failure, message) = answer.failure.unwrap();
        assert_eq!(failure, Failure::Crash);
        assert_eq!(message, "its process ended with code 3: why");
        assert!(start.elapsed() < Duration::from_secs(50));
    }

    #[test]
    fn what_fails_before_the_kernel_is_the_environments_fault() {
        let cancelled = || false;
        let none = Launcher {
            program: "/no/such/program".into(),
            arguments: Vec::new(),
            remote: None,
            ahead: Ahead::default(),
        };
        let e = none.run(&job(), 10.0, &cancelled).unwrap_err();
        assert!(e.0.contains("no process can be started"), "{e}");
        let e = script("echo no memory >&2; exit 1").run(&job(), 100.0, &cancelled);
        let e = e.unwrap_err();
        assert!(
            e.0.contains("before it had loaded a kernel") && e.0.contains("no memory"),
            "{e}"
        );
        let messages =
            r#"read n rest; printf '\n%s {"Environment":{"message":"no memory for `x`"}}\n' $n"#;
        let e = script(messages).run(&job(), 100.0, &cancelled).unwrap_err();
        assert_eq!(e.0, "no memory for `x`");
    }

    #[test]
    fn a_hanging_worker_times_out_with_all_that_it_started() {
        let w = script(r#"read n rest; printf '\n%s "Ready"\n' $n; sleep 1000 & wait"#);
        let start = Instant::now();
        let answer = w.run(&job(), 0.3, &|| false).unwrap().unwrap();
        assert_eq!(answer.failure.unwrap().0, Failure::Timeout);
        assert_eq!(w.run(&job(), 100.0, &|| true).unwrap(), None);
        assert!(start.elapsed() < Duration::from_secs(50));
    }

    #[test]
    fn a_worker_that_answers_without_an_end_is_ended() {
        let start = Instant::now();
        for (first, again) in [
            (r#""Loaded""#, r#""Ready""#),
            (r#""Ready""#, r#""Loaded""#),
            (
                r#""Ready""#,
                r#"{"Failed":{"failure":"wrong","message":"m"}}"#,
            ),
            (
                r#""Ready""#,
                r#"{"Measured":{"times_s":[1.0],"energy_j":null,"time_error":0.0,"flags":[],"state":{},"baseline_s":[],"baseline_j":null}}"#,
            ),
        ] {
            let w = script(&format!(
                r#"read n rest; printf '\n%s {first}\n' $n; while :; do printf '\n%s {again}\n' $n; done"#
            ));
            let answer = w.run(&job(), 1000.0, &|| false).unwrap().unwrap();
            let (failure, message) = answer.failure.unwrap();
            assert_eq!(failure, Failure::Crash, "{message}");
            assert!(message.contains("without an end"), "{message}");
            assert!(answer.messages.len() <= 64);
        }
        // Behind a launcher it is no config's fault. It gives itself no time by being ready again and again.
        let slow = r#"read n rest; while :; do printf '\n%s "Ready"\n' $n; sleep 0.2; done"#;
        let answer = script(slow).run(&job(), 1.0, &|| false).unwrap().unwrap();
        assert_eq!(answer.failure.unwrap().0, Failure::Timeout);
        let long = r#"read n rest; printf '\n%s "Ready"\n%s {"Failed":{"failure":"wrong","message":"' $n $n; head -c 9000000 /dev/zero | tr '\0' m; printf '"}}\n\n%s "Done"\n' $n"#;
        let answer = script(long).run(&job(), 100.0, &|| false).unwrap().unwrap();
        let (_, message) = answer.failure.unwrap();
        assert!(message.contains("cannot be read"), "{}", message.len());
        assert!(start.elapsed() < Duration::from_secs(50));
    }

    #[test]
    fn a_job_with_a_name_that_is_no_text_is_not_sent() {
        use std::os::unix::ffi::OsStrExt as _;
        let mut job = job();
        job.inputs.dir = std::ffi::OsStr::from_bytes(b"folder\xff").into();
        let e = script("read n rest; sleep 100").run(&job, 100.0, &|| false);
        let e = e.unwrap_err();
        assert!(e.0.contains("cannot be sent"), "{e}");
    }
}
