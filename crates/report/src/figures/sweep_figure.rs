//! Figures of a tuning sweep: all configs in a plane, and correlations.

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

/// Configs by two quantities.
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
    /// Names of the values of tips that are lists, separated by tabs.
    pub tip_names: Vec<String>,
    /// Names of colours; none for a single one.
    pub legend: Vec<String>,
    /// Dots drawn at most, an even sample of more; 0 for [`MOST`].
    pub most: usize,
}

/// Dots drawn at most, if nothing else is said.
pub const MOST: usize = 6000;

impl Scatter {
    /// The figure.
    pub fn chart(&self) -> Chart {
        let unit = |u: &str| {
            if u.is_empty() {
                Unit::None
            } else {
                Unit::si(u)
            }
        };
        let mut panel = Panel::new(
            "",
            Axis::new(&self.x_label, unit(&self.x_unit), Scale::Linear),
            Axis::new(&self.y_label, unit(&self.y_unit), Scale::Linear),
        );
        panel.height = Height::Ratio(0.6);
        let groups = self.legend.len().max(1);
        let mut series: Vec<Series> = (0..groups)
            .map(|k| {
                let name = self.legend.get(k).map_or("config", String::as_str);
                Series::new(name, Ink::Series(k), Sign::Dot)
            })
            .collect();
        series.push(Series::new("convex hull", Ink::Quiet, Sign::Line));
        let many = self.dots.len() > 300;
        let most = if self.most > 0 { self.most } else { MOST };
        let step = self.dots.len().div_ceil(most).max(1);
        for k in 0..groups {
            let points = self
                .dots
                .iter()
                .step_by(step)
                .filter(|d| d.colour == k)
                .map(|d| Mark {
                    x: d.x,
                    y: d.y,
                    interval: None,
                    tip: d.tip.clone(),
                })
                .collect();
            panel.push(Layer::points(k, points, if many { 4.5 } else { 6.5 }));
        }
        if let Some(&first) = self.hull.first() {
            let at = |i: &usize| (self.dots[*i].x, self.dots[*i].y);
            let line = self.hull.iter().chain([&first]).map(at).collect();
            panel.push(Layer::dashed(groups, line, 1.3, "", ""));
        }
        let same = self.fastest.is_some() && self.fastest == self.lowest_energy;
        for (dot, name, upright) in [
            (
                self.fastest,
                if same {
                    "fastest and lowest energy"
                } else {
                    "fastest"
                },
                true,
            ),
            (self.lowest_energy.filter(|_| !same), "lowest energy", false),
        ] {
            let Some(d) = dot.map(|i| &self.dots[i]) else {
                continue;
            };
            let (x, y) = if upright {
                (Some(d.x), None)
            } else {
                (None, Some(d.y))
            };
            panel.push(Layer::of(0, What::Rule { x, y, dash: "4 3" }).inked(Ink::Quiet));
            let mark = Mark {
                x: d.x,
                y: d.y,
                interval: None,
                tip: d.tip.clone(),
            };
            let ring = What::Points {
                points: vec![mark],
                size: 11.0,
                hollow: true,
            };
            panel.push(Layer::of(0, ring).inked(Ink::Text));
            panel.tags.push(Tag {
                text: name.into(),
                at: vec![(d.x, d.y)],
                ink: Ink::Text,
                bold: true,
            });
        }
        Chart {
            title: self.title.clone(),
            series,
            panels: vec![panel],
            tip_names: self.tip_names.clone(),
            notes: match step {
                1 => Vec::new(),
                n => vec![format!("One config in {n} is drawn.")],
            },
            ..Chart::default()
        }
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
