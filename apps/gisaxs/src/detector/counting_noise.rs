//! Counting noise: Poisson-distributed counts in place of mean intensities.

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand_distr::{Distribution as _, Normal, Poisson};

/// Replaces each pixel's mean by a Poisson-distributed count; the same seed gives the same counts.
pub fn counts(means: &mut [f64], seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    for mean in means {
        *mean = match (Poisson::new(*mean), Normal::new(*mean, mean.sqrt())) {
            (Ok(p), _) => p.sample(&mut rng),
            // Above the largest mean of the library's Poisson distribution, a normal distribution is the same.
            (Err(_), Ok(n)) if *mean > 0.0 => n.sample(&mut rng).round().max(0.0),
            // A mean of 0 gives a count of 0.
            _ => 0.0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_the_mean_and_the_variance_of_their_intensity() {
        for mean in [0.3, 7.0, 1e3, 1e9, 1e20] {
            let mut all = vec![mean; 20_000];
            counts(&mut all, 5);
            assert!(all.iter().all(|n| *n >= 0.0 && n.fract() == 0.0));
            let n = all.len() as f64;
            let average = all.iter().sum::<f64>() / n;
            let variance = all.iter().map(|c| (c - average).powi(2)).sum::<f64>() / n;
            // Four standard errors.
            assert!(
                (average - mean).abs() < 4.0 * (mean / n).sqrt(),
                "{mean}: {average}"
            );
            assert!((variance / mean - 1.0).abs() < 0.06, "{mean}: {variance}");
        }
        let mut none = [0.0; 4];
        counts(&mut none, 1);
        assert_eq!(none, [0.0; 4]);
    }
}
