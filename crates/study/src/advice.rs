//! Explains the numbers of a kernel in sentences.

use crate::result::KernelResult;
use greenup_model::{Bound, Machine, Op};
use greenup_report::si::{percent, si, three};

/// A time known this well gives advice, whatever the gap.
const CERTAIN: f64 = 0.05;

/// Findings and suggestions for a kernel, most important first; empty if it was not measured.
pub fn for_kernel(k: &KernelResult, machine: &Machine, gpu: bool) -> Vec<String> {
    let mut words = Vec::new();
    let (Some(share), Some(noise)) = (k.share_of_roof, k.noise()) else {
        return words;
    };
    let bound = match k.predicted.bound {
        Bound::Op(op) if op.is_bytes() => format!("bound by {} bandwidth", level(op)),
        Bound::Op(op) => format!("bound by `{op}` throughput"),
        Bound::Cap => "bound by the power cap".to_owned(),
    };
    // The roof may be higher too.
    let (least, measured) = if k.disturbed.is_some() {
        ("at least ", " as it was measured")
    } else {
        ("", "")
    };
    words.push(format!(
        "At {} flop/B it is {bound} and reaches {least}{} of that roof{measured}.",
        three(k.intensity),
        percent(share)
    ));
    if let Some(then) = k.roof_then.filter(|_| k.roof_moved()) {
        words.push(format!(
            "(Next to this kernel, known work ran at {} of its best rate; the machine is shared or its clock moves.)",
            percent(then)
        ));
    }
    if k.disturbed.is_some() {
        words.push(
            "It was disturbed, so its time is an upper bound: no advice from this measurement. Measure again on a quiet machine."
                .to_owned(),
        );
        return words;
    }
    // Of the roof's time: what there is to gain, and what is not known of it.
    let gap = (1.0 / share - 1.0).abs();
    if noise > gap.max(CERTAIN) {
        words.push(format!(
            "Its time is known to ±{} only, and its distance to the roof is {}: no advice from this measurement. Measure again \
             on a quiet machine.",
            percent(noise),
            percent(gap)
        ));
        return words;
    }
    let memory = matches!(k.predicted.bound, Bound::Op(op) if op.is_bytes());
    if share > 1.05 && k.predicted.bound == Bound::Cap {
        words.push("It is faster than the power cap allows by the machine's costs: they are too high for its operations, its data or its clock.".to_owned());
    } else if share > 1.05 {
        words.push("It is faster than the roof: part of its data stays in a cache.".to_owned());
    } else if share >= 0.85 && memory {
        words.push(format!(
            "There is little left to tune at this intensity ({} above the roof's time). Only moving \
             fewer bytes helps: fuse it with the loops before or after it, block it for a cache, or \
             store its data in fewer bits.",
            percent((1.0 / share - 1.0).max(0.0))
        ));
    } else if share >= 0.85 && k.predicted.bound == Bound::Cap {
        words.push(
            "It runs at the power cap: only less energy per result helps, by fewer bytes, fewer instructions or a lower precision."
                .to_owned(),
        );
    } else if share >= 0.85 {
        words.push(
            "It runs at the machine's arithmetic limit: only fewer operations, or a lower precision, help."
                .to_owned(),
        );
    } else if memory {
        words.push(format!(
            "A perfect version would take {} of its time. Look at {}, and \
             whether it moves more bytes than the {} it must.",
            percent(share),
            if gpu {
                "coalesced accesses, wide loads, more bytes in flight per multiprocessor"
            } else {
                "write-allocate traffic (streaming stores), prefetch-friendly order, pages on the right memory node"
            },
            si(k.bytes, "B")
        ));
    } else {
        words.push(format!(
            "A perfect version would take {} of its time. Look at {}.",
            percent(share),
            if gpu {
                "instructions besides the arithmetic, independent operations per thread, occupancy, and idle lanes or \
                 multiprocessors"
            } else {
                "vector width, independent operations to hide latency, register and cache blocking, and load balance"
            }
        ));
    }
    if let Ok(r) = machine.roofline(Op::F64, Op::Dram) {
        words.push(energy(
            k,
            r.time_balance(),
            r.effective_balance(k.intensity),
        ));
    }
    words
}

fn level(op: Op) -> &'static str {
    match op {
        Op::Dram => "slow-memory",
        Op::L3 => "L3",
        Op::L2 => "L2",
        _ => "L1",
    }
}

fn energy(k: &KernelResult, time_balance: f64, energy_balance: f64) -> String {
    if k.intensity > time_balance && k.intensity < energy_balance {
        return "It is compute bound in time, yet memory bound in energy: fewer bytes would save \
                joules though not seconds."
            .to_owned();
    }
    let constant = (k.explained.as_ref()).map_or(0.0, |e| e.constant_j / e.total_j);
    if constant > 0.5 {
        return format!(
            "{} of its energy is constant power: finishing sooner (race-to-halt) saves most.",
            percent(constant)
        );
    }
    "Its energy is mostly its own operations and bytes: saving those saves joules directly."
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_meter::{DeviceState, Measurement, Summary};
    use greenup_model::{Work, predict};

    /// A triad on a machine of 40 GB/s: times over the predicted one.
    fn advice(times: &[f64], disturbed: bool) -> String {
        let machine = Machine::from_toml(
            "name = 'm'\ntitle = 'm'\n[cost.f64]\ntime_s = { value = 1e-11 }\n[cost.dram]\ntime_s = { value = 2.5e-11 }\n",
        )
        .unwrap();
        let work = (Work::new().with(Op::F64, 2e6))
            .and_then(|w| w.with(Op::Dram, 24e6))
            .unwrap();
        let predicted = predict(&machine, &work).unwrap();
        let times: Vec<f64> = times.iter().map(|t| t * predicted.time_s).collect();
        let mut k = KernelResult {
            name: "triad".into(),
            about: String::new(),
            flops: 2e6,
            bytes: 24e6,
            intensity: 1.0 / 12.0,
            verification: (0.0, 1e-15),
            measured: Some(Measurement {
                time_s: Summary::of(&times).unwrap(),
                times_s: times.clone(),
                energy_j: None,
                power_w: None,
                sensor: None,
                gain_error: None,
                other_over_main: None,
                state: DeviceState::default(),
                flags: Vec::new(),
                energy_runs: 0,
                runs: times.len(),
            }),
            predicted: predicted.clone(),
            explained: None,
            library: None,
            doubts: Vec::new(),
            disturbed: disturbed.then(|| "other programs".to_owned()),
            share_of_roof: None,
            roof_then: None,
            time_error: None,
            energy_error: None,
            assumed: None,
            work,
            advice: Vec::new(),
        };
        k.explained_by(predicted, None);
        for_kernel(&k, &machine, false).join(" ")
    }

    #[test]
    fn a_kernel_noisier_than_its_gap_gives_no_advice() {
        // 20 % from the roof, known to ±28 %.
        let text = advice(&[0.9, 1.2, 1.57], false);
        assert!(
            text.contains("no advice") && !text.contains("Look at"),
            "{text}"
        );
        assert!(advice(&[1.19, 1.2, 1.21], false).contains("write-allocate"));
        assert!(advice(&[1.01, 1.02, 1.03], false).contains("little left"));
        // The same spread, but half of its time is to be gained.
        assert!(advice(&[2.0, 2.6, 3.3], false).contains("write-allocate"));
        // Others slowed it: its fastest run was at the roof.
        assert!(advice(&[1.0, 1.15, 1.15, 1.15, 1.15, 1.15], true).contains("no advice"));
    }
}
