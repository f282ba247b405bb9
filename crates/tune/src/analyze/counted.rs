//! Work from hardware counters, and the energy that a machine model predicts for it: the method of the
//! thesis's chapter 6, with the measured time.

use crate::sweep::{Counters, Sweep, Trial};
use greenup_model::clocked::follows_core;
use greenup_model::{Machine, MachineError, Op, Work, predict_clocked};
use serde::Serialize;
use std::collections::BTreeMap;

/// A config with recorded counters.
#[derive(Clone, Debug, Serialize)]
pub struct FromCounters {
    /// Index of the trial in the sweep.
    pub trial: usize,
    /// The config in words.
    pub label: String,
    /// Time, s.
    pub time_s: f64,
    /// Measured energy, J.
    pub measured_j: f64,
    /// Energy predicted from counters and the machine's costs, J.
    pub predicted_j: f64,
    /// Marginal energy by class, J.
    pub by_op_j: BTreeMap<Op, f64>,
    /// Marginal energy by kernel, J, where there are several.
    pub by_kernel_j: BTreeMap<String, f64>,
    /// Predicted energy of the constant power, J.
    pub constant_j: f64,
    /// Shortest time of each class at the clock that the power cap permits, s, where the machine model has it; of several
    /// kernels, the sum.
    pub predicted_s: Option<f64>,
}

impl FromCounters {
    /// (predicted − measured) / measured.
    pub fn error(&self) -> f64 {
        self.predicted_j / self.measured_j - 1.0
    }
}

/// Bytes of a wavefront of shared memory.
const WAVEFRONT: f64 = 128.0;
/// Threads of a warp.
const WARP: f64 = 32.0;
/// Smallest share of tensor-core instructions in a kernel that uses tensor cores: a profiler counts
/// stray ones in any kernel.
const TENSOR_LEAST: f64 = 0.015;

/// Work of a run by its counters. What is paid for is mostly the instruction, so an addition or a multiplication counts as
/// an FMA does (the thesis assumes so too, §6.3), and an instruction that no class counts as one of whole numbers. Bytes of
/// L2 are those that slow memory did not give, bytes of L1 those that L2 did not: the cost of a byte from afar includes the
/// way. A wavefront that bank conflicts make necessary moves no bytes of its own: it takes what the others left.
pub fn work(t: &Trial) -> Option<Work> {
    work_of(&t.metrics, t.flops())
}

/// Bytes between the multiprocessors and L2. Where L2 is in two partitions, an access to the far one is counted in both: what went
/// between them is not counted twice, if the profiler told it.
pub fn l2_bytes(counters: &Counters) -> Option<f64> {
    let between = counters.get("l2_between_partitions_bytes").copied();
    Some((counters.get("l2_bytes")? - between.unwrap_or(0.0)).max(0.0))
}

/// As [`work`], for a kernel with this number of flops per run; without it none are on tensor cores.
pub fn work_of(counters: &Counters, flops: Option<f64>) -> Option<Work> {
    let of = |name: &str| counters.get(name).copied();
    let some = |name: &str| of(name).unwrap_or(0.0);
    let dram = of("dram_bytes")?;
    let kind = |k: &str| Some((of(&format!("{k}_fma"))?, of(&format!("{k}_other"))?));
    let ((f64_fma, f64_other), (f32_fma, f32_other)) = (kind("f64")?, kind("f32")?);
    let (tensors, instructions) = (some("tensor_instructions"), some("instructions"));
    // Products on tensor cores are not counted by element: what the pipes of vectors leave of the run's flops.
    let tensor = match flops {
        Some(all) if tensors > 0.0 && tensors > TENSOR_LEAST * instructions => {
            let vectors = 2.0 * (f64_fma + f32_fma) + f64_other + f32_other;
            (all - vectors).max(0.0)
        }
        _ => 0.0,
    };
    let (whole, special) = (of("integer_ops")?, some("special_ops"));
    let loads = some("shared_loads") + some("global_loads");
    let counted =
        f64_fma + f64_other + f32_fma + f32_other + whole + special + WARP * (loads + tensors);
    let l2 = l2_bytes(counters)?;
    let shared = of("shared_traffic_bytes")? - WAVEFRONT * some("shared_conflicts");
    let counts = [
        (Op::F64, 2.0 * (f64_fma + f64_other)),
        (Op::F32, 2.0 * (f32_fma + f32_other)),
        (Op::TensorF64, tensor),
        (Op::Int, whole + (WARP * instructions - counted).max(0.0)),
        (Op::Special, special),
        (
            Op::L1,
            shared.max(0.0) + (WAVEFRONT * some("global_loads") - l2).max(0.0),
        ),
        (Op::L2, (l2 - dram).max(0.0)),
        (Op::Dram, dram),
    ];
    let mut out = Work::new();
    for (op, n) in counts {
        out.add(op, n).ok()?;
    }
    Some(out)
}

