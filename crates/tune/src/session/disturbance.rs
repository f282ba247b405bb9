//! Measures how much the workers of a search disturb each other, before the search.

use crate::error::TuneError;
use crate::points::Points;
use crate::sweep::disturbance::{Disturbance, Series};
use crate::trial::bench::Bench;
use crate::worker::protocol::Built;
use greenup_space::Value;

/// Configs that are tried at most until one works.
const TRIED: usize = 32;
/// Configs that are built together.
const GROUP: usize = 8;
/// Rounds of the first worker alone, before and after those of all at once; the first of each is not used.
const ALONE: usize = 4;
/// Rounds of all workers at once; the first and the last are not used, as workers begin and end at different times.
const TOGETHER: usize = 7;
/// Seconds of a round at most.
const ROUND_S: f64 = 0.5;

/// Measures the first config that works by the first worker alone, by all at once, and by the first alone again. It becomes
/// the config that detects drift on all workers. `None` with a note if it cannot be measured, or when the user stopped it.
///
/// # Errors
/// The environment fails while configs are built.
pub(super) fn measure(
    benches: &mut [Bench<'_>],
    names: &[String],
    points: &(dyn Points + Sync),
) -> Result<Option<Disturbance>, TuneError> {
    let observer = benches[0].observer;
    observer.stage("neighbours", 0);
    let why = match first_that_works(&mut benches[0], points)? {
        Ok(Some((config, kernel))) => match compared(benches, &config, &kernel, names) {
            Ok(found) => return Ok(found),
            Err(why) => why,
        },
        Ok(None) => return Ok(None),
        Err(why) => why,
    };
    observer.note(&format!(
        "how much the workers disturb each other could not be measured: {why}"
    ));
    Ok(None)
}

type Probe = (Vec<Value>, Built);

/// A config that the first worker measures without a failure, with its kernel; `None` when the user stopped it.
fn first_that_works(
    bench: &mut Bench<'_>,
    points: &(dyn Points + Sync),
) -> Result<Result<Option<Probe>, String>, TuneError> {
    let mut rng = fastrand::Rng::with_seed(bench.plan.options.seed);
    let drawn: Vec<Vec<Value>> = (0..TRIED)
        .map(|_| points.config(rng.u64(..points.len())))
        .collect();
    let mut last = String::new();
    for group in drawn.chunks(GROUP) {
        let all = at_once(group, |config| bench.builder.made(config));
        for (config, made) in group.iter().zip(all) {
            let kernel = match &made.0 {
                Ok(ready) => bench.keep(&ready.built, "neighbours"),
                Err(_) => None,
            };
            let trial = match bench.trial(config.clone(), 1.0, &made) {
                Ok(Some(trial)) => trial,
                Ok(None) => return Ok(Ok(None)),
                Err(fault) if made.0.is_err() => return Err(fault.into()),
                Err(fault) => return Ok(Err(fault.0)),
            };
            if bench.observer.cancelled() {
                return Ok(Ok(None));
            }
            match (trial.failure(), kernel) {
                (None, Some(kernel)) => return Ok(Ok(Some((config.clone(), kernel)))),
                (Some((failure, m)), _) => last = format!("{}: {m}", failure.name()),
                (None, None) => {}
            }
        }
    }
    Ok(Err(format!("none of {TRIED} configs works; {last}")))
}

fn compared(
    benches: &mut [Bench<'_>],
    config: &[Value],
    kernel: &Built,
    names: &[String],
) -> Result<Option<Disturbance>, String> {
    // Where the problem has none, the same config detects drift everywhere.
    let baseline = benches[0].baseline.clone();
    for bench in benches.iter_mut() {
        bench.baseline.clone_from(&baseline);
    }
    let benches = &*benches;
    let alone = |out: &mut Series| -> Result<bool, String> {
        let Some(mut s) = benches[0].series(config, kernel, ALONE, ROUND_S)? else {
            return Ok(false);
        };
        without_ends(&mut s, 1, 0);
        out.times_s.extend(s.times_s);
        out.energies_j.extend(s.energies_j);
        Ok(true)
    };
    let mut before_and_after = Series::default();
    // The inputs are loaded first, so that all begin at the same time.
    for bench in &benches[1..] {
        if bench.series(config, kernel, 1, ROUND_S / 5.0)?.is_none() {
            return Ok(None);
        }
    }
    if !alone(&mut before_and_after)? {
        return Ok(None);
    }
    let mut together = Vec::new();
    for series in at_once(benches, |b| b.series(config, kernel, TOGETHER, ROUND_S)) {
        let Some(mut series) = series? else {
            return Ok(None);
        };
        without_ends(&mut series, 1, 1);
        together.push(series);
    }
    if !alone(&mut before_and_after)? {
        return Ok(None);
    }
    let found = Disturbance::of(config.to_vec(), names.to_vec(), before_and_after, together);
    found.map(Some).ok_or_else(|| "a round is missing".into())
}

/// Works on all items at once, each in a thread of its own.
fn at_once<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let started: Vec<_> = (items.iter())
            .map(|item| scope.spawn(move || work(item)))
            .collect();
        let done = |t: std::thread::ScopedJoinHandle<'_, R>| match t.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        started.into_iter().map(done).collect()
    })
}

/// Leaves out rounds at the beginning and at the end.
fn without_ends(s: &mut Series, first: usize, last: usize) {
    for values in [&mut s.times_s, &mut s.energies_j] {
        values.truncate(values.len().saturating_sub(last));
        values.drain(..first.min(values.len()));
    }
}
