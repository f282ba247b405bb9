//! The times of a recorded trace. Nothing tells when its lines arrived, but all of them are known: what comes after a time
//! that does not fit decides whether the clock was set, the meter paused, or the time is wrong.

use super::clock::{AHEAD_S, ClockError, Events, MOST_UNFIT};
use super::line::Sample;
use crate::sensor::Reading;
use crate::stats::median;

/// Spacings of samples after which a time needs those after it to confirm it; 1 s at least.
const AHEAD: f64 = 10.0;
/// Counts of seconds are less: since 1970 these are 3000 years.
const LATEST_S: f64 = 1e11;
/// Share of the time between two rounds below which lines are of one round.
const IN_ROUND: f64 = 0.2;

/// Readings of samples with their lines, times rising. After a clock was set, times go on a period later. `untold` are samples
/// of `nvidia-smi` with which no index tells of which device they are.
///
/// # Errors
/// The times jump or are no seconds, or those of several devices are mixed; with the line.
pub fn place(
    samples: &[(usize, Sample)],
    untold: bool,
    out: &mut Vec<Reading>,
) -> Result<Events, (usize, ClockError)> {
    let late = |s: &&(usize, Sample)| s.1.time_s.abs() > LATEST_S;
    if 2 * samples.iter().filter(late).count() > samples.len()
        && let Some((line, s)) = samples.iter().find(late)
    {
        return Err((*line, ClockError::NoSeconds(s.time_s)));
    }
    let mut events = Events::default();
    let apart: Vec<f64> = (samples.windows(2))
        .map(|w| w[1].1.time_s - w[0].1.time_s)
        .filter(|&d| d > 0.0)
        .collect();
    let period = median(&apart);
    let ahead = AHEAD_S.max(AHEAD * period);
    let (mut shift, mut unfit_in_a_row) = (0.0, 0);
    let mut last: Option<Sample> = None;
    for (i, &(line, new)) in samples.iter().enumerate() {
        if let Some(last) = last {
            let by = new.time_s - last.time_s;
            if by == 0.0 {
                // Several samples within one step of the clock: the first has its time.
                events.compare(last.value, new.value);
                continue;
            }
            if !(0.0..=ahead).contains(&by) {
                let mut later = samples[i + 1..].iter().map(|s| s.1.time_s);
                let next = later.find(|&t| t != new.time_s);
                let fits = match next {
                    // A pause of the meter: nothing goes back behind it.
                    _ if by > 0.0 => next.is_none_or(|n| n > new.time_s),
                    // Set back: what follows goes on from there, and not from the time before.
                    Some(n) => n > new.time_s && n <= last.time_s,
                    None => false,
                };
                if !fits {
                    events.unfit += 1;
                    unfit_in_a_row += 1;
                    if unfit_in_a_row > MOST_UNFIT {
                        return Err((line, ClockError::Jumps));
                    }
                    continue;
                }
                if by < 0.0 {
                    events.step(by - period);
                    shift += period - by;
                }
            }
        }
        unfit_in_a_row = 0;
        last = Some(new);
        out.push(Reading {
            at_s: new.time_s + shift,
            value: new.value,
        });
    }
    match samples.first() {
        Some((line, _)) if untold && in_rounds(out) => Err((*line, ClockError::Mixed)),
        _ => Ok(events),
    }
}

/// Whether lines come in rounds of as many each, as those of several devices do: close together, then after a period.
fn in_rounds(readings: &[Reading]) -> bool {
    let apart: Vec<f64> = (readings.windows(2))
        .map(|w| w[1].at_s - w[0].at_s)
        .collect();
    let mut sorted = apart.clone();
    sorted.sort_by(f64::total_cmp);
    let Some(period) = sorted.get(sorted.len() * 19 / 20) else {
        return false;
    };
    let rounds: Vec<usize> = (apart.split(|d| *d >= IN_ROUND * period))
        .map(<[f64]>::len)
        .collect();
    // Those at both ends may be cut.
    let Some(whole) = rounds.get(1..rounds.len() - 1).filter(|w| w.len() >= 3) else {
        return false;
    };
    let mut sorted = whole.to_vec();
    sorted.sort_unstable();
    let usual = sorted[sorted.len() / 2];
    let as_usual = whole.iter().filter(|n| **n == usual).count();
    usual > 0 && 5 * as_usual >= 4 * whole.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_devices_come_in_rounds() {
        let at = |times: &[f64]| -> Vec<Reading> {
            let of = |&at_s: &f64| Reading { at_s, value: 1.0 };
            times.iter().map(of).collect()
        };
        let rounds = |devices: u32| -> Vec<f64> {
            (0..20 * devices)
                .map(|i| 0.1 * f64::from(i / devices) + 0.002 * f64::from(i % devices))
                .collect()
        };
        assert!(!in_rounds(&at(&rounds(1))));
        for devices in [2, 4, 8] {
            assert!(in_rounds(&at(&rounds(devices))), "{devices}");
            let paused: Vec<f64> = (rounds(devices).iter())
                .map(|t| if *t > 1.0 { t + 60.0 } else { *t })
                .collect();
            assert!(in_rounds(&at(&paused)), "{devices}");
        }
        // One device: a pause, two periods one after the other, a clock of coarse steps.
        let paused = |i: u32| f64::from(i) + if i > 50 { 3600.0 } else { 0.0 };
        let faster = |i: u32| f64::from(i.min(50)) + 0.01 * f64::from(i.saturating_sub(50));
        let uneven = |i: u32| f64::from(i) + if i % 7 == 3 { 0.9 } else { 0.0 };
        for of in [&paused as &dyn Fn(u32) -> f64, &faster, &uneven] {
            let times: Vec<f64> = (0..100).map(of).collect();
            assert!(!in_rounds(&at(&times)), "{times:?}");
        }
    }
}
