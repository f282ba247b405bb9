//! Whether each call that is measured does the work of the first: a kernel that remembers its results is fast on data that it
//! knows, and right on others.

use crate::sweep::Failure as F;
use crate::worker::inputs::{Kernel, LoadedInputs};
use crate::worker::stop::Stop;
use greenup_report::si::si;
use std::time::{Duration, Instant};

/// Bytes that one core writes in a second at most: two vectors of 64 bytes a cycle at 6 GHz.
const CORE: f64 = 768e9;
/// The same of a GPU, whatever its caches.
const GPU: f64 = 50e12;
/// Calls on new data take longer than on known data by caches, branches and clocks; by more than this only by work.
const FACTOR: f64 = 8.0;
/// What a single call costs beside its work, s.
const OVERHEAD_S: f64 = 200e-9;
/// Calls on new data that decide.
const ROUNDS: u64 = 5;
/// Calls that acquit, of calls shorter than [`LONG_S`].
const SURE: u64 = 3;
/// Calls of this length are not changed much by an interrupt, s.
const LONG_S: f64 = 1e-3;
/// Time after which two decide.
const PATIENCE: Duration = Duration::from_secs(2);

fn failed(why: String) -> Stop {
    Stop::Failed(F::Wrong, why)
}

/// Refuses a time in which nothing can write the bytes that the first call changed.
pub(super) fn possible(time_s: f64, changed: usize, on_gpu: bool) -> Result<(), Stop> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let least = changed as f64 / if on_gpu { GPU } else { CORE * cores as f64 };
    if time_s < least {
        Err(failed(format!(
            "a measured call took {}, and to write the {changed} bytes that its first call changed takes {} at least: later calls do less work",
            si(time_s, "s"),
            si(least, "s")
        )))
    } else {
        Ok(())
    }
}

/// Whether a call on new data took so much longer than a measured one that it must be looked at.
pub(super) fn doubtful(renewed_s: f64, time_s: f64) -> bool {
    renewed_s > FACTOR * time_s + OVERHEAD_S
}

/// Compares calls on new data with calls on known data, one by one, in the same memory that is written alike before both.
/// `verify` compares the results of the usual data.
///
/// A kernel may keep data that it derives from some of its inputs, such as a converted matrix, and use them with others: then the
/// sentence that says so is returned.
///
/// # Errors
/// The kernel does more on new data, so that its measured time is not that of its work; or its results are wrong.
pub(super) fn confirm(
    inputs: &mut LoadedInputs,
    kernel: &mut Kernel,
    time_s: f64,
    verify: &dyn Fn(&mut LoadedInputs) -> Result<(), Stop>,
) -> Result<Option<String>, Stop> {
    if !inputs.renews() {
        return Ok(None);
    }
    let start = Instant::now();
    let (mut renewed, mut known) = (f64::INFINITY, f64::INFINITY);
    for round in 0..=ROUNDS {
        inputs.renew(kernel, round)?;
        let seconds = inputs.run(kernel, 1)?;
        if round == 0 {
            // A kernel that knows addresses, not data, has nothing right to give here.
            verify(inputs)?;
            continue;
        }
        renewed = renewed.min(seconds);
        inputs.rewrite();
        known = known.min(inputs.run(kernel, 1)?);
        // One interrupt makes a short call as long as its work: the least of several tells.
        let sure = round >= SURE || known > LONG_S;
        if sure && !doubtful(renewed, known.max(time_s)) {
            return Ok(None);
        }
        if round >= 2 && start.elapsed() > PATIENCE {
            break;
        }
    }
    if !doubtful(renewed, known.max(time_s)) {
        return Ok(None);
    }
    if keeps_derived(inputs, kernel, known.max(time_s))? {
        return Ok(Some(format!(
            "it keeps data that it derives from some inputs: new ones take {}, which is not measured",
            si(renewed, "s")
        )));
    }
    Err(failed(format!(
        "it takes {} on new data and {} on data that it has met: it remembers results or stops early, and its measured {} are not the time of its work",
        si(renewed, "s"),
        si(known, "s"),
        si(time_s, "s")
    )))
}

/// Whether there is an input that changes the results, and whose change costs no time.
fn keeps_derived(inputs: &mut LoadedInputs, kernel: &mut Kernel, known: f64) -> Result<bool, Stop> {
    for i in inputs.single_inputs() {
        let mut uses = true;
        for round in 0..2 {
            // The least of several: an interrupt within such a short call counts as work.
            let mut least = f64::INFINITY;
            for attempt in 0..ROUNDS {
                inputs.reset()?;
                inputs.run(kernel, 1)?;
                let before = inputs.outputs()?;
                inputs.reset()?;
                inputs.renew_one(i, round * ROUNDS + attempt)?;
                least = least.min(inputs.run(kernel, 1)?);
                uses &= inputs.changed_bytes()? > 0 && inputs.outputs()? != before;
                if !uses || !doubtful(least, known) {
                    break;
                }
            }
            uses &= !doubtful(least, known);
        }
        if uses {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_times_are_refused() {
        assert!(possible(1.2e-9, 8_000_000, false).is_err());
        assert!(possible(1e-3, 8_000_000, false).is_ok());
        assert!(possible(1e-9, 0, false).is_ok() && possible(1e-9, 8, false).is_ok());
        assert!(possible(1e-9, 8_000_000, true).is_err());
        assert!(doubtful(1e-3, 1e-9) && !doubtful(3e-6, 1e-6) && !doubtful(2e-7, 1e-9));
    }
}
