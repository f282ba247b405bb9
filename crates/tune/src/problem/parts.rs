//! The parts of a problem file that decide what a trial measures, by name, so that two versions can be compared.

use std::collections::BTreeMap;

/// Values longer than this are compared by a hash.
const SHOWN: usize = 60;

/// A value as it is compared and shown: itself, or its hash where it is long.
pub fn shown(text: &str) -> String {
    if text.len() <= SHOWN && !text.contains('\n') {
        return text.to_owned();
    }
    hash(text.as_bytes())
}

/// A hash as it is compared.
pub fn hash(bytes: &[u8]) -> String {
    format!("hash {}", greenup_files::Cache::key([bytes]))
}

/// Tables that say nothing of what a trial measures, or that are compared by what they lead to.
const OTHERS: [&str; 6] = [
    "name",
    "about",
    "objective",
    "measure",
    "arguments",
    "default",
];

/// `TABLE.KEY` and its value for each key of a problem file, after values were set from outside.
pub(super) fn parts(table: &toml::Table) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (key, value) in table.iter().filter(|(k, _)| !OTHERS.contains(&k.as_str())) {
        match value {
            toml::Value::Table(t) => {
                for (name, v) in t {
                    // Why a filter is there does not matter.
                    let v = v.get("keep").unwrap_or(v);
                    out.insert(format!("{key}.{name}"), shown(&v.to_string()));
                }
            }
            v => {
                out.insert(key.clone(), shown(&v.to_string()));
            }
        }
    }
    out
}

/// Whether a name can be that of a sweep's folder: of letters, digits, `-`, `_` and `.`, and no hidden or parent
/// folder.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 100
        && !name.starts_with(['.', '-'])
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_. +()".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for good in ["dgemm", "BEAST dgemm (k20x)", "a-b_c.2"] {
            assert!(is_plain_name(good), "{good}");
        }
        for bad in [
            "", "/abs", "../../x", "..", ".hidden", "a/b", "a\0b", "-x", "a\nb",
        ] {
            assert!(!is_plain_name(bad), "{bad}");
        }
    }

    #[test]
    fn parts_are_values_or_hashes() {
        let text =
            "name = 'a'\n[parameters]\nx = [1, 2]\n[hard]\nf = { keep = 'x > 1', because = 'b' }\n";
        let table: toml::Table = text.parse().unwrap();
        let p = parts(&table);
        assert_eq!(p["parameters.x"], "[1, 2]");
        assert_eq!(p["hard.f"], "\"x > 1\"");
        assert_eq!(p.len(), 2);
        let long: toml::Table = format!("script = '{}'", "x".repeat(100)).parse().unwrap();
        assert!(parts(&long)["script"].starts_with("hash "));
    }
}
