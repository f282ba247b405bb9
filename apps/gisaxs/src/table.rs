//! Tables of numbers in text files: one reader for all commands. Columns are separated by commas, semicolons, tabs or blanks;
//! `#` starts a comment; a first row without any number is a header, whose names and units decide. So is a comment before the
//! rows that names all of their columns.

mod lines;

use crate::GisaxsError;
use lines::{Head, Text, number, split, splits, text};
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

/// Units of wavelengths, in nm.
pub const NM: &[(&str, f64)] = &[
    ("nm", 1.0),
    ("å", 0.1),
    ("a", 0.1),
    ("angstrom", 0.1),
    ("ångström", 0.1),
    ("µm", 1e3),
    ("μm", 1e3),
    ("um", 1e3),
    ("micron", 1e3),
    ("microns", 1e3),
    ("m", 1e9),
];

/// The same, where a column without unit is in µm.
pub const MICROMETRES: &[(&str, f64)] = &[
    ("µm", 1e3),
    ("μm", 1e3),
    ("um", 1e3),
    ("nm", 1.0),
    ("å", 0.1),
    ("a", 0.1),
];

/// No unit.
pub const PLAIN: &[(&str, f64)] = &[("1", 1.0), ("", 1.0)];

/// How a table is read.
pub struct Layout {
    /// The columns, in the order that they have without a header.
    pub columns: &'static [Column],
    /// Names of columns that a header may have and that are not used.
    pub unused: &'static [&'static str],
    /// Number of the columns that a table without a header has.
    pub plain: usize,
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

    /// Names of the columns that a table without a header has.
    fn plain_names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|c| c.names[0]).collect();
        names[..self.plain].join(",")
    }

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
                "\"{whole},{rest}\" is one number with a decimal comma or two whole ones: write a point, or name both columns \
                 in a header"
            );
            return Err(wrong(rows[0].0, message));
        }
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

    /// The header of rows of some width, and its own: the line without numbers, or else the comment, that names all columns.
    ///
    /// # Errors
    /// The line of a header that cannot be used, and why: numbers in another order or unit are worse than none.
    fn header(&self, heads: &[Head], width: usize) -> Result<Option<Header>, (usize, String)> {
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

    /// Name and unit of a column: `qx`, `alpha (deg)`, `alpha_deg`, `qx [1/nm]`, `q_x/nm^-1`.
    fn named(&self, text: &str) -> (String, Option<String>) {
        let text = text.trim().trim_start_matches('\u{feff}').to_lowercase();
        let known = |name: &str| {
            self.unused.contains(&name) || self.columns.iter().any(|c| c.names.contains(&name))
        };
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

    /// Where a header has each column, and the factor of its unit.
    fn places(&self, names: &[String]) -> Result<Places, String> {
        let mut places: Vec<Option<(usize, f64)>> = vec![None; self.columns.len()];
        for (k, text) in names.iter().enumerate() {
            let (name, unit) = self.named(text);
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
                None => column.units.first().map_or(1.0, |u| u.1),
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

/// A name without what may be left out of it.
fn plain(text: &str) -> String {
    (text.to_lowercase().chars())
        .filter(|c| !c.is_whitespace() && !"_()[]{}".contains(*c))
        .collect()
}

/// Whether the cells are the parts of one number with a decimal comma.
fn is_decimal(cells: &[String]) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    match cells {
        [whole, rest] => {
            let mantissa = rest.split(['e', 'E']).next().unwrap_or_default();
            digits(whole.trim_start_matches(['-', '+'])) && digits(mantissa)
        }
        _ => false,
    }
}

/// Whether a cell may be a name with its unit, or a number: not a sentence.
fn is_short(cell: &str) -> bool {
    let outside = cell.split(['(', '[']).next().unwrap_or_default();
    outside.split_whitespace().count() <= 2
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

/// Where a table has each column, `None` if it leaves it out, and the factor of its unit.
type Places = Vec<(Option<usize>, f64)>;

/// The columns that a header names, and their number.
type Header = (Places, usize);

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
        plain: 2,
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
            "# qx alpha\n2,1\n",
            "# qx,alpha\n# data\n2,1\n",
            "# made on 2 May\n# alpha_deg,qx_1/nm # by hand\n1 2\n",
            "# qx (1/A) alpha (deg)\n0.2,1\n",
            "qx ( 1/nm ) alpha\n2 1\n",
            " Film Density=2.33\n Alpha(deg), Qx(1/nm)\n  1.0  2.0\n",
            "# α = 0.5\n# energy (eV): 8000\nalpha,qx\n1,2\n",
            "# alpha scan of a film, 8 keV\n1,2\n",
            "# divergence 0.1 mrad\n1,2\n",
            "# thin film, R factor\n1,2\n",
            // Titles above a header.
            "# alpha scan\nalpha,qx\n1,2\n",
            "alpha scan\nalpha,qx\n1,2\n",
            "# energy (eV) 8000\nalpha,qx\n1,2\n",
            "# alpha 0.2\nalpha,qx\n1,2\n",
            "# R factors\nalpha,qx\n1,2\n",
            "# energy (eV) 8000\n1,2\n",
        ] {
            assert_eq!(read(text), Ok(vec![vec![1.0, 2.0]]), "{text}");
        }
        let mrad = read("alpha_mrad\n1000\n").unwrap();
        assert!((mrad[0][0] - 1.0_f64.to_degrees()).abs() < 1e-12 && mrad[0][1] == 7.0);
        for text in [
            "alpha_rad\n1\n",
            "alpha (rad)\n1\n",
            "# alpha (rad)\n1\n",
            "# alpha [ rad ]\n# end\n1\n",
            "# alpha_rad R\n1,0.5\n",
            "alpha (rad) R (1)\n1 0.5\n",
        ] {
            assert_eq!(read(text).unwrap()[0][0], 1.0_f64.to_degrees(), "{text}");
        }
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
            (
                "# 2theta,R\n1,2\n",
                "line 1: \"2theta,R\" seems to name columns or units, but the column \"2theta\" is unknown",
            ),
            ("# 2theta R\n1,2\n", "the column \"2theta\" is unknown"),
            (
                "# qz (1/nm),R\n1,2\n",
                "the column \"qz (1/nm)\" is unknown",
            ),
            (
                "# alpha (grad),qx\n1,2\n",
                "the unit of \"alpha (grad)\" is unknown",
            ),
            (
                "# columns: alpha_mrad, qx\n1,2\n",
                "line 1: \"columns: alpha_mrad, qx\"",
            ),
            (
                "alpha,qx\n# mrad,1\n1,2\n",
                "line 2: \"mrad,1\" seems to name",
            ),
            (
                "alpha,qx\nmrad,a.u.\n1,2\n",
                "line 2: \"mrad,a.u.\" seems to name",
            ),
            ("# mrad,1\n1,2\n", "line 1: \"mrad,1\" seems to name"),
            ("# alpha R qx\n1,2\n", "the rows have 2 columns"),
            ("# angles in mrad\n1,2\n", "no header says what is in mrad"),
            (
                "# alpha,qx\n# alpha_mrad,qx\n1,2\n",
                "line 1: \"alpha,qx\" seems",
            ),
        ] {
            let e = read(text).unwrap_err();
            assert!(e.contains(message), "{text}: {e}");
        }
    }

    #[test]
    fn decimal_commas_are_no_columns() {
        let layout = Layout {
            columns: &LAYOUT.columns[..1],
            plain: 1,
            more: true,
            ..LAYOUT
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let rows = layout.read(&path).map_err(|e| e.to_string())?;
            Ok::<_, String>(rows.into_iter().map(|r| r.1[0]).collect::<Vec<f64>>())
        };
        for text in ["0,2\n0,3\n", "-1,25\n", "0,2e-1\n"] {
            assert!(read(text).unwrap_err().contains("line 1: \""), "{text}");
        }
        assert_eq!(read("0,2\n0.5,3\n").unwrap(), [0.0, 0.5]);
        assert_eq!(read("alpha,R\n0,2\n1,3\n").unwrap(), [0.0, 1.0]);
        assert_eq!(read("0 2\n1 3\n").unwrap(), [0.0, 1.0]);
    }
}
