//! The dimensionless map of machines: balance against power, efficiency as size.

use crate::chart::{Axis, Chart, Ink, Layer, Mark, Panel, Scale, Series, Sign, Tag, Unit, What};
use crate::si::percent;
use greenup_model::map::Place;

/// Draws named machines at their dimensionless coordinates.
pub fn map(title: &str, machines: &[(String, Place)]) -> Chart {
    let mut panel = Panel::new(
        "",
        Axis::new(
            "balance Bε/Bτ (right: energy needs more reuse than time)",
            Unit::None,
            Scale::Log2,
        ),
        Axis::new("power Δπ/(πflop + πmem)", Unit::None, Scale::Log),
    );
    panel.height = crate::chart::Height::Ratio(0.62);
    for rule in [(Some(1.0), None), (None, Some(1.0))] {
        let (x, y) = rule;
        panel.push(Layer::of(0, What::Rule { x, y, dash: "" }).inked(Ink::Quiet));
    }
    for (name, p) in machines {
        let (x, y) = (p.balance.exp2(), p.power.exp2());
        let size = diameter(p.efficiency.exp2());
        let tip = format!("{name}: efficiency {}", percent(p.efficiency.exp2()));
        let mark = Mark {
            x,
            y,
            interval: None,
            tip,
        };
        let series = usize::from(!p.capped);
        let disc = What::Points {
            points: vec![mark],
            size,
            hollow: !p.capped,
        };
        panel.push(Layer::of(series, disc));
        panel.tags.push(Tag {
            text: name.clone(),
            at: vec![(x, y)],
            ink: Ink::Text,
            bold: false,
        });
    }
    let of = |r: f64| format!("{:.0} pixels at {}", diameter(r), percent(r));
    Chart {
        title: title.to_owned(),
        series: vec![
            Series::new("machine", Ink::Series(0), Sign::Dot),
            Series::new("without a power cap", Ink::Series(0), Sign::Ring),
        ],
        panels: vec![panel],
        notes: vec![format!(
            "Size of a disc: efficiency, the share of a flop's energy that is not constant power; {}, {}.{}",
            of(0.1),
            of(1.0),
            match machines.iter().all(|m| m.1.capped) {
                true => "",
                false => " Machines without a power cap stand at 1.",
            }
        )],
        ..Chart::default()
    }
}

/// Diameter of a disc for an efficiency, pixels.
fn diameter(efficiency: f64) -> f64 {
    6.0 + 22.0 * efficiency.sqrt()
}
