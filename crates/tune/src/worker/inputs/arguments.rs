//! Arguments of a kernel in memory: arrays with guards around them, which are restored before runs and compared after them.

use super::block::{Block, Layout};
use super::compare::{close, first_wrong, relative};
use super::contents::{Images, answers, images, put};
use super::error::{ArgumentError, WrongResult};
use super::image::Image;
use super::memory::refuse_too_large;
use crate::problem::{Data, ExpectedValues, Role, Tolerance};
use std::path::Path;

/// The arguments of one kernel in memory.
pub struct Arguments {
    pub(super) data: Vec<Data>,
    /// None for a scalar.
    pub(super) blocks: Vec<Option<Block>>,
    /// What each array holds before a run.
    pub(super) initial: Images,
    /// What each array holds after a run, where the problem tells.
    answers: Vec<Option<Image>>,
    /// Bytes of each scalar, in the kernel's order.
    scalars: Vec<Vec<u8>>,
}

/// An array as it is before a run.
pub struct Array<'a> {
    /// As the problem describes it.
    pub data: &'a Data,
    /// Contents.
    pub bytes: &'a [u8],
    /// What it holds after a run, where the problem tells.
    pub answer: Option<(&'a [u8], &'a ExpectedValues)>,
    /// Whether it is restored before runs.
    pub changes: bool,
    /// Whether kernels read what they change of it.
    pub read: bool,
    /// Whether its contents after a run matter.
    pub checked: bool,
}

/// What an array holds now and held before a run.
pub(super) struct Held<'a> {
    pub(super) data: &'a Data,
    pub(super) now: &'a [u8],
    pub(super) initial: &'a [u8],
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
            let mut scalar = d.bytes.clone();
            if scalar.is_empty() {
                // Generated code of the host reads all types from as many bytes.
                scalar.resize(8, 0);
                put(d.kind, d.value, &mut scalar[..d.kind.bytes()]);
            }
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

    /// Fills anew, from another seed; returns what the arrays held before runs until now. What they hold now stays until a reset.
    ///
    /// # Errors
    /// A file that does not fit.
    pub fn refill(&mut self, seed: u64, dir: &Path) -> Result<Images, ArgumentError> {
        let new = images(&self.data, seed, dir)?;
        Ok(std::mem::replace(&mut self.initial, new))
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

    /// Restores what kernels read and change, so that repeated runs find the same numbers. What outputs hold matters to none.
    pub fn reset_read(&mut self) {
        for ((d, block), initial) in self.data.iter().zip(&mut self.blocks).zip(&self.initial) {
            if let (Some(block), Role::InOut) = (block, d.role) {
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
            (Some(d), Some(bytes)) if !d.bytes.is_empty() => bytes,
            (Some(d), Some(bytes)) if d.len.is_none() => &bytes[..d.kind.bytes()],
            _ => &[],
        }
    }

    /// Each array as it is before a run; none for a scalar.
    pub fn arrays(&self) -> impl Iterator<Item = Option<Array<'_>>> {
        let all = self.data.iter().zip(&self.initial).zip(&self.answers);
        all.map(|((data, bytes), answer)| {
            data.len.map(|_| Array {
                data,
                bytes,
                answer: answer.as_deref().zip(data.answer.as_ref()),
                changes: restored(data),
                read: data.role == Role::InOut,
                checked: data.role != Role::Scratch,
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
        self.results().flat_map(|a| a.now).copied().collect()
    }

    /// What the arrays hold now.
    pub(super) fn held(&self) -> impl Iterator<Item = Held<'_>> {
        let all = self.data.iter().zip(&self.blocks).zip(&self.initial);
        all.filter_map(|((data, block), initial)| {
            let now = block.as_ref()?.contents();
            Some(Held { data, now, initial })
        })
    }

    /// The same of those that hold results after a run.
    pub(super) fn results(&self) -> impl Iterator<Item = Held<'_>> {
        self.held().filter(|a| restored(a.data))
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
    pub fn verify(
        &self,
        reference: Option<&[u8]>,
        tolerance: Tolerance,
    ) -> Result<f64, WrongResult> {
        self.check_bounds()?;
        let mut inputs = self.held().filter(|a| a.data.role == Role::In);
        if let Some(changed) = inputs.find(|a| a.now != a.initial) {
            return Err(WrongResult::ChangedInput(changed.data.name.clone()));
        }
        let mut worst = self.verify_answers()?;
        let Some(mut rest) = reference else {
            return Ok(worst);
        };
        for Held {
            data: d, now: own, ..
        } in self.results()
        {
            let (expected, later) = rest.split_at(own.len().min(rest.len()));
            rest = later;
            let allowed = tolerance.of(d.kind);
            let error = relative(d.kind, own, expected, allowed).map_err(
                |(index, found, expected, error)| WrongResult::Differs {
                    name: d.name.clone(),
                    index,
                    found,
                    expected,
                    error,
                    tolerance: allowed,
                },
            )?;
            worst = worst.max(error);
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

    /// Bytes of all outputs, as [`Self::outputs`] gives them.
    pub fn output_bytes(&self) -> usize {
        self.results().map(|a| a.now.len()).sum()
    }

    /// Writes each array of role out or inout to `NAME.bin`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_outputs(&self, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        self.results()
            .try_for_each(|a| std::fs::write(folder.join(format!("{}.bin", a.data.name)), a.now))
    }
}

/// Whether an array is restored before runs and compared after them.
fn restored(d: &Data) -> bool {
    matches!(d.role, Role::Out | Role::InOut)
}

#[cfg(test)]
pub(in crate::worker) mod tests {
    use super::*;
    use crate::problem::{Fill, Type};
    use crate::worker::inputs::compare::get;

    pub(in crate::worker) fn array(name: &str, role: Role) -> Data {
        Data {
            name: name.into(),
            kind: Type::F64,
            len: Some(100),
            value: 0.0,
            bytes: Vec::new(),
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
        a.reset(true);
        assert_ne!(inputs(&a), before);
        let nan = f64::NAN.to_ne_bytes().repeat(100);
        assert_eq!(a.outputs(), nan);
        // A result of before is none on other data.
        let same = a
            .verify(Some(&[0; 800]), Tolerance::default())
            .unwrap_err()
            .to_string();
        assert!(same.contains("NaN"), "{same}");
        a.lay(Layout::AtEnd).unwrap();
        assert_ne!(inputs(&a), before);
        a.lay(Layout::Usual).unwrap();
        a.swap(&mut usual);
        a.reset(true);
        assert_eq!(inputs(&a), before);
    }

    #[test]
    fn outputs_hold_no_likely_result_before_a_run() {
        use Type::{F32, I8, I32, U8, U16, U32, U64};
        for kind in [F32, I8, I32, U8, U16, U32, U64] {
            let data = [Data {
                kind,
                ..array("y", Role::Out)
            }];
            let a = Arguments::new(&data, 1, Path::new(".")).unwrap();
            let values: Vec<f64> = (a.outputs().chunks_exact(kind.bytes()))
                .map(|b| get(kind, b).value())
                .collect();
            let likely = |v: &f64| v.abs() < 100.0;
            assert!(!values.iter().any(likely), "{kind:?}: {}", values[0]);
        }
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
            let m = a
                .verify(None, Tolerance::default())
                .unwrap_err()
                .to_string();
            assert!(
                m.contains("wrote outside of `x`") && m.contains(expected),
                "{m}"
            );
        }
    }
}
