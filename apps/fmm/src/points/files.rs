//! Points and charges from CSV and NPY files; results to CSV, NPY and ParaView's files.

use super::Points;
use crate::FmmError;
use greenup_files::{AtomicFile, FileError, read_bytes};
use greenup_report::npy;
use greenup_report::vtu::{Field, Grid, cell};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

/// Endings of files that results can be written to.
pub const WRITTEN: [&str; 3] = ["csv", "npy", "vtu"];

/// A line of numbers is never longer.
const LONGEST_LINE: usize = 1 << 20;

fn wrong(path: &Path, why: impl std::fmt::Display) -> FmmError {
    FmmError(format!("{}: {why}", path.display()))
}

fn ending(path: &Path) -> String {
    path.extension()
        .map(|e| e.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}

/// Points (three columns), and the charges of further columns, point by point.
///
/// # Errors
/// The file is none, or a line has another number of numbers; the line is named.
pub fn read(path: &Path) -> Result<(Points, Vec<f64>, usize), FmmError> {
    let (numbers, columns) = match ending(path).as_str() {
        "csv" => from_csv(path)?,
        "npy" => from_npy(path)?,
        _ => return Err(wrong(path, "its ending is not csv or npy")),
    };
    if columns < 3 {
        return Err(wrong(
            path,
            format!("{columns} columns: x, y, z and charges were expected"),
        ));
    }
    let points = numbers
        .chunks_exact(columns)
        .map(|r| [r[0], r[1], r[2]])
        .collect();
    let charges = numbers
        .chunks_exact(columns)
        .flat_map(|r| r[3..].to_vec())
        .collect();
    Ok((points, charges, columns - 3))
}

fn from_npy(path: &Path) -> Result<(Vec<f64>, usize), FmmError> {
    let other = || {
        wrong(
            path,
            "is no NumPy array of two dimensions of float64 or float32",
        )
    };
    // Its first bytes tell whether the rest is worth reading.
    let mut magic = [0; 6];
    let read = File::open(path).and_then(|mut f| f.read_exact(&mut magic));
    match read {
        Ok(()) if magic == *b"\x93NUMPY" => {}
        Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => return Err(unreadable(path, e)),
        _ => return Err(other()),
    }
    // The file, and its numbers in double precision.
    let limit = greenup_app::memory::available().unwrap_or(u64::MAX) / 3;
    npy::table(&read_bytes(path, limit)?).ok_or_else(other)
}

fn unreadable(path: &Path, cause: io::Error) -> FmmError {
    let path = path.to_owned();
    FileError::Read { path, cause }.into()
}

/// A reader that ends at a line so long that it is none: a device without an end gives nothing else.
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
        if self.length > LONGEST_LINE {
            let words = format!("a line of more than {LONGEST_LINE} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, words));
        }
        Ok(n)
    }
}

fn from_csv(path: &Path) -> Result<(Vec<f64>, usize), FmmError> {
    let inner = File::open(path).map_err(|e| unreadable(path, e))?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(Lines { inner, length: 0 });
    let (mut numbers, mut columns) = (Vec::new(), 0);
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|e| wrong(path, e))?;
        let line = record.position().map_or(i as u64 + 1, csv::Position::line);
        // A first line of words is a heading.
        if i == 0 && record.iter().all(|f| f.parse::<f64>().is_err()) {
            continue;
        }
        if columns == 0 {
            columns = record.len();
        }
        if record.len() != columns {
            return Err(wrong(
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
                    wrong(
                        path,
                        format!("line {line}: `{field}` is no number that is finite"),
                    )
                })?;
            if numbers.len() == numbers.capacity() {
                // It doubles now.
                let more = 3 * 8 * numbers.len() as u64;
                greenup_app::memory::check("what it holds", more).map_err(|e| wrong(path, e))?;
            }
            numbers.push(x);
        }
    }
    Ok((numbers, columns.max(3)))
}

/// Targets with their results (column by column) to a file, by its ending; it appears whole or not at all.
///
/// # Errors
/// The file cannot be written, or its ending is unknown.
pub fn write(
    path: &Path,
    points: &Points,
    names: &[&str],
    results: &[f64],
) -> Result<(), FmmError> {
    let ending = greenup_files::outputs::ending(path, &WRITTEN)?;
    Ok(greenup_files::write_by(path, |file| {
        match ending.as_str() {
            "csv" => csv(file, points, names, results),
            "npy" => {
                let shape = [points.len(), 3 + names.len()];
                let rows = (0..points.len()).flat_map(|i| row(points, results, i));
                file.write_all(&npy::npy("f8", &shape, rows))
            }
            _ => vtu(points, names, results).write(file),
        }
    })?)
}

/// A point and its results.
fn row<'a>(points: &Points, results: &'a [f64], i: usize) -> impl Iterator<Item = f64> + 'a {
    let n = points.len();
    let own = results.iter().skip(i).step_by(n).copied();
    points.at(i).into_iter().chain(own)
}

fn csv(to: &mut AtomicFile, points: &Points, names: &[&str], results: &[f64]) -> io::Result<()> {
    let mut w = csv::Writer::from_writer(to);
    w.write_record(["x", "y", "z"].iter().chain(names))?;
    for i in 0..points.len() {
        w.write_record(row(points, results, i).map(|x| format!("{x:e}")))?;
    }
    w.flush()
}

fn vtu(points: &Points, names: &[&str], results: &[f64]) -> Grid {
    let n = points.len();
    let columns = names.iter().zip(results.chunks(n.max(1)));
    Grid {
        points: (0..n).flat_map(|i| points.at(i)).collect(),
        cell_type: cell::VERTEX,
        nodes: 1,
        point_fields: columns
            .map(|(name, column)| Field::scalar(*name, column.to_vec()))
            .collect(),
        cell_fields: Vec::new(),
    }
}
