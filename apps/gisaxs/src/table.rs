//! Numbers in CSV files.

use crate::GisaxsError;
use std::path::Path;

/// The error of a file with invalid contents.
pub fn fail(path: &Path, message: impl std::fmt::Display) -> GisaxsError {
    GisaxsError::File {
        path: path.display().to_string(),
        message: message.to_string(),
    }
}

/// The first `least` numbers of each row, with its line number. A first row without numbers is a header; # starts a
/// comment.
///
/// # Errors
/// The file cannot be read, or a row has too few or invalid numbers; the error names the line.
pub fn numbers(path: &Path, least: usize) -> Result<Vec<(usize, Vec<f64>)>, GisaxsError> {
    let text = greenup_files::read_text(path)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'#'))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut out = Vec::new();
    for (n, record) in reader.records().enumerate() {
        let record = record.map_err(|e| fail(path, e))?;
        let line = record.position().map_or(n + 1, |p| p.line() as usize);
        let row: Result<Vec<f64>, _> = record.iter().take(least).map(str::parse::<f64>).collect();
        match row {
            Ok(v) if v.len() == least && v.iter().all(|x| x.is_finite()) => out.push((line, v)),
            Err(_) if n == 0 => {}
            _ => {
                return Err(fail(
                    path,
                    format!("line {line}: {least} finite numbers are expected"),
                ));
            }
        }
    }
    if out.is_empty() {
        return Err(fail(path, "has no numbers"));
    }
    Ok(out)
}
