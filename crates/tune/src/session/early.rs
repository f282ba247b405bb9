//! Builds of configs that may be asked for: a strategy that waits for results cannot name the next ones, and cores are idle.

use crate::build::builder::Made;
use crate::error::{BuildError, CompileError};
use greenup_meter::Observer;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Points of a space that is small enough: most of them are tried.
const MOST: u64 = 512;

/// What is known of the build of a point.
enum Build {
    /// Under way; with its number where it was asked for meanwhile.
    Running(Option<usize>),
    Made(Box<Made>),
    /// Asked for, and handed on or built by that.
    Asked,
}

/// The points of a small space, and those that were built early.
#[derive(Default)]
pub(super) struct Early {
    /// Those that are not begun, the next one last.
    left: Vec<u64>,
    builds: HashMap<u64, Build>,
    running: usize,
}

/// What becomes of a point that is asked for.
pub(super) enum Asked {
    /// It is built.
    Made(Made),
    /// Its build is under way.
    Awaited,
    /// It must be built.
    New,
}

impl Early {
    /// Of a space of so many points, in random order; of none where it is large.
    pub(super) fn of(points: u64) -> Self {
        let mut left: Vec<u64> = if points <= MOST {
            (0..points).collect()
        } else {
            Vec::new()
        };
        fastrand::Rng::with_seed(1).shuffle(&mut left);
        Self {
            left,
            ..Self::default()
        }
    }

    /// Builds under way.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// The next point to build, of those that are not `known`.
    pub(super) fn begin(&mut self, known: &dyn Fn(u64) -> bool) -> Option<u64> {
        loop {
            let point = self.left.pop()?;
            if !self.builds.contains_key(&point) && !known(point) {
                self.builds.insert(point, Build::Running(None));
                self.running += 1;
                return Some(point);
            }
        }
    }

    /// A point is asked for, by a number.
    pub(super) fn ask(&mut self, point: u64, number: usize) -> Asked {
        match self.builds.insert(point, Build::Asked) {
            Some(Build::Made(made)) => Asked::Made(*made),
            Some(Build::Running(_)) => {
                self.builds.insert(point, Build::Running(Some(number)));
                Asked::Awaited
            }
            Some(Build::Asked) | None => Asked::New,
        }
    }

    /// A build is over: its number and what it gave, if it was asked for.
    pub(super) fn end(&mut self, point: u64, made: Made) -> Option<(usize, Made)> {
        self.running -= 1;
        match self.builds.remove(&point) {
            Some(Build::Running(Some(number))) => {
                self.builds.insert(point, Build::Asked);
                return Some((number, made));
            }
            // What was no fault of the config may work when it is asked for.
            _ if !is_final(&made) => {}
            _ => {
                self.builds.insert(point, Build::Made(Box::new(made)));
            }
        }
        None
    }
}

/// Whether another build would give the same.
fn is_final(made: &Made) -> bool {
    matches!(
        made.0,
        Ok(_) | Err(BuildError::Compile(CompileError::Rejected(_)))
    )
}

/// Stops what is built early when the search is over.
pub(super) struct UntilOver<'o> {
    pub(super) observer: &'o dyn Observer,
    pub(super) over: AtomicBool,
}

impl Observer for UntilOver<'_> {
    fn cancelled(&self) -> bool {
        self.over.load(Ordering::Relaxed) || self.observer.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(seconds: f64) -> Made {
        let rejected = CompileError::Rejected("no".into());
        (Err(BuildError::Compile(rejected)), seconds)
    }

    #[test]
    fn each_point_is_built_once_and_handed_on() {
        let none = |_: u64| false;
        let mut early = Early::of(6);
        let first = early.begin(&none).unwrap();
        let second = early.begin(&none).unwrap();
        // Under way while it is asked for: its end answers.
        assert!(matches!(early.ask(first, 7), Asked::Awaited));
        assert_eq!(
            early.end(first, made(1.0)).map(|e| (e.0, e.1.1)),
            Some((7, 1.0))
        );
        // Built before it is asked for.
        assert!(early.end(second, made(2.0)).is_none());
        assert_eq!(early.running(), 0);
        assert!(matches!(early.ask(second, 8), Asked::Made((_, 2.0))));
        // What may work the next time is forgotten.
        let other = early.begin(&none).unwrap();
        let interrupted = Err(BuildError::Compile(CompileError::Interrupted));
        assert!(early.end(other, (interrupted, 1.0)).is_none());
        assert!(matches!(early.ask(other, 11), Asked::New));
        // Again, as by a shorter measurement before.
        assert!(matches!(early.ask(second, 9), Asked::New));
        // What was asked for is not built early.
        let third = (0..6)
            .find(|p| ![first, second, other].contains(p))
            .unwrap();
        assert!(matches!(early.ask(third, 10), Asked::New));
        // Nor what was recorded before.
        let known = (0..6).find(|p| ![first, second, other, third].contains(p));
        let last = early.begin(&|p| Some(p) == known).unwrap();
        assert!(
            ![Some(first), Some(second), Some(other), Some(third), known].contains(&Some(last))
        );
        assert_eq!(early.begin(&none), None);
        assert_eq!(Early::of(MOST + 1).begin(&none), None);
    }
}
