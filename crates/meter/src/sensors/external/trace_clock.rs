//! The times of a recorded trace. Nothing tells when its lines arrived, but all of them are known: what comes after a time
//! that does not fit decides whether the clock was set, the meter paused, or the time is wrong.

use super::clock::{AHEAD_S, ClockError, Events, MOST_UNFIT};
use super::line::Sample;
use crate::sensor::Reading;
use crate::stats::median;

/// Spacings of samples after which a time needs those after it to confirm it; 1 s at least.
const AHEAD: f64 = 10.0;
/// Share of the time between two rounds, and time, s, below which lines are of one round.
const IN_ROUND: (f64, f64) = (0.2, 0.05);

/// Whether samples name their device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// A number or an address with each.
    Named,
    /// Nothing, in lines of `nvidia-smi`, which writes those of all its GPUs.
    Unnamed,
    /// Nothing; meters of one device need no name.
    Unknown,
}

/// Readings of samples of one device with their lines, times rising. After a clock was set, times go on a period later.
///
/// # Errors
/// The times jump, or those of several devices are mixed; with the line.
pub fn place(
    samples: &[(usize, Sample)],
    naming: Naming,
    out: &mut Vec<Reading>,
) -> Result<Events, (usize, ClockError)> {
    let mut events = Events::default();
    let spread = spread(samples).filter(|_| naming != Naming::Unnamed);
    if spread.is_some() && naming == Naming::Unknown {
        // They may be of several devices all the same.
        let of_one_time = samples
            .windows(2)
            .filter(|w| w[0].1.time_s == w[1].1.time_s);
        of_one_time.for_each(|w| events.compare(w[0].1.value, w[1].1.value));
    }
    let samples = spread.as_deref().unwrap_or(samples);
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
    let mixed = || {
        let times: Vec<f64> = out.iter().map(|r| r.at_s).collect();
        round(&times).is_some() || 4 * events.conflicts > samples.len()
    };
    match samples.first() {
        Some((line, _)) if naming == Naming::Unnamed && mixed() => Err((*line, ClockError::Mixed)),
        _ => Ok(events),
    }
}

/// Samples of which several have one time as a rule, as where times are whole seconds: evenly from their time on. The first and
/// last time may have fewer.
fn spread(samples: &[(usize, Sample)]) -> Option<Vec<(usize, Sample)>> {
    let runs: Vec<&[(usize, Sample)]> = samples.chunk_by(|a, b| a.1.time_s == b.1.time_s).collect();
    let middle = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    };
    let whole = runs.get(1..runs.len().checked_sub(1)?)?;
    let usual = middle(whole.iter().map(|r| r.len() as f64).collect())?;
    let apart = runs.windows(2).map(|w| w[1][0].1.time_s - w[0][0].1.time_s);
    let length_s = middle(apart.collect()).filter(|_| usual >= 2.0)?;
    let mut out = samples.to_vec();
    let mut to = out.iter_mut();
    for (i, run) in runs.iter().enumerate() {
        let n = run.len() as f64;
        let step_s = length_s / n.max(usual);
        let late_s = if i == 0 { length_s - n * step_s } else { 0.0 };
        for (j, (_, sample)) in to.by_ref().take(run.len()).enumerate() {
            sample.time_s += late_s + j as f64 * step_s;
        }
    }
    Some(out)
}

/// How many lines a round has, where lines come in rounds of as many each, as those of several devices do: close together, then
/// after a period.
pub fn round(times_s: &[f64]) -> Option<usize> {
    let apart: Vec<f64> = times_s.windows(2).map(|w| w[1] - w[0]).collect();
    let mut sorted = apart.clone();
    sorted.sort_by(f64::total_cmp);
    let period = sorted.get(sorted.len() * 19 / 20)?;
    let step_s = (IN_ROUND.0 * period).min(IN_ROUND.1);
    let rounds: Vec<usize> = (apart.split(|d| *d >= step_s)).map(<[f64]>::len).collect();
    // Those at both ends may be cut.
    let whole = rounds.get(1..rounds.len() - 1).filter(|w| w.len() >= 3)?;
    let mut sorted = whole.to_vec();
    sorted.sort_unstable();
    let usual = sorted[sorted.len() / 2];
    let as_usual = whole.iter().filter(|n| **n == usual).count();
    (usual > 0 && 5 * as_usual >= 4 * whole.len()).then_some(1 + usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_devices_come_in_rounds() {
        let rounds = |devices: u32| -> Vec<f64> {
            (0..20 * devices)
                .map(|i| 0.1 * f64::from(i / devices) + 0.002 * f64::from(i % devices))
                .collect()
        };
        assert_eq!(round(&rounds(1)), None);
        for devices in [2, 4, 8] {
            assert_eq!(round(&rounds(devices)), Some(devices as usize));
            let paused: Vec<f64> = (rounds(devices).iter())
                .map(|t| if *t > 1.0 { t + 60.0 } else { *t })
                .collect();
            assert_eq!(round(&paused), Some(devices as usize));
        }
        // One device: a pause, two periods one after the other, a clock of coarse steps, bursts.
        let paused = |i: u32| f64::from(i) + if i > 50 { 3600.0 } else { 0.0 };
        let faster = |i: u32| f64::from(i.min(50)) + 0.01 * f64::from(i.saturating_sub(50));
        let uneven = |i: u32| f64::from(i) + if i % 7 == 3 { 0.9 } else { 0.0 };
        let bursts = |i: u32| 0.1 * f64::from(i) + 0.45 * f64::from(i / 10);
        for of in [&paused as &dyn Fn(u32) -> f64, &faster, &uneven, &bursts] {
            let times: Vec<f64> = (0..100).map(of).collect();
            assert_eq!(round(&times), None, "{times:?}");
        }
    }
}
