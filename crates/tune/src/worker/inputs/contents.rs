//! What arrays hold before a run, from a seed or a file, and the right values after it.

use super::block::{HUGE, PAGE};
use super::compare::first_nan;
use super::error::ArgumentError;
use super::image::Image;
use crate::problem::{Data, Fill, Role, Type};
use std::path::Path;

/// What each array holds before a run; empty for a scalar.
pub type Images = Vec<Image>;

/// Writes one element.
pub(super) fn put(kind: Type, v: f64, out: &mut [u8]) {
    fill(kind, out, |_| v);
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

/// Writes all elements; a loop for each type, as large arrays are filled for each trial.
fn fill(kind: Type, out: &mut [u8], mut f: impl FnMut(usize) -> f64) {
    macro_rules! all {
        ($t:ty) => {
            for (i, b) in out.as_chunks_mut().0.iter_mut().enumerate() {
                *b = (f(i) as $t).to_ne_bytes();
            }
        };
    }
    match kind {
        Type::F64 => all!(f64),
        Type::F32 => all!(f32),
        Type::I64 => all!(i64),
        Type::I32 => all!(i32),
        Type::I16 => all!(i16),
        Type::I8 => all!(i8),
        Type::U64 => all!(u64),
        Type::U32 => all!(u32),
        Type::U16 => all!(u16),
        Type::U8 => all!(u8),
    }
}

/// Zeros, in huge pages where there are any: small ones take longer to get than to fill.
fn zeros(bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    #[cfg(target_os = "linux")]
    {
        let at = out.as_mut_ptr();
        let skip = at.align_offset(PAGE);
        if bytes > HUGE + skip {
            // SAFETY: the range lies within the vector's memory; advice changes no contents.
            unsafe {
                libc::madvise(at.add(skip).cast(), bytes - skip, libc::MADV_HUGEPAGE);
            }
        }
    }
    out
}

fn initial(d: &Data, len: usize, seed: u64, dir: &Path) -> Result<Image, ArgumentError> {
    let n = d.kind.bytes();
    if let (Fill::Named(name), true) = (&d.fill, d.role != Role::Out)
        && let Some(path) = name.strip_prefix("file:")
    {
        return raw(&dir.join(path), d, len * n);
    }
    let mut out = zeros(len * n);
    if d.role == Role::Out {
        // What an output holds before must not matter: not a number, or nonsense.
        // Integers are cut to the range of their type; 0 would be right too often.
        let nonsense = match d.kind {
            Type::F64 | Type::F32 => f64::NAN,
            kind if kind.is_unsigned() => 1e9,
            _ => -1e9,
        };
        fill(d.kind, &mut out, |_| nonsense);
        return Ok(Image::Own(out));
    }
    match &d.fill {
        Fill::Number(v) => fill(d.kind, &mut out, |_| *v),
        Fill::Named(name) => match name.as_str() {
            "zeros" => {}
            "index" => fill(d.kind, &mut out, |i| i as f64),
            "normal" => {
                let mut rng = fastrand::Rng::with_seed(seed);
                // Box and Muller's two values at a time.
                let mut second = None;
                fill(d.kind, &mut out, |_| {
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
                fill(d.kind, &mut out, |_| {
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
