//! Whether a device can run a config, by the filters of its search space.

use crate::device::Device;
use greenup_space::expr::parse;
use greenup_space::{Definition, Space, SpaceError, Strength, Value};
use std::collections::BTreeMap;

/// The search space of a problem file for a device, with some constants overridden.
///
/// # Errors
/// The text is no problem, or the device lacks a fact that it needs.
pub fn space(
    text: &str,
    device: &Device,
    constants: &BTreeMap<String, Value>,
) -> Result<Space, SpaceError> {
    let mut table: toml::Table =
        (text.parse()).map_err(|e: toml::de::Error| SpaceError::new(e.to_string()))?;
    if let Some(toml::Value::Table(all)) = table.get_mut("constants") {
        for (name, value) in constants {
            if let Some(known) = all.get_mut(name) {
                *known = match value {
                    Value::Int(i) => toml::Value::Integer(*i),
                    Value::Bool(b) => toml::Value::Boolean(*b),
                    Value::Float(f) => toml::Value::Float(*f),
                    // A text is an expression there; tuples and `None` do not scale.
                    Value::Str(_) | Value::Tuple(_) | Value::None => continue,
                };
            }
        }
    }
    Space::new(&Definition::from_table(&table, &device.space_facts())?)
}

/// The config in the order of the space's parameters; parameters that the config lacks, as later versions of a kernel add
/// them, get their first value.
///
/// # Errors
/// The config has a parameter that the space does not have, or lacks one, as a message.
pub fn complete(space: &Space, config: &BTreeMap<String, Value>) -> Result<Vec<Value>, String> {
    if let Some(unknown) = config.keys().find(|n| !space.names().any(|s| s == *n)) {
        return Err(format!(
            "another version of the kernel: it has no parameter `{unknown}`"
        ));
    }
    space
        .names()
        .enumerate()
        .map(|(i, name)| {
            let list = space.list_of(i);
            match config.get(name) {
                Some(v) => Ok(v.clone()),
                None => (list.and_then(|l| l.first().cloned()))
                    .ok_or_else(|| format!("it lacks the parameter `{name}`")),
            }
        })
        .collect()
}

/// Checks that the values of a complete config are among those of the parameters' lists.
///
/// # Errors
/// The first that is not, in words.
pub fn listed(space: &Space, config: &[Value]) -> Result<(), String> {
    for (i, (name, v)) in space.names().zip(config).enumerate() {
        if space.list_of(i).is_some_and(|l| !l.contains(v)) {
            return Err(format!("`{name}` cannot be {v}"));
        }
    }
    Ok(())
}

/// Checks a complete config with the hard filters of the space, which say what the device can run.
///
/// # Errors
/// The filter that rejects it, in words.
pub fn check(space: &Space, config: &[Value]) -> Result<(), String> {
    for filter in space.filters() {
        if filter.strength != Strength::Hard {
            continue;
        }
        let passes = parse(&filter.expression)
            .and_then(|e| space.evaluate(&e, config))
            .map_err(|e| format!("filter {}: {}", filter.name, e.message))?;
        if !passes.truth() {
            let because = filter.because.as_deref().unwrap_or(&filter.expression);
            return Err(format!("filter {}: {because}", filter.name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::entry;

    const TEXT: &str = r#"
name = "p"
[constants]
n = 100
most = "device.l2_bytes // 8"
[parameters]
tile = [8, 16, 1024]
depth = "1 : 4"
more = [0, 1]
[hard]
fits = { keep = "tile * n * depth <= most", because = "the tile exceeds the cache" }
[soft]
wide = "tile > 8"
"#;

    #[test]
    fn filters_of_the_device_decide() {
        let device = entry("p", "d", 2, 100, 1.0).device;
        let s = space(TEXT, &device, &BTreeMap::new()).unwrap();
        let config = |tile, depth| {
            BTreeMap::from([
                ("tile".into(), Value::Int(tile)),
                ("depth".into(), Value::Int(depth)),
            ])
        };
        let full = complete(&s, &config(8, 1)).unwrap();
        assert_eq!(full, [8, 1, 0].map(Value::Int));
        // The soft filter is no reason.
        assert_eq!(check(&s, &full), Ok(()));
        let large = complete(&s, &config(1024, 2)).unwrap();
        assert!(check(&s, &large).unwrap_err().contains("exceeds the cache"));
        let odd = complete(&s, &config(9, 1)).unwrap();
        assert!(listed(&s, &odd).unwrap_err().contains("cannot be 9"));
        assert_eq!(listed(&s, &full), Ok(()));
        let mut old = config(8, 1);
        old.insert("gone".into(), Value::Int(1));
        assert!(complete(&s, &old).unwrap_err().contains("another version"));
        let n = BTreeMap::from([("n".into(), Value::Int(1_000_000))]);
        let big = space(TEXT, &device, &n).unwrap();
        assert!(check(&big, &full).is_err());
        let mut bare = device;
        bare.facts.clear();
        assert!(space(TEXT, &bare, &BTreeMap::new()).is_err());
    }
}
