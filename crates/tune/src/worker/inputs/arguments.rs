//! Arguments of a kernel: data from a seed or a file, in arrays with guards around them.

use super::block::{Block, Layout};
use super::compare::{close, first_wrong, get};
use super::error::{ArgumentError, WrongResult};
use super::image::Image;
use super::memory::refuse_too_large;
use crate::problem::{Data, Fill, Role, Type};
use std::path::Path;

/// The arguments of one kernel in memory.
pub struct Arguments {
    data: Vec<Data>,
    /// None for a scalar.
    blocks: Vec<Option<Block>>,
    /// What each array holds before a run.
    initial: Images,
    /// What each array holds after a run, where the problem tells.
    answers: Vec<Option<Image>>,
    scalars: Vec<[u8; 8]>,
}

/// What each array holds before a run; empty for a scalar.
pub type Images = Vec<Image>;

/// An array as it is before a run.
pub struct Array<'a> {
    /// Contents.
    pub bytes: &'a [u8],
    /// Whether it is restored before runs.
    pub changes: bool,
    /// Whether its contents after a run matter.
    pub checked: bool,
}

fn put(kind: Type, v: f64, out: &mut [u8]) {
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
fn answers(data: &[Data], dir: &Path) -> Result<Vec<Option<Image>>, ArgumentError> {
    data.iter()
        .map(|d| match (&d.answer, d.len) {
            (Some(a), Some(len)) => raw(&dir.join(&a.file), d, len * d.kind.bytes()).map(Some),
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
        each(&mut |_| {
            if matches!(d.kind, Type::F64 | Type::F32) {
                f64::NAN
            } else {
                -1e9
            }
        });
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

fn images(data: &[Data], seed: u64, dir: &Path) -> Result<Images, ArgumentError> {
    data.iter()
        .enumerate()
        .map(|(i, d)| {
            let own = seed.wrapping_mul(0x9e37_79b9).wrapping_add(i as u64);
            d.len
                .map_or(Ok(Image::default()), |len| initial(d, len, own, dir))
        })
        .collect()
}

impl Arguments {
    /// Allocates and fills; every array has a seed of its own.
    ///
    /// # Errors
    /// No memory, or a file that does not fit.
    pub fn new(data: &[Data], seed: u64, dir: &Path) -> Result<Self, ArgumentError> {
        refuse_too_large(data)?;
        let mut blocks = Vec::new();
        let mut scalars = Vec::new();
        for d in data {
            let mut scalar = [0; 8];
            put(d.kind, d.value, &mut scalar[..d.kind.bytes()]);
            scalars.push(scalar);
            let block = d.len.map(|len| {
                let bytes = len.saturating_mul(d.kind.bytes());
                Block::new(bytes).map_err(|cause| ArgumentError::Memory {
                    name: d.name.clone(),
                    bytes,
                    cause,
                })
            });
            blocks.push(block.transpose()?);
        }
        let mut out = Self {
            initial: images(data, seed, dir)?,
            answers: answers(data, dir)?,
            data: data.to_vec(),
            blocks,
            scalars,
        };
        out.reset(true);
        Ok(out)
    }

    /// Fills anew, from another seed; returns what the arrays held before runs until now.
    ///
    /// # Errors
    /// A file that does not fit.
    pub fn refill(&mut self, seed: u64, dir: &Path) -> Result<Images, ArgumentError> {
        let new = images(&self.data, seed, dir)?;
        let old = std::mem::replace(&mut self.initial, new);
        self.reset(true);
        Ok(old)
    }

    /// Exchanges what the arrays hold before runs; what they hold now stays.
    pub fn swap(&mut self, images: &mut Images) {
        std::mem::swap(&mut self.initial, images);
    }

    /// Moves the arrays, which hold then what they hold before a run.
    ///
    /// # Errors
    /// The system refuses the memory.
    pub fn lay(&mut self, layout: Layout) -> Result<(), ArgumentError> {
        for b in self.blocks.iter_mut().flatten() {
            b.lay(layout).map_err(ArgumentError::Move)?;
        }
        self.reset(true);
        Ok(())
    }

    /// Restores what kernels change; with `all` the inputs too.
    pub fn reset(&mut self, all: bool) {
        for ((d, block), initial) in self.data.iter().zip(&mut self.blocks).zip(&self.initial) {
            if let Some(block) = block
                && (all || restored(d))
            {
                block.contents_mut().copy_from_slice(initial);
            }
        }
    }

    /// Takes what the arrays hold now as what they hold at the start; outputs stay undefined.
    ///
    /// # Errors
    /// Something was written outside of an array.
    pub fn adopt(&mut self) -> Result<(), WrongResult> {
        self.check_bounds()?;
        for ((d, block), initial) in self.data.iter().zip(&self.blocks).zip(&mut self.initial) {
            if let Some(block) = block
                && d.role != Role::Out
            {
                initial.copy_from_slice(block.contents());
            }
        }
        Ok(())
    }

    /// What the wrapper takes: a pointer an argument.
    pub fn pointers(&mut self) -> Vec<*mut u8> {
        self.blocks
            .iter()
            .zip(&mut self.scalars)
            .map(|(b, s)| b.as_ref().map_or(s.as_mut_ptr(), Block::start))
            .collect()
    }

    /// Bytes of a scalar; empty for an array.
    pub fn scalar(&self, i: usize) -> &[u8] {
        match (self.data.get(i), self.scalars.get(i)) {
            (Some(d), Some(bytes)) if d.len.is_none() => &bytes[..d.kind.bytes()],
            _ => &[],
        }
    }

    /// Each array as it is before a run; none for a scalar.
    pub fn arrays(&self) -> impl Iterator<Item = Option<Array<'_>>> {
        self.data.iter().zip(&self.initial).map(|(d, bytes)| {
            d.len.map(|_| Array {
                bytes,
                changes: restored(d),
                checked: d.role != Role::Scratch,
            })
        })
    }

    /// Contents of each array, to be overwritten; none for a scalar.
    pub fn contents_mut(&mut self) -> impl Iterator<Item = Option<&mut [u8]>> {
        self.blocks
            .iter_mut()
            .map(|b| b.as_mut().map(Block::contents_mut))
    }

    /// Name and block of each array.
    pub fn blocks(&self) -> impl Iterator<Item = (&str, &Block)> {
        self.data
            .iter()
            .zip(&self.blocks)
            .filter_map(|(d, b)| Some((d.name.as_str(), b.as_ref()?)))
    }

    /// What is copied to constant memory of the kernels, by its name there.
    pub fn symbols(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.data
            .iter()
            .zip(&self.initial)
            .filter_map(|(d, bytes)| Some((d.symbol.as_deref()?, &**bytes)))
    }

    /// Whether kernels take an argument.
    pub fn passed(&self, i: usize) -> bool {
        self.data.get(i).is_some_and(|d| d.symbol.is_none())
    }

    /// Name of an argument.
    pub fn name(&self, i: usize) -> &str {
        self.data.get(i).map_or("", |d| &d.name)
    }

    /// Contents of all outputs, one after the other.
    pub fn outputs(&self) -> Vec<u8> {
        self.data
            .iter()
            .zip(&self.blocks)
            .filter(|(d, _)| restored(d))
            .filter_map(|(_, b)| b.as_ref())
            .flat_map(|b| b.contents().iter().copied())
            .collect()
    }

    fn check_bounds(&self) -> Result<(), WrongResult> {
        for (name, b) in self.blocks() {
            if let Some(place) = b.overwritten() {
                let name = name.to_owned();
                return Err(WrongResult::OutOfBounds { name, place });
            }
        }
        Ok(())
    }

    /// Compares outputs with the reference's, and inputs and the memory around the arrays with what they were. Returns
    /// the largest error, relative to the largest value of its array.
    ///
    /// # Errors
    /// The first difference.
    pub fn verify(&self, reference: Option<&[u8]>, tolerance: f64) -> Result<f64, WrongResult> {
        self.check_bounds()?;
        for ((d, b), initial) in self.data.iter().zip(&self.blocks).zip(&self.initial) {
            if let Some(b) = b
                && d.role == Role::In
                && *b.contents() != **initial
            {
                return Err(WrongResult::ChangedInput(d.name.clone()));
            }
        }
        let mut worst = self.verify_answers()?;
        let Some(mut rest) = reference else {
            return Ok(worst);
        };
        for (d, b) in self.data.iter().zip(&self.blocks) {
            let (Some(b), true) = (b, restored(d)) else {
                continue;
            };
            let own = b.contents();
            let (expected, later) = rest.split_at(own.len().min(rest.len()));
            rest = later;
            let n = d.kind.bytes();
            let scale = expected
                .chunks_exact(n)
                .map(|c| get(d.kind, c).abs())
                .fold(f64::MIN_POSITIVE, f64::max);
            for (i, (x, y)) in own
                .chunks_exact(n)
                .zip(expected.chunks_exact(n))
                .enumerate()
            {
                let (x, y) = (get(d.kind, x), get(d.kind, y));
                let error = (x - y).abs() / scale;
                if error > tolerance || error.is_nan() {
                    return Err(WrongResult::Differs {
                        name: d.name.clone(),
                        index: i,
                        found: x,
                        expected: y,
                        error,
                        tolerance,
                    });
                }
                worst = worst.max(error);
            }
        }
        Ok(worst)
    }

    /// Compares each array with the problem's answer; returns the largest error over the largest value.
    fn verify_answers(&self) -> Result<f64, WrongResult> {
        let mut worst = 0.0_f64;
        for ((d, b), expected) in self.data.iter().zip(&self.blocks).zip(&self.answers) {
            let (Some(b), Some(expected), Some(a)) = (b, expected, &d.answer) else {
                continue;
            };
            let found = close(d.kind, b.contents(), expected, a);
            let Some(error) = found else {
                return Err(first_wrong(d, b.contents(), expected, a));
            };
            worst = worst.max(error);
        }
        Ok(worst)
    }

    /// Writes each array of role out or inout to `NAME.bin`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_outputs(&self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        for (d, b) in self.data.iter().zip(&self.blocks) {
            if let (Some(b), true) = (b, restored(d)) {
                std::fs::write(folder.join(format!("{}.bin", d.name)), b.contents())?;
            }
        }
        Ok(())
    }
}

/// Whether an array is restored before runs and compared after them.
fn restored(d: &Data) -> bool {
    matches!(d.role, Role::Out | Role::InOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: &str, role: Role) -> Data {
        Data {
            name: name.into(),
            kind: Type::F64,
            len: Some(100),
            value: 0.0,
            fill: Fill::Named("random".into()),
            role,
            answer: None,
            symbol: None,
        }
    }

    #[test]
    fn fresh_data_are_others_and_outputs_are_poisoned_again() {
        let data = [array("in", Role::In), array("out", Role::Out)];
        let mut a = Arguments::new(&data, 1, Path::new(".")).unwrap();
        let inputs = |a: &Arguments| a.blocks().next().unwrap().1.contents().to_vec();
        let before = inputs(&a);
        for b in a.contents_mut().flatten().skip(1) {
            b.fill(0);
        }
        let mut usual = a.refill(2, Path::new(".")).unwrap();
        assert_ne!(inputs(&a), before);
        let nan = f64::NAN.to_ne_bytes().repeat(100);
        assert_eq!(a.outputs(), nan);
        // A result of before is none on other data.
        let same = a.verify(Some(&[0; 800]), 1e-9).unwrap_err().to_string();
        assert!(same.contains("NaN"), "{same}");
        a.lay(Layout::AtEnd).unwrap();
        assert_ne!(inputs(&a), before);
        a.lay(Layout::Usual).unwrap();
        a.swap(&mut usual);
        a.reset(true);
        assert_eq!(inputs(&a), before);
    }

    #[test]
    fn writes_six_hundred_elements_out_of_bounds_are_seen() {
        let data = [array("x", Role::InOut)];
        for (at, expected) in [
            (699_isize, "4793 bytes behind"),
            (-600, "4793 bytes before"),
        ] {
            let mut a = Arguments::new(&data, 1, Path::new(".")).unwrap();
            let x = a.pointers()[0].cast::<f64>();
            // SAFETY: around an array there is more writable memory than that, on both sides.
            unsafe { x.offset(at).write(1.0) };
            let m = a.verify(None, 0.0).unwrap_err().to_string();
            assert!(
                m.contains("wrote outside of `x`") && m.contains(expected),
                "{m}"
            );
        }
    }
}
