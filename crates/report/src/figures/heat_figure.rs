//! A value over two parameters.

use crate::chart::axis::si::factor;
use crate::chart::{Axis, Cell, Chart, ColourBar, Height, Layer, Panel, Scale, Unit, What};

/// Values over two parameters; `None` where nothing was measured.
pub struct Heat {
    /// Title.
    pub title: String,
    /// Names of the parameters, and their values in rising order.
    pub x: (String, Vec<String>),
    /// As `x`, for the rows.
    pub y: (String, Vec<String>),
    /// Ratios to the best, rows of y: 1 is the best, 2 takes twice as much.
    pub ratios: Vec<Vec<Option<f64>>>,
    /// Quantity for the colour bar.
    pub quantity: String,
}

impl Heat {
    /// The figure: light is good; colours span all values but the worst twentieth.
    pub fn chart(&self) -> Chart {
        Chart {
            title: self.title.clone(),
            panels: vec![self.panel("", worst([self]))],
            ..Chart::default()
        }
    }

    /// The map with its colours down to a worst ratio.
    fn panel(&self, title: &str, worst: f64) -> Panel {
        let mut cells = Vec::new();
        for (y, row) in self.ratios.iter().enumerate() {
            for (x, ratio) in row.iter().enumerate() {
                let named = |(name, values): &(String, Vec<String>), i: usize| {
                    format!("{name} = {}", values.get(i).map_or("", String::as_str))
                };
                let value = ratio.map_or("not measured".to_owned(), factor);
                cells.push(Cell {
                    x,
                    y,
                    level: ratio.map(|r| 1.0 - r.ln() / worst.ln()),
                    text: ratio.map_or(String::new(), |r| {
                        if r < 10.0 {
                            format!("{r:.2}")
                        } else {
                            format!("{r:.0}")
                        }
                    }),
                    tip: format!("{}, {}: {value}", named(&self.x, x), named(&self.y, y)),
                });
            }
        }
        let mut panel = Panel::new(
            title,
            Axis::new(&self.x.0, Unit::None, Scale::Names(self.x.1.clone())),
            Axis::new(&self.y.0, Unit::None, Scale::Names(self.y.1.clone())),
        );
        panel.height = Height::Rows((360.0 / self.y.1.len().max(1) as f64).clamp(18.0, 34.0));
        // Darker than the darkest is not drawn.
        let all = || self.ratios.iter().flatten().flatten();
        let quantity = match all().any(|r| *r > worst) {
            true => format!("{}; darkest: ≥ {worst:.2}", self.quantity),
            false => self.quantity.clone(),
        };
        panel.bar = Some(ColourBar {
            axis: Axis::new(&quantity, Unit::None, Scale::Log),
            lo: worst,
            hi: 1.0,
        });
        panel.push(Layer::of(0, What::Cells { cells }));
        panel
    }
}

/// The ratio of all maps that only a twentieth exceeds.
fn worst<'a>(maps: impl IntoIterator<Item = &'a Heat>) -> f64 {
    let ratios = maps.into_iter().flat_map(|h| &h.ratios);
    let mut all: Vec<f64> = ratios.flatten().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let at = all.len().saturating_sub(1) * 19 / 20;
    all.get(at).copied().unwrap_or(1.0).max(1.1)
}

/// Maps side by side, with common colours and each with its title.
pub fn heats(title: &str, maps: &[Heat]) -> Chart {
    let worst = worst(maps);
    Chart {
        title: title.to_owned(),
        panels: maps.iter().map(|h| h.panel(&h.title, worst)).collect(),
        least_width: 400.0,
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn the_best_is_lightest_and_cells_of_another_order_differ() {
        let heat = Heat {
            title: "t".into(),
            x: ("a".into(), vec!["1".into(), "2".into(), "3".into()]),
            y: ("b".into(), vec!["3".into()]),
            ratios: vec![vec![Some(1.0), None, Some(3.0)]],
            quantity: "time over the best".into(),
        };
        let svg = heat.chart().svg(Style::Light, 500.0);
        assert!(!heat.panel("", 3.0).bar.unwrap().axis.title.contains('≥'));
        let axis = heat.panel("", 1.1).bar.unwrap().axis;
        assert_eq!(axis.title, "time over the best; darkest: ≥ 1.10");
        assert!(svg.contains("#fde725") && svg.contains("#0d0828") && svg.contains("fill-opacity"));
        for width in crate::chart::PAGE_WIDTHS {
            crate::chart::assert_clear(&heat.chart(), f64::from(width));
        }
    }
}
