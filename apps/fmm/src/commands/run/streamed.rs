//! Results of ranks to a file: the first rank writes what each sends in turn, so none holds the results of all.

use crate::distributed::values;
use crate::points::Points;
use crate::points::files::{Block, Columns, write_columns, written};
use greenup_app::{Result, print};
use greenup_device::memory::bytes;
use greenup_ranks::Ranks;
use std::io;
use std::ops::Range;
use std::path::Path;

/// Points in a message.
const POINTS: usize = 1 << 16;

/// Writes the points and results, `[component][point]`, of all ranks in the order of ranks. All ranks call it.
///
/// # Errors
/// On the first rank: the file cannot be written.
pub fn write(
    ranks: &dyn Ranks,
    names: &[&str],
    (points, results): (&Points, &[f64]),
    path: &Path,
) -> Result {
    let n = points.len();
    let of = |c: usize| results.get(c * n..(c + 1) * n).unwrap_or_default();
    let mut counts = vec![0i64; ranks.size()];
    counts[ranks.rank()] = n as i64;
    ranks.sum_integers(&mut counts);
    let mut all = Streamed {
        ranks,
        columns: (points.x.iter().map(Vec::as_slice))
            .chain((0..names.len()).map(of))
            .collect(),
        counts: counts.into_iter().map(|n| n as usize).collect(),
    };
    if ranks.rank() > 0 {
        all.serve();
        return Ok(());
    }
    write_columns(path, names, &mut all)?;
    ranks.broadcast(&mut Vec::new());
    print::note(written(path, names));
    Ok(())
}

/// Columns of all ranks, seen from one of them.
struct Streamed<'a> {
    ranks: &'a dyn Ranks,
    /// Of this rank.
    columns: Vec<&'a [f64]>,
    /// Points of each rank.
    counts: Vec<usize>,
}

impl Streamed<'_> {
    /// Sends what the first rank asks for, until it asks for nothing.
    fn serve(&self) {
        loop {
            let mut asked = Vec::new();
            self.ranks.broadcast(&mut asked);
            let [start, end] = asked[..] else {
                return;
            };
            let columns = usize::from(start)..usize::from(end);
            for (rank, rows) in self.messages() {
                self.message(rank, rows, columns.clone());
            }
        }
    }

    /// Rank and points of each message.
    fn messages(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        (self.counts.iter().enumerate()).flat_map(|(rank, &n)| {
            (0..n)
                .step_by(POINTS)
                .map(move |i| (rank, i..(i + POINTS).min(n)))
        })
    }

    /// Brings a message of a rank to the first: values column by column, empty elsewhere.
    fn message(&self, rank: usize, rows: Range<usize>, columns: Range<usize>) -> Vec<f64> {
        let own = || -> Vec<f64> {
            let columns = self.columns[columns].iter();
            columns.flat_map(|c| &c[rows.clone()]).copied().collect()
        };
        match (rank, self.ranks.rank()) {
            // Its own.
            (0, 0) => own(),
            (0, _) => Vec::new(),
            (_, me) => {
                let mut to = vec![Vec::new(); self.ranks.size()];
                if rank == me {
                    to[0] = bytes(&own()).to_vec();
                }
                values(&self.ranks.exchange(to)[rank])
            }
        }
    }
}

impl Columns for Streamed<'_> {
    fn points(&self) -> usize {
        self.counts.iter().sum()
    }

    fn blocks(&mut self, columns: Range<usize>, to: &mut Block<'_>) -> io::Result<()> {
        let mut asked = vec![columns.start as u8, columns.end as u8];
        self.ranks.broadcast(&mut asked);
        for (rank, rows) in self.messages() {
            let n = rows.len();
            let values = self.message(rank, rows, columns.clone());
            to(&values.chunks(n).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
