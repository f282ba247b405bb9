//! A config's command, as the worker runs it.

use super::fresh::Before;
use super::of_config::Command;
use super::process::{Ended, KEPT, Once, run, run_words};
use crate::sweep::Failure;
use crate::sweep::record::OBJECTIVE;
use crate::worker::stop::Stop;
use greenup_files::read::read_plain;
use greenup_meter::Run;
use greenup_meter::stats::median;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Said of an output of which the beginning is missing.
const CUT: &str = " (only its last 64 MiB are kept)";

/// A command that is being measured, with what its runs gave.
pub(crate) struct Program {
    command: Command,
    last: Vec<u8>,
    numbers: BTreeMap<String, Vec<f64>>,
}

impl Program {
    pub(crate) fn new(command: Command) -> Self {
        Self {
            command,
            last: Vec::new(),
            numbers: BTreeMap::new(),
        }
    }

    /// Runs it once; returns its time, s, and the wall-clock time.
    ///
    /// # Errors
    /// It fails, hangs, or a number is missing.
    pub(crate) fn run(&mut self) -> Result<(f64, f64), Stop> {
        let before = Before::of(self.command.files());
        let Once {
            wall_s,
            cpu_s,
            memory_bytes,
            stdout,
        } = run(&self.command, &|| false).map_err(stop)?;
        if let Some(file) = before.unchanged() {
            return Err(runtime(format!("it did not write {}", file.display())));
        }
        let missing = |what: &str, e: String| {
            let cut = if stdout.len() < KEPT { "" } else { CUT };
            runtime(format!("{what}: {e}{cut}"))
        };
        let time = match &self.command.time {
            None => wall_s,
            Some(source) => source.number(&stdout).map_err(|e| missing("time", e))?,
        };
        if !(time > 0.0 && time.is_finite()) {
            let why = format!("time: {time} s is not positive; see [run] time and its unit");
            return Err(runtime(why));
        }
        let mut put = |name: &str, x: f64| self.numbers.entry(name.to_owned()).or_default().push(x);
        put("cpu_s", cpu_s);
        put("memory_bytes", memory_bytes);
        if self.command.time.is_some() {
            put("wall_s", wall_s);
        }
        for (name, source) in &self.command.metrics {
            let x = match source.number(&stdout) {
                Err(_) if self.command.lenient => continue,
                found => found.map_err(|e| missing(name, e))?,
            };
            put(name, x);
            if let Some((_, goal)) = self.command.goal.as_ref().filter(|(n, _)| n == name) {
                if x <= 0.0 {
                    let why = format!("{name} is {x}; an objective must be positive");
                    return Err(runtime(why));
                }
                put(OBJECTIVE, goal.turned(x));
            }
        }
        self.last = stdout;
        Ok((time, wall_s))
    }

    /// Checks the results of the last run; returns the largest error.
    ///
    /// # Errors
    /// They are wrong.
    pub(crate) fn verify(&self) -> Result<f64, Stop> {
        let c = &self.command;
        let wrong = |m: String| Stop::Failed(Failure::Wrong, m);
        if let Some(words) = &c.check {
            match run_words(words, c, c.timeout_s, &|| false) {
                Ok(_) => {}
                Err(Ended::Failed(Failure::Launch, m)) => {
                    return Err(Stop::Failed(Failure::Launch, format!("the check: {m}")));
                }
                Err(e @ Ended::Environment(_)) => return Err(stop(e)),
                Err(e) => return Err(wrong(format!("the check {e}"))),
            }
        }
        let Some(e) = &c.expectation else {
            return Ok(0.0);
        };
        let read = |path: &PathBuf| read_plain(path, KEPT as u64).map_err(|e| wrong(e.to_string()));
        let found = match &e.of {
            None if self.last.len() >= KEPT => {
                let fix = "write it to a file, which [run.expect] of names";
                return Err(wrong(format!(
                    "its output is too long to be compared{CUT}: {fix}"
                )));
            }
            None => self.last.clone(),
            Some(file) => read(&c.dir.join(file))?,
        };
        let right = read(&e.text)?;
        e.compared().compare(&found, &right).map_err(wrong)
    }

    /// Repeats it for about some seconds of the clock; each run's time goes to `times`.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub(crate) fn window(&mut self, seconds: f64, times: &mut Vec<f64>) -> Result<Run, Stop> {
        let (mut total, mut wall, mut n) = (0.0, 0.0, 0.0);
        while n == 0.0 || wall < 0.98 * seconds {
            let (time, of_clock) = self.run()?;
            times.push(time);
            total += time;
            wall += of_clock;
            n += 1.0;
        }
        Ok(Run {
            iterations: n,
            seconds: total,
        })
    }

    /// Medians of what the runs since the last call gave.
    pub(crate) fn numbers(&mut self) -> BTreeMap<String, f64> {
        std::mem::take(&mut self.numbers)
            .into_iter()
            .map(|(name, all)| (name, median(&all)))
            .collect()
    }
}

fn runtime(message: String) -> Stop {
    Stop::Failed(Failure::Runtime, message)
}

fn stop(e: Ended) -> Stop {
    match e {
        Ended::Failed(f, m) => Stop::Failed(f, m),
        Ended::Environment(m) => Stop::Environment(m),
        Ended::Stopped => runtime("it was stopped".to_owned()),
    }
}
