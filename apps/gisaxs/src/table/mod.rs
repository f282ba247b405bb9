//! Tables of numbers in text files: one reader for all commands. Columns are separated by commas, semicolons, tabs or blanks;
//! `#` starts a comment; a first row without any number is a header, whose names and units decide. So is a comment before the
//! rows that names all of their columns.

mod columns;
mod header;
mod lines;
mod units;

pub use columns::{Column, Layout};
pub use units::{DEGREES, EV, MICROMETRES, NM, PER_NM, PLAIN};

use crate::GisaxsError;
use lines::{Text, number, split, text};
use std::path::Path;

/// The error of a file with invalid contents.
pub fn fail(path: &Path, message: impl std::fmt::Display) -> GisaxsError {
    GisaxsError::File {
        path: path.display().to_string(),
        message: message.to_string(),
    }
}

/// A table: the numbers of each row in the order of the columns, with its line.
pub type Rows = Vec<(usize, Vec<f64>)>;

impl Layout {
    /// Reads the columns of a table.
    ///
    /// # Errors
    /// The file cannot be read, a column is missing, unknown, twice or in an unknown unit, or a row has a wrong number of
    /// columns or an invalid number; the error names the line and the columns.
    pub fn read(&self, path: &Path) -> Result<Rows, GisaxsError> {
        self.read_text(path, &greenup_files::read_text(path)?)
    }

    /// Reads the columns of the text of a file.
    ///
    /// # Errors
    /// As [`Layout::read`].
    pub fn read_text(&self, path: &Path, contents: &str) -> Result<Rows, GisaxsError> {
        let Text { heads, rows, by } = text(path, contents)?;
        let wrong = |line: usize, m: String| fail(path, format!("line {line}: {m}"));
        let header = self
            .header(&heads, rows[0].1.len())
            .map_err(|(line, m)| wrong(line, m))?;
        let (places, width) = header.clone().unwrap_or_else(|| {
            let place = |k: usize| ((k < self.plain).then_some(k), 1.0);
            let places = (0..self.columns.len()).map(place).collect();
            (places, self.plain)
        });
        let more = header.is_none() && self.more;
        if more && by == Some(',') && rows.iter().all(|r| is_decimal(&r.1)) {
            let [whole, rest] = [0, 1].map(|k| rows[0].1[k].as_str());
            let message = format!(
                "\"{whole},{rest}\" may be numbers with decimal commas or whole ones: write points, or name the columns in a header"
            );
            return Err(wrong(rows[0].0, message));
        }
        rows.into_iter()
            .map(|(line, cells)| {
                no_decimal_commas(&cells, by).map_err(|m| wrong(line, m))?;
                if cells.len() < width || cells.len() > width && !more {
                    return Err(wrong(
                        line,
                        match &header {
                            Some(_) => format!("{} columns, but the header has {width}", cells.len()),
                            None => format!(
                                "{} columns; {} are expected: {}. A header names them in another order",
                                cells.len(),
                                self.plain,
                                self.plain_names()
                            ),
                        },
                    ));
                }
                let row = places.iter().zip(self.columns).map(|((place, factor), c)| {
                    let Some(k) = place else {
                        return Ok(c.absent.unwrap_or(0.0));
                    };
                    let x = number(&cells[*k]).map_err(|m| wrong(line, m))?;
                    if x.is_finite() || self.gaps && x.is_nan() {
                        Ok(x * factor)
                    } else {
                        Err(wrong(line, format!("{} = {x} is not finite", c.names[0])))
                    }
                });
                Ok((line, row.collect::<Result<_, _>>()?))
            })
            .collect()
    }
}

/// Refuses a row in which a cell between commas holds several numbers: the commas are decimal ones.
fn no_decimal_commas(cells: &[String], by: Option<char>) -> Result<(), String> {
    let several = |cell: &&String| {
        let mut words = cell.split_whitespace();
        let is_number = |w: &str| number(w).is_ok();
        words.next().is_some_and(is_number) && words.next().is_some_and(is_number)
    };
    match cells.iter().find(several).filter(|_| by == Some(',')) {
        None => Ok(()),
        Some(cell) => Err(format!(
            "\"{cell}\" is several numbers, parted by commas from others: write decimals with a point, or part all columns alike"
        )),
    }
}

/// Whether the cells are the parts of numbers with decimal commas, two each.
fn is_decimal(cells: &[String]) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let whole = |s: &str| digits(s.trim().trim_start_matches(['-', '+']));
    let rest = |s: &str| digits(s.split(['e', 'E']).next().unwrap_or_default());
    let pairs = cells.as_chunks::<2>();
    pairs.1.is_empty() && pairs.0.iter().all(|[a, b]| whole(a) && rest(b))
}

/// All numbers of a table whose rows have the same number of columns: an image. NaN are gaps.
///
/// # Errors
/// The file cannot be read, or a row has another number of columns or an invalid number; the error names the line.
pub fn matrix(path: &Path) -> Result<Rows, GisaxsError> {
    let Text { heads, rows, by } = text(path, &greenup_files::read_text(path)?)?;
    let mut names = heads.iter().filter(|h| !h.comment);
    let width = match (names.next(), names.next()) {
        (Some(_), Some(second)) => {
            let message = format!(
                "line {}: \"{}\" is not a row of numbers",
                second.line, second.text
            );
            return Err(fail(path, message));
        }
        (Some(head), None) => split(&head.text, by).len(),
        (None, _) => rows[0].1.len(),
    };
    rows.into_iter()
        .map(|(line, cells)| {
            let wrong = |m: String| fail(path, format!("line {line}: {m}"));
            no_decimal_commas(&cells, by).map_err(wrong)?;
            if cells.len() != width {
                return Err(wrong(format!(
                    "{} columns, but the first row has {width}",
                    cells.len()
                )));
            }
            let row = cells.iter().map(|c| number(c).map_err(wrong));
            Ok((line, row.collect::<Result<_, _>>()?))
        })
        .collect()
}

#[cfg(test)]
mod tests;
