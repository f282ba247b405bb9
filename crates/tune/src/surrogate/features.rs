//! A point as numbers: what a model learns from.

use crate::points::Points;
use greenup_space::Value;

/// How each parameter becomes a number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// Sizes act by their ratios.
    Log,
    Linear,
    /// Position among the values.
    Rank,
}

/// Numbers of points: one a parameter, scaled to 0…1; for trees also sums and differences of the
/// logarithms of pairs, which are products and ratios.
pub struct Features {
    columns: Vec<Vec<f64>>,
    pairs: Vec<(usize, usize)>,
    /// Parameters of products of three.
    triples: Vec<[usize; 3]>,
    /// How often 2 divides the values of a parameter.
    evenness: Vec<(usize, Vec<f64>)>,
}

/// More parameters than this are not paired.
const PAIRED: usize = 10;
/// More parameters than this have no products of three.
const TRIPLED: usize = 8;

impl Features {
    /// Features of a space; `with_pairs` adds products and ratios of parameter pairs, as logarithms.
    pub fn new(points: &dyn Points, with_pairs: bool) -> Self {
        let columns: Vec<(Scale, Vec<f64>)> = points.values().iter().map(|v| column(v)).collect();
        let varying: Vec<usize> = (0..columns.len())
            .filter(|&i| columns[i].1.len() > 1)
            .collect();
        let logs: Vec<usize> = varying
            .iter()
            .copied()
            .filter(|&i| columns[i].0 == Scale::Log)
            .collect();
        let mut pairs = Vec::new();
        if with_pairs && logs.len() <= PAIRED {
            for (k, &i) in logs.iter().enumerate() {
                for &j in &logs[k + 1..] {
                    pairs.push((i, j));
                }
            }
        }
        Self {
            columns: columns.into_iter().map(|c| c.1).collect(),
            pairs,
            triples: Vec::new(),
            evenness: Vec::new(),
        }
    }

    /// Features for trees that predict a whole space: also products of three parameters (threads times work each), and how
    /// often 2 divides sizes that are not powers of it, since warps, vectors and cache lines are.
    pub fn rich(points: &dyn Points) -> Self {
        let mut out = Self::new(points, true);
        let mut paired: Vec<usize> = out.pairs.iter().flat_map(|p| [p.0, p.1]).collect();
        paired.sort_unstable();
        paired.dedup();
        if paired.len() <= TRIPLED {
            for (a, &i) in paired.iter().enumerate() {
                for (b, &j) in paired.iter().enumerate().skip(a + 1) {
                    out.triples
                        .extend(paired[b + 1..].iter().map(|&k| [i, j, k]));
                }
            }
        }
        for (p, values) in points.values().iter().enumerate() {
            let whole: Option<Vec<i64>> = values.iter().map(Value::as_int).collect();
            let Some(whole) = whole.filter(|w| w.iter().all(|v| *v > 0)) else {
                continue;
            };
            if whole.iter().any(|v| v & (v - 1) != 0) {
                let twos = whole.iter().map(|v| f64::from(v.trailing_zeros()));
                out.evenness.push((p, twos.collect()));
            }
        }
        out
    }

    /// Numbers of one point.
    pub fn len(&self) -> usize {
        self.columns.len() + 2 * self.pairs.len() + self.triples.len() + self.evenness.len()
    }

    /// The first of them: parameters, products and ratios.
    pub fn smooth(&self) -> usize {
        self.columns.len() + 2 * self.pairs.len()
    }

    /// The first of them, one a parameter.
    pub fn single(&self) -> usize {
        self.columns.len()
    }

    /// Whether the space has no parameters.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Feature vector of a point.
    pub fn of(&self, coordinates: &[u32]) -> Vec<f64> {
        let mut out: Vec<f64> = coordinates
            .iter()
            .zip(&self.columns)
            .map(|(&c, column)| column[c as usize])
            .collect();
        for &(i, j) in &self.pairs {
            out.push(out[i] + out[j]);
            out.push(out[i] - out[j]);
        }
        for &[i, j, k] in &self.triples {
            out.push(out[i] + out[j] + out[k]);
        }
        for (p, twos) in &self.evenness {
            out.push(twos[coordinates[*p] as usize]);
        }
        out
    }
}

fn column(values: &[Value]) -> (Scale, Vec<f64>) {
    let numbers: Option<Vec<f64>> = values.iter().map(Value::as_float).collect();
    let (scale, raw) = match numbers {
        Some(n) if n.iter().all(|x| *x > 0.0) && n.len() > 1 => {
            (Scale::Log, n.iter().map(|x| x.log2()).collect())
        }
        Some(n) => (Scale::Linear, n),
        None => (
            Scale::Rank,
            (0..values.len()).map(|i| i as f64).collect::<Vec<f64>>(),
        ),
    };
    // Logarithms keep their unit, so that sums of them are logarithms of products.
    if scale == Scale::Log {
        return (scale, raw);
    }
    let lo = raw.iter().copied().fold(f64::INFINITY, f64::min);
    let hi = raw.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = if hi > lo { hi - lo } else { 1.0 };
    (scale, raw.iter().map(|x| (x - lo) / span).collect())
}
