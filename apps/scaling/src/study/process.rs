//! The processes of a study: their energy, their result and their error.

use greenup_meter::Sensor;
use greenup_process::capture::Output;
use std::hash::Hasher as _;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

/// A run that takes longer is killed.
pub const LIMIT: Duration = Duration::from_secs(1800);

/// Energy of the first devices so far, J; `None` without a counter of each.
pub fn energy(counters: &mut [Box<dyn Sensor>], devices: usize) -> Option<f64> {
    let some = counters.get_mut(..devices)?;
    some.iter_mut()
        .map(|c| c.read().ok().map(|r| r.value))
        .sum()
}

/// A hash of a file's bytes.
pub fn hash(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = std::hash::DefaultHasher::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(format!("{:016x}", hasher.finish())),
            n => hasher.write(&chunk[..n]),
        }
    }
}

/// Why a run failed: its error message.
pub fn reason(out: &Output) -> String {
    let lines: Vec<&str> = out.stderr.lines().collect();
    let error = lines.iter().find(|l| l.starts_with("error:"));
    match (error.or(lines.last()), out.status) {
        (_, None) => format!("it took more than {} minutes", LIMIT.as_secs() / 60),
        (Some(line), _) => line.trim_start_matches("error: ").to_owned(),
        (None, Some(status)) => status.to_string(),
    }
}
