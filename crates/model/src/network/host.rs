//! What ranks on the cores of a host share: bandwidth of memory and caches, and the clock.
//!
//! A rank's time has a part that waits for data beyond its core's own caches. That part is the larger of what one core
//! takes alone and what its share of the bandwidth of all active cores allows.

use crate::machine::{Estimate, MachineError, check_estimate};
use serde::{Deserialize, Serialize};

/// What the devices or ranks of a host share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Cache of a core alone, bytes: a smaller working set shares nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_cache_bytes: Option<f64>,
    /// Cache that all cores share, bytes: smaller working sets of all ranks together have its bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_cache_bytes: Option<f64>,
    /// Bytes that all cores move to and from memory in a second, B/s. Without it, that of the most active cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes_per_s: Option<Estimate>,
    /// Rates of 1, 2, 4, … active cores, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<Active>,
}

/// Rates of all active cores together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Active {
    /// Number of active cores.
    pub cores: usize,
    /// Triad in memory, B/s.
    pub memory_bytes_per_s: Estimate,
    /// Reads of the shared cache, B/s. Without it, those of the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes_per_s: Option<Estimate>,
    /// Multiply–adds in registers, flop/s: they show how the clock falls. Without it, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops_per_s: Option<Estimate>,
}

/// What a rank moves beyond the caches of its core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Memory {
    /// Bytes moved.
    pub bytes: f64,
    /// Bytes that it uses again and again: they tell which cache they stay in.
    pub working_set_bytes: f64,
    /// Time of the part of the computation that moves them, on one core alone, s.
    pub within_s: f64,
}

impl Host {
    /// Rate of a number of active cores: linear between those that were measured, constant beyond the last.
    fn rate(&self, cores: usize, of: impl Fn(&Active) -> Option<f64>) -> Option<f64> {
        let known: Vec<(f64, f64)> = (self.active.iter())
            .filter_map(|a| Some((a.cores as f64, of(a)?)))
            .collect();
        let n = cores as f64;
        let after = known.iter().position(|(c, _)| *c >= n);
        match after {
            None => known.last().map(|k| k.1),
            Some(0) => known.first().map(|(c, r)| r * n / c),
            Some(i) => {
                let ((c0, r0), (c1, r1)) = (known[i - 1], known[i]);
                Some(r0 + (r1 - r0) * (n - c0) / (c1 - c0))
            }
        }
    }

    /// Bytes a second of a number of cores, each with this working set; `None` if it stays in the caches of a core, or
    /// nothing was measured.
    pub fn bandwidth(&self, cores: usize, working_set_bytes: f64) -> Option<f64> {
        if (self.private_cache_bytes).is_some_and(|b| working_set_bytes <= b) {
            return None;
        }
        let all = working_set_bytes * cores as f64;
        let cached = self.shared_cache_bytes.is_some_and(|b| all <= b);
        let memory = |a: &Active| Some(a.memory_bytes_per_s.value);
        let cache = |a: &Active| match &a.cache_bytes_per_s {
            Some(e) => Some(e.value),
            None => memory(a),
        };
        if cached {
            self.rate(cores, cache)
        } else {
            self.rate(cores, memory)
        }
    }

    /// Bytes that all cores move to and from memory in a second.
    pub fn memory_rate(&self) -> Option<f64> {
        let own = self.memory_bytes_per_s.as_ref().map(|e| e.value);
        own.or_else(|| Some(self.active.last()?.memory_bytes_per_s.value))
    }

    /// Time of a rank beside others on as many cores, from its time on one core alone, s.
    pub fn shared_s(&self, alone_s: f64, memory: &Memory, cores: usize) -> f64 {
        if cores <= 1 {
            return alone_s;
        }
        let flops = |a: &Active| Some(a.flops_per_s.as_ref()?.value);
        let clock = match (self.rate(1, flops), self.rate(cores, flops)) {
            (Some(one), Some(all)) => (one * cores as f64 / all).max(1.0),
            _ => 1.0,
        };
        let set = memory.working_set_bytes;
        let (Some(one), Some(all)) = (self.bandwidth(1, set), self.bandwidth(cores, set)) else {
            return alone_s * clock;
        };
        let own = (memory.bytes / one).min(memory.within_s).min(alone_s);
        let shared = own * (one * cores as f64 / all);
        (alone_s - own) * clock + shared.max(own)
    }

    /// Names, units and values of its constants.
    pub fn constants(&self) -> Vec<(String, &'static str, Estimate)> {
        let mut out = Vec::new();
        let mut put = |name: String, unit, e: &Option<Estimate>| {
            out.extend(e.clone().map(|e| (name, unit, e)));
        };
        put("memory, all cores".into(), "B/s", &self.memory_bytes_per_s);
        for a in &self.active {
            let n = a.cores;
            put(
                format!("memory, {n} active"),
                "B/s",
                &Some(a.memory_bytes_per_s.clone()),
            );
            put(
                format!("shared cache, {n} active"),
                "B/s",
                &a.cache_bytes_per_s,
            );
            put(
                format!("multiply–adds, {n} active"),
                "flop/s",
                &a.flops_per_s,
            );
        }
        out
    }

