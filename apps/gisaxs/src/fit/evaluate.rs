//! Many models at once, by all ranks and all devices: the first rank searches, the others compute what it asks for.

use super::target::Target;
use crate::GisaxsError;
use crate::mesh_form_factor::{Accelerator, Watch};
use greenup_ranks::Ranks;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What is wanted of each model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Wanted {
    /// The distance that the swarm minimises, and χ².
    Distance,
    /// Residuals.
    Residuals,
    /// Residuals that grow slowly far from the data.
    Rough,
    /// Values over the errors of the data.
    Scaled,
}

const ALL: [Wanted; 4] = [
    Wanted::Distance,
    Wanted::Residuals,
    Wanted::Rough,
    Wanted::Scaled,
];

impl Wanted {
    /// Computes it from a model.
    pub fn of(self, target: &Target, model: &[f64]) -> Vec<f64> {
        match self {
            Self::Distance => vec![target.distance(model), target.chi2(model)],
            Self::Residuals => target.residuals(model),
            Self::Rough => target.rough(model),
            Self::Scaled => target.scaled(model),
        }
    }
}

/// The values of each model; `None` if it has no finite value, or the computation was stopped.
type Values = Vec<Option<Vec<f64>>>;

/// The ranks that compute models.
pub(super) struct Crew<'a> {
    pub target: &'a Target,
    pub ranks: &'a dyn Ranks,
    pub watch: &'a Watch<'a>,
}

impl Crew<'_> {
    /// What is wanted of the models at some values of the free parameters, on the first rank; the others [`Crew::serve`].
    /// Ranks take the models in turn, and their devices as they become free: a model does not depend on who computes it.
    pub fn compute(&self, numbers: &[Vec<f64>], wanted: Wanted) -> Result<Values, GisaxsError> {
        if self.ranks.size() == 1 {
            return self.own(numbers, wanted);
        }
        let mut task = vec![wanted as u8];
        put(&mut task, &[numbers.len() as f64]);
        for one in numbers {
            put(&mut task, one);
        }
        self.ranks.broadcast(&mut task);
        let own = self.share(numbers, wanted);
        let all = self.ranks.gather(&encoded(&own)).unwrap_or_default();
        let mut out = vec![None; numbers.len()];
        for (rank, bytes) in all.iter().enumerate() {
            if rank == 0 && own.is_err() {
                break;
            }
            let named = |e: String| GisaxsError::Sample(format!("rank {rank}: {e}"));
            let values = decoded(bytes).map_err(named)?;
            let places = out.iter_mut().skip(rank).step_by(all.len());
            for (to, v) in places.zip(values) {
                *to = v;
            }
        }
        own.map(|_| out)
    }

    /// Computes what the first rank asks for, until it [ends](Crew::end).
    pub fn serve(&self) {
        loop {
            let mut task = Vec::new();
            self.ranks.broadcast(&mut task);
            let Some((&kind, mut rest)) = task.split_first() else {
                return;
            };
            let count = take(&mut rest).first().map_or(0, |n| *n as usize);
            let numbers: Vec<Vec<f64>> = (0..count).map(|_| take(&mut rest)).collect();
            let wanted = ALL.into_iter().find(|w| *w as u8 == kind);
            let own = match wanted {
                Some(wanted) => self.share(&numbers, wanted),
                None => Err(GisaxsError::Sample("an unknown task".into())),
            };
            self.ranks.gather(&encoded(&own));
        }
    }

    /// Lets the other ranks return from [`Crew::serve`].
    pub fn end(&self) {
        if self.ranks.size() > 1 {
            self.ranks.broadcast(&mut Vec::new());
        }
    }

    fn share(&self, numbers: &[Vec<f64>], wanted: Wanted) -> Result<Values, GisaxsError> {
        let turn = numbers.iter().skip(self.ranks.rank());
        let own: Vec<Vec<f64>> = turn.step_by(self.ranks.size()).cloned().collect();
        self.own(&own, wanted)
    }

    /// The models of this rank, on its devices.
    fn own(&self, numbers: &[Vec<f64>], wanted: Wanted) -> Result<Values, GisaxsError> {
        let on = self.target.on.as_ref();
        let devices = on.map_or(&[][..], |on| on.parts());
        if devices.len() < 2 {
            return numbers.iter().map(|n| self.one(n, on, wanted)).collect();
        }
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        let work = |device: &Arc<dyn Accelerator>| {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                let Some(one) = numbers.get(n) else { return };
                let value = self.one(one, Some(device), wanted);
                done.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((n, value));
            }
        };
        let work = &work;
        let lost = thread::scope(|scope| {
            let threads: Vec<_> = devices
                .iter()
                .map(|device| thread::Builder::new().spawn_scoped(scope, move || work(device)))
                .collect();
            // A thread that cannot be started is a device less.
            let joined = threads.into_iter().flatten().map(|t| t.join().is_err());
            joined.fold(false, |lost, one| lost | one)
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|d| d.0);
        if lost || done.len() < numbers.len() {
            return Err(GisaxsError::DeviceLost);
        }
        done.into_iter().map(|d| d.1).collect()
    }

    fn one(
        &self,
        numbers: &[f64],
        on: Option<&Arc<dyn Accelerator>>,
        wanted: Wanted,
    ) -> Result<Option<Vec<f64>>, GisaxsError> {
        if self.watch.stopped() {
            return Ok(None);
        }
        let model = self.target.model_on(numbers, on, self.watch)?;
        let finite = model.filter(|m| m.iter().all(|v| v.is_finite()));
        Ok(finite.map(|m| wanted.of(self.target, &m)))
    }
}

