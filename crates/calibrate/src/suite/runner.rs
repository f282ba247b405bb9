//! What prepares microbenchmarks and tells the time.

use crate::bench::Bench;
use crate::bench::window::Repeatable;
use greenup_device::load::{Load, Shares};
use greenup_device::{CpuFacts, Team};
use std::time::Instant;

/// Prepares microbenchmarks and tells the time: a host, or a simulated one in tests.
pub trait Runner {
    /// A benchmark with its data; `None` where the host lacks the level, or if `go` says no meanwhile.
    fn prepare(
        &self,
        bench: &Bench,
        go: &(dyn Fn() -> bool + Sync),
    ) -> Option<Box<dyn Repeatable + '_>>;
    /// Seconds since a fixed moment.
    fn now_s(&self) -> f64;
    /// What others took of the cores since that moment, where it is known.
    fn others(&self) -> Option<Shares>;
}

/// The cores of this host.
pub struct HostRunner<'a> {
    facts: &'a CpuFacts,
    team: &'a Team,
    start: Instant,
    load: Option<Load>,
}

impl<'a> HostRunner<'a> {
    /// A team on the cores of a host.
    pub fn new(facts: &'a CpuFacts, team: &'a Team) -> Self {
        Self {
            facts,
            team,
            start: Instant::now(),
            load: Load::now(&facts.cores),
        }
    }
}

impl Runner for HostRunner<'_> {
    fn prepare(
        &self,
        bench: &Bench,
        go: &(dyn Fn() -> bool + Sync),
    ) -> Option<Box<dyn Repeatable + '_>> {
        let prepared = bench.prepare(self.facts, self.team, go)?;
        Some(Box::new(prepared))
    }

    fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn others(&self) -> Option<Shares> {
        Load::now(&self.facts.cores)?.since(self.load.as_ref()?)
    }
}
