//! A worker process: jobs go in, answers come out, time limits hold.

use super::end::{End, EndOf};
use super::pipes::{Skipped, WAITING, answers, writer};
use super::{FILLING_S, JobResult};
use crate::error::EnvironmentFault;
use crate::sweep::Failure;
use crate::worker::channel;
use crate::worker::protocol::{Introduction, Job, Message, Question, Task};
use crate::worker::remote::{Files, VERSION};
use greenup_process::capture::Capture;
use greenup_process::group::Group;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Bytes of other output before the introduction of a worker at most.
const GARBAGE: usize = 1 << 20;
/// Time in which a worker's last answers come after its end.
const DRAIN: Duration = Duration::from_millis(200);
/// Time in which a worker's watcher kills all that it started.
const KILLING: Duration = Duration::from_secs(3);
/// The same behind a launcher, which may ignore the signal, if the user waits: less than an interrupted program has to end.
const KILLING_INTERRUPTED: Duration = Duration::from_millis(1500);
/// Answers to one job at most.
const ANSWERS: usize = 64;
/// Time after a job's limit in which the end of a worker that ended itself is heard through a launcher, s. Then the connection
/// is lost, which is not the kernel's fault.
const ALARM_S: f64 = 20.0;

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
    /// A launcher is between the tuner and it.
    remote: bool,
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
    pub(super) fn of(mut group: Group) -> Self {
        let (tx, messages) = mpsc::sync_channel(WAITING);
        let nonce = Arc::new(Mutex::new(String::new()));
        let skipped = Arc::new(Mutex::new(Skipped::default()));
        if let Some(pipe) = group.take_stdout() {
            let (nonce, skipped) = (Arc::clone(&nonce), Arc::clone(&skipped));
            std::thread::spawn(move || answers(pipe, &nonce, &skipped, &tx));
        }
        Self {
            stdin: group.take_stdin().map(writer),
            errors: group.take_stderr().map(|p| Capture::of(p, 4096)),
            group,
            messages,
            nonce,
            skipped,
            remote: false,
            files: None,
            introduction: None,
            alive: true,
        }
    }

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
    ) -> Result<Option<JobResult>, EnvironmentFault> {
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
            // A name of a file that is not UTF-8 has no JSON.
            line.extend(
                serde_json::to_vec(job).map_err(|e| {
                    EnvironmentFault(format!("a job cannot be sent to a worker: {e}"))
                })?,
            );
            line.push(b'\n');
            let _ = stdin.send(line);
        }
        let introduces = matches!(job.task, Task::Introduce(_));
        let mut start = Instant::now();
        let mut end: Option<Instant> = None;
        // Until then nothing of the kernel is in the process: what goes wrong is not its fault.
        let mut ready = false;
        let (mut measured, mut answers) = (false, 0);
        let mut answer = JobResult {
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
                    answers += 1;
                }
                Ok(s) => {
                    // Once each: no worker gives itself more time.
                    match s {
                        Message::Ready if !ready => {
                            ready = true;
                            start = Instant::now();
                        }
                        Message::Measured { .. } if !measured => {
                            measured = true;
                            start = Instant::now();
                        }
                        _ => {}
                    }
                    if s != Message::Ready && answers < ANSWERS {
                        answer.messages.push(s);
                    }
                    answers += 1;
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
                        let end = self.end();
                        // A signal to all reaches the worker too.
                        if cancelled() {
                            return Ok(None);
                        }
                        if introduces {
                            return Err(EnvironmentFault(end.message));
                        }
                        if !ready {
                            return Err(EnvironmentFault(format!(
                                "a worker ended before it had loaded a kernel: {}",
                                end.message
                            )));
                        }
                        let failure = match end.of {
                            EndOf::Connection => {
                                return Err(EnvironmentFault(format!(
                                    "the connection to the worker ended: {}",
                                    end.message
                                )));
                            }
                            EndOf::Alarm => (Failure::Timeout, late(limit_s)),
                            EndOf::Kernel => (Failure::Crash, end.message),
                        };
                        answer.failure.get_or_insert(failure);
                        return Ok(Some(answer));
                    }
                }
            }
            if cancelled() {
                self.stop();
                return Ok(None);
            }
            if answers > ANSWERS {
                self.stop();
                let why = "it answers a job without an end";
                if self.remote || !ready {
                    return Err(EnvironmentFault(format!("a worker is at fault: {why}")));
                }
                answer.failure = Some((Failure::Crash, why.into()));
                return Ok(Some(answer));
            }
            if introduces && self.skipped().bytes > GARBAGE {
                self.stop();
                return Err(EnvironmentFault(
                    "it prints other output without an end".into(),
                ));
            }
            let filling = if ready || introduces { 0.0 } else { FILLING_S };
            let ended_itself = if self.remote && ready { ALARM_S } else { 0.0 };
            if start.elapsed().as_secs_f64() > limit_s + filling + ended_itself {
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
                if self.remote {
                    return Err(EnvironmentFault(format!(
                        "no answer within {:.0} s: the connection to the worker may be lost",
                        limit_s + ended_itself
                    )));
                }
                answer.failure = Some((Failure::Timeout, late(limit_s)));
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

    /// Asks a worker behind a launcher what it is.
    pub(super) fn introduce(
        &mut self,
        question: &Question,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), EnvironmentFault> {
        self.remote = true;
        let job = Job::of(Task::Introduce(question.clone()), question.timeout_s);
        let asked = self.ask(&job, question.timeout_s, cancelled);
        let printed = match self.skipped().first.as_str() {
            "" => String::new(),
            first => format!("; it printed `{first}`"),
        };
        let failed = |why: &str| {
            EnvironmentFault(format!(
                "the worker did not introduce itself: {why}{printed}"
            ))
        };
        let answer = asked
            .map_err(|e| failed(&e.0))?
            .ok_or_else(|| EnvironmentFault("stopped".into()))?;
        let introduction = answer.messages.into_iter().find_map(|m| match m {
            Message::Introduced(i) => Some(*i),
            _ => None,
        });
        let Some(introduction) = introduction else {
            return Err(failed(&answer.failure.map(|(_, m)| m).unwrap_or_default()));
        };
        if introduction.version != VERSION {
            return Err(EnvironmentFault(format!(
                "greenup on {} has version {}, this one {VERSION}: install the same there",
                introduction.host, introduction.version
            )));
        }
        self.files = Some(Files::new(introduction.folder.clone()));
        self.introduction = Some(introduction);
        Ok(())
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
        if self.remote {
            self.end_remote();
        } else {
            // Its watcher finds those that left the group.
            self.group.signal_leader(libc::SIGTERM);
            self.group.exits_within(KILLING);
        }
        self.group.kill();
    }

    /// Lets the watcher of a worker behind a launcher kill and remove what is the worker's. It may be below the leader, or on
    /// another host, where it sees the end of its input.
    fn end_remote(&self) {
        self.group.signal(libc::SIGTERM);
        let limit = if greenup_process::interrupt::requested() {
            KILLING_INTERRUPTED
        } else {
            KILLING
        };
        self.group.empties_within(limit);
    }

    /// How it ended.
    fn end(&mut self) -> End {
        self.alive = false;
        self.stdin = None;
        if self.remote {
            self.end_remote();
        }
        let status = self.group.kill();
        let errors = self.errors.as_ref().map(Capture::text).unwrap_or_default();
        End::of(status, &errors, self.remote)
    }
}

fn late(limit_s: f64) -> String {
    format!("it did not end within {limit_s:.0} s")
}
