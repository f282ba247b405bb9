//! The best config of a sweep in forms that a build reads: compiler flags, a C header, JSON, TOML.

use super::record::Sweep;
use crate::objective::{Objective, Unmet};
use greenup_setting::setting;
use greenup_space::Value;
use std::fmt::Write as _;

/// The best config of a sweep.
#[derive(Clone, Debug)]
pub struct Best<'a> {
    sweep: &'a Sweep,
    /// What it is the best by.
    pub objective: Objective,
    /// Values of the parameters, in the order of the sweep.
    pub config: &'a [Value],
    /// Time of a run, s; NaN in files of other tuners that only have metrics.
    pub time_s: f64,
    /// Energy of a run, J; `None` if it was not measured.
    pub energy_j: Option<f64>,
    /// Name and value of the metric that is the objective.
    pub metric: Option<(&'a str, f64)>,
    /// Whether time and energy are those of the final rounds, in which the best configs were measured again.
    pub final_rounds: bool,
}

/// Why a sweep has no best config.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoBest {
    /// There are no trials.
    #[error("the sweep has no trials: `greenup tune` with {} measures some", setting("resume").on())]
    Empty,
    /// No trial succeeded.
    #[error("no trial of the sweep succeeded: {0}")]
    Failed(String),
    /// Trials were measured, but only for a part of the time of a full measurement.
    #[error("no trial of the sweep was measured in full")]
    Partial,
    /// No trial has a time.
    #[error("the sweep has no times; it has {}: name one with {}", .0.join(", "), setting("objective"))]
    NoTime(Vec<String>),
    /// The objective needs energies.
    #[error("the sweep has no energies, which the objective `{0}` needs")]
    NoEnergy(String),
    /// No config keeps the bound of the objective.
    #[error("{0}")]
    Bound(Unmet),
    /// The name of a parameter is not one of a macro.
    #[error("`{0}` cannot be the name of a macro")]
    Name(String),
    /// A value would not reach the compiler as one word.
    #[error("the value of `{0}` cannot stand in a flag: it has spaces, quotes or wildcards")]
    Flag(String),
    /// A value cannot be that of a macro.
    #[error(
        "the value of `{0}` cannot be that of a macro: it has several lines, a comment, an open quote or ends with \\"
    )]
    Value(String),
}

/// A macro: name and value.
pub type Define = (String, String);

/// The best config by an objective.
///
/// # Errors
/// No trial has what the objective needs.
pub fn best(sweep: &Sweep, objective: Objective) -> Result<Best<'_>, NoBest> {
    let found = sweep.winner(objective);
    let Some((i, (cost, final_rounds))) = found.and_then(|i| Some((i, sweep.best_known_cost(i)?)))
    else {
        return Err(none(sweep, objective));
    };
    Ok(Best {
        sweep,
        objective,
        config: &sweep.trials[i].config,
        time_s: cost.time_s,
        energy_j: cost.energy_j,
        metric: sweep.metric_of(i, objective),
        final_rounds,
    })
}

fn none(sweep: &Sweep, objective: Objective) -> NoBest {
    if sweep.trials.is_empty() {
        return NoBest::Empty;
    }
    if sweep.measured().next().is_none() {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for (f, _) in sweep.trials.iter().filter_map(|t| t.failure()) {
            match kinds.iter_mut().find(|(k, _)| *k == f.name()) {
                Some((_, n)) => *n += 1,
                None => kinds.push((f.name(), 1)),
            }
        }
        let each: Vec<String> = kinds.iter().map(|(k, n)| format!("{n} {k}")).collect();
        return NoBest::Failed(each.join(", "));
    }
    if objective.needs_energy() && !sweep.has_energy() {
        return NoBest::NoEnergy(objective.to_string());
    }
    if let Some(unmet) = sweep.unmet(objective) {
        return NoBest::Bound(unmet);
    }
    if !sweep.measured().any(|(_, c)| c.time_s.is_finite()) {
        return NoBest::NoTime(sweep.objectives());
    }
    NoBest::Partial
}

