//! Pinning of threads to CPUs: the orders in which threads take the CPUs of a host.

use crate::facts::{parse_list, usable_cpus};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;

/// How threads are pinned, as OpenMP runtimes name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pin {
    /// The system moves them.
    #[default]
    None,
    /// Neighbours share a core, then a NUMA node.
    Compact,
    /// Spread over all CPUs in their order: neighbours stay near each other.
    Balanced,
    /// Neighbours are on different NUMA nodes; threads of one core are used last.
    Scatter,
}

impl Pin {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::None, Self::Compact, Self::Balanced, Self::Scatter];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Compact => "compact",
            Self::Balanced => "balanced",
            Self::Scatter => "scatter",
        }
    }
}

/// A name that is not one of [`Pin::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use none, compact, balanced or scatter")]
pub struct UnknownPin;

impl std::str::FromStr for Pin {
    type Err = UnknownPin;

    fn from_str(text: &str) -> Result<Self, UnknownPin> {
        (Self::ALL.into_iter())
            .find(|p| p.name() == text)
            .ok_or(UnknownPin)
    }
}

/// The CPUs that this process may use, in the orders in which threads take them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Places {
    /// By NUMA node, socket, core.
    pub compact: Vec<usize>,
    /// One of each NUMA node in turn; a core's second thread after all cores.
    pub scatter: Vec<usize>,
    /// Number of NUMA nodes.
    pub nodes: usize,
    /// Number of cores.
    pub cores: usize,
}

impl Places {
    /// Of this host.
    pub fn read() -> Self {
        Self::read_from(Path::new("/"), &usable_cpus())
    }

    /// Of `cpus`, from a copy of `/sys` below `root`; without files all are cores of one node.
    pub fn read_from(root: &Path, cpus: &[usize]) -> Self {
        let system = root.join("sys/devices/system");
        let node_of = |cpu: usize| -> usize {
            let all = fs::read_dir(system.join("node")).into_iter().flatten();
            all.flatten()
                .find_map(|dir| {
                    let name = dir.file_name();
                    let n = name.to_str()?.strip_prefix("node")?.parse().ok()?;
                    let list = fs::read_to_string(dir.path().join("cpulist")).ok()?;
                    parse_list(list.trim()).contains(&cpu).then_some(n)
                })
                .unwrap_or(0)
        };
        // Node, socket, core, and the CPU itself.
        let mut all: Vec<[usize; 4]> = (cpus.iter())
            .map(|&cpu| {
                let topology = system.join(format!("cpu/cpu{cpu}/topology"));
                let read = |name: &str, or: usize| {
                    let text = fs::read_to_string(topology.join(name)).unwrap_or_default();
                    text.trim().parse().unwrap_or(or)
                };
                let (socket, core) = (read("physical_package_id", 0), read("core_id", cpu));
                [node_of(cpu), socket, core, cpu]
            })
            .collect();
        all.sort_unstable();
        let compact = all.iter().map(|c| c[3]).collect();
        let mut cores = 0;
        let mut nodes: Vec<Vec<(usize, usize)>> = Vec::new();
        for node in all.chunk_by(|a, b| a[0] == b[0]) {
            let mut order = Vec::new();
            for core in node.chunk_by(|a, b| a[..3] == b[..3]) {
                cores += 1;
                order.extend(core.iter().enumerate().map(|(k, c)| (k, c[3])));
            }
            // Stable: the first of each core in their order.
            order.sort_by_key(|(k, _)| *k);
            nodes.push(order);
        }
        let longest = nodes.iter().map(Vec::len).max().unwrap_or(0);
        let scatter = (0..longest)
            .flat_map(|k| nodes.iter().filter_map(move |n| n.get(k)))
            .map(|(_, cpu)| *cpu)
            .collect();
        Self {
            compact,
            scatter,
            nodes: nodes.len(),
            cores,
        }
    }

