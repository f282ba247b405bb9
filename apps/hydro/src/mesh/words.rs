//! Words of a text file with their lines, so that what is wrong can be found.

use crate::HydroError;
use std::path::Path;
use std::str::FromStr;

pub struct Words {
    name: String,
    all: Vec<(usize, String)>,
    next: usize,
}

impl Words {
    /// # Errors
    /// The file cannot be read as text.
    pub fn open(path: &Path, comment: Option<char>) -> Result<Self, HydroError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| HydroError(format!("{name} cannot be read: {e}")))?;
        let mut all = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line = comment.and_then(|c| line.split(c).next()).unwrap_or(line);
            all.extend(line.split_whitespace().map(|w| (i + 1, w.to_owned())));
        }
        Ok(Self { name, all, next: 0 })
    }

    pub fn wrong(&self, what: &str) -> HydroError {
        let last = self.next.saturating_sub(1);
        let line = self.all.get(last).or(self.all.last()).map_or(0, |w| w.0);
        HydroError(format!("{}, line {line}: {what}", self.name))
    }

    pub fn peek(&self) -> Option<&str> {
        self.all.get(self.next).map(|w| w.1.as_str())
    }

    pub fn word(&mut self) -> Result<String, HydroError> {
        let word = self
            .all
            .get(self.next)
            .map(|w| w.1.clone())
            .ok_or_else(|| self.wrong("the file ends here"))?;
        self.next += 1;
        Ok(word)
    }

    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, HydroError> {
        let word = self.word()?;
        word.parse()
            .map_err(|_| self.wrong(&format!("`{word}` is no {what}")))
    }

    /// A place's coordinate.
    pub fn real(&mut self) -> Result<f64, HydroError> {
        let x: f64 = self.number("number")?;
        if x.is_finite() {
            Ok(x)
        } else {
            Err(self.wrong("a coordinate is not finite"))
        }
    }

    /// A count, below what any mesh has.
    pub fn count(&mut self, what: &str) -> Result<usize, HydroError> {
        let n: usize = self.number(what)?;
        if n > 1 << 28 {
            return Err(self.wrong(&format!("{n} is too large for the {what}")));
        }
        Ok(n)
    }
}