impl Best<'_> {
    fn pairs(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.sweep.facts.parameters.iter().zip(self.config)
    }

    /// The parameters as they stand in a command.
    pub fn words(&self) -> Vec<(String, String)> {
        self.pairs()
            .map(|(n, v)| (n.clone(), v.to_string()))
            .collect()
    }

    /// The parameters as macros, as a build of the tuner defines them.
    pub fn defines(&self) -> Vec<Define> {
        let parameters = self.pairs().map(|(n, v)| match v {
            Value::Bool(b) => (n.clone(), i32::from(*b).to_string()),
            v => (n.clone(), v.to_string()),
        });
        let constants = self.constants().map(|(n, text)| {
            // As TOML writes them.
            let value = match serde_json::from_str(text) {
                Ok(serde_json::Value::Bool(b)) => i32::from(b).to_string(),
                Ok(serde_json::Value::String(s)) => s,
                _ => text.clone(),
            };
            (n.to_owned(), value)
        });
        parameters.chain(constants).collect()
    }

    /// Constants of the problem that a sweep of ours recorded, by name.
    fn constants(&self) -> impl Iterator<Item = (&str, &String)> {
        let recorded = self.sweep.facts.fingerprint.iter();
        recorded.filter_map(|(k, v)| Some((k.strip_prefix("constants.")?, v)))
    }

    /// Flags of the compiler with which a kernel of the host was measured; none where they are not recorded.
    pub fn build_flags(&self) -> &str {
        let more = &self.sweep.facts.more;
        if more.contains_key("architecture") || more.contains_key("opencl") {
            return "";
        }
        more.get("flags").map_or("", String::as_str)
    }

    /// `{"config": {…}, "time_s": …, "energy_j": …}`; what was not measured is null. With a metric as the objective also
    /// `"objective"` and its `"value"`.
    ///
    /// # Errors
    /// A value cannot be written as JSON.
    pub fn json(&self) -> Result<serde_json::Value, serde_json::Error> {
        let mut config = serde_json::Map::new();
        for (n, v) in self.pairs() {
            config.insert(n.clone(), serde_json::to_value(v)?);
        }
        let mut out = serde_json::json!({
            "config": config,
            "time_s": self.time_s,
            "energy_j": self.energy_j,
        });
        if let Some((name, value)) = self.metric {
            out["objective"] = format!("metric:{name}").into();
            out["value"] = value.into();
        }
        Ok(out)
    }

    /// The same as TOML, with where it comes from as a comment; no energy has no key, and `None` is the text that commands
    /// and compilers get.
    ///
    /// # Errors
    /// A value cannot be written as TOML.
    pub fn toml(&self, source: &str) -> Result<String, toml::ser::Error> {
        let mut config = toml::Table::new();
        for (n, v) in self.pairs() {
            config.insert(n.clone(), in_toml(v)?);
        }
        let mut table = toml::Table::new();
        if self.time_s.is_finite() {
            table.insert("time_s".into(), self.time_s.into());
        }
        if let Some((name, value)) = self.metric {
            table.insert("objective".into(), format!("metric:{name}").into());
            table.insert("value".into(), value.into());
        }
        if let Some(e) = self.energy_j {
            table.insert("energy_j".into(), e.into());
        }
        table.insert("config".into(), config.into());
        let comment: String = self
            .provenance(source)
            .iter()
            .map(|l| format!("# {l}\n"))
            .collect();
        Ok(format!("{comment}{}", toml::to_string(&table)?))
    }

    /// A C header that defines macros, with where they come from as a comment.
    ///
    /// # Errors
    /// A macro cannot have this name or value.
    pub fn header(&self, defines: &[Define], source: &str) -> Result<String, NoBest> {
        check(defines)?;
        let name: String = self
            .sweep
            .facts
            .name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_uppercase()
                } else {
                    '_'
                }
            })
            .collect();
        let guard = format!("GREENUP_BEST_{name}_H");
        let mut out = String::from("/*\n");
        for line in self.provenance(source) {
            let _ = writeln!(out, " * {}", line.replace("*/", "* /"));
        }
        let _ = write!(out, " */\n#ifndef {guard}\n#define {guard}\n\n");
        for (n, v) in defines {
            let _ = writeln!(out, "#define {n} {v}");
        }
        out.push_str("\n#endif\n");
        Ok(out)
    }

    /// Where it comes from, a line a fact.
    fn provenance(&self, source: &str) -> Vec<String> {
        let facts = &self.sweep.facts;
        let time = if self.time_s.is_finite() {
            format!("time_s {:e}", self.time_s)
        } else {
            "no time".into()
        };
        let energy = (self.energy_j).map_or_else(String::new, |e| format!(", energy_j {e:e}"));
        let metric = (self.metric).map_or_else(String::new, |(n, x)| format!(", {n} {x:e}"));
        let mut out = vec![
            format!(
                "Best config of the sweep `{}` by {}.",
                facts.name, self.objective
            ),
            format!("sweep: {source}"),
            format!("device: {}", facts.device),
            format!(
                "measured: {time}{energy}{metric}, {}",
                if self.final_rounds {
                    "in the final rounds"
                } else {
                    "in one trial"
                }
            ),
            format!(
                "verified with a reference: {}",
                match facts.verified {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "unknown",
                }
            ),
        ];
        let constants: Vec<String> = self
            .constants()
            .map(|(n, v)| format!("{n} = {v}"))
            .collect();
        if !constants.is_empty() {
            out.push(format!("constants: {}", constants.join(", ")));
        }
        for (key, label) in [
            ("compiler", "compiler:"),
            ("flags", "flags:"),
            ("greenup", "greenup"),
            ("commit", "commit:"),
            ("command", "command: greenup"),
        ] {
            if let Some(v) = facts.more.get(key) {
                out.push(format!("{label} {v}"));
            }
        }
        // A comment line ends where a line ends, and TOML has no control characters.
        out.iter()
            .map(|l| l.replace(char::is_control, " "))
            .collect()
    }
}

