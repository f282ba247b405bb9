//! Medians, bootstrap intervals, outliers.

use serde::{Deserialize, Serialize};

/// Seed of every bootstrap, so that a report is the same when made again.
const SEED: u64 = 0x6772_6565_6e75_7000;
const RESAMPLES: usize = 1000;

/// Fewer for large samples, whose intervals vary little between resamplings.
fn resamples(n: usize) -> usize {
    (200_000 / n.max(1)).clamp(200, RESAMPLES)
}

/// A sample in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Median.
    pub median: f64,
    /// 95 % interval of the median by bootstrap; with fewer than 4 values the range.
    pub lo: f64,
    /// Upper end of the interval.
    pub hi: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation (n − 1).
    pub sd: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Median absolute deviation.
    pub mad: f64,
}

impl Summary {
    /// Summarises `values`; `None` when there are none or one is NaN.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|x| x.is_nan()) {
            return None;
        }
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let var = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let sd = if n > 1 {
            (var / (n - 1) as f64).sqrt()
        } else {
            0.0
        };
        let mid = median(values);
        let deviations: Vec<f64> = values.iter().map(|x| (x - mid).abs()).collect();
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (lo, hi) = if n < 4 {
            (min, max)
        } else {
            let mut sample = vec![0.0; n];
            bootstrap(n, |pick| {
                for (s, &i) in sample.iter_mut().zip(pick) {
                    *s = values[i];
                }
                quantile_in(&mut sample, 0.5)
            })
        };
        Some(Self {
            n,
            median: mid,
            lo,
            hi,
            mean,
            sd,
            min,
            max,
            mad: median(&deviations),
        })
    }

    /// Half the interval over the median: the relative error reached.
    pub fn relative_error(&self) -> f64 {
        if self.n < 2 {
            return f64::INFINITY;
        }
        0.5 * (self.hi - self.lo) / self.median.abs()
    }

    /// The same sample in another unit.
    pub fn scaled(&self, k: f64) -> Self {
        Self {
            n: self.n,
            median: self.median * k,
            lo: self.lo * k,
            hi: self.hi * k,
            mean: self.mean * k,
            sd: self.sd * k,
            min: self.min * k,
            max: self.max * k,
            mad: self.mad * k,
        }
    }
}

/// Median; NaN for an empty slice.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Linear-interpolated quantile, `q` in 0…1; NaN for an empty slice.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    quantile_in(&mut values.to_vec(), q)
}

/// As [`quantile`], reordering the values instead of copying them: linear time, which a bootstrap
/// of thousands of run times needs.
fn quantile_in(v: &mut [f64], q: f64) -> f64 {
    let Some(last) = v.len().checked_sub(1) else {
        return f64::NAN;
    };
    let x = q * last as f64;
    let i = x.floor() as usize;
    let (_, &mut at, above) = v.select_nth_unstable_by(i, f64::total_cmp);
    let next = above.iter().copied().fold(f64::INFINITY, f64::min);
    if next.is_finite() {
        at + (next - at) * (x - i as f64)
    } else {
        at
    }
}

/// 95 % interval of a statistic of `n` items by resampling their indices.
pub fn bootstrap(n: usize, mut statistic: impl FnMut(&[usize]) -> f64) -> (f64, f64) {
    let mut rng = fastrand::Rng::with_seed(SEED ^ n as u64);
    let mut pick = vec![0; n];
    let values: Vec<f64> = (0..resamples(n))
        .map(|_| {
            pick.iter_mut().for_each(|i| *i = rng.usize(..n));
            statistic(&pick)
        })
        .collect();
    (quantile(&values, 0.025), quantile(&values, 0.975))
}

/// Ratio of the medians of two independent samples with its 95 % bootstrap interval.
pub fn ratio_of_medians(a: &[f64], b: &[f64]) -> Option<Summary> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let mut rng = fastrand::Rng::with_seed(SEED);
    let mut draw = |v: &[f64]| {
        let sample: Vec<f64> = v.iter().map(|_| v[rng.usize(..v.len())]).collect();
        median(&sample)
    };
    let ratios: Vec<f64> = (0..resamples(a.len().max(b.len())))
        .map(|_| draw(a) / draw(b))
        .collect();
    let mut s = Summary::of(&ratios)?;
    s.n = a.len().min(b.len());
    s.median = median(a) / median(b);
    s.lo = quantile(&ratios, 0.025);
    s.hi = quantile(&ratios, 0.975);
    Some(s)
}

