//! Figures of a tuning sweep: all configs in a plane, and correlations.

use crate::chart::shapes::Shape;
use crate::chart::{
    Axis, Bar, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Tag, Unit, What,
};
use crate::si::three;

/// One config in the plane.
#[derive(Clone, Debug)]
pub struct Dot {
    /// Horizontal value, in `x_unit`.
    pub x: f64,
    /// Vertical value, in `y_unit`.
    pub y: f64,
    /// Shown on hovering.
    pub tip: String,
    /// Index in the legend.
    pub colour: usize,
}

/// Configs by two quantities, of which more is better.
#[derive(Clone, Debug, Default)]
pub struct Scatter {
    /// Title.
    pub title: String,
    /// Quantity of the horizontal axis.
    pub x_label: String,
    /// Quantity of the vertical axis.
    pub y_label: String,
    /// Unit of the horizontal axis; none for a count.
    pub x_unit: String,
    /// Unit of the vertical axis.
    pub y_unit: String,
    /// One dot a configuration.
    pub dots: Vec<Dot>,
    /// Indices of the dots on the convex hull.
    pub hull: Vec<usize>,
    /// Index of the fastest configuration.
    pub fastest: Option<usize>,
    /// Index of the configuration of lowest energy.
    pub lowest_energy: Option<usize>,
    /// Indices of the dots on the Pareto front, from right to left: drawn as a staircase.
    pub front: Vec<usize>,
    /// Configs that were measured again, at these values, with the interval of y.
    pub again: Vec<(Dot, Option<(f64, f64)>)>,
    /// Rings with their names, such as a baseline.
    pub named: Vec<(String, Dot)>,
    /// Names of the values of tips that are lists, separated by tabs.
    pub tip_names: Vec<String>,
    /// Names of colours; none for a single one.
    pub legend: Vec<String>,
    /// Dots drawn at most, an even sample of more; 0 for [`MOST`].
    pub most: usize,
}

/// Dots drawn at most, if nothing else is said.
pub const MOST: usize = 6000;
/// Largest share of the plane that is drawn enlarged in a panel of its own.
const SMALL_PART: f64 = 0.12;

/// A range of x and one of y.
type Part = [(f64, f64); 2];

/// The range of points, widened at both ends by a share of it.
fn around(points: &[(f64, f64)], wider: f64) -> Option<Part> {
    let range = |pick: fn(&(f64, f64)) -> f64| {
        let finite = || points.iter().map(pick).filter(|v| v.is_finite());
        let lo = finite().fold(f64::INFINITY, f64::min);
        let hi = finite().fold(f64::NEG_INFINITY, f64::max);
        let pad = wider * (hi - lo);
        (lo < hi).then_some((lo - pad, hi + pad))
    };
    Some([range(|p| p.0)?, range(|p| p.1)?])
}

impl Scatter {
    /// The figure. Where what matters fills little of the plane, a second panel shows it enlarged.
    pub fn chart(&self) -> Chart {
        let groups = self.legend.len().max(1);
        let mut series: Vec<Series> = (0..groups)
            .map(|k| {
                let name = self.legend.get(k).map_or("config", String::as_str);
                Series::new(name, Ink::Series(k), Sign::Dot)
            })
            .collect();
        series.extend([
            Series::new("convex hull", Ink::Quiet, Sign::Line),
            Series::new("Pareto front", Ink::Series(1), Sign::Line),
            Series::new(
                "measured again in the final rounds",
                Ink::Series(2),
                Sign::Dot,
            ),
        ]);
        let part = self.small_part();
        let mut panels = vec![self.panel(None, part.is_none())];
        if let Some(part) = part {
            let [x, y] = part;
            let frame = Shape::rect((x.0, y.0), (x.1, y.1)).edged(Ink::Text, 1.0);
            let frame = What::Shapes(vec![frame.dashed("4 3")]);
            panels[0].push(Layer::of(0, frame).inked(Ink::Text));
            panels.push(self.panel(Some(part), true));
        }
        Chart {
            title: self.title.clone(),
            series,
            panels,
            tip_names: self.tip_names.clone(),
            notes: match self.step() {
                1 => Vec::new(),
                n => vec![format!("One config in {n} is drawn.")],
            },
            // Below each other.
            least_width: 600.0,
            ..Chart::default()
        }
    }

