//! Counters by Linux's perf events.

use super::Counts;
use greenup_meter::perf::{
    CACHE_MISSES, CYCLES, Counter, HARDWARE, INSTRUCTIONS, MIGRATIONS, PAGE_FAULTS, RAW, SOFTWARE,
};

/// Counters of this thread and of every process that it starts from now on.
pub struct Perf {
    counters: Vec<(PerfEvent, Counter)>,
    missing: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum PerfEvent {
    Instructions,
    Cycles,
    Misses,
    /// Operations of double precision that an instruction does.
    F64(f64),
    F32(f64),
    Faults,
    Migrations,
}

impl Perf {
    /// Opens what the kernel and the processor have, and starts to count.
    pub fn start() -> Self {
        let mut out = Self {
            counters: Vec::new(),
            missing: None,
        };
        let hardware = [
            (PerfEvent::Instructions, INSTRUCTIONS),
            (PerfEvent::Cycles, CYCLES),
            (PerfEvent::Misses, CACHE_MISSES),
        ];
        for (kind, event) in hardware {
            if let Err(e) = out.open(kind, (HARDWARE, event)) {
                out.missing.get_or_insert(reason(&e));
            }
        }
        if out.missing.is_none() {
            for (kind, config) in flops() {
                // An unknown event leaves flops uncounted.
                let _ = out.open(kind, (RAW, config));
            }
        }
        let software = [
            (PerfEvent::Faults, PAGE_FAULTS),
            (PerfEvent::Migrations, MIGRATIONS),
        ];
        for (kind, event) in software {
            let _ = out.open(kind, (SOFTWARE, event));
        }
        out
    }

    fn open(&mut self, kind: PerfEvent, (group, event): (u32, u64)) -> std::io::Result<()> {
        let counter = Counter::of_this_thread(group, event)?;
        self.counters.push((kind, counter));
        Ok(())
    }

    /// Ends counting.
    pub fn finish(mut self) -> Counts {
        let mut out = Counts {
            missing: self.missing.take(),
            ..Counts::default()
        };
        for (kind, counter) in &self.counters {
            let Ok(data) = counter.read() else {
                continue;
            };
            let ran = data.running_ns as f64 / (data.enabled_ns.max(1)) as f64;
            let software = matches!(kind, PerfEvent::Faults | PerfEvent::Migrations);
            if ran <= 0.0 && !software {
                continue;
            }
            let n = if software {
                data.value as f64
            } else {
                data.value as f64 / ran
            };
            if !software {
                out.counted_share = Some(out.counted_share.unwrap_or(1.0).min(ran));
            }
            let add = |to: &mut Option<f64>, n: f64| *to = Some(to.unwrap_or(0.0) + n);
            match *kind {
                PerfEvent::Instructions => out.instructions = Some(n),
                PerfEvent::Cycles => out.cycles = Some(n),
                PerfEvent::Misses => out.cache_misses = Some(n),
                PerfEvent::F64(each) => add(&mut out.f64_flops, each * n),
                PerfEvent::F32(each) => add(&mut out.f32_flops, each * n),
                PerfEvent::Faults => out.page_faults = Some(n),
                PerfEvent::Migrations => out.migrations = Some(n),
            }
        }
        out
    }
}

fn reason(e: &std::io::Error) -> String {
    match e.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
            "the processor shows no hardware counters here, as in most virtual machines".into()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "the kernel refuses them: set /proc/sys/kernel/perf_event_paranoid to 2 or less".into()
        }
        _ => e.to_string(),
    }
}

/// Events that count floating-point instructions by width: Intel's FP_ARITH_INST_RETIRED (event 0xC7) since Broadwell. An FMA
/// counts twice there. Other makers count operations without their precision.
fn flops() -> Vec<(PerfEvent, u64)> {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !info.contains("GenuineIntel") {
        return Vec::new();
    }
    let event = |umask: u64| 0xC7 | (umask << 8);
    vec![
        (PerfEvent::F64(1.0), event(0x01)),
        (PerfEvent::F32(1.0), event(0x02)),
        (PerfEvent::F64(2.0), event(0x04)),
        (PerfEvent::F32(4.0), event(0x08)),
        (PerfEvent::F64(4.0), event(0x10)),
        (PerfEvent::F32(8.0), event(0x20)),
        (PerfEvent::F64(8.0), event(0x40)),
        (PerfEvent::F32(16.0), event(0x80)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_counted_or_the_reason_is_given() {
        let perf = Perf::start();
        let done = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"])
            .status();
        assert!(done.unwrap().success());
        let c = perf.finish();
        match (&c.missing, c.instructions) {
            (Some(why), _) => assert!(!why.is_empty()),
            (None, n) => assert!(n.unwrap() > 1e5, "{c:?}"),
        }
        if let Some(faults) = c.page_faults {
            assert!(faults > 20.0, "{c:?}");
        }
    }
}
