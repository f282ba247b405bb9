//! Where an output goes: a file, or standard output by the name `-`. The ending of a file's name chooses its format.

use crate::error::AppError;
use crate::print;
use greenup_files::outputs::ending;
use greenup_files::{FileError, Outputs, Result};
use greenup_report::chart::{Chart, FileStyle};
use greenup_report::provenance::Provenance;
use std::path::{Path, PathBuf};

/// A checked output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// With its ending, in lower case.
    File(PathBuf, String),
    /// Standard output, in place of what the command prints there.
    Stdout,
}

impl Output {
    /// Checks a name before any work: a file with one of these endings, or `-`.
    ///
    /// # Errors
    /// As [`Outputs::file`].
    pub fn new(outputs: &mut Outputs, path: &Path, endings: &[&str]) -> Result<Self> {
        if path.as_os_str() == "-" {
            outputs.stdout()?;
            return Ok(Self::Stdout);
        }
        Self::file(outputs, path, endings)
    }

    /// The same without `-`.
    ///
    /// # Errors
    /// As [`Outputs::file`].
    pub fn file(outputs: &mut Outputs, path: &Path, endings: &[&str]) -> Result<Self> {
        outputs.file(path, endings)?;
        Ok(Self::File(path.to_owned(), ending(path, endings)?))
    }

    /// Whether its name chose this format.
    pub fn has_ending(&self, wanted: &str) -> bool {
        matches!(self, Self::File(_, e) if e == wanted)
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        *self == Self::Stdout
    }

    /// Writes it whole or not at all.
    ///
    /// # Errors
    /// The disk is full or gone; a file stays as it was. Failures of standard output show in
    /// [`crate::stdout::finish`].
    pub fn write(&self, bytes: &[u8]) -> std::result::Result<(), FileError> {
        match self {
            Self::File(path, _) => greenup_files::write(path, bytes),
            Self::Stdout => {
                crate::stdout::bytes(bytes);
                Ok(())
            }
        }
    }
}

/// Endings of figures.
pub const FIGURES: [&str; 3] = ["svg", "png", "pdf"];

/// Checks the name of a figure before any work.
///
/// # Errors
/// As of [`optional`].
pub fn figure(
    outputs: &mut Outputs,
    path: Option<&Path>,
    json: bool,
) -> crate::Result<Option<Output>> {
    optional(outputs, path, &FIGURES, json)
}

/// Checks the name of an optional output before any work.
///
/// # Errors
/// As of [`Output::new`]; `-` together with `--json`, which goes to standard output too.
pub fn optional(
    outputs: &mut Outputs,
    path: Option<&Path>,
    endings: &[&str],
    json: bool,
) -> crate::Result<Option<Output>> {
    let Some(path) = path else { return Ok(None) };
    let to = Output::new(outputs, path, endings)?;
    if json && to.is_stdout() {
        return Err(AppError::new("`-` and --json both go to standard output").hint("name a file"));
    }
    Ok(Some(to))
}

/// Writes a chart in the format of the name's ending; prints where it went.
///
/// # Errors
/// As of [`Output::write_chart`].
pub fn write_chart(path: &Path, chart: &Chart, look: &FileStyle) -> crate::Result {
    Output::File(path.to_owned(), ending(path, &FIGURES)?).write_chart(chart, look)
}

impl Output {
    /// Writes a chart in the format of its ending, SVG to standard output; prints where it went. A chart that does not
    /// say where it comes from gets this process as its origin.
    ///
    /// # Errors
    /// The file cannot be written, or the chart cannot be drawn.
    pub fn write_chart(&self, chart: &Chart, look: &FileStyle) -> crate::Result {
        let ending = match self {
            Self::File(_, ending) => ending.as_str(),
            Self::Stdout => "svg",
        };
        let bytes = if chart.origin.is_empty() {
            Chart {
                origin: Provenance::of_process().pairs(),
                ..chart.clone()
            }
            .file(ending, look)?
        } else {
            chart.file(ending, look)?
        };
        self.write(&bytes)?;
        self.print_name();
        Ok(())
    }

    /// Prints to standard error where the output went.
    pub fn print_name(&self) {
        if let Self::File(path, _) = self {
            print::note(format!("wrote {}", path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_chooses_the_format() {
        let dir = tempfile::tempdir().unwrap();
        let mut o = Outputs::new();
        let png = Output::new(&mut o, &dir.path().join("a.PNG"), &["svg", "png"]).unwrap();
        assert!(png.has_ending("png") && !png.is_stdout());
        png.write(b"x").unwrap();
        assert_eq!(std::fs::read(dir.path().join("a.PNG")).unwrap(), b"x");
        assert!(Output::new(&mut o, &dir.path().join("a.pdf"), &["svg"]).is_err());
        let stdout = Output::new(&mut o, Path::new("-"), &["svg"]).unwrap();
        assert!(stdout.is_stdout() && !stdout.has_ending("svg"));
    }
}
