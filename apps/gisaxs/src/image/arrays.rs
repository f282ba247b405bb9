//! Images as arrays of numbers: CSV, NPY, TIFF, HDF5.

use crate::GisaxsError;
use crate::table::{fail, matrix};
use greenup_files::read_bytes;
use greenup_report::npy::{NumberType, array};
use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;
use tiff::decoder::{Decoder, DecodingResult};
use tiff::encoder::{TiffEncoder, colortype::Gray32Float};
use tiff::tags::Tag;
use tiff::{ColorType, TiffError, TiffUnsupportedError};

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

/// Writes an HDF5 file: the intensities, lowest row first, with the attribute `provenance`, the ends of both axes, and q and
/// angles of every pixel.
///
/// # Errors
/// The file cannot be written.
#[cfg(feature = "hdf5")]
pub(super) fn hdf5(
    target: &Path,
    pixels: &[f64],
    scene: &crate::scattering::dwba::Scene,
    origin: &str,
) -> Result<(), GisaxsError> {
    let out = greenup_files::AtomicFile::create(target)?;
    let path = out.temporary();
    let write = || -> hdf5_metno::Result<()> {
        let file = hdf5_metno::File::create(path)?;
        let detector = &scene.detector;
        let size = (detector.rows(), detector.columns());
        let data = file.new_dataset::<f64>().shape(size).create("intensity")?;
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
        for (name, unit, value) in super::coordinates::QUANTITIES {
            let data = file.new_dataset::<f64>().shape(size).create(name)?;
            let values: Vec<f64> = super::coordinates::pixels(scene)
                .map(|c| value(&c))
                .collect();
            data.write_raw(&values)?;
            let text: hdf5_metno::types::VarLenUnicode = unit.parse().unwrap_or_default();
            data.new_attr::<hdf5_metno::types::VarLenUnicode>()
                .create("unit")?
                .write_scalar(&text)?;
        }
        // Dropping the file would not report a full disk.
        file.flush()?;
        file.close()
    };
    write().map_err(|e| fail(target, format!("cannot be written: {e}")))?;
    Ok(out.commit()?)
}

/// An image as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Pixels, lowest row first; NaN where the file has the value of a gap.
    pub pixels: Vec<f64>,
    /// Number of columns.
    pub columns: usize,
    /// Pixels with the value of a gap: the largest or the next of an unsigned type of 16 bits or more, as detectors write it.
    pub gaps: Vec<usize>,
    /// Whether the type is wider than 16 bits.
    pub wide: bool,
}

/// Values of gaps of 32 bits, also after a conversion to another type: 2³² − 1 and 2³² − 2.
const GAPS_32: [f64; 2] = [4_294_967_295.0, 4_294_967_294.0];

impl Measured {
    fn new(mut pixels: Vec<f64>, columns: usize, kind: NumberType) -> Self {
        let is_gap = |v: f64| match kind {
            NumberType::Bool | NumberType::Unsigned(8) | NumberType::Signed(..=32) => false,
            NumberType::Unsigned(16) => v >= 65_534.0,
            NumberType::Unsigned(64) => v >= 18_446_744_073_709_551_614.0 || GAPS_32.contains(&v),
            // In single precision it is 2³².
            NumberType::Float(32) => v == 4_294_967_296.0,
            _ => GAPS_32.contains(&v),
        };
        let gaps: Vec<usize> = (0..pixels.len()).filter(|n| is_gap(pixels[*n])).collect();
        for n in &gaps {
            pixels[*n] = f64::NAN;
        }
        Self {
            pixels,
            columns,
            gaps,
            wide: matches!(
                kind,
                NumberType::Unsigned(32..) | NumberType::Signed(32..) | NumberType::Float(_)
            ),
        }
    }
}

/// Reads an image from a CSV, NPY or TIFF file.
///
/// # Errors
/// The file cannot be read or is not an image in one of these formats; of a CSV file the error names the line.
pub fn read(path: &Path) -> Result<Measured, GisaxsError> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("csv") => {
            let rows = matrix(path)?;
            let columns = rows[0].1.len();
            let pixels = rows.into_iter().flat_map(|r| r.1).collect();
            Ok(Measured::new(pixels, columns, NumberType::Float(64)))
        }
        Some("npy") => {
            let read = array(&read_bytes(path, LIMIT)?).map_err(|e| fail(path, e))?;
            Ok(Measured::new(read.values, read.columns, read.kind))
        }
        Some("tif" | "tiff") => from_tiff(path),
        _ => Err(fail(path, "its ending is not csv, npy or tif")),
    }
}

