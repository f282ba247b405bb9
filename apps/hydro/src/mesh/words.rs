//! Words of a text with their lines, so that what is wrong can be found.

use crate::HydroError;
use std::str::FromStr;

pub struct Words<'a> {
    name: &'a str,
    text: &'a str,
    comment: Option<char>,
    /// Where the rest begins, and its line.
    at: usize,
    line: usize,
    /// Line of the last word.
    last: usize,
}

impl<'a> Words<'a> {
    pub fn new(name: &'a str, text: &'a str, comment: Option<char>) -> Self {
        Self {
            name,
            text,
            comment,
            at: 0,
            line: 1,
            last: 1,
        }
    }

    pub fn wrong(&self, what: &str) -> HydroError {
        HydroError(format!("{}, line {}: {what}", self.name, self.last))
    }

    /// Bytes that are not read yet.
    pub fn rest(&self) -> usize {
        self.text.len() - self.at
    }

    /// Moves to the next word; its end.
    fn find(&mut self) -> Option<usize> {
        loop {
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            if Some(first) == self.comment {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if first.is_whitespace() {
                self.line += usize::from(first == '\n');
                self.at += first.len_utf8();
            } else {
                let end = rest.find(|c: char| c.is_whitespace() || Some(c) == self.comment);
                return Some(self.at + end.unwrap_or(rest.len()));
            }
        }
    }

    pub fn peek(&mut self) -> Option<&'a str> {
        let end = self.find()?;
        Some(&self.text[self.at..end])
    }

    pub fn word(&mut self) -> Result<&'a str, HydroError> {
        let Some(end) = self.find() else {
            return Err(self.wrong("the file ends here"));
        };
        let word = &self.text[self.at..end];
        (self.at, self.last) = (end, self.line);
        Ok(word)
    }

    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, HydroError> {
        let word = self.word()?;
        word.parse()
            .map_err(|_| self.wrong(&format!("`{}` is not a valid {what}", short(word))))
    }

    /// A coordinate.
    pub fn real(&mut self) -> Result<f64, HydroError> {
        let x: f64 = self.number("number")?;
        if x.is_finite() {
            Ok(x)
        } else {
            Err(self.wrong("a coordinate is not finite"))
        }
    }

    /// A count of entries that follow; each takes at least a byte and its end.
    pub fn count(&mut self, what: &str) -> Result<usize, HydroError> {
        let n: usize = self.number(what)?;
        if n > self.rest() {
            return Err(self.wrong(&format!(
                "{n} is too large for the {what}: the file ends before"
            )));
        }
        Ok(n)
    }
}

/// The beginning of a word, which may be as long as a file.
pub fn short(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    }
}
