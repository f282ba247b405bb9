//! How filters prune a search space: the size after each filter, and where in the nest of choices each filter cuts
//! (after Haugen and Kurzak, VISSOFT 2014; levels as rows instead of rings, so that names fit).

use crate::chart::{Axis, Bar, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit};

/// One filter of the funnel, in order.
#[derive(Clone, Debug)]
pub struct Step {
    /// Name of the filter.
    pub name: String,
    /// Whether it is a soft filter.
    pub soft: bool,
    /// Points after it; `None` when not counted.
    pub after: Option<f64>,
    /// The exact count as text.
    pub label: String,
}

/// What becomes of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Valid points lie below it.
    Alive,
    /// Rejected by this filter of the funnel.
    Rejected(usize),
    /// It passes here, but no valid point lies below it.
    DiesBelow,
}

/// A choice: its level, and its share of the width.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// Level of the nest, 0 is the outermost loop.
    pub level: usize,
    /// Start as a fraction of the width.
    pub from: f64,
    /// End as a fraction of the width.
    pub to: f64,
    /// What becomes of it.
    pub fate: Fate,
}

/// Funnel of a space and the nest of its choices.
#[derive(Clone, Debug, Default)]
pub struct PruningFigure {
    /// Title.
    pub title: String,
    /// Points before any filter.
    pub cartesian: Option<f64>,
    /// Number of points before any filter, as text.
    pub cartesian_label: String,
    /// The filters in order.
    pub steps: Vec<Step>,
    /// Names of the levels, outermost loop first.
    pub levels: Vec<String>,
    /// Choices of the levels.
    pub slices: Vec<Slice>,
    /// Whether deeper levels are left out, as they have too many choices.
    pub cut: bool,
}

/// Filters with colours of their own: those that reject most; the others share one.
const COLOURED: usize = 6;

impl PruningFigure {
    /// The figure.
    pub fn chart(&self) -> Chart {
        let (coloured, mut series) = self.series();
        let mut panels = vec![self.funnel(&coloured)];
        if !self.slices.is_empty() {
            panels.push(self.nest(&coloured));
        }
        let mut notes = Vec::new();
        if self.cut {
            notes.push("Deeper levels have too many choices to draw.".to_owned());
        }
        if panels.len() == 1 {
            series.truncate(coloured.len() + 3);
        }
        Chart {
            title: self.title.clone(),
            series,
            panels,
            notes,
            least_width: 480.0,
            ..Chart::default()
        }
    }

    /// Filters that have a colour, by how much they reject, and all series: alive, dies below, other filters, these.
    fn series(&self) -> (Vec<usize>, Vec<Series>) {
        let mut before = self.cartesian;
        let mut cuts: Vec<(usize, f64)> = Vec::new();
        for (i, s) in self.steps.iter().enumerate() {
            if let (Some(b), Some(a)) = (before, s.after) {
                // An empty rest counts as a tenth of a point.
                let ratio = (b.max(0.1) / a.max(0.1)).ln();
                if ratio > 0.0 {
                    cuts.push((i, ratio));
                }
            }
            before = s.after;
        }
        cuts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut coloured: Vec<usize> = cuts.iter().take(COLOURED).map(|c| c.0).collect();
        coloured.sort_unstable();
        let mut series = vec![
            Series::new("leads to valid points", Ink::Series(2), Sign::Area),
            Series::new("rejected by later levels", Ink::Grid, Sign::Area),
            Series::new("other filters", Ink::Quiet, Sign::Area),
        ];
        for (k, &i) in coloured.iter().enumerate() {
            // The green is taken.
            let ink = [0, 1, 3, 4, 5, 6][k];
            series.push(Series::new(
                &self.steps[i].name,
                Ink::Series(ink),
                Sign::Area,
            ));
        }
        (coloured, series)
    }

