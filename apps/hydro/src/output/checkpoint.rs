//! Checkpoints, from which a run continues with identical digits: a line of JSON, then positions, velocities and
//! energies as doubles, then the CRC-32 of all that, little-endian.

use crate::HydroError;
use crate::engine::State;
use crate::time::stepping::Clock;
use greenup_files::AtomicFile;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;

/// Current format, with checksum and input files.
const FORMAT: &str = "greenup-hydro/2";
/// First format, without checksum and input files.
const FIRST: &str = "greenup-hydro/1";

/// Length of the checksum at the end, bytes.
const CHECKSUM: usize = 4;

/// An input file of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The flag that named it.
    pub flag: String,
    /// CRC-32 of its contents.
    pub crc32: u32,
}

impl Input {
    /// Computes the checksum of the file that a flag names.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(flag: &str, path: &Path) -> Result<Self, HydroError> {
        Ok(Self {
            flag: flag.to_owned(),
            crc32: crc32fast::hash(&greenup_files::read_bytes(
                path,
                greenup_files::read::TEXT_LIMIT,
            )?),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Head<S> {
    format: String,
    setup: S,
    #[serde(default)]
    inputs: Vec<Input>,
    /// Total energy at the start.
    energy: f64,
    /// Bit patterns of time and time step, which decimals would round.
    t: u64,
    dt: u64,
    steps: usize,
    rejected: usize,
    nodes: usize,
    energies: usize,
}

/// The contents of a checkpoint.
#[derive(Clone, Debug)]
pub struct Checkpoint<S> {
    /// Settings of the run.
    pub setup: S,
    /// Input files that the settings name.
    pub inputs: Vec<Input>,
    /// Total energy at the start.
    pub energy: f64,
    /// Time and step counts.
    pub clock: Clock,
    /// State of the run.
    pub state: State,
    /// Whether the file has a checksum; the first format has none.
    pub checked: bool,
}

/// Writes a checkpoint. The previous file is replaced only once the new one is complete.
///
/// # Errors
/// The file cannot be written; the previous one stays.
pub fn write<S: Serialize>(
    path: &Path,
    (setup, inputs): (&S, &[Input]),
    energy: f64,
    (clock, state): (&Clock, &State),
) -> Result<(), HydroError> {
    let head = Head {
        format: FORMAT.to_owned(),
        setup,
        inputs: inputs.to_vec(),
        energy,
        t: clock.t.to_bits(),
        dt: clock.dt.to_bits(),
        steps: clock.steps,
        rejected: clock.rejected,
        nodes: state.x.len(),
        energies: state.e.len(),
    };
    let mut line = serde_json::to_vec(&head).map_err(|e| HydroError::Checkpoint(e.to_string()))?;
    line.push(b'\n');
    Ok(greenup_files::write_by(path, |file| {
        body(file, &line, state)
    })?)
}

fn body(file: &mut AtomicFile, line: &[u8], state: &State) -> io::Result<()> {
    let mut sum = crc32fast::Hasher::new();
    let mut put = |bytes: &[u8]| {
        sum.update(bytes);
        file.write_all(bytes)
    };
    put(line)?;
    let mut block = Vec::new();
    for part in [&state.x, &state.v, &state.e] {
        for numbers in part.chunks(1 << 13) {
            block.clear();
            block.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            put(&block)?;
        }
    }
    file.write_all(&sum.finalize().to_le_bytes())
}

/// Reads a checkpoint.
///
/// # Errors
/// The file cannot be read, is truncated or damaged, or does not fit into memory.
pub fn read<S: DeserializeOwned>(path: &Path) -> Result<Checkpoint<S>, HydroError> {
    let wrong = |m: String| HydroError::Checkpoint(format!("{}: {m}", path.display()));
    let limit = match std::fs::metadata(path) {
        // A device has no length to compare with the memory.
        Ok(m) if !m.is_file() => return Err(wrong("a checkpoint is a plain file".into())),
        Ok(m) => m.len(),
        Err(_) => 0,
    };
    // Bytes and numbers are in memory at once.
    greenup_process::memory::check("the checkpoint", 2 * limit)
        .map_err(|e| wrong(e.to_string()))?;
    let bytes = greenup_files::read_bytes(path, limit)?;
    parse(&bytes).map_err(|e| wrong(e.to_string()))
}

/// Why bytes are not a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// There is no first line.
    #[error("not a checkpoint")]
    NoHeader,
    /// The first line cannot be parsed.
    #[error("not a checkpoint, or a damaged one: {0}")]
    Header(serde_json::Error),
    /// The format is unknown.
    #[error("this checkpoint is of format `{0}`; known are {FORMAT} and {FIRST}")]
    Format(String),
    /// The end is missing.
    #[error("the checkpoint is cut off")]
    Truncated,
    /// The contents do not match the checksum.
    #[error("the checkpoint is damaged or cut off: its checksum does not match its content")]
    Checksum,
    /// A number of the state is infinite or NaN.
    #[error("the checkpoint is damaged: {name} {index} is {value}")]
    Value {
        /// The field.
        name: &'static str,
        /// Its index.
        index: usize,
        /// The number.
        value: f64,
    },
    /// The clock is invalid.
    #[error("the checkpoint is damaged: time {t}, time step {dt}, energy {energy}")]
    Clock {
        /// Time.
        t: f64,
        /// Time step.
        dt: f64,
        /// Total energy at the start.
        energy: f64,
    },
}

/// Parses the bytes of a checkpoint.
///
/// # Errors
/// They are not a checkpoint, or a truncated or damaged one.
pub fn parse<S: DeserializeOwned>(bytes: &[u8]) -> Result<Checkpoint<S>, CheckpointError> {
    let end = bytes
        .iter()
        .position(|b| *b == b'\n')
        .ok_or(CheckpointError::NoHeader)?;
    // The format says whether there is a checksum, which says whether the rest can be believed.
    #[derive(Deserialize)]
    struct Format {
        format: String,
    }
    let format = serde_json::from_slice::<Format>(&bytes[..end])
        .map_err(CheckpointError::Header)?
        .format;
    let checked = match format.as_str() {
        FORMAT => true,
        FIRST => false,
        _ => {
            return Err(CheckpointError::Format(format));
        }
    };
    let (whole, sum) = if checked {
        bytes
            .split_last_chunk::<CHECKSUM>()
            .ok_or(CheckpointError::Truncated)?
    } else {
        (bytes, &[0; CHECKSUM])
    };
    if checked && crc32fast::hash(whole) != u32::from_le_bytes(*sum) {
        return Err(CheckpointError::Checksum);
    }
    let head: Head<S> = serde_json::from_slice(&bytes[..end]).map_err(CheckpointError::Header)?;
    let (numbers, rest) = whole[end + 1..].as_chunks::<8>();
    let count = head
        .nodes
        .checked_mul(2)
        .and_then(|n| n.checked_add(head.energies));
    if !rest.is_empty() || Some(numbers.len()) != count {
        return Err(CheckpointError::Truncated);
    }
    let field = |name: &'static str, from: usize, n: usize| {
        let all: Vec<f64> = numbers[from..from + n]
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect();
        match all.iter().position(|x| !x.is_finite()) {
            None => Ok(all),
            Some(i) => Err(CheckpointError::Value {
                name,
                index: i,
                value: all[i],
            }),
        }
    };
    let n = head.nodes;
    let state = State {
        x: field("coordinate", 0, n)?,
        v: field("velocity", n, n)?,
        e: field("energy", 2 * n, head.energies)?,
    };
    let clock = Clock {
        t: f64::from_bits(head.t),
        dt: f64::from_bits(head.dt),
        steps: head.steps,
        rejected: head.rejected,
    };
    let finite = [clock.t, clock.dt, head.energy]
        .iter()
        .all(|x| x.is_finite());
    if !finite || clock.t < 0.0 || clock.dt <= 0.0 {
        return Err(CheckpointError::Clock {
            t: clock.t,
            dt: clock.dt,
            energy: head.energy,
        });
    }
    Ok(Checkpoint {
        setup: head.setup,
        inputs: head.inputs,
        energy: head.energy,
        clock,
        state,
        checked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ckpt");
        let state = State {
            x: (0..300).map(|i| f64::from(i) * 0.1).collect(),
            v: (0..300).map(|i| f64::from(i) * -0.3).collect(),
            e: (0..100).map(|i| f64::from(i) * 0.7).collect(),
        };
        let clock = Clock {
            t: 0.1,
            dt: 1e-3,
            steps: 12,
            rejected: 1,
        };
        write(&path, (&"setup", &[]), 0.25, (&clock, &state)).unwrap();
        let back = read::<String>(&path).unwrap();
        assert_eq!((back.clock, back.energy), (clock, 0.25));
        assert!(back.state == state && back.checked && back.setup == "setup");
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn flipped_bits_are_refused() {
        let good = written();
        for _ in 0..2000 {
            let mut bad = good.clone();
            let bit = fastrand::usize(..8 * bad.len());
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(parse::<String>(&bad).is_err(), "bit {bit}");
        }
        for n in 0..good.len() {
            assert!(parse::<String>(&good[..n]).is_err(), "{n} bytes");
        }
    }

    /// The same content in the first format, and with another clock or number.
    #[test]
    fn the_first_format_is_read_and_its_numbers_are_checked() {
        let good = written();
        let end = good.iter().position(|b| *b == b'\n').unwrap();
        let text = String::from_utf8(good[..end].to_vec()).unwrap();
        let first = |from: &str, to: &str, payload: &[u8]| {
            let text = text.replace(FORMAT, FIRST).replace("\"inputs\":[],", "");
            assert!(text.contains(from), "{from}: {text}");
            [text.replace(from, to).as_bytes(), b"\n", payload].concat()
        };
        let payload = &good[end + 1..good.len() - CHECKSUM];
        let c = parse::<String>(&first("12", "12", payload)).unwrap();
        assert!(!c.checked && c.state.x.len() == 300);
        for dt in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
            let from = format!("\"dt\":{}", 1e-3_f64.to_bits());
            let to = format!("\"dt\":{}", dt.to_bits());
            let e = parse::<String>(&first(&from, &to, payload)).unwrap_err();
            assert!(e.to_string().contains("time step"), "{e}");
        }
        let mut bad = payload.to_vec();
        bad[8 * 650..8 * 651].copy_from_slice(&f64::NAN.to_le_bytes());
        let e = parse::<String>(&first("12", "12", &bad)).unwrap_err();
        assert!(e.to_string().contains("energy 50 is NaN"), "{e}");
        // Counts that no memory holds.
        let many = format!("\"nodes\":{}", usize::MAX / 2);
        assert!(parse::<String>(&first("\"nodes\":300", &many, payload)).is_err());
    }
}
