//! Points and charges from CSV and NPY files; results to CSV, NPY and ParaView's files.

use super::Points;
use crate::FmmError;
use greenup_report::npy;
use std::path::Path;
use vtkio::model::{
    Attribute, ByteOrder, CellType, Cells, DataSet, UnstructuredGridPiece, Version, VertexNumbers,
    Vtk,
};

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
        "npy" => {
            let bytes =
                std::fs::read(path).map_err(|e| wrong(path, format!("cannot be read: {e}")))?;
            npy::table(&bytes).ok_or_else(|| {
                wrong(
                    path,
                    "is no NumPy array of two dimensions of float64 or float32",
                )
            })?
        }
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

fn from_csv(path: &Path) -> Result<(Vec<f64>, usize), FmmError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .flexible(true)
        .from_path(path)
        .map_err(|e| wrong(path, format!("cannot be read: {e}")))?;
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
            numbers.push(x);
        }
    }
    Ok((numbers, columns.max(3)))
}

/// Targets with their results (column by column) to a file, by its ending.
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
    let failed = |e: &dyn std::fmt::Display| wrong(path, format!("cannot be written: {e}"));
    match ending(path).as_str() {
        "csv" => {
            let mut w = csv::Writer::from_path(path).map_err(|e| failed(&e))?;
            w.write_record(["x", "y", "z"].iter().chain(names))
                .map_err(|e| failed(&e))?;
            for i in 0..n {
                let numbers =
                    (points.at(i).into_iter()).chain(results.iter().skip(i).step_by(n).copied());
                w.write_record(numbers.map(|x| format!("{x:e}")))
                    .map_err(|e| failed(&e))?;
            }
            w.flush().map_err(|e| failed(&e))
        }
        "npy" => {
            let rows = (0..n).flat_map(|i| {
                (points.at(i).into_iter()).chain(results.iter().skip(i).step_by(n).copied())
            });
            std::fs::write(path, npy::npy("f8", &[n, 3 + names.len()], rows))
                .map_err(|e| failed(&e))
        }
        "vtu" => vtu(points, names, results)
            .export(path)
            .map_err(|e| failed(&e)),
        _ => Err(wrong(path, "its ending is not csv, npy or vtu")),
    }
}

fn vtu(points: &Points, names: &[&str], results: &[f64]) -> Vtk {
    let n = points.len();
    let mut piece = UnstructuredGridPiece {
        points: (0..n)
            .flat_map(|i| points.at(i))
            .collect::<Vec<f64>>()
            .into(),
        cells: Cells {
            cell_verts: VertexNumbers::XML {
                connectivity: (0..n as u64).collect(),
                offsets: (1..=n as u64).collect(),
            },
            types: vec![CellType::Vertex; n],
        },
        data: Default::default(),
    };
    for (name, column) in names.iter().zip(results.chunks(n.max(1))) {
        piece
            .data
            .point
            .push(Attribute::scalars(*name, 1).with_data(column.to_vec()));
    }
    Vtk {
        version: Version::new_xml(1, 0),
        title: String::new(),
        byte_order: ByteOrder::LittleEndian,
        file_path: None,
        data: DataSet::inline(piece),
    }
}
