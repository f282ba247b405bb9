//! The file of a study's runs: a line for each, written when it ends, from which the study continues.

use super::case::Case;
use super::measured::Predicted;
use greenup_files::{FileError, Log};
use greenup_report::provenance::Provenance;
use greenup_setting::setting;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Its name.
pub const NAME: &str = "scaling-runs.jsonl";

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    Study(Start),
    /// What the model predicts, before any run on several devices.
    Predicted {
        /// Name of the case.
        case: String,
        /// Its arguments on one device.
        arguments: Vec<String>,
        /// The predictions.
        predicted: Vec<Predicted>,
    },
    /// A run.
    Run(Run),
    /// A run that failed.
    Failed {
        /// Name of the case.
        case: String,
        /// Number of devices.
        devices: usize,
        /// Arguments of the program.
        arguments: Vec<String>,
        /// Its error message.
        why: String,
    },
}

/// What all runs of a file have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// Name of the devices.
    pub device: String,
    /// Whether the devices are GPUs, instead of ranks of one thread.
    pub gpus: bool,
    /// Where the link comes from, in words.
    pub link: String,
    /// The machine with the link, as its file.
    pub machine: String,
    /// Where and when.
    pub provenance: Provenance,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Name of the case.
    pub case: String,
    /// Number of devices.
    pub devices: usize,
    /// Its round.
    pub round: usize,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Time of the process, s.
    pub process_s: f64,
    /// Energy of the devices meanwhile, by their own counters, J.
    pub process_j: Option<f64>,
    /// Hash of the bytes of the result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<String>,
    /// What the program printed.
    pub report: Value,
}

/// Why a file of runs cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunsFileError {
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is not one of a study.
    #[error(
        "{file}, line {line}: {cause}. Fix: name a new folder by {}",
        setting("out")
    )]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        cause: String,
    },
}

/// An open file, with the lines that it had.
pub struct RunsFile {
    log: Log,
    path: PathBuf,
    lines: Vec<Line>,
}

impl RunsFile {
    /// Opens the file of a folder; a missing one is created.
    ///
    /// # Errors
    /// It cannot be read or written, or a line is not one of a study.
    pub fn open(folder: &Path) -> Result<Self, RunsFileError> {
        let path = folder.join(NAME);
        // A line that a crash cut short is dropped.
        let log = Log::open(&path)?;
        let lines = (greenup_files::read_text(&path)?.lines().enumerate())
            .map(|(k, text)| {
                serde_json::from_str(text).map_err(|e| RunsFileError::Line {
                    file: path.display().to_string(),
                    line: k + 1,
                    cause: e.to_string(),
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { log, path, lines })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its first line, if it has any.
    pub fn start(&self) -> Option<&Start> {
        self.lines.iter().find_map(|l| match l {
            Line::Study(start) => Some(start),
            _ => None,
        })
    }

    /// Adds a line, which is on the disk when this returns.
    ///
    /// # Errors
    /// The disk is full or gone.
    pub fn add(&mut self, line: Line) -> Result<(), FileError> {
        let text = serde_json::to_string(&line).unwrap_or_default();
        self.log.line(text)?;
        self.lines.push(line);
        Ok(())
    }

    /// The case, or the smaller one that the file has runs of; and whether it has runs of this name with other arguments.
    pub fn case<'a>(&self, case: &'a Case) -> (&'a Case, bool) {
        let (mut found, mut others) = (case, false);
        for run in self
            .runs()
            .filter(|r| r.case == case.name && r.devices == 1)
        {
            match case.with_arguments(&run.arguments) {
                Some(with) => found = with,
                None => others = true,
            }
        }
        (found, others)
    }

    /// The run of a case on so many devices in a round.
    pub fn run(&self, case: &Case, devices: usize, round: usize) -> Option<&Run> {
        let arguments = &case.runs.iter().find(|r| r.devices == devices)?.arguments;
        self.runs().find(|r| {
            (r.case.as_str(), r.devices, r.round) == (case.name, devices, round)
                && r.arguments == *arguments
        })
    }

    /// What was predicted of a case.
    pub fn predicted(&self, case: &Case) -> Option<&[Predicted]> {
        self.lines.iter().find_map(|l| match l {
            Line::Predicted {
                case: name,
                arguments,
                predicted,
            } if name == case.name
                && arguments == case.arguments()
                && (case.runs.iter()).all(|r| predicted.iter().any(|p| p.devices == r.devices)) =>
            {
                Some(predicted.as_slice())
            }
            _ => None,
        })
    }

    fn runs(&self) -> impl Iterator<Item = &Run> {
        self.lines.iter().filter_map(|l| match l {
            Line::Run(run) => Some(run),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::case::CaseRun;

    fn case(points: &str, smaller: Option<Box<Case>>) -> Case {
        Case {
            name: "fmm",
            runs: [1, 2]
                .map(|devices| CaseRun {
                    devices,
                    size: 1.0,
                    arguments: vec![points.into(), devices.to_string()],
                })
                .into(),
            smaller,
            ..Case::default()
        }
    }

    fn run(points: &str, devices: usize, round: usize) -> Line {
        Line::Run(Run {
            case: "fmm".into(),
            devices,
            round,
            arguments: vec![points.into(), devices.to_string()],
            process_s: 1.5,
            process_j: None,
            result: None,
            report: Value::Null,
        })
    }

    #[test]
    fn runs_are_found_again_after_a_crash() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = RunsFile::open(dir.path()).unwrap();
        file.add(run("80", 1, 0)).unwrap();
        file.add(run("80", 2, 1)).unwrap();
        drop(file);
        let text = std::fs::read_to_string(dir.path().join(NAME)).unwrap();
        std::fs::write(dir.path().join(NAME), format!("{text}{{\"run\":")).unwrap();
        let file = RunsFile::open(dir.path()).unwrap();
        let smaller = case("80", None);
        assert!(file.run(&smaller, 2, 1).is_some() && file.run(&smaller, 1, 0).is_some());
        assert!(file.run(&smaller, 1, 1).is_none());
        // The file tells that the larger case did not fit.
        let large = case("100", Some(Box::new(smaller)));
        let (found, others) = file.case(&large);
        assert_eq!((found.arguments()[0].as_str(), others), ("80", false));
        let other = case("60", None);
        assert!(file.case(&other).1 && file.run(&other, 1, 0).is_none());
    }

    #[test]
    fn a_line_of_another_kind_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(NAME), "{\"run\": 3}\n").unwrap();
        let e = RunsFile::open(dir.path())
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(e.contains("line 1") && e.contains("--out"), "{e}");
    }
}
