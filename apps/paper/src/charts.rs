//! Charts of the model that papers draw: balances of machines.

use greenup_model::{Machine, MachineError, Op};
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Tag, Unit,
};
use greenup_report::si::three;

/// Time balance against energy balance of machines (slide 54); the line is where both are the same.
///
/// # Errors
/// A machine lacks a cost.
pub fn balances(machines: &[Machine], flop: Op) -> Result<Chart, MachineError> {
    let mut panel = Panel::new(
        "",
        Axis::new("time balance Bτ", Unit::plain("flop/B"), Scale::Log2),
        Axis::new("energy balance Bε", Unit::plain("flop/B"), Scale::Log2),
    );
    panel.height = Height::Ratio(0.62);
    let mut at: Vec<(f64, f64)> = Vec::new();
    for m in machines {
        let r = m.roofline(flop, Op::Dram)?;
        let (x, y) = (r.time_balance(), r.energy_balance());
        if !(x > 0.0 && y > 0.0) {
            continue;
        }
        at.push((x, y));
        let tip = format!("{}: Bτ {}, Bε {}", m.name, three(x), three(y));
        let mark = Mark {
            x,
            y,
            interval: None,
            tip,
        };
        panel.push(Layer::points(usize::from(y > x), vec![mark], 9.0));
        panel.tags.push(Tag {
            text: m.name.clone(),
            at: vec![(x, y)],
            ink: Ink::Text,
            bold: false,
        });
    }
    // The part of the line that both axes have.
    let least = |of: fn(&(f64, f64)) -> f64| at.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| at.iter().map(of).fold(0.0, f64::max);
    let (lo, hi) = (
        least(|p| p.0).max(least(|p| p.1)),
        most(|p| p.0).min(most(|p| p.1)),
    );
    panel.push(Layer::dashed(
        2,
        vec![(lo, lo), (hi, hi)],
        1.3,
        "4 3",
        "Bε = Bτ",
    ));
    Ok(Chart {
        title: "Balances in time and in energy".into(),
        series: vec![
            Series::new("Bε ≤ Bτ", Ink::Series(0), Sign::Dot),
            Series::new("Bε > Bτ: a balance gap", Ink::Series(1), Sign::Dot),
            Series::new("Bε = Bτ", Ink::Quiet, Sign::Dashed),
        ],
        panels: vec![panel],
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::machine;

    #[test]
    fn balances_have_both_sides() {
        let fermi = machine("fermi-2010").unwrap();
        let c = balances(&[fermi, machine("i7-950").unwrap()], Op::F64).unwrap();
        assert_eq!(c.panels[0].tags.len(), 2);
    }
}
