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
        // Area in proportion to η: the share of a flop's energy that is not constant power.
        let size = 6.0 + 22.0 * (0.5 * p.efficiency).exp2();
        let tip = format!("{name}: efficiency {}", percent(p.efficiency.exp2()));
        let mark = Mark {
            x,
            y,
            interval: None,
            tip,
        };
        panel.push(Layer::points(0, vec![mark], size));
        panel.tags.push(Tag {
            text: name.clone(),
            at: vec![(x, y)],
            ink: Ink::Text,
            bold: false,
        });
    }
    Chart {
        title: title.to_owned(),
        series: vec![Series::new("machine", Ink::Series(5), Sign::Dot)],
        panels: vec![panel],
        notes: vec![
            "Area of a disc: efficiency, the share of a flop's energy that is not constant power."
                .into(),
        ],
        ..Chart::default()
    }
}
