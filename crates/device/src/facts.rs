//! Facts of the host's CPU, read from the operating system.

use crate::isa::Isa;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// One data or unified cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// Level, from 1.
    pub level: u32,
    /// Size, bytes.
    pub bytes: usize,
    /// Number of usable logical CPUs that share such a cache.
    pub shared_by: usize,
}

/// Properties of the host's CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CpuFacts {
    /// Model name.
    pub model: String,
    /// Architecture, such as `x86_64`.
    pub arch: &'static str,
    /// Logical CPUs this process may use, by number.
    pub cpus: Vec<usize>,
    /// One logical CPU of every physical core among [`CpuFacts::cpus`].
    pub cores: Vec<usize>,
    /// Number of sockets.
    pub sockets: usize,
    /// Data and unified caches.
    pub caches: Vec<Cache>,
    /// The widest vector instruction set.
    pub isa: Isa,
    /// Whether the CPU reports a hypervisor.
    pub virtual_machine: bool,
    /// Frequency governor of the first CPU, if known.
    pub governor: Option<String>,
    /// Memory, bytes, if known.
    pub memory_bytes: Option<u64>,
}

impl CpuFacts {
    /// Reads the facts of this host.
    pub fn read() -> Self {
        Self::read_from(Path::new("/"), &usable_cpus())
    }

    /// Reads the facts below `root`, a copy of `/proc` and `/sys`; missing files leave defaults.
    pub fn read_from(root: &Path, cpus: &[usize]) -> Self {
        let cpuinfo = fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
        let field = |name: &str| {
            cpuinfo.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                (key.trim() == name).then(|| value.trim().to_owned())
            })
        };
        let cpu_dir = |cpu: usize| root.join(format!("sys/devices/system/cpu/cpu{cpu}"));
        let read = |path: &Path| fs::read_to_string(path).ok().map(|s| s.trim().to_owned());

        let mut seen = BTreeSet::new();
        let mut sockets = BTreeSet::new();
        let cores = cpus
            .iter()
            .copied()
            .filter(|&cpu| {
                let topology = cpu_dir(cpu).join("topology");
                sockets.insert(read(&topology.join("physical_package_id")));
                match read(&topology.join("thread_siblings_list")) {
                    Some(siblings) => seen.insert(siblings),
                    None => true,
                }
            })
            .collect();

        let mut caches = Vec::new();
        let first = cpus.first().copied().unwrap_or(0);
        for index in 0..8 {
            let dir = cpu_dir(first).join(format!("cache/index{index}"));
            let (Some(level), Some(kind), Some(size)) = (
                read(&dir.join("level")).and_then(|s| s.parse().ok()),
                read(&dir.join("type")),
                read(&dir.join("size")).and_then(|s| parse_size(&s)),
            ) else {
                continue;
            };
            if kind == "Instruction" {
                continue;
            }
            let shared = read(&dir.join("shared_cpu_list")).map_or(1, |list| {
                parse_list(&list)
                    .into_iter()
                    .filter(|cpu| cpus.contains(cpu))
                    .count()
                    .max(1)
            });
            caches.push(Cache {
                level,
                bytes: size,
                shared_by: shared,
            });
        }

        Self {
            model: field("model name")
                .or_else(|| field("Model"))
                .unwrap_or_else(|| format!("{} CPU", std::env::consts::ARCH)),
            arch: std::env::consts::ARCH,
            cpus: cpus.to_vec(),
            cores,
            sockets: sockets.len().max(1),
            caches,
            isa: Isa::best(),
            virtual_machine: field("flags")
                .is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor")),
            governor: read(&cpu_dir(first).join("cpufreq/scaling_governor")),
            memory_bytes: fs::read_to_string(root.join("proc/meminfo"))
                .ok()
                .and_then(|text| {
                    let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
                    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
                    Some(kib * 1024)
                }),
        }
    }

    /// Model and features of the CPU, which decide the code of `-march=native`.
    pub fn target() -> String {
        Self::target_of(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    fn target_of(cpuinfo: &str) -> String {
        const KEYS: [&str; 12] = [
            "vendor_id",
            "cpu family",
            "model",
            "model name",
            "stepping",
            "flags",
            "CPU implementer",
            "CPU variant",
            "CPU part",
            "CPU revision",
            "Features",
            "isa",
        ];
        let first = cpuinfo.lines().take_while(|l| !l.trim().is_empty());
        let mut out = std::env::consts::ARCH.to_owned();
        for line in first {
            // Clocks and numbers of cores change from one moment to the next.
            if line
                .split(':')
                .next()
                .is_some_and(|k| KEYS.contains(&k.trim()))
            {
                out.push('\n');
                out.push_str(line);
            }
        }
        out
    }

    /// Size of the cache of `level` that one core may fill, bytes; a typical size where the
    /// system does not tell.
    pub fn cache_bytes(&self, level: u32) -> Option<usize> {
        if self.caches.is_empty() {
            return [(1, 32 << 10), (2, 256 << 10), (3, 8 << 20)]
                .into_iter()
                .find_map(|(l, bytes)| (l == level).then_some(bytes));
        }
        self.caches
            .iter()
            .find(|c| c.level == level)
            .map(|c| c.bytes)
    }

    /// The properties that a search space may refer to as `device.NAME`.
    pub fn named(&self) -> Vec<(&'static str, i64)> {
        let int = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let vector = self.isa.vector_bytes();
        // Registers of the widest vector set: 32 for AVX-512 and NEON, else 16.
        let registers = if vector == 32 || self.arch == "x86_64" && vector < 32 {
            16
        } else {
            32
        };
        let mut out = vec![
            ("cores", int(self.cores.len())),
            ("threads", int(self.cpus.len())),
            ("sockets", int(self.sockets)),
            ("vector_bytes", int(vector)),
            ("vector_registers", registers),
            ("llc_bytes", int(self.last_level_bytes())),
        ];
        for (level, name) in [(1, "l1d_bytes"), (2, "l2_bytes"), (3, "l3_bytes")] {
            if let Some(bytes) = self.cache_bytes(level) {
                out.push((name, int(bytes)));
            }
        }
        if let Some(bytes) = self.memory_bytes {
            out.push(("memory_bytes", i64::try_from(bytes).unwrap_or(i64::MAX)));
        }
        out
    }

    /// Last-level cache of all usable cores, bytes.
    pub fn last_level_bytes(&self) -> usize {
        self.caches
            .iter()
            .max_by_key(|c| c.level)
            .map_or(32 << 20, |c| {
                c.bytes * self.cores.len().div_ceil(c.shared_by)
            })
    }
}

/// Logical CPUs this process may run on.
pub(crate) fn usable_cpus() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: an all-zero cpu_set_t is a valid empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: `set` is valid for writes of its own size; pid 0 is this thread.
        let rc = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) };
        if rc == 0 {
            let cpus: Vec<usize> = (0..libc::CPU_SETSIZE as usize)
                // SAFETY: the index is below CPU_SETSIZE.
                .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
                .collect();
            if !cpus.is_empty() {
                return cpus;
            }
        }
    }
    (0..std::thread::available_parallelism().map_or(1, usize::from)).collect()
}

