//! Files that the injected library writes: one a process. They are foreign input: a killed process cuts its file, and a
//! frame that cannot be is an error with its place.

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What ran on a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A kernel.
    Kernel {
        /// Index into [`Activity::names`].
        name: u32,
        /// Blocks of the grid.
        grid: [i32; 3],
        /// Threads of a block.
        block: [i32; 3],
    },
    /// A copy, by CUPTI's number of its kind.
    Copy(u32),
    /// Memory was set.
    Set,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Start, ns of the monotonic clock.
    pub start_ns: u64,
    /// End, ns.
    pub end_ns: u64,
    /// Device, as this process counts them.
    pub device: u32,
    /// Stream.
    pub stream: u32,
    /// Bytes of a copy or memset.
    pub bytes: u64,
    /// What it was.
    pub what: What,
}

/// What one process did on its GPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// Number of the process.
    pub pid: u32,
    /// CUPTI's version of its interface.
    pub version: u32,
    /// Names of kernels, as the compiler wrote them.
    pub names: Vec<String>,
    /// Bus address of each device.
    pub devices: BTreeMap<u32, String>,
    /// Records in the order written.
    pub events: Vec<Event>,
    /// Records that CUPTI dropped.
    pub dropped: u64,
    /// What went wrong in the process.
    pub messages: Vec<String>,
    /// Whether the process ended by itself, so that nothing is missing.
    pub complete: bool,
}

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refuses.
    #[error(transparent)]
    Read(#[from] greenup_files::FileError),
    /// It is another file.
    #[error("{}: not a file of GPU activity", .0.display())]
    Foreign(PathBuf),
    /// A frame that cannot be.
    #[error("{}: byte {at}: {what}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where the frame begins.
        at: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

const MAGIC: &[u8; 8] = b"GRNACT01";
/// Longest text of a frame; names of templates may have some kilobytes.
const LONGEST: usize = 1 << 20;
/// Largest file, bytes: 200 million launches.
const LARGEST: u64 = 16 << 30;

mod frame {
    pub const CLOCK: u32 = 1;
    pub const NAME: u32 = 2;
    pub const KERNEL: u32 = 3;
    pub const COPY: u32 = 4;
    pub const SET: u32 = 5;
    pub const DROPPED: u32 = 6;
    pub const MESSAGE: u32 = 7;
    pub const DEVICE: u32 = 8;
    pub const END: u32 = 9;
}

/// The words of a frame.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn long(&self, byte: usize) -> u64 {
        let word = self.0.get(byte..byte + 8).and_then(|b| b.try_into().ok());
        word.map_or(0, u64::from_ne_bytes)
    }

    fn int(&self, byte: usize) -> u32 {
        let word = self.0.get(byte..byte + 4).and_then(|b| b.try_into().ok());
        word.map_or(0, u32::from_ne_bytes)
    }

    fn three(&self, byte: usize) -> [i32; 3] {
        [0, 4, 8].map(|k| self.int(byte + k).cast_signed())
    }

    fn text(&self, from: usize) -> String {
        let bytes = self.0.get(from..).unwrap_or_default();
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }
}

