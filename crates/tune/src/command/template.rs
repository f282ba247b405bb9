//! Words of a command with `{name}` in them.

use greenup_meter::command::of_a_shell;
use greenup_setting::shell::{is_plain, single_quoted};
use greenup_space::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Values as texts, by name.
pub(crate) type Texts = BTreeMap<String, String>;

/// Values as texts, by name.
pub(crate) fn texts<'a>(values: impl IntoIterator<Item = &'a (String, Value)>) -> Texts {
    let text = |(name, v): &(String, Value)| (name.clone(), v.to_string());
    values.into_iter().map(text).collect()
}

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
    pub(crate) fn filled(&self, values: &Texts) -> Vec<String> {
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
        self.0.iter().skip(1).find_map(|w| match w.first() {
            Some(Part::Text(t)) if of_a_shell(t) => Some(t.as_str()),
            _ => None,
        })
    }

    /// The command line as a shell reads it, with the values that are known.
    pub(crate) fn shown(&self, values: &Texts) -> String {
        let word = |parts: &Vec<Part>| {
            let mut text = String::new();
            let mut plain = String::new();
            for part in parts {
                let known = match part {
                    Part::Text(t) => Some(t),
                    Part::Name(n) => values.get(n.as_str()),
                };
                match (known, part) {
                    (Some(known), _) => {
                        text.push_str(known);
                        plain.push_str(known);
                    }
                    // A folder that only a build knows stays readable: it is not quoted.
                    (None, Part::Name(n)) => {
                        text.push_str(&format!("{{{n}}}"));
                        plain.push_str(n);
                    }
                    (None, Part::Text(_)) => {}
                }
            }
            if is_plain(&plain) {
                (text, plain)
            } else {
                (single_quoted(&text), plain)
            }
        };
        let words = (self.0.iter())
            .map(|w| (w, word(w)))
            .filter(|(w, filled)| !(filled.1.is_empty() && of_names(w)))
            .map(|(_, filled)| filled.0);
        words.collect::<Vec<_>>().join(" ")
    }

    /// The program, where it is known without a config and neither a file below `dir` nor in PATH.
    pub(crate) fn missing_program(&self, dir: &Path) -> Option<&str> {
        let [Part::Text(program)] = self.0.first()?.as_slice() else {
            return None;
        };
        let found = if program.contains('/') {
            path_of(program, dir).is_file()
        } else {
            std::env::var_os("PATH")
                .is_some_and(|p| std::env::split_paths(&p).any(|d| d.join(program).is_file()))
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

/// Placeholder of the folder into which a config is built.
pub(super) const BUILD: &str = "build";

/// A program with a folder in its name is looked for from the problem's folder, another one in PATH.
pub(super) fn path_of(program: &str, dir: &Path) -> PathBuf {
    if program.contains('/') {
        dir.join(program)
    } else {
        program.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_for_names_and_stay_one_word() {
        let w = Words::parse("'./my app' --tile={tile} 'x y' {flags} awk '{{print}}' ''").unwrap();
        let values = Texts::from(
            [("tile", "8"), ("flags", "-a -b")].map(|(n, v)| (n.to_owned(), v.to_owned())),
        );
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
        let empty = |n: &str| (n.to_owned(), String::new());
        let mut values = Texts::from([empty("a"), empty("b"), empty("c")]);
        assert_eq!(w.filled(&values), ["cc", "-x", "", "k.c"]);
        assert_eq!(w.shown(&values), "cc -x '' k.c");
        values.insert("b".into(), "-O3".into());
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
    fn a_shell_gives_back_the_words_of_a_shown_command() {
        let all = [
            "{1..3}", "{x,y}", "~", "~root", "*", "a?", "[ab]", "!", "!!", "$HOME", "$(id)",
            "`id`", "a\nb", "=ls", "#", "a;b", "a&b", "a|b", "<a", ">b", "(a)", "it's", "\"q\"",
            "a\\b", "a b", "\tx", "^a", "a=b", "é", "-x", "{build}", "{", "}", "{}", "a{1,2}b",
            "--tile=8", "%1", "\\",
        ];
        for value in all {
            let words = Words::parse("printf '[%s]' {v} -x={v} 'p {v}'").unwrap();
            let values = Texts::from([("v".to_owned(), value.to_owned())]);
            let line = words.shown(&values);
            assert_eq!(
                shell_words::split(&line).unwrap(),
                words.filled(&values),
                "{line}"
            );
            for shell in ["sh", "bash"] {
                let Ok(out) = std::process::Command::new(shell)
                    .args(["-c", &line])
                    .output()
                else {
                    continue;
                };
                let want = format!("[{value}][-x={value}][p {value}]");
                assert_eq!(
                    String::from_utf8_lossy(&out.stdout),
                    want,
                    "{shell}: {line}"
                );
            }
        }
        let words = Words::parse("cc -o {build}/app {flag} -DN={n}").unwrap();
        let values = Texts::from([("n".to_owned(), "4".to_owned())]);
        assert_eq!(words.shown(&values), "cc -o {build}/app {flag} -DN=4");
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
