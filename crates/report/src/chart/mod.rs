//! Charts: a description, and its drawings for a page and for files.
//!
//! Lengths are pixels of the drawing. Labels and ticks are laid out anew for each width: no text is scaled below
//! [`text::SMALL`].

pub mod axis;
pub mod canvas;
mod colour_bar;
mod draw;
pub mod files;
pub mod ink;
mod layout;
mod picture;
mod rect;
pub mod shapes;
mod space;
pub mod text;

pub use axis::{Axis, Scale, Unit};
pub use files::FileStyle;
pub use ink::{Ink, Palette, Style};
pub use layout::PAGE_WIDTHS;
pub use picture::Picture;

use shapes::{Arrow, Label, Shape};

/// A chart: panels with common series.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Title, also its name for readers that do not see it.
    pub title: String,
    /// Series that the layers refer to; those drawn are in the legend.
    pub series: Vec<Series>,
    /// Panels in reading order.
    pub panels: Vec<Panel>,
    /// Remarks below.
    pub notes: Vec<String>,
    /// Names of the values of tips that are lists, their values separated by tabs; none for tips that are sentences.
    pub tip_names: Vec<String>,
    /// Least width of a panel side by side with another, pixels; 0 for the default.
    pub least_width: f64,
    /// Greatest height of a panel whose axes have the same scale, over its width; 0 for the default of a page.
    pub tallest: f64,
    /// Where the figure comes from, names and values: kept in its files as metadata, not drawn.
    pub origin: Vec<(String, String)>,
}

/// How a series is marked in the legend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sign {
    /// A line.
    #[default]
    Line,
    /// A dashed line.
    Dashed,
    /// A dot.
    Dot,
    /// A hollow dot.
    Ring,
    /// A filled square.
    Area,
}

/// What layers of one colour and meaning have in common.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Name in the legend; none without.
    pub name: String,
    /// Colour.
    pub ink: Ink,
    /// Sign in the legend.
    pub sign: Sign,
}

impl Series {
    /// Series of one sign in the colours of the palette.
    pub fn all(names: impl IntoIterator<Item = impl Into<String>>, sign: Sign) -> Vec<Self> {
        let names = names.into_iter().enumerate();
        names
            .map(|(k, n)| Self::new(n, Ink::Series(k), sign))
            .collect()
    }

    /// A series with its sign.
    pub fn new(name: impl Into<String>, ink: Ink, sign: Sign) -> Self {
        Self {
            name: name.into(),
            ink,
            sign,
        }
    }
}

/// Height of a panel's plotting area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Height {
    /// A fraction of its width, within limits.
    Ratio(f64),
    /// Pixels a row of a named vertical axis.
    Rows(f64),
    /// Units of both axes have the same length.
    Equal,
}

/// One pair of axes and what is drawn on it.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Title; none without.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Another quantity of the vertical axis, at the right: its title, and values of `y` with their labels.
    pub right: Option<(String, Vec<(f64, String)>)>,
    /// Layers, the lowest first.
    pub layers: Vec<Layer>,
    /// Labels beside points and lines.
    pub tags: Vec<Tag>,
    /// Height of the plotting area.
    pub height: Height,
    /// Colour bar at the right: quantity and levels.
    pub bar: Option<ColourBar>,
    /// Colours of the bar and of the cells.
    pub palette: Palette,
    /// Whether grid lines are drawn.
    pub grid: bool,
    /// Whether axes, their frame and the grid are drawn; diagrams have none.
    pub axes: bool,
    /// Whether the panel has a row of its own.
    pub alone: bool,
    /// Whether the horizontal axis is that of the panel below, which has its labels.
    pub shares_x: bool,
}

impl Panel {
    /// An empty panel.
    pub fn new(title: &str, x: Axis, y: Axis) -> Self {
        Self {
            title: title.to_owned(),
            x,
            y,
            right: None,
            layers: Vec::new(),
            tags: Vec::new(),
            height: Height::Ratio(0.75),
            bar: None,
            palette: Palette::Rising,
            grid: true,
            axes: true,
            alone: false,
            shares_x: false,
        }
    }

    /// Adds a layer.
    pub fn push(&mut self, layer: Layer) {
        self.layers.push(layer);
    }
}

/// A scale of colours: level 0 to 1 of the panel's palette stands for a value. Panels side by side or below each other
/// with the same scale have one bar.
#[derive(Clone, Debug, PartialEq)]
pub struct ColourBar {
    /// Quantity, unit and scale.
    pub axis: Axis,
    /// Value at level 0.
    pub lo: f64,
    /// Value at level 1.
    pub hi: f64,
}

/// A label beside what it names.
#[derive(Clone, Debug)]
pub struct Tag {
    /// Text.
    pub text: String,
    /// Positions that the label may stand beside, best first, in units of the axes.
    pub at: Vec<(f64, f64)>,
    /// Colour.
    pub ink: Ink,
    /// Bold.
    pub bold: bool,
}

/// Something drawn on the axes.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Its series, which the legend can hide.
    pub series: usize,
    /// Colour, if not that of the series.
    pub ink: Option<Ink>,
    /// What it is.
    pub what: What,
}

