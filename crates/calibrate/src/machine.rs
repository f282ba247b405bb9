//! Records + fit → a machine file of this host or its GPU.

use crate::fit::clocked::{ClockedFit, fit_clocked};
use crate::fit::{Fit, FitError, FitOptions, fit};
use crate::gpu::suite::GpuCalibration;
use crate::record::Record;
use crate::suite::Calibration;
use greenup_device::CpuFacts;
use greenup_device::cuda::Gpu;
use greenup_meter::Summary;
use greenup_model::{Estimate, Label, Machine, Op};

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

/// A rate of a class: the record of the best, its time and the time's interval, s.
struct Roof<'a> {
    record: &'a Record,
    time_s: f64,
    interval: Option<(f64, f64)>,
}

impl<'a> Roof<'a> {
    /// That of one record, with the interval that it holds.
    fn of(record: &'a Record, time_s: f64) -> Self {
        let end = |name: &str| record.note(name).unwrap_or(record.time_s);
        let (lo, hi) = (end("_time_lo_s").min(time_s), end("_time_hi_s").max(time_s));
        // A single repeat says nothing of its spread.
        Self {
            record,
            time_s,
            interval: (lo < hi).then_some((lo, hi)),
        }
    }

    /// The time of one operation.
    fn cost(&self, op: Op) -> Estimate {
        let n = self.record.work.count(op);
        let mut tau = match self.interval {
            Some((lo, hi)) => Estimate::with_interval(self.time_s / n, lo / n, hi / n),
            None => Estimate::new(self.time_s / n),
        };
        tau.label = Some(Label::Measured);
        tau.source = Some(format!("best rate: {}", self.record.benchmark));
        tau
    }
}

/// Raises the roof of one class to the rate of a record.
pub fn raise_to(machine: &mut Machine, op: Op, record: &Record) {
    if let Some(cost) = machine.cost.get_mut(&op) {
        cost.time_s = Some(Roof::of(record, record.time_s).cost(op));
    }
}

/// The best rate of a class on the whole device. Rows of one benchmark with the same work are its repeats: their median counts. Of a
/// row that is a median itself, the fastest window counts where the median was disturbed or the benchmark faster when it was measured
/// again.
fn roof(records: &[Record], op: Op) -> Option<Roof<'_>> {
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for r in (records.iter()).filter(|r| r.occupancy >= 1.0 && r.work.count(op) > 0.0) {
        let same = |g: &Vec<&Record>| {
            g[0].benchmark == r.benchmark && g[0].setting == r.setting && g[0].work == r.work
        };
        match groups.iter_mut().find(|g| same(g)) {
            Some(g) => g.push(r),
            None => groups.push(vec![r]),
        }
    }
    let roofs = groups.into_iter().filter_map(|g| match g.as_slice() {
        [r] => Some(Roof::of(r, r.note("_time_best_s").unwrap_or(r.time_s))),
        all => {
            let times: Vec<f64> = all.iter().map(|r| r.time_s).collect();
            let s = Summary::of(&times)?;
            Some(Roof {
                record: all[0],
                time_s: s.median,
                interval: (s.lo < s.hi).then_some((s.lo, s.hi)),
            })
        }
    });
    let cost = |r: &Roof<'_>| r.time_s / r.record.work.count(op);
    roofs.min_by(|a, b| cost(a).total_cmp(&cost(b)))
}

/// Classes whose roof rests on a record that was disturbed, and why.
pub fn not_clean(records: &[Record]) -> Vec<(Op, String)> {
    (Op::ALL.into_iter())
        .filter_map(|op| {
            let r = roof(records, op)?.record;
            let (_, flags) = r.notes.iter().find(|(name, _)| name == "_flags")?;
            let why = flags.split("disturbed: ").nth(1)?;
            Some((op, format!("{}: {why}", r.benchmark)))
        })
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_model::Work;

    fn row(benchmark: &str, bytes: f64, time_s: f64) -> Record {
        Record {
            benchmark: benchmark.into(),
            setting: "all".into(),
            work: Work::new().with(Op::Dram, bytes).unwrap(),
            time_s,
            energy_j: None,
            occupancy: 1.0,
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_roof_is_the_median_of_the_repeats_of_the_best_benchmark() {
        let mut all: Vec<Record> = [1.00, 1.02, 0.90, 1.01, 1.03]
            .map(|t| row("a", 1e9, t))
            .to_vec();
        all.extend([2.2, 2.1, 2.3].map(|t| row("b", 2e9, t)));
        let roof = roof(&all, Op::Dram).unwrap().cost(Op::Dram);
        assert!((roof.value / 1.01e-9 - 1.0).abs() < 1e-12, "{roof:?}");
        assert!(roof.lo.unwrap() < roof.value && roof.hi.unwrap() > roof.value);
        // One row has no interval.
        let one = super::roof(&all[..1], Op::Dram).unwrap().cost(Op::Dram);
        assert_eq!((one.value, one.lo, one.hi), (1e-9, None, None));
    }
}
