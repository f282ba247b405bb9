//! What CLBlast's tuners write, `clblast_FAMILY_PRECISION.json`, and its database of them. Times are in milliseconds.

use super::super::record::{Failure, Outcome, Sweep};
use super::values::{self, Entry};
use super::{FormatError, finish, section};
use crate::command::Goal;
use greenup_space::Value;
use serde_json::Value as J;
use std::collections::BTreeMap;

/// Kernels of one file or of one section of a database.
struct Section<'a> {
    meta: &'a J,
    kernel: String,
    /// Names, where rows hold values alone.
    names: Vec<String>,
    rows: Vec<&'a J>,
}

/// Whether it is a file of CLBlast: its database, or of one tuner.
pub(super) fn is_it(json: &J) -> bool {
    let first = &json["results"][0];
    json["sections"].is_array()
        || json["kernel_family"].is_string()
        || first["parameters"].is_object()
}

pub(super) fn read(json: &J, stem: &str, asked: Option<&str>) -> Result<Sweep, FormatError> {
    let sections: Vec<Section> = match json["sections"].as_array() {
        Some(all) => all.iter().flat_map(Section::of).collect(),
        None => Section::of(json),
    };
    if sections.is_empty() {
        return Err(FormatError::NoResults);
    }
    let words: Vec<Vec<String>> = sections.iter().map(Section::words).collect();
    sections[section::chosen(&words, asked)?].sweep(stem)
}

impl<'a> Section<'a> {
    /// One for each kernel of a section.
    fn of(meta: &'a J) -> Vec<Self> {
        let of_section = meta["kernel"].as_str().or(meta["kernel_family"].as_str());
        let names = meta["parameter_names"].as_array().into_iter().flatten();
        let names: Vec<String> = names
            .filter_map(|n| n.as_str().map(str::to_owned))
            .collect();
        let mut out: Vec<Self> = Vec::new();
        for row in meta["results"].as_array().into_iter().flatten() {
            let kernel = row["kernel"].as_str().or(of_section).unwrap_or_default();
            match out.iter_mut().find(|s| s.kernel == kernel) {
                Some(s) => s.rows.push(row),
                None => out.push(Self {
                    meta,
                    kernel: kernel.to_owned(),
                    names: names.clone(),
                    rows: vec![row],
                }),
            }
        }
        out
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.meta[key].as_str().filter(|t| !t.is_empty())
    }

    fn device(&self) -> &str {
        let name = self.text("clblast_device_name").or(self.text("device"));
        name.unwrap_or("recorded")
    }

    /// By what it can be chosen.
    fn words(&self) -> Vec<String> {
        let precision = self.text("precision").unwrap_or_default();
        let mut out = vec![
            self.kernel.clone(),
            precision.to_owned(),
            self.device().to_owned(),
        ];
        let more = [
            self.arguments().replace(' ', ","),
            self.text("device").unwrap_or_default().to_owned(),
        ];
        out.extend(
            more.into_iter()
                .filter(|m| !m.is_empty() && *m != self.device()),
        );
        out
    }

    /// `m=1024 n=1024`.
    fn arguments(&self) -> String {
        let all = self.meta.as_object().into_iter().flatten();
        let own = all.filter_map(|(k, v)| {
            let text = v.as_str().map_or_else(|| v.to_string(), str::to_owned);
            Some(format!("{}={text}", k.strip_prefix("arg_")?))
        });
        own.collect::<Vec<_>>().join(" ")
    }

    /// Whether its times are scores of 0 to 100 for the choice between two kernels.
    fn is_score(&self) -> bool {
        self.kernel.ends_with("_kernel_selection")
    }

    /// The values of a row: an object, or a text `16,8` in the order of the section's names.
    fn values(&self, row: &'a J) -> Vec<(String, J)> {
        match (&row["parameters"], &row[0]) {
            (J::Object(all), _) => all.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
            (_, J::String(text)) => {
                let value = |v: &str| {
                    v.trim()
                        .parse::<i64>()
                        .map_or_else(|_| v.trim().into(), J::from)
                };
                let values: Vec<J> = text.split(',').map(value).collect();
                self.names.iter().cloned().zip(values).collect()
            }
            _ => Vec::new(),
        }
    }

