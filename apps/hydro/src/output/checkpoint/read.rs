//! Reading a checkpoint and checking its content.

use super::saved::{Saved, Source};
use super::{CHECKSUM, Checkpoint, CheckpointError, FORMAT, Head};
use crate::HydroError;
use crate::time::stepping::Clock;
use greenup_files::FileError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Longest first line, bytes.
const MAX_HEADER: u64 = 1 << 24;

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
    checkpoint_of(Source::File(Arc::new(file))).map_err(|e| wrong(e.to_string()))
}

/// Parses the bytes of a checkpoint.
///
/// # Errors
/// They are not a checkpoint, or a truncated or damaged one.
pub fn parse<S: DeserializeOwned>(bytes: &[u8]) -> Result<Checkpoint<S>, CheckpointError> {
    checkpoint_of(Source::Bytes(bytes.into()))
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

fn checkpoint_of<S: DeserializeOwned>(source: Source) -> Result<Checkpoint<S>, CheckpointError> {
    let length = source.length().map_err(CheckpointError::Read)?;
    let line = first_line(&source, length)?;
    // The checksum, which says whether the rest can be believed, is a part of this format.
    #[derive(Deserialize)]
    struct Format {
        format: String,
    }
    let format = serde_json::from_slice::<Format>(&line)
        .map_err(CheckpointError::Header)?
        .format;
    if format != FORMAT {
        return Err(CheckpointError::Format(format));
    }
    let begin = line.len() as u64 + 1;
    let end = (length.checked_sub(CHECKSUM as u64))
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
        free: f64::from_bits(head.free),
        steps: head.steps,
        rejected: head.rejected,
    };
    let finite = [clock.t, clock.dt, clock.free, head.energy]
        .iter()
        .all(|x| x.is_finite());
    if !finite || clock.t < 0.0 || clock.dt <= 0.0 || clock.free < clock.dt {
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
    use super::super::write;
    use super::*;
    use crate::engine::State;

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
            free: 2e-3,
            steps: 12,
            rejected: 1,
        };
        write(&path, (&"setup", &[]), 0.25, (&clock, &state)).unwrap();
        let back = read::<String>(&path).unwrap();
        assert_eq!((back.clock, back.energy), (clock, 0.25));
        assert!(back.state.whole().unwrap() == state);
        assert_eq!(back.setup, "setup");
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn flipped_bits_are_refused() {
        let good = written();
        let mut rng = fastrand::Rng::with_seed(15);
        for _ in 0..2000 {
            let mut bad = good.clone();
            let bit = rng.usize(..8 * bad.len());
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(parse::<String>(&bad).is_err(), "bit {bit}");
        }
        for n in 0..good.len() {
            assert!(parse::<String>(&good[..n]).is_err(), "{n} bytes");
        }
    }

    /// The same content with another format, clock or number, and a checksum that is right.
    #[test]
    fn formats_and_numbers_are_checked() {
        let good = written();
        let end = good.iter().position(|b| *b == b'\n').unwrap();
        let text = String::from_utf8(good[..end].to_vec()).unwrap();
        let summed = |from: &str, to: &str, payload: &[u8]| {
            assert!(text.contains(from), "{from}: {text}");
            let mut out = [text.replace(from, to).as_bytes(), b"\n", payload].concat();
            out.extend(crc32fast::hash(&out).to_le_bytes());
            out
        };
        let payload = &good[end + 1..good.len() - CHECKSUM];
        let c = parse::<String>(&summed("12", "12", payload)).unwrap();
        assert_eq!(c.state.coordinates, 300);
        let e = parse::<String>(&summed(FORMAT, "greenup-hydro/1", payload)).unwrap_err();
        assert!(
            e.to_string().contains("only greenup-hydro/2 is read"),
            "{e}"
        );
        for dt in [f64::NAN, -1.0, 0.0, f64::INFINITY] {
            let from = format!("\"dt\":{}", 1e-3_f64.to_bits());
            let to = format!("\"dt\":{}", dt.to_bits());
            let e = parse::<String>(&summed(&from, &to, payload)).unwrap_err();
            assert!(e.to_string().contains("time step"), "{e}");
        }
        let mut bad = payload.to_vec();
        bad[8 * 650..8 * 651].copy_from_slice(&f64::NAN.to_le_bytes());
        let read = parse::<String>(&summed("12", "12", &bad)).unwrap();
        let e = read.state.whole().unwrap_err();
        assert!(e.to_string().contains("energy 50 is NaN"), "{e}");
        // Counts that no memory holds.
        let many = format!("\"nodes\":{}", usize::MAX / 2);
        assert!(parse::<String>(&summed("\"nodes\":300", &many, payload)).is_err());
    }
}
