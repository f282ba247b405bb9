//! Checkpoints, from which a run continues with identical digits: a line of JSON, then positions, velocities and
//! energies as doubles, then the CRC-32 of all that, little-endian.

use crate::HydroError;
use crate::engine::State;
use crate::part::Whole;
use crate::time::stepping::Clock;
use greenup_files::FileError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

/// Current format, with checksum and input files.
const FORMAT: &str = "greenup-hydro/2";
/// First format, without checksum and input files.
const FIRST: &str = "greenup-hydro/1";

/// Length of the checksum at the end, bytes.
const CHECKSUM: usize = 4;

/// Bytes that are read and written at once.
const BLOCK: usize = 1 << 16;

/// Longest first line, bytes.
const MAX_HEADER: u64 = 1 << 24;

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

/// A checkpoint whose content was checked; its state is read when it is needed.
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
    /// Whether the file has a checksum; the first format has none.
    pub checked: bool,
    /// State of the run.
    pub state: Saved,
}

/// The state in a checkpoint.
#[derive(Clone, Debug)]
pub struct Saved {
    source: Source,
    /// Where its numbers begin, bytes.
    begin: u64,
    /// Numbers of positions, and as many of velocities.
    pub coordinates: usize,
    /// Number of energies.
    pub energies: usize,
}

/// Where bytes are. A file that is replaced meanwhile stays readable.
#[derive(Clone, Debug)]
enum Source {
    File(Arc<File>),
    Bytes(Arc<[u8]>),
}

impl Source {
    fn length(&self) -> io::Result<u64> {
        Ok(match self {
            Self::File(f) => f.metadata()?.len(),
            Self::Bytes(b) => b.len() as u64,
        })
    }

    fn read(&self, to: &mut [u8], at: u64) -> io::Result<()> {
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
    fn blocks(&self, range: Range<u64>, f: &mut dyn FnMut(&[u8])) -> io::Result<()> {
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
        let fits = greenup_process::memory::check("the state in the checkpoint", bytes);
        fits.map_err(|e| HydroError::Checkpoint(e.to_string()))?;
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

/// Opens a checkpoint and checks its content.
///
/// # Errors
/// The file cannot be read, or is truncated or damaged.
pub fn read<S: DeserializeOwned>(path: &Path) -> Result<Checkpoint<S>, HydroError> {
    let wrong = |m: String| HydroError::Checkpoint(format!("{}: {m}", path.display()));
    // Opening a pipe would wait for its writer.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(wrong("a checkpoint is a plain file".into()));
    }
    let file = File::open(path).map_err(|cause| FileError::Read {
        path: path.to_owned(),
        cause,
    })?;
    of(Source::File(Arc::new(file))).map_err(|e| wrong(e.to_string()))
}

/// Why bytes are not a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error("the checkpoint cannot be read: {0}")]
    Read(io::Error),
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
    of(Source::Bytes(bytes.into()))
}

/// The first line, without its end.
fn first_line(source: &Source, length: u64) -> Result<Vec<u8>, CheckpointError> {
    let mut line = Vec::new();
    while (line.len() as u64) < length.min(MAX_HEADER) {
        let mut part = vec![0; (length - line.len() as u64).min(1 << 12) as usize];
        let read = source.read(&mut part, line.len() as u64);
        read.map_err(CheckpointError::Read)?;
        let end = part.iter().position(|b| *b == b'\n');
        line.extend(&part[..end.unwrap_or(part.len())]);
        if end.is_some() {
            return Ok(line);
        }
    }
    Err(CheckpointError::NoHeader)
}

fn of<S: DeserializeOwned>(source: Source) -> Result<Checkpoint<S>, CheckpointError> {
    let length = source.length().map_err(CheckpointError::Read)?;
    let line = first_line(&source, length)?;
    // The format says whether there is a checksum, which says whether the rest can be believed.
    #[derive(Deserialize)]
    struct Format {
        format: String,
    }
    let format = serde_json::from_slice::<Format>(&line)
        .map_err(CheckpointError::Header)?
        .format;
    let checked = match format.as_str() {
        FORMAT => true,
        FIRST => false,
        _ => {
            return Err(CheckpointError::Format(format));
        }
    };
    let begin = line.len() as u64 + 1;
    let mut end = length;
    if checked {
        end = (length.checked_sub(CHECKSUM as u64))
            .filter(|end| begin <= *end)
            .ok_or(CheckpointError::Truncated)?;
        let (mut sum, mut want) = (crc32fast::Hasher::new(), [0; CHECKSUM]);
        source
            .blocks(0..end, &mut |block| sum.update(block))
            .and_then(|()| source.read(&mut want, end))
            .map_err(CheckpointError::Read)?;
        if sum.finalize() != u32::from_le_bytes(want) {
            return Err(CheckpointError::Checksum);
        }
    }
    let head: Head<S> = serde_json::from_slice(&line).map_err(CheckpointError::Header)?;
    let count = (head.nodes as u64)
        .checked_mul(2)
        .and_then(|n| n.checked_add(head.energies as u64)?.checked_mul(8));
    if count != Some(end - begin) {
        return Err(CheckpointError::Truncated);
    }
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
        checked,
        state: Saved {
            source,
            begin,
            coordinates: head.nodes,
            energies: head.energies,
        },
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
        assert!(back.state.whole().unwrap() == state);
        assert!(back.checked && back.setup == "setup");
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
        assert!(!c.checked && c.state.coordinates == 300);
        for dt in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
            let from = format!("\"dt\":{}", 1e-3_f64.to_bits());
            let to = format!("\"dt\":{}", dt.to_bits());
            let e = parse::<String>(&first(&from, &to, payload)).unwrap_err();
            assert!(e.to_string().contains("time step"), "{e}");
        }
        let mut bad = payload.to_vec();
        bad[8 * 650..8 * 651].copy_from_slice(&f64::NAN.to_le_bytes());
        let read = parse::<String>(&first("12", "12", &bad)).unwrap();
        let e = read.state.whole().unwrap_err();
        assert!(e.to_string().contains("energy 50 is NaN"), "{e}");
        // Counts that no memory holds.
        let many = format!("\"nodes\":{}", usize::MAX / 2);
        assert!(parse::<String>(&first("\"nodes\":300", &many, payload)).is_err());
    }
}
