//! The values that a sweep's parameters may have, as far as `sweep.json` records them.

use super::record::{SweepFacts, Trial};
use greenup_space::{Definition, Facts, Space, Value};

/// Fact of a sweep that was continued with other values: its trials are of both.
const ACCEPTED: &str = "accepted changes";

/// For each parameter its values; `None` where they depend on others or are not recorded.
fn lists(facts: &SweepFacts) -> Vec<Option<Vec<Value>>> {
    let list = |name: &String| {
        let text = facts.fingerprint.get(&format!("parameters.{name}"))?;
        let value: toml::Table = format!("x = {text}").parse().ok()?;
        let mut table = toml::Table::new();
        table.insert("name".into(), "x".into());
        table.insert("parameters".into(), value.into());
        let definition = Definition::from_table(&table, &Facts::new()).ok()?;
        Space::new(&definition).ok()?.list_of(0)
    };
    facts.parameters.iter().map(list).collect()
}

/// Leaves out trials whose configs are not of the sweep's space; returns a note about them.
pub(super) fn keep_inside(facts: &SweepFacts, trials: &mut Vec<Trial>) -> Option<String> {
    if facts.more.contains_key(ACCEPTED) {
        return None;
    }
    let lists = lists(facts);
    let outside = |t: &Trial| {
        let mut all = t.config.iter().zip(&lists).zip(&facts.parameters);
        all.find_map(|((v, list), name)| {
            let known = list.as_ref().is_none_or(|l| l.contains(v));
            (!known).then(|| format!("{name} = {v}"))
        })
    };
    let mut first = None;
    let before = trials.len();
    trials.retain(|t| match outside(t) {
        None => true,
        Some(what) => {
            first.get_or_insert(what);
            false
        }
    });
    let n = before - trials.len();
    first.map(|f| {
        format!(
            "{n} trials are left out: their configs are not in the space of sweep.json, such as {f}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configs_outside_the_space_are_left_out() {
        let part = |n: &str, text: &str| (format!("parameters.{n}"), text.to_owned());
        let mut facts = SweepFacts {
            parameters: ["a", "b", "c", "d"].map(str::to_owned).into(),
            fingerprint: [
                part("a", "[1, 2]"),
                part("b", "\"1 : 8\""),
                part("c", "\"a : n\""),
                part("d", "hash 1234"),
            ]
            .into(),
            ..SweepFacts::default()
        };
        let trial = |a: i64, b: i64| {
            let config = [a, b, 99, 99].map(Value::Int).to_vec();
            Trial::lost(config, 1.0, String::new())
        };
        let mut trials = vec![trial(1, 8), trial(3, 1), trial(2, 1), trial(1, 9)];
        let note = keep_inside(&facts, &mut trials).unwrap();
        assert!(
            note.starts_with("2 trials are left out") && note.ends_with("a = 3"),
            "{note}"
        );
        assert_eq!(trials.len(), 2);
        assert_eq!(keep_inside(&facts, &mut trials), None);
        facts.more.insert(ACCEPTED.into(), "all".into());
        let mut trials = vec![trial(3, 1)];
        assert_eq!(keep_inside(&facts, &mut trials), None);
        assert_eq!(trials.len(), 1);
    }
}
