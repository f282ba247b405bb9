//! Where in the nest the filters cut: the outer levels of the tree of choices, for drawing.

use super::index::Index;
use super::walk::Walker;
use crate::plan::compile::Nest;

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

/// One value chosen at one level, under the choices above it. `from..to` is its share of the
/// circle: a choice divides its share evenly among the values below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    pub level: usize,
    pub from: f64,
    pub to: f64,
    pub fate: Fate,
}

/// The outer part of the tree of choices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruning {
    /// Names of the levels drawn, outermost first.
    pub levels: Vec<String>,
    pub branches: Vec<Branch>,
    /// Deeper levels exist but have more branches than asked for.
    pub cut: bool,
}

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
            let width = (to - from) / values.len() as f64;
            if branches.len() + values.len() > most {
                out.cut = true;
                return out;
            }
            for (i, &v) in values.iter().enumerate() {
                w.slots.words[level.slot as usize] = v;
                let rejected = level
                    .tests
                    .iter()
                    .find(|t| !w.slots.truth(t).unwrap_or(false));
                let (from, to) = (from + i as f64 * width, from + (i + 1) as f64 * width);
                let fate = match rejected {
                    Some(t) => Fate::Rejected(t.filter),
                    None => {
                        let mut chosen = prefix.clone();
                        chosen.push(v);
                        if index.has_prefix(&chosen) {
                            next.push((chosen, from, to));
                            Fate::Alive
                        } else {
                            Fate::DiesBelow
                        }
                    }
                };
                branches.push(Branch {
                    level: k,
                    from,
                    to,
                    fate,
                });
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
