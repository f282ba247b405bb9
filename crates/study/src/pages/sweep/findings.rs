//! The findings of a sweep in sentences, for the page and the terminal.

use super::winners::Winners;
use greenup_meter::Summary;
use greenup_report::si::{factor, percent, si, three};
use greenup_report::text;
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Learnt, MeasuredConfig, Model};
use greenup_tune::sweep::{Compared, Gain};

/// A config as `name=value …`.
pub fn config(sweep: &Sweep, r: &MeasuredConfig) -> String {
    let values = &sweep.trials[r.trial].config;
    text::named(sweep.facts.parameters.iter().zip(values))
}

fn model(m: Model) -> &'static str {
    match m {
        Model::Forest => "forest",
        Model::GaussianProcess => "Gaussian process",
        Model::Both => "forest and Gaussian process",
        Model::Boosted => "boosted trees",
        Model::All => "forest, Gaussian process and boosted trees",
    }
}

/// How well a surrogate model predicts `what` (time or energy) from a sample.
pub fn learnt(what: &str, l: &Learnt) -> String {
    format!(
        "{what} of all configs from a sample of {}: mean error {} on the {} others (median {}, {}); best of the sample and its {} best predictions: {} of the optimum",
        l.sample,
        percent(l.mean_error),
        l.held_out,
        percent(l.median_error),
        model(l.model),
        l.tried,
        percent(l.best_fraction)
    )
}

/// The range of weights α for which a config of the Pareto front wins.
pub fn alpha(a: Option<(f64, f64)>) -> String {
    a.map_or_else(
        || "none".to_owned(),
        |(lo, hi)| format!("{} … {}", three(lo), three(hi)),
    )
}

/// What tuning gained, over which config.
pub fn gain(sweep: &Sweep, g: &Gain) -> String {
    let config = text::named(sweep.facts.parameters.iter().zip(&g.over.config));
    if g.is_best {
        return format!("none: {} ({config}) is the best", g.over.origin);
    }
    let of = compared(sweep, &g.compared, "its");
    let over = format!("over {} ({config})", g.over.origin);
    let apart = |s: &Option<Summary>| s.as_ref().is_none_or(|s| s.lo > 1.0 || s.hi < 1.0);
    let c = &g.compared;
    let same = c.metric_ratio.is_none() && !apart(&c.speedup) && c.greenup.is_none();
    let doubt = if same { "; no difference found" } else { "" };
    format!("{over}, which took {of}{doubt}")
}

/// The baseline in the final rounds, and how the best config compares with it.
pub fn against_baseline(sweep: &Sweep, b: &Compared) -> String {
    compared(sweep, b, "the baseline's")
}

/// What `whose` kernel took in the final rounds, and how the best config compares with it.
fn compared(sweep: &Sweep, b: &Compared, whose: &str) -> String {
    let shown = |s: &Summary| {
        let [median, lo, hi] = [s.median, s.lo, s.hi].map(factor);
        format!("{median} [{lo} … {hi}]")
    };
    let energy = b.energy_j.map(|e| si(e.median, "J"));
    let run: Vec<String> = [Some(si(b.time_s.median, "s")), energy]
        .into_iter()
        .flatten()
        .collect();
    let mut out = vec![format!("{} a run", run.join(", "))];
    let mut add = |what: &str, of: &Option<Summary>| {
        out.extend(of.as_ref().map(|s| format!("{what} {}", shown(s))));
    };
    add("speedup of the best config", &b.speedup);
    add("greenup", &b.greenup);
    let objective = sweep.facts.objective.as_deref().unwrap_or_default();
    let metric = objective.strip_prefix("metric:").unwrap_or("metric");
    add(
        &format!("{metric} of the best config over {whose}"),
        &b.metric_ratio,
    );
    out.join("; ")
}

/// The findings of sections 3.2 to 3.4 of Anzt et al. (2015) in sentences.
pub fn headline(a: &Analysis, sweep: &Sweep) -> Vec<String> {
    let mut out = Vec::new();
    let w = Winners::of(a, sweep);
    out.extend(w.none_takes_less());
    let Some((low, again)) = &w.low else {
        return out;
    };
    if let (Some(ef), Some(eg)) = (w.fast.energy_j, low.energy_j) {
        let more = low.time_s / w.fast.time_s - 1.0;
        let time = match more < 0.0 {
            true => format!("{} less time", percent(-more)),
            false => format!("{} more time", percent(more)),
        };
        let one = match (again, sweep.finals.is_some()) {
            (false, true) => ", in one trial",
            _ => "",
        };
        out.push(format!(
            "the lowest-energy config takes {} less energy and {time} than the fastest{one}",
            percent(1.0 - eg / ef)
        ));
    }
    if let Some(q) = &a.quadrants {
        let n = a.rows.iter().filter(|r| r.energy_j.is_some()).count() as f64;
        out.push(format!(
            "{} configs ({}) are faster than the lowest-energy config, {} ({}) take less energy than the fastest, {} both",
            q.right,
            percent(q.right as f64 / n),
            q.above,
            percent(q.above as f64 / n),
            q.both
        ));
    }
    if let Some(s) = &a.spread_at_performance {
        out.push(format!(
            "at the speed of the lowest-energy config, energy varies by up to {} (hull)",
            percent(s.high / s.low - 1.0)
        ));
    }
    if let Some(s) = &a.spread_at_efficiency {
        out.push(format!(
            "at the energy of the fastest config, time varies by up to {} (hull)",
            percent(s.high / s.low - 1.0)
        ));
    }
    out
}
