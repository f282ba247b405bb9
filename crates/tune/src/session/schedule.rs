//! Spreads the trials of a search over its workers: proposals are built ahead, the next free worker measures the next
//! one, and the search is told results as they come.

use super::early::{Asked, Early, UntilOver};
use crate::build::builder::{Builder, Made};
use crate::error::{EnvironmentFault, TuneError};
use crate::points::Points;
use crate::search::Search;
use crate::strategy::{Feedback, Proposal};
use crate::sweep::Trial;
use crate::trial::bench::Bench;
use greenup_meter::Observer;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::Scope;
use std::time::Duration;

/// Losses in a row after which a worker is not started again.
const LOSSES: usize = 3;
/// Workers that one config may lose before it counts as failed.
const LOST: usize = 2;
/// Time between two looks at the clock and at the user's wish to stop.
const TICK: Duration = Duration::from_millis(50);

/// A built proposal.
struct Work {
    proposal: Proposal,
    made: Made,
    /// Workers that were lost with it.
    lost: Vec<usize>,
}

type Tried = Result<Option<Trial>, EnvironmentFault>;

enum Event {
    Built(usize, Made),
    /// A point that was not asked for when its build began.
    Early(u64, Made),
    Tried(usize, Box<Work>, Tried),
}

/// What the trials of a search need besides its workers.
pub(super) struct Schedule<'r> {
    pub(super) points: &'r (dyn Points + Sync),
    pub(super) builder: &'r Builder<'r>,
    pub(super) observer: &'r dyn Observer,
    /// Names of the workers.
    pub(super) names: &'r [String],
    /// A lost worker is started again; else what ends the only one ends the search.
    pub(super) restarts: bool,
    /// Compilers would disturb the measurements, so none runs beside them.
    pub(super) builds_disturb: bool,
    /// When the search must end.
    pub(super) late: &'r (dyn Fn() -> bool + Sync),
}

/// Takes a trial of a worker: records it and tells the search.
pub(super) type Take<'t> =
    &'t mut dyn FnMut(&mut Search<'_>, &Proposal, usize, Trial) -> Result<(), TuneError>;

/// The state of a search between events.
struct State {
    /// Proposals that are not built.
    asked: VecDeque<Proposal>,
    /// Proposals whose builds began, by number.
    building: BTreeMap<usize, Proposal>,
    /// What is built before it is asked for.
    early: Early,
    /// Built proposals by number; they are measured in this order.
    ready: BTreeMap<usize, Work>,
    /// Those whose worker was lost.
    again: Vec<Work>,
    /// Number of the next proposal to build, and of the next to measure.
    next_build: usize,
    next_trial: usize,
    /// A group of builds begins, during which nothing is measured.
    filling: bool,
    /// Whether the strategy has no more points.
    exhausted: bool,
    workers: Vec<WorkerState>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WorkerState {
    Free,
    Busy,
    Retired,
}

impl State {
    fn running(&self) -> usize {
        self.count(WorkerState::Busy)
    }

    fn count(&self, state: WorkerState) -> usize {
        self.workers.iter().filter(|w| **w == state).count()
    }

    /// A config whose worker was lost, for another worker if there is one.
    fn again_for(&mut self, worker: usize) -> Option<Work> {
        let usable = |i: &usize| self.workers[*i] != WorkerState::Retired;
        let fits = |work: &Work| {
            let mut others = (0..self.workers.len()).filter(usable);
            !work.lost.contains(&worker) || others.all(|i| work.lost.contains(&i))
        };
        let found = self.again.iter().position(fits)?;
        Some(self.again.swap_remove(found))
    }

    /// A proposal is built.
    fn built(&mut self, number: usize, made: Made) {
        if let Some(proposal) = self.building.remove(&number) {
            let work = Work {
                proposal,
                made,
                lost: Vec::new(),
            };
            self.ready.insert(number, work);
        }
    }