impl Activity {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is not such a file.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        // Written by programs that run long: larger than what users write.
        let bytes = greenup_files::read_bytes(path, LARGEST)?;
        let mut out = Self::parse(&bytes).map_err(|e| match e {
            None => FileError::Foreign(path.to_owned()),
            Some((at, what)) => FileError::Broken {
                path: path.to_owned(),
                at,
                what,
            },
        })?;
        // A process that could not trace wrote no clock.
        if out.pid == 0 {
            out.pid = process(path);
        }
        Ok(out)
    }

    /// Reads all files of a folder, in the order of their names. A file that cannot be read leaves its error as a message, so
    /// that the records of the other processes are kept.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, FileError> {
        let entries =
            std::fs::read_dir(folder).map_err(|cause| greenup_files::FileError::Read {
                path: folder.to_owned(),
                cause,
            })?;
        let mut files: Vec<PathBuf> = (entries.flatten().map(|e| e.path()))
            .filter(|p| p.extension().is_some_and(|e| e == "activity"))
            .collect();
        files.sort();
        let read = |path: &PathBuf| {
            Self::read(path).unwrap_or_else(|e| Self {
                pid: process(path),
                messages: vec![e.to_string()],
                ..Self::default()
            })
        };
        Ok(files.iter().map(read).collect())
    }

    fn parse(bytes: &[u8]) -> Result<Self, Option<(usize, &'static str)>> {
        let mut out = Self::default();
        let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
            return Err(None);
        };
        let mut clocks: Vec<(u64, u64)> = Vec::new();
        // A frame at the end may be cut: the process was killed, or the disk was full.
        while rest.len() >= 8 {
            let at = bytes.len() - rest.len();
            let head = Words(rest);
            let (kind, length) = (head.int(0), head.int(4) as usize);
            let broken = |what| Err(Some((at, what)));
            if !length.is_multiple_of(8) || length > LONGEST {
                return broken("a frame of an impossible length");
            }
            let Some(data) = rest.get(8..8 + length) else {
                break;
            };
            rest = &rest[8 + length..];
            let w = Words(data);
            let times = |what, device, stream, bytes| Event {
                start_ns: w.long(0),
                end_ns: w.long(8),
                device,
                stream,
                bytes,
                what,
            };
            match (kind, length) {
                (frame::CLOCK | frame::END, 32) => {
                    clocks.push((w.long(0), w.long(8)));
                    out.pid = w.long(16) as u32;
                    out.version = w.long(24) as u32;
                    out.complete = kind == frame::END;
                }
                (frame::NAME, 8..) => {
                    if w.long(0) != out.names.len() as u64 {
                        return broken("a name out of order");
                    }
                    out.names.push(w.text(8));
                }
                (frame::KERNEL, 64) => {
                    if w.int(16) as usize >= out.names.len() {
                        return broken("a kernel without a name");
                    }
                    let what = What::Kernel {
                        name: w.int(16),
                        grid: w.three(32),
                        block: w.three(44),
                    };
                    out.events.push(times(what, w.int(20), w.int(28), 0));
                }
                (frame::COPY, 40) => {
                    let what = What::Copy(w.int(32));
                    out.events
                        .push(times(what, w.int(24), w.int(28), w.long(16)));
                }
                (frame::SET, 32) => {
                    out.events
                        .push(times(What::Set, w.int(24), w.int(28), w.long(16)));
                }
                (frame::DROPPED, 8) => out.dropped = out.dropped.saturating_add(w.long(0)),
                (frame::MESSAGE, _) => out.messages.push(w.text(0)),
                (frame::DEVICE, 8..) => {
                    out.devices.insert(w.int(0), w.text(8));
                }
                _ => return broken("an unknown frame"),
            }
        }
        let shift = Shift::of(&clocks);
        for e in &mut out.events {
            (e.start_ns, e.end_ns) = (shift.at(e.start_ns), shift.at(e.end_ns));
        }
        // A record without times is of work that was never done; the last moment of the clock has none after it.
        out.events
            .retain(|e| e.end_ns >= e.start_ns && e.start_ns > 0 && e.start_ns < u64::MAX);
        Ok(out)
    }
}

/// The process that wrote a file: its name begins with the number.
fn process(path: &Path) -> u32 {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let number = stem.split('-').next().and_then(|n| n.parse().ok());
    number.unwrap_or(0)
}

/// From CUPTI's clock to the monotonic clock.
struct Shift {
    from: f64,
    offset: f64,
    drift: f64,
}

impl Shift {
    fn of(clocks: &[(u64, u64)]) -> Self {
        let difference = |(cupti, monotonic): (u64, u64)| monotonic as f64 - cupti as f64;
        let (Some(&first), Some(&last)) = (clocks.first(), clocks.last()) else {
            return Self {
                from: 0.0,
                offset: 0.0,
                drift: 0.0,
            };
        };
        let span = last.0 as f64 - first.0 as f64;
        // Over a short run the two readings differ by their own error, not by drift.
        let drift = if span > 1e9 {
            (difference(last) - difference(first)) / span
        } else {
            0.0
        };
        Self {
            from: first.0 as f64,
            offset: difference(first),
            drift,
        }
    }

    fn at(&self, cupti_ns: u64) -> u64 {
        if cupti_ns == 0 {
            return 0;
        }
        let shift = self.offset + self.drift * (cupti_ns as f64 - self.from);
        cupti_ns.saturating_add_signed(shift.clamp(-9e18, 9e18) as i64)
    }
}

#[cfg(test)]
mod tests;
