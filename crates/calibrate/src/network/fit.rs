//! t = α + n/β, fitted to relative errors, with bootstrap intervals of the residuals.

use super::Size;
use crate::linalg::nnls_relative;
use greenup_model::machine::Estimate;
use serde::Serialize;

/// Seed of the bootstrap, so that a fit is the same when made again.
const SEED: u64 = 0x6e65_7477;
const RESAMPLES: usize = 400;

/// Messages whose latency and bandwidth cannot be told.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NetworkError {
    /// Too few sizes.
    #[error("{0} sizes of messages do not tell latency and bandwidth: 3 are needed")]
    Few(usize),
    /// Time does not grow with size.
    #[error(
        "the time of messages does not grow with their size: no bandwidth follows. Fix: measure on an idle host"
    )]
    Flat,
}

/// Latency and bandwidth of messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// α, s.
    pub latency_s: Estimate,
    /// β, B/s.
    pub bandwidth_bytes_per_s: Estimate,
    /// Largest relative error of a size.
    pub worst: f64,
}

/// Fits latency and bandwidth to the medians of each size.
///
/// # Errors
/// There are too few sizes, or times do not grow with size.
pub fn line(sizes: &[Size]) -> Result<Line, NetworkError> {
    if sizes.len() < 3 {
        return Err(NetworkError::Few(sizes.len()));
    }
    let rows: Vec<Vec<f64>> = sizes.iter().map(|s| vec![1.0, s.bytes]).collect();
    let times: Vec<f64> = sizes.iter().map(|s| s.time_s.median).collect();
    let x = nnls_relative(&rows, &times);
    if x[1] <= 0.0 {
        return Err(NetworkError::Flat);
    }
    let fitted: Vec<f64> = rows.iter().map(|r| x[0] + x[1] * r[1]).collect();
    let residuals: Vec<f64> = (times.iter().zip(&fitted))
        .map(|(t, f)| t / f - 1.0)
        .collect();
    let worst = residuals.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
    // Residuals of a fit of two constants are too small.
    let inflate = (sizes.len() as f64 / (sizes.len() as f64 - 2.0)).sqrt();
    let mut rng = fastrand::Rng::with_seed(SEED);
    let (mut alphas, mut betas) = (Vec::new(), Vec::new());
    for _ in 0..RESAMPLES {
        let again: Vec<f64> = fitted
            .iter()
            .map(|f| f * (1.0 + inflate * residuals[rng.usize(..residuals.len())]).max(0.05))
            .collect();
        let x = nnls_relative(&rows, &again);
        alphas.push(x[0]);
        betas.extend((x[1] > 0.0).then(|| 1.0 / x[1]));
    }
    Ok(Line {
        latency_s: around(x[0], &mut alphas),
        bandwidth_bytes_per_s: around(1.0 / x[1], &mut betas),
        worst,
    })
}

/// A value with the middle 95 % of its resamples.
fn around(value: f64, all: &mut [f64]) -> Estimate {
    all.sort_unstable_by(f64::total_cmp);
    let at = |q: f64| all.get((q * all.len() as f64) as usize).copied();
    let lo = at(0.025).unwrap_or(value).min(value);
    let hi = at(0.975).unwrap_or(value).max(value);
    Estimate::with_interval(value, lo, hi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_meter::Summary;

    fn sizes(noise: f64) -> Vec<Size> {
        let mut rng = fastrand::Rng::with_seed(3);
        (0..12)
            .map(|i| {
                let bytes = 8.0 * 4f64.powi(i);
                let t = 2e-6 + bytes / 5e9;
                let t = t * (1.0 + noise * (2.0 * rng.f64() - 1.0));
                Size {
                    bytes,
                    time_s: Summary::of(&[t]).unwrap(),
                }
            })
            .collect()
    }

    #[test]
    fn constants_are_recovered_within_their_intervals() {
        let exact = line(&sizes(0.0)).unwrap();
        assert!((exact.latency_s.value / 2e-6 - 1.0).abs() < 1e-9);
        assert!((exact.bandwidth_bytes_per_s.value / 5e9 - 1.0).abs() < 1e-9);
        let noisy = line(&sizes(0.1)).unwrap();
        let holds = |e: &Estimate, x: f64| e.low() <= x && x <= e.high();
        assert!(holds(&noisy.latency_s, 2e-6), "{noisy:?}");
        assert!(holds(&noisy.bandwidth_bytes_per_s, 5e9), "{noisy:?}");
        assert!(noisy.latency_s.high() > noisy.latency_s.low());
    }

    #[test]
    fn what_cannot_be_told_is_an_error() {
        assert_eq!(line(&sizes(0.0)[..2]), Err(NetworkError::Few(2)));
        let flat: Vec<Size> = sizes(0.0)
            .into_iter()
            .map(|s| Size {
                time_s: Summary::of(&[1e-3 / (1.0 + s.bytes)]).unwrap(),
                ..s
            })
            .collect();
        assert_eq!(line(&flat), Err(NetworkError::Flat));
    }
}
