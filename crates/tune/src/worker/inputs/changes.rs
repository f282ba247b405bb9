//! What a run changed, and arrays that are changed to see what a kernel does with it.

use super::arguments::{Arguments, Held};
use super::compare::{first_nan, get};
use super::contents::images;
use super::error::ArgumentError;
use super::{Kernel, LoadedInputs};
use crate::problem::{Data, Role};
use crate::worker::inputs::number::Number;
use crate::worker::stop::Stop;
use std::path::Path;

impl Arguments {
    /// Refuses results of a reference that say nothing of a kernel's.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn judge_reference(&self) -> Result<(), String> {
        let mut outputs = self.results().peekable();
        let some = outputs.peek().is_some();
        let mut changed = false;
        for a in outputs {
            changed |= a.now != a.initial;
            if let Some(index) = first_nan(a.data.kind, a.now) {
                return Err(format!(
                    "its `{}`[{index}] is not a number (NaN), which no result equals; an output that it writes in part needs role = \"inout\" and a fill",
                    a.data.name
                ));
            }
        }
        if some && !changed {
            Err("it changes none of its outputs: kernels that do nothing would pass".into())
        } else {
            Ok(())
        }
    }

    /// Bytes of the arrays that a run changed; call it after a run from restored arrays.
    pub fn changed_bytes(&self) -> usize {
        let changed = |a: Held| {
            fn count<const N: usize>(now: &[u8], initial: &[u8]) -> usize {
                let pairs = (now.as_chunks::<N>().0.iter()).zip(initial.as_chunks::<N>().0);
                N * pairs.filter(|(x, y)| x != y).count()
            }
            match a.data.kind.bytes() {
                8 => count::<8>(a.now, a.initial),
                4 => count::<4>(a.now, a.initial),
                2 => count::<2>(a.now, a.initial),
                _ => count::<1>(a.now, a.initial),
            }
        };
        self.results().map(changed).sum()
    }

    /// Numbers of the arrays that can be changed without the others: kernels read them, and any values do. After a setup integers
    /// may be indices.
    pub fn single_inputs(&self, set_up: bool) -> Vec<usize> {
        let can = |d: &Data| {
            if d.kind.is_integer() {
                d.varies() && !set_up
            } else {
                d.len.is_some() && matches!(d.role, Role::In | Role::InOut)
            }
        };
        (0..self.data.len())
            .filter(|i| can(&self.data[*i]))
            .collect()
    }

    /// Changes one array of [`Self::single_inputs`] and no other.
    ///
    /// # Errors
    /// A file that does not fit.
    pub fn renew_one(&mut self, i: usize, seed: u64, dir: &Path) -> Result<(), ArgumentError> {
        if self.data[i].kind.is_integer() {
            let new = images(&self.data[i..=i], seed, dir)?;
            if let (Some(b), Some(image)) = (&mut self.blocks[i], new.first()) {
                b.contents_mut().copy_from_slice(image);
            }
        } else {
            self.perturb(seed, Some(i))
        }
        Ok(())
    }

    /// Changes the last bits of floating-point inputs, of one or of all; zeros stay.
    pub fn perturb(&mut self, seed: u64, only: Option<usize>) {
        let mut rng = fastrand::Rng::with_seed(seed);
        for (i, (d, b)) in self.data.iter().zip(&mut self.blocks).enumerate() {
            let (Some(b), false, false) = (b, d.kind.is_integer(), d.role == Role::Out) else {
                continue;
            };
            if only.is_some_and(|o| o != i) {
                continue;
            }
            for e in b.contents_mut().chunks_exact_mut(d.kind.bytes()) {
                let normal = match get(d.kind, e) {
                    Number::Real(x) => x.is_normal() && (x.abs() > 1e-30),
                    Number::Whole(_) => false,
                };
                if normal {
                    // The lowest byte of the fraction; little-endian machines have it first.
                    let lowest = if cfg!(target_endian = "little") {
                        0
                    } else {
                        e.len() - 1
                    };
                    e[lowest] ^= rng.u8(1..16);
                }
            }
        }
    }

    /// Writes to each array what it holds.
    pub fn rewrite(&mut self) {
        for b in self.blocks.iter_mut().flatten() {
            let held = b.contents().to_vec();
            b.contents_mut().copy_from_slice(&held);
        }
    }
}