/// `48K`, `2M`, `1024` in bytes.
fn parse_size(text: &str) -> Option<usize> {
    let (digits, factor) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 1 << 10),
        'M' => (&text[..text.len() - 1], 1 << 20),
        'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok().map(|n| n * factor)
}

/// `0-3,8` as numbers.
pub(crate) fn parse_list(text: &str) -> Vec<usize> {
    text.split(',')
        .filter_map(|part| match part.split_once('-') {
            Some((a, b)) => Some(a.trim().parse().ok()?..=b.trim().parse().ok()?),
            None => {
                let n = part.trim().parse().ok()?;
                Some(n..=n)
            }
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_lists() {
        assert_eq!(parse_size("48K"), Some(49152));
        assert_eq!(parse_size("1x"), None);
        assert_eq!(parse_list("0-2,5"), [0, 1, 2, 5]);
    }

    #[test]
    fn a_target_is_a_model_with_its_features_whatever_its_clock() {
        let cpu = |mhz: u32, flags: &str| {
            let text = format!(
                "processor : 0\nmodel name : X\ncpu MHz : {mhz}\nflags : {flags}\n\nprocessor : 1\nflags : none\n"
            );
            CpuFacts::target_of(&text)
        };
        assert_eq!(cpu(1000, "sse2 avx2"), cpu(2000, "sse2 avx2"));
        assert_ne!(cpu(1000, "sse2 avx2"), cpu(1000, "sse2"));
        assert!(cpu(1, "avx2").ends_with("model name : X\nflags : avx2"));
    }

    #[test]
    fn this_host_has_cpus_and_an_empty_root_gives_defaults() {
        let facts = CpuFacts::read();
        assert!(!facts.cpus.is_empty() && !facts.cores.is_empty());
        let none = CpuFacts::read_from(Path::new("/nonexistent"), &[0, 1]);
        assert_eq!((none.cores.len(), none.sockets), (2, 1));
        assert_eq!(none.cache_bytes(1), Some(32 << 10));
        assert!(none.last_level_bytes() > 0);
    }
}
