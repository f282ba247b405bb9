//! Explains the numbers of a kernel in sentences.

use crate::result::KernelResult;
use greenup_model::{Bound, Machine, Op};
use greenup_report::si::{percent, si, three};

/// Findings and suggestions for a kernel, most important first; empty if it was not measured.
pub fn for_kernel(k: &KernelResult, machine: &Machine, gpu: bool) -> Vec<String> {
    let mut words = Vec::new();
    let Some(share) = k.share_then() else {
        return words;
    };
    let bound = match k.predicted.bound {
        Bound::Op(op) if op.is_bytes() => format!("bound by {} bandwidth", level(op)),
        Bound::Op(op) => format!("bound by `{op}` throughput"),
        Bound::Cap => "bound by the power cap".to_owned(),
    };
    words.push(format!(
        "At {} flop/B it is {bound} and reaches {} of that roof.",
        three(k.intensity),
        percent(share)
    ));
    if let Some(then) = k.roof_then.filter(|_| k.roof_moved()) {
        words.push(format!(
            "(Re-measured next to this kernel, that roof was at {} of its calibrated value; the machine is \
             shared or its clock moves.)",
            percent(then)
        ));
    }
    let memory = matches!(k.predicted.bound, Bound::Op(op) if op.is_bytes());
    if share > 1.05 {
        words.push(
            "It is faster than the roof: part of its data stays in a cache, or the machine was \
             slower while it was calibrated. Calibrate again on a quiet machine before trusting either."
                .to_owned(),
        );
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
            match gpu {
                true => "coalesced accesses, wide loads, more bytes in flight per multiprocessor",
                false =>
                    "write-allocate traffic (streaming stores), prefetch-friendly order, pages on the right memory node",
            },
            si(k.bytes, "B")
        ));
    } else {
        words.push(format!(
            "A perfect version would take {} of its time. Look at {}.",
            percent(share),
            match gpu {
                true =>
                    "instructions besides the arithmetic, independent operations per thread, occupancy, and idle lanes or multiprocessors",
                false =>
                    "vector width, independent operations to hide latency, register and cache blocking, and load balance",
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
