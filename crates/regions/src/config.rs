//! What is recorded and where it goes: the environment, or what a program sets.

use std::path::PathBuf;

/// What is written. Several may be on at once; none: regions are off and nearly free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// A table on standard error when the process exits.
    pub table: bool,
    /// A summary, one line of JSON, when the process exits.
    pub summary: bool,
    /// A line of JSON at each end of a region.
    pub lines: bool,
    /// Regions are counted and measured, for [`crate::summary`], also if nothing is written.
    pub record: bool,
}

impl Output {
    pub(crate) fn any(self) -> bool {
        self.table || self.summary || self.lines || self.record
    }
}

/// Settings of the recording.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// What is written.
    pub output: Output,
    /// File that JSON lines are appended to; without it they go to standard error. `%p` becomes the process id, `%r` the
    /// rank, `%h` the host.
    pub file: Option<PathBuf>,
    /// Energy sensors: ids of `greenup doctor`, `external:FILE`, `recorded:FILE`, `simulated:WATTS[:TICK_S]`, or `none`.
    /// Empty: the best one of each device.
    pub sensors: Vec<String>,
    /// Seconds between two summaries of the run so far; 0 for one at exit alone.
    pub every_s: f64,
}

impl Config {
    /// From `GREENUP_REGIONS`, `GREENUP_REGIONS_FILE`, `GREENUP_REGIONS_SENSOR` and `GREENUP_REGIONS_EVERY`; with what is
    /// wrong in them.
    pub fn from_env() -> (Self, Vec<String>) {
        Self::parse(
            variable("GREENUP_REGIONS").as_deref(),
            variable("GREENUP_REGIONS_FILE").as_deref(),
            variable("GREENUP_REGIONS_SENSOR").as_deref(),
            variable("GREENUP_REGIONS_EVERY").as_deref(),
        )
    }

    fn parse(
        what: Option<&str>,
        file: Option<&str>,
        sensors: Option<&str>,
        every: Option<&str>,
    ) -> (Self, Vec<String>) {
        let mut wrong = Vec::new();
        let file = file.filter(|f| !f.is_empty()).map(PathBuf::from);
        let default = Output {
            table: file.is_none(),
            summary: file.is_some(),
            ..Output::default()
        };
        let mut output = Output::default();
        let mut off = false;
        for word in what.unwrap_or_default().split(',').map(str::trim) {
            match word {
                "" => {}
                "off" | "0" | "none" => off = true,
                "on" | "1" => output = default,
                "table" => output.table = true,
                "summary" | "json" => output.summary = true,
                "lines" => output.lines = true,
                other => wrong.push(format!(
                    "GREENUP_REGIONS: unknown value `{other}`; give off, table, summary or lines"
                )),
            }
        }
        if !off && !output.any() {
            output = default;
        }
        if off {
            output = Output::default();
        }
        let every_s = match every.filter(|e| !e.is_empty()).map(str::parse::<f64>) {
            None => 0.0,
            Some(Ok(s)) if s.is_finite() && s >= 0.0 => s,
            Some(_) => {
                wrong.push(
                    "GREENUP_REGIONS_EVERY: not a number of seconds; one summary at exit".into(),
                );
                0.0
            }
        };
        let sensors = sensors
            .unwrap_or_default()
            .split(',')
            .map(|s| s.trim().to_owned())
            .filter(|s| !s.is_empty())
            .collect();
        let config = Self {
            output,
            file,
            sensors,
            every_s,
        };
        (config, wrong)
    }

    /// The file with `%p`, `%r` and `%h` replaced.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        let Some(text) = file.to_str() else {
            return Some(file.clone());
        };
        let rank = rank().unwrap_or(0).to_string();
        let text = text
            .replace("%p", &std::process::id().to_string())
            .replace("%r", &rank)
            .replace("%h", &host());
        Some(PathBuf::from(text))
    }
}

/// A variable of the environment; none in a program that runs with more rights than its caller.
pub fn variable(name: &str) -> Option<String> {
    #[cfg(target_os = "linux")]
    // SAFETY: asks the kernel for a number.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    Some(std::env::var_os(name)?.to_string_lossy().into_owned())
}

/// Rank of this process among those that a launcher started.
pub fn rank() -> Option<u32> {
    [
        "OMPI_COMM_WORLD_RANK",
        "PMIX_RANK",
        "PMI_RANK",
        "SLURM_PROCID",
        "RANK",
    ]
    .iter()
    .find_map(|name| variable(name)?.trim().parse().ok())
}

/// Name of this host.
pub fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is as long as is said; its last byte stays 0.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&b| b == 0).unwrap_or(0);
    String::from_utf8_lossy(&name[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_words() {
        let (c, wrong) = Config::parse(None, None, None, None);
        assert!(c.output.table && !c.output.summary && wrong.is_empty());
        let (c, _) = Config::parse(None, Some("a.jsonl"), None, None);
        assert!(!c.output.table && c.output.summary);
        let (c, _) = Config::parse(Some("table,lines"), Some("a"), Some("x, y,"), Some("2.5"));
        assert!(c.output.table && c.output.lines && !c.output.summary);
        assert_eq!((c.sensors.len(), c.every_s), (2, 2.5));
        let (c, _) = Config::parse(Some("off"), Some("a"), None, None);
        assert!(!c.output.any());
        let (c, wrong) = Config::parse(Some("of"), None, None, Some("-1"));
        assert!(c.output.table);
        assert!(wrong[0].contains("`of`") && wrong.len() == 2);
    }

    #[test]
    fn names_of_files() {
        let c = Config {
            file: Some("r-%p-%r.jsonl".into()),
            ..Config::default()
        };
        let name = c.file().unwrap();
        let name = name.to_str().unwrap();
        assert!(name.contains(&std::process::id().to_string()) && !name.contains('%'));
    }
}
