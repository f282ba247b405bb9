//! Records + fit → a machine file of this host or its GPU.

use crate::fit::clocked::{ClockedFit, fit_clocked};
use crate::fit::{Fit, FitError, FitOptions, fit};
use crate::gpu::suite::GpuCalibration;
use crate::record::Record;
use crate::roof::{Roof, roof};
use crate::suite::Calibration;
use greenup_device::CpuFacts;
use greenup_device::cuda::Gpu;
use greenup_model::{Machine, Op};

/// Replaces fitted times by roofs: the best rate that any benchmark on the whole device sustained,
/// by the median of its repeats, with that benchmark's interval.
///
/// A least-squares time would run through the middle of the benchmarks that a class binds, and
/// half of all good kernels would lie above it.
///
/// A class whose time the fit cannot know has no roof: the best rate is that of another class.
fn set_roofs(machine: &mut Machine, fit: &Fit, records: &[Record]) {
    // A class that bounds no record has a rate from below only, which is no constant.
    let known =
        (machine.cost.iter_mut()).filter(|(op, c)| c.time_s.is_some() && !fit.lacks_time(**op));
    for (&op, cost) in known {
        if let Some(roof) = roof(records, op) {
            cost.time_s = Some(roof.cost(op));
        }
    }
}

/// Raises the roof of one class to the rate of a record; one that is higher stays.
pub fn raise_to(machine: &mut Machine, op: Op, record: &Record) {
    if let Some(cost) = machine.cost.get_mut(&op) {
        let raised = Roof::of(record, record.time_s).cost(op);
        if (cost.time_s.as_ref()).is_none_or(|now| raised.value < now.value) {
            cost.time_s = Some(raised);
        }
    }
}

/// A machine with roofs, and with the clock at the cap where the records tell it.
///
/// # Errors
/// When the records do not determine a machine.
pub fn of_records(
    name: &str,
    title: &str,
    records: &[Record],
    options: &FitOptions,
) -> Result<(Machine, Fit, Option<ClockedFit>), FitError> {
    let plain: Vec<Record> = records
        .iter()
        .filter(|r| r.on_plain_data())
        .cloned()
        .collect();
    let records = plain.as_slice();
    let mut fit = fit(records, options)?;
    let mut machine = fit.to_machine(name, title)?;
    set_roofs(&mut machine, &fit, records);
    let clocked = fit_clocked(records, options.resamples).ok();
    if let Some(c) = &clocked {
        c.apply(&mut machine, records);
        // What else the plain fit warned of is about its own energies.
        machine.warnings.retain(|w| w.contains("time cost"));
        machine.warnings.extend(c.warnings());
    }
    // What is printed is what is written.
    fit.set_times(&machine);
    Ok((machine, fit, clocked))
}

/// Fits a GPU's records and adds the facts of the run.
///
/// # Errors
/// When the records do not determine a machine.
pub fn build_gpu(
    name: &str,
    calibration: &GpuCalibration,
    gpu: &Gpu,
    command: &str,
    options: &FitOptions,
) -> Result<(Machine, Fit, Option<ClockedFit>), FitError> {
    let records = &calibration.records;
    let (mut machine, mut fit, clocked) = of_records(name, &gpu.name, records, options)?;
    fit.warnings.extend(calibration.failed.iter().cloned());
    warn(&mut fit, calibration.interrupted, records);
    machine.warnings.extend(calibration.failed.iter().cloned());
    machine.about = "Microbenchmarks of this GPU, all multiprocessors together, on normally \
                     distributed data; times are roofs: the best rate that any benchmark sustained; \
                     energies are those at the highest clock"
        .into();
    for (key, value) in [
        ("gpu", gpu.name.clone()),
        ("architecture", gpu.arch.clone()),
        ("multiprocessors", gpu.multiprocessors.to_string()),
        ("highest_clock", format!("{:.3} GHz", gpu.clock_hz * 1e-9)),
        ("greenup", env!("CARGO_PKG_VERSION").into()),
        ("command", command.to_owned()),
    ] {
        machine.facts.insert(key.to_owned(), value);
    }
    Ok((machine, fit, clocked))
}

fn warn(fit: &mut Fit, interrupted: bool, records: &[Record]) {
    if interrupted {
        fit.warnings
            .push("the calibration was interrupted: some benchmarks are missing".into());
    }
    if records.iter().all(|r| r.energy_j.is_none()) {
        fit.warnings
            .push("no energy sensor: only time costs were measured".into());
    }
}

/// Fits the calibration's records and adds the facts of the run.
///
/// # Errors
/// When the records do not determine a machine.
pub fn build(
    name: &str,
    calibration: &Calibration,
    facts: &CpuFacts,
    command: &str,
    options: &FitOptions,
) -> Result<(Machine, Fit, Vec<Record>), FitError> {
    let all = facts.cores.len();
    let points = calibration.points.iter().map(|p| p.record(all));
    let records: Vec<Record> = points.chain(calibration.faster.iter().cloned()).collect();
    let mut fit = fit(&records, options)?;
    fit.warnings.extend(calibration.noise.banner());
    warn(&mut fit, calibration.interrupted, &records);
    // A fit with negative energies cannot happen here: NNLS and capped keep them at 0 or above.
    let mut machine = fit.to_machine(name, &format!("{} ({} cores)", facts.model, all))?;
    machine.about = "Microbenchmarks of this host, all cores together; times are roofs: the best \
                     rate that any benchmark sustained"
        .into();
    set_roofs(&mut machine, &fit, &records);
    // What is printed is what is written.
    fit.set_times(&machine);
    let mut fact = |key: &str, value: String| {
        machine.facts.insert(key.to_owned(), value);
    };
    fact("cpu", facts.model.clone());
    fact("isa", facts.isa.to_string());
    fact("threads", all.to_string());
    if let Some((a, b)) = calibration.clock_hz {
        fact(
            "clock",
            format!("{:.3} GHz before, {:.3} GHz after", a * 1e-9, b * 1e-9),
        );
    }
    if facts.virtual_machine {
        fact("virtual_machine", "yes".into());
    }
    if let Some(governor) = &facts.governor {
        fact("governor", governor.clone());
    }
    for peak in &calibration.peaks {
        fact(
            &format!("peak_{}", peak.op),
            format!(
                "{:.1} GFLOP/s, {:.1} % [{:.1} … {:.1}] of {} cores x {} pipes x clock",
                peak.flops_per_s * 1e-9,
                100.0 * peak.share.median,
                100.0 * peak.share.lo,
                100.0 * peak.share.hi,
                all,
                peak.pipes
            ),
        );
    }
    fact("greenup", env!("CARGO_PKG_VERSION").into());
    fact("command", command.to_owned());
    Ok((machine, fit, records))
}
