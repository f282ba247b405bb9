//! Words of a command with `{name}` in them.

use super::process::path_of;
use std::collections::BTreeMap;
use std::path::Path;

/// A command line, split into words before values stand in: a value with spaces stays one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words(Vec<Vec<Part>>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Name(String),
}

impl Words {
    /// Splits a command line as a shell does; `{{` and `}}` stand for braces.
    ///
    /// # Errors
    /// A quote or brace is open, or there are no words.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let words = shell_words::split(text).map_err(|e| e.to_string())?;
        if words.is_empty() {
            return Err("it is empty".into());
        }
        words
            .iter()
            .map(|w| parts(w))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// One word that is not split, such as the name of a file.
    ///
    /// # Errors
    /// A brace is open.
    pub(crate) fn one(text: &str) -> Result<Self, String> {
        Ok(Self(vec![parts(text)?]))
    }

    /// Names between braces.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().filter_map(|p| match p {
            Part::Name(n) => Some(n.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Words without names.
    pub(crate) fn plain(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|w| match w.as_slice() {
            [Part::Text(t)] => Some(t.as_str()),
            _ => None,
        })
    }

    /// The words with values in place of names; a name without a value stays empty. A word of names alone whose values are all
    /// empty is left out, as a shell leaves it out.
    pub(crate) fn filled(&self, values: &BTreeMap<&str, String>) -> Vec<String> {
        let fill = |part: &Part| match part {
            Part::Text(t) => t.clone(),
            Part::Name(n) => values.get(n.as_str()).cloned().unwrap_or_default(),
        };
        (self.0.iter())
            .map(|w| (w, w.iter().map(fill).collect::<String>()))
            .filter(|(w, filled)| !(filled.is_empty() && of_names(w)))
            .map(|(_, filled)| filled)
            .collect()
    }

    /// The first word that a shell would act on, and that a program only gets as it is.
    pub(crate) fn of_a_shell(&self) -> Option<&str> {
        let operator = |w: &str| {
            let plain = w.trim_start_matches(|c: char| c.is_ascii_digit());
            ["|", "||", "&&", "&", ";", "|&"].contains(&w)
                || plain.starts_with(['>', '<'])
                || w.starts_with("$(")
                || w.contains('`')
                || w.len() > 1 && w.ends_with(';')
        };
        self.0.iter().skip(1).find_map(|w| match w.first() {
            Some(Part::Text(t)) if operator(t) => Some(t.as_str()),
            _ => None,
        })
    }

    /// The command line as a shell reads it, with the values that are known.
    pub(crate) fn shown(&self, values: &BTreeMap<&str, String>) -> String {
        let fill = |part: &Part| match part {
            Part::Text(t) => t.clone(),
            Part::Name(n) => match values.get(n.as_str()) {
                Some(v) => v.clone(),
                None => format!("{{{n}}}"),
            },
        };
        let words = (self.0.iter())
            .map(|w| (w, w.iter().map(fill).collect::<String>()))
            .filter(|(w, filled)| !(filled.is_empty() && of_names(w)))
            .map(|(_, filled)| filled);
        // A folder that only a build knows stays readable.
        let plain = |c: char| c.is_alphanumeric() || "{}_-+=/.,:@%".contains(c);
        let quoted = |w: String| match w.contains(['{', '}']) && w.chars().all(plain) {
            true => w,
            false => shell_words::quote(&w).into_owned(),
        };
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }

    /// The program, where it is known without a config and neither a file below `dir` nor in PATH.
    pub(crate) fn missing_program(&self, dir: &Path) -> Option<&str> {
        let [Part::Text(program)] = self.0.first()?.as_slice() else {
            return None;
        };
        let found = match program.contains('/') {
            true => path_of(program, dir).is_file(),
            false => std::env::var_os("PATH")
                .is_some_and(|p| std::env::split_paths(&p).any(|d| d.join(program).is_file())),
        };
        (!found).then_some(program)
    }
}

/// Whether a word has names and no text.
fn of_names(word: &[Part]) -> bool {
    word.iter().all(|p| matches!(p, Part::Name(_)))
}

fn parts(word: &str) -> Result<Vec<Part>, String> {
    let mut out = Vec::new();
    let mut text = String::new();
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' | '}' if rest.peek() == Some(&c) => {
                rest.next();
                text.push(c);
            }
            '{' => {
                let mut name = String::new();
                loop {
                    match rest.next() {
                        Some('}') => break,
                        Some(c) => name.push(c),
                        None => {
                            return Err(format!("`{word}` has an open brace; write {{{{ for one"));
                        }
                    }
                }
                if !text.is_empty() {
                    out.push(Part::Text(std::mem::take(&mut text)));
                }
                out.push(Part::Name(name.trim().to_owned()));
            }
            '}' => {
                return Err(format!(
                    "`{word}` closes a brace that is not open; write }}}} for one"
                ));
            }
            c => text.push(c),
        }
    }
    if !text.is_empty() || out.is_empty() {
        out.push(Part::Text(text));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_for_names_and_stay_one_word() {
        let w = Words::parse("'./my app' --tile={tile} 'x y' {flags} awk '{{print}}' ''").unwrap();
        let values = BTreeMap::from([("tile", "8".to_owned()), ("flags", "-a -b".to_owned())]);
        assert_eq!(
            w.filled(&values),
            ["./my app", "--tile=8", "x y", "-a -b", "awk", "{print}", ""]
        );
        assert_eq!(w.names().collect::<Vec<_>>(), ["tile", "flags"]);
        for wrong in ["", "a {b", "a b}", "'open"] {
            assert!(Words::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_word_of_empty_values_is_left_out() {
        let w = Words::parse("cc {a}{b} -x{a} '' {c} k.c").unwrap();
        let empty = |n: &'static str| (n, String::new());
        let mut values = BTreeMap::from([empty("a"), empty("b"), empty("c")]);
        assert_eq!(w.filled(&values), ["cc", "-x", "", "k.c"]);
        assert_eq!(w.shown(&values), "cc -x '' k.c");
        values.insert("b", "-O3".into());
        assert_eq!(w.filled(&values), ["cc", "-O3", "-x", "", "k.c"]);
    }

    #[test]
    fn what_only_a_shell_would_read_is_seen() {
        let first = |text: &str| Words::parse(text).unwrap().of_a_shell().map(str::to_owned);
        for (text, word) in [
            ("./a {n} | tail -1", "|"),
            ("./a > out", ">"),
            ("./a 2>&1", "2>&1"),
            ("./a >>log", ">>log"),
            ("./a && ./b", "&&"),
            ("cd x; ./a", "x;"),
            ("./a < in.txt", "<"),
            ("./a $(nproc)", "$(nproc)"),
            ("./a `nproc`", "`nproc`"),
        ] {
            assert_eq!(first(text).as_deref(), Some(word), "{text}");
        }
        for text in [
            "sh -c 'a | b > c'",
            "./a {n} -x=1|2",
            "awk '{{print $1}}' f",
            "./a 3",
        ] {
            assert_eq!(first(text), None, "{text}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_seen() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let missing = |text: &str| {
            Words::parse(text)
                .unwrap()
                .missing_program(here)
                .map(str::to_owned)
        };
        assert_eq!(missing("sh -c true"), None);
        assert_eq!(missing("src/lib.rs"), None);
        assert_eq!(missing("{build}/app"), None);
        assert_eq!(missing("src/none").as_deref(), Some("src/none"));
        assert_eq!(
            missing("no-such-program-at-all").as_deref(),
            Some("no-such-program-at-all")
        );
    }
}
