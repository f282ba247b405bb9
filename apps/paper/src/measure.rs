//! Measuring an item anew: the commands that make its records.

use crate::PaperError;
use crate::data::Item;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Commands that make a record anew.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The record, a file or a folder, relative to the root of a checkout.
    pub record: String,
    /// Other records that the same commands make.
    #[serde(default)]
    pub also: Vec<String>,
    /// Commands in order, programs of this workspace, without quotes; `{out}` stands for the new record, `{new}` for the
    /// folder below which all new records stand.
    pub run: Vec<String>,
    /// What it needs.
    pub needs: Needs,
    /// About how long it takes, s.
    pub about_s: f64,
    /// Whether the record is what the last command prints.
    #[serde(default)]
    pub printed: bool,
}

/// The device that a measurement needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Needs {
    /// The cores of this host.
    Cpu,
    /// A GPU.
    Gpu,
}

impl Needs {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
        }
    }
}

/// A measurement that ended, kept beside the records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The record.
    pub record: String,
    /// Other records that the commands made.
    #[serde(default)]
    pub also: Vec<String>,
    /// The commands as they ran.
    pub commands: Vec<String>,
    /// When it ended.
    pub date: String,
    /// The host.
    pub host: String,
    /// How long it took, s.
    pub seconds: f64,
}

impl Measured {
    /// Whether a record, or the folder that it is in, was made.
    pub fn made(&self, record: &str) -> bool {
        std::iter::once(&self.record)
            .chain(&self.also)
            .any(|r| Path::new(record).starts_with(r))
    }
}

impl Measure {
    /// The records that the commands make.
    pub fn records(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.record).chain(&self.also)
    }

    /// The commands in words, with the folder of new records.
    pub fn commands(&self, folder: &str) -> Vec<Vec<String>> {
        let out = format!("{folder}/{}", self.record);
        let words = |line: &String| {
            line.split_whitespace()
                .map(|w| w.replace("{out}", &out).replace("{new}", folder))
                .collect()
        };
        self.run.iter().map(words).collect()
    }
}

/// The measurements of some items, each record once.
///
/// # Errors
/// There is none.
pub fn of_items<'a>(paper: &str, items: &[&'a Item]) -> Result<Vec<&'a Measure>, PaperError> {
    let mut all: Vec<&Measure> = Vec::new();
    for m in items.iter().flat_map(|i| &i.measure) {
        if all.iter().all(|known| known.record != m.record) {
            all.push(m);
        }
    }
    if all.is_empty() {
        return Err(PaperError::NothingToMeasure(paper.to_owned()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate as papers;

    #[test]
    fn measurements_name_records_of_their_item_and_programs_of_ours() {
        let mut known = 0;
        for paper in papers::list().unwrap() {
            for item in &paper.items {
                for m in &item.measure {
                    known += 1;
                    let at = format!("{} {}: {}", paper.name, item.id, m.record);
                    for record in m.records() {
                        assert!(item.records.contains(record), "{at}: {record}");
                    }
                    let also =
                        |a: &String| m.run.iter().any(|r| r.contains(&format!("{{new}}/{a}")));
                    assert!(m.also.iter().all(also), "{at}");
                    assert!(m.about_s > 0.0 && m.about_s < 3600.0, "{at}");
                    let made = m.run.iter().any(|r| r.contains("{out}"));
                    assert!(made != m.printed, "{at}");
                    for words in m.commands("new folder") {
                        let ours = ["greenup", "gisaxs", "hydro", "fmm"];
                        assert!(ours.contains(&words[0].as_str()), "{at}");
                        // A path with spaces stays one word.
                        assert!(words.iter().all(|w| w != "folder"), "{at}");
                    }
                }
            }
        }
        assert!(known >= 20, "{known}");
    }

    #[test]
    fn a_record_is_measured_once() {
        let paper = papers::find("beast").unwrap();
        let items = paper.select(None).unwrap();
        let all = of_items("beast", &items).unwrap();
        let mut names: Vec<&str> = all.iter().map(|m| m.record.as_str()).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
    }
}