fn from_tiff(path: &Path) -> Result<Measured, GisaxsError> {
    fn all<T: Into<f64>>(v: Vec<T>) -> Vec<f64> {
        v.into_iter().map(Into::into).collect()
    }
    let tiff = |e: TiffError| match e {
        TiffError::UnsupportedError(TiffUnsupportedError::UnsupportedCompressionMethod(method)) => {
            let message = format!(
                "is compressed by {method:?}; no compression, LZW, Deflate and PackBits are read. Fix: tiffcp -c none"
            );
            fail(path, message)
        }
        e => fail(path, e),
    };
    let mut decoder = Decoder::new(Cursor::new(read_bytes(path, LIMIT)?)).map_err(tiff)?;
    let (columns, rows) = decoder.dimensions().map_err(tiff)?;
    let (columns, rows) = (columns as usize, rows as usize);
    let colour = decoder.colortype().map_err(tiff)?;
    if !matches!(colour, ColorType::Gray(1 | 8 | 16 | 32 | 64)) {
        let message = format!(
            "has pixels of type {colour:?}; one number of 1 or of 8 to 64 bits a pixel is read"
        );
        return Err(fail(path, message));
    }
    if decoder.more_images() {
        return Err(fail(
            path,
            "holds several images: save the one to fit alone",
        ));
    }
    let mut tag = |tag: Tag| decoder.find_tag_unsigned::<u32>(tag).map_err(tiff);
    if tag(Tag::PhotometricInterpretation)? == Some(0) {
        return Err(fail(
            path,
            "is a negative (0 is white): save the counts with 0 as black",
        ));
    }
    let upward = match tag(Tag::Orientation)?.unwrap_or(1) {
        1 => false,
        4 => true,
        n => {
            let message = format!(
                "has the orientation {n}: save it with the first row at the top or at the bottom"
            );
            return Err(fail(path, message));
        }
    };
    let (values, kind) = match decoder.read_image().map_err(tiff)? {
        DecodingResult::F32(v) => (all(v), NumberType::Float(32)),
        DecodingResult::F64(v) => (v, NumberType::Float(64)),
        DecodingResult::U8(v) if colour == ColorType::Gray(1) => {
            // Each row begins with a byte, the first pixel is its highest bit.
            let bit = |bytes: &[u8], c: usize| f64::from(bytes[c / 8] >> (7 - c % 8) & 1);
            let all = v.chunks_exact(columns.div_ceil(8).max(1));
            let values = all.flat_map(|bytes| (0..columns).map(move |c| bit(bytes, c)));
            (values.collect(), NumberType::Bool)
        }
        DecodingResult::U8(v) => (all(v), NumberType::Unsigned(8)),
        DecodingResult::U16(v) => (all(v), NumberType::Unsigned(16)),
        DecodingResult::U32(v) => (all(v), NumberType::Unsigned(32)),
        DecodingResult::U64(v) => (
            v.into_iter().map(|x| x as f64).collect(),
            NumberType::Unsigned(64),
        ),
        DecodingResult::I8(v) => (all(v), NumberType::Signed(8)),
        DecodingResult::I16(v) => (all(v), NumberType::Signed(16)),
        DecodingResult::I32(v) => (all(v), NumberType::Signed(32)),
        DecodingResult::I64(v) => (
            v.into_iter().map(|x| x as f64).collect(),
            NumberType::Signed(64),
        ),
        DecodingResult::F16(_) => {
            return Err(fail(
                path,
                "has pixels of 16-bit floats: save them as 32 bits",
            ));
        }
    };
    if Some(values.len()) != rows.checked_mul(columns) || columns == 0 {
        let message = format!("has {} pixels, not {columns} × {rows}", values.len());
        return Err(fail(path, message));
    }
    let pixels = if upward {
        values
    } else {
        values.chunks(columns).rev().flatten().copied().collect()
    };
    Ok(Measured::new(pixels, columns, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_report::npy::npy;
    use tiff::encoder::{Compression, DeflateLevel};

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
            let image = read(&path).unwrap();
            assert_eq!((&image.pixels, image.columns), (&pixels, 4), "{name}");
            assert!(image.gaps.is_empty(), "{name}");
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

    #[test]
    fn compressed_images_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.tif");
        let pixels: Vec<f32> = (0..600).map(|i| (i % 7) as f32).collect();
        for compression in [
            Compression::Lzw,
            Compression::Deflate(DeflateLevel::default()),
            Compression::Packbits,
        ] {
            let mut out = Cursor::new(Vec::new());
            let encoder = TiffEncoder::new(&mut out).unwrap();
            let mut encoder = encoder.with_compression(compression);
            encoder.write_image::<Gray32Float>(30, 20, &pixels).unwrap();
            std::fs::write(&path, out.into_inner()).unwrap();
            let read = read(&path).unwrap();
            // The highest row is the first of the file.
            let row: Vec<f64> = pixels[..30].iter().map(|v| f64::from(*v)).collect();
            assert_eq!((&read.pixels[19 * 30..], read.columns), (&row[..], 30));
        }
    }

    /// A TIFF file of one strip as a detector writes it.
    fn detector_tiff(
        big: bool,
        (bits, format): (u16, u16),
        data: &[u8],
        more: &[(u16, u32)],
    ) -> Vec<u8> {
        let mut out = if big { b"MM".to_vec() } else { b"II".to_vec() };
        let short = |x: u16| {
            if big {
                x.to_be_bytes()
            } else {
                x.to_le_bytes()
            }
        };
        let long = |x: u32| {
            if big {
                x.to_be_bytes()
            } else {
                x.to_le_bytes()
            }
        };
        let size = data.len() as u32;
        let rows = size / (2 * u32::from(bits)).div_ceil(8);
        let mut tags = vec![
            (256, 2),
            (257, rows),
            (258, bits.into()),
            (259, 1),
            (262, 1),
            (273, 8),
            (277, 1),
            (278, rows),
            (279, size),
            (339, format.into()),
        ];
        for t in more {
            tags.retain(|have| have.0 != t.0);
            tags.push(*t);
        }
        tags.sort_unstable();
        out.extend(short(42));
        out.extend(long(8 + size));
        out.extend(data);
        out.extend(short(tags.len() as u16));
        for (tag, value) in tags {
            out.extend(short(tag));
            out.extend(short(4));
            out.extend(long(1));
            out.extend(long(value));
        }
        out.extend(long(0));
        out
    }

    #[test]
    fn gaps_of_detectors_are_left_out_by_the_type_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let tif = |bytes: &[u8]| {
            let path = dir.path().join("d.tif");
            std::fs::write(&path, bytes).unwrap();
            read(&path)
        };
        // Two rows of two, the upper first.
        let image = |big, kind, data: &[u8]| {
            let m = tif(&detector_tiff(big, kind, data, &[])).unwrap();
            let values: Vec<i64> = m
                .pixels
                .iter()
                .map(|v| if v.is_nan() { -99 } else { *v as i64 })
                .collect();
            (values, m.gaps.len())
        };
        let words = |v: [u16; 4], big| {
            v.map(|x| {
                if big {
                    x.to_be_bytes()
                } else {
                    x.to_le_bytes()
                }
            })
            .concat()
        };
        for big in [false, true] {
            assert_eq!(
                image(big, (16, 1), &words([1, 65535, 65534, 4], big)),
                (vec![-99, 4, 1, -99], 2)
            );
            assert_eq!(
                image(big, (16, 2), &words([1, 65535, 65534, 4], big)),
                (vec![-2, 4, 1, -1], 0)
            );
        }
        let longs = [1_u32, u32::MAX, u32::MAX - 1, 65535]
            .map(u32::to_le_bytes)
            .concat();
        assert_eq!(image(false, (32, 1), &longs), (vec![-99, 65535, 1, -99], 2));
        assert_eq!(image(false, (32, 2), &longs), (vec![-2, 65535, 1, -1], 0));
        let floats = [1.0_f32, 4_294_967_295.0, 3.0, 4.0]
            .map(f32::to_le_bytes)
            .concat();
        assert_eq!(image(false, (32, 3), &floats), (vec![3, 4, 1, -99], 1));
        assert_eq!(
            image(false, (8, 1), &[1, 255, 3, 4]),
            (vec![3, 4, 1, 255], 0)
        );
        // A mask of bits, each row in bytes of its own.
        assert_eq!(
            image(false, (1, 1), &[0b1000_0000, 0b1100_0000]),
            (vec![1, 1, 1, 0], 0)
        );
        let upward = detector_tiff(false, (8, 1), &[1, 2, 3, 4], &[(274, 4)]);
        assert_eq!(tif(&upward).unwrap().pixels, [1.0, 2.0, 3.0, 4.0]);
        for (more, message) in [
            ((262, 0), "negative"),
            ((274, 6), "orientation 6"),
            ((277, 3), "type"),
            ((258, 4), "type"),
            ((259, 4), "Fix: tiffcp -c none"),
        ] {
            let e = tif(&detector_tiff(false, (8, 1), &[1, 2, 3, 4], &[more])).unwrap_err();
            assert!(e.to_string().contains(message), "{e}");
        }
        let path = dir.path().join("d.csv");
        std::fs::write(&path, "1,4294967295\nnan,4\n").unwrap();
        let csv = read(&path).unwrap();
        assert_eq!((csv.gaps, csv.pixels[2].is_nan()), (vec![1], true));
    }
}
