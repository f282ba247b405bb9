//! Old names of flags and of keys in input files: accepted for one release, with a note on standard error.

use crate::print::note;
use serde::Serialize;
use serde_json::Value;
use std::ffi::{OsStr, OsString};

/// A flag that has a new name.
#[derive(Clone, Copy, Debug)]
pub struct Renamed {
    /// Subcommands in which it applies; empty: all.
    pub commands: &'static [&'static str],
    /// The old flag: `--way`, or `-q`.
    pub old: &'static str,
    /// The new flag.
    pub new: &'static str,
    /// Old and new names of its values.
    pub values: &'static [(&'static str, &'static str)],
    /// What the new flag's value begins with, as in `--gpu 0` → `--device cuda:0`.
    pub prefix: &'static str,
    /// Whether the old name only counts before a number: by itself it is another flag now.
    pub before_a_number: bool,
}

impl Renamed {
    /// A flag of all subcommands whose values stay as they are.
    pub const fn flag(old: &'static str, new: &'static str) -> Self {
        Self {
            commands: &[],
            old,
            new,
            values: &[],
            prefix: "",
            before_a_number: false,
        }
    }

    /// The same flag, restricted to some subcommands.
    pub const fn of(self, commands: &'static [&'static str]) -> Self {
        Self { commands, ..self }
    }

    /// The same flag, whose new values begin with this.
    pub const fn with_prefix(self, prefix: &'static str) -> Self {
        Self { prefix, ..self }
    }

    /// The same flag, whose old name is another flag now where no number follows.
    pub const fn before_a_number(self) -> Self {
        Self {
            before_a_number: true,
            ..self
        }
    }

    /// The same flag with renamed values.
    pub const fn with_values(self, values: &'static [(&'static str, &'static str)]) -> Self {
        Self { values, ..self }
    }
}

/// The arguments of a command, the program's name first, with new names in place of old ones; and notes that say so.
/// What follows `--` is left alone.
pub fn rewrite(
    args: impl IntoIterator<Item = OsString>,
    table: &[Renamed],
) -> (Vec<OsString>, Vec<String>) {
    let mut notes = Vec::new();
    let out = replace(args.into_iter().collect(), table, &mut notes);
    (out, notes)
}

fn replace(args: Vec<OsString>, table: &[Renamed], notes: &mut Vec<String>) -> Vec<OsString> {
    let command = args.get(1).cloned().unwrap_or_default();
    let applies = |r: &&Renamed| r.commands.is_empty() || r.commands.iter().any(|c| command == **c);
    let table: Vec<&Renamed> = table.iter().filter(applies).collect();
    let mut out = Vec::with_capacity(args.len());
    let mut rest = args.into_iter().peekable();
    let number = |v: &OsStr| v.to_str().is_some_and(|v| v.parse::<f64>().is_ok());
    while let Some(arg) = rest.next() {
        if arg == "--" {
            out.push(arg);
            out.extend(rest);
            break;
        }
        let (flag, value) = split(&arg, &table);
        let old = table.iter().find(|r| {
            let value = value.or_else(|| rest.peek().map(OsString::as_os_str));
            flag == r.old && (!r.before_a_number || value.is_some_and(number))
        });
        if let Some(r) = old {
            if r.old != r.new {
                notes.push(format!(
                    "note: `{}` is now `{}`; the old name goes away in the next release",
                    r.old, r.new
                ));
            }
            match value {
                Some(v) => out.push(joined(r.new, &prefixed(renamed_value(v, r, notes), r))),
                None => {
                    out.push(r.new.into());
                    if !r.values.is_empty() || !r.prefix.is_empty() {
                        let value = rest
                            .next()
                            .map(|v| prefixed(renamed_value(&v, r, notes), r));
                        out.extend(value);
                    }
                }
            }
        } else if let Some(r) = table.iter().find(|r| flag == r.new && !r.values.is_empty()) {
            // A new flag with an old value.
            match value {
                Some(v) => out.push(joined(r.new, &renamed_value(v, r, notes))),
                None => {
                    out.push(arg);
                    out.extend(rest.next().map(|v| renamed_value(&v, r, notes)));
                }
            }
        } else {
            out.push(arg);
        }
    }
    out
}