/// Predicts the energy of every trial that has counters and a measured energy.
///
/// # Errors
/// The machine lacks the energy of a class.
pub fn predict(sweep: &Sweep, machine: &Machine) -> Result<Vec<FromCounters>, MachineError> {
    let Some(pi0) = &machine.constant_power_w else {
        return Err(MachineError::NoEnergy(machine.name.clone()));
    };
    let mut out = Vec::new();
    for (trial, t) in sweep.trials.iter().enumerate() {
        let (Some(work), Some(cost)) = (work(t), t.cost()) else {
            continue;
        };
        let Some(measured_j) = cost.energy_j else {
            continue;
        };
        // Energies of the core fall with the voltage of the clock that was measured.
        let squared = match (&machine.clock, t.metrics.get("clock_mhz")) {
            (Some(c), Some(mhz)) => c.voltage(mhz * 1e6).powi(2),
            _ => 1.0,
        };
        let by_op_j = marginal(machine, &work, squared)?;
        let constant_j = pi0.value * cost.time_s;
        let kernels: Vec<(&String, Work)> = (t.kernels.iter())
            .filter_map(|(name, c)| Some((name, work_of(c, None)?)))
            .collect();
        let least = |w: &Work| predict_clocked(machine, w).ok().map(|p| p.time_s);
        let by_kernel_j = (kernels.iter())
            .map(|(name, w)| {
                let j = marginal(machine, w, squared)?.values().sum();
                Ok(((*name).clone(), j))
            })
            .collect::<Result<_, MachineError>>()?;
        out.push(FromCounters {
            trial,
            label: (sweep.facts.parameters.iter().zip(&t.config))
                .map(|(name, v)| format!("{name}={v}"))
                .collect::<Vec<_>>()
                .join(" "),
            time_s: cost.time_s,
            measured_j,
            predicted_j: by_op_j.values().sum::<f64>() + constant_j,
            by_op_j,
            by_kernel_j,
            constant_j,
            predicted_s: if kernels.is_empty() {
                least(&work)
            } else {
                kernels.iter().map(|(_, w)| least(w)).sum()
            },
        });
    }
    Ok(out)
}

