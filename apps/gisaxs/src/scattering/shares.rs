//! Rows of an image dealt over ranks.

use greenup_ranks::Ranks;
use std::ops::Range;

/// Rows of a block. Blocks are the same for any number of ranks, and so are the digits of each.
const ROWS: usize = 16;

/// The rows that a rank computes: every n-th block.
pub(super) struct Shares {
    rows: usize,
    rank: usize,
    size: usize,
}

impl Shares {
    pub fn new(ranks: &dyn Ranks, rows: usize) -> Self {
        Self {
            rows,
            rank: ranks.rank(),
            size: ranks.size(),
        }
    }

    /// Rows of a block.
    pub fn rows(&self) -> usize {
        ROWS
    }

    /// Whether this rank computes a row.
    pub fn has(&self, row: usize) -> bool {
        row / ROWS % self.size == self.rank
    }

    /// The blocks of this rank.
    pub fn blocks(&self) -> Vec<Range<usize>> {
        self.of(self.rank)
    }

    fn of(&self, rank: usize) -> Vec<Range<usize>> {
        (rank * ROWS..self.rows)
            .step_by(ROWS * self.size)
            .map(|from| from..self.rows.min(from + ROWS))
            .collect()
    }

    /// Gathers the rows of all ranks into the image of rank 0; whether this is rank 0.
    pub fn gather(&self, ranks: &dyn Ranks, image: &mut [f64], columns: usize) -> bool {
        if self.size == 1 {
            return true;
        }
        let pixels = |b: Range<usize>| b.start * columns..b.end * columns;
        let own: Vec<u8> = self
            .blocks()
            .into_iter()
            .flat_map(|b| image[pixels(b)].iter().flat_map(|v| v.to_le_bytes()))
            .collect();
        let Some(all) = ranks.gather(&own) else {
            return false;
        };
        for (rank, bytes) in all.iter().enumerate() {
            let mut numbers = bytes.as_chunks::<8>().0.iter();
            for b in self.of(rank) {
                for (to, v) in image[pixels(b)].iter_mut().zip(&mut numbers) {
                    *to = f64::from_le_bytes(*v);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_ranks::threads;

    #[test]
    fn each_row_has_one_rank() {
        for (size, rows, columns) in [(1, 40, 3), (2, 33, 2), (3, 100, 1), (4, 17, 5), (4, 3, 1)] {
            let images = threads::run(size, |r| {
                let shares = Shares::new(&*r, rows);
                let mut image = vec![f64::NAN; rows * columns];
                for row in (0..rows).filter(|row| shares.has(*row)) {
                    for c in 0..columns {
                        image[row * columns + c] = (row * columns + c) as f64;
                    }
                }
                let first = shares.gather(&*r, &mut image, columns);
                assert_eq!(first, r.rank() == 0);
                Ok::<_, ()>(image)
            });
            let expected: Vec<f64> = (0..rows * columns).map(|n| n as f64).collect();
            assert_eq!(images.unwrap()[0], expected, "{size} {rows}");
        }
    }
}
