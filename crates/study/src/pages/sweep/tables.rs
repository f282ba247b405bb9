//! Tables of the analysis of a sweep, for the page and the terminal.

use super::findings::{alpha, config};
use greenup_report::si::si;
use greenup_report::table::{Cell, Columns, Table};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, FrontPoint, MeasuredConfig, Split};

/// Unit of the efficiency.
fn per_j(a: &Analysis) -> String {
    format!("{}/J", a.unit.trim_end_matches("/s"))
}

/// The fastest config and that of the lowest energy.
pub fn best(a: &Analysis, sweep: &Sweep) -> Table {
    let rows = [
        ("fastest", Some(a.fastest)),
        ("lowest energy", a.lowest_energy),
    ];
    let rows = rows.into_iter().filter_map(|(name, row)| {
        let single = &a.rows[row?];
        Some((name, as_known(sweep, single), single.time_s))
    });
    Columns::<(&str, MeasuredConfig, f64)>::new()
        .text("", "", |(name, ..)| (*name).to_owned())
        .si("time", "", "s", |(_, r, _)| r.time_s)
        .si("energy", "", "J", |(_, r, _)| r.energy_j)
        .si("performance", "", a.unit, |(_, r, _)| r.performance)
        .si("efficiency", "", &per_j(a), |(_, r, _)| r.efficiency)
        .cell("measured", "", |(_, r, single)| {
            let again = |s: &f64| format!("(in the final rounds; {} in its trial)", si(*s, "s"));
            Cell::known(Some(single).filter(|s| **s != r.time_s).map(again))
        })
        .where_known()
        .text("config", "", |(_, r, _)| config(sweep, r))
        .table("", rows)
}

/// A config by the final rounds where it was measured again, else by its trial. The cards and the
/// table of the best configs show this one.
pub(super) fn as_known(sweep: &Sweep, r: &MeasuredConfig) -> MeasuredConfig {
    let Some((cost, true)) = sweep.best_known_cost(r.trial) else {
        return r.clone();
    };
    let energy_j = cost.energy_j.or(r.energy_j);
    MeasuredConfig {
        trial: r.trial,
        time_s: cost.time_s,
        energy_j,
        performance: r.performance * r.time_s / cost.time_s,
        efficiency: (r.efficiency.zip(r.energy_j).zip(energy_j))
            .map(|((x, old), new)| x * old / new),
    }
}

/// Configs that no other beats in both time and energy.
pub fn front(a: &Analysis, sweep: &Sweep, points: &[FrontPoint]) -> Table {
    Columns::<FrontPoint>::new()
        .si("time", "", "s", |p| a.rows[p.row].time_s)
        .si("energy", "", "J", |p| a.rows[p.row].energy_j)
        .text("optimal for α", "", |p| alpha(p.alpha))
        .text("config", "", |p| config(sweep, &a.rows[p.row]))
        .table("Pareto front", points)
}

/// Means above and below the mean of each parameter and metric.
pub(super) fn splits(a: &Analysis) -> Table {
    let per_j = per_j(a);
    Columns::<Split>::new()
        .text("", "", |s| s.name.clone())
        .three("mean", "", |s| s.mean)
        .count("above", "", |s| s.above as u64)
        .count("below", "", |s| s.below as u64)
        .si("performance above", "", a.unit, |s| s.performance.0)
        .si("below", "", a.unit, |s| s.performance.1)
        .si("efficiency above", "", &per_j, |s| {
            s.efficiency.map(|e| e.0)
        })
        .si("below", "", &per_j, |s| s.efficiency.map(|e| e.1))
        .table(
            "Means of the configs above and below the mean of each",
            &a.splits,
        )
}

/// What each parameter explains of the times and the energies.
pub fn importance(a: &Analysis) -> Table {
    Columns::<(usize, &String)>::new()
        .text("parameter", "", |(_, p)| (*p).clone())
        .percent("time", "", |(i, _)| a.importance_time.get(*i).copied())
        .percent("energy", "", |(i, _)| {
            a.importance_energy.as_ref()?.get(*i).copied()
        })
        .table(
            "Share of the variation that each parameter explains",
            a.parameters.iter().enumerate(),
        )
}
