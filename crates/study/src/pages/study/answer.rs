//! What a study answers: where each device's limits are, what each kernel reaches, and where most is to be gained.

use super::headline::headline;
use crate::device::{DeviceStudy, Hardware};
use crate::result::KernelResult;
use crate::study::Study;
use greenup_model::{Bound, Op};
use greenup_report::page::Answer;
use greenup_report::si::percent;

/// Key numbers that the sentences have.
pub const SAID: [&str; 5] = [
    "double precision",
    "slow memory",
    "constant power",
    "time balance",
    "energy",
];

/// A fraction of a roof that no error of measurement explains.
const ABOVE: f64 = 1.05;

/// A sentence a device of its limits, one of how sure they and its kernels are, and one of what its kernels say.
pub fn of(study: &Study) -> Answer {
    let several = study.devices.len() > 1;
    let mut out = Answer::default();
    for device in &study.devices {
        let who = |text: String| match several {
            true => format!("{}: {text}", device.device),
            false => text,
        };
        out.says.push(who(format!("{}.", limits(device))));
        out.sure.push(who(certainty(device)));
        let (says, next) = kernels(device);
        out.says.extend(says.map(who));
        out.next.push(who(next));
    }
    out
}

/// Its peak, its bandwidth and its constant power, and the intensity below which kernels wait for memory.
fn limits(device: &DeviceStudy) -> String {
    let all = headline(device);
    let named = |name: &str| all.iter().find(|f| f.name == name).map(|f| f.value.clone());
    let mut parts: Vec<String> = Vec::new();
    parts.extend(named("double precision").map(|v| format!("{v} in double precision")));
    parts.extend(named("slow memory").map(|v| format!("{v} from memory")));
    parts.push(match named("constant power") {
        Some(v) => format!("{v} of constant power"),
        None => "no energy measured (`greenup doctor` says why)".into(),
    });
    let mut text = parts.join(", ");
    if let Some(balance) = named("time balance") {
        text.push_str(&format!("; below {balance} kernels wait for memory"));
    }
    text
}

/// How well the kernels' times are known, and their energies predicted. Where the host was disturbed, the banner says that.
fn certainty(device: &DeviceStudy) -> String {
    let all = &device.kernels;
    let mut out: Vec<String> = Vec::new();
    if all.iter().all(|k| k.disturbed.is_none()) {
        let several = all.iter().filter_map(|k| k.measured.as_ref());
        let several = several.filter(|m| m.time_s.n > 1);
        let noise = several.map(|m| m.time_s.relative_error());
        out.extend((noise.reduce(f64::max)).map(|n| {
            format!(
                "Times of its kernels are known to ±{} or better",
                percent(n)
            )
        }));
        let errors = || all.iter().filter_map(|k| k.energy_error);
        if let (Some(lo), Some(hi)) = (errors().reduce(f64::min), errors().reduce(f64::max)) {
            let (lo, hi) = (percent(lo), percent(hi));
            out.push(format!("Predicted energies are off by {lo} to {hi}"));
        }
    }
    let above = |k: &&KernelResult| k.share_of_roof.is_some_and(|s| s > ABOVE);
    let names: Vec<&str> = (all.iter().filter(above)).map(|k| &*k.name).collect();
    if !names.is_empty() {
        let names = names.join(", ");
        out.push(format!(
            "Above its roof, whose costs or counts are too high: {names}"
        ));
    }
    match out.is_empty() {
        // The banner above its numbers names what disturbed it.
        true if all.iter().any(|k| k.disturbed.is_some()) => {
            "Little: other work ran on this host, so that times are upper bounds.".into()
        }
        true => {
            "No kernel was measured several times: its constants have their intervals below.".into()
        }
        false => out.join(". ") + ".",
    }
}

/// What the kernels reach, if that is a matter of its own, and what to do next.
fn kernels(device: &DeviceStudy) -> (Option<String>, String) {
    let measured: Vec<(&KernelResult, f64)> = (device.kernels.iter())
        .filter_map(|k| Some((k, k.share_of_roof?)))
        .collect();
    let own = "`greenup predict` tells what a kernel of your own takes here at best.";
    let Some((worst, share)) = measured.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return (None, own.into());
    };
    let name = &worst.name;
    let (of_roof, bound) = (percent(*share), bound(worst));
    let reaches = format!("{name} reaches {of_roof} of its roof ({bound})");
    let noise = worst.noise().unwrap_or_default();
    let says = match worst.disturbed {
        Some(_) => {
            format!("{name} was disturbed: {of_roof} of its roof ({bound}) is a rough number.")
        }
        None if measured.len() == 1 => format!("{reaches}."),
        None => format!("{reaches}, the least of all."),
    };
    if device.kernels.iter().any(|k| k.disturbed.is_some()) {
        let next = "Measure again on a quiet machine: `greenup study`.";
        return (Some(says), next.into());
    }
    if *share < 0.85 {
        let next = match noise > 1.0 / share - 1.0 {
            true => format!(
                "Measure {name} again with `greenup study`: its time is known to ±{} only.",
                percent(noise)
            ),
            false if name == "dgemm" && matches!(device.hardware, Hardware::Cpu { .. }) => {
                "Tune dgemm, which has most to gain: `greenup gemm --tune`.".into()
            }
            false => format!(
                "Tune {name}, which has most to gain: `greenup init` starts a project with a kernel to tune."
            ),
        };
        return (Some(says), next);
    }
    let (best, most) = (measured.iter().max_by(|a, b| a.1.total_cmp(&b.1)))
        .map_or((name.as_str(), *share), |(k, s)| (k.name.as_str(), *s));
    let which = match (measured.len(), device.kernels.len()) {
        (1, _) => reaches,
        (n, all) if n == all && device.missing.is_empty() => {
            format!("All {n} kernels reach {of_roof} of their roofs or more")
        }
        (n, _) => format!("The {n} measured kernels reach {of_roof} of their roofs or more"),
    };
    let says = match most > ABOVE {
        true => format!("{which}, {best} {}.", percent(most)),
        false => format!("{which}."),
    };
    let next = match most > ABOVE {
        true => own.to_owned(),
        false => format!("Only other work, not other code, would help these much; {own}"),
    };
    (Some(says), next)
}

/// What bounds a kernel, in words.
fn bound(k: &KernelResult) -> String {
    match k.predicted.bound {
        Bound::Cap => "the power cap".into(),
        Bound::Op(Op::Dram) => "slow memory".into(),
        Bound::Op(Op::Special) => "special functions".into(),
        Bound::Op(op) => format!("`{op}`"),
    }
}
