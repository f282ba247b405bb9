//! Measures a kernel with another around it, and several in rounds.

use crate::sweep::{Failure as F, OBJECTIVE};
use crate::worker::channel::Channel;
use crate::worker::inputs::{Kernel, LoadedInputs};
use crate::worker::policy::near_power_limit;
use crate::worker::protocol::{Built, Message};
use crate::worker::stop::Stop;
use greenup_meter::observe::Silent;
use greenup_meter::stats::{Sure, mean_within, median};
use greenup_meter::{Measurement, Meter, Policy, Run};
use std::collections::BTreeMap;

/// A kernel, with another measured around it.
pub(super) struct Pair<'a> {
    pub(super) kernel: &'a mut Kernel,
    pub(super) once: f64,
    pub(super) baseline: Option<Kernel>,
    /// Seconds of the baseline, before and after.
    pub(super) share: f64,
    pub(super) energy: bool,
    /// Time of a run, s, beyond which the measurement is stopped, and the baseline's time at first.
    pub(super) beyond_s: Option<(f64, Option<f64>)>,
}

/// Times of a kernel's batches, and of the baseline's between them, s.
type Batches = (Vec<f64>, Vec<f64>);

/// Numbers of batches after which it is decided whether a kernel is measured on.
const LOOKS: [usize; 3] = [4, 8, 16];
/// Length of a batch, s.
const BATCH_S: f64 = 2e-3;
/// Runs of this length need no warm-up on a GPU, and others this much of it, s.
const LONG_S: f64 = 30e-3;
/// Two batches beyond this multiple of the limit decide.
const FAR: f64 = 2.0;

impl Pair<'_> {
    pub(super) fn measure(
        mut self,
        inputs: &mut LoadedInputs,
        meter: &mut Meter,
    ) -> Result<Message, Stop> {
        // Without one beside it a look may take as long as the whole measurement.
        let raced = self.baseline.is_some() || meter.typical_s() > LONG_S || self.once > BATCH_S;
        if let Some((times_s, baseline_s)) =
            raced.then(|| self.too_slow(inputs)).transpose()?.flatten()
        {
            let error = greenup_meter::Summary::of(&times_s).map(|s| s.relative_error());
            return Ok(Message::Measured {
                times_s,
                energy_j: None,
                time_error: error.unwrap_or(f64::NAN),
                flags: Vec::new(),
                state: BTreeMap::new(),
                baseline_s,
                baseline_j: None,
                stopped: true,
            });
        }
        let mut baseline_s = Vec::new();
        let mut baseline_j = None;
        let mut base_once = 0.0;
        if let Some(b) = &mut self.baseline {
            // A first call may allocate or convert.
            base_once = inputs.run(b, 1)?;
            if self.energy && meter.has_energy() {
                let m = settled(meter, &mut false, &mut |s| {
                    inputs.window(b, s, &mut base_once, &mut Vec::new())
                })?;
                baseline_j = m.and_then(|m| m.energy_j).map(|e| e.median);
            }
        }
        let mut around = |inputs: &mut LoadedInputs| -> Result<(), Stop> {
            if let Some(b) = &mut self.baseline {
                let run = inputs.window(b, self.share, &mut base_once, &mut Vec::new())?;
                baseline_s.push(run.seconds / run.iterations);
            }
            Ok(())
        };
        around(inputs)?;
        let window = meter.window_s();
        let mut times_s = Vec::new();
        let (kernel, once) = (&mut *self.kernel, &mut self.once);
        let mut near = inputs.near_limit;
        let measured = settled(meter, &mut near, &mut |s| {
            let mut batches = Vec::new();
            let run = inputs.window(kernel, s, once, &mut batches)?;
            // Shorter calls are the meter's warm-up: what was measured before them does not count.
            if s < window {
                times_s.clear();
            } else {
                times_s.append(&mut batches);
            }
            Ok(run)
        })?;
        inputs.near_limit = near;
        around(inputs)?;
        let m = measured
            .ok_or_else(|| Stop::Failed(F::Runtime, "the measurement was stopped".to_owned()))?;
        let time_error = greenup_meter::Summary::of(&times_s)
            .map_or(m.time_s.relative_error(), |s| s.relative_error());
        Ok(Message::Measured {
            times_s,
            energy_j: m.energy_j.as_ref().map(|e| e.median),
            time_error,
            flags: m
                .flags
                .iter()
                .filter(|f| !matches!(f, greenup_meter::Flag::NoEnergy))
                .map(ToString::to_string)
                .collect(),
            state: m.state_by_name(),
            baseline_s,
            baseline_j,
            stopped: false,
        })
    }

    /// The times of a few batches, if they are beyond the limit with their interval. With the baseline's times between them, where the
    /// limit grows with the machine's drift.
    fn too_slow(&mut self, inputs: &mut LoadedInputs) -> Result<Option<Batches>, Stop> {
        // One run that is not slow decides.
        let Some((beyond, first_s)) = self.beyond_s.filter(|(b, _)| self.once > *b) else {
            return Ok(None);
        };
        let mut beside = match (first_s, &mut self.baseline) {
            (Some(first_s), Some(b)) => {
                let once = inputs.run(b, 1)?;
                Some((first_s, b, once))
            }
            // Clocks of a GPU rise over tens of ms.
            _ => {
                if self.once < LONG_S && !inputs.is_warm() {
                    inputs.window(self.kernel, LONG_S, &mut self.once, &mut Vec::new())?;
                }
                None
            }
        };
        let (mut times, mut baseline_s, mut limit) = (Vec::new(), Vec::new(), beyond);
        let slow = slower(beyond, &mut |looks| {
            if looks && let Some((first_s, b, once)) = &mut beside {
                let run = inputs.batch(b, BATCH_S, once)?;
                let now_s = run.seconds / run.iterations;
                limit = beyond * (now_s / *first_s).max(1.0);
                baseline_s.push(now_s);
            }
            let run = inputs.batch(self.kernel, BATCH_S, &mut self.once)?;
            let time = run.seconds / run.iterations;
            times.push(time);
            // As the machine was at first.
            Ok::<_, Stop>(time * beyond / limit)
        })?;
        Ok(slow.then_some((times, baseline_s)))
    }
}

