//! Images as arrays of numbers: CSV, NPY, TIFF, HDF5.

use crate::GisaxsError;
use crate::table::{fail, numbers};
use greenup_files::read_bytes;
use greenup_report::npy::table;
use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;
use tiff::decoder::{Decoder, DecodingResult};
use tiff::encoder::{TiffEncoder, colortype::Gray32Float};
use tiff::tags::Tag;

/// Largest file of an image, bytes: 16,000 × 16,000 pixels of 64 bits.
const LIMIT: u64 = 2 << 30;

/// A CSV file, lowest row first.
pub(super) fn csv(pixels: &[f64], columns: usize) -> Vec<u8> {
    let mut text = String::new();
    for row in pixels.chunks(columns.max(1)) {
        for (i, v) in row.iter().enumerate() {
            let _ = write!(text, "{}{v:.17e}", if i > 0 { "," } else { "" });
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// A TIFF file of 32-bit floats, highest row first, with a description in ASCII.
///
/// # Errors
/// The image cannot be encoded.
pub(super) fn tiff(
    pixels: &[f64],
    columns: usize,
    description: &str,
) -> Result<Vec<u8>, tiff::TiffError> {
    let rows = pixels.len() / columns.max(1);
    let down: Vec<f32> = pixels
        .chunks(columns.max(1))
        .rev()
        .flatten()
        .map(|v| *v as f32)
        .collect();
    let mut out = Cursor::new(Vec::new());
    let ascii: String = description
        .chars()
        .map(|c| if c.is_ascii() { c } else { '?' })
        .collect();
    let mut encoder = TiffEncoder::new(&mut out)?;
    let mut image = encoder.new_image::<Gray32Float>(columns as u32, rows as u32)?;
    image
        .encoder()
        .write_tag(Tag::ImageDescription, ascii.as_str())?;
    image.write_data(&down)?;
    Ok(out.into_inner())
}

/// Writes an HDF5 file: the intensities, lowest row first, with the attribute `provenance`, and the ends of both axes.
///
/// # Errors
/// The file cannot be written.
#[cfg(feature = "hdf5")]
pub(super) fn hdf5(
    target: &Path,
    pixels: &[f64],
    detector: &crate::detector::Detector,
    origin: &str,
) -> Result<(), GisaxsError> {
    let out = greenup_files::AtomicFile::create(target)?;
    let path = out.temporary();
    let write = || -> hdf5_metno::Result<()> {
        let file = hdf5_metno::File::create(path)?;
        let data = file
            .new_dataset::<f64>()
            .shape((detector.rows(), detector.columns()))
            .create("intensity")?;
        data.write_raw(pixels)?;
        let text: hdf5_metno::types::VarLenUnicode = origin.parse().unwrap_or_default();
        data.new_attr::<hdf5_metno::types::VarLenUnicode>()
            .create("provenance")?
            .write_scalar(&text)?;
        for (name, (title, from, to)) in ["across", "up"].into_iter().zip(detector.axes()) {
            let axis = file.new_dataset::<f64>().shape(2).create(name)?;
            axis.write_raw(&[from, to])?;
            let text: hdf5_metno::types::VarLenUnicode = title.parse().unwrap_or_default();
            axis.new_attr::<hdf5_metno::types::VarLenUnicode>()
                .create("title")?
                .write_scalar(&text)?;
        }
        // Dropping the file would not report a full disk.
        file.flush()?;
        file.close()
    };
    write().map_err(|e| fail(target, format!("cannot be written: {e}")))?;
    Ok(out.commit()?)
}

/// Reads an image from a CSV, NPY or TIFF file: pixels, lowest row first, and the number of columns.
///
/// # Errors
/// The file cannot be read or is not an image in one of these formats; of a CSV file the error names the line.
pub fn read(path: &Path) -> Result<(Vec<f64>, usize), GisaxsError> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("csv") => from_csv(path),
        Some("npy") => from_npy(path),
        Some("tif" | "tiff") => from_tiff(path),
        _ => Err(fail(path, "its ending is not csv, npy or tif")),
    }
}

fn from_csv(path: &Path) -> Result<(Vec<f64>, usize), GisaxsError> {
    let text = greenup_files::read_text(path)?;
    let first = text
        .lines()
        .find(|l| !l.trim().is_empty() && !l.starts_with('#'))
        .unwrap_or_default();
    let columns = first.split(',').count();
    let rows = numbers(path, columns)?;
    Ok((rows.into_iter().flat_map(|r| r.1).collect(), columns))
}

fn from_npy(path: &Path) -> Result<(Vec<f64>, usize), GisaxsError> {
    table(&read_bytes(path, LIMIT)?).ok_or_else(|| {
        fail(
            path,
            "is not a NumPy array of two dimensions of float64 or float32",
        )
    })
}

fn from_tiff(path: &Path) -> Result<(Vec<f64>, usize), GisaxsError> {
    let mut decoder =
        Decoder::new(Cursor::new(read_bytes(path, LIMIT)?)).map_err(|e| fail(path, e))?;
    let (columns, _) = decoder.dimensions().map_err(|e| fail(path, e))?;
    let values: Vec<f64> = match decoder.read_image().map_err(|e| fail(path, e))? {
        DecodingResult::F32(v) => v.into_iter().map(f64::from).collect(),
        DecodingResult::F64(v) => v,
        DecodingResult::U8(v) => v.into_iter().map(f64::from).collect(),
        DecodingResult::U16(v) => v.into_iter().map(f64::from).collect(),
        DecodingResult::U32(v) => v.into_iter().map(f64::from).collect(),
        DecodingResult::I32(v) => v.into_iter().map(f64::from).collect(),
        _ => return Err(fail(path, "unsupported pixel format")),
    };
    let columns = columns as usize;
    let up = values
        .chunks(columns.max(1))
        .rev()
        .flatten()
        .copied()
        .collect();
    Ok((up, columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_report::npy::npy;

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let pixels: Vec<f64> = (0..12).map(|i| f64::from(i) * 0.25).collect();
        for (name, bytes) in [
            ("a.csv", csv(&pixels, 4)),
            ("a.npy", npy("f8", &[3, 4], pixels.iter().copied())),
            ("a.tif", tiff(&pixels, 4, "α").unwrap()),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(read(&path).unwrap(), (pixels.clone(), 4), "{name}");
        }
        for (name, text) in [
            ("b.csv", "1,2\n3\n"),
            ("b.npy", "x"),
            ("b.tif", "II"),
            ("b.txt", ""),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            assert!(read(&path).is_err(), "{name}");
        }
    }
}
