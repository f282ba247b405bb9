//! Three real kernels: stream triad, DGEMM of a library, sparse matrix–vector product.

use greenup_calibrate::bench::window::Repeatable;
use greenup_calibrate::bench::{Bench, HostBenchmark, Level, Prepared};
use greenup_device::load::waited_s;
use greenup_device::team::Passes;
use greenup_device::{Buffer, CpuFacts, Team};
use greenup_gemm::check::dot;
use greenup_gemm::{Faer, Matrices, Product as _, Size};
use greenup_model::{Op, Work};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A kernel that is ready to be measured. Its work is that of one iteration: operations, and minimum traffic to main memory.
pub trait Kernel: Repeatable {
    /// Short name, such as `triad`.
    fn name(&self) -> &'static str;
    /// Operation and problem size in a phrase.
    fn describe(&self) -> String;
    /// Size of the data that it goes through, bytes.
    fn data_bytes(&self) -> f64;
    /// Largest relative error against a reference of higher precision, and its bound.
    fn verify(&mut self) -> (f64, f64);
}

/// The kernels of the study on this host, without those whose data exceed its memory or that `go` stopped.
pub fn all(facts: &CpuFacts, team: &Team, go: &(dyn Fn() -> bool + Sync)) -> Vec<Box<dyn Kernel>> {
    let mut kernels: Vec<Box<dyn Kernel>> = Vec::new();
    if let Some(triad) = Triad::new(facts, team, go) {
        kernels.push(Box::new(triad));
    }
    kernels.push(Box::new(Dgemm::new(1536, team.len())));
    kernels.push(Box::new(Spmv::new(128, team)));
    kernels
}

fn work(flops: f64, bytes: f64) -> Work {
    let mut work = Work::new();
    // Products of sizes: finite and not negative.
    let _ = work.add(Op::F64, flops);
    let _ = work.add(Op::Dram, bytes);
    work
}

/// a = b + s·c on arrays far larger than the caches.
struct Triad {
    prepared: Prepared,
    data_bytes: f64,
}

impl Triad {
    fn new(facts: &CpuFacts, team: &Team, go: &(dyn Fn() -> bool + Sync)) -> Option<Self> {
        let bench = Bench {
            kind: HostBenchmark::Triad,
            level: Level::Dram,
            threads: team.len(),
        };
        let array = bench.level.bytes(facts, bench.threads)?;
        Some(Self {
            prepared: bench.prepare(facts, team, go)?,
            data_bytes: (3 * array * bench.threads) as f64,
        })
    }
}

impl Repeatable for Triad {
    fn work(&self) -> &Work {
        &self.prepared.work
    }

    fn passes(&self, seconds: f64, go: &(dyn Fn() -> bool + Sync)) -> Passes {
        self.prepared.passes(seconds, go)
    }
}

impl Kernel for Triad {
    fn name(&self) -> &'static str {
        "triad"
    }

    fn describe(&self) -> String {
        "a = b + s·c, streaming stores, arrays four times all caches".into()
    }

    fn data_bytes(&self) -> f64 {
        self.data_bytes
    }

    /// One grain through the same compiled kernel, against a fused multiply-add.
    fn verify(&mut self) -> (f64, f64) {
        let n = greenup_calibrate::kernels::GRAIN_BYTES / 8;
        let mut rng = fastrand::Rng::with_seed(11);
        let mut random = || Buffer::from_fn(n, |_| rng.f64());
        let (mut a, b, c) = (random(), random(), random());
        let k = greenup_calibrate::kernels::Kernels::best();
        k.triad(a.as_mut_slice(), b.as_slice(), c.as_slice(), 3.0);
        let error = (0..n)
            .map(|i| {
                let want = c.as_slice()[i].mul_add(3.0, b.as_slice()[i]);
                (a.as_slice()[i] / want - 1.0).abs()
            })
            .fold(0.0, f64::max);
        (error, 4e-16)
    }
}

/// C += A·B by faer's kernel, all cores.
struct Dgemm {
    n: usize,
    library: Faer,
    work: Work,
    matrices: Mutex<Matrices>,
}

