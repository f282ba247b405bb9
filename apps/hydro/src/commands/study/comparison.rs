//! Speedup, powerup and greenup within a study.

use super::cases::ASSEMBLIES;
use super::row::{Row, spaces};
use crate::session::settings::Assembly;

/// Speedup, powerup and greenup of one way to compute over another.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub what: String,
    pub speedup: f64,
    pub powerup: Option<f64>,
    pub greenup: Option<f64>,
}

/// Comparisons of whole steps: partial over full assembly, and every order over the first.
pub fn comparisons(rows: &[Row]) -> Vec<Comparison> {
    let find = |order: usize, assembly: Assembly| {
        rows.iter()
            .find(|r| r.order == order && r.assembly == assembly && r.work == "step")
    };
    let mut out = Vec::new();
    let mut compare = |what: String, base: Option<&Row>, new: Option<&Row>| {
        let (Some(base), Some(new)) = (base, new) else {
            return;
        };
        let speedup = base.seconds / new.seconds;
        let greenup = base.joules.zip(new.joules).map(|(a, b)| a / b);
        out.push(Comparison {
            what,
            speedup,
            powerup: greenup.map(|g| g / speedup),
            greenup,
        });
    };
    let mut orders: Vec<usize> = rows.iter().map(|r| r.order).collect();
    orders.dedup();
    for o in &orders {
        let what = format!("{}, partial over full assembly", spaces(*o));
        compare(what, find(*o, ASSEMBLIES[0]), find(*o, ASSEMBLIES[1]));
    }
    for o in orders.iter().skip(1) {
        for kind in ASSEMBLIES {
            let (new, old) = (spaces(*o), spaces(orders[0]));
            let what = format!("{new} over {old}, {} assembly", kind.name());
            compare(what, find(orders[0], kind), find(*o, kind));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_need_both_sides() {
        assert!(comparisons(&[]).is_empty());
    }
}
