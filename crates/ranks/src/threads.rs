//! Ranks as threads of one process.

use crate::alone::nan_to_infinity;
use crate::interface::{Link, Messages, Peer, Ranks, end};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// Runs `f` on `n` ranks, each a thread; returns their results by rank.
///
/// # Errors
/// The error of a rank. The others end at their next operation with all ranks.
///
/// # Panics
/// If a rank panics, once all have ended.
pub fn run<T: Send, E: Send>(
    n: usize,
    f: impl Fn(Arc<dyn Ranks>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let team = Arc::new(ThreadTeam::new(n.max(1)));
    let member = |rank| {
        let ranks = Arc::new(Member {
            rank,
            team: team.clone(),
            links: Mutex::default(),
            combined: AtomicUsize::new(0),
        });
        let result = catch_unwind(AssertUnwindSafe(|| f(ranks)));
        if !matches!(result, Ok(Ok(_))) {
            team.lost.store(true, Ordering::Release);
        }
        result
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let member = &member;
        let threads: Vec<_> = (0..team.size)
            .map(|rank| scope.spawn(move || member(rank)))
            .collect();
        threads
            .into_iter()
            .map(|t| t.join().unwrap_or_else(Err))
            .collect()
    });
    let (mut done, mut error, mut panic) = (Vec::with_capacity(n), None, None);
    for result in results {
        match result {
            Ok(Ok(value)) => done.push(value),
            Ok(Err(e)) => error = error.or(Some(e)),
            Err(payload) if payload.is::<Lost>() => {}
            Err(payload) => panic = panic.or(Some(payload)),
        }
    }
    match (panic, error) {
        (Some(payload), _) => resume_unwind(payload),
        (None, Some(e)) => Err(e),
        (None, None) => Ok(done),
    }
}

/// What a rank unwinds with when another is lost.
struct Lost;

/// A message under way between two ranks.
#[derive(Default)]
struct Channel {
    full: AtomicBool,
    message: Mutex<Vec<f64>>,
}

/// Sender, receiver, and number of the link between them.
type Route = (usize, usize, usize);

struct ThreadTeam {
    size: usize,
    /// Whether there are more ranks than cores.
    crowded: bool,
    lost: AtomicBool,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    /// What each rank gives to an operation of all: to one in a list, to the next in the other.
    given: [Vec<RwLock<Vec<u64>>>; 2],
    bytes: Vec<Mutex<Vec<u8>>>,
    /// Messages of an exchange, by receiver, then by sender.
    mail: Vec<Vec<Mutex<Vec<u8>>>>,
    channels: Mutex<HashMap<Route, Arc<Channel>>>,
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    // A rank that panics while it holds a lock ends all others anyway.
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ThreadTeam {
    fn new(size: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            size,
            crowded: size > cores,
            lost: AtomicBool::new(false),
            arrived: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            given: [(); 2].map(|()| (0..size).map(|_| RwLock::default()).collect()),
            bytes: (0..size).map(|_| Mutex::default()).collect(),
            mail: (0..size)
                .map(|_| (0..size).map(|_| Mutex::default()).collect())
                .collect(),
            channels: Mutex::default(),
        }
    }

    /// Waits for a condition that another rank brings about; unwinds if a rank is lost.
    fn until(&self, mut done: impl FnMut() -> bool) {
        let mut tries = 0u32;
        while !done() {
            if self.lost.load(Ordering::Acquire) {
                resume_unwind(Box::new(Lost));
            }
            tries = tries.saturating_add(1);
            match tries {
                ..4_000 if !self.crowded => std::hint::spin_loop(),
                ..20_000 => std::thread::yield_now(),
                // The rank that is waited for may need this core.
                _ => std::thread::sleep(Duration::from_micros(50)),
            }
        }
    }

    fn barrier(&self) {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.size {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.fetch_add(1, Ordering::Release);
        } else {
            self.until(|| self.generation.load(Ordering::Acquire) != generation);
        }
    }
}

/// A number as a word, and back.
type Words<T> = (fn(T) -> u64, fn(u64) -> T);

struct Member {
    rank: usize,
    team: Arc<ThreadTeam>,
    /// Number of links made so far with each rank.
    links: Mutex<HashMap<usize, usize>>,
    /// Number of operations of all so far that combine words.
    combined: AtomicUsize,
}