/// Energies of the classes, J: those that the core clock drives times `squared`, the square of its voltage over that at the
/// highest clock.
///
/// # Errors
/// The machine lacks the energy of a class.
pub fn marginal(
    machine: &Machine,
    work: &Work,
    squared: f64,
) -> Result<BTreeMap<Op, f64>, MachineError> {
    work.iter()
        .map(|(op, n)| {
            let energy = machine
                .cost_of(op)?
                .energy_j
                .as_ref()
                .ok_or_else(|| MachineError::NoEnergy(machine.name.clone()))?;
            let v = if follows_core(op) { squared } else { 1.0 };
            Ok((op, n * energy.value * v))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{Outcome, SweepFacts};

    fn trial(metrics: &[(&str, f64)]) -> Trial {
        let outcome = Outcome::Measured {
            times_s: vec![1.0],
            time_s: 1.0,
            energy_j: Some(200.0),
            time_error: None,
        };
        Trial {
            metrics: metrics.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
            ..Trial::of(vec![], outcome)
        }
    }

    const COUNTERS: [(&str, f64); 10] = [
        ("dram_bytes", 1e11),
        ("l2_bytes", 4e11),
        ("shared_traffic_bytes", 1e12),
        ("f64_fma", 1e12),
        ("f64_other", 5e11),
        ("f32_fma", 0.0),
        ("f32_other", 0.0),
        ("integer_ops", 1e12),
        ("tensor_instructions", 0.0),
        ("gflops", 2500.0),
    ];

    #[test]
    fn counters_become_work() {
        let w = work(&trial(&COUNTERS)).unwrap();
        // An addition counts as an FMA does.
        assert_eq!(w.count(Op::F64), 3e12);
        assert_eq!(w.count(Op::TensorF64), 0.0);
        assert_eq!(w.count(Op::L2), 3e11);
        // What went on to the other partition of L2 was counted twice.
        let partitions = [&COUNTERS[..], &[("l2_between_partitions_bytes", 5e10)]].concat();
        assert_eq!(work(&trial(&partitions)).unwrap().count(Op::L2), 2.5e11);
        let mut tensor = COUNTERS;
        tensor[3].1 = 0.0;
        tensor[8].1 = 1e6;
        let w = work(&trial(&tensor)).unwrap();
        assert_eq!((w.count(Op::F64), w.count(Op::TensorF64)), (1e12, 2e12));
        assert!(work(&trial(&COUNTERS[1..])).is_none());
        // Instructions of no class count as whole numbers; stray ones of tensor cores make no products.
        let all = [&tensor[..], &[("instructions", 1e11)]].concat();
        let w = work(&trial(&all)).unwrap();
        assert_eq!(w.count(Op::TensorF64), 0.0);
        assert_eq!(w.count(Op::Int), 1e12 + (3.2e12 - 1.5e12 - 32e6));
        let conflicts = [&COUNTERS[..], &[("shared_conflicts", 5e9)]].concat();
        assert_eq!(work(&trial(&conflicts)).unwrap().count(Op::L1), 0.36e12);
    }

    #[test]
    fn kernels_take_their_times_one_after_the_other() {
        let h200 = greenup_model::shipped::find("h200").unwrap().unwrap();
        let counters: Counters = COUNTERS[..9]
            .iter()
            .map(|(n, v)| ((*n).to_owned(), *v))
            .collect();
        let mut t = trial(&COUNTERS);
        t.kernels = [("one", counters.clone()), ("other", counters)]
            .map(|(n, c)| (n.to_owned(), c))
            .into();
        let of = |t: Trial| {
            let facts = SweepFacts::default();
            let trials = vec![t];
            let sweep = Sweep {
                facts,
                trials,
                ..Sweep::default()
            };
            predict(&sweep, &h200).unwrap().remove(0)
        };
        let (together, apart) = (of(trial(&COUNTERS)), of(t));
        let twice = 2.0 * together.predicted_s.unwrap();
        assert!((apart.predicted_s.unwrap() / twice - 1.0).abs() < 1e-12);
        let marginal = together.predicted_j - together.constant_j;
        assert!((apart.by_kernel_j["one"] / marginal - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_parts_add_up_and_fall_with_the_voltage() {
        let h200 = greenup_model::shipped::find("h200").unwrap().unwrap();
        let sweep = |clock| Sweep {
            facts: SweepFacts::default(),
            trials: vec![trial(&[&COUNTERS[..], &[("clock_mhz", clock)]].concat())],
            ..Sweep::default()
        };
        let at = |clock| predict(&sweep(clock), &h200).unwrap().remove(0);
        let (free, slow) = (at(1980.0), at(1600.0));
        let sum: f64 = free.by_op_j.values().sum::<f64>() + free.constant_j;
        assert!((sum / free.predicted_j - 1.0).abs() < 1e-12);
        assert!(slow.by_op_j[&Op::F64] < 0.7 * free.by_op_j[&Op::F64]);
        assert_eq!(slow.by_op_j[&Op::Dram], free.by_op_j[&Op::Dram]);
    }
}