impl Dgemm {
    fn new(n: usize, threads: usize) -> Self {
        let size = Size { m: n, n, k: n };
        let x = n as f64;
        Self {
            n,
            library: Faer { threads },
            // Read A and B, read and write C once: what a perfect blocking moves.
            work: work(2.0 * x * x * x, 32.0 * x * x),
            matrices: Matrices::random(size, 12).into(),
        }
    }
}

impl Repeatable for Dgemm {
    fn work(&self) -> &Work {
        &self.work
    }

    /// The library has threads of its own: what they lost is the time that they waited for a core.
    fn passes(&self, seconds: f64, go: &(dyn Fn() -> bool + Sync)) -> Passes {
        let mut matrices = (self.matrices.lock()).unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        let mut passes = Passes::default();
        while passes.seconds.is_empty() || start.elapsed().as_secs_f64() < seconds && go() {
            let before = waited_s();
            let begin = Instant::now();
            self.library.multiply(&mut matrices);
            passes.seconds.push(begin.elapsed().as_secs_f64());
            let waited = before
                .zip(waited_s())
                .map_or(0.0, |(b, a)| (a - b).max(0.0));
            passes.lost_s.push(waited);
        }
        passes.total_s = start.elapsed().as_secs_f64();
        passes
    }
}

impl Kernel for Dgemm {
    fn name(&self) -> &'static str {
        "dgemm"
    }

    fn describe(&self) -> String {
        format!("C += A·B, n = {}, {}", self.n, self.library.name())
    }

    fn data_bytes(&self) -> f64 {
        24.0 * (self.n * self.n) as f64
    }

    fn verify(&mut self) -> (f64, f64) {
        let matrices = (self.matrices.get_mut()).unwrap_or_else(PoisonError::into_inner);
        matrices.c.as_mut_slice().fill(0.0);
        self.library.multiply(matrices);
        let mut rng = fastrand::Rng::with_seed(13);
        let n = self.n;
        let Matrices { a, b, c, .. } = matrices;
        let (a, b, c) = (a.as_slice(), b.as_slice(), c.as_slice());
        let error = (0..200)
            .map(|_| {
                let (i, j) = (rng.usize(..n), rng.usize(..n));
                let (want, _) = dot(0.0, (0..n).map(|k| (a[i * n + k], b[k * n + j])));
                // Against √n/3, the size of such a sum: entries near 0 have no relative accuracy.
                (c[i * n + j] - want).abs() / ((n as f64).sqrt() / 3.0)
            })
            .fold(0.0, f64::max);
        (error, 1e-13)
    }
}

/// y = A·x with the seven-point operator of an n³ grid in CSR, random values.
struct Spmv {
    n: usize,
    team: Team,
    parts: Vec<Mutex<Part>>,
    x: Buffer<f64>,
    nonzeros: usize,
    work: Work,
}

/// Rows of one thread; column indices and row starts of 32 bits.
struct Part {
    first_row: usize,
    starts: Buffer<u32>,
    columns: Buffer<u32>,
    values: Buffer<f64>,
    y: Buffer<f64>,
}

impl Spmv {
    fn new(n: usize, team: &Team) -> Self {
        let rows = n * n * n;
        let mut rng = fastrand::Rng::with_seed(14);
        let x = Buffer::from_fn(rows, |_| rng.f64() - 0.5);
        let threads = team.len();
        let built: Mutex<Vec<(usize, Part)>> = Mutex::new(Vec::new());
        // Built inside the team, so that memory is first touched by its user.
        team.run(
            |rank| {
                let range = rows * rank / threads..rows * (rank + 1) / threads;
                let part = Part::new(n, range, rank as u64);
                if let Ok(mut built) = built.lock() {
                    built.push((rank, part));
                }
            },
            |()| {},
            |_, _| false,
        );
        let mut parts = built.into_inner().unwrap_or_default();
        parts.sort_by_key(|(rank, _)| *rank);
        let nonzeros: usize = parts.iter().map(|(_, p)| p.values.as_slice().len()).sum();
        let (nnz, m) = (nonzeros as f64, rows as f64);
        Self {
            n,
            team: team.clone(),
            parts: parts.into_iter().map(|(_, p)| Mutex::new(p)).collect(),
            x,
            nonzeros,
            // Values and columns, row starts, x once, y once.
            work: work(2.0 * nnz, 12.0 * nnz + 4.0 * m + 8.0 * m + 8.0 * m),
        }
    }
}

