//! Starts workers, watches the time, reads what they answer.

use crate::error::EnvironmentFault;
use crate::sweep::Failure;
use crate::worker::channel;
use crate::worker::protocol::{Inputs, Job, Message, Task};
use crate::worker::remote::{Files, Introduction, Question, VERSION};
use greenup_process::capture::Capture;
use greenup_process::group::{Group, OnInterrupt};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Bytes of an answer at most.
const LONGEST: usize = 64 << 20;
/// Bytes of other output before the introduction of a worker at most.
const GARBAGE: usize = 1 << 20;
/// Time in which a worker's last answers come after its end.
const DRAIN: Duration = Duration::from_millis(200);
/// Seconds in which a worker starts and fills its data, before the time for its job.
pub(crate) const FILLING_S: f64 = 120.0;
/// Time in which a worker's watcher kills all that it started.
const KILLING: Duration = Duration::from_secs(3);

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
}

/// What a job gave: all that it answered, or why it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
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
        let mut group = Group::spawn(&mut command, OnInterrupt::Watched)
            .map_err(|e| EnvironmentFault(format!("no process can be started: {e}")))?;
        let (tx, messages) = mpsc::channel();
        let nonce = Arc::new(Mutex::new(String::new()));
        let skipped = Arc::new(Mutex::new(Skipped::default()));
        if let Some(pipe) = group.take_stdout() {
            let (nonce, skipped) = (Arc::clone(&nonce), Arc::clone(&skipped));
            std::thread::spawn(move || answers(pipe, &nonce, &skipped, &tx));
        }
        let mut worker = Worker {
            stdin: group.take_stdin().map(writer),
            errors: group.take_stderr().map(|p| Capture::of(p, 4096)),
            group,
            messages,
            nonce,
            skipped,
            files: None,
            introduction: None,
            alive: true,
        };
        if let Some(question) = &self.remote {
            let introduction = worker.introduce(question, cancelled)?;
            worker.files = Some(Files::new(introduction.folder.clone()));
            worker.introduction = Some(introduction);
        }
        Ok(worker)
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
    ) -> Result<Option<Answer>, EnvironmentFault> {
        self.start(cancelled)?.ask(job, limit_s, cancelled)
    }
}