/// Ends of intervals that hold the truth with 95 and 99.8 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sure {
    /// The quantile of 97.5 %.
    Of95,
    /// The quantile of 99.9 %.
    Of998,
}

/// Mean of three or more values, and half the interval in which the true one lies, if they are normal; `None` for fewer.
pub fn mean_within(values: &[f64], sure: Sure) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt();
    (values.len() > 2).then(|| (mean, student(sure, values.len() - 1) * error))
}

/// Quantile of Student's distribution for two or more degrees of freedom: exact for two, else the expansion in their inverse of
/// Abramowitz and Stegun, 26.7.5, which is up to 9 % too small.
fn student(sure: Sure, freedom: usize) -> f64 {
    let (p, z): (f64, f64) = match sure {
        Sure::Of95 => (0.975, 1.959_964),
        Sure::Of998 => (0.999, 3.090_232),
    };
    if freedom == 2 {
        return (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt();
    }
    let n = freedom as f64;
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    z + terms[0] / n + terms[1] / n.powi(2) + terms[2] / n.powi(3)
}

/// Indices of outliers by the modified Z-score |x − median|/(1.4826·MAD) > 14.8 of Iglewicz and
/// Hoaglin scaled as run-time tools use it: only values far outside the bulk.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let Some(s) = Summary::of(values) else {
        return Vec::new();
    };
    // A MAD of 0 (quantised times) would make every other value an outlier.
    let scale = (1.4826 * s.mad).max(1e-3 * s.median.abs());
    (0..values.len())
        .filter(|&i| (values[i] - s.median).abs() / scale > 14.8)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student_are_those_of_tables() {
        for (sure, freedom, value) in [
            (Sure::Of95, 2, 4.303),
            (Sure::Of998, 2, 22.327),
            (Sure::Of95, 3, 3.182),
            (Sure::Of998, 3, 10.215),
            (Sure::Of95, 4, 2.776),
            (Sure::Of998, 4, 7.173),
            (Sure::Of998, 8, 4.501),
            (Sure::Of95, 29, 2.045),
        ] {
            let off = student(sure, freedom) / value - 1.0;
            assert!((-0.09..1e-3).contains(&off), "{sure:?} {freedom}: {off}");
        }
        let (mean, half) = mean_within(&[1.0, 2.0, 3.0], Sure::Of95).unwrap();
        assert!((mean - 2.0).abs() < 1e-12 && (half / 4.303 * 3_f64.sqrt() - 1.0).abs() < 1e-3);
        assert_eq!(mean_within(&[1.0, 2.0], Sure::Of95), None);
    }

    #[test]
    fn summaries() {
        let s = Summary::of(&[3.0, 1.0, 2.0, 4.0, 100.0]).unwrap();
        assert_eq!(
            (s.n, s.median, s.min, s.max, s.mad),
            (5, 3.0, 1.0, 100.0, 1.0)
        );
        assert!(s.lo <= s.median && s.median <= s.hi);
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[f64::NAN]), None);
        assert!(Summary::of(&[1.0]).unwrap().relative_error().is_infinite());
    }

    #[test]
    fn the_interval_of_the_median_covers_the_truth() {
        // 200 experiments of 15 exponential values: median ln 2.
        let mut rng = fastrand::Rng::with_seed(3);
        let hits = (0..200)
            .filter(|_| {
                let v: Vec<f64> = (0..15).map(|_| -(1.0 - rng.f64()).ln()).collect();
                let s = Summary::of(&v).unwrap();
                s.lo <= 2f64.ln() && 2f64.ln() <= s.hi
            })
            .count();
        assert!(hits >= 176, "{hits} of 200");
    }

    #[test]
    fn ratios_and_outliers() {
        let a = [2.0, 2.1, 1.9, 2.0, 2.05];
        let b = [1.0, 1.02, 0.98, 1.0, 1.01];
        let r = ratio_of_medians(&a, &b).unwrap();
        assert!(r.lo < 2.0 && 2.0 < r.hi && (r.median - 2.0).abs() < 1e-12);
        assert_eq!(outliers(&[1.0, 1.1, 0.9, 1.05, 9.0]), [4]);
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 1.0005]), [0usize; 0]);
    }
}