    /// The same with each rate at the end of its interval that makes computations cheapest, or dearest.
    pub(crate) fn corner(&self, low: bool) -> Self {
        let end = |e: &Estimate| Estimate::new(if low { e.high() } else { e.low() });
        Self {
            // Those of active cores count by their ratios, whose ends these are not.
            memory_bytes_per_s: self.memory_bytes_per_s.as_ref().map(end),
            ..self.clone()
        }
    }

    pub(crate) fn check(&self) -> Result<(), MachineError> {
        let bad = |field: &str, value: f64, bound| {
            Err(MachineError::BadValue {
                field: format!("host.{field}"),
                value,
                bound,
            })
        };
        for (name, b) in [
            ("private_cache_bytes", self.private_cache_bytes),
            ("shared_cache_bytes", self.shared_cache_bytes),
        ] {
            if let Some(b) = b.filter(|b| !(b.is_finite() && *b > 0.0)) {
                return bad(name, b, "above 0");
            }
        }
        let mut before = 0;
        for a in &self.active {
            if a.cores <= before {
                let bound = "above that of the row before, the first above 0";
                return bad("active.cores", a.cores as f64, bound);
            }
            before = a.cores;
        }
        for (name, _, e) in self.constants() {
            check_estimate(&format!("host: {name}"), &e, true)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;

    const TOML: &str = "name = 'm'\ntitle = 'M'\n[link]\nlatency_s = { value = 1e-6 }\nbandwidth_bytes_per_s = { value = 5e9 }\n\
        [host]\nprivate_cache_bytes = 2e6\nshared_cache_bytes = 1e8\n\
        [[host.active]]\ncores = 1\nmemory_bytes_per_s = { value = 10e9 }\ncache_bytes_per_s = { value = 20e9 }\nflops_per_s = { value = 50e9 }\n\
        [[host.active]]\ncores = 4\nmemory_bytes_per_s = { value = 16e9 }\ncache_bytes_per_s = { value = 40e9 }\nflops_per_s = { value = 160e9 }\n";

    #[test]
    fn the_part_that_waits_for_memory_is_shared() {
        let host = Machine::from_toml(TOML).unwrap().host.unwrap();
        let memory = |set: f64| Memory {
            bytes: 5e9,
            working_set_bytes: set,
            within_s: 10.0,
        };
        // 5 GB at 10 GB/s are half a second of one; four cores have 4 GB/s each, and their clock falls to 0.8.
        let t = host.shared_s(1.0, &memory(1e9), 4);
        assert!((t - (0.5 / 0.8 + 5.0 / 4.0)).abs() < 1e-12, "{t}");
        // In the shared cache 20 GB/s alone and 10 GB/s each.
        let t = host.shared_s(1.0, &memory(1e7), 4);
        assert!((t - (0.75 / 0.8 + 0.5)).abs() < 1e-12, "{t}");
        // In a core's own cache nothing is shared but the clock.
        assert!((host.shared_s(1.0, &memory(1e6), 4) - 1.25).abs() < 1e-12);
        assert_eq!(host.shared_s(1.0, &memory(1e9), 1), 1.0);
        // No more than the time of the part that moves the bytes.
        let small = Memory {
            within_s: 0.1,
            ..memory(1e9)
        };
        let t = host.shared_s(1.0, &small, 4);
        assert!((t - (0.9 / 0.8 + 0.1 * 2.5)).abs() < 1e-12, "{t}");
        // Between the rows and beyond them.
        assert_eq!(host.bandwidth(2, 1e9), Some(12e9));
        assert_eq!(host.bandwidth(64, 1e9), Some(16e9));
        assert_eq!(host.memory_rate(), Some(16e9));
    }

    #[test]
    fn a_host_round_trips_and_bad_rows_are_named() {
        let m = Machine::from_toml(TOML).unwrap();
        assert_eq!(Machine::from_toml(&m.to_toml().unwrap()).unwrap(), m);
        for (from, to, want) in [
            ("cores = 4", "cores = 1", "host.active.cores"),
            ("value = 16e9", "value = 0.0", "memory, 4 active"),
            (
                "shared_cache_bytes = 1e8",
                "shared_cache_bytes = -1.0",
                "shared_cache_bytes",
            ),
            ("private_cache_bytes", "private_bytes", "unknown field"),
        ] {
            let e = Machine::from_toml(&TOML.replace(from, to)).unwrap_err();
            assert!(e.to_string().contains(want), "{e}");
        }
    }
}
