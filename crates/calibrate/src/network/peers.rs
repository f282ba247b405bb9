//! Copies between two GPUs of a host.

use super::Size;
use greenup_device::cuda::{CudaError, Memory, PeerAccess, Session};
use greenup_meter::{Observer, Run, Summary};
use std::time::Instant;

/// Largest copy: 256 MiB.
const MAX_BYTES: usize = 1 << 28;
/// Copies whose energy is measured: 64 MiB.
const ENERGY_BYTES: usize = 1 << 26;
const SAMPLES: usize = 7;
/// Each byte that is sent.
const SENT: u8 = 0x5a;

/// Two GPUs, with memory on both.
pub struct Pair {
    from: (Session, Memory),
    to: (Session, Memory),
    /// Whether copies go directly, not through the host.
    pub direct: bool,
    _access: [Option<PeerAccess>; 2],
}

impl Pair {
    /// Opens two GPUs by their numbers, and lets them reach each other where they can.
    ///
    /// # Errors
    /// A GPU cannot be opened, or has no memory.
    pub fn open(first: i32, second: i32) -> Result<Self, CudaError> {
        let open = |ordinal, byte| {
            let session = Session::open(ordinal)?;
            let memory = session.kept(&vec![byte; MAX_BYTES])?;
            Ok::<_, CudaError>((session, memory))
        };
        let (from, to) = (open(first, SENT)?, open(second, 0)?);
        let access = [from.0.peer_access(second)?, to.0.peer_access(first)?];
        let direct = access.iter().all(Option::is_some);
        Ok(Self {
            from,
            to,
            direct,
            _access: access,
        })
    }

    fn copy(&self, bytes: usize) -> Result<(), CudaError> {
        let (session, memory) = &self.from;
        let (other, target) = &self.to;
        let bytes = bytes.min(MAX_BYTES);
        // SAFETY: both memories have MAX_BYTES and live as long as the pair, which waits for its copies.
        unsafe { session.copy_to_peer(memory.address(), (other, target.address()), bytes) }
    }

    /// Seconds of a copy, of `n` one after another, by the GPU's clock.
    fn timed(&self, bytes: usize, n: usize) -> Result<f64, CudaError> {
        let session = &self.from.0;
        let (start, end) = (session.event()?, session.event()?);
        start.record()?;
        for _ in 0..n {
            self.copy(bytes)?;
        }
        end.record()?;
        end.wait()?;
        Ok(end.since(&start)? / n as f64)
    }

    /// Times of copies of 8 B to 256 MiB.
    ///
    /// # Errors
    /// A GPU is lost.
    pub fn messages(&self, quick: bool, observer: &dyn Observer) -> Result<Vec<Size>, CudaError> {
        let step = if quick { 8 } else { 4 };
        let sizes: Vec<usize> = std::iter::successors(Some(8usize), |b| Some(b * step))
            .take_while(|b| *b <= MAX_BYTES)
            .collect();
        observer.stage("copies between GPUs", sizes.len());
        let mut out = Vec::new();
        for bytes in sizes {
            let n = ((1 << 30) / bytes).clamp(4, 200);
            self.timed(bytes, n)?;
            let times: Result<Vec<f64>, CudaError> =
                (0..SAMPLES).map(|_| self.timed(bytes, n)).collect();
            out.extend(Summary::of(&times?).map(|time_s| Size {
                bytes: bytes as f64,
                time_s,
            }));
            observer.step(&format!("{bytes} bytes"));
        }
        self.check()?;
        Ok(out)
    }

    /// Checks that the largest copy has arrived.
    fn check(&self) -> Result<(), CudaError> {
        self.copy(MAX_BYTES)?;
        self.from.0.synchronize()?;
        let mut arrived = vec![0; MAX_BYTES];
        self.to.1.download(&mut arrived)?;
        match arrived.iter().position(|b| *b != SENT) {
            None => Ok(()),
            Some(at) => Err(CudaError::Driver {
                what: "a copy between GPUs did not arrive",
                cause: format!("byte {at} is wrong"),
            }),
        }
    }

    /// Copies for some seconds; an iteration is a byte.
    ///
    /// # Errors
    /// A GPU is lost.
    pub fn copy_for(&self, seconds: f64) -> Result<Run, CudaError> {
        let start = Instant::now();
        let mut bytes = 0.0;
        while start.elapsed().as_secs_f64() < seconds {
            for _ in 0..16 {
                self.copy(ENERGY_BYTES)?;
            }
            self.from.0.synchronize()?;
            bytes += 16.0 * ENERGY_BYTES as f64;
        }
        Ok(Run {
            iterations: bytes,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}