impl Repeatable for Spmv {
    fn work(&self) -> &Work {
        &self.work
    }

    fn passes(&self, seconds: f64, go: &(dyn Fn() -> bool + Sync)) -> Passes {
        let x = self.x.as_slice();
        self.team.run(
            |rank| self.parts[rank].lock().ok(),
            |part| {
                if let Some(part) = part {
                    part.multiply(x);
                }
            },
            |done, elapsed| done == 0 || elapsed < seconds && go(),
        )
    }
}

impl Part {
    fn new(n: usize, rows: std::ops::Range<usize>, seed: u64) -> Self {
        let mut starts = vec![0_u32];
        let mut columns: Vec<u32> = Vec::new();
        for row in rows.clone() {
            let (i, j, k) = (row / (n * n), row / n % n, row % n);
            let mut add = |on: bool, column: usize| {
                if on {
                    columns.push(column as u32);
                }
            };
            add(i > 0, row.wrapping_sub(n * n));
            add(j > 0, row.wrapping_sub(n));
            add(k > 0, row.wrapping_sub(1));
            add(true, row);
            add(k + 1 < n, row + 1);
            add(j + 1 < n, row + n);
            add(i + 1 < n, row + n * n);
            starts.push(columns.len() as u32);
        }
        let mut rng = fastrand::Rng::with_seed(15 + seed);
        Self {
            first_row: rows.start,
            starts: Buffer::from_fn(starts.len(), |i| starts[i]),
            columns: Buffer::from_fn(columns.len(), |i| columns[i]),
            values: Buffer::from_fn(columns.len(), |_| rng.f64() - 0.5),
            y: Buffer::from_fn(rows.len(), |_| 0.0),
        }
    }

    fn multiply(&mut self, x: &[f64]) {
        let (starts, columns, values) = (
            self.starts.as_slice(),
            self.columns.as_slice(),
            self.values.as_slice(),
        );
        for (y, w) in self.y.as_mut_slice().iter_mut().zip(starts.windows(2)) {
            let row = w[0] as usize..w[1] as usize;
            let pairs = columns[row.clone()].iter().zip(&values[row]);
            *y = pairs.map(|(&c, v)| v * x[c as usize]).sum();
        }
    }
}

impl Kernel for Spmv {
    fn name(&self) -> &'static str {
        "spmv"
    }

    fn describe(&self) -> String {
        format!(
            "y = A·x, CSR with 32-bit indices, seven-point operator of {0}×{0}×{0}, {1:.1} M nonzeros",
            self.n,
            self.nonzeros as f64 * 1e-6
        )
    }

    fn data_bytes(&self) -> f64 {
        self.work.count(Op::Dram)
    }

    fn verify(&mut self) -> (f64, f64) {
        self.passes(0.0, &|| true);
        let mut rng = fastrand::Rng::with_seed(16);
        let x = self.x.as_slice();
        let mut error = 0.0_f64;
        for part in &mut self.parts {
            let Ok(part) = part.get_mut() else { continue };
            for _ in 0..200 {
                let r = rng.usize(..part.y.as_slice().len());
                let starts = part.starts.as_slice();
                let row = starts[r] as usize..starts[r + 1] as usize;
                let (values, columns) = (part.values.as_slice(), part.columns.as_slice());
                let (want, _) = dot(0.0, row.map(|k| (values[k], x[columns[k] as usize])));
                error = error.max((part.y.as_slice()[r] - want).abs());
            }
            debug_assert!(part.first_row < x.len());
        }
        (error, 1e-14)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_sizes_are_right() {
        let team = Team::new(&[0, 0, 0]);
        for n in [1, 2, 7, 13] {
            let mut spmv = Spmv::new(n.max(2), &team);
            let (error, bound) = spmv.verify();
            assert!(error <= bound, "spmv {n}: {error}");
        }
        for n in [1, 3, 65, 131] {
            let (error, bound) = Dgemm::new(n, 2).verify();
            assert!(error <= bound, "dgemm {n}: {error}");
        }
        let facts = CpuFacts::read();
        let mut triad = Triad::new(&facts, &Team::new(&facts.cores), &|| true).unwrap();
        let (error, bound) = triad.verify();
        assert!(error <= bound, "{error}");
        assert_eq!(triad.work().intensity(), Some(1.0 / 12.0));
    }
}
