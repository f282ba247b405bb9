//! The history of a run: a line of a CSV file per step.

use crate::HydroError;
use crate::time::stepping::Clock;
use greenup_files::{AtomicFile, FileError, Log};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

type Result<T = ()> = std::result::Result<T, HydroError>;

const HEADER: &str = "step,t,next_dt,internal,kinetic,drift,run";

/// Maximum length of a line.
const MAX_LINE: u64 = 1024;

pub struct History {
    to: To,
    path: PathBuf,
    /// Mark of the run, in each line.
    mark: String,
}

enum To {
    File(Log),
    /// A device or a pipe, to which lines cannot be appended.
    Stream(File),
}

impl History {
    /// Creates a file; or continues that of the run with this mark that is restarted at `restart`, without its later lines.
    ///
    /// # Errors
    /// The file cannot be written, is not a history, or that of another run.
    pub fn new(path: &Path, mark: &str, restart: Option<&Clock>) -> Result<Self> {
        let mark = mark.to_owned();
        if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
            let stream = OpenOptions::new()
                .write(true)
                .open(path)
                .map_err(FileError::write(path))?;
            let mut out = Self {
                to: To::Stream(stream),
                path: path.to_owned(),
                mark,
            };
            out.line(HEADER)?;
            return Ok(out);
        }
        let mut start = AtomicFile::create(path)?;
        writeln!(start, "{HEADER}").map_err(FileError::write(path))?;
        if path.exists() {
            earlier(path, (&mark, restart), &mut start)?;
        }
        start.commit()?;
        Ok(Self {
            to: To::File(Log::open(path)?),
            path: path.to_owned(),
            mark,
        })
    }

    /// Adds a step; without a drift its column stays empty.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(
        &mut self,
        c: &Clock,
        (internal, kinetic): (f64, f64),
        drift: Option<f64>,
    ) -> Result {
        let drift = drift.map_or_else(String::new, |d| format!("{d:e}"));
        let Clock { steps, t, dt, .. } = c;
        let mark = &self.mark;
        self.line(&format!(
            "{steps},{t:e},{dt:e},{internal:.17e},{kinetic:.17e},{drift},{mark}"
        ))
    }

    fn line(&mut self, text: &str) -> Result {
        match &mut self.to {
            To::File(log) => log.quick_line(text)?,
            To::Stream(file) => writeln!(file, "{text}").map_err(FileError::write(&self.path))?,
        }
        Ok(())
    }
}

/// Copies the lines of a history up to the step of a restart, all of its run; none without a restart.
fn earlier(path: &Path, (mark, restart): (&str, Option<&Clock>), to: &mut AtomicFile) -> Result {
    let read = |cause| FileError::Read {
        path: path.to_owned(),
        cause,
    };
    let not_ours = || FileError::NotOurs {
        path: path.to_owned(),
    };
    let mut from = BufReader::new(File::open(path).map_err(read)?);
    let mut line = String::new();
    let mut next = || -> Result<Option<String>> {
        line.clear();
        match (&mut from).take(MAX_LINE).read_line(&mut line) {
            Err(e) if e.kind() == ErrorKind::InvalidData => Err(not_ours().into()),
            Err(e) => Err(read(e).into()),
            // Its last line may have been cut short.
            Ok(n) if (n as u64) < MAX_LINE => Ok(line.strip_suffix('\n').map(str::to_owned)),
            Ok(_) => Err(not_ours().into()),
        }
    };
    match next()?.as_deref() {
        None => return Ok(()),
        Some(HEADER) => {}
        Some(_) => return Err(not_ours().into()),
    }
    let Some(clock) = restart else {
        return Ok(());
    };
    let other = |why: &str| {
        HydroError::Output(format!(
            "{} is the history of another run, which this restart does not continue: {why}. Fix: name another file with --history",
            path.display()
        ))
    };
    let mut last = None;
    while let Some(line) = next()? {
        let words: Vec<&str> = line.split(',').collect();
        let step: usize = words[0].parse().map_err(|_| not_ours())?;
        if words.last() != Some(&mark) {
            return Err(other("its lines have another mark"));
        }
        if step > clock.steps {
            break;
        }
        if step == clock.steps {
            let t: Option<f64> = words.get(1).and_then(|t| t.parse().ok());
            if t != Some(clock.t) {
                return Err(other(&format!("its step {step} is at another time")));
            }
        }
        last = Some(step);
        writeln!(to, "{line}").map_err(FileError::write(path))?;
    }
    match last {
        Some(last) if last < clock.steps => Err(HydroError::Output(format!(
            "{} ends at step {last}, and the checkpoint is at step {}: the steps between would be missing. Fix: name another file with --history",
            path.display(),
            clock.steps
        ))),
        _ => Ok(()),
    }
}
