//! Points and charges from CSV and NPY files.

use super::Points;
use crate::FmmError;
use greenup_files::{FileError, read_bytes};
use greenup_report::npy;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub use super::results::{Block, Columns, WRITTEN, write, write_columns};

/// Maximum length of a line, bytes.
const MAX_LINE: usize = 1 << 20;

fn invalid(path: &Path, why: impl std::fmt::Display) -> FmmError {
    FmmError::Points {
        path: path.to_owned(),
        what: why.to_string(),
    }
}

fn ending(path: &Path) -> String {
    path.extension()
        .map(|e| e.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}

/// Points with the values of further columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The first three columns.
    pub points: Points,
    /// Charges: `[point][column]`.
    pub charges: Vec<f64>,
    /// Columns of charges.
    pub columns: usize,
}

/// Reads a .csv or .npy file with columns x, y, z and charges.
///
/// # Errors
/// The file cannot be read, or a line is invalid; the line is named.
pub fn read(path: &Path) -> Result<Table, FmmError> {
    match ending(path).as_str() {
        "csv" => {
            let file = File::open(path).map_err(|e| unreadable(path, e))?;
            table(path, csv_values(path, file)?)
        }
        "npy" => {
            let values = npy_values(path)?;
            table(path, values)
        }
        _ => Err(invalid(path, "its ending is not csv or npy")),
    }
}

/// Reads CSV text with columns x, y, z and charges. `name` stands for the file in messages.
///
/// # Errors
/// A line is invalid; the line is named.
pub fn from_csv(text: &str, name: &str) -> Result<Table, FmmError> {
    let name = Path::new(name);
    table(name, csv_values(name, text.as_bytes())?)
}

/// Reads the bytes of a NumPy array of shape `[points][columns]`. `name` stands for the file in messages.
///
/// # Errors
/// Not a two-dimensional array of float64 or float32, or too few columns.
pub fn from_npy(bytes: &[u8], name: &str) -> Result<Table, FmmError> {
    let name = Path::new(name);
    table(name, npy::table(bytes).ok_or_else(|| not_npy(name))?)
}

fn table(path: &Path, (values, columns): (Vec<f64>, usize)) -> Result<Table, FmmError> {
    if columns < 3 {
        return Err(invalid(
            path,
            format!("{columns} columns: x, y, z and charges were expected"),
        ));
    }
    let rows = || values.chunks_exact(columns);
    Ok(Table {
        points: rows().map(|r| [r[0], r[1], r[2]]).collect(),
        charges: rows().flat_map(|r| &r[3..]).copied().collect(),
        columns: columns - 3,
    })
}

fn not_npy(path: &Path) -> FmmError {
    let what = "not a NumPy array of two dimensions of float64 or float32";
    invalid(path, what)
}

fn npy_values(path: &Path) -> Result<(Vec<f64>, usize), FmmError> {
    // Its first bytes tell whether the rest is worth reading.
    let mut magic = [0; 6];
    let read = File::open(path).and_then(|mut f| f.read_exact(&mut magic));
    match read {
        Ok(()) if magic == *b"\x93NUMPY" => {}
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => return Err(unreadable(path, e)),
        _ => return Err(not_npy(path)),
    }
    // The file, and its numbers in double precision.
    let limit = greenup_process::memory::available().unwrap_or(u64::MAX) / 3;
    npy::table(&read_bytes(path, limit)?).ok_or_else(|| not_npy(path))
}

fn unreadable(path: &Path, cause: io::Error) -> FmmError {
    let path = path.to_owned();
    FileError::Read { path, cause }.into()
}

/// A reader that fails at a line that is too long, as of an endless device.
struct Lines<R> {
    inner: R,
    length: usize,
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(to)?;
        self.length = match to[..n].iter().rposition(|b| *b == b'\n') {
            Some(at) => n - 1 - at,
            None => self.length + n,
        };
        if self.length > MAX_LINE {
            let what = format!("a line of more than {MAX_LINE} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(n)
    }
}

fn csv_values(path: &Path, inner: impl Read) -> Result<(Vec<f64>, usize), FmmError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(Lines { inner, length: 0 });
    let (mut numbers, mut columns) = (Vec::new(), 0);
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|e| invalid(path, e))?;
        let line = record.position().map_or(i as u64 + 1, csv::Position::line);
        // A first line without numbers is a header.
        if i == 0 && record.iter().all(|f| f.parse::<f64>().is_err()) {
            continue;
        }
        if columns == 0 {
            columns = record.len();
        }
        if record.len() != columns {
            return Err(invalid(
                path,
                format!(
                    "line {line}: {} numbers, where lines before have {columns}",
                    record.len()
                ),
            ));
        }
        for field in &record {
            let x = field
                .parse::<f64>()
                .ok()
                .filter(|x| x.is_finite())
                .ok_or_else(|| {
                    invalid(
                        path,
                        format!("line {line}: `{field}` is not a finite number"),
                    )
                })?;
            if numbers.len() == numbers.capacity() {
                // The vector doubles now.
                let more = 3 * 8 * numbers.len() as u64;
                greenup_process::memory::check("the file", more).map_err(|e| invalid(path, e))?;
            }
            numbers.push(x);
        }
    }
    Ok((numbers, columns.max(3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_give_what_files_give() {
        let text = "x,y,z,charge\n0,1,2,3\n4,5,6,7\n";
        let t = from_csv(text, "text").unwrap();
        assert_eq!((t.points.at(1), t.columns), ([4.0, 5.0, 6.0], 1));
        assert_eq!(t.charges, [3.0, 7.0]);
        let bytes = npy::npy(
            "f8",
            &[2, 4],
            [0, 1, 2, 3, 4, 5, 6, 7].map(f64::from).into_iter(),
        );
        assert_eq!(from_npy(&bytes, "bytes").unwrap(), t);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        assert_eq!(read(&path).unwrap(), t);
        let e = from_csv("0,0,0\n1,2\n", "text").unwrap_err().to_string();
        assert!(e.starts_with("text: line 2"), "{e}");
        assert!(from_npy(b"x", "bytes").is_err());
    }
}
