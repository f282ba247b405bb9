//! The figure of how filters prune a search space.

use greenup_report::pruning_figure::{Fate as Drawn, PruningFigure, Slice, Step};
use greenup_report::text;
use greenup_space::{
    Estimate, Facts, Fate, Funnel, Index, Limits, Space, Strength, funnel, pruning,
};
use std::time::Duration;

/// A number of points, or `?`.
pub fn counted(n: Option<u128>) -> String {
    n.map_or_else(|| "?".into(), text::grouped)
}

/// A number of points, counted or estimated.
pub fn size(exact: Option<u128>, estimate: Option<Estimate>) -> String {
    match (exact, estimate) {
        (None, Some(e)) => format!("≈ {:.2e} ± {}", e.points, percent(e.error / e.points)),
        _ => counted(exact),
    }
}

/// A share with two digits.
fn percent(share: f64) -> String {
    let p = 100.0 * share;
    if p < 10.0 {
        format!("{p:.1} %")
    } else {
        format!("{p:.0} %")
    }
}

/// How the filters of a space prune it; slices are drawn with an index.
pub fn figure(space: &Space, funnel: &Funnel, index: Option<&Index>) -> PruningFigure {
    let drawn = index.map(|i| pruning(i, 6000)).unwrap_or_default();
    PruningFigure {
        title: format!("{}: pruning", space.name),
        cartesian: funnel.cartesian.map(|n| n as f64),
        cartesian_label: counted(funnel.cartesian),
        steps: funnel
            .rows
            .iter()
            .map(|r| {
                let f = &space.filters()[r.filter];
                Step {
                    name: f.name.clone(),
                    soft: f.strength == Strength::Soft,
                    after: r.after.map(|n| n as f64).or(r.estimate.map(|e| e.points)),
                    label: size(r.after, r.estimate),
                }
            })
            .collect(),
        levels: drawn.levels,
        slices: drawn
            .branches
            .iter()
            .map(|b| Slice {
                level: b.level,
                from: b.from,
                to: b.to,
                fate: match b.fate {
                    Fate::Alive => Drawn::Alive,
                    Fate::DiesBelow => Drawn::DiesBelow,
                    Fate::Rejected(f) => Drawn::Rejected(f),
                },
            })
            .collect(),
        cut: drawn.cut,
    }
}

/// The figure of a space in a text; filters that take more than two seconds to count are estimated.
///
/// # Errors
/// What is wrong with the text, or that it needs too much memory.
pub fn of_text(text: &str, facts: &Facts) -> Result<PruningFigure, String> {
    let space = std::sync::Arc::new(Space::read(text, facts).map_err(|e| e.message)?);
    let limits = Limits::default();
    let large = |_| "the space is too large to index".to_owned();
    let index = Index::build(&space, &limits).map_err(large)?;
    let valid = Some(u128::from(index.len()));
    let funnel = funnel(&space, valid, Duration::from_secs(2), &limits).map_err(large)?;
    Ok(figure(&space, &funnel, Some(&index)))
}
