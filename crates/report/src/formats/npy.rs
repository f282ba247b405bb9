//! NumPy's array files, of doubles.

/// Version 1.0: a header padded to whole 64 bytes, then doubles. `kind` is `f8` of real numbers or `c16` of pairs.
pub fn npy(kind: &str, shape: &[usize], numbers: impl Iterator<Item = f64>) -> Vec<u8> {
    let mut out = header(kind, shape);
    out.extend(numbers.flat_map(f64::to_le_bytes));
    out
}

/// What comes before the doubles, which follow in little endian; for files that are written piece by piece.
pub fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut header = format!(
        "{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({}), }}",
        shape.trim_end()
    );
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out
}

/// Type of the numbers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// True and false.
    Bool,
    /// Integers without sign, of so many bits.
    Unsigned(u32),
    /// Integers with sign.
    Signed(u32),
    /// IEEE numbers.
    Float(u32),
}

/// An array of two dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its numbers, row after row.
    pub values: Vec<f64>,
    /// Number of columns, above 0.
    pub columns: usize,
    /// Their type in the file.
    pub kind: NumberType,
}

/// Reads an array of two dimensions, of floats of 32 or 64 bits, integers or bools, in either order of bytes and of
/// indices.
///
/// # Errors
/// What the file is instead.
pub fn array(bytes: &[u8]) -> Result<Array, String> {
    let not = || "is not a NumPy array file".to_owned();
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or_else(not)?;
    let (start, length) = match *rest {
        [1, _, a, b, ..] => (10_usize, usize::from(u16::from_le_bytes([a, b]))),
        [2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([a, b, c, d]) as usize),
        _ => return Err(not()),
    };
    let header = bytes.get(start..start.saturating_add(length));
    let header = header
        .and_then(|h| std::str::from_utf8(h).ok())
        .ok_or_else(not)?;
    let data = &bytes[start + length..];
    let field = |name: &str| -> Option<&str> {
        let rest = header.split_once(&format!("'{name}':"))?.1;
        Some(rest.trim_start())
    };
    let descr = field("descr")
        .and_then(|d| d.strip_prefix('\'')?.split_once('\''))
        .map(|d| d.0)
        .ok_or("holds records, not numbers")?;
    let fortran = field("fortran_order").ok_or_else(not)?.starts_with("True");
    let shape = field("shape")
        .and_then(|s| s.strip_prefix('(')?.split_once(')'))
        .map(|s| s.0)
        .ok_or_else(not)?;
    let sizes: Vec<usize> = shape
        .split(',')
        .filter(|s| !s.trim().is_empty())
        .map(|s| s.trim().parse().map_err(|_| not()))
        .collect::<Result<_, _>>()?;
    let [rows, columns] = sizes[..] else {
        return Err(format!("has {} dimensions, not 2", sizes.len()));
    };
    let (kind, big) = kind(descr).ok_or_else(|| {
        format!("holds numbers of type \"{descr}\"; float32, float64, integers and bools are read")
    })?;
    let bytes_each = match kind {
        NumberType::Bool => 1,
        NumberType::Unsigned(bits) | NumberType::Signed(bits) | NumberType::Float(bits) => {
            bits as usize / 8
        }
    };
    if rows == 0 || columns == 0 {
        return Err(format!("is empty: {rows} × {columns} numbers"));
    }
    let count = rows.checked_mul(columns);
    if count.and_then(|n| n.checked_mul(bytes_each)) != Some(data.len()) {
        return Err(format!(
            "has {} bytes of numbers, which are not {rows} × {columns} of {bytes_each} bytes",
            data.len()
        ));
    }
    let read = |b: &[u8]| -> f64 {
        let mut word = [0; 8];
        for (k, byte) in b.iter().enumerate() {
            word[if big { b.len() - 1 - k } else { k }] = *byte;
        }
        let unsigned = u64::from_le_bytes(word);
        match kind {
            NumberType::Bool => f64::from(u8::from(unsigned != 0)),
            NumberType::Unsigned(_) => unsigned as f64,
            NumberType::Signed(bits) => {
                let unused = 64 - bits;
                ((unsigned << unused).cast_signed() >> unused) as f64
            }
            NumberType::Float(32) => f32::from_bits(unsigned as u32).into(),
            NumberType::Float(_) => f64::from_bits(unsigned),
        }
    };
    let all = data.chunks_exact(bytes_each).map(read);
    let mut values: Vec<f64> = all.collect();
    if fortran {
        values = (0..rows * columns)
            .map(|n| values[n % columns * rows + n / columns])
            .collect();
    }
    Ok(Array {
        values,
        columns,
        kind,
    })
}

