//! What the microbenchmarks compute with: numbers and operands of each type, halves among them.

use super::kind::{Fill, Number, Operand};

/// Bytes of the block of input that is repeated: beyond the last cache.
pub const INPUT_BYTES: usize = 128 << 20;

fn value(rng: &mut fastrand::Rng, fill: Fill) -> f64 {
    match fill {
        Fill::Normal => {
            let r = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
            r * (std::f64::consts::TAU * rng.f64()).cos()
        }
        Fill::Uniform => rng.f64(),
        Fill::Ones => 1.0,
        Fill::Zeros => 0.0,
    }
}

/// A shorter block, repeated: drawing is slow.
fn repeated(block: &[u8]) -> Vec<u8> {
    block.iter().copied().cycle().take(INPUT_BYTES).collect()
}

/// Numbers of a type.
pub fn numbers(number: Number, fill: Fill) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(0x6770_7531);
    let mut draw = || value(&mut rng, fill);
    let block: Vec<u8> = match number {
        Number::F16 => (0..1 << 20)
            .flat_map(|_| to_half(draw()).to_le_bytes())
            .collect(),
        Number::F32 => (0..1 << 20)
            .flat_map(|_| (draw() as f32).to_le_bytes())
            .collect(),
        Number::F64 => (0..1 << 20).flat_map(|_| draw().to_le_bytes()).collect(),
    };
    repeated(&block)
}

/// Operands of matrix products: small whole numbers, exact in every type, for normal data rounded
/// from a wide one.
pub fn operands(operand: Operand, fill: Fill) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(0x6770_7532);
    let block: Vec<u8> = (0..1 << 20)
        .flat_map(|_| {
            let x = match fill {
                Fill::Normal | Fill::Uniform => (2.0 * value(&mut rng, fill)).round(),
                _ => value(&mut rng, fill),
            };
            encode(operand, x.clamp(-8.0, 8.0))
        })
        .collect();
    repeated(&block)
}

/// A small whole number as an operand.
fn encode(operand: Operand, x: f64) -> Vec<u8> {
    match operand {
        Operand::Tf32 => (x as f32).to_le_bytes().into(),
        Operand::Bf16 => (x as f32).to_le_bytes()[2..].into(),
        Operand::Int8 => vec![x as i8 as u8],
        Operand::Fp8 => {
            // e4m3: bias 7, three bits of fraction; whole numbers to 8 are exact.
            let sign = if x < 0.0 { 0x80 } else { 0 };
            let m = x.abs();
            if m == 0.0 {
                return vec![sign];
            }
            let e = m.log2().floor();
            let fraction = ((m / e.exp2() - 1.0) * 8.0) as u8;
            vec![sign | (((e as i32 + 7) as u8) << 3) | fraction]
        }
    }
}

pub(super) fn decode(operand: Operand, b: &[u8]) -> f64 {
    match operand {
        Operand::Tf32 => f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        Operand::Bf16 => f64::from(f32::from_le_bytes([0, 0, b[0], b[1]])),
        Operand::Int8 => f64::from(b[0] as i8),
        Operand::Fp8 => {
            let sign = if b[0] & 0x80 == 0 { 1.0 } else { -1.0 };
            let (e, f) = (i32::from(b[0] >> 3 & 15), f64::from(b[0] & 7));
            if e == 0 {
                sign * f / 8.0 * (-6_f64).exp2()
            } else {
                sign * (1.0 + f / 8.0) * f64::from(e - 7).exp2()
            }
        }
    }
}

/// A number as IEEE's half, rounded to nearest even.
pub fn to_half(x: f64) -> u16 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let m = x.abs();
    if m.is_nan() {
        return 0x7e00;
    }
    if m >= 65520.0 {
        return sign | 0x7c00;
    }
    // The step between halves near m; below 2^-14 it stays what it is there.
    let e = m.log2().floor().clamp(-14.0, 15.0);
    let step = (e - 10.0).exp2();
    let rounded = (m / step).round_ties_even() * step;
    if rounded < (-14_f64).exp2() {
        return sign | (rounded / (-24_f64).exp2()) as u16;
    }
    let e = rounded.log2().floor();
    let fraction = ((rounded / e.exp2() - 1.0) * 1024.0) as u16;
    sign | (((e as i32 + 15) as u16) << 10) | fraction
}

/// The value of an IEEE binary16 number given by its bits.
pub fn from_half(h: u16) -> f64 {
    let sign = if h & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (e, f) = (i32::from(h >> 10 & 31), f64::from(h & 1023));
    match e {
        0 => sign * f * (-24_f64).exp2(),
        31 if f == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        e => sign * (1.0 + f / 1024.0) * f64::from(e - 15).exp2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_to_nearest_even() {
        // Published values of binary16: smallest, largest, one, a third.
        for (x, bits) in [
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65520.0, 0x7c00),
            (1.0 / 3.0, 0x3555),
            (6.103_515_625e-5, 0x0400),
            (5.960_464_477_539_063e-8, 0x0001),
            (2049.0, 0x6800),
            (2051.0, 0x6802),
        ] {
            assert_eq!(to_half(x), bits, "{x}");
        }
        for h in 0..0x7c00_u16 {
            assert_eq!(to_half(from_half(h)), h);
        }
    }

    #[test]
    fn operands_keep_small_whole_numbers() {
        for o in [Operand::Tf32, Operand::Bf16, Operand::Fp8, Operand::Int8] {
            for x in -8..=8 {
                let b = encode(o, f64::from(x));
                assert_eq!(b.len(), o.bytes());
                assert_eq!(decode(o, &b), f64::from(x), "{o:?}");
            }
        }
    }
}
