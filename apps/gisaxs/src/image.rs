//! Images in files; the first row of numbers is the lowest angle.

use crate::GisaxsError;
use std::fmt::Write as _;
use std::path::Path;

/// Writes by the file's ending: csv, npy or png (logarithm of the intensity, highest row on top).
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write(path: &Path, pixels: &[f64], columns: usize) -> Result<(), GisaxsError> {
    let fail = |message: String| GisaxsError::File {
        path: path.display().to_string(),
        message,
    };
    let ending = path
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let bytes = match ending.as_str() {
        "csv" => csv(pixels, columns),
        "npy" => npy(pixels, columns),
        "png" => png(pixels, columns).map_err(|e| fail(e.to_string()))?,
        _ => return Err(fail("its ending is not csv, npy or png".into())),
    };
    std::fs::write(path, bytes).map_err(|e| fail(format!("cannot be written: {e}")))
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

/// Decades that colours span below the maximum.
const DECADES: f64 = 7.0;

fn png(pixels: &[f64], columns: usize) -> Result<Vec<u8>, png::EncodingError> {
    let top = pixels.iter().copied().fold(0.0, f64::max);
    let rows = pixels.len() / columns.max(1);
    let mut data = Vec::with_capacity(3 * pixels.len());
    for row in pixels.chunks(columns.max(1)).rev() {
        for v in row {
            let level = if *v > 0.0 && top > 0.0 {
                1.0 + (v / top).log10() / DECADES
            } else {
                0.0
            };
            data.extend(colour(level.clamp(0.0, 1.0)));
        }
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, columns as u32, rows as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&data)?;
    writer.finish()?;
    Ok(out)
}

/// From dark blue over green to yellow, lightness rising throughout.
fn colour(level: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 6] = [
        [13.0, 8.0, 40.0],
        [48.0, 38.0, 120.0],
        [38.0, 104.0, 142.0],
        [40.0, 160.0, 130.0],
        [140.0, 205.0, 75.0],
        [253.0, 231.0, 37.0],
    ];
    let at = level * (STOPS.len() - 1) as f64;
    let i = (at as usize).min(STOPS.len() - 2);
    std::array::from_fn(|k| {
        (STOPS[i][k] + (STOPS[i + 1][k] - STOPS[i][k]) * (at - i as f64)).round() as u8
    })
}
