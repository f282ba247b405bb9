//! Durations of the stages of a study.

use greenup_meter::Observer;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Passes everything on, and takes the time of each stage.
pub struct Stopwatch<'a> {
    inner: &'a dyn Observer,
    device: &'a str,
    stages: Mutex<Vec<(String, Instant)>>,
}

impl<'a> Stopwatch<'a> {
    /// Of the stages of a device's study that `inner` hears of.
    pub fn new(inner: &'a dyn Observer, device: &'a str) -> Self {
        Self {
            inner,
            device,
            stages: Mutex::default(),
        }
    }

    fn begun(&self) -> MutexGuard<'_, Vec<(String, Instant)>> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each stage, as `DEVICE: STAGE`, and its duration in s, until the next one or now.
    pub fn durations(&self) -> Vec<(String, f64)> {
        let stages = self.begun();
        let ends = stages.iter().skip(1).map(|s| s.1).chain([Instant::now()]);
        (stages.iter().zip(ends))
            .map(|((name, start), end)| {
                let seconds = (end - *start).as_secs_f64();
                (format!("{}: {name}", self.device), seconds)
            })
            .collect()
    }
}

impl Observer for Stopwatch<'_> {
    fn stage(&self, name: &str, steps: usize) {
        self.begun().push((name.to_owned(), Instant::now()));
        self.inner.stage(name, steps);
    }

    fn step(&self, what: &str) {
        self.inner.step(what);
    }

    fn note(&self, text: &str) {
        self.inner.note(text);
    }

    fn cancelled(&self) -> bool {
        self.inner.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_meter::observe::Silent;
    use std::time::Duration;

    #[test]
    fn stages_follow_each_other() {
        let watch = Stopwatch::new(&Silent, "cpu");
        assert!(watch.durations().is_empty());
        let start = Instant::now();
        watch.stage("first", 1);
        std::thread::sleep(Duration::from_millis(20));
        watch.stage("second", 0);
        let found = watch.durations();
        assert_eq!(found[0].0, "cpu: first");
        assert_eq!(found[1].0, "cpu: second");
        assert!((0.02..=start.elapsed().as_secs_f64()).contains(&found[0].1));
    }
}