    /// Every how manieth dot is drawn.
    fn step(&self) -> usize {
        let most = if self.most > 0 { self.most } else { MOST };
        self.dots.len().div_ceil(most).max(1)
    }

    /// The part around the front, what was measured again and what has a name, if it is a small one.
    fn small_part(&self) -> Option<Part> {
        let at = |d: &Dot| (d.x, d.y);
        let mut points: Vec<(f64, f64)> = self.again.iter().map(|(d, _)| at(d)).collect();
        points.extend(self.named.iter().map(|(_, d)| at(d)));
        points.extend(self.front.iter().map(|i| at(&self.dots[*i])));
        let part = around(&points, 0.25)?;
        let all: Vec<(f64, f64)> = self.dots.iter().map(at).collect();
        let whole = around(&all, 0.0)?;
        let share = |k: usize| (part[k].1 - part[k].0) / (whole[k].1 - whole[k].0);
        (share(0) * share(1) < SMALL_PART).then_some(part)
    }

    fn panel(&self, part: Option<Part>, names: bool) -> Panel {
        let unit = |u: &str| {
            if u.is_empty() {
                Unit::None
            } else {
                Unit::si(u)
            }
        };
        let mut x = Axis::new(&self.x_label, unit(&self.x_unit), Scale::Linear);
        let mut y = Axis::new(&self.y_label, unit(&self.y_unit), Scale::Linear);
        let shown = |d: &Dot| {
            part.is_none_or(|[x, y]| (x.0..=x.1).contains(&d.x) && (y.0..=y.1).contains(&d.y))
        };
        let title = part.map_or("", |_| "The dashed part");
        if let Some([across, up]) = part {
            x = x.over(across.0, across.1);
            y = y.over(up.0, up.1);
        }
        let mut panel = Panel::new(title, x, y);
        panel.height = Height::Ratio(if part.is_some() { 0.4 } else { 0.6 });
        let groups = self.legend.len().max(1);
        let size = if self.dots.len() > 300 { 4.5 } else { 6.5 };
        let mark = |d: &Dot| Mark {
            x: d.x,
            y: d.y,
            interval: None,
            tip: d.tip.clone(),
        };
        let drawn = || self.dots.iter().step_by(self.step()).filter(|d| shown(d));
        for k in 0..groups {
            let points = drawn().filter(|d| d.colour == k).map(mark).collect();
            panel.push(Layer::points(k, points, size));
        }
        if let Some(&first) = self.hull.first() {
            let at = |i: &usize| (self.dots[*i].x, self.dots[*i].y);
            let line = self.hull.iter().chain([&first]).map(at).collect();
            panel.push(Layer::dashed(groups, line, 1.3, "", ""));
        }
        if !self.front.is_empty() {
            panel.push(Layer::line(groups + 1, self.staircase(), ""));
            let corners = self.front.iter().map(|i| &self.dots[*i]);
            let corners = corners.filter(|d| shown(d)).map(mark).collect();
            panel.push(Layer::points(groups + 1, corners, size + 1.5));
        }
        let again = self.again.iter().filter(|(d, _)| shown(d));
        let again = again.map(|(d, interval)| Mark {
            interval: *interval,
            ..mark(d)
        });
        let again = again.collect();
        panel.push(Layer::points(groups + 2, again, 7.0));
        for (dot, name, upright) in self.winners() {
            let (x, y) = if upright {
                (Some(dot.x), None)
            } else {
                (None, Some(dot.y))
            };
            panel.push(Layer::of(0, What::Rule { x, y, dash: "4 3" }).inked(Ink::Quiet));
            ring(&mut panel, mark(dot), name);
        }
        for (name, dot) in &self.named {
            ring(&mut panel, mark(dot), if names { name } else { "" });
        }
        panel
    }