    fn sweep(&self, stem: &str) -> Result<Sweep, FormatError> {
        let mut parameters: Vec<String> = self.names.clone();
        for (name, _) in self.rows.iter().flat_map(|r| self.values(r)) {
            if !parameters.contains(&name) {
                parameters.push(name);
            }
        }
        if parameters.is_empty() {
            return Err(FormatError::NoResults);
        }
        let quantity = if self.is_score() { "score" } else { "time" };
        let (mut entries, mut rounded) = (Vec::with_capacity(self.rows.len()), 0);
        for (i, row) in self.rows.iter().enumerate() {
            let own = self.values(row);
            let config = (parameters.iter())
                .map(|p| self.value(&own, p, i))
                .collect::<Result<Vec<_>, _>>()?;
            let written = row.get("time").or(row.get(1)).unwrap_or(&J::Null);
            if !self.is_score() && written.as_f64() == Some(0.0) {
                rounded += 1;
                continue;
            }
            let mut entry = Entry::default();
            entry.put(quantity, written, if self.is_score() { "" } else { "ms" });
            let mut t = values::trial(config, values::failed(""), BTreeMap::new());
            let fails = written.as_f64().is_some_and(|x| x < 0.0);
            if fails {
                t.outcome = Outcome::Failed {
                    failure: Failure::Runtime,
                    message: format!("CLBlast marks a failure with the time {written}"),
                };
            }
            entries.push((t, entry, fails));
        }
        let mut warnings = Vec::new();
        if rounded > 0 {
            warnings.push(format!(
                "{rounded} trials are left out: CLBlast rounded their times to 0.000 ms, so they are not known"
            ));
        }
        let (trials, objective) = finish(entries, Some(quantity), &mut warnings)?;
        let name = if self.kernel.is_empty() {
            stem
        } else {
            &self.kernel
        };
        let mut sweep = super::sweep(
            name.to_owned(),
            self.device().to_owned(),
            parameters,
            trials,
        );
        sweep.facts.objective = objective;
        if self.is_score() {
            sweep.facts.goal = Some(Goal::Minimize);
            warnings.push("its `time` is a score for the choice between two kernels, no time: it is the metric `score`".into());
        }
        warnings.extend(self.other_best(&sweep));
        sweep.facts.more = self.facts();
        sweep.warnings = warnings;
        Ok(sweep)
    }

    fn value(&self, own: &[(String, J)], p: &str, i: usize) -> Result<Value, FormatError> {
        let found = own.iter().find(|(n, _)| n == p).ok_or("missing");
        found
            .and_then(|(_, v)| values::parameter(v, false))
            .map_err(|what| FormatError::Parameter {
                of: format!("result {}", i + 1),
                parameter: p.to_owned(),
                what,
            })
    }

    /// A note where the file names another best time than its results have: they are not of one run.
    fn other_best(&self, sweep: &Sweep) -> Option<String> {
        // It is written with two digits.
        const ROUNDED_MS: f64 = 0.006;
        let stated: f64 = self.text("best_time")?.trim().parse().ok()?;
        let least = sweep.measured().map(|(_, c)| c.time_s * 1e3);
        let least = least.filter(|t| t.is_finite()).reduce(f64::min)?;
        ((stated - least).abs() > ROUNDED_MS + 1e-3 * least).then(|| {
            format!("its `best_time` is {stated} ms, but the least time of its results {least:.3} ms: results are missing or of another run")
        })
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let mut out: BTreeMap<String, String> = [("tuner".to_owned(), "CLBlast".to_owned())].into();
        let arguments = self.arguments();
        for (name, text) in [
            ("kernel family", self.text("kernel_family")),
            ("precision", self.text("precision")),
            (
                "arguments",
                Some(arguments.as_str()).filter(|a| !a.is_empty()),
            ),
            ("platform", self.text("platform_version")),
            (
                "vendor",
                self.text("clblast_device_vendor")
                    .or(self.text("device_vendor")),
            ),
            ("architecture", self.text("clblast_device_architecture")),
            (
                "clock",
                self.text("device_core_clock")
                    .or(self.text("clblast_device_core_clock")),
            ),
            (
                "compute units",
                self.text("device_compute_units")
                    .or(self.text("clblast_device_compute_units")),
            ),
        ] {
            if let Some(text) = text {
                out.insert(name.into(), text.to_owned());
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
