//! Tables of numbers in text files: one reader for all commands. Columns are separated by commas, semicolons, tabs or blanks;
//! `#` starts a comment; a first row without any number is a header, whose names and units decide.

use crate::GisaxsError;
use std::path::Path;

/// The error of a file with invalid contents.
pub fn fail(path: &Path, message: impl std::fmt::Display) -> GisaxsError {
    GisaxsError::File {
        path: path.display().to_string(),
        message: message.to_string(),
    }
}

/// A column that a command reads.
pub struct Column {
    /// Names in a header, in lower case without blanks, `_`, brackets and unit; the first is the one in messages.
    pub names: &'static [&'static str],
    /// Units and their factors; the first is that of a column without unit.
    pub units: &'static [(&'static str, f64)],
    /// The value where a header does not name the column; `None`: it must.
    pub absent: Option<f64>,
}

/// Units of angles, in degrees.
pub const DEGREES: &[(&str, f64)] = &[
    ("deg", 1.0),
    ("degree", 1.0),
    ("degrees", 1.0),
    ("°", 1.0),
    ("rad", 180.0 / std::f64::consts::PI),
    ("radian", 180.0 / std::f64::consts::PI),
    ("radians", 180.0 / std::f64::consts::PI),
    ("mrad", 0.18 / std::f64::consts::PI),
];

/// Units of q, in 1/nm.
pub const PER_NM: &[(&str, f64)] = &[
    ("1/nm", 1.0),
    ("nm-1", 1.0),
    ("nm^-1", 1.0),
    ("nm⁻¹", 1.0),
    ("1/a", 10.0),
    ("1/å", 10.0),
    ("a-1", 10.0),
    ("a^-1", 10.0),
    ("a⁻¹", 10.0),
    ("å-1", 10.0),
    ("å^-1", 10.0),
    ("å⁻¹", 10.0),
    ("1/angstrom", 10.0),
];

/// Units of energies of photons, in eV.
pub const EV: &[(&str, f64)] = &[("ev", 1.0), ("kev", 1e3)];

/// No unit.
pub const PLAIN: &[(&str, f64)] = &[("1", 1.0), ("", 1.0)];

/// How a table is read.
pub struct Layout {
    /// The columns, in the order that they have without a header.
    pub columns: &'static [Column],
    /// Names of columns that a header may have and that are not used.
    pub unused: &'static [&'static str],
    /// Whether without a header more columns may follow, which are not used.
    pub more: bool,
    /// Whether a number may be missing: NaN.
    pub gaps: bool,
}

/// A table: the numbers of each row in the order of the columns, with its line.
pub type Rows = Vec<(usize, Vec<f64>)>;

