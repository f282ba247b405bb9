//! Diagrams as data: boxes, arrows and labels.

use greenup_report::chart::shapes::{Arrow, Label, Shape};
use greenup_report::chart::{Chart, Ink};
use greenup_report::diagram::{Diagram, diagram};
use serde::Deserialize;

/// A box with text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Left, bottom, right and top, in units of the drawing.
    pub at: [f64; 4],
    /// Text inside.
    #[serde(default)]
    pub text: String,
    /// Colour of its area by number; an outline alone without.
    pub colour: Option<usize>,
    /// Whether the outline is dashed.
    #[serde(default)]
    pub dashed: bool,
}

/// An arrow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pointer {
    /// Points of the line; the head is at the last.
    pub at: Vec<(f64, f64)>,
    /// Whether its start has a head too.
    #[serde(default)]
    pub both: bool,
}

/// A label.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// Its middle.
    pub at: (f64, f64),
    /// The text.
    pub text: String,
    /// Bold.
    #[serde(default)]
    pub bold: bool,
}

/// One drawing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// Title; none without.
    #[serde(default)]
    pub title: String,
    /// Width and height; the origin is at the left bottom.
    pub size: (f64, f64),
    /// Boxes, the lowest first.
    pub blocks: Vec<Block>,
    /// Arrows.
    #[serde(default)]
    pub arrows: Vec<Pointer>,
    /// Labels.
    #[serde(default)]
    pub labels: Vec<Text>,
}

/// Drawings side by side.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocks {
    /// Title.
    pub title: String,
    /// The drawings.
    pub drawings: Vec<Drawing>,
}

impl Blocks {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let drawings = (self.drawings.iter())
            .map(|d| Diagram {
                title: d.title.clone(),
                x: (0.0, d.size.0),
                y: (0.0, d.size.1),
                shapes: (d.blocks.iter())
                    .map(|b| {
                        let [left, bottom, right, top] = b.at;
                        let mut s = Shape::rect((left, bottom), (right, top))
                            .edged(Ink::Text, 1.3)
                            .says(&b.text);
                        if let Some(k) = b.colour {
                            s = s.filled(Ink::Series(k), 0.18);
                        }
                        if b.dashed { s.dashed("5 3") } else { s }
                    })
                    .collect(),
                arrows: (d.arrows.iter())
                    .map(|a| Arrow {
                        points: a.at.clone(),
                        both: a.both,
                        ink: Ink::Text,
                        width: 1.6,
                    })
                    .collect(),
                labels: (d.labels.iter())
                    .map(|l| {
                        let label = Label::new(l.at, &l.text);
                        if l.bold { label.bold() } else { label }
                    })
                    .collect(),
                ..Diagram::default()
            })
            .collect();
        Chart {
            least_width: 330.0,
            ..diagram(&self.title, Vec::new(), drawings)
        }
    }
}
