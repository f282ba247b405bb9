//! Morton keys: the bits of the three coordinates, interleaved.

/// Number of levels that a key resolves.
pub const DEPTH: usize = 21;

/// Spreads the low 21 bits, two zeros between each.
fn spread(x: u64) -> u64 {
    let x = x & 0x1f_ffff;
    let x = (x | x << 32) & 0x001f_0000_0000_ffff;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// Key of a point of [-1, 1]³; x is the lowest bit of each three.
pub fn key(p: [f64; 3]) -> u64 {
    let cells = (1u64 << DEPTH) as f64;
    let [x, y, z] = p.map(|x| {
        let cell = (x + 1.0) * 0.5 * cells;
        // Negative numbers become 0 in the conversion.
        spread((cell as u64).min((1 << DEPTH) - 1))
    });
    x | y << 1 | z << 2
}

/// Smallest key in a box.
pub fn cell(at: [u32; 3], level: u8) -> u64 {
    let [x, y, z] = at.map(|i| spread(u64::from(i)));
    (x | y << 1 | z << 2) << (3 * (DEPTH - usize::from(level)))
}

/// Keys of the box of a level that contains a key.
pub fn key_range(key: u64, level: u8) -> std::ops::Range<u64> {
    let bits = 3 * (DEPTH - usize::from(level));
    let begin = key >> bits << bits;
    begin..begin + (1 << bits)
}

/// Index of the box of a level that begins at a key, along each axis.
pub fn place(key: u64, level: u8) -> [u32; 3] {
    let cells = key >> (3 * (DEPTH - usize::from(level)));
    std::array::from_fn(|a| {
        (0..u32::from(level)).fold(0, |at, b| {
            at | ((cells >> (3 * b as usize + a)) as u32 & 1) << b
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{DEPTH, cell, key, key_range, place};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_holds_its_cell(p in prop::array::uniform3(-1.0f64..1.0)) {
            let k = key(p);
            for (axis, x) in p.iter().enumerate() {
                let cell: u64 = (0..DEPTH).map(|b| (k >> (3 * b + axis) & 1) << b).sum();
                let width = 2.0 / (1u64 << DEPTH) as f64;
                prop_assert!((cell as f64 * width - 1.0) <= *x);
                prop_assert!(*x <= (cell + 1) as f64 * width - 1.0);
            }
        }
    }

    proptest! {
        #[test]
        fn a_box_is_found_by_its_first_key(at in prop::array::uniform3(0u32..1 << 21), level in 0u8..=21) {
            let at = at.map(|i| i >> (21 - level));
            let first = cell(at, level);
            prop_assert_eq!(place(first, level), at);
            let keys = key_range(first, level);
            prop_assert_eq!(keys.start, first);
            prop_assert_eq!(key_range(keys.end - 1, level), keys);
        }
    }

    #[test]
    fn corners() {
        assert_eq!(key([-1.0; 3]), 0);
        assert_eq!(key([1.0; 3]), (1 << (3 * DEPTH)) - 1);
    }
}
