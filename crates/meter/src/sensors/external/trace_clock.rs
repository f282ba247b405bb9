//! The times of a recorded trace. Nothing tells when its lines arrived, but all of them are known: what comes after a time
//! that does not fit decides whether the clock was set, the meter paused, or the time is wrong.

use super::clock::{AHEAD_S, ClockError, Events, MOST_UNFIT};
use super::line::Sample;
use crate::sensor::Reading;
use crate::stats::median;

/// Spacings of samples after which a time needs those after it to confirm it; 1 s at least.
const AHEAD: f64 = 10.0;

/// Readings of samples with their lines, times rising. After a clock was set, times go on a period later.
///
/// # Errors
/// The times jump; with the line.
pub fn place(
    samples: &[(usize, Sample)],
    out: &mut Vec<Reading>,
) -> Result<Events, (usize, ClockError)> {
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
    Ok(events)
}
