//! Where, when and by which program results were made.

use crate::page::Fact;
use crate::si::si;
use crate::version::version;
use greenup_setting::shell::{joined, quoted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where, when and by which program results were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Start of the run in UTC, as `2026-01-31T12:00:00Z`.
    pub date: String,
    /// Name of the host.
    pub host: String,
    /// Operating system and version of its kernel.
    pub kernel: String,
    /// The command line.
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// Commit that the program was built from; `unknown` outside of a repository.
    pub commit: String,
    /// Compiler of the program.
    pub compiler: String,
    /// Cargo features of the program that are enabled.
    pub features: Vec<String>,
    /// Seed of the random numbers; `None` without any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
    /// Durations of the parts of the work, s.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub durations_s: BTreeMap<String, f64>,
}

impl Provenance {
    /// Of a command that starts now on this host.
    pub fn now(command: String) -> Self {
        let seconds = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_secs());
        Self {
            date: greenup_files::date::utc(seconds),
            host: host_name(),
            kernel: kernel(),
            command,
            version: version().version.to_owned(),
            commit: version().commit.to_owned(),
            compiler: version().compiler.to_owned(),
            features: (version().features.iter())
                .map(|f| (*f).to_owned())
                .collect(),
            seed: None,
            durations_s: BTreeMap::new(),
        }
    }

    /// Of this process, with its command line as one would type it.
    pub fn of_process() -> Self {
        let words: Vec<String> = std::env::args_os()
            .enumerate()
            .map(|(k, word)| match Path::new(&word).file_name() {
                Some(name) if k == 0 => typed(&quoted(&name.to_string_lossy())),
                _ => quoted(&word.to_string_lossy()),
            })
            .collect();
        Self::now(words.join(" "))
    }

    /// The same with the seed of the random numbers.
    pub fn seeded(self, seed: Option<u64>) -> Self {
        Self { seed, ..self }
    }

    /// Adds the duration of a part of the work.
    pub fn took(&mut self, part: &str, seconds: f64) {
        self.durations_s.insert(part.to_owned(), seconds);
    }

    /// Names and values for a page.
    pub fn facts(&self) -> Vec<Fact> {
        self.pairs()
            .into_iter()
            .map(|(name, value)| Fact { name, value })
            .collect()
    }

    /// Names and values as texts, for metadata of files.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let features = match self.features.as_slice() {
            [] => "none".to_owned(),
            some => some.join(", "),
        };
        let mut out = vec![
            ("date", self.date.clone()),
            ("host", self.host.clone()),
            ("kernel", self.kernel.clone()),
            ("command", self.command.clone()),
            ("version", self.version.clone()),
            ("commit", self.commit.clone()),
            ("compiler", self.compiler.clone()),
            ("features", features),
        ];
        if let Some(seed) = self.seed {
            out.push(("seed", seed.to_string()));
        }
        if !self.durations_s.is_empty() {
            let all: Vec<String> = (self.durations_s.iter())
                .map(|(part, s)| format!("{part} {}", si(*s, "s")))
                .collect();
            out.push(("durations", all.join(", ")));
        }
        out.into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

/// The arguments of this program as one would type them.
pub fn arguments() -> String {
    let words = std::env::args_os().skip(1);
    joined(words.map(|a| a.to_string_lossy().into_owned()))
}

/// `greenup NAME`, which starts `greenup-NAME`.
fn typed(program: &str) -> String {
    match program.strip_prefix("greenup-") {
        Some(name) => format!("greenup {name}"),
        None => program.to_owned(),
    }
}

fn kernel() -> String {
    let read = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}"));
        text.unwrap_or_default().trim().to_owned()
    };
    match (read("ostype"), read("osrelease")) {
        (name, release) if !name.is_empty() => format!("{name} {release}"),
        _ => std::env::consts::OS.to_owned(),
    }
}

/// Name of this host.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => std::env::var("HOSTNAME").unwrap_or_else(|_| "unknown".to_owned()),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_run_has_a_date_and_a_host() {
        let p = Provenance::now("greenup study".into());
        assert!(p.date.as_str() > "2020" && !p.host.is_empty(), "{p:?}");
    }

    #[test]
    fn seeds_and_durations_are_named_where_there_are_some() {
        let plain = Provenance::of_process();
        assert!(!plain.command.starts_with('/') && !plain.kernel.is_empty());
        assert!(plain.compiler.starts_with("rustc ") || plain.compiler == "unknown");
        let json = serde_json::to_value(&plain).unwrap();
        assert!(json.get("seed").is_none() && json.get("durations_s").is_none());
        let mut full = plain.seeded(Some(7));
        full.took("fit", 0.25);
        let json = serde_json::to_value(&full).unwrap();
        assert_eq!(json["seed"], 7);
        assert_eq!(json["durations_s"]["fit"], 0.25);
        let facts = full.facts();
        let named = |n: &str| facts.iter().find(|f| f.name == n).unwrap().value.clone();
        assert_eq!(named("seed"), "7");
        assert_eq!(named("durations"), "fit 250 ms");
        assert_eq!(named("features"), "none");
    }

    #[test]
    fn programs_have_the_name_that_one_types() {
        assert_eq!(typed("greenup-paper"), "greenup paper");
        assert_eq!(typed("hydro"), "hydro");
    }
}
