//! What a study answers: where each device's limits are, what each kernel reaches, and where most is to be gained.

use super::headline::headline;
use crate::device::DeviceStudy;
use crate::result::KernelResult;
use crate::study::Study;
use greenup_model::{Bound, Op};
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

/// Two sentences a device: its limits, and its kernels.
pub fn of(study: &Study) -> Vec<String> {
    let several = study.devices.len() > 1;
    let mut out = Vec::new();
    for device in &study.devices {
        let who = if several {
            format!("{}: ", device.device)
        } else {
            String::new()
        };
        out.push(format!("{who}{}.", limits(device)));
        out.extend(certainty(device).map(|text| format!("{who}{text}")));
        out.extend(
            kernels(device).map(|text| match text.strip_prefix("Next: ") {
                Some(next) => format!("Next: {who}{next}"),
                None => format!("{who}{text}"),
            }),
        );
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
fn certainty(device: &DeviceStudy) -> Option<String> {
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
    (!out.is_empty()).then(|| out.join(". ") + ".")
}

/// What the kernels reach, and which has most to gain; `None` without a measured one.
fn kernels(device: &DeviceStudy) -> Option<String> {
    let measured: Vec<(&KernelResult, f64)> = (device.kernels.iter())
        .filter_map(|k| Some((k, k.share_of_roof?)))
        .collect();
    let (worst, share) = measured.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let bound = bound(worst);
    if worst.disturbed.is_some() {
        return Some(format!(
            "{} was disturbed and reaches at least {} of its roof ({bound}): measure again on a quiet machine.",
            worst.name,
            percent(*share)
        ));
    }
    let (of_roof, noise) = (percent(*share), worst.noise().unwrap_or_default());
    Some(if *share >= 0.85 {
        let (best, most) = (measured.iter().max_by(|a, b| a.1.total_cmp(&b.1)))
            .map_or((worst.name.as_str(), *share), |(k, s)| {
                (k.name.as_str(), *s)
            });
        let which = match (measured.len(), device.kernels.len()) {
            (1, _) => format!("{} reaches {of_roof} of its roof", worst.name),
            (n, all) if n == all && device.missing.is_empty() => {
                format!("All {n} kernels reach {of_roof} of their roofs or more")
            }
            (n, _) => format!("The {n} measured kernels reach {of_roof} of their roofs or more"),
        };
        if most > ABOVE {
            format!("{which}, {best} {}.", percent(most))
        } else {
            format!("{which}: only other work, not other code, would help much.")
        }
    } else if noise > 1.0 / share - 1.0 {
        format!(
            "{} reaches {of_roof} of its roof ({bound}), but its time is known to ±{} only: measure again.",
            worst.name,
            percent(noise)
        )
    } else {
        format!(
            "Next: tune `{}`, which has most to gain, at {of_roof} of its roof ({bound}).",
            worst.name
        )
    })
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
