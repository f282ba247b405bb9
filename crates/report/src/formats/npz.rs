//! NumPy's archives of arrays: ZIP files whose members are stored as they are.

/// An archive of arrays by name, each the bytes of an `npy` file.
///
/// # Errors
/// It would be larger than 4 GiB, which a ZIP file without extensions cannot be.
pub fn npz(arrays: &[(String, Vec<u8>)]) -> Result<Vec<u8>, String> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in arrays {
        let name = format!("{name}.npy");
        let size = bytes.len() as u32;
        let at = out.len();
        if at + bytes.len() + name.len() > u32::MAX as usize - (1 << 16) {
            return Err(
                "the arrays are larger than 4 GiB together: write the image alone, as npy".into(),
            );
        }
        // Version 2.0, no flags, stored, 1 January 1980.
        let mut common = Vec::new();
        for half in [20_u16, 0, 0, 0, 33] {
            common.extend(half.to_le_bytes());
        }
        for word in [crc32(bytes), size, size] {
            common.extend(word.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        // No comment, disk 0, no attributes.
        directory.extend([0; 10]);
        directory.extend((at as u32).to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (count, start) = (arrays.len() as u16, out.len() as u32);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0; 2]);
    Ok(out)
}

/// The checksum of ZIP files.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut n = 0;
        while n < 256 {
            let mut c = n as u32;
            let mut bit = 0;
            while bit < 8 {
                c = if c & 1 == 1 {
                    0xEDB8_8320 ^ (c >> 1)
                } else {
                    c >> 1
                };
                bit += 1;
            }
            table[n] = c;
            n += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |c, b| {
        TABLE[((c ^ u32::from(*b)) & 0xFF) as usize] ^ (c >> 8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_where_the_directory_says() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        let arrays = [
            ("a".to_owned(), vec![1, 2, 3]),
            ("bc".to_owned(), vec![4; 70]),
        ];
        let all = npz(&arrays).unwrap();
        let word = |at: usize| u32::from_le_bytes(all[at..at + 4].try_into().unwrap()) as usize;
        let end = all.len() - 22;
        assert_eq!((&all[end..end + 4], all[end + 10]), (&b"PK\x05\x06"[..], 2));
        let (size, start) = (word(end + 12), word(end + 16));
        assert_eq!(start + size, end);
        let mut at = start;
        for (name, bytes) in arrays {
            let length = name.len() + 4;
            let local = word(at + 42);
            assert_eq!(
                &all[at + 46..at + 46 + length],
                format!("{name}.npy").as_bytes()
            );
            assert_eq!(word(at + 16), crc32(&bytes) as usize);
            let data = local + 30 + length;
            assert_eq!(all[data..data + word(local + 18)], bytes);
            at += 46 + length;
        }
        assert_eq!(at, end);
    }
}