/// `--flag=value` as its two parts, and `-q64` or `-q=64` where `-q` is an old name.
fn split<'a>(arg: &'a OsStr, table: &[&Renamed]) -> (&'a OsStr, Option<&'a OsStr>) {
    let bytes = arg.as_encoded_bytes();
    let short =
        |r: &&&Renamed| r.old.len() == 2 && bytes.len() > 2 && bytes.starts_with(r.old.as_bytes());
    let (end, begin) = if bytes.starts_with(b"--") {
        match bytes.iter().position(|b| *b == b'=') {
            None => return (arg, None),
            Some(i) => (i, i + 1),
        }
    } else if table.iter().any(|r| short(&r)) {
        (2, if bytes[2] == b'=' { 3 } else { 2 })
    } else {
        return (arg, None);
    };
    // SAFETY: both parts border on an ASCII character, where the encoding may be split.
    unsafe {
        (
            OsStr::from_encoded_bytes_unchecked(&bytes[..end]),
            Some(OsStr::from_encoded_bytes_unchecked(&bytes[begin..])),
        )
    }
}

fn joined(flag: &str, value: &OsStr) -> OsString {
    let mut out = OsString::from(flag);
    // A short flag takes its value as the next letters.
    if flag.starts_with("--") {
        out.push("=");
    }
    out.push(value);
    out
}

fn prefixed(value: OsString, r: &Renamed) -> OsString {
    let mut out = OsString::from(r.prefix);
    out.push(value);
    out
}

fn renamed_value(value: &OsStr, r: &Renamed, notes: &mut Vec<String>) -> OsString {
    match r.values.iter().find(|(old, _)| value == *old) {
        None => value.to_owned(),
        Some((old, new)) => {
            notes.push(format!(
                "note: `{old}` of `{}` is now `{new}`; the old name goes away in the next release",
                r.new
            ));
            (*new).into()
        }
    }
}

/// Says on standard error which keys of a TOML input have an old name. Each pair is the path of an old key, with `*` for
/// any key or index, and its new name; the parser accepts both.
pub fn note_keys(file: &str, table: &toml::Table, renamed: &[(&str, &str)]) {
    for text in key_notes(file, table, renamed) {
        note(text);
    }
}

fn key_notes(file: &str, table: &toml::Table, renamed: &[(&str, &str)]) -> Vec<String> {
    let found = |(old, _): &&(&str, &str)| {
        let path: Vec<&str> = old.split('.').collect();
        holds(&toml::Value::Table(table.clone()), &path)
    };
    renamed
        .iter()
        .filter(found)
        .map(|(old, new)| {
            format!("note: {file}: key `{old}` is now `{new}`; the old name goes away in the next release")
        })
        .collect()
}

fn holds(value: &toml::Value, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    match value {
        toml::Value::Table(t) if *first == "*" => t.values().any(|v| holds(v, rest)),
        toml::Value::Table(t) => t.get(*first).is_some_and(|v| holds(v, rest)),
        toml::Value::Array(a) if *first == "*" => a.iter().any(|v| holds(v, rest)),
        _ => false,
    }
}

/// A value as JSON in which old names of keys stand next to the new ones: pairs of new and old.
///
/// # Errors
/// The value is not serialisable.
pub fn with_old_keys(value: &impl Serialize, keys: &[(&str, &str)]) -> serde_json::Result<Value> {
    let mut out = serde_json::to_value(value)?;
    add_old_keys(&mut out, keys);
    Ok(out)
}