impl Layout {
    fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|c| c.names[0]).collect();
        names.join(",")
    }

    /// Reads the columns of a table.
    ///
    /// # Errors
    /// The file cannot be read, a column is missing, unknown, twice or in an unknown unit, or a row has a wrong number of
    /// columns or an invalid number; the error names the line and the columns.
    pub fn read(&self, path: &Path) -> Result<Rows, GisaxsError> {
        let (header, rows) = rows(path, |names| {
            // As NumPy writes it: behind a #.
            names.iter().all(|text| {
                let (name, _) = named(text, self.columns);
                let is = |known: &[&str]| known.contains(&name.as_str());
                is(self.unused) || self.columns.iter().any(|c| is(c.names))
            })
        })?;
        let wrong = |line: usize, m: String| fail(path, format!("line {line}: {m}"));
        let (places, width) = match &header {
            None => {
                let places: Vec<_> = (0..self.columns.len()).map(|k| (Some(k), 1.0)).collect();
                (places, self.columns.len())
            }
            Some((line, names)) => (
                self.places(names).map_err(|m| wrong(*line, m))?,
                names.len(),
            ),
        };
        let more = header.is_none() && self.more;
        rows.into_iter()
            .map(|(line, cells)| {
                if cells.len() < width || cells.len() > width && !more {
                    return Err(wrong(
                        line,
                        match &header {
                            Some(_) => format!("{} columns, but the header has {width}", cells.len()),
                            None => format!(
                                "{} columns; {} are expected: {}. A header names them in another order",
                                cells.len(),
                                self.columns.len(),
                                self.names()
                            ),
                        },
                    ));
                }
                let row = places.iter().zip(self.columns).map(|((place, factor), c)| {
                    let Some(k) = place else {
                        return Ok(c.absent.unwrap_or(0.0));
                    };
                    let x = number(&cells[*k]).map_err(|m| wrong(line, m))?;
                    match x.is_finite() || self.gaps && x.is_nan() {
                        true => Ok(x * factor),
                        false => Err(wrong(line, format!("{} = {x} is not finite", c.names[0]))),
                    }
                });
                Ok((line, row.collect::<Result<_, _>>()?))
            })
            .collect()
    }

    /// Where a header has each column, and the factor of its unit.
    fn places(&self, names: &[String]) -> Result<Vec<(Option<usize>, f64)>, String> {
        let mut places: Vec<Option<(usize, f64)>> = vec![None; self.columns.len()];
        for (k, text) in names.iter().enumerate() {
            let (name, unit) = named(text, self.columns);
            let Some(c) = (self.columns.iter()).position(|c| c.names.contains(&name.as_str()))
            else {
                if self.unused.contains(&name.as_str()) {
                    continue;
                }
                return Err(format!(
                    "the column \"{text}\" is unknown; the columns are {}",
                    self.names()
                ));
            };
            let column = &self.columns[c];
            let factor = match unit {
                None => 1.0,
                Some(unit) => match column.units.iter().find(|u| u.0 == unit) {
                    Some((_, factor)) => *factor,
                    None => {
                        let known: Vec<&str> = column.units.iter().map(|u| u.0).collect();
                        return Err(format!(
                            "the unit of \"{text}\" is unknown; known are {}",
                            known.join(", ")
                        ));
                    }
                },
            };
            if places[c].replace((k, factor)).is_some() {
                return Err(format!("the column {} is there twice", column.names[0]));
            }
        }
        (self.columns.iter().zip(places))
            .map(|(c, place)| match (place, c.absent) {
                (Some((k, factor)), _) => Ok((Some(k), factor)),
                (None, Some(_)) => Ok((None, 1.0)),
                (None, None) => Err(format!(
                    "the column {} is missing; the columns are {}",
                    c.names[0],
                    self.names()
                )),
            })
            .collect()
    }
}

/// Name and unit of a column: `qx`, `alpha (deg)`, `alpha_deg`, `qx [1/nm]`, `q_x/nm^-1`.
fn named(text: &str, columns: &[Column]) -> (String, Option<String>) {
    let text = text.trim().trim_start_matches('\u{feff}').to_lowercase();
    let plain = |s: &str| -> String {
        (s.chars())
            .filter(|c| !c.is_whitespace() && !"_()[]{}".contains(*c))
            .collect()
    };
    let known = |name: &str| columns.iter().any(|c| c.names.contains(&name));
    if known(&plain(&text)) {
        return (plain(&text), None);
    }
    for open in ['(', '['] {
        if let Some((name, unit)) = text.split_once(open)
            && known(&plain(name))
        {
            return (plain(name), Some(plain(unit)));
        }
    }
    let cuts = text.char_indices().filter(|(_, c)| "/_ ".contains(*c));
    for (at, _) in cuts {
        let (name, unit) = (plain(&text[..at]), plain(&text[at + 1..]));
        if known(&name) {
            return (name, Some(unit));
        }
    }
    (plain(&text), None)
}

fn number(cell: &str) -> Result<f64, String> {
    cell.parse().map_err(|_| match cell {
        "" => "a cell is empty".to_owned(),
        _ => format!("\"{cell}\" is not a number"),
    })
}