/// Whether batches are beyond a limit: two far beyond it, or the 95 % interval of the mean of more. `batch` measures one, and gets
/// whether it is the first since a look.
pub(crate) fn slower<E>(
    limit_s: f64,
    batch: &mut dyn FnMut(bool) -> Result<f64, E>,
) -> Result<bool, E> {
    let mut times = Vec::new();
    for look in LOOKS {
        let mut first = true;
        while times.len() < look {
            times.push(batch(first)?);
            first = false;
            if times.len() > 1 && times.iter().all(|t| *t > FAR * limit_s) {
                return Ok(true);
            }
        }
        if mean_within(&times, Sure::Of95).is_some_and(|(mean, half)| mean - half > limit_s) {
            return Ok(true);
        }
        if median(&times) <= limit_s {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Share of its power limit in a short window from which a GPU may lower its clocks, and below which it no longer counts as near: it
/// becomes warmer by then, and needs some percent more.
const NEAR_LIMIT: (f64, f64) = (0.97, 0.95);

/// As the meter measures; where a device is near its power limit, in longer windows. `near` says whether it was the last time, and spares
/// the short ones then.
fn settled(
    meter: &mut Meter,
    near: &mut bool,
    work: &mut dyn FnMut(f64) -> Result<Run, Stop>,
) -> Result<Option<Measurement>, Stop> {
    let usual = meter.policy.clone();
    let longer = near_power_limit(&usual);
    let mut measure = |policy: &Policy| {
        meter.policy = policy.clone();
        let found = meter.measure(&Silent, work);
        meter.policy = usual.clone();
        found
    };
    let is_near = |m: &Option<Measurement>, from: f64| {
        let powers = m.as_ref().and_then(|m| {
            let power = m.power_w.as_ref()?.median;
            Some((power, m.state.power_limit_w?))
        });
        powers.is_some_and(|(power, limit)| power > from * limit)
    };
    let mut found = None;
    if !*near || longer == usual {
        found = measure(&usual)?;
        *near = is_near(&found, NEAR_LIMIT.0);
        if !*near || longer == usual {
            return Ok(found);
        }
    }
    found = measure(&longer)?.or(found);
    *near = is_near(&found, NEAR_LIMIT.1);
    Ok(found)
}

/// Several kernels in rounds, each round in another order.
pub(super) struct InRounds<'a> {
    pub(super) kernels: &'a [Built],
    pub(super) rounds: usize,
    /// Rounds that were measured before, whose orders are passed over.
    pub(super) before: usize,
    pub(super) energy: bool,
    /// Seconds of a kernel in a round.
    pub(super) seconds: f64,
    pub(super) seed: u64,
}

impl InRounds<'_> {
    /// # Errors
    /// A kernel fails.
    pub(super) fn measure(
        &self,
        inputs: &mut LoadedInputs,
        meter: &mut Meter,
        channel: &mut Channel,
    ) -> Result<Message, Stop> {
        let mut kernels: Vec<Kernel> = Vec::new();
        for b in self.kernels {
            kernels.push(inputs.load(b)?);
        }
        channel.answer(&Message::Loaded);
        let mut once = Vec::new();
        for k in &mut kernels {
            inputs.reset()?;
            once.push(inputs.run(k, 1)?);
        }
        let mut times_s = vec![Vec::new(); kernels.len()];
        let mut energies_j = vec![Vec::new(); kernels.len()];
        let mut metrics = vec![Vec::new(); kernels.len()];
        let mut near = vec![false; kernels.len()];
        for k in &mut kernels {
            if let Kernel::Command(program) = k {
                program.numbers();
            }
        }
        let mut rng = fastrand::Rng::with_seed(self.seed);
        for round in 0..self.before + self.rounds {
            let mut order: Vec<usize> = (0..kernels.len()).collect();
            rng.shuffle(&mut order);
            if round < self.before {
                continue;
            }
            for i in order {
                let (k, once) = (&mut kernels[i], &mut once[i]);
                let mut batches = Vec::new();
                if self.energy && meter.has_energy() {
                    let m = settled(meter, &mut near[i], &mut |s| {
                        inputs.window(k, s, once, &mut batches)
                    })?;
                    if let Some(m) = m {
                        times_s[i].push(m.time_s.median);
                        // A round without its energy would shift those of the later ones.
                        match m.energy_j {
                            Some(e) if energies_j[i].len() + 1 == times_s[i].len() => {
                                energies_j[i].push(e.median);
                            }
                            _ => energies_j[i].clear(),
                        }
                    }
                } else {
                    let run = inputs.window(k, self.seconds, once, &mut batches)?;
                    times_s[i].push(run.seconds / run.iterations);
                }
                if let Kernel::Command(program) = k {
                    metrics[i].extend(program.numbers().remove(OBJECTIVE));
                }
            }
        }
        Ok(Message::Interleaved {
            times_s,
            energies_j,
            metrics,
        })
    }
}
