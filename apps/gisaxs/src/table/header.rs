//! Which line of a table is its header, and lines that seem to be one and are not understood.

use super::columns::{Column, Layout, Places, plain};
use super::lines::{Head, number, splits};
use super::units::{DEGREES, EV, PER_NM};

/// The columns that a header names, and their number.
pub(super) type Header = (Places, usize);

/// What a cell of a comment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// A column.
    Name,
    /// A column with its unit.
    Measured,
    /// A unit.
    Unit,
    Other,
}

impl Layout {
    /// The header of rows of some width, and its own: the line without numbers, or else the comment, that names all columns.
    ///
    /// # Errors
    /// The line of a header that cannot be used, and why: numbers in another order or unit are worse than none.
    pub(super) fn header(
        &self,
        heads: &[Head],
        width: usize,
    ) -> Result<Option<Header>, (usize, String)> {
        let fits: Vec<Option<Places>> = heads.iter().map(|h| self.fit(h, width)).collect();
        let of = |comment: bool| {
            (0..heads.len()).rfind(|&k| heads[k].comment == comment && fits[k].is_some())
        };
        let plain = heads.iter().rfind(|h| !h.comment);
        let found = match (of(false), plain) {
            (None, Some(last)) => {
                let names = last.cells();
                let places = self.places(&names).map_err(|m| (last.line, m))?;
                return Ok(Some((places, names.len())));
            }
            (own, _) => own.or(of(true)),
        };
        for (k, head) in heads.iter().enumerate().filter(|(k, _)| Some(*k) != found) {
            let other = fits[k].is_some() && found.is_some_and(|f| fits[f] != fits[k]);
            let fault = if other {
                Some("another line names the columns in another way".into())
            } else if fits[k].is_some() {
                None
            } else {
                self.fault(&head.text, width, found.is_some())
            };
            if let Some(why) = fault {
                let message = format!(
                    "\"{}\" seems to name columns or units, but {why}. Fix: name all columns with their units in one line, as {}, \
                     or remove it",
                    head.text,
                    self.example()
                );
                return Err((head.line, message));
            }
        }
        Ok(found.and_then(|k| Some((fits[k].clone()?, width))))
    }

    /// A header with units.
    fn example(&self) -> String {
        let one = |c: &Column| match c.units[0].0 {
            "" | "1" => c.names[0].to_owned(),
            unit => format!("{} ({unit})", c.names[0]),
        };
        let all: Vec<String> = self.columns[..self.plain].iter().map(one).collect();
        all.join(",")
    }

    /// The columns that a line names, if it names all of them.
    fn fit(&self, head: &Head, width: usize) -> Option<Places> {
        let mut all = splits(&head.text)
            .into_iter()
            .filter(|s| s.1.len() == width);
        all.find_map(|(_, cells)| self.places(&cells).ok())
    }

    /// Why a comment that is not the header seems to be one; `None` if it says nothing of columns.
    fn fault(&self, text: &str, width: usize, has_header: bool) -> Option<String> {
        for (list, cells) in splits(text) {
            let words: Vec<Word> = cells.iter().map(|c| self.word(c)).collect();
            let known = |w: &Word| *w != Word::Other;
            let same = cells.len() == width && cells.iter().all(|c| is_short(c));
            // A unit alone in a list, or behind a name.
            let unit = |w: &Word| *w == Word::Measured || list && *w == Word::Unit;
            // Prose and values: `alpha 0.2`.
            if !list && cells.iter().any(|c| number(c).is_ok()) {
                continue;
            }
            let own = |c: &String| {
                let name = self.named(c).0;
                self.columns
                    .iter()
                    .any(|c| c.names.contains(&name.as_str()))
            };
            let columns =
                cells.iter().any(own) || words.iter().any(|w| *w != Word::Name && known(w));
            let suspect = if has_header {
                list && same && words.iter().any(unit)
            } else {
                same || words.iter().any(unit)
            };
            if words.iter().any(known) && (suspect || words.iter().all(known) && columns) {
                return Some(if cells.len() == width {
                    self.places(&cells).err().unwrap_or_default()
                } else {
                    format!("the rows have {width} columns")
                });
            }
        }
        let words: Vec<&str> = text
            .split(|c: char| c.is_whitespace() || ",;()[]".contains(c))
            .collect();
        let other = |pair: &[&str]| {
            let unit = pair[1].trim_end_matches(['.', ':']).to_lowercase();
            let mut all = self.columns.iter().flat_map(|c| c.units);
            // "8 keV" is a value.
            unit.len() > 2 && number(pair[0]).is_err() && all.any(|u| u.0 == unit && u.1 != 1.0)
        };
        let unit = words
            .windows(2)
            .find(|w| other(w))
            .filter(|_| !has_header)?;
        Some(format!(
            "no header says what is in {}",
            unit[1].trim_end_matches(['.', ':'])
        ))
    }

    /// What a cell of a comment names.
    fn word(&self, cell: &str) -> Word {
        if cell.ends_with(':') || cell.contains('=') {
            return Word::Other;
        }
        let (name, unit) = self.named(cell);
        let is = |u: &str, units: &[(&str, f64)]| u.len() > 1 && units.iter().any(|k| k.0 == u);
        let known = |u: &str| {
            let own = self.columns.iter().any(|c| is(u, c.units));
            own || [DEGREES, PER_NM, EV].iter().any(|units| is(u, units))
        };
        let column = self
            .columns
            .iter()
            .find(|c| c.names.contains(&name.as_str()));
        let bracket = cell.split_once(['(', '[']).map(|(_, unit)| plain(unit));
        match (column, unit) {
            (Some(_), None) => Word::Name,
            (Some(c), Some(u)) if is(&u, c.units) => Word::Measured,
            (None, unit)
                if self.unused.contains(&name.as_str())
                    && (unit.is_none() || bracket.is_some() || !cell.contains(' ')) =>
            {
                Word::Name
            }
            _ if known(&name) || bracket.is_some_and(|u| known(&u)) => Word::Unit,
            _ => Word::Other,
        }
    }
}

/// Whether a cell may be a name with its unit, or a number: not a sentence.
fn is_short(cell: &str) -> bool {
    let outside = cell.split(['(', '[']).next().unwrap_or_default();
    outside.split_whitespace().count() <= 2
}
