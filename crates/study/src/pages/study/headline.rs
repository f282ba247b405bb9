//! The key numbers of a device.

use crate::device::DeviceStudy;
use greenup_model::Op;
use greenup_report::page::Fact;
use greenup_report::si::{percent, si, three};

/// The key numbers of a device, also shown in the terminal.
pub fn headline(study: &DeviceStudy) -> Vec<Fact> {
    let m = &study.machine;
    let mut facts = Vec::new();
    for (name, op, unit) in [
        ("double precision", Op::F64, "flop/s"),
        ("double precision, tensor cores", Op::TensorF64, "flop/s"),
        ("single precision", Op::F32, "flop/s"),
        ("slow memory", Op::Dram, "B/s"),
    ] {
        facts.extend(rate(study, op, unit).map(|r| Fact::new(name, r)));
    }
    if let (Ok(f), Ok(d)) = (m.time_of(Op::F64), m.time_of(Op::Dram)) {
        facts.push(Fact::new(
            "time balance",
            format!("{} flop/B", three(d / f)),
        ));
    }
    match m.roofline(Op::F64, Op::Dram) {
        Ok(r) => {
            facts.push(Fact::new("constant power", si(r.pi0, "W")));
            facts.push(Fact::new(
                "energy balance",
                format!("{} flop/B", three(r.energy_balance())),
            ));
        }
        Err(_) => facts.push(Fact::new("energy", "not measured")),
    }
    facts
}

/// A rate with how well it is known: half of its interval, or that it is a lower bound.
fn rate(study: &DeviceStudy, op: Op, unit: &str) -> Option<String> {
    let tau = study.machine.cost_of(op).ok()?.time_s.as_ref()?;
    let rate = si(1.0 / tau.value, unit);
    if study.noise.is_not_clean(op.name()) {
        return Some(format!("at least {rate}"));
    }
    let half = 0.5 * (tau.high() - tau.low()) / tau.value;
    Some(if half > 0.0 {
        format!("{rate} ±{}", percent(half))
    } else {
        rate
    })
}
