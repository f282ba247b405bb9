//! Results to CSV, NPY and ParaView's files, block by block: whoever writes need not hold them all.

use super::Points;
use crate::FmmError;
use greenup_files::{AtomicFile, write_by};
use greenup_report::npy;
use greenup_report::vtu::{Head, Values, cell, numbers};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// Endings of files that results can be written to.
pub const WRITTEN: [&str; 3] = ["csv", "npy", "vtu"];

/// What was written, with the columns, which an array has no header for.
pub fn written(path: &Path, names: &[&str]) -> String {
    let columns: Vec<&str> = ["x", "y", "z"].iter().chain(names).copied().collect();
    format!("wrote {}: {}", path.display(), columns.join(", "))
}

/// Takes a block: values of consecutive points, column by column.
pub type Block<'a> = dyn FnMut(&[&[f64]]) -> io::Result<()> + 'a;

/// Coordinates and results of points: columns x, y, z, and those of the results.
pub trait Columns {
    /// Number of points.
    fn points(&self) -> usize;

    /// Gives these columns of all points, block by block, in the order of the points.
    ///
    /// # Errors
    /// That of `to`.
    fn blocks(&mut self, columns: Range<usize>, to: &mut Block<'_>) -> io::Result<()>;
}

/// Points of this process with their results, `[component][point]`.
struct Local<'a>(Vec<&'a [f64]>);

impl Columns for Local<'_> {
    fn points(&self) -> usize {
        self.0[0].len()
    }

    fn blocks(&mut self, columns: Range<usize>, to: &mut Block<'_>) -> io::Result<()> {
        to(&self.0[columns])
    }
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
    let n = points.len();
    let of = |c: usize| results.get(c * n..(c + 1) * n).unwrap_or_default();
    let columns = points.x.iter().map(Vec::as_slice);
    let mut all = Local(columns.chain((0..names.len()).map(of)).collect());
    write_columns(path, names, &mut all)
}

/// The same for points and results that come block by block. Nothing is kept of a block.
///
/// # Errors
/// As [`write()`].
pub fn write_columns(path: &Path, names: &[&str], all: &mut dyn Columns) -> Result<(), FmmError> {
    let ending = greenup_files::outputs::ending(path, &WRITTEN)?;
    Ok(write_by(path, |file| match ending.as_str() {
        "csv" => csv(file, names, all),
        "npy" => npy(file, names, all),
        _ => vtu(file, names, all),
    })?)
}

fn csv(to: &mut AtomicFile, names: &[&str], all: &mut dyn Columns) -> io::Result<()> {
    let mut w = csv::Writer::from_writer(to);
    w.write_record(["x", "y", "z"].iter().chain(names))
        .map_err(of_system)?;
    all.blocks(0..3 + names.len(), &mut |block| {
        (0..block[0].len()).try_for_each(|i| {
            let row = block.iter().map(|c| format!("{:e}", c[i]));
            w.write_record(row).map_err(of_system)
        })
    })?;
    w.flush()
}

/// The error of the disk itself: by its kind a hint is chosen.
fn of_system(e: csv::Error) -> io::Error {
    match e.into_kind() {
        csv::ErrorKind::Io(e) => e,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn npy(to: &mut AtomicFile, names: &[&str], all: &mut dyn Columns) -> io::Result<()> {
    let columns = 3 + names.len();
    to.write_all(&npy::header("f8", &[all.points(), columns]))?;
    all.blocks(0..columns, &mut |block| {
        let mut rows = (0..block[0].len()).flat_map(|i| block.iter().map(move |c| c[i]));
        rows.try_for_each(|x| to.write_all(&x.to_le_bytes()))
    })
}

fn vtu(to: &mut AtomicFile, names: &[&str], all: &mut dyn Columns) -> io::Result<()> {
    let points = all.points();
    let head = Head {
        points,
        cells: points,
        cell_type: cell::VERTEX,
        nodes: 1,
        point_fields: names.iter().map(|n| ((*n).to_owned(), 1)).collect(),
        cell_fields: Vec::new(),
    };
    head.write(to, |array, to| match array {
        Values::PointField(c) => all.blocks(3 + c..4 + c, &mut |b| numbers(to, b[0])),
        Values::Points => all.blocks(0..3, &mut |b| {
            (0..b[0].len()).try_for_each(|i| numbers(to, &[b[0][i], b[1][i], b[2][i]]))
        }),
        Values::CellField(_) => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of a few points.
    struct Blocks<'a>(Local<'a>, usize);

    impl Columns for Blocks<'_> {
        fn points(&self) -> usize {
            self.0.points()
        }

        fn blocks(&mut self, columns: Range<usize>, to: &mut Block<'_>) -> io::Result<()> {
            let n = self.points();
            (0..n).step_by(self.1).try_for_each(|from| {
                let rows = from..(from + self.1).min(n);
                let all = self.0.0[columns.clone()].iter();
                to(&all.map(|c| &c[rows.clone()]).collect::<Vec<_>>())
            })
        }
    }

    #[test]
    fn blocks_of_any_length_give_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let columns: Vec<Vec<f64>> = (0..5)
            .map(|c| (0..17).map(|i| f64::from(100 * c + i)).collect())
            .collect();
        let points = Points {
            x: std::array::from_fn(|a| columns[a].clone()),
        };
        let names = ["potential", "gradient_x"];
        for ending in WRITTEN {
            let path = folder.path().join("a").with_extension(ending);
            write(&path, &points, &names, &columns[3..].concat()).unwrap();
            let whole = std::fs::read(&path).unwrap();
            for each in [1, 3, 16, 17] {
                let local = Local(columns.iter().map(Vec::as_slice).collect());
                write_columns(&path, &names, &mut Blocks(local, each)).unwrap();
                assert!(std::fs::read(&path).unwrap() == whole, "{ending} {each}");
            }
        }
    }
}
