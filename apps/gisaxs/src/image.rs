//! Images in files; the first row of numbers is the lowest angle.

use crate::GisaxsError;
use crate::detector::Detector;
use crate::figure::png;
use std::fmt::Write as _;
use std::path::Path;

/// Formats of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv,
    Npy,
    /// The logarithm of the intensity, highest row on top, with axes.
    Png,
}

impl Format {
    /// By a file's ending.
    ///
    /// # Errors
    /// Another ending.
    pub fn of(path: &Path) -> Result<Self, GisaxsError> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("npy") => Ok(Self::Npy),
            Some("png") => Ok(Self::Png),
            _ => Err(GisaxsError::File {
                path: path.display().to_string(),
                message: "its ending is not csv, npy or png".into(),
            }),
        }
    }

    /// Writes an image.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(
        self,
        path: &Path,
        pixels: &[f64],
        detector: &Detector,
    ) -> Result<(), GisaxsError> {
        let fail = |message: String| GisaxsError::File {
            path: path.display().to_string(),
            message,
        };
        let columns = detector.phi.centres.len();
        let bytes = match self {
            Self::Csv => csv(pixels, columns),
            Self::Npy => npy(pixels, columns),
            Self::Png => png(pixels, detector).map_err(|e| fail(e.to_string()))?,
        };
        std::fs::write(path, bytes).map_err(|e| fail(format!("cannot be written: {e}")))
    }
}

fn csv(pixels: &[f64], columns: usize) -> Vec<u8> {
    let mut text = String::new();
    for row in pixels.chunks(columns.max(1)) {
        for (i, v) in row.iter().enumerate() {
            let _ = write!(text, "{}{v:.17e}", if i > 0 { "," } else { "" });
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// NumPy's format, version 1.0: a header padded to whole 64 bytes, then doubles.
fn npy(pixels: &[f64], columns: usize) -> Vec<u8> {
    let rows = pixels.len() / columns.max(1);
    let mut header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(pixels.iter().flat_map(|v| v.to_le_bytes()));
    out
}
