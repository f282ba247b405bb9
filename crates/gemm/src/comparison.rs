//! Interleaved comparison of products on the same matrices.

use crate::{GemmError, Matrices, Product, check};
use greenup_meter::Observer;
use greenup_meter::stats::{Summary, ratio_of_medians};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Result of one product.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Name of the product.
    pub name: String,
    /// Time of one product, s.
    pub time_s: Summary,
    /// Time of one product in each round, s.
    pub times_s: Vec<f64>,
    /// Largest error of the verified entries, relative to Σ|a·b|.
    pub error: f64,
    /// Its time divided by that of the first product; `None` for the first.
    pub ratio: Option<Summary>,
}

/// Result of an interleaved comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Results of the products, in their order.
    pub entries: Vec<Entry>,
    /// Peak of fused multiply–adds in registers, measured in the same rounds, flop/s.
    pub peak_flops_per_s: Option<Summary>,
}

/// Pause before each measurement.
const PAUSE: Duration = Duration::from_millis(250);

/// Verifies each product, then measures all of them in `rounds` rounds of random order, each for at least `turn_s`
/// seconds.
///
/// Before each measurement, one product that is not timed warms caches and threads, and a pause before it lets the
/// threads of the previous library go to sleep (many spin for 0.2 s). `peak` measures the peak of the cores, flop/s.
/// If the observer cancels, products without a measurement are left out.
///
/// # Errors
/// The result of a product is wrong.
pub fn compare(
    products: &[&dyn Product],
    x: &mut Matrices,
    rounds: usize,
    turn_s: f64,
    peak: Option<&dyn Fn() -> f64>,
    observer: &dyn Observer,
) -> Result<Comparison, GemmError> {
    let mut errors = Vec::new();
    observer.stage("checking", products.len());
    for p in products {
        errors.push(check::check(*p, x, 2000)?);
        observer.step(p.name());
    }
    let mut times = vec![Vec::new(); products.len()];
    let mut order: Vec<usize> = (0..products.len()).collect();
    let mut rng = fastrand::Rng::with_seed(0x0063_6f6e_7465_7374);
    observer.stage("comparing", rounds * products.len());
    let mut peaks = Vec::new();
    'rounds: for _ in 0..rounds {
        std::thread::sleep(PAUSE);
        peaks.extend(peak.map(|p| p()));
        rng.shuffle(&mut order);
        for &i in &order {
            if observer.cancelled() {
                break 'rounds;
            }
            std::thread::sleep(PAUSE);
            products[i].multiply(x);
            let start = Instant::now();
            let mut runs = 0.0;
            while runs == 0.0 || start.elapsed().as_secs_f64() < turn_s {
                products[i].multiply(x);
                runs += 1.0;
            }
            times[i].push(start.elapsed().as_secs_f64() / runs);
            observer.step(products[i].name());
        }
    }
    let entries = products
        .iter()
        .enumerate()
        .filter_map(|(i, p)| {
            Some(Entry {
                name: p.name().to_owned(),
                time_s: Summary::of(&times[i])?,
                times_s: times[i].clone(),
                error: errors[i],
                ratio: (i > 0)
                    .then(|| ratio_of_medians(&times[i], &times[0]))
                    .flatten(),
            })
        })
        .collect();
    Ok(Comparison {
        entries,
        peak_flops_per_s: Summary::of(&peaks),
    })
}
