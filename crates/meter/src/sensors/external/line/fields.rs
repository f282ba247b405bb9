//! Lines of a text, and fields of a line.

use super::unit::quantity;
use crate::sensors::external::stamp;

/// Lines that end with a line feed, a carriage return, or both.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_terminator('\n')
        .flat_map(|l| l.strip_suffix('\r').unwrap_or(l).split('\r'))
}

/// Lines of a text with their numbers from 1.
pub type Numbered = Vec<(usize, String)>;

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    Semicolon,
    Tab,
    Comma,
    Blank,
}

impl Separator {
    /// The first in this order is meant where a line has several.
    pub const ALL: [Self; 4] = [Self::Semicolon, Self::Tab, Self::Comma, Self::Blank];

    /// What a line seems to have, as long as nothing else is known.
    pub fn of(line: &str) -> Self {
        let has = |s: &Self| s.char().is_some_and(|c| line.contains(c));
        Self::ALL.into_iter().find(has).unwrap_or(Self::Blank)
    }

    fn char(self) -> Option<char> {
        match self {
            Self::Semicolon => Some(';'),
            Self::Tab => Some('\t'),
            Self::Comma => Some(','),
            Self::Blank => None,
        }
    }

    /// Whether a comma within a field is a decimal comma.
    pub fn decimal_comma(self) -> bool {
        self != Self::Comma
    }

    /// The fields of a line. `count` is their number, where it is known: blanks also stand within a date or before a unit.
    pub fn split(self, line: &str, count: Option<usize>) -> Vec<&str> {
        match self.char() {
            Some(c) => {
                let fields = line.split(c);
                fields.map(|f| f.trim().trim_matches('"').trim()).collect()
            }
            None => {
                let words: Vec<&str> = line.split_whitespace().collect();
                match count {
                    Some(n) if n == words.len() => words,
                    _ => joined(line, &words),
                }
            }
        }
    }
}

/// Words, with those that belong to the one before as one field.
fn joined<'a>(line: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    let mut fields: Vec<&str> = Vec::with_capacity(words.len());
    let (mut start, mut end) = (0, 0);
    for word in words {
        // Only blanks lie between two words.
        let at = end + line[end..].find(word).unwrap_or(0);
        end = at + word.len();
        match fields.last_mut() {
            Some(before) if belongs(before, word) => *before = &line[start..end],
            _ => {
                start = at;
                fields.push(word);
            }
        }
    }
    fields
}

/// Whether a word goes on with the field before: `50 W`, `power [W]`, `2026/11/27 00:59:59`.
fn belongs(before: &str, word: &str) -> bool {
    let in_brackets = word.starts_with(['[', '(']) && word.ends_with([']', ')']);
    let is_unit = word.chars().all(char::is_alphabetic)
        && quantity(before, true).is_some_and(|(_, unit)| unit.is_none());
    in_brackets || is_unit || stamp::is_date(before) && word.contains(':')
}

/// Whether a field begins as a number does: such a line is a sample that cannot be read, and no header.
pub fn has_number(fields: &[&str]) -> bool {
    let number = |f: &&str| {
        let f = f.trim_start_matches(['+', '-', '.']);
        f.starts_with(|c: char| c.is_ascii_digit())
    };
    fields.iter().any(number)
}
