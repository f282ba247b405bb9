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

/// Rows of an array of two dimensions of float64 or float32: its numbers, and columns; `None` of anything else.
pub fn table(bytes: &[u8]) -> Option<(Vec<f64>, usize)> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (start, length) = match *rest {
        [1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([a, b]))),
        [_, _, a, b, c, d, ..] => (12, u32::from_le_bytes([a, b, c, d]) as usize),
        _ => return None,
    };
    let end = start + length;
    let header = std::str::from_utf8(bytes.get(start..end)?).ok()?;
    let shape = header.split_once("'shape': (")?.1.split_once(')')?.0;
    let sizes: Vec<usize> = shape
        .split(',')
        .filter_map(|s| s.trim().parse().ok())
        .collect();
    let data = &bytes[end..];
    let values: Vec<f64> = if header.contains("'<f8'") {
        let (all, _) = data.as_chunks::<8>();
        all.iter().map(|b| f64::from_le_bytes(*b)).collect()
    } else if header.contains("'<f4'") {
        let (all, _) = data.as_chunks::<4>();
        all.iter().map(|b| f32::from_le_bytes(*b).into()).collect()
    } else {
        return None;
    };
    match sizes[..] {
        [rows, columns]
            if rows.checked_mul(columns) == Some(values.len())
                && columns > 0
                && header.contains("'fortran_order': False") =>
        {
            Some((values, columns))
        }
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
}