fn add_old_keys(value: &mut Value, keys: &[(&str, &str)]) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|v| add_old_keys(v, keys)),
        Value::Object(map) => {
            map.values_mut().for_each(|v| add_old_keys(v, keys));
            for (new, old) in keys {
                if let Some(v) = map.get(*new).cloned() {
                    map.insert((*old).to_owned(), v);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_keys_stand_next_to_new_ones() {
        let value = serde_json::json!({"all": [{"fix": "a"}, {"x": 1}], "fix": null});
        assert_eq!(
            with_old_keys(&value, &[("fix", "old")]).unwrap(),
            serde_json::json!({"all": [{"fix": "a", "old": "a"}, {"x": 1}], "fix": null, "old": null})
        );
    }

    const TABLE: [Renamed; 4] = [
        Renamed::flag("--gpu", "--device").with_prefix("cuda:"),
        Renamed::flag("--way", "--method").with_values(&[("product", "gemm")]),
        Renamed::flag("-q", "--ncrit").of(&["tune"]),
        Renamed::flag("--real", "--precision"),
    ];

    fn of(args: &[&str]) -> (Vec<String>, usize) {
        let mut notes = Vec::new();
        let args = args.iter().map(OsString::from).collect();
        let out = replace(args, &TABLE, &mut notes);
        let text = |a: OsString| a.into_string().unwrap();
        (out.into_iter().map(text).collect(), notes.len())
    }

    #[test]
    fn old_flags_and_values_are_replaced_and_noted() {
        let (out, notes) = of(&["p", "run", "--way", "product", "--real=f32"]);
        assert_eq!(out, ["p", "run", "--method", "gemm", "--precision=f32"]);
        assert_eq!(notes, 3);
        assert_eq!(
            of(&["p", "run", "--way=product"]).0,
            ["p", "run", "--method=gemm"]
        );
        assert_eq!(
            of(&["p", "run", "--method", "product"]),
            (
                ["p", "run", "--method", "gemm"].map(str::to_owned).into(),
                1
            )
        );
    }

    #[test]
    fn new_names_other_commands_and_what_follows_two_dashes_stay() {
        for args in [
            &["p", "run", "--method", "gemm"][..],
            &["p", "run", "-q", "3"],
            &["p", "run", "--", "--way", "product"],
            &["p"],
            &[],
        ] {
            assert_eq!(
                of(args),
                (args.iter().map(|a| (*a).to_owned()).collect(), 0)
            );
        }
        for args in [&["p", "x", "--gpu", "1"][..], &["p", "x", "--gpu=1"]] {
            assert_eq!(of(args).0[2..].join("="), "--device=cuda:1");
        }
        assert_eq!(
            of(&["p", "tune", "-q", "3"]).0,
            ["p", "tune", "--ncrit", "3"]
        );
        let quiet = [Renamed::flag("-q", "--ncrit").before_a_number()];
        for (args, want) in [
            (["p", "-q", "64"], &["p", "--ncrit", "64"][..]),
            (["p", "-q64", "x"], &["p", "--ncrit=64", "x"]),
            (["p", "-q", "run"], &["p", "-q", "run"]),
            (["p", "run", "-q"], &["p", "run", "-q"]),
        ] {
            let out = replace(args.map(OsString::from).into(), &quiet, &mut Vec::new());
            assert_eq!(out, want);
        }
        for short in ["-q3", "-q=3"] {
            assert_eq!(of(&["p", "tune", short]).0, ["p", "tune", "--ncrit=3"]);
            assert_eq!(of(&["p", "run", short]).0, ["p", "run", short]);
        }
    }

    #[test]
    fn old_keys_are_found_by_their_paths() {
        let table: toml::Table = "[run]\noperator = 'full'\n[[a]]\nb = 1".parse().unwrap();
        let renamed = [("run.operator", "assembly"), ("a.*.b", "c"), ("a.b", "c")];
        let notes = key_notes("f.toml", &table, &renamed);
        assert_eq!(notes.len(), 2);
        assert!(notes[0].contains("f.toml: key `run.operator` is now `assembly`"));
    }
}
