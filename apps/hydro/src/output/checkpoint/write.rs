//! Writing a checkpoint.

use super::{BLOCK, FORMAT, Head, Input};
use crate::HydroError;
use crate::engine::State;
use crate::time::stepping::Clock;
use serde::Serialize;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes a checkpoint. The previous file is replaced only once the new one is complete.
///
/// # Errors
/// The file cannot be written; the previous one stays.
pub fn write<S: Serialize>(
    path: &Path,
    run: (&S, &[Input]),
    energy: f64,
    (clock, state): (&Clock, &State),
) -> Result<(), HydroError> {
    let counts = (state.x.len(), state.e.len());
    write_by(path, run, energy, (clock, counts), &mut |put| {
        [&state.x, &state.v, &state.e]
            .into_iter()
            .try_for_each(|x| put(x))
    })
}

/// Takes numbers of a state, one after the other.
pub type Sink<'a> = &'a mut dyn FnMut(&[f64]) -> io::Result<()>;

/// Writes a checkpoint with the numbers that `fill` gives: coordinates, as many velocities, and energies.
///
/// # Errors
/// The file cannot be written; the previous one stays.
pub fn write_by<S: Serialize>(
    path: &Path,
    (setup, inputs): (&S, &[Input]),
    energy: f64,
    (clock, (nodes, energies)): (&Clock, (usize, usize)),
    fill: &mut dyn FnMut(Sink) -> io::Result<()>,
) -> Result<(), HydroError> {
    let head = Head {
        format: FORMAT.to_owned(),
        setup,
        inputs: inputs.to_vec(),
        energy,
        t: clock.t.to_bits(),
        dt: clock.dt.to_bits(),
        free: clock.free.to_bits(),
        steps: clock.steps,
        rejected: clock.rejected,
        nodes,
        energies,
    };
    let mut line = serde_json::to_vec(&head).map_err(|e| HydroError::Checkpoint(e.to_string()))?;
    line.push(b'\n');
    Ok(greenup_files::write_by(path, |file| {
        let mut sum = crc32fast::Hasher::new();
        let mut put = |bytes: &[u8]| {
            sum.update(bytes);
            file.write_all(bytes)
        };
        put(&line)?;
        let mut block = Vec::new();
        fill(&mut |numbers| {
            numbers.chunks(BLOCK / 8).try_for_each(|numbers| {
                block.clear();
                block.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
                put(&block)
            })
        })?;
        file.write_all(&sum.finalize().to_le_bytes())
    })?)
}