    /// The fastest config and that of the lowest energy, with their names, and whether its line is upright.
    fn winners(&self) -> Vec<(&Dot, &'static str, bool)> {
        let same = self.fastest.is_some() && self.fastest == self.lowest_energy;
        let (first, second) = match same {
            true => ("fastest and lowest energy", None),
            false => ("fastest", self.lowest_energy),
        };
        let fastest = self.fastest.map(|i| (&self.dots[i], first, true));
        let lowest = second.map(|i| (&self.dots[i], "lowest energy", false));
        fastest.into_iter().chain(lowest).collect()
    }

    /// The border of what the front beats.
    fn staircase(&self) -> Vec<(f64, f64)> {
        let finite = |d: &&Dot| d.x.is_finite() && d.y.is_finite();
        let all = || self.dots.iter().filter(finite);
        let left = all().map(|d| d.x).fold(f64::INFINITY, f64::min);
        let bottom = all().map(|d| d.y).fold(f64::INFINITY, f64::min);
        let mut line = Vec::new();
        let mut level = bottom;
        for d in self.front.iter().map(|i| &self.dots[*i]) {
            line.extend([(d.x, level), (d.x, d.y)]);
            level = d.y;
        }
        line.push((left, level));
        line
    }
}

/// A ring, with its name beside it.
fn ring(panel: &mut Panel, mark: Mark, name: &str) {
    let at = (mark.x, mark.y);
    let ring = What::Points {
        points: vec![mark],
        size: 11.0,
        hollow: true,
    };
    panel.push(Layer::of(0, ring).inked(Ink::Text));
    if !name.is_empty() {
        panel.tags.push(Tag {
            text: name.into(),
            at: vec![at],
            ink: Ink::Text,
            bold: true,
        });
    }
}

/// One bar of a sorted chart from −1 to 1.
#[derive(Clone, Debug)]
pub struct SignedBar {
    /// Name of the bar.
    pub name: String,
    /// Coefficient, −1…1.
    pub value: f64,
    /// In the colour of attention.
    pub marked: bool,
    /// Text shown on hovering.
    pub tip: String,
}

/// Coefficients from −1 to 1, the first at the bottom.
pub fn signed_bars(title: &str, bars: &[SignedBar]) -> Chart {
    let names = bars.iter().map(|b| b.name.clone()).collect();
    let mut panel = Panel::new(
        "",
        Axis::new("correlation", Unit::None, Scale::Linear).over(-1.3, 1.3),
        Axis::new("", Unit::None, Scale::Names(names)),
    );
    panel.height = Height::Rows(20.0);
    for (i, b) in bars.iter().enumerate() {
        let bar = Bar {
            at: i as f64,
            thick: 0.7,
            to: b.value,
            text: three(b.value),
            tip: b.tip.clone(),
            ..Bar::default()
        };
        panel.push(Layer::bars(usize::from(b.marked), vec![bar]));
    }
    let zero = What::Rule {
        x: Some(0.0),
        y: None,
        dash: "",
    };
    panel.push(Layer::of(0, zero).inked(Ink::Text));
    Chart {
        title: title.to_owned(),
        series: vec![
            Series::new("correlation", Ink::Series(0), Sign::Area),
            Series::new(
                "rank differs between performance and efficiency",
                Ink::Series(1),
                Sign::Area,
            ),
        ],
        panels: vec![panel],
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(x: f64, y: f64) -> Dot {
        Dot {
            x,
            y,
            tip: String::new(),
            colour: 0,
        }
    }

    #[test]
    fn the_front_is_a_staircase_and_a_small_part_is_enlarged() {
        let mut s = Scatter {
            dots: [(0.0, 0.0), (100.0, 96.0), (96.0, 100.0)]
                .map(|(x, y)| dot(x, y))
                .to_vec(),
            front: vec![1, 2],
            ..Scatter::default()
        };
        assert_eq!(
            s.staircase(),
            [
                (100.0, 0.0),
                (100.0, 96.0),
                (96.0, 96.0),
                (96.0, 100.0),
                (0.0, 100.0)
            ]
        );
        assert_eq!(s.small_part(), Some([(95.0, 101.0), (95.0, 101.0)]));
        s.named = vec![("baseline".into(), dot(10.0, 20.0))];
        assert_eq!(s.small_part(), None, "most of the plane");
        assert_eq!(s.chart().panels.len(), 1);
    }
}
