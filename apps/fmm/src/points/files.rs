//! Points and charges from CSV and NPY files. In CSV the names of a header decide; without one the columns are x, y, z and
//! the charges, as in NPY.

use super::Points;
use super::header::Header;
use crate::FmmError;
use greenup_files::{FileError, read_bytes};
use greenup_report::npy;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub use super::results::{Block, Columns, WRITTEN, write, write_columns, written};

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

/// Reads a .csv or .npy file with columns x, y, z and charges; a header of a .csv file may name them in any order.
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
/// Not a two-dimensional array of real numbers, or too few columns.
pub fn from_npy(bytes: &[u8], name: &str) -> Result<Table, FmmError> {
    let name = Path::new(name);
    table(name, array(name, bytes)?)
}

fn table(path: &Path, (values, columns): (Vec<f64>, usize)) -> Result<Table, FmmError> {
    if columns < 3 {
        return Err(invalid(
            path,
            format!("{columns} columns: x, y, z and charges were expected"),
        ));
    }
    if values.is_empty() {
        return Err(invalid(path, "it has no points"));
    }
    let rows = || values.chunks_exact(columns);
    let charges: Vec<f64> = rows().flat_map(|r| &r[3..]).copied().collect();
    if let Some(i) = charges.iter().position(|q| !q.is_finite()) {
        return Err(FmmError::Charge {
            number: i / (columns - 3) + 1,
            value: charges[i],
        });
    }
    Ok(Table {
        points: rows().map(|r| [r[0], r[1], r[2]]).collect(),
        charges,
        columns: columns - 3,
    })
}

fn array(path: &Path, bytes: &[u8]) -> Result<(Vec<f64>, usize), FmmError> {
    let read = npy::array(bytes).map_err(|why| invalid(path, why))?;
    Ok((read.values, read.columns))
}

fn npy_values(path: &Path) -> Result<(Vec<f64>, usize), FmmError> {
    // Its first bytes tell whether the rest is worth reading.
    let mut magic = [0; 6];
    let read = File::open(path).and_then(|mut f| f.read_exact(&mut magic));
    match read {
        Ok(()) if magic == *b"\x93NUMPY" => {}
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => return Err(unreadable(path, e)),
        _ => return array(path, &magic),
    }
    // The file, and its numbers in double precision.
    let limit = greenup_process::memory::available().unwrap_or(u64::MAX) / 3;
    array(path, &read_bytes(path, limit)?)
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

/// A reader of rows that blanks separate, with blanks for tabs.
struct Blanks<R> {
    inner: R,
    tabs_too: bool,
}

impl<R: Read> Read for Blanks<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(to)?;
        if self.tabs_too {
            to[..n]
                .iter_mut()
                .filter(|b| **b == b'\t')
                .for_each(|b| *b = b' ');
        }
        Ok(n)
    }
}

/// The first lines of a file, of at most this many bytes, tell its delimiter and header.
const START: usize = 1 << 16;