/// A type of NumPy, and whether its first byte is the highest.
fn kind(descr: &str) -> Option<(NumberType, bool)> {
    let big = descr.starts_with('>');
    let name = descr.trim_start_matches(['<', '>', '|', '=']);
    let (letter, size) = (name.get(..1)?, name.get(1..)?);
    let bits = size.parse::<u32>().ok()?.checked_mul(8)?;
    let kind = match (letter, bits) {
        ("b", 8) => NumberType::Bool,
        ("u", 8 | 16 | 32 | 64) => NumberType::Unsigned(bits),
        ("i", 8 | 16 | 32 | 64) => NumberType::Signed(bits),
        ("f", 32 | 64) => NumberType::Float(bits),
        _ => return None,
    };
    Some((kind, big))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let file = npy("f8", &[2, 3], (0..6).map(f64::from));
        assert_eq!(file.len() % 64, 48);
        let read = array(&file).unwrap();
        assert_eq!(read.values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((read.columns, read.kind), (3, NumberType::Float(64)));
        for cut in [0, 5, 9, 20, file.len() - 8] {
            assert!(array(&file[..cut]).is_err());
        }
        let none = array(&npy("f8", &[0, 4], std::iter::empty())).unwrap_err();
        assert!(none.contains("is empty"), "{none}");
    }

    /// A file as NumPy writes it.
    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((header.len() as u16).to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(data);
        out
    }

    #[test]
    fn all_types_and_orders_are_read() {
        let values =
            |descr: &str, data: &[u8]| array(&file(descr, "False", "(1, 2)", data)).unwrap().values;
        assert_eq!(values("|b1", &[0, 1]), [0.0, 1.0]);
        assert_eq!(values("|i1", &[255, 1]), [-1.0, 1.0]);
        assert_eq!(values("|u1", &[255, 1]), [255.0, 1.0]);
        assert_eq!(values("<i2", &[254, 255, 1, 2]), [-2.0, 513.0]);
        assert_eq!(values(">i2", &[255, 254, 1, 2]), [-2.0, 258.0]);
        assert_eq!(
            values(">u4", &[255, 255, 255, 255, 0, 0, 1, 0]),
            [4_294_967_295.0, 256.0]
        );
        assert_eq!(
            values(
                "<i8",
                &[&(-1_i64).to_le_bytes()[..], &7_i64.to_le_bytes()].concat()
            ),
            [-1.0, 7.0]
        );
        assert_eq!(
            values("<u8", &[[255; 8], 7_u64.to_le_bytes()].concat()),
            [1.844_674_407_370_955_2e19, 7.0]
        );
        assert_eq!(
            values(
                ">f4",
                &[1.5_f32.to_be_bytes(), (-2.0_f32).to_be_bytes()].concat()
            ),
            [1.5, -2.0]
        );
        assert_eq!(
            values(
                ">f8",
                &[1.5_f64.to_be_bytes(), (-2.0_f64).to_be_bytes()].concat()
            ),
            [1.5, -2.0]
        );
        let fortran = array(&file("|u1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6])).unwrap();
        assert_eq!(
            (&fortran.values[..], fortran.columns),
            (&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..], 3)
        );
        assert_eq!(fortran.kind, NumberType::Unsigned(8));
        for (descr, shape, data, message) in [
            ("<c16", "(1, 1)", &[0; 16][..], "numbers of type \"<c16\""),
            ("<f2", "(1, 1)", &[0; 2], "numbers of type \"<f2\""),
            ("|O", "(1, 1)", &[0; 8], "numbers of type \"|O\""),
            ("<f8", "(1,)", &[0; 8], "1 dimensions"),
            ("<f8", "(1, 1, 1)", &[0; 8], "3 dimensions"),
            ("<f8", "(1, 2)", &[0; 8], "not 1 × 2 of 8 bytes"),
            ("<f8", "(0, 2)", &[], "is empty: 0 × 2"),
            ("<f8", "(-1, 2)", &[], "not a NumPy array file"),
        ] {
            let e = array(&file(descr, "False", shape, data)).unwrap_err();
            assert!(e.contains(message), "{descr} {shape}: {e}");
        }
    }
}