    /// The CPU of a thread, one of `count` on this host; `None` without pinning. More threads than CPUs share them.
    pub fn cpu(&self, pin: Pin, thread: usize, count: usize) -> Option<usize> {
        let all = self.compact.len();
        if all == 0 {
            return None;
        }
        match pin {
            Pin::None => None,
            Pin::Compact => self.compact.get(thread % all).copied(),
            Pin::Balanced if count > all => self.compact.get(thread % all).copied(),
            Pin::Balanced => self
                .compact
                .get(thread % count.max(1) * all / count.max(1))
                .copied(),
            Pin::Scatter => self.scatter.get(thread % all).copied(),
        }
    }
}

/// Pins the calling thread to a CPU.
///
/// # Errors
/// The system does not permit it, or has no such function.
pub fn pin(cpu: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        if cpu >= libc::CPU_SETSIZE as usize {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        // SAFETY: an all-zero cpu_set_t is a valid empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the index is below CPU_SETSIZE.
        unsafe { libc::CPU_SET(cpu, &mut set) };
        // SAFETY: `set` is valid for reads of its own size; pid 0 is this thread.
        match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = cpu;
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// The CPUs that the calling thread may use.
pub fn allowed() -> Vec<usize> {
    usable_cpus()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of two cores with two threads each; the second threads have the higher numbers.
    fn host() -> (tempfile::TempDir, Vec<usize>) {
        let dir = tempfile::tempdir().unwrap();
        let system = dir.path().join("sys/devices/system");
        for cpu in 0..8 {
            let topology = system.join(format!("cpu/cpu{cpu}/topology"));
            fs::create_dir_all(&topology).unwrap();
            let core = cpu % 4;
            fs::write(
                topology.join("physical_package_id"),
                format!("{}\n", core / 2),
            )
            .unwrap();
            fs::write(topology.join("core_id"), format!("{}\n", core % 2)).unwrap();
        }
        for (node, list) in ["0-1,4-5\n", "2-3,6-7\n"].iter().enumerate() {
            let at = system.join(format!("node/node{node}"));
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("cpulist"), list).unwrap();
        }
        (dir, (0..8).collect())
    }

    #[test]
    fn threads_take_cpus_in_the_named_order() {
        let (dir, cpus) = host();
        let places = Places::read_from(dir.path(), &cpus);
        assert_eq!(places.compact, [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(places.scatter, [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!((places.nodes, places.cores), (2, 4));
        let of =
            |pin, n| -> Vec<usize> { (0..n).map(|t| places.cpu(pin, t, n).unwrap()).collect() };
        assert_eq!(of(Pin::Compact, 3), [0, 4, 1]);
        // A core each, neighbours on one node.
        assert_eq!(of(Pin::Balanced, 4), [0, 1, 2, 3]);
        assert_eq!(of(Pin::Balanced, 2), [0, 2]);
        assert_eq!(of(Pin::Scatter, 2), [0, 2]);
        assert_eq!(of(Pin::Balanced, 8), places.compact);
        assert_eq!(of(Pin::Compact, 9)[8], 0);
        assert_eq!(of(Pin::Balanced, 9)[8], 0);
        assert_eq!(places.cpu(Pin::None, 0, 4), None);
        // Only what the process may use.
        let some = Places::read_from(dir.path(), &[2, 3, 6]);
        assert_eq!((some.compact, some.nodes), (vec![2, 6, 3], 1));
        let bare = Places::read_from(Path::new("/nonexistent"), &[0, 1]);
        assert_eq!((bare.compact, bare.cores), (vec![0, 1], 2));
    }

    #[test]
    fn names_are_read_back() {
        for pin in Pin::ALL {
            assert_eq!(pin.name().parse(), Ok(pin));
        }
        assert_eq!("close".parse::<Pin>(), Err(UnknownPin));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pinned_thread_has_one_cpu() {
        let cpu = *Places::read().compact.last().unwrap();
        let left = std::thread::spawn(move || {
            pin(cpu).unwrap();
            allowed()
        });
        assert_eq!(left.join().unwrap(), [cpu]);
        assert!(pin(1 << 20).is_err());
    }
}