/// Kinds of layers; positions are in units of the axes.
#[derive(Clone, Debug)]
pub enum What {
    /// A line through points, broken where a value is not finite.
    Line {
        /// Points in order.
        points: Vec<(f64, f64)>,
        /// Width, pixels.
        width: f64,
        /// Dashes as of SVG; none for a solid line.
        dash: &'static str,
        /// Shown on hovering.
        tip: String,
    },
    /// The area between two lines over the same x.
    Band {
        /// (x, lower, upper) in order.
        points: Vec<(f64, f64, f64)>,
    },
    /// Marks with intervals.
    Points {
        /// The marks.
        points: Vec<Mark>,
        /// Diameter, pixels.
        size: f64,
        /// Hollow instead of filled.
        hollow: bool,
    },
    /// Bars from a value to another, side by side along the named axis.
    Bars {
        /// The bars.
        bars: Vec<Bar>,
        /// Whether they run along x: rows instead of columns.
        along_x: bool,
    },
    /// Filled cells with texts.
    Cells {
        /// The cells.
        cells: Vec<Cell>,
    },
    /// A line across the panel at a value of x or y.
    Rule {
        /// Position on the horizontal axis, for an upright line.
        x: Option<f64>,
        /// Position on the vertical axis, for a level line.
        y: Option<f64>,
        /// Dashes as of SVG.
        dash: &'static str,
    },
    /// A shaded range of x over the whole height.
    Range {
        /// From and to.
        x: (f64, f64),
    },
    /// A picture whose pixels fill a rectangle.
    Picture(Picture),
    /// Names in boxes over what is below; one that would meet an earlier one is left out.
    Nodes {
        /// The boxes, those to be kept first.
        nodes: Vec<Node>,
    },
    /// Outlines with text.
    Shapes(Vec<Shape>),
    /// Arrows.
    Arrows(Vec<Arrow>),
    /// Texts at places.
    Labels(Vec<Label>),
}

/// A name in a box.
#[derive(Clone, Debug)]
pub struct Node {
    /// Horizontal position of its middle.
    pub x: f64,
    /// Vertical position of its middle.
    pub y: f64,
    /// The name.
    pub text: String,
    /// In the colour of the layer, its text in that of the background.
    pub filled: bool,
    /// Shown on hovering.
    pub tip: String,
}

/// A point with its interval.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// Interval of y, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Shown on hovering.
    pub tip: String,
}

/// A bar.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// Middle on the named axis.
    pub at: f64,
    /// Thickness in units of the named axis.
    pub thick: f64,
    /// Start along the other axis.
    pub from: f64,
    /// End along the other axis.
    pub to: f64,
    /// Interval of the end, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Colour, if not that of the series.
    pub ink: Option<Ink>,
    /// Text at the end of the bar, or inside where it fits; none without.
    pub text: String,
    /// Shown on hovering.
    pub tip: String,
}

/// A cell of a heat map, one unit wide and high around its position.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Column.
    pub x: usize,
    /// Row.
    pub y: usize,
    /// Level of the colour scale; `None`: no value.
    pub level: Option<f64>,
    /// Text, left out where the cell is too small.
    pub text: String,
    /// Shown on hovering.
    pub tip: String,
}

impl Layer {
    /// A line of a series.
    pub fn line(series: usize, points: Vec<(f64, f64)>, tip: impl Into<String>) -> Self {
        Self::dashed(series, points, 2.0, "", tip)
    }

    /// A line with its width and dashes.
    pub fn dashed(
        series: usize,
        points: Vec<(f64, f64)>,
        width: f64,
        dash: &'static str,
        tip: impl Into<String>,
    ) -> Self {
        Self::of(
            series,
            What::Line {
                points,
                width,
                dash,
                tip: tip.into(),
            },
        )
    }

    /// Marks of a series.
    pub fn points(series: usize, points: Vec<Mark>, size: f64) -> Self {
        Self::of(
            series,
            What::Points {
                points,
                size,
                hollow: false,
            },
        )
    }

    /// Horizontal bars of a series.
    pub fn bars(series: usize, bars: Vec<Bar>) -> Self {
        Self::of(
            series,
            What::Bars {
                bars,
                along_x: true,
            },
        )
    }

    /// Vertical bars of a series.
    pub fn columns(series: usize, bars: Vec<Bar>) -> Self {
        Self::of(
            series,
            What::Bars {
                bars,
                along_x: false,
            },
        )
    }

    /// A layer of a series in its colour.
    pub fn of(series: usize, what: What) -> Self {
        Self {
            series,
            ink: None,
            what,
        }
    }

    /// The layer in another colour.
    pub fn inked(self, ink: Ink) -> Self {
        Self {
            ink: Some(ink),
            ..self
        }
    }
}

impl Chart {
    /// What is wrong with the texts of a drawing: one meets another, leaves the drawing, or is smaller than 11 pixels.
    pub fn faults(&self, width: f64) -> Vec<String> {
        let d = self.draw(Style::Light, width);
        let texts = d.canvas.texts();
        let mut out = Vec::new();
        for (i, (a, text)) in texts.iter().enumerate() {
            if a.left < -0.5 || a.right() > width + 0.5 || a.top < 0.0 || a.bottom() > d.height {
                out.push(format!("`{text}` leaves the drawing: {a:?}"));
            }
            if a.height < 11.0 {
                out.push(format!("`{text}` is small"));
            }
            let others = texts[..i].iter().filter(|(b, _)| a.hits(b));
            out.extend(others.map(|(b, other)| format!("`{text}` meets `{other}`: {a:?} {b:?}")));
        }
        out
    }
}

/// Asserts that the texts of a chart are clear.
#[cfg(test)]
pub(crate) fn assert_clear(chart: &Chart, width: f64) {
    let faults = chart.faults(width);
    assert!(faults.is_empty(), "{width}: {faults:#?}");
}