/// Whether a cell is a number or tries to be one, as `0,5` or `1D0`.
fn is_number_like(cell: &str) -> bool {
    let digits = cell.trim_start_matches(['-', '+', '.']);
    cell.parse::<f64>().is_ok() || digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Rows with x, y, z and the charges, in this order.
fn csv_values(path: &Path, inner: impl Read) -> Result<(Vec<f64>, usize), FmmError> {
    let mut lines = Lines { inner, length: 0 };
    let mut start = Vec::new();
    (&mut lines)
        .take(START as u64)
        .read_to_end(&mut start)
        .map_err(|e| invalid(path, e))?;
    let start = match start.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => start,
    };
    let (delimiter, commented) = super::header::start(&String::from_utf8_lossy(&start));
    let named = |e: String| invalid(path, e);
    let mut header: Option<Header> = commented.transpose().map_err(named)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(Blanks {
            inner: io::Cursor::new(start).chain(lines),
            tabs_too: delimiter == b' ',
        });
    let (mut numbers, mut columns, mut first) = (Vec::new(), 0, true);
    let mut row = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| invalid(path, e))?;
        let line = record.position().map_or(1, csv::Position::line);
        // Several blanks separate as one does.
        let mut record: Vec<&str> = (record.iter())
            .filter(|f| delimiter != b' ' || !f.is_empty())
            .collect();
        // A first line without numbers is a header, which may have other separators than the rows.
        let is_header = first && record.iter().all(|f| !is_number_like(f));
        if is_header {
            let other = |d: char| move |f: &&str| f.contains(d);
            if let Some(d) = [',', ';', '\t']
                .into_iter()
                .find(|d| record.iter().any(other(*d)))
            {
                record = (record.into_iter())
                    .flat_map(|f| f.split(d))
                    .map(str::trim)
                    .filter(|f| !f.is_empty() || delimiter != b' ')
                    .collect();
            } else if record.len() == 1 {
                record = record[0].split_whitespace().collect();
            }
        }
        first = false;
        if is_header && header.is_none() {
            header = Some(
                Header::of(record.iter().copied())
                    .map_err(|e| invalid(path, format!("line {line}: {e}")))?,
            );
            columns = record.len();
            continue;
        }
        if columns == 0 {
            columns = header.as_ref().map_or(record.len(), Header::len);
        }
        if record.len() != columns {
            return Err(invalid(
                path,
                format!(
                    "line {line}: {} numbers, where {} {columns}",
                    record.len(),
                    if header.is_some() {
                        "the header has"
                    } else {
                        "lines before have"
                    }
                ),
            ));
        }
        row.clear();
        for (i, field) in record.iter().copied().enumerate() {
            if header.as_ref().is_some_and(|h| h.ignores(i)) {
                row.push(0.0);
                continue;
            }
            let x = field
                .parse::<f64>()
                .ok()
                .filter(|x| x.is_finite())
                .ok_or_else(|| {
                    let hint = match field {
                        "" if delimiter == b'\t' => {
                            ": one tab parts two columns, two have an empty cell between them"
                        }
                        _ if field.contains([',', ' ', '\t']) => ": decimals need a point",
                        _ if is_number_like(field) && field.contains(['d', 'D']) => {
                            ": exponents are written with e"
                        }
                        _ => "",
                    };
                    invalid(
                        path,
                        format!("line {line}: `{field}` is not a finite number{hint}"),
                    )
                })?;
            row.push(x);
        }
        if numbers.capacity() - numbers.len() < columns {
            // The vector doubles now.
            let more = 3 * 8 * numbers.len() as u64;
            greenup_process::memory::check("the file", more).map_err(|e| invalid(path, e))?;
        }
        match &header {
            Some(h) => numbers.extend(h.order().map(|i| row[i])),
            None => numbers.extend(&row),
        }
    }
    let used = header.as_ref().map_or(columns, |h| h.order().count());
    Ok((numbers, used.max(3)))
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
        for (text, why) in [
            ("", "no points"),
            ("x y z q\n", "no points"),
            ("0.5\t\t0.3\t1\n0.1\t\t0.3\t2\n", "an empty cell"),
            ("0.5D0 1 2 3\n", "`0.5D0` is not a finite number: exponents"),
            ("0,5;0,3;0,1\n", "`0,5` is not a finite number: decimals"),
        ] {
            let e = from_csv(text, "text").unwrap_err().to_string();
            assert!(e.contains(why), "{text:?}: {e}");
        }
        // Several tabs part columns where all do.
        let t = from_csv("0\t\t1\t\t2\n3\t\t4\t\t5\n", "text").unwrap();
        assert_eq!(t.points.at(1), [3.0, 4.0, 5.0]);
        let e = from_csv("0,0,0\n1,2\n", "text").unwrap_err().to_string();
        assert!(e.starts_with("text: line 2"), "{e}");
        assert!(from_npy(b"x", "bytes").is_err());
    }

    #[test]
    fn comments_name_the_columns_or_are_refused() {
        let of = |text: &str| from_csv(text, "text");
        let t = of("# x y z q\n0.0 1.0  2.0 3.0\n4 5 6 7\n").unwrap();
        assert_eq!(
            (t.points.at(1), t.charges),
            ([4.0, 5.0, 6.0], vec![3.0, 7.0])
        );
        // Any comment above the rows, in any order and with its own separator.
        let t = of("# q, z, y, x\n# made by hand\n3 2 1 0\n").unwrap();
        assert_eq!((t.points.at(0), t.charges), ([0.0, 1.0, 2.0], vec![3.0]));
        let e = of("# x y z radius q\n0,1,2,9,3\n").unwrap_err().to_string();
        assert!(e.contains("radius"), "{e}");
        assert_eq!(of("# from a lab\n0,1,2,3\n").unwrap().columns, 1);
        // Above a header comments say other things.
        for comment in [
            "# x y z of 100 atoms",
            "# positions x y z in nm",
            "# x y z q\n# more",
        ] {
            let t = of(&format!("{comment}\nq,x,y,z\n3,0,1,2\n")).unwrap();
            assert_eq!((t.points.at(0), t.charges), ([0.0, 1.0, 2.0], vec![3.0]));
        }
        let e = of("# x y z of 100 atoms\n0,1,2,3\n")
            .unwrap_err()
            .to_string();
        assert!(e.contains("line 1") && e.contains("`of`"), "{e}");
    }

    #[test]
    fn names_decide_in_any_order_and_notation() {
        let want = from_csv("0,1,2,3\n4,5,6,7\n", "text").unwrap();
        for text in [
            "charge,x,y,z\n3,0,1,2\n7,4,5,6\n",
            "\u{feff}z;q;X; Y\r\n2;3;0;1\r\n6;7;4;5\r\n",
            "x\ty\tz\tmass\n0\t1\t2\t3\n4\t5\t6\t7\n",
            "# charge,x,y,z\n3,0,1,2\n7,4,5,6\n",
            "# of a run; 2 points\nx,y,z,q,_id\n0,1,2,3,a\n4,5,6,7,b\n",
            "# positions, charges\n0,1,2,3\n4,5,6,7\n",
            "0 1  2 3\n4 5 6 7\n",
            "  0\t1 2\t 3\n4 5\t\t6 7\t\n",
            "0\t\t1\t2\t3\n4\t\t5\t6\t7\n",
            "x y z q\n0\t1\t2\t3\n4\t5\t6\t7\n",
            "x\ty\tz\tq\n0 1 2 3\n4 5 6 7\n",
            "x, y, z, q\n0 1 2 3\n4 5 6 7\n",
            "x;y;z;q\n0\t1\t2\t3\n4\t5\t6\t7\n",
            "x y z q\n0,1,2,3\n4,5,6,7\n",
            "x\ty\tz\tq\t_name\n0\t1\t2\t3\ta b\n4\t5\t6\t7\tc\n",
            "x y z q\n0 1 2 3\n4 5 6 7\n",
            "\"x\",\"y\",\"z\",\"charge\"\n0,1,2,3\n4,5,6,7\n",
        ] {
            assert_eq!(from_csv(text, "text").unwrap(), want, "{text}");
        }
        let complex = from_csv("q_im,z,y,x,q_re\n5,2,1,0,4\n", "text").unwrap();
        assert_eq!((complex.charges, complex.columns), (vec![4.0, 5.0], 2));
        for (text, want) in [
            ("x,y,charge\n0,0,1\n", "line 1: the column z is missing"),
            ("x,y,z,colour\n0,0,0,1\n", "unknown column `colour`"),
            ("x,y,z,x\n0,0,0,1\n", "two columns are called x"),
            ("x,y,z,q,charge\n0,0,0,1,1\n", "two columns"),
            ("x,y,z,q,q_re,q_im\n0,0,0,1,1,1\n", "different kinds"),
            ("x,y,z,fx,fy\n0,0,0,1,1\n", "the column force_z is missing"),
            ("x,y,z,\n0,0,0,1\n", "column 4 has no name"),
            ("x [m],y [m],z [m]\n0,0,0\n", "unknown column `x [m]`"),
            (
                "x,y,z,q\n0,0,0\n",
                "line 2: 3 numbers, where the header has 4",
            ),
            ("x,y,z\n0,0,nan\n", "line 2: `nan` is not a finite number"),
            (
                "0 0 0 1\n0 0\n",
                "line 2: 2 numbers, where lines before have 4",
            ),
            ("# x,y\n0,0\n", "the column z is missing"),
            ("0,5;0;0;1\n", "decimals need a point"),
        ] {
            let e = from_csv(text, "text").unwrap_err().to_string();
            assert!(e.contains(want), "{text}: {e}");
        }
        // A first line of numbers is no header.
        assert_eq!(from_csv("1,2,3\n", "text").unwrap().points.len(), 1);
    }
}