    /// Proposals that are not being measured.
    fn waiting(&self) -> usize {
        self.asked.len() + self.building.len() + self.ready.len() + self.again.len()
    }
}

impl Schedule<'_> {
    /// Searches until the budget or the points are used, time is up, or the user stops it, which it returns. A worker
    /// that is lost costs at most its trial.
    ///
    /// # Errors
    /// A trial cannot be recorded, a fault of the environment hits the only worker, or no worker is left.
    pub(super) fn run(
        &self,
        benches: &mut [Bench<'_>],
        search: &mut Search<'_>,
        take: Take<'_>,
    ) -> Result<bool, TuneError> {
        let count = benches.len();
        let until_over = UntilOver {
            observer: self.observer,
            over: AtomicBool::new(false),
        };
        let early = Builder {
            observer: &until_over,
            ..self.builder.clone()
        };
        std::thread::scope(|scope| {
            let (tx, events) = mpsc::channel();
            let mut inputs = Vec::new();
            let mut threads = Vec::new();
            for (worker, bench) in benches.iter_mut().enumerate() {
                let (give, works) = mpsc::channel::<Box<Work>>();
                let (tx, points) = (tx.clone(), self.points);
                inputs.push(give);
                let begins = !search.over();
                threads.push(scope.spawn(move || {
                    if begins {
                        bench.prepare();
                    }
                    for work in works {
                        let p = work.proposal;
                        let tried = bench.trial(points.config(p.point), p.effort, &work.made);
                        if tx.send(Event::Tried(worker, work, tried)).is_err() {
                            return;
                        }
                    }
                }));
            }
            let mut state = State {
                asked: VecDeque::new(),
                building: BTreeMap::new(),
                early: match self.builds_early(search) {
                    true => Early::of(self.points.len()),
                    false => Early::default(),
                },
                ready: BTreeMap::new(),
                again: Vec::new(),
                next_build: 0,
                next_trial: 0,
                filling: false,
                exhausted: false,
                workers: vec![WorkerState::Free; count],
            };
            let mut losses = vec![0; count];
            let mut failed: Option<TuneError> = None;
            let mut interrupted = false;
            loop {
                interrupted |= self.observer.cancelled();
                let mut over = interrupted || failed.is_some() || (self.late)();
                if !over {
                    self.ask(search, &mut state);
                    self.build(search, &mut state, scope, &tx);
                    self.build_early(search, &mut state, &early, scope, &tx);
                    self.give(search, &mut state, &inputs);
                    over = search.over() && state.again.is_empty()
                        || state.exhausted && state.waiting() == 0;
                }
                if over && state.running() == 0 && state.building.is_empty() {
                    break;
                }
                match events.recv_timeout(TICK) {
                    Ok(Event::Built(number, made)) => state.built(number, made),
                    Ok(Event::Early(point, made)) => {
                        if let Some((number, made)) = state.early.end(point, made) {
                            state.built(number, made);
                        }
                    }
                    Ok(Event::Tried(worker, work, Ok(trial))) => {
                        state.workers[worker] = WorkerState::Free;
                        losses[worker] = 0;
                        match trial {
                            None => interrupted = true,
                            Some(trial) => {
                                if let Err(e) = take(search, &work.proposal, worker, trial) {
                                    failed.get_or_insert(e);
                                }
                            }
                        }
                    }
                    Ok(Event::Tried(worker, work, Err(fault))) => {
                        state.workers[worker] = WorkerState::Free;
                        // What no compiler can be started for, no worker can measure.
                        let built = work.made.0.is_ok();
                        if !self.restarts || !built {
                            failed.get_or_insert(fault.into());
                            continue;
                        }
                        losses[worker] += 1;
                        self.lost(worker, losses[worker], &fault, &mut state);
                        if state.count(WorkerState::Retired) == count {
                            failed.get_or_insert(TuneError::NoWorker(fault));
                            continue;
                        }
                        if let Err(e) =
                            self.again(search, &mut state, worker, *work, fault, &mut *take)
                        {
                            failed.get_or_insert(e);
                        }
                    }
                    Err(_) => {}
                }
                // A thread ends early only if it panics, which the scope passes on.
                if threads
                    .iter()
                    .any(std::thread::ScopedJoinHandle::is_finished)
                {
                    break;
                }
            }
            until_over.over.store(true, Ordering::Relaxed);
            drop(inputs);
            failed.map_or(Ok(interrupted), Err)
        })
    }

    /// Says that a worker was lost; after some losses in a row it stays away.
    fn lost(&self, worker: usize, losses: usize, fault: &EnvironmentFault, state: &mut State) {
        let name = &self.names[worker];
        let then = if losses < LOSSES {
            "it is started again"
        } else {
            state.workers[worker] = WorkerState::Retired;
            "it is not started again"
        };
        self.observer.note(&format!(
            "worker {name} was lost ({losses} of {LOSSES} in a row), {then}: {fault}"
        ));
    }

    /// Another worker tries the config whose worker was lost; a config that loses several counts as failed.
    fn again(
        &self,
        search: &mut Search<'_>,
        state: &mut State,
        worker: usize,
        mut work: Work,
        fault: EnvironmentFault,
        take: Take<'_>,
    ) -> Result<(), TuneError> {
        work.lost.push(worker);
        if work.lost.len() < LOST {
            state.again.push(work);
            return Ok(());
        }
        let p = work.proposal;
        let config = self.points.config(p.point);
        take(search, &p, worker, Trial::lost(config, p.effort, fault.0))
    }

    /// Asks the strategy for points where it can name some.
    fn ask(&self, search: &mut Search<'_>, state: &mut State) {
        loop {
            let (waiting, running) = (state.waiting(), state.running());
            let usable = state.workers.len() - state.count(WorkerState::Retired);
            let wanted = match search.feedback() {
                Feedback::None => waiting < self.ahead(state),
                Feedback::Partial => waiting == 0 && running < usable,
                Feedback::Complete => waiting == 0 && running == 0,
            };
            if !wanted || state.exhausted {
                return;
            }
            match search.ask() {
                None => state.exhausted = true,
                Some(more) => {
                    let none = more.is_empty();
                    state.asked.extend(more);
                    // It waits for results.
                    if none && waiting + running > 0 {
                        return;
                    }
                }
            }
            if (self.late)() || self.observer.cancelled() {
                return;
            }
        }
    }

    /// Configs built ahead of their measurement: a few, as more would be lost when time is up.
    fn ahead(&self, state: &State) -> usize {
        let each = if self.builds_disturb { 8 } else { 16 };
        each * state.workers.len()
    }

    /// Starts builds: beside measurements if those do not mind, else a group while nothing is measured.
    fn build<'s>(
        &'s self,
        search: &Search<'_>,
        state: &mut State,
        scope: &'s Scope<'s, '_>,
        tx: &mpsc::Sender<Event>,
    ) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let ahead = self.ahead(state).min(search.left());
        if self.builds_disturb && state.running() == 0 && state.ready.is_empty() {
            state.filling = true;
        }
        if self.builds_disturb && !state.filling {
            return;
        }
        while state.building.len() < threads
            && state.building.len() + state.ready.len() < ahead
            && let Some(p) = state.asked.pop_front()
        {
            let number = state.next_build;
            state.next_build += 1;
            state.building.insert(number, p);
            match state.early.ask(p.point, number) {
                Asked::Made(made) => {
                    state.built(number, made);
                    continue;
                }
                Asked::Awaited => continue,
                Asked::New => {}
            }
            let tx = tx.clone();
            scope.spawn(move || {
                let made = self.builder.made(&self.points.config(p.point));
                let _ = tx.send(Event::Built(number, made));
            });
        }
        if state.building.is_empty() {
            state.filling = false;
        }
    }

    /// Whether idle cores build: not what the search will not get to, or what its strategy does not choose.
    fn builds_early(&self, search: &Search<'_>) -> bool {
        let tries_most = search.left() as u64 * 2 >= self.points.len();
        !self.builds_disturb && tries_most && search.chooses()
    }

    /// Builds on idle cores what may be asked for next, where that is known only after results.
    fn build_early<'s, 'b: 's>(
        &'s self,
        search: &Search<'_>,
        state: &mut State,
        builder: &'s Builder<'b>,
        scope: &'s Scope<'s, '_>,
        tx: &mpsc::Sender<Event>,
    ) {
        if search.feedback() == Feedback::None || !state.asked.is_empty() {
            return;
        }
        // A core for each worker, and one that starts what is asked for.
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let busy = state.workers.len() + 1;
        while state.building.len() + state.early.running() + busy < threads
            && let Some(point) = state.early.begin(&|p| search.history.knows(p, 1.0))
        {
            let tx = tx.clone();
            scope.spawn(move || {
                let made = builder.made(&self.points.config(point));
                let _ = tx.send(Event::Early(point, made));
            });
        }
    }

    /// Gives what is built to free workers, in the order of the proposals.
    fn give(&self, search: &mut Search<'_>, state: &mut State, inputs: &[mpsc::Sender<Box<Work>>]) {
        if state.filling {
            return;
        }
        for (worker, input) in inputs.iter().enumerate() {
            if state.workers[worker] != WorkerState::Free {
                continue;
            }
            let work = if let Some(work) = state.again_for(worker) {
                work
            } else {
                if search.over() {
                    continue;
                }
                let Some(work) = state.ready.remove(&state.next_trial) else {
                    continue;
                };
                state.next_trial += 1;
                work
            };
            search.begin(&work.proposal);
            if input.send(Box::new(work)).is_ok() {
                state.workers[worker] = WorkerState::Busy;
            }
        }
    }
}
