//! What arrays hold before a run, from a seed or a file, and the right values after it.

use super::compare::first_nan;
use super::error::ArgumentError;
use super::image::Image;
use crate::problem::{Data, Fill, Role, Type};
use std::path::Path;

/// What each array holds before a run; empty for a scalar.
pub type Images = Vec<Image>;

/// Writes one element.
pub(super) fn put(kind: Type, v: f64, out: &mut [u8]) {
    match kind {
        Type::F64 => out.copy_from_slice(&v.to_ne_bytes()),
        Type::F32 => out.copy_from_slice(&(v as f32).to_ne_bytes()),
        Type::I64 => out.copy_from_slice(&(v as i64).to_ne_bytes()),
        Type::I32 => out.copy_from_slice(&(v as i32).to_ne_bytes()),
        Type::I16 => out.copy_from_slice(&(v as i16).to_ne_bytes()),
        Type::I8 => out.copy_from_slice(&(v as i8).to_ne_bytes()),
        Type::U64 => out.copy_from_slice(&(v as u64).to_ne_bytes()),
        Type::U32 => out.copy_from_slice(&(v as u32).to_ne_bytes()),
        Type::U16 => out.copy_from_slice(&(v as u16).to_ne_bytes()),
        Type::U8 => out.copy_from_slice(&(v as u8).to_ne_bytes()),
    }
}

/// Raw elements of an array.
fn raw(path: &Path, d: &Data, needed: usize) -> Result<Image, ArgumentError> {
    let bytes = Image::of_file(path).map_err(|cause| ArgumentError::Read {
        path: path.to_owned(),
        cause,
    })?;
    if bytes.len() == needed {
        return Ok(bytes);
    }
    Err(ArgumentError::Size {
        path: path.to_owned(),
        found: bytes.len(),
        name: d.name.clone(),
        needed,
    })
}

/// The right values of each array after a run; none where the problem gives none.
pub(super) fn answers(data: &[Data], dir: &Path) -> Result<Vec<Option<Image>>, ArgumentError> {
    data.iter()
        .map(|d| match (&d.answer, d.len) {
            (Some(a), Some(len)) => {
                let path = dir.join(&a.file);
                let right = raw(&path, d, len * d.kind.bytes())?;
                match first_nan(d.kind, &right) {
                    None => Ok(Some(right)),
                    Some(index) => Err(ArgumentError::NotANumber {
                        path,
                        name: d.name.clone(),
                        index,
                    }),
                }
            }
            _ => Ok(None),
        })
        .collect()
}

fn initial(d: &Data, len: usize, seed: u64, dir: &Path) -> Result<Image, ArgumentError> {
    let n = d.kind.bytes();
    if let (Fill::Named(name), true) = (&d.fill, d.role != Role::Out)
        && let Some(path) = name.strip_prefix("file:")
    {
        return raw(&dir.join(path), d, len * n);
    }
    let mut out = vec![0; len * n];
    let mut each = |f: &mut dyn FnMut(usize) -> f64| {
        for (i, b) in out.chunks_exact_mut(n).enumerate() {
            put(d.kind, f(i), b);
        }
    };
    if d.role == Role::Out {
        // What an output holds before must not matter: not a number, or nonsense.
        // Integers are cut to the range of their type; 0 would be right too often.
        let nonsense = match d.kind {
            Type::F64 | Type::F32 => f64::NAN,
            kind if kind.is_unsigned() => 1e9,
            _ => -1e9,
        };
        each(&mut |_| nonsense);
        return Ok(Image::Own(out));
    }
    match &d.fill {
        Fill::Number(v) => each(&mut |_| *v),
        Fill::Named(name) => match name.as_str() {
            "zeros" => {}
            "index" => each(&mut |i| i as f64),
            "normal" => {
                let mut rng = fastrand::Rng::with_seed(seed);
                // Box and Muller's two values at a time.
                let mut second = None;
                each(&mut |_| {
                    second.take().unwrap_or_else(|| {
                        let r = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
                        let (sin, cos) = (std::f64::consts::TAU * rng.f64()).sin_cos();
                        second = Some(r * sin);
                        r * cos
                    })
                });
            }
            _ => {
                let (lo, hi) = d.fill.bounds().unwrap_or((-1.0, 1.0));
                let mut rng = fastrand::Rng::with_seed(seed);
                let whole = d.kind.is_integer();
                each(&mut |_| {
                    let v = lo + (hi - lo) * rng.f64();
                    if whole { v.floor() } else { v }
                });
            }
        },
    }
    Ok(Image::Own(out))
}

/// What each array holds before a run; every array has a seed of its own.
pub(super) fn images(data: &[Data], seed: u64, dir: &Path) -> Result<Images, ArgumentError> {
    data.iter()
        .enumerate()
        .map(|(i, d)| {
            let own = seed.wrapping_mul(0x9e37_79b9).wrapping_add(i as u64);
            d.len
                .map_or(Ok(Image::default()), |len| initial(d, len, own, dir))
        })
        .collect()
}
