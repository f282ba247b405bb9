//! Where in the nest the filters cut: the outer levels of the tree of choices, for drawing.

use super::index::Index;
use super::walk::Walker;
use crate::plan::nest::compile::Nest;

/// What becomes of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Points lie below.
    Alive,
    /// This filter rejects it here.
    Rejected(usize),
    /// It passes here, but no point lies below.
    DiesBelow,
}

/// A value chosen at one level, under the choices above it, or a run of values of one fate that
/// lead nowhere. `from..to` is its share of the circle: a choice divides its share evenly among
/// the values below it, but those that lead nowhere together get less than a third of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    /// Level in the nest, 0 is the outermost.
    pub level: usize,
    /// Start as a fraction of the circle.
    pub from: f64,
    /// End as a fraction of the circle.
    pub to: f64,
    /// What becomes of it.
    pub fate: Fate,
}

/// The outer part of the tree of choices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruning {
    /// Names of the levels drawn, outermost first.
    pub levels: Vec<String>,
    /// The choices, level by level.
    pub branches: Vec<Branch>,
    /// Deeper levels exist but have more branches than asked for.
    pub cut: bool,
}

/// Share of a choice's arc that goes to values leading nowhere, at most.
const BARREN: f64 = 0.3;

/// Follows the nest level by level until a level would need more than `most` branches.
pub fn pruning(index: &Index, most: usize) -> Pruning {
    let space = index.space();
    let nest = Nest::new(space, |_| true);
    let mut w = Walker::new(&nest);
    let mut out = Pruning::default();
    if !w.constants_hold().unwrap_or(false) {
        return out;
    }
    let mut open: Vec<(Vec<u64>, f64, f64)> = vec![(Vec::new(), 0.0, 1.0)];
    for (k, level) in nest.levels.iter().enumerate() {
        let mut next = Vec::new();
        let mut branches = Vec::new();
        for (prefix, from, to) in &open {
            for (i, &v) in prefix.iter().enumerate() {
                w.enter(i, v);
            }
            let Ok(values) = w.candidates.all(space, k, &w.slots) else {
                continue;
            };
            // Runs of values of one fate; those alive stay apart.
            let mut runs: Vec<(Fate, usize, Option<Vec<u64>>)> = Vec::new();
            for &v in &values {
                w.slots.words[level.slot as usize] = v;
                let rejected = level
                    .tests
                    .iter()
                    .find(|t| !w.slots.truth(t).unwrap_or(false));
                let (fate, chosen) = match rejected {
                    Some(t) => (Fate::Rejected(t.filter), None),
                    None => {
                        let mut chosen = prefix.clone();
                        chosen.push(v);
                        if index.has_prefix(&chosen) {
                            (Fate::Alive, Some(chosen))
                        } else {
                            (Fate::DiesBelow, None)
                        }
                    }
                };
                match runs.last_mut() {
                    Some((last, n, None)) if *last == fate => *n += 1,
                    _ => runs.push((fate, 1, chosen)),
                }
            }
            if branches.len() + runs.len() > most {
                out.cut = true;
                return out;
            }
            let alive = runs.iter().filter(|r| r.0 == Fate::Alive).count();
            let barren = values.len() - alive;
            let barren_share = match alive {
                0 => 1.0,
                _ => BARREN.min(barren as f64 / values.len() as f64),
            };
            let mut at = *from;
            for (fate, n, chosen) in runs {
                let share = if fate == Fate::Alive {
                    (1.0 - barren_share) / alive as f64
                } else {
                    barren_share * n as f64 / barren as f64
                };
                let end = at + (to - from) * share;
                branches.push(Branch {
                    level: k,
                    from: at,
                    to: end,
                    fate,
                });
                if let Some(chosen) = chosen {
                    next.push((chosen, at, end));
                }
                at = end;
            }
        }
        out.levels
            .push(space.nest().nth(k).unwrap_or_default().to_owned());
        out.branches.extend(branches);
        open = next;
        if open.is_empty() {
            break;
        }
    }
    out
}
