//! The state in a checkpoint, read when it is needed and in parts.

use super::{BLOCK, CheckpointError};
use crate::HydroError;
use crate::engine::State;
use crate::part::Whole;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// The state in a checkpoint.
#[derive(Clone, Debug)]
pub struct Saved {
    pub(super) source: Source,
    /// Where its numbers begin, bytes.
    pub(super) begin: u64,
    /// Numbers of positions, and as many of velocities.
    pub coordinates: usize,
    /// Number of energies.
    pub energies: usize,
}

/// Where bytes are. A file that is replaced meanwhile stays readable.
#[derive(Clone, Debug)]
pub(super) enum Source {
    File(Arc<File>),
    Bytes(Arc<[u8]>),
}

impl Source {
    pub fn length(&self) -> io::Result<u64> {
        Ok(match self {
            Self::File(f) => f.metadata()?.len(),
            Self::Bytes(b) => b.len() as u64,
        })
    }

    pub fn read(&self, to: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Self::File(f) => f.read_exact_at(to, at),
            Self::Bytes(b) => {
                let from = usize::try_from(at)
                    .ok()
                    .and_then(|at| b.get(at..at + to.len()));
                to.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }

    /// Calls `f` with the bytes of a range, block by block.
    pub fn blocks(&self, range: Range<u64>, f: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let mut block = vec![0; BLOCK];
        let mut at = range.start;
        while at < range.end {
            let n = (range.end - at).min(BLOCK as u64);
            let part = &mut block[..n as usize];
            self.read(part, at)?;
            f(part);
            at += n;
        }
        Ok(())
    }
}

impl Saved {
    /// All of it.
    ///
    /// # Errors
    /// It cannot be read, or does not fit into memory.
    pub fn whole(&self) -> Result<State, HydroError> {
        let bytes = 8 * (2 * self.coordinates + self.energies) as u64;
        greenup_process::memory::check("the state in the checkpoint", bytes)?;
        let all = |n: usize| -> Vec<f64> { Vec::with_capacity(n) };
        let n = self.coordinates;
        let mut out = State {
            x: all(n),
            v: all(n),
            e: all(self.energies),
        };
        self.pass("coordinate", 0, n, &mut |_, x| out.x.push(x))?;
        self.pass("velocity", n, n, &mut |_, x| out.v.push(x))?;
        self.pass("energy", 2 * n, self.energies, &mut |_, x| out.e.push(x))?;
        Ok(out)
    }

    /// The part of a rank; `None` if the checkpoint has another number of nodes or zones than the whole.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn part(&self, of: &Whole) -> Result<Option<State>, HydroError> {
        let (nodes, energies) = (of.nodes.all, of.energies);
        if self.coordinates != of.dim * nodes || self.energies != of.zones.all * energies {
            return Ok(None);
        }
        let here = of.nodes.of.len();
        let order = of.nodes.ascending();
        let mut out = State {
            x: vec![0.0; of.dim * here],
            v: vec![0.0; of.dim * here],
            e: vec![0.0; of.zones.of.len() * energies],
        };
        let fields = [
            ("coordinate", 0, &mut out.x),
            ("velocity", self.coordinates, &mut out.v),
        ];
        for (name, begin, to) in fields {
            for (c, to) in to.chunks_mut(here).enumerate() {
                let mut next = order.iter().peekable();
                self.pass(name, begin + c * nodes, nodes, &mut |i, x| {
                    if let Some((_, local)) = next.next_if(|(n, _)| *n as usize == i) {
                        to[*local as usize] = x;
                    }
                })?;
            }
        }
        let order = of.zones.ascending();
        let mut next = order.iter().peekable();
        self.pass(
            "energy",
            2 * self.coordinates,
            self.energies,
            &mut |i, x| {
                let (zone, k) = (i / energies, i % energies);
                if let Some((n, local)) = next.peek()
                    && *n as usize == zone
                {
                    out.e[*local as usize * energies + k] = x;
                    if k + 1 == energies {
                        next.next();
                    }
                }
            },
        )?;
        Ok(Some(out))
    }

    /// Calls `put` with numbers of the state and their place behind `begin`.
    fn pass(
        &self,
        name: &'static str,
        begin: usize,
        count: usize,
        put: &mut dyn FnMut(usize, f64),
    ) -> Result<(), HydroError> {
        let from = self.begin + 8 * begin as u64;
        let (mut i, mut bad) = (0, None);
        let read = self
            .source
            .blocks(from..from + 8 * count as u64, &mut |block| {
                let (words, _) = block.as_chunks();
                for x in words.iter().map(|w| f64::from_le_bytes(*w)) {
                    if !x.is_finite() && bad.is_none() {
                        bad = Some(CheckpointError::Value {
                            name,
                            index: i,
                            value: x,
                        });
                    }
                    put(i, x);
                    i += 1;
                }
            });
        read.map_err(|e| HydroError::Checkpoint(CheckpointError::Read(e).to_string()))?;
        match bad {
            Some(e) => Err(HydroError::Checkpoint(e.to_string())),
            None => Ok(()),
        }
    }
}