/// A list of numbers after its length.
fn put(to: &mut Vec<u8>, numbers: &[f64]) {
    to.extend((numbers.len() as u64).to_le_bytes());
    to.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
}

/// The next list of numbers; empty where there is none.
fn take(from: &mut &[u8]) -> Vec<f64> {
    let Some((length, rest)) = from.split_first_chunk::<8>() else {
        return Vec::new();
    };
    let bytes = (u64::from_le_bytes(*length) as usize).saturating_mul(8);
    let (own, rest) = rest.split_at(bytes.min(rest.len()));
    *from = rest;
    let (words, _) = own.as_chunks::<8>();
    words.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

/// Values, or a message.
fn encoded(values: &Result<Values, GisaxsError>) -> Vec<u8> {
    let mut out = Vec::new();
    match values {
        Err(e) => {
            out.push(1);
            out.extend(e.to_string().bytes());
        }
        Ok(values) => {
            out.push(0);
            for v in values {
                // No model has no values.
                put(&mut out, v.as_deref().unwrap_or(&[]));
            }
        }
    }
    out
}

fn decoded(bytes: &[u8]) -> Result<Values, String> {
    let (kind, mut rest) = bytes.split_first().ok_or("it sent nothing")?;
    if *kind != 0 {
        return Err(String::from_utf8_lossy(rest).into_owned());
    }
    let mut out = Vec::new();
    while !rest.is_empty() {
        let v = take(&mut rest);
        out.push((!v.is_empty()).then_some(v));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_errors_are_sent_whole() {
        let values = vec![Some(vec![1.5, -0.0]), None, Some(vec![f64::MAX])];
        assert_eq!(decoded(&encoded(&Ok(values.clone()))).unwrap(), values);
        assert_eq!(decoded(&encoded(&Ok(Vec::new()))).unwrap(), []);
        let e = encoded(&Err(GisaxsError::DeviceLost));
        assert_eq!(
            decoded(&e).unwrap_err(),
            GisaxsError::DeviceLost.to_string()
        );
        assert!(decoded(&[]).is_err());
        let mut cut: &[u8] = &[9, 0, 0, 0, 0, 0, 0, 0, 1];
        assert!(take(&mut cut).is_empty());
    }

    #[test]
    fn what_is_wanted_is_known_by_its_number() {
        for (n, wanted) in ALL.into_iter().enumerate() {
            assert_eq!(wanted as usize, n);
        }
    }
}