/// Passes on the lines that carry the number of the job under way; whatever else a kernel wrote there is left out.
fn answers(
    pipe: impl Read,
    nonce: &Mutex<String>,
    skipped: &Mutex<Skipped>,
    tx: &mpsc::Sender<Message>,
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
fn writer(mut stdin: ChildStdin) -> mpsc::Sender<Vec<u8>> {
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

/// A process that takes one job after the other. It and all that it started are killed when it is dropped.
pub struct Worker {
    group: Group,
    /// Lines for it; its input ends with this.
    stdin: Option<mpsc::Sender<Vec<u8>>>,
    messages: mpsc::Receiver<Message>,
    errors: Option<Capture>,
    /// Of the job under way.
    nonce: Arc<Mutex<String>>,
    skipped: Arc<Mutex<Skipped>>,
    files: Option<Files>,
    introduction: Option<Introduction>,
    alive: bool,
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.alive {
            self.stop();
        }
    }
}

impl Worker {
    /// Whether it can take another job.
    pub fn alive(&self) -> bool {
        self.alive && !self.group.exited()
    }

    /// Gives it a job of `limit_s` seconds at most, asking now and then whether to stop; `None`
    /// when stopped. The time starts when its data are there, and anew after a measurement, for what
    /// follows it.
    ///
    /// # Errors
    /// The environment failed, not the kernel.
    pub fn ask(
        &mut self,
        job: &Job,
        limit_s: f64,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Answer>, EnvironmentFault> {
        let sent = match &mut self.files {
            Some(files) => Some(files.job(job)?),
            None => None,
        };
        let job = sent.as_ref().unwrap_or(job);
        let nonce = channel::nonce();
        self.nonce
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&nonce);
        if let Some(stdin) = &self.stdin {
            let mut line = format!("{nonce} ").into_bytes();
            line.extend(serde_json::to_vec(job).unwrap_or_default());
            line.push(b'\n');
            let _ = stdin.send(line);
        }
        let introduces = matches!(job.task, Task::Introduce(_));
        let mut start = Instant::now();
        let mut end: Option<Instant> = None;
        // Until then nothing of the kernel is in the process: what goes wrong is not its fault.
        let mut ready = false;
        let mut answer = Answer {
            messages: Vec::new(),
            failure: None,
        };
        loop {
            match self.messages.recv_timeout(Duration::from_millis(20)) {
                Ok(Message::Done) => return Ok(Some(answer)),
                Ok(Message::Environment { message }) => {
                    self.stop();
                    return Err(EnvironmentFault(message));
                }
                Ok(Message::Failed { failure, message }) => {
                    answer.failure.get_or_insert((failure, message));
                }
                Ok(s) => {
                    match s {
                        Message::Ready => {
                            ready = true;
                            start = Instant::now();
                        }
                        Message::Measured { .. } => start = Instant::now(),
                        _ => {}
                    }
                    if s != Message::Ready {
                        answer.messages.push(s);
                    }
                }
                Err(e) => {
                    // Its end counts, not that of its pipe: others may have that open.
                    if end.is_none() && self.group.exited() {
                        end = Some(Instant::now());
                    }
                    let closed = e == mpsc::RecvTimeoutError::Disconnected;
                    if closed && end.is_none() && !self.group.exits_within(KILLING) {
                        self.stop();
                        let why = "it closed its answers' pipe";
                        answer.failure.get_or_insert((Failure::Crash, why.into()));
                        return Ok(Some(answer));
                    }
                    if closed || end.is_some_and(|e| e.elapsed() > DRAIN) {
                        let message = self.end();
                        // A signal to all reaches the worker too.
                        if cancelled() {
                            return Ok(None);
                        }
                        if introduces {
                            return Err(EnvironmentFault(message));
                        }
                        if !ready {
                            return Err(EnvironmentFault(format!(
                                "a worker ended before it had loaded a kernel: {message}"
                            )));
                        }
                        answer.failure.get_or_insert((Failure::Crash, message));
                        return Ok(Some(answer));
                    }
                }
            }
            if cancelled() {
                self.stop();
                return Ok(None);
            }
            if introduces && self.skipped().bytes > GARBAGE {
                self.stop();
                return Err(EnvironmentFault(
                    "it prints other output without an end".into(),
                ));
            }
            let filling = if ready || introduces { 0.0 } else { FILLING_S };
            if start.elapsed().as_secs_f64() > limit_s + filling {
                self.stop();
                if introduces {
                    return Err(EnvironmentFault(format!("no answer within {limit_s:.0} s")));
                }
                if !ready {
                    return Err(EnvironmentFault(format!(
                        "a worker was not ready within {:.0} s: the arguments take longer to fill, or the machine is overloaded",
                        limit_s + filling
                    )));
                }
                let message = format!("it did not end within {limit_s:.0} s");
                answer.failure = Some((Failure::Timeout, message));
                return Ok(Some(answer));
            }
        }
    }

    /// What it said about itself, if a launcher started it.
    pub fn introduction(&self) -> Option<&Introduction> {
        self.introduction.as_ref()
    }

    /// Its output so far that is no answer.
    pub fn skipped(&self) -> Skipped {
        let skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.clone()
    }

    fn introduce(
        &mut self,
        question: &Question,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Introduction, EnvironmentFault> {
        let job = Job {
            inputs: Inputs::default(),
            limit_s: question.timeout_s,
            task: Task::Introduce(question.clone()),
            files: Vec::new(),
        };
        let asked = self.ask(&job, question.timeout_s, cancelled);
        let first = self.skipped().first;
        let printed = match first.as_str() {
            "" => String::new(),
            first => format!("; it printed `{first}`"),
        };
        let answer = asked
            .map_err(|e| {
                EnvironmentFault(format!("the worker did not introduce itself: {e}{printed}"))
            })?
            .ok_or_else(|| EnvironmentFault("stopped".into()))?;
        let introduction = answer.messages.into_iter().find_map(|m| match m {
            Message::Introduced(i) => Some(*i),
            _ => None,
        });
        let Some(introduction) = introduction else {
            let why = answer.failure.map(|(_, m)| m).unwrap_or_default();
            return Err(EnvironmentFault(format!(
                "the worker did not introduce itself: {why}{printed}"
            )));
        };
        if introduction.version != VERSION {
            return Err(EnvironmentFault(format!(
                "greenup on {} has version {}, this one {VERSION}: install the same there",
                introduction.host, introduction.version
            )));
        }
        Ok(introduction)
    }

    /// Lets it end, and waits for that as long as its last job could take.
    pub fn finish(mut self, limit_s: f64) {
        self.stdin = None;
        self.group
            .exits_within(Duration::try_from_secs_f64(limit_s).unwrap_or(Duration::MAX));
    }

    /// Ends it and all that it started.
    fn stop(&mut self) {
        self.alive = false;
        self.stdin = None;
        // Its watcher finds those that left the group.
        self.group.signal_leader(libc::SIGTERM);
        self.group.exits_within(KILLING);
        self.group.kill();
    }

    /// How it ended, in words.
    fn end(&mut self) -> String {
        self.alive = false;
        self.stdin = None;
        let status = self.group.kill();
        let errors = self.errors.as_ref().map(Capture::text).unwrap_or_default();
        let mut message = how(status);
        if let Some(last) = errors.trim().lines().last() {
            message.push_str(": ");
            message.push_str(last);
        }
        message
    }
}

fn how(status: Option<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match status.map(|s| (s.signal(), s.code())) {
        Some((Some(n), _)) => format!("it was killed by signal {n}{}", signal_name(n)),
        Some((None, Some(c))) => format!("its process ended with code {c}"),
        _ => "its process ended".into(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::protocol::Built;

    /// A worker that is a shell script.
    fn script(text: &str) -> Launcher {
        Launcher {
            program: "sh".into(),
            arguments: vec!["-c".into(), text.into()],
            remote: None,
        }
    }

    fn job() -> Job {
        let kernel = Built::Library("k.so".into());
        Job {
            inputs: Inputs::default(),
            limit_s: 1.0,
            task: Task::Show { kernel, runs: 0 },
            files: Vec::new(),
        }
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
}
