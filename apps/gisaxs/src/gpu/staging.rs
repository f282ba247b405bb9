//! Copies through pinned memory of the host, in chunks: all cores fill or read one while the next one is on its way.

use greenup_device::cuda::{CudaError, Memory, Pinned, Session};
use std::ops::Range;

/// Bytes of a chunk.
pub(super) const CHUNK: usize = 16 << 20;

/// Two chunks, each with a stream of its own.
pub(super) struct Staging {
    slots: [Pinned; 2],
}

/// Ranges of at most `most` of `count` items.
fn pieces(count: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let most = most.max(1);
    (0..count)
        .step_by(most)
        .map(move |from| from..count.min(from + most))
}

impl Staging {
    /// Pins chunks of a size in bytes.
    ///
    /// # Errors
    /// The host has no more memory to pin.
    pub fn new(session: &Session, bytes: usize) -> Result<Self, CudaError> {
        let slot = || session.new_stream()?.pinned(bytes);
        Ok(Self {
            slots: [slot()?, slot()?],
        })
    }

    /// Size of a chunk, bytes.
    pub fn chunk(&self) -> usize {
        self.slots[0].len()
    }

    /// Copies `count` items of `size` bytes to the GPU; `fill` writes those of a range. Returns once they are there.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn upload(
        &mut self,
        to: &Memory,
        (count, size): (usize, usize),
        mut fill: impl FnMut(Range<usize>, &mut [u8]),
    ) -> Result<(), CudaError> {
        let most = self.chunk() / size.max(1);
        for (n, some) in pieces(count, most).enumerate() {
            let slot = &mut self.slots[n % 2];
            let bytes = some.len() * size;
            // Waits for the last copy from this chunk.
            fill(some.clone(), &mut slot.bytes()?[..bytes]);
            slot.upload_at(to, some.start * size, bytes)?;
        }
        self.slots.iter_mut().try_for_each(|s| s.bytes().map(drop))
    }

    /// Copies `count` rows, at most `most` at once, from the GPU: `copy` enqueues the copies of a range, `read` reads them.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn download(
        &mut self,
        (count, most): (usize, usize),
        copy: impl Fn(Range<usize>, &mut Pinned) -> Result<(), CudaError>,
        mut read: impl FnMut(Range<usize>, &[u8]),
    ) -> Result<(), CudaError> {
        let mut waiting: Option<Range<usize>> = None;
        let mut n = 0;
        for some in pieces(count, most) {
            copy(some.clone(), &mut self.slots[n % 2])?;
            if let Some(before) = waiting.replace(some) {
                read(before, self.slots[(n + 1) % 2].bytes()?);
            }
            n += 1;
        }
        match waiting {
            Some(last) => {
                read(last, self.slots[(n + 1) % 2].bytes()?);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_all_items_once() {
        for (count, most) in [(0, 4), (1, 4), (8, 4), (9, 4), (5, 0)] {
            let all: Vec<usize> = pieces(count, most).flatten().collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
            assert!(pieces(count, most).all(|p| (1..=most.max(1)).contains(&p.len())));
        }
    }
}