/// A value as TOML, which has no null.
fn in_toml(value: &Value) -> Result<toml::Value, toml::ser::Error> {
    match value {
        Value::None => Ok(value.to_string().into()),
        Value::Tuple(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(in_toml).collect();
            items.map(toml::Value::Array)
        }
        v => toml::Value::try_from(v),
    }
}

/// `-DNAME=VALUE …`, to be put into a command by `$(…)`, where a shell removes no quotes.
///
/// # Errors
/// A macro cannot have this name or value.
pub fn flags(defines: &[Define]) -> Result<String, NoBest> {
    check(defines)?;
    let splits = |c: char| c.is_whitespace() || "*?[]\"'\\".contains(c);
    if let Some((n, _)) = defines.iter().find(|(_, v)| v.contains(splits)) {
        return Err(NoBest::Flag(n.clone()));
    }
    let all: Vec<String> = defines.iter().map(|(n, v)| format!("-D{n}={v}")).collect();
    Ok(all.join(" "))
}

/// Whether a preprocessor takes a text whole as the value of a macro: one line, without comments, all quotes closed.
fn is_macro_text(text: &str) -> bool {
    let mut open = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, open) {
            ('\n' | '\r' | '\0', _) => return false,
            ('\\', _) => match rest.next() {
                None | Some('\n' | '\r' | '\0') => return false,
                Some(_) => {}
            },
            ('"' | '\'', None) => open = Some(c),
            (c, Some(quote)) if c == quote => open = None,
            ('/', None) if matches!(rest.peek(), Some('/' | '*')) => return false,
            _ => {}
        }
    }
    open.is_none()
}

