//! A run on the disk, to go on from with the same digits: a line of JSON, then places, velocities and energies as
//! doubles, little-endian.

use crate::HydroError;
use crate::engine::State;
use crate::run::Clock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

const FORMAT: &str = "greenup-hydro/1";

#[derive(Serialize, Deserialize)]
struct Head<S> {
    format: String,
    setup: S,
    /// Total energy at the start.
    energy: f64,
    /// Bits of time and time step, which decimals would round.
    t: u64,
    dt: u64,
    steps: usize,
    rejected: usize,
    nodes: usize,
    energies: usize,
}

/// Writes a run beside its file first, so that the last whole one stays whatever happens.
///
/// # Errors
/// It cannot be written; what was there before still is.
pub fn write<S: Serialize>(
    path: &Path,
    setup: &S,
    energy: f64,
    (clock, state): (&Clock, &State),
) -> Result<(), HydroError> {
    let wrong =
        |e: std::io::Error| HydroError(format!("{} cannot be written: {e}", path.display()));
    let head = Head {
        format: FORMAT.to_owned(),
        setup,
        energy,
        t: clock.t.to_bits(),
        dt: clock.dt.to_bits(),
        steps: clock.steps,
        rejected: clock.rejected,
        nodes: state.x.len(),
        energies: state.e.len(),
    };
    let mut bytes = serde_json::to_vec(&head).map_err(|e| HydroError(e.to_string()))?;
    bytes.push(b'\n');
    for part in [&state.x, &state.v, &state.e] {
        bytes.extend(part.iter().flat_map(|x| x.to_le_bytes()));
    }
    let beside = path.with_extension("part");
    let kept = File::create(&beside)
        .and_then(|mut f| f.write_all(&bytes).and_then(|()| f.sync_all()))
        .and_then(|()| std::fs::rename(&beside, path));
    kept.map_err(|e| {
        // Half of one is of no use.
        let _ = std::fs::remove_file(&beside);
        wrong(e)
    })
}

/// What was written: the setup, the energy at the start, the run.
///
/// # Errors
/// No file, or not a whole one.
pub fn read<S: DeserializeOwned>(path: &Path) -> Result<(S, f64, Clock, State), HydroError> {
    let wrong = |m: String| HydroError(format!("{}: {m}", path.display()));
    let bytes = std::fs::read(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let end = bytes
        .iter()
        .position(|b| *b == b'\n')
        .ok_or_else(|| wrong("is no checkpoint".into()))?;
    let head: Head<S> = serde_json::from_slice(&bytes[..end])
        .map_err(|e| wrong(format!("is no checkpoint: {e}")))?;
    if head.format != FORMAT {
        return Err(wrong(format!("is of format {}, not {FORMAT}", head.format)));
    }
    let (numbers, rest) = bytes[end + 1..].as_chunks::<8>();
    let whole = head
        .nodes
        .checked_mul(2)
        .and_then(|n| n.checked_add(head.energies));
    if !rest.is_empty() || Some(numbers.len()) != whole {
        return Err(wrong("is cut off".into()));
    }
    let all: Vec<f64> = numbers.iter().map(|b| f64::from_le_bytes(*b)).collect();
    let n = head.nodes;
    let state = State {
        x: all[..n].to_vec(),
        v: all[n..2 * n].to_vec(),
        e: all[2 * n..].to_vec(),
    };
    let clock = Clock {
        t: f64::from_bits(head.t),
        dt: f64::from_bits(head.dt),
        steps: head.steps,
        rejected: head.rejected,
    };
    Ok((head.setup, head.energy, clock, state))
}
