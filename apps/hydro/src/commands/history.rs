//! The history of a run: a line of a CSV file per step.

use greenup_files::{AtomicFile, FileError, Log};
use greenup_hydro::HydroError;
use greenup_hydro::time::stepping::Clock;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

type Result<T = ()> = std::result::Result<T, HydroError>;

const HEADER: &str = "step,t,next_dt,internal,kinetic,drift";

/// Maximum length of a line.
const MAX_LINE: u64 = 1024;

pub struct History {
    to: To,
    path: PathBuf,
}

enum To {
    File(Log),
    /// A device or a pipe, to which lines cannot be appended.
    Stream(File),
}

impl History {
    /// Creates a file; or continues that of a run that is restarted after `restart` steps, without its later lines.
    ///
    /// # Errors
    /// The file cannot be written, or is not a history.
    pub fn new(path: &Path, restart: Option<usize>) -> Result<Self> {
        if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
            let stream = OpenOptions::new()
                .write(true)
                .open(path)
                .map_err(FileError::write(path))?;
            let mut out = Self {
                to: To::Stream(stream),
                path: path.to_owned(),
            };
            out.line(HEADER)?;
            return Ok(out);
        }
        let steps = restart.filter(|_| path.exists());
        let mut start = AtomicFile::create(path)?;
        writeln!(start, "{HEADER}").map_err(FileError::write(path))?;
        if let Some(steps) = steps {
            earlier(path, steps, &mut start)?;
        }
        start.commit()?;
        Ok(Self {
            to: To::File(Log::open(path)?),
            path: path.to_owned(),
        })
    }

    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, c: &Clock, (internal, kinetic): (f64, f64), start: f64) -> Result {
        let drift = (internal + kinetic - start) / start;
        let Clock { steps, t, dt, .. } = c;
        self.line(&format!(
            "{steps},{t:e},{dt:e},{internal:.17e},{kinetic:.17e},{drift:e}"
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

/// Copies the lines of a history up to a step.
fn earlier(path: &Path, steps: usize, to: &mut AtomicFile) -> Result {
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
    match next()? {
        None => return Ok(()),
        Some(header) if header == HEADER => {}
        Some(_) => return Err(not_ours().into()),
    }
    while let Some(line) = next()? {
        let step: usize = line
            .split(',')
            .next()
            .and_then(|n| n.parse().ok())
            .ok_or_else(not_ours)?;
        if step > steps {
            break;
        }
        writeln!(to, "{line}").map_err(FileError::write(path))?;
    }
    Ok(())
}
