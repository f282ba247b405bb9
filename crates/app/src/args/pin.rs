//! `--pin`.

use crate::error::{AppError, Result};
use clap::Args;
use greenup_device::affinity::{Pin, Places, allowed, pin};

/// `--pin`.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct PinArg {
    /// Pin threads to CPUs: none, compact (neighbours on one core and NUMA node), balanced (spread in order over all CPUs) or
    /// scatter (neighbours on different NUMA nodes). Ranks of a host share its CPUs in the same order
    #[arg(long, value_name = "ORDER", default_value = "none", value_parser = order)]
    pub pin: Pin,
}

/// Reads an order.
///
/// # Errors
/// It has another name.
pub fn order(text: &str) -> std::result::Result<Pin, greenup_device::affinity::UnknownPin> {
    text.parse()
}

impl PinArg {
    /// Pins the threads of this process's pool, which is started if it is not; `local` is the number of this process among
    /// those of the run on this host, and theirs.
    ///
    /// # Errors
    /// The system does not permit it.
    pub fn start(self, local: (usize, usize)) -> Result {
        pin_pool(self.pin, local)
    }
}

/// Pins the threads of the pool of the caller, or of this process.
///
/// # Errors
/// The system does not permit it.
pub fn pin_pool(order: Pin, (rank, ranks): (usize, usize)) -> Result {
    if order == Pin::None {
        return Ok(());
    }
    let places = Places::read();
    // A launcher that binds its processes gave this one CPUs of its own.
    // SAFETY: a question.
    let online = usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) });
    let (rank, ranks) = if online.is_ok_and(|all| places.compact.len() < all) {
        (0, 1)
    } else {
        (rank, ranks)
    };
    let pinned = rayon::broadcast(|thread| {
        let threads = thread.num_threads();
        match places.cpu(order, rank * threads + thread.index(), ranks * threads) {
            Some(cpu) => pin(cpu),
            None => Ok(()),
        }
    });
    match pinned.into_iter().find_map(std::result::Result::err) {
        None => Ok(()),
        Some(e) => Err(AppError::new(format!("threads cannot be pinned: {e}"))
            .hint("leave out --pin, or let the launcher bind processes")),
    }
}

/// The CPUs that each thread of the pool may use.
pub fn cpus_of_pool() -> Vec<Vec<usize>> {
    rayon::broadcast(|_| allowed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_of_a_pool_have_one_cpu_each() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        let places = Places::read();
        // As the second of two processes.
        let cpus = pool.install(|| {
            pin_pool(Pin::Compact, (1, 2)).unwrap();
            cpus_of_pool()
        });
        let all = places.compact.len();
        let want: Vec<Vec<usize>> = (2..4).map(|t| vec![places.compact[t % all]]).collect();
        assert_eq!(cpus, want);
        let free = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        let cpus = free.install(|| {
            pin_pool(Pin::None, (0, 1)).unwrap();
            cpus_of_pool()
        });
        assert_eq!(cpus[0].len(), all);
    }
}