fn check(defines: &[Define]) -> Result<(), NoBest> {
    for (n, v) in defines {
        let is_name = n.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(NoBest::Name(n.clone()));
        }
        if !is_macro_text(v) {
            return Err(NoBest::Value(n.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::SweepFacts;

    fn sweep(lines: &[&str]) -> Sweep {
        Sweep {
            facts: SweepFacts {
                name: "a*/b".into(),
                device: "d\nd".into(),
                parameters: vec!["tile".into(), "simd".into(), "kind".into()],
                ..SweepFacts::default()
            },
            trials: lines
                .iter()
                .map(|l| serde_json::from_str(l).unwrap())
                .collect(),
            ..Sweep::default()
        }
    }

    const GOOD: &str =
        r#"{"config":[8,true,"csr"],"measured":{"times_s":[2.0],"time_s":2.0,"energy_j":3.0}}"#;
    const SLOW: &str =
        r#"{"config":[4,false,"x y"],"measured":{"times_s":[4.0],"time_s":4.0,"energy_j":1.0}}"#;
    const BAD: &str = r#"{"config":[1,true,"csr"],"failed":{"failure":"compile","message":"m"}}"#;

    #[test]
    fn all_forms_hold_the_config() {
        let s = sweep(&[BAD, SLOW, GOOD]);
        let b = best(&s, Objective::Time).unwrap();
        assert_eq!(flags(&b.defines()).unwrap(), "-Dtile=8 -Dsimd=1 -Dkind=csr");
        assert_eq!(
            b.json().unwrap().to_string(),
            r#"{"config":{"tile":8,"simd":true,"kind":"csr"},"time_s":2.0,"energy_j":3.0}"#
        );
        let t: toml::Table = b.toml("dir").unwrap().parse().unwrap();
        assert_eq!(t["config"]["kind"].as_str(), Some("csr"));
        assert_eq!(t["energy_j"].as_float(), Some(3.0));
        let h = b.header(&b.defines(), "dir").unwrap();
        assert!(h.contains("#define simd 1\n") && h.contains("#ifndef GREENUP_BEST_A__B_H"));
        // The name must not end the comment.
        assert_eq!(h.matches("*/").count(), 1, "{h}");
        let b = best(&s, Objective::Energy).unwrap();
        assert_eq!(flags(&b.defines()), Err(NoBest::Flag("kind".into())));
        let h = b.header(&b.defines(), "dir").unwrap();
        assert!(h.contains("#define kind x y\n"), "{h}");
    }

    #[test]
    fn none_and_tuples_have_every_form() {
        let line = r#"{"config":[null,[16,null],false],"measured":{"times_s":[2.0],"time_s":2.0}}"#;
        let s = sweep(&[line]);
        let b = best(&s, Objective::Time).unwrap();
        let t: toml::Table = b.toml("dir").unwrap().parse().unwrap();
        assert_eq!(t["config"]["tile"].as_str(), Some("None"));
        let pair = t["config"]["simd"].as_array().unwrap();
        assert_eq!(
            (pair[0].as_integer(), pair[1].as_str()),
            (Some(16), Some("None"))
        );
        assert_eq!(
            b.json().unwrap()["config"].to_string(),
            r#"{"tile":null,"simd":[16,null],"kind":false}"#
        );
        let h = b.header(&b.defines(), "dir").unwrap();
        assert!(h.contains("#define tile None\n") && h.contains("#define simd (16, None)\n"));
    }

    #[test]
    fn a_sweep_without_a_valid_trial_says_why() {
        let why = |lines: &[&str], o| best(&sweep(lines), o).unwrap_err();
        assert_eq!(why(&[], Objective::Time), NoBest::Empty);
        assert_eq!(
            why(&[BAD, BAD], Objective::Time),
            NoBest::Failed("2 compile".into())
        );
        let no_energy = r#"{"config":[8,true,"c"],"measured":{"times_s":[2.0],"time_s":2.0}}"#;
        assert_eq!(
            why(&[no_energy], Objective::Energy),
            NoBest::NoEnergy("energy".into())
        );
        let partial =
            r#"{"config":[8,true,"c"],"measured":{"times_s":[2.0],"time_s":2.0},"effort":0.5}"#;
        assert_eq!(why(&[partial], Objective::Time), NoBest::Partial);
        // 1.5 and 0.25 W.
        let beyond = why(&[BAD, GOOD, SLOW], Objective::TimeUnderPower(0.125));
        assert_eq!(
            beyond.to_string(),
            "no config keeps power <= 0.125 W; the nearest has 0.25 W"
        );
        let s = sweep(&[no_energy]);
        let b = best(&s, Objective::Time).unwrap();
        assert!(b.json().unwrap()["energy_j"].is_null());
        let of = |n: &str, v: &str| [(n.to_owned(), v.to_owned())];
        let bad = of("a b", "1");
        assert!(flags(&bad).is_err() && b.header(&bad, "").is_err());
        for bad in ["a\\", "a\nb", "x // y", "x /* y", "\"open", "'", "\"a\\\""] {
            assert_eq!(
                b.header(&of("a", bad), ""),
                Err(NoBest::Value("a".into())),
                "{bad}"
            );
        }
        for good in [
            "\"s // t\"",
            "'\\''",
            "a / b",
            "",
            "{1..3}",
            "std::pair<int, int>",
        ] {
            assert!(b.header(&of("a", good), "").is_ok(), "{good}");
        }
    }
}
