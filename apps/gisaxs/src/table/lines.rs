//! The lines of a table: rows of cells, and what is before them.

use super::fail;
use crate::GisaxsError;
use std::path::Path;

/// The cells of a row, with its line.
pub(super) type Cells = (usize, Vec<String>);

pub(super) fn number(cell: &str) -> Result<f64, String> {
    cell.parse().map_err(|_| match cell {
        "" => "a cell is empty".to_owned(),
        _ if cell.contains(',') => {
            format!("\"{cell}\" is not a number: decimals need a point")
        }
        _ => format!("\"{cell}\" is not a number"),
    })
}

/// A line without numbers before the rows.
pub(super) struct Head {
    pub line: usize,
    pub text: String,
    /// Whether it is behind a `#`.
    pub comment: bool,
}

impl Head {
    /// The names, by the first separator that it has.
    pub fn cells(&self) -> Vec<String> {
        let mut all = splits(&self.text);
        all.swap_remove(0).1
    }
}

/// A table before its columns are known.
pub(super) struct Text {
    pub heads: Vec<Head>,
    /// The cells of each row, with their lines; at least one.
    pub rows: Vec<Cells>,
    /// What separates them; `None`: blanks.
    pub by: Option<char>,
}

const SEPARATORS: [char; 3] = [';', ',', '\t'];

fn separator(line: &str) -> Option<char> {
    SEPARATORS.into_iter().find(|c| line.contains(*c))
}

pub(super) fn split(line: &str, by: Option<char>) -> Vec<String> {
    match by {
        Some(c) => line.split(c).map(cell).collect(),
        None => line.split_whitespace().map(cell).collect(),
    }
}

/// The cells of a header by each separator that it has, and whether that is not a blank. Blanks do not part a name from its
/// unit in brackets.
pub(super) fn splits(text: &str) -> Vec<(bool, Vec<String>)> {
    let lists = SEPARATORS.into_iter().filter(|c| text.contains(*c));
    let mut out: Vec<_> = lists.map(|c| (true, split(text, Some(c)))).collect();
    let mut cells: Vec<String> = Vec::new();
    let mut depth = 0_usize;
    for word in text.split_whitespace() {
        match cells.last_mut() {
            Some(last) if depth > 0 || word.starts_with(['(', '[']) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => cells.push(word.to_owned()),
        }
        let count = |brackets: [char; 2]| word.matches(brackets).count();
        depth = (depth + count(['(', '['])).saturating_sub(count([')', ']']));
    }
    out.push((false, cells.iter().map(|c| cell(c)).collect()));
    out
}

/// The lines before the rows, and the cells of each row.
pub(super) fn text(path: &Path, contents: &str) -> Result<Text, GisaxsError> {
    let text = contents
        .trim_start_matches('\u{feff}')
        .replace("\r\n", "\n");
    let (mut heads, mut rows): (Vec<Head>, Vec<Cells>) = (Vec::new(), Vec::new());
    let mut by = None;
    for (n, line) in text.split(['\n', '\r']).enumerate() {
        let (line, rest) = line.split_once('#').unwrap_or((line, ""));
        let line = line.trim();
        let mut head = |text: &str, comment| {
            heads.push(Head {
                line: n + 1,
                text: text.to_owned(),
                comment,
            });
        };
        if rows.is_empty() {
            // A decimal comma makes no name.
            let is_name =
                |cell: &String| !cell.is_empty() && number(&cell.replace(',', ".")).is_err();
            by = separator(line);
            let comment = rest.trim_start_matches('#');
            let comment = comment.split('#').next().unwrap_or_default().trim();
            // No cells, or names alone.
            if line.is_empty() || split(line, by).iter().all(is_name) {
                for (text, comment) in [(line, false), (comment, true)] {
                    if !text.is_empty() {
                        head(text, comment);
                    }
                }
                continue;
            }
        }
        if !line.is_empty() {
            rows.push((n + 1, split(line, by)));
        }
    }
    if rows.is_empty() {
        Err(fail(path, "has no numbers"))
    } else {
        Ok(Text { heads, rows, by })
    }
}

fn cell(text: &str) -> String {
    text.trim().trim_matches('"').trim().to_owned()
}
