//! A tokenizer that knows the line of each word, for error messages.

use crate::HydroError;
use std::str::FromStr;

/// The words of a text, read one after the other.
pub struct Words<'a> {
    name: &'a str,
    text: &'a str,
    comment: Option<char>,
    /// Offset of the unread text, bytes, and its line.
    at: usize,
    line: usize,
    /// Line of the last word that was read.
    last: usize,
}

impl<'a> Words<'a> {
    /// Reads `text`; `name` appears in messages, and `comment` begins comments that end with the line.
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

    /// An error at the line of the last word.
    pub fn wrong(&self, what: &str) -> HydroError {
        HydroError::Mesh(format!("{}, line {}: {what}", self.name, self.last))
    }

    /// Skips lines until behind one that says `end`; whether there is one.
    pub fn skip_past(&mut self, end: &str) -> bool {
        while self.at < self.text.len() {
            let line = self.skip_line();
            if line.trim() == end {
                return true;
            }
        }
        false
    }

    /// Skips the rest of a line, which is returned.
    pub fn skip_line(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let line = rest.split_inclusive('\n').next().unwrap_or("");
        self.last = self.line;
        self.line += usize::from(line.ends_with('\n'));
        self.at += line.len();
        line
    }

    /// Reads a text in quotes, or a word.
    ///
    /// # Errors
    /// The text ends.
    pub fn quoted(&mut self) -> Result<&'a str, HydroError> {
        if !self.peek().is_some_and(|w| w.starts_with('"')) {
            return self.word();
        }
        let rest = &self.text[self.at + 1..];
        let Some(end) = rest.find('"') else {
            return Err(self.wrong("a quotation mark is missing"));
        };
        self.last = self.line;
        self.line += rest[..end].matches('\n').count();
        self.at += end + 2;
        Ok(&rest[..end])
    }

    /// Length of the unread text, bytes.
    pub fn rest(&self) -> usize {
        self.text.len() - self.at
    }

    /// Moves to the next word; returns its end.
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

    /// The next word, which stays unread; `None` at the end.
    pub fn peek(&mut self) -> Option<&'a str> {
        let end = self.find()?;
        Some(&self.text[self.at..end])
    }

    /// Reads the next word.
    ///
    /// # Errors
    /// The text ends.
    pub fn word(&mut self) -> Result<&'a str, HydroError> {
        let Some(end) = self.find() else {
            return Err(self.wrong("the file ends here"));
        };
        let word = &self.text[self.at..end];
        (self.at, self.last) = (end, self.line);
        Ok(word)
    }

    /// Reads a number; `what` names it in messages.
    ///
    /// # Errors
    /// The text ends, or the word is not a number of this type.
    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, HydroError> {
        let word = self.word()?;
        word.parse()
            .map_err(|_| self.wrong(&format!("`{}` is not a valid {what}", short(word))))
    }

    /// Reads a coordinate.
    ///
    /// # Errors
    /// The word is not a finite number.
    pub fn real(&mut self) -> Result<f64, HydroError> {
        let x: f64 = self.number("number")?;
        if x.is_finite() {
            Ok(x)
        } else {
            Err(self.wrong("a coordinate is not finite"))
        }
    }

    /// Reads the number of entries that follow; each takes at least one byte.
    ///
    /// # Errors
    /// The word is not a count, or the remaining text is too short for so many entries.
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

/// A word shortened to 40 characters, for messages.
pub fn short(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    }
}