impl Member {
    /// Combines words of all ranks, in the order of ranks.
    fn combine<T: Copy>(&self, x: &mut [T], (word, value): Words<T>, f: fn(T, T) -> T) {
        let team = &*self.team;
        // Whoever writes a list again has passed the barrier of the operation between, which its readers reach later.
        let given = &team.given[self.combined.fetch_add(1, Ordering::Relaxed) % 2];
        let mut own = (given[self.rank].write()).unwrap_or_else(PoisonError::into_inner);
        own.clear();
        own.extend(x.iter().map(|x| word(*x)));
        drop(own);
        team.barrier();
        for (rank, given) in given.iter().enumerate() {
            let given = given.read().unwrap_or_else(PoisonError::into_inner);
            for (x, given) in x.iter_mut().zip(given.iter()) {
                let given = value(*given);
                *x = if rank == 0 { given } else { f(*x, given) };
            }
        }
    }
}

impl Ranks for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.team.size
    }

    fn local(&self) -> (usize, usize) {
        (self.rank, self.team.size)
    }

    fn sum(&self, x: &mut [f64]) {
        self.combine(x, (f64::to_bits, f64::from_bits), |a, b| a + b);
    }

    fn sum_integers(&self, x: &mut [i64]) {
        self.combine(x, (i64::cast_unsigned, u64::cast_signed), i64::wrapping_add);
    }

    fn max(&self, x: &mut [f64]) {
        nan_to_infinity(x);
        self.combine(x, (f64::to_bits, f64::from_bits), f64::max);
    }

    fn broadcast(&self, bytes: &mut Vec<u8>) {
        let team = &*self.team;
        if self.rank == 0 {
            lock(&team.bytes[0]).clone_from(bytes);
        }
        team.barrier();
        if self.rank > 0 {
            bytes.clone_from(&lock(&team.bytes[0]));
        }
        team.barrier();
    }

    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let team = &*self.team;
        *lock(&team.bytes[self.rank]) = bytes.to_vec();
        team.barrier();
        let take = |b: &Mutex<Vec<u8>>| std::mem::take(&mut *lock(b));
        let all = (self.rank == 0).then(|| team.bytes.iter().map(take).collect());
        team.barrier();
        all
    }

    fn exchange(&self, to: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let team = &*self.team;
        for (mail, message) in team.mail.iter().zip(to) {
            *lock(&mail[self.rank]) = message;
        }
        team.barrier();
        let take = |m: &Mutex<Vec<u8>>| std::mem::take(&mut *lock(m));
        let got = team.mail[self.rank].iter().map(take).collect();
        // The next exchange must not replace what others have not taken.
        team.barrier();
        got
    }

    fn barrier(&self) {
        self.team.barrier();
    }

    fn link(&self, peers: &[Peer]) -> Box<dyn Link> {
        let mut made = lock(&self.links);
        let mut channels = lock(&self.team.channels);
        let routes = peers.iter().map(|peer| {
            let number = made.entry(peer.rank).or_default();
            let mut channel = |from, to| channels.entry((from, to, *number)).or_default().clone();
            let both = (channel(self.rank, peer.rank), channel(peer.rank, self.rank));
            *number += 1;
            both
        });
        Box::new(Channels {
            routes: routes.collect(),
            team: self.team.clone(),
            messages: Messages::new(peers),
        })
    }

    fn abort(&self, message: &str, code: u8) -> ! {
        end(message, code)
    }
}

/// A link between threads: for each peer the channel to it and from it.
struct Channels {
    team: Arc<ThreadTeam>,
    routes: Vec<(Arc<Channel>, Arc<Channel>)>,
    messages: Messages,
}

impl Link for Channels {
    fn outgoing(&mut self, peer: usize) -> &mut [f64] {
        &mut self.messages.outgoing[peer]
    }

    fn begin(&mut self) {
        for ((to, _), message) in self.routes.iter().zip(&self.messages.outgoing) {
            // The message before has arrived once its receiver finished.
            self.team.until(|| !to.full.load(Ordering::Acquire));
            lock(&to.message).clone_from(message);
            to.full.store(true, Ordering::Release);
        }
    }

    fn finish(&mut self) {
        for ((_, from), message) in self.routes.iter().zip(&mut self.messages.incoming) {
            self.team.until(|| from.full.load(Ordering::Acquire));
            // Copied, not swapped: lengths are those of the receiver.
            let sent = lock(&from.message);
            let n = message.len().min(sent.len());
            message[..n].copy_from_slice(&sent[..n]);
            drop(sent);
            from.full.store(false, Ordering::Release);
        }
    }

    fn incoming(&self, peer: usize) -> &[f64] {
        &self.messages.incoming[peer]
    }
}

#[cfg(test)]
mod tests;