    /// Bars of the sizes on a logarithmic scale.
    fn funnel(&self, coloured: &[usize]) -> Panel {
        struct Row {
            name: String,
            size: Option<f64>,
            text: String,
            series: usize,
        }
        let mut rows = vec![Row {
            name: "no filter".into(),
            size: self.cartesian,
            text: self.cartesian_label.clone(),
            series: 2,
        }];
        let mut before = self.cartesian;
        for (i, s) in self.steps.iter().enumerate() {
            let idle = s.after.is_some() && s.after == before;
            before = s.after;
            let note = match (s.after, idle, s.soft) {
                (None, ..) => "not counted".to_owned(),
                (_, true, _) => format!("{}  rejects none", s.label),
                (_, _, true) => format!("{}  soft", s.label),
                _ => s.label.clone(),
            };
            rows.push(Row {
                name: s.name.clone(),
                size: s.after,
                text: note,
                series: coloured.iter().position(|c| *c == i).map_or(2, |k| k + 3),
            });
        }
        let largest = rows.iter().filter_map(|r| r.size).fold(10.0, f64::max);
        // Room for the counts after the bars.
        let end = 0.5 * (2.0 * largest).powf(1.45);
        let mut panel = Panel::new(
            "Points left after each filter",
            Axis::new("points", Unit::None, Scale::Log).over(0.5, end),
            Axis::new(
                "",
                Unit::None,
                Scale::Names(rows.iter().rev().map(|r| r.name.clone()).collect()),
            ),
        );
        panel.height = Height::Rows(21.0);
        for (at, r) in rows.iter().rev().enumerate() {
            let size = r.size.unwrap_or(0.0);
            let bar = Bar {
                at: at as f64,
                thick: 0.72,
                from: 0.5,
                // One point is a sliver, none is nothing.
                to: if size < 1.0 { 0.5 } else { size },
                text: r.text.clone(),
                tip: format!("{}: {}", r.name, r.text),
                ..Bar::default()
            };
            panel.push(Layer::bars(r.series, vec![bar]));
        }
        panel
    }

    /// Choices of each level; a choice is as wide as its share of the parent's choices.
    fn nest(&self, coloured: &[usize]) -> Panel {
        let names = self.levels.iter().rev().cloned().collect();
        let mut panel = Panel::new(
            "Choices of each loop, outermost on top",
            Axis::new("share of the choices", Unit::Percent, Scale::Linear).over(0.0, 1.0),
            Axis::new("", Unit::None, Scale::Names(names)),
        );
        panel.height = Height::Rows((420.0 / self.levels.len().max(1) as f64).clamp(18.0, 40.0));
        panel.grid = false;
        let last = self.levels.len().saturating_sub(1);
        let kinds = coloured.len() + 3;
        let mut bars: Vec<Vec<Bar>> = vec![Vec::new(); kinds];
        for s in &self.slices {
            let kind = match s.fate {
                Fate::Alive => 0,
                Fate::DiesBelow => 1,
                Fate::Rejected(f) => coloured.iter().position(|c| *c == f).map_or(2, |k| k + 3),
            };
            let at = last.saturating_sub(s.level) as f64;
            // Neighbours of one fate look like one choice: so they are one bar.
            let before = bars[kind].iter_mut().rfind(|b| b.at == at);
            if let Some(b) = before.filter(|b| (b.to - s.from).abs() < 1e-9) {
                b.to = s.to;
                continue;
            }
            bars[kind].push(Bar {
                at,
                thick: 0.94,
                from: s.from,
                to: s.to,
                ..Bar::default()
            });
        }
        for (kind, bars) in bars.into_iter().enumerate() {
            panel.push(Layer::bars(kind, bars));
        }
        panel
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn filters_that_reject_most_have_colours() {
        let step = |name: &str, after: f64| Step {
            name: name.into(),
            soft: false,
            after: Some(after),
            label: after.to_string(),
        };
        let f = PruningFigure {
            title: "t".into(),
            cartesian: Some(1e6),
            cartesian_label: "1000000".into(),
            steps: vec![step("a", 1e6), step("b", 1e3), step("c", 0.0)],
            levels: vec!["m".into(), "n".into()],
            slices: vec![
                Slice {
                    level: 0,
                    from: 0.0,
                    to: 0.5,
                    fate: Fate::Rejected(1),
                },
                Slice {
                    level: 1,
                    from: 0.5,
                    to: 1.0,
                    fate: Fate::Alive,
                },
            ],
            cut: true,
        };
        assert_eq!(f.series().0, [1, 2]);
        let svg = f.chart().svg(Style::Light, 900.0);
        assert!(svg.contains("rejects none") && !svg.contains("NaN"));
        for width in crate::chart::PAGE_WIDTHS {
            crate::chart::assert_clear(&f.chart(), f64::from(width));
        }
    }
}
