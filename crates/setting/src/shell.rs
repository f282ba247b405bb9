//! Words of a command line as a user types them.

/// Whether a shell takes a word as it is, at any place of a command line.
pub fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_-+=/.,:@%".contains(c);
    // Some shells replace `=name` by the path of a program.
    !word.is_empty() && !word.starts_with('=') && word.chars().all(plain)
}

/// A word between single quotes, within which a shell replaces nothing.
pub fn single_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A word as a shell reads it: in single quotes where it needs them.
pub fn quoted(word: &str) -> String {
    if is_plain(word) {
        word.to_owned()
    } else {
        single_quoted(word)
    }
}

/// A command line of words.
pub fn joined<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|w| quoted(w.as_ref())).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_words_again() {
        let words = [
            "a-b/c.toml",
            "n=5",
            "=x",
            "it's",
            "a b",
            "",
            "$HOME",
            "~/x",
            "{a,b}",
            "!1",
            "ä",
            "q*",
        ];
        let out = std::process::Command::new("sh")
            .args(["-c", &format!("printf '%s|' {}", joined(words))])
            .output()
            .unwrap();
        let expected: String = words.iter().map(|w| format!("{w}|")).collect();
        assert_eq!(String::from_utf8(out.stdout).unwrap(), expected);
        assert_eq!(
            joined(["greenup", "--set", "n=5", "a b"]),
            "greenup --set n=5 'a b'"
        );
    }
}
