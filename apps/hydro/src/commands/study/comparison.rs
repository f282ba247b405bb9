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

fn step(rows: &[Row], order: usize, assembly: Assembly) -> Option<&Row> {
    let same = |r: &&Row| r.order == order && r.assembly == assembly && r.work == "step";
    rows.iter().find(same)
}

fn orders(rows: &[Row]) -> Vec<usize> {
    let mut orders: Vec<usize> = rows.iter().map(|r| r.order).collect();
    orders.dedup();
    orders
}

impl Comparison {
    fn new(what: String, base: Option<&Row>, new: Option<&Row>) -> Option<Self> {
        let (base, new) = (base?, new?);
        let speedup = base.seconds / new.seconds;
        let greenup = base.joules.zip(new.joules).map(|(a, b)| a / b);
        Some(Self {
            what,
            speedup,
            powerup: greenup.map(|g| g / speedup),
            greenup,
        })
    }
}

/// Comparisons of whole steps: partial over full assembly, with their spaces.
pub fn of_assemblies(rows: &[Row]) -> Vec<(String, Comparison)> {
    let one = |order: usize| {
        let name = spaces(order);
        let [base, new] = ASSEMBLIES.map(|a| step(rows, order, a));
        let what = format!("{name}, partial over full assembly");
        Some((name, Comparison::new(what, base, new)?))
    };
    orders(rows).into_iter().filter_map(one).collect()
}

/// The same, and every order over the first.
pub fn comparisons(rows: &[Row]) -> Vec<Comparison> {
    let orders = orders(rows);
    let over_first = |order: usize, kind: Assembly| {
        let (new, old) = (spaces(order), spaces(orders[0]));
        let what = format!("{new} over {old}, {} assembly", kind.name());
        Comparison::new(what, step(rows, orders[0], kind), step(rows, order, kind))
    };
    let others = orders.iter().skip(1);
    let others = others.flat_map(|o| ASSEMBLIES.map(|kind| over_first(*o, kind)));
    let assemblies = of_assemblies(rows).into_iter().map(|c| c.1);
    assemblies.chain(others.flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_need_both_sides() {
        assert!(comparisons(&[]).is_empty());
    }
}