/// All numbers of a table whose rows have the same number of columns: an image. NaN are gaps.
///
/// # Errors
/// The file cannot be read, or a row has another number of columns or an invalid number; the error names the line.
pub fn matrix(path: &Path) -> Result<Rows, GisaxsError> {
    let (header, rows) = rows(path, |_| false)?;
    let width = header.map_or(rows[0].1.len(), |h| h.1.len());
    rows.into_iter()
        .map(|(line, cells)| {
            let wrong = |m: String| fail(path, format!("line {line}: {m}"));
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

type Cells = (usize, Vec<String>);

/// The header, and the cells of each row, with their lines. The header may be a comment before the first row, if `is_header`
/// accepts its names.
fn rows(
    path: &Path,
    is_header: impl Fn(&[String]) -> bool,
) -> Result<(Option<Cells>, Vec<Cells>), GisaxsError> {
    let text = greenup_files::read_text(path)?;
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut all: Vec<Cells> = Vec::new();
    let mut comment: Option<(usize, &str)> = None;
    let mut separator = None;
    let cells = |line: &str, by: Option<char>| -> Vec<String> {
        match by {
            Some(c) => line.split(c).map(cell).collect(),
            None => line.split_whitespace().map(cell).collect(),
        }
    };
    for (n, line) in text.split(['\n', '\r']).enumerate() {
        let (line, rest) = line.split_once('#').unwrap_or((line, ""));
        let line = line.trim();
        if line.is_empty() {
            if all.is_empty() && !rest.trim().is_empty() {
                comment = Some((n + 1, rest.trim()));
            }
            continue;
        }
        let by = *separator
            .get_or_insert_with(|| [';', ',', '\t'].into_iter().find(|c| line.contains(*c)));
        all.push((n + 1, cells(line, by)));
    }
    let Some((_, first)) = all.first() else {
        return Err(fail(path, "has no numbers"));
    };
    let is_name = |cell: &String| !cell.is_empty() && number(cell).is_err();
    let header = match first.iter().all(is_name) {
        true => Some(all.remove(0)),
        false => comment
            .map(|(n, names)| (n, cells(names, separator.flatten())))
            .filter(|(_, names)| names.len() == first.len() && is_header(names)),
    };
    if all.is_empty() {
        return Err(fail(path, "has no numbers"));
    }
    Ok((header, all))
}

fn cell(text: &str) -> String {
    text.trim().trim_matches('"').trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout = Layout {
        columns: &[
            Column {
                names: &["alpha", "α"],
                units: DEGREES,
                absent: None,
            },
            Column {
                names: &["qx"],
                units: PER_NM,
                absent: Some(7.0),
            },
        ],
        unused: &["r"],
        more: false,
        gaps: false,
    };

    fn read(text: &str) -> Result<Vec<Vec<f64>>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        let rows = LAYOUT.read(&path).map_err(|e| e.to_string())?;
        Ok(rows.into_iter().map(|r| r.1).collect())
    }

    #[test]
    fn headers_decide_on_columns_and_units() {
        for text in [
            "1,2\n",
            "# a comment\n\n1, 2 # more\n",
            "alpha,qx\n1,2\n",
            "\u{feff}qx,R,alpha\r\n2,0.5,1\r\n",
            "\"qx\";\"α\"\n2;1\n",
            "alpha_deg qx_1/nm\n1 2\n",
            "qx [nm^-1],alpha (deg)\n2,1\n",
            "q_x (1/A),Alpha [degrees]\n0.2,1\n",
            "Qx/Å⁻¹\talpha\n0.2\t1\n",
            "alpha/deg,qx/nm-1\r1,2\r",
            "# made by hand\n# qx,alpha\n2,1\n",
            "# qx, made by hand\n1,2\n",
        ] {
            assert_eq!(read(text), Ok(vec![vec![1.0, 2.0]]), "{text}");
        }
        let mrad = read("alpha_mrad\n1000\n").unwrap();
        assert!((mrad[0][0] - 1.0_f64.to_degrees()).abs() < 1e-12 && mrad[0][1] == 7.0);
        assert_eq!(read("alpha_rad\n1\n").unwrap()[0][0], 1.0_f64.to_degrees());
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, message) in [
            (
                "alpha,qz\n1,2\n",
                "line 1: the column \"qz\" is unknown; the columns are alpha,qx",
            ),
            ("qx,r\n1,2\n", "line 1: the column alpha is missing"),
            ("alpha,α\n1,2\n", "line 1: the column alpha is there twice"),
            (
                "alpha (grad),qx\n1,2\n",
                "line 1: the unit of \"alpha (grad)\" is unknown; known are deg",
            ),
            ("alpha,qx (eV)\n1,2\n", "the unit of \"qx (eV)\""),
            ("1\n", "line 1: 1 columns; 2 are expected: alpha,qx"),
            ("1,2,3\n", "line 1: 3 columns; 2 are expected: alpha,qx"),
            (
                "alpha,qx\n1,2\n1\n",
                "line 3: 1 columns, but the header has 2",
            ),
            ("1,2\n1,x\n", "line 2: \"x\" is not a number"),
            ("1,O\n", "line 1: \"O\" is not a number"),
            ("1,\n", "line 1: a cell is empty"),
            ("1,2\n1,inf\n", "line 2: qx = inf is not finite"),
            ("1,2\nnan,2\n", "line 2: alpha = NaN is not finite"),
            ("alpha,qx\n", "has no numbers"),
            ("", "has no numbers"),
        ] {
            let e = read(text).unwrap_err();
            assert!(e.contains(message), "{text}: {e}");
        }
    }
}
