//! Tables of the analysis of a sweep, for the page and the terminal.

use super::findings::{alpha, config};
use super::parameters::varied;
use super::winners::Winners;
use greenup_meter::Summary;
use greenup_report::si::{factor, percent, si};
use greenup_report::table::{Cell, Columns, Table};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, FrontPoint, MeasuredConfig, Split};
use greenup_tune::sweep::Compared;

/// Unit of the efficiency.
pub(super) fn per_j(a: &Analysis) -> String {
    format!("{}/J", a.unit.trim_end_matches("/s"))
}

/// The fastest config and that of the lowest energy.
pub fn best(a: &Analysis, sweep: &Sweep) -> Table {
    let w = Winners::of(a, sweep);
    let low = w.low.as_ref().map(|(r, _)| ("lowest energy", r));
    let rows = std::iter::once((w.first_name(), &w.fast)).chain(low);
    let rows = rows.filter_map(|(name, r)| {
        let single = a.rows.iter().find(|s| s.trial == r.trial)?;
        Some((name, r.clone(), single.time_s))
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

/// What is known of the best configs and of what they are compared with.
pub(super) fn winners(w: &Winners) -> Table {
    struct Row<'a> {
        name: String,
        time_s: f64,
        energy_j: Option<f64>,
        compared: Option<&'a Compared>,
    }
    let row = |name: &str, r: &MeasuredConfig| Row {
        name: name.to_owned(),
        time_s: r.time_s,
        energy_j: r.energy_j,
        compared: None,
    };
    let first = if w.one_wins_both() { "best" } else { "fastest" };
    let mut rows = vec![row(first, &w.fast)];
    let shown = |trial: usize| {
        let low = w.low.as_ref().is_some_and(|l| l.0.trial == trial);
        low || trial == w.fast.trial
    };
    let low = w.low.iter().map(|(r, _)| row("lowest energy", r));
    rows.extend(low);
    let own = w.analysis.rows.iter().find(|r| r.trial == w.best);
    if let Some(own) = own.filter(|r| !shown(r.trial)) {
        let name = format!("best {}", w.objective);
        rows.push(row(&name, &own.as_known(w.sweep).0));
    }
    rows.extend(w.references.iter().map(|r| Row {
        name: r.name.to_owned(),
        time_s: r.compared.time_s.median,
        energy_j: r.compared.energy_j.as_ref().map(|e| e.median),
        compared: Some(&r.compared),
    }));
    let over =
        |s: Option<&Summary>, show: fn(f64) -> String| Cell::known(s.map(|s| show(s.median)));
    let saved = |e: f64| percent(1.0 - e);
    Columns::<Row>::new()
        .text("", "", |r| r.name.clone())
        .si("time", "", "s", |r| r.time_s)
        .si("energy", "", "J", |r| r.energy_j)
        .where_known()
        .cell(
            "best faster by",
            "Speed of the best config over this one's.",
            move |r| over(r.compared.and_then(|c| c.speedup.as_ref()), factor),
        )
        .where_known()
        .cell(
            "best saves",
            "Energy that the best config saves of this one.",
            move |r| over(r.compared.and_then(|c| c.energy_ratio.as_ref()), saved),
        )
        .where_known()
        .table("", rows)
}

/// Configs that no other beats in both time and energy, by what is known of them; with the parameters in which they differ.
pub fn front(a: &Analysis, sweep: &Sweep, points: &[FrontPoint]) -> Table {
    let config = |p: &FrontPoint| &sweep.trials[a.rows[p.row].trial].config;
    let known = |p: &FrontPoint| a.rows[p.row].as_known(sweep).0;
    let differs = |at: usize| {
        points
            .iter()
            .any(|p| config(p)[at] != config(&points[0])[at])
    };
    let parameters = sweep.facts.parameters.iter().enumerate();
    Columns::<FrontPoint>::new()
        .si("time", "", "s", |p| known(p).time_s)
        .si("energy", "", "J", |p| known(p).energy_j)
        .text("optimal for α", "", |p| alpha(p.alpha))
        .and_each(
            parameters.filter(|(at, _)| differs(*at)),
            |all, (at, name)| all.text(name, "", move |p| config(p)[at].to_string()),
        )
        .table("", points)
}

/// Trials on a page at most.
const TRIALS: usize = 100;

/// The fastest trials, with the parameters that vary.
pub(super) fn trials(a: &Analysis, sweep: &Sweep) -> Table {
    let mut rows: Vec<&MeasuredConfig> = a.rows.iter().collect();
    rows.sort_by(|x, y| x.time_s.total_cmp(&y.time_s));
    let caption = match rows.len() > TRIALS {
        true => format!(
            "The {TRIALS} fastest of {} configs; trials.csv has all",
            rows.len()
        ),
        false => "All configs; trials.csv has failed ones too".to_owned(),
    };
    rows.truncate(TRIALS);
    Columns::<MeasuredConfig>::new()
        .count("trial", "", |r| r.trial as u64 + 1)
        .si("time (one trial)", "", "s", |r| r.time_s)
        .si("energy (one trial)", "", "J", |r| r.energy_j)
        .where_known()
        .and_each(varied(sweep), |all, (at, _)| {
            let name = &sweep.facts.parameters[at];
            all.text(name, "", move |r| {
                sweep.trials[r.trial].config[at].to_string()
            })
        })
        .table(&caption, rows)
}

/// Means above and below the mean of each parameter and metric.
pub(super) fn splits(a: &Analysis, splits: &[&Split]) -> Table {
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
        .where_known()
        .si("below", "", &per_j, |s| s.efficiency.map(|e| e.1))
        .where_known()
        .table(
            "Means of the configs above and below the mean of each",
            splits.iter().copied(),
        )
}

/// What each parameter explains of the times and the energies, by parameters at these places.
pub fn importance(a: &Analysis, places: Vec<usize>) -> Table {
    Columns::<usize>::new()
        .text("parameter", "", |p| a.parameters[*p].clone())
        .percent("time", "", |p| a.importance_time.get(*p).copied())
        .percent("energy", "", |p| {
            a.importance_energy.as_ref()?.get(*p).copied()
        })
        .where_known()
        .table(
            "Share of the variation that each parameter explains",
            places,
        )
}
