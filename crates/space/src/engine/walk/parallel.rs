//! Work on the subtrees of the outermost levels, shared among threads.

use super::Walker;
use crate::engine::Stop;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a run may use.
#[derive(Clone)]
pub struct Limits<'a> {
    /// Number of threads.
    pub threads: usize,
    /// Memory for remembered results, bytes.
    pub bytes: usize,
    /// Asked now and then whether to stop.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            bytes: 768 << 20,
            cancelled: &|| false,
        }
    }
}

/// A thread with less than this remembers too little, and fails where one alone would not, bytes.
const LEAST_SHARE: usize = 64 << 20;

impl Limits<'_> {
    /// Threads that each have memory enough.
    pub(in crate::engine) fn workers(&self) -> usize {
        self.threads.min(self.bytes / LEAST_SHARE).max(1)
    }
}

/// Values chosen at the outermost levels of a group, and the level that comes next.
pub struct Task {
    pub chosen: Vec<(usize, u64)>,
    pub next: Option<usize>,
}

/// Cuts the group headed by `head` into tasks: at least `least` where its levels form a chain that
/// long.
pub fn tasks(w: &mut Walker, head: usize, least: usize) -> Result<Vec<Task>, Stop> {
    let mut all = vec![Task {
        chosen: Vec::new(),
        next: Some(head),
    }];
    let mut values = Vec::new();
    let mut depth = 0;
    while let Some(k) = all.first().and_then(|t| t.next) {
        let children = &w.nest.tree.children[k];
        // Only along a chain: at a fork the branches share the values above.
        if all.len() >= least || depth == 3 || children.len() > 1 {
            break;
        }
        // All values lead to the same: their number is enough.
        let level = &w.nest.levels[k];
        if level.tests.is_empty() && !level.matters {
            break;
        }
        if (w.cancelled)() {
            return Err(Stop::Cancelled);
        }
        let mut more = Vec::new();
        for t in &all {
            go_to(w, t);
            w.survivors(k, &mut values)?;
            more.extend(values.iter().map(|&v| Task {
                chosen: t.chosen.iter().copied().chain([(k, v)]).collect(),
                next: children.first().copied(),
            }));
        }
        if more.is_empty() {
            return Ok(more);
        }
        all = more;
        depth += 1;
    }
    Ok(all)
}

/// Puts a walker where a task starts.
pub fn go_to(w: &mut Walker, task: &Task) {
    for &(k, v) in &task.chosen {
        w.enter(k, v);
    }
}

/// States of the threads, and for each task whose it was and its result.
type Shared<S, R> = (Vec<S>, Vec<(usize, R)>);

/// Runs `work` for each task on up to `threads` threads; each thread has a state of its own made
/// by `state`. Helpers start only when the first thread has not done soon: small spaces are
/// finished before a thread is up. Returns the states and, for each task, whose it was and its
/// result.
pub fn share<S: Send, R: Send>(
    threads: usize,
    tasks: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<R, Stop> + Sync,
) -> Result<Shared<S, R>, Stop> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<Stop>> = Mutex::new(None);
    let run = |until: Option<Instant>| {
        let mut s = state();
        let mut done = Vec::new();
        while until.is_none_or(|t| Instant::now() < t) {
            let t = next.fetch_add(1, Ordering::Relaxed);
            if t >= tasks {
                break;
            }
            match work(&mut s, t) {
                Ok(r) => done.push((t, r)),
                Err(e) => {
                    // Nobody starts another task.
                    next.store(tasks, Ordering::Relaxed);
                    if let Ok(mut f) = failed.lock() {
                        f.get_or_insert(e);
                    }
                    break;
                }
            }
        }
        (s, done)
    };
    let patience = (threads > 1).then(|| Instant::now() + Duration::from_millis(1));
    let first = run(patience);
    let mut parts = vec![first];
    if next.load(Ordering::Relaxed) < tasks {
        std::thread::scope(|scope| {
            let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(|| run(None))).collect();
            parts.push(run(None));
            for h in helpers {
                match h.join() {
                    Ok(part) => parts.push(part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
    if let Some(e) = failed.into_inner().unwrap_or(None) {
        return Err(e);
    }
    let mut results: Vec<(usize, usize, R)> = Vec::with_capacity(tasks);
    let mut states = Vec::new();
    for (i, (s, done)) in parts.into_iter().enumerate() {
        states.push(s);
        results.extend(done.into_iter().map(|(t, r)| (t, i, r)));
    }
    results.sort_by_key(|&(t, _, _)| t);
    Ok((
        states,
        results.into_iter().map(|(_, i, r)| (i, r)).collect(),
    ))
}
