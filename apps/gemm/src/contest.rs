//! Several take turns on the same matrices.

use crate::{GemmError, Matrices, Product, check};
use greenup_meter::Observer;
use greenup_meter::stats::{Summary, ratio_of_medians};
use serde::Serialize;
use std::time::{Duration, Instant};

/// What one of them did.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    pub name: String,
    pub time_s: Summary,
    /// Seconds of one product, a value a round.
    pub times_s: Vec<f64>,
    /// Largest error over Σ|a·b|, of the entries that were checked.
    pub error: f64,
    /// Its time over the first contestant's.
    pub ratio: Option<Summary>,
}

/// What a contest measured.
#[derive(Clone, Debug, Serialize)]
pub struct Contest {
    pub entries: Vec<Entry>,
    /// Operations a second of multiply–adds in registers alone, measured in the same rounds.
    pub peak_flops_per_s: Option<Summary>,
}

const PAUSE: Duration = Duration::from_millis(250);

/// Checks all of them, then lets them multiply in rounds of random order. Each turn lasts at least
/// `turn_s`, after one product that does not count: it loads what the others pushed out of the
/// caches and wakes the threads. A pause before each turn lets the threads of the one before fall
/// asleep, which many libraries keep spinning for a fifth of a second. `peak` measures what the cores do without any memory.
///
/// # Errors
/// A contestant that is wrong.
pub fn contest(
    contestants: &[&dyn Product],
    x: &mut Matrices,
    rounds: usize,
    turn_s: f64,
    peak: Option<&dyn Fn() -> f64>,
    observer: &dyn Observer,
) -> Result<Contest, GemmError> {
    let mut errors = Vec::new();
    observer.stage("checking", contestants.len());
    for p in contestants {
        errors.push(check::check(*p, x, 2000)?);
        observer.step(p.name());
    }
    let mut times = vec![Vec::new(); contestants.len()];
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    let mut rng = fastrand::Rng::with_seed(0x0063_6f6e_7465_7374);
    observer.stage("taking turns", rounds * contestants.len());
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
            contestants[i].multiply(x);
            let start = Instant::now();
            let mut products = 0.0;
            while products == 0.0 || start.elapsed().as_secs_f64() < turn_s {
                contestants[i].multiply(x);
                products += 1.0;
            }
            times[i].push(start.elapsed().as_secs_f64() / products);
            observer.step(contestants[i].name());
        }
    }
    let entries = contestants
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
    Ok(Contest {
        entries,
        peak_flops_per_s: Summary::of(&peaks),
    })
}
