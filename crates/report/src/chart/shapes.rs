//! Outlines, arrows and labels at places of the axes: what diagrams are made of.

use super::canvas::Anchor;
use super::ink::Ink;

/// A filled outline with text inside.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Corners in order; the last is joined with the first.
    pub corners: Vec<(f64, f64)>,
    /// Colour of the area; none for an outline alone.
    pub fill: Option<Ink>,
    /// How much of what is below the area hides, 0 to 1.
    pub opacity: f64,
    /// Colour of the outline.
    pub edge: Option<Ink>,
    /// Width of the outline, pixels.
    pub width: f64,
    /// Dashes of the outline as of SVG; none for a solid line.
    pub dash: &'static str,
    /// Text in the middle, in lines as the width allows; a line of its own after each `\n`.
    pub text: String,
    /// Colour of the text.
    pub ink: Ink,
    /// Shown on hovering.
    pub tip: String,
}

impl Shape {
    /// A polygon without colours or text.
    pub fn new(corners: Vec<(f64, f64)>) -> Self {
        Self {
            corners,
            fill: None,
            opacity: 1.0,
            edge: None,
            width: 1.2,
            dash: "",
            text: String::new(),
            ink: Ink::Text,
            tip: String::new(),
        }
    }

    /// A rectangle between two corners.
    pub fn rect(a: (f64, f64), b: (f64, f64)) -> Self {
        Self::new(vec![a, (b.0, a.1), b, (a.0, b.1)])
    }

    /// The shape with a filled area.
    pub fn filled(self, ink: Ink, opacity: f64) -> Self {
        Self {
            fill: Some(ink),
            opacity,
            ..self
        }
    }

    /// The shape with an outline of some pixels.
    pub fn edged(self, ink: Ink, width: f64) -> Self {
        Self {
            edge: Some(ink),
            width,
            ..self
        }
    }

    /// The shape with a dashed outline.
    pub fn dashed(self, dash: &'static str) -> Self {
        Self { dash, ..self }
    }

    /// The shape with text in the middle.
    pub fn says(self, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..self
        }
    }
}

/// A line with a head at its end.
#[derive(Clone, Debug)]
pub struct Arrow {
    /// Points of the line; the head is at the last one.
    pub points: Vec<(f64, f64)>,
    /// Whether its start has a head too.
    pub both: bool,
    /// Colour.
    pub ink: Ink,
    /// Width, pixels.
    pub width: f64,
}

impl Arrow {
    /// A straight arrow.
    pub fn new(from: (f64, f64), to: (f64, f64)) -> Self {
        Self {
            points: vec![from, to],
            both: false,
            ink: Ink::Quiet,
            width: 1.5,
        }
    }
}

/// Text at a place.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where: left end, middle or right end of the text, and the middle of its height.
    pub at: (f64, f64),
    /// Which of them.
    pub anchor: Anchor,
    /// The text; a line of its own after each `\n`.
    pub text: String,
    /// Colour.
    pub ink: Ink,
    /// Bold.
    pub bold: bool,
}

impl Label {
    /// Text whose middle is at a place.
    pub fn new(at: (f64, f64), text: impl Into<String>) -> Self {
        Self {
            at,
            anchor: Anchor::Middle,
            text: text.into(),
            ink: Ink::Text,
            bold: false,
        }
    }

    /// The label on the other side of its place.
    pub fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The label in bold.
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The label in another colour.
    pub fn inked(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }
}
