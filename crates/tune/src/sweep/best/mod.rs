//! The best config of a sweep, or why it has none.

pub mod forms;

use super::record::Sweep;
use crate::objective::{Objective, Unmet};
use greenup_setting::setting;
use greenup_space::Value;

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
    /// A flag of the build would not reach the compiler as one word.
    #[error(
        "the flag `{0}` of the build cannot stand in a list of flags: it has spaces, quotes or wildcards"
    )]
    BuildFlag(String),
    /// A value cannot be that of a macro.
    #[error(
        "the value of `{0}` cannot be that of a macro: it has several lines, a comment, an open quote or ends with \\"
    )]
    Value(String),
}

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

#[cfg(test)]
mod tests {
    use super::forms::flags;
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
    fn constants_have_the_values_that_were_measured() {
        let mut s = sweep(&[GOOD]);
        let mut put = |name: &str, text: &str| s.facts.more.insert(name.into(), text.into());
        put("constants", "n=128 m=129 'real=long double' on=True");
        put("flags", "-O3 '-I../a b'");
        s.facts
            .fingerprint
            .insert("constants.m".into(), "\"n + 1\"".into());
        let b = best(&s, Objective::Time).unwrap();
        let header = b.header(&b.defines(), "dir").unwrap();
        for line in [
            "#define m 129\n",
            "#define real long double\n",
            "#define on 1\n",
        ] {
            assert!(header.contains(line), "{header}");
        }
        assert_eq!(b.build_flags(), Err(NoBest::BuildFlag("-I../a b".into())));
        s.facts
            .fingerprint
            .insert("derived.twice".into(), "\"2 * n\"".into());
        let b = best(&s, Objective::Time).unwrap();
        assert_eq!(b.derived_in(&["run {twice}".into()]), Some("twice"));
        assert_eq!(b.derived_in(&["run 256".into()]), None);
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
