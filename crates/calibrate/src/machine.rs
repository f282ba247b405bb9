//! Records + fit → a machine file of this host.

use crate::fit::{Fit, FitError, FitOptions, fit};
use crate::record::Record;
use crate::suite::{Calibration, Point};
use greenup_device::CpuFacts;
use greenup_model::{Estimate, Label, Machine};

/// Replaces fitted times by roofs: the best rate that any benchmark on all cores sustained, by the
/// median of its repeats, with that benchmark's interval.
///
/// A least-squares time would run through the middle of the benchmarks that a class binds, and
/// half of all good kernels would lie above it.
fn set_roofs(machine: &mut Machine, points: &[Point], cores: usize) {
    for (&op, cost) in &mut machine.cost {
        let best = points
            .iter()
            .filter(|p| p.threads == cores)
            .filter_map(|p| Some((p, p.work.iter().find(|(o, _)| *o == op)?.1)))
            .min_by(|a, b| (a.0.time_s.median / a.1).total_cmp(&(b.0.time_s.median / b.1)));
        if let Some((p, n)) = best {
            let mut tau =
                Estimate::with_interval(p.time_s.median / n, p.time_s.lo / n, p.time_s.hi / n);
            tau.label = Some(Label::Measured);
            tau.source = Some(format!("best rate: {}", p.name));
            cost.time_s = Some(tau);
        }
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
    let records: Vec<Record> = calibration.points.iter().map(|p| p.record(all)).collect();
    let mut fit = fit(&records, options)?;
    if let Some(drift) = calibration.drift.filter(|d| *d > 0.05) {
        fit.warnings.push(format!(
            "the machine itself drifted by {:.0} % between the start and the end of the calibration: \
             another program or tenant may be using it",
            100.0 * drift
        ));
    }
    if calibration.interrupted {
        fit.warnings
            .push("the calibration was interrupted: some benchmarks are missing".into());
    }
    let has_energy = calibration.points.iter().any(|p| p.energy_j.is_some());
    if !has_energy {
        fit.warnings
            .push("no energy sensor: only time costs were measured".into());
    }
    // A fit with negative energies cannot happen here: NNLS and capped keep them at 0 or above.
    let mut machine = fit
        .to_machine(name, &format!("{} ({} cores)", facts.model, all))
        .map_err(|_| FitError::Singular)?;
    machine.about = "Microbenchmarks of this host, all cores together; times are roofs: the best \
                     rate that any benchmark sustained"
        .into();
    set_roofs(&mut machine, &calibration.points, all);
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
