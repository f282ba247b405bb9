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

/// Rows of an array of two dimensions of real numbers (floats, integers, booleans; either byte order, C or Fortran order):
/// its numbers, row by row, and columns; `None` of anything else.
pub fn table(bytes: &[u8]) -> Option<(Vec<f64>, usize)> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (start, length) = match *rest {
        [1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([a, b]))),
        [_, _, a, b, c, d, ..] => (12, u32::from_le_bytes([a, b, c, d]) as usize),
        _ => return None,
    };
    let end = start + length;
    let header = std::str::from_utf8(bytes.get(start..end)?).ok()?;
    let after = |key: &str| Some(header.split_once(key)?.1.trim_start());
    let shape = after("'shape':")?.strip_prefix('(')?.split_once(')')?.0;
    let sizes: Vec<usize> = shape
        .split(',')
        .filter_map(|s| s.trim().parse().ok())
        .collect();
    let fortran = after("'fortran_order':")?.starts_with("True");
    let descr = after("'descr':")?.strip_prefix('\'')?.split_once('\'')?.0;
    let values = numbers(descr, &bytes[end..])?;
    match sizes[..] {
        [rows, columns] if rows.checked_mul(columns) == Some(values.len()) && columns > 0 => {
            let values = match fortran {
                false => values,
                true => (0..values.len())
                    .map(|i| values[i % columns * rows + i / columns])
                    .collect(),
            };
            Some((values, columns))
        }
        _ => None,
    }
}

/// Numbers of a type of NumPy, such as `<f8`.
fn numbers(descr: &str, data: &[u8]) -> Option<Vec<f64>> {
    let (order, kind) = descr.split_at_checked(1)?;
    let little = match order {
        "<" | "|" | "=" => true,
        ">" => false,
        _ => return None,
    };
    fn of<const N: usize>(
        data: &[u8],
        little: bool,
        f: impl Fn([u8; N]) -> f64,
    ) -> Option<Vec<f64>> {
        let (all, rest) = data.as_chunks::<N>();
        let one = |b: &[u8; N]| {
            let mut b = *b;
            if !little {
                b.reverse();
            }
            f(b)
        };
        rest.is_empty().then(|| all.iter().map(one).collect())
    }
    match kind {
        "f8" => of(data, little, f64::from_le_bytes),
        "f4" => of(data, little, |b| f32::from_le_bytes(b).into()),
        "i8" => of(data, little, |b| i64::from_le_bytes(b) as f64),
        "i4" => of(data, little, |b| i32::from_le_bytes(b).into()),
        "i2" => of(data, little, |b| i16::from_le_bytes(b).into()),
        "i1" => of(data, little, |b| i8::from_le_bytes(b).into()),
        "u8" => of(data, little, |b| u64::from_le_bytes(b) as f64),
        "u4" => of(data, little, |b| u32::from_le_bytes(b).into()),
        "u2" => of(data, little, |b| u16::from_le_bytes(b).into()),
        "u1" | "b1" => of(data, little, |b| u8::from_le_bytes(b).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{npy, table};

    #[test]
    fn what_is_written_is_read() {
        let file = npy("f8", &[2, 3], (0..6).map(f64::from));
        assert_eq!(file.len() % 64, 48);
        assert_eq!(table(&file), Some((vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 3)));
        for cut in [0, 5, 9, 20, file.len() - 8] {
            assert_eq!(table(&file[..cut]), None);
        }
    }

    #[test]
    fn integers_and_orders_are_read() {
        let file = |descr: &str, fortran: &str, data: &[u8]| {
            let header =
                format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': (2, 3), }}");
            let mut out = b"\x93NUMPY\x01\x00".to_vec();
            out.extend((header.len() as u16).to_le_bytes());
            out.extend(header.as_bytes());
            out.extend(data);
            out
        };
        let want = Some((vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 3));
        let big: Vec<u8> = (0..6i32).flat_map(i32::to_be_bytes).collect();
        assert_eq!(table(&file(">i4", "False", &big)), want);
        assert_eq!(table(&file("|u1", "False", &[0, 1, 2, 3, 4, 5])), want);
        // Column by column.
        let columns: Vec<u8> = [0.0, 3.0, 1.0, 4.0, 2.0, 5.0f64]
            .into_iter()
            .flat_map(f64::to_le_bytes)
            .collect();
        assert_eq!(table(&file("<f8", "True", &columns)), want);
        for descr in ["<c16", "<f2", "|O", "", "é"] {
            assert_eq!(table(&file(descr, "False", &[0; 24])), None);
        }
    }
}
