//! A search under way: points that are proposed, open and known, and the folder in which its trials are recorded.

use greenup_tune::search::Search;
use greenup_tune::strategy::Proposal;
use greenup_tune::sweep::{
    Failure, Folder, FolderError, Kernels, OBJECTIVE, Outcome, SweepFacts, Trial,
};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) struct State {
    pub search: Search<'static>,
    /// Proposed, and not asked for yet.
    ready: VecDeque<Proposal>,
    /// Asked for and without a result, with the effort of their measurement.
    open: HashMap<u64, f64>,
    /// Points with their costs in the order of the results; no costs for a failure.
    pub known: Vec<(u64, Option<Vec<f64>>)>,
    /// Where trials are recorded.
    pub folder: Option<Folder>,
}

/// What asking gives.
pub(super) enum Next {
    Point(u64),
    End,
    /// The strategy needs the results of so many points.
    Waits(usize),
}

/// A result of a point.
pub(super) struct PointResult {
    pub costs: Option<Vec<f64>>,
    pub seconds: Option<f64>,
    pub joules: Option<f64>,
    pub message: Option<String>,
}

/// Why a result is not taken.
pub(super) enum Refused {
    /// It has another number of costs than the results before.
    Number {
        now: usize,
        before: usize,
    },
    Folder(FolderError),
}

/// How often a strategy may repeat itself.
const TRIES: usize = 1000;

impl State {
    pub fn new(search: Search<'static>) -> Self {
        Self {
            search,
            ready: VecDeque::new(),
            open: HashMap::new(),
            known: Vec::new(),
            folder: None,
        }
    }

    /// The next point to measure.
    pub fn next(&mut self) -> Next {
        for _ in 0..TRIES {
            if self.search.over() {
                return Next::End;
            }
            if let Some(p) = self.ready.pop_front() {
                self.search.begin(&p);
                self.open.insert(p.point, p.effort);
                return Next::Point(p.point);
            }
            match self.search.ask() {
                None => return Next::End,
                Some(more) => self.ready.extend(more),
            }
            if self.ready.is_empty() && !self.open.is_empty() {
                break;
            }
        }
        Next::Waits(self.open.len())
    }

    /// The next points that may be measured before any result is told: those that the strategy proposes together.
    pub fn next_together(&mut self) -> Result<Vec<u64>, usize> {
        let mut out = match self.next() {
            Next::Point(at) => vec![at],
            Next::End => return Ok(Vec::new()),
            Next::Waits(open) => return Err(open),
        };
        while !self.ready.is_empty()
            && let Next::Point(at) = self.next()
        {
            out.push(at);
        }
        Ok(out)
    }

    /// Takes the result of a point, whose values are `config`: on the disk first, so that nothing can lose it.
    pub fn take(
        &mut self,
        at: u64,
        config: Vec<greenup_space::Value>,
        found: PointResult,
    ) -> Result<(), Refused> {
        if let (Some(new), Some(before)) = (&found.costs, self.objectives())
            && new.len() != before
        {
            let now = new.len();
            return Err(Refused::Number { now, before });
        }
        let costs = found.costs.clone();
        if let Some(folder) = &mut self.folder {
            folder
                .append(&trial(config, found))
                .map_err(Refused::Folder)?;
        }
        self.tell(at, costs);
        Ok(())
    }

    fn tell(&mut self, at: u64, costs: Option<Vec<f64>>) {
        let effort = self.open.remove(&at).unwrap_or(1.0);
        self.search.tell(at, costs.clone(), effort);
        self.known.push((at, costs));
    }

    /// Number of costs of a point, once one is known.
    fn objectives(&self) -> Option<usize> {
        let first = self.known.iter().find_map(|t| t.1.as_ref());
        first.map(Vec::len)
    }

    /// Opens the folder in which trials are recorded; the search learns those that it has.
    pub fn open_folder(
        &mut self,
        dir: &Path,
        facts: &SweepFacts,
        resume: bool,
    ) -> Result<(), FolderError> {
        if !resume || !Folder::exists(dir) {
            self.folder = Some(Folder::create(dir, facts)?);
            return Ok(());
        }
        let (folder, sweep) = Folder::resume(dir, facts, &[])?;
        self.folder = Some(folder);
        for trial in &sweep.trials {
            // A point that the space no longer has is of no use.
            if let Some(at) = self.search.position(&trial.config) {
                let costs = trial.cost().map(|c| costs_of(trial, c.time_s));
                self.tell(at, costs);
            }
        }
        Ok(())
    }
}

/// A result as it is recorded.
fn trial(config: Vec<greenup_space::Value>, found: PointResult) -> Trial {
    let outcome = match &found.costs {
        Some(c) => {
            let time_s = found.seconds.unwrap_or(c[0]);
            Outcome::Measured {
                times_s: vec![time_s],
                time_s,
                energy_j: found.joules,
                time_error: None,
            }
        }
        None => Outcome::Failed {
            failure: Failure::Runtime,
            message: found.message.unwrap_or_default(),
        },
    };
    Trial {
        config,
        outcome,
        metrics: named(found.costs.as_deref()),
        kernels: Kernels::new(),
        effort: 1.0,
        stopped: false,
        build_s: 0.0,
        verify_s: 0.0,
        measure_s: found.seconds.unwrap_or(0.0),
        flags: Vec::new(),
        at: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |d| d.as_secs_f64()),
        device: None,
        row: None,
    }
}

/// The name of the metric that is cost `i`, from 0.
pub(super) fn cost_name(i: usize) -> String {
    match i {
        0 => OBJECTIVE.to_owned(),
        i => format!("{OBJECTIVE}_{}", i + 1),
    }
}

/// Costs as metrics of a trial.
fn named(costs: Option<&[f64]>) -> BTreeMap<String, f64> {
    let all = costs.unwrap_or_default().iter();
    all.enumerate().map(|(i, &c)| (cost_name(i), c)).collect()
}

/// The costs of a recorded trial.
fn costs_of(trial: &Trial, time_s: f64) -> Vec<f64> {
    let of = |name: &str| trial.metrics.get(name).copied();
    let mut out = vec![of(OBJECTIVE).unwrap_or(time_s)];
    while let Some(x) = of(&cost_name(out.len())) {
        out.push(x);
    }
    out
}
