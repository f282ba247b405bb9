//! The work of a program on the CPU, counted or estimated.

use super::Counts;
use greenup_model::{Machine, Op, Work};
use serde::Serialize;

/// How a number is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimated {
    /// Hardware counters.
    Counted,
    /// A lower limit: pages that the program touched first.
    LowerLimit,
    /// Unknown.
    Unknown,
}

/// Bytes of a line of the last cache.
const LINE: f64 = 64.0;

/// What a program did on the CPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cpu {
    /// Time of the run, s.
    pub wall_s: f64,
    /// Time of all threads and children in user space, s.
    pub user_s: f64,
    /// In the kernel, s.
    pub system_s: f64,
    /// Cores busy on average.
    pub cores: f64,
    /// Largest resident memory of a process, bytes.
    pub memory_bytes: Option<f64>,
    /// Counters.
    pub counts: Counts,
    /// Bytes from and to slow memory.
    pub dram_bytes: Option<f64>,
    /// How they are known.
    pub dram: Estimated,
    /// Flops, where the processor counts them.
    pub flops: Option<f64>,
    /// Flops over bytes, flop/B.
    pub intensity: Option<f64>,
    /// What binds.
    pub bound: Option<String>,
    /// Shortest time of what was counted, on this machine, s.
    pub least_s: Option<f64>,
    /// Energy of the host, J, measured.
    pub joules: Option<f64>,
    /// The sensor.
    pub sensor: Option<String>,
    /// Energy that the machine model predicts for what was counted, J.
    pub model_j: Option<f64>,
    /// What it means, and what to do.
    pub advice: String,
}

impl Cpu {
    /// From the facts of a run.
    pub fn of(
        times: (f64, f64, f64),
        memory_bytes: Option<f64>,
        counts: &Counts,
        measured: Option<(String, f64)>,
        machine: Option<&Machine>,
    ) -> Self {
        let (wall_s, user_s, system_s) = times;
        let page = 4096.0;
        let (dram_bytes, dram) = match (counts.cache_misses, counts.page_faults) {
            (Some(n), _) => (Some(LINE * n), Estimated::Counted),
            (None, Some(n)) => (Some(page * n), Estimated::LowerLimit),
            _ => (None, Estimated::Unknown),
        };
        let flops = match (counts.f64_flops, counts.f32_flops) {
            (None, None) => None,
            (d, s) => Some(d.unwrap_or(0.0) + s.unwrap_or(0.0)),
        };
        let intensity = (flops.zip(dram_bytes).filter(|_| dram == Estimated::Counted))
            .filter(|(f, b)| *f > 0.0 && *b > 0.0)
            .map(|(f, b)| f / b);
        let (sensor, joules) = match measured {
            Some((id, j)) => (Some(id), Some(j)),
            None => (None, None),
        };
        let mut out = Self {
            wall_s,
            user_s,
            system_s,
            cores: (user_s + system_s) / wall_s.max(1e-9),
            memory_bytes,
            counts: counts.clone(),
            dram_bytes,
            dram,
            flops,
            intensity,
            bound: None,
            least_s: None,
            joules,
            sensor,
            model_j: None,
            advice: String::new(),
        };
        if let Some(m) = machine {
            out.predict(m);
        }
        out.advice = out.advise();
        out
    }

    fn predict(&mut self, machine: &Machine) {
        if self.dram != Estimated::Counted {
            return;
        }
        let mut work = Work::new();
        let counts = [
            (Op::F64, self.counts.f64_flops),
            (Op::F32, self.counts.f32_flops),
            (Op::Dram, self.dram_bytes),
        ];
        for (op, n) in counts {
            if machine.cost.contains_key(&op) && work.add(op, n.unwrap_or(0.0)).is_err() {
                return;
            }
        }
        if let Ok(p) = greenup_model::predict(machine, &work) {
            self.bound = Some(p.bound.to_string());
            self.least_s = Some(p.time_s);
        }
        self.model_j =
            greenup_study::energy::split(machine, &work, self.wall_s, None).map(|s| s.total_j);
    }

    fn advise(&self) -> String {
        let total = self.user_s + self.system_s;
        // Several threads and children may wait at once.
        let waited_s = self.counts.waited_for_core_s.unwrap_or(0.0);
        let waited = waited_s / self.wall_s.max(1e-9);
        let mut out = match self.cores {
            c if waited > 0.2 && c < 1.2 => format!(
                "It waited {:.0} % of the time in which it could run for a core, which other programs used: profile it on a quiet system.",
                100.0 * waited_s / (waited_s + total)
            ),
            c if c < 0.5 => "The cores were mostly idle: the program waits, for files, the network, a GPU or a lock.".to_owned(),
            c if c < 1.2 => "About one core was busy: threads would use the others.".to_owned(),
            c => format!("{c:.1} cores were busy on average."),
        };
        if total > 0.0 && self.system_s > 0.3 * total {
            out.push_str(" More than 30 % of the CPU time is in the kernel: look at input and output, page faults and locks.");
        }
        match (self.least_s, &self.bound) {
            (Some(least), Some(bound)) if least > 0.7 * self.wall_s => {
                out.push_str(&format!(" It runs near the limit of `{bound}` of this machine."));
            }
            (Some(_), Some(bound)) => out.push_str(&format!(
                " What was counted needs at least {:.0} % of the time, most of it `{bound}`: the rest is latency, other instructions or waiting.",
                100.0 * self.least_s.unwrap_or(0.0) / self.wall_s.max(1e-9)
            )),
            _ => {}
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_counters_bytes_are_a_lower_limit() {
        let counts = Counts {
            page_faults: Some(1000.0),
            missing: Some("none".into()),
            ..Counts::default()
        };
        let c = Cpu::of((2.0, 3.0, 1.5), Some(1e6), &counts, None, None);
        assert_eq!(
            (c.dram, c.dram_bytes),
            (Estimated::LowerLimit, Some(4.096e6))
        );
        assert_eq!((c.cores, c.intensity, c.bound), (2.25, None, None));
        assert!(c.advice.contains("kernel"), "{}", c.advice);
    }

    #[test]
    fn a_program_that_others_preempt_is_not_called_idle() {
        let mut counts = Counts {
            waited_for_core_s: Some(1.4),
            ..Counts::default()
        };
        let advice = |counts: &Counts| Cpu::of((2.0, 0.6, 0.0), None, counts, None, None).advice;
        let text = advice(&counts);
        assert!(
            text.contains("70 %") && text.contains("for a core"),
            "{text}"
        );
        counts.waited_for_core_s = Some(0.001);
        assert!(advice(&counts).contains("idle"));
    }

    #[test]
    fn counted_work_is_put_on_the_roofline() {
        let m = greenup_model::shipped::find("i7-950").unwrap().unwrap();
        let counts = Counts {
            cache_misses: Some(1e9),
            f64_flops: Some(6.4e9),
            ..Counts::default()
        };
        let c = Cpu::of(
            (10.0, 10.0, 0.0),
            Some(1e9),
            &counts,
            Some(("rapl".into(), 900.0)),
            Some(&m),
        );
        assert_eq!(c.intensity, Some(0.1));
        assert_eq!(c.bound.as_deref(), Some("dram"));
        assert!(
            c.least_s.unwrap() > 1.0 && c.model_j.unwrap() > 100.0,
            "{c:?}"
        );
        assert_eq!(c.joules, Some(900.0));
    }
}
