//! All configs in the plane of performance and efficiency, as Figs. 5 and 9 of Anzt et al. (2015), and with what tuning
//! found.

use super::figures::short;
use super::winners::Winners;
use greenup_meter::Summary;
use greenup_report::chart::Chart;
use greenup_report::si::{si, three};
use greenup_report::sweep_figure::{Dot, Scatter};
use greenup_space::Value;
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, MeasuredConfig};

/// Fig. 5: all configs by performance and energy efficiency; `None` without energy.
pub fn scatter(a: &Analysis, sweep: &Sweep) -> Option<Scatter> {
    let lowest_energy = a.lowest_energy?;
    Some(Scatter {
        title: format!("{}: efficiency against performance", a.name),
        x_label: "performance".into(),
        y_label: "efficiency".into(),
        x_unit: a.unit.into(),
        y_unit: format!("{}/J", a.unit.trim_end_matches("/s")),
        dots: a
            .rows
            .iter()
            .map(|r| Dot {
                x: r.performance,
                y: r.efficiency.unwrap_or(f64::NAN),
                tip: tip(sweep, r),
                colour: 0,
            })
            .collect(),
        hull: a
            .hull
            .as_ref()
            .map(|h| h.corners.clone())
            .unwrap_or_default(),
        fastest: Some(a.fastest),
        lowest_energy: Some(lowest_energy),
        tip_names: tip_names(sweep),
        ..Scatter::default()
    })
}

/// The plane of a page: the Pareto front, and what the final rounds measured; `None` without energy.
pub fn found(w: &Winners) -> Option<Scatter> {
    let (a, sweep) = (w.analysis, w.sweep);
    let dot = |r: &MeasuredConfig| Dot {
        x: r.performance,
        y: r.efficiency.unwrap_or(f64::NAN),
        tip: tip(sweep, r),
        colour: 0,
    };
    let front = a.front.iter().flat_map(|f| &f.points);
    let known: Vec<(MeasuredConfig, bool)> = a.rows.iter().map(|r| r.as_known(sweep)).collect();
    let again = known.iter().filter(|r| r.1).map(|(r, _)| {
        let rounds = sweep.finals.as_ref();
        let place = rounds.and_then(|f| {
            let config = &sweep.trials[r.trial].config;
            let i = f.configs.iter().position(|c| c == config)?;
            Summary::of(f.energies_j.get(i)?)
        });
        let work = r.efficiency.zip(r.energy_j).map(|(x, e)| x * e);
        let ends = place.zip(work).map(|(e, w)| (w / e.hi, w / e.lo));
        (dot(r), ends)
    });
    let work = w.fast.performance * w.fast.time_s;
    let mut named = Vec::new();
    for r in &w.references {
        let Some(energy_j) = r.compared.energy_j.as_ref() else {
            continue;
        };
        let (time_s, energy_j) = (r.compared.time_s.median, energy_j.median);
        let numbers = [si(time_s, "s"), si(energy_j, "J")];
        let at = Dot {
            x: work / time_s,
            y: work / energy_j,
            tip: format!("{}: {}", r.name, numbers.join(", ")),
            colour: 0,
        };
        named.push((r.name.to_owned(), at));
    }
    named.push((w.first_name().to_owned(), dot(&w.fast)));
    named.extend(
        w.low
            .iter()
            .map(|(r, _)| ("lowest energy".to_owned(), dot(r))),
    );
    Some(Scatter {
        hull: Vec::new(),
        fastest: None,
        lowest_energy: None,
        front: front.map(|p| p.row).collect(),
        dots: known.iter().map(|r| dot(&r.0)).collect(),
        again: again.collect(),
        named,
        ..scatter(a, sweep)?
    })
}

/// Dots drawn at most in each of the small figures that split all configs.
const SPLIT: usize = 1500;

/// Time, energy and parameters of a config, as many as [`tip_names`].
pub(super) fn tip(sweep: &Sweep, r: &MeasuredConfig) -> String {
    let energy = r.energy_j.map_or("–".into(), |e| si(e, "J"));
    let values = sweep.trials[r.trial].config.iter().map(Value::to_string);
    let all: Vec<String> = [si(r.time_s, "s"), energy]
        .into_iter()
        .chain(values)
        .collect();
    all.join("\t")
}

pub(super) fn tip_names(sweep: &Sweep) -> Vec<String> {
    let first = ["time", "energy"].map(str::to_owned);
    first
        .into_iter()
        .chain(sweep.facts.parameters.iter().cloned())
        .collect()
}

/// Performance by rank, for sweeps without energy.
pub fn ranking(a: &Analysis, sweep: &Sweep) -> Scatter {
    let mut order: Vec<usize> = (0..a.rows.len()).collect();
    order.sort_by(|&i, &j| a.rows[j].performance.total_cmp(&a.rows[i].performance));
    Scatter {
        title: format!("{}: configs by performance", a.name),
        x_label: "rank".into(),
        y_label: "performance".into(),
        x_unit: String::new(),
        y_unit: a.unit.into(),
        dots: order
            .iter()
            .enumerate()
            .map(|(rank, &i)| Dot {
                x: rank as f64 + 1.0,
                y: a.rows[i].performance,
                tip: tip(sweep, &a.rows[i]),
                colour: 0,
            })
            .collect(),
        tip_names: tip_names(sweep),
        ..Scatter::default()
    }
}

/// Fig. 9: all configs by performance and energy efficiency, coloured by whether a parameter or metric is above its
/// mean; `None` without energy.
pub fn split_scatter(a: &Analysis, sweep: &Sweep, name: &str, mean: f64) -> Option<Chart> {
    let p = a.parameters.iter().position(|n| n == name);
    let mut s = scatter(a, sweep)?;
    let values = a.rows.iter().map(|r| {
        let t = &sweep.trials[r.trial];
        match p {
            Some(p) => t.config[p].as_float(),
            None => t.metrics.get(name).copied(),
        }
    });
    // Configs of which it is not known are on no side.
    s.dots = std::mem::take(&mut s.dots)
        .into_iter()
        .zip(values)
        .filter_map(|(mut d, v)| {
            d.colour = usize::from(v? <= mean);
            Some(d)
        })
        .collect();
    s.title = format!("split by {}", short(name, 40));
    s.hull = Vec::new();
    s.fastest = None;
    s.lowest_energy = None;
    s.most = SPLIT;
    s.legend = vec![
        format!("above {}", three(mean)),
        format!("at or below {}", three(mean)),
    ];
    Some(s.chart())
}