impl LoadedInputs {
    /// Bytes that the last run changed, which began from restored arrays.
    pub(crate) fn changed_bytes(&mut self) -> Result<usize, Stop> {
        if let Some(bytes) = self.changed {
            return Ok(bytes);
        }
        self.bring()?;
        Ok(self.arguments.changed_bytes())
    }

    /// Results of the last run.
    pub(crate) fn outputs(&mut self) -> Result<Vec<u8>, Stop> {
        self.bring()?;
        Ok(self.arguments.outputs())
    }

    /// Other data in the same place: the usual ones in round 0, then on the host ones that no kernel has met. Outputs are as
    /// before a run.
    pub(crate) fn renew(&mut self, kernel: &mut Kernel, round: u64) -> Result<(), Stop> {
        if self.device.is_some() {
            if self.other.is_none() {
                return Ok(());
            }
            self.exchange();
            self.bind(kernel)?;
            return self.reset();
        }
        let seed = match round {
            0 => self.inputs.seed,
            n => self.inputs.fresh_seed().wrapping_add(n),
        };
        self.arguments.refill(seed, &self.inputs.dir)?;
        self.arguments.reset(true);
        self.set_up()?;
        if round > 0 {
            // Those that a seed does not change are changed too, by what no kernel minds.
            self.arguments.perturb(round, None);
        }
        Ok(())
    }

    /// Numbers of the arrays that [`Self::renew_one`] can change.
    pub(crate) fn single_inputs(&self) -> Vec<usize> {
        match self.device {
            None => self.arguments.single_inputs(self.inputs.setup.is_some()),
            Some(_) => Vec::new(),
        }
    }

    /// Changes one array; the others stay as they are.
    pub(crate) fn renew_one(&mut self, i: usize, round: u64) -> Result<(), Stop> {
        let seed = self.inputs.fresh_seed().wrapping_add(1000 + round);
        Ok(self.arguments.renew_one(i, seed, &self.inputs.dir)?)
    }

    /// Whether [`Self::renew`] gives other data.
    pub(crate) fn renews(&self) -> bool {
        self.device.is_none() || self.other.is_some()
    }

    /// Touches memory as [`Self::renew`] does, and leaves all data as they are.
    pub(crate) fn rewrite(&mut self) {
        if self.device.is_none() {
            self.arguments.rewrite();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Type;
    use crate::worker::inputs::arguments::tests::array;

    #[test]
    fn a_reference_that_says_nothing_is_refused() {
        let data = [array("x", Role::In), array("y", Role::Out)];
        let mut a = Arguments::new(&data, 1, Path::new(".")).unwrap();
        let nan = a.judge_reference().unwrap_err();
        assert!(nan.contains("`y`[0] is not a number"), "{nan}");
        a.contents_mut().flatten().nth(1).unwrap().fill(0);
        assert_eq!(a.judge_reference(), Ok(()));
        assert_eq!(a.changed_bytes(), 800);
        let counts = [Data {
            kind: Type::U32,
            ..array("y", Role::Out)
        }];
        let mut a = Arguments::new(&counts, 1, Path::new(".")).unwrap();
        let none = a.judge_reference().unwrap_err();
        assert!(none.contains("changes none"), "{none}");
        a.contents_mut().flatten().next().unwrap()[7] ^= 1;
        assert_eq!(a.judge_reference(), Ok(()));
        assert_eq!(a.changed_bytes(), 4);
        let inputs = [array("x", Role::In)];
        let a = Arguments::new(&inputs, 1, Path::new(".")).unwrap();
        assert_eq!(a.judge_reference(), Ok(()));
    }
}
