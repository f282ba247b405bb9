//! A small SVG layer: only what the figures need.

use std::fmt::Write as _;

/// Text in a figure; every colour has enough contrast on white.
pub const INK: &str = "#1d2733";
pub const FAINT: &str = "#d8dde3";
pub const QUIET: &str = "#5b6775";

/// Okabe and Ito's palette, which colour-blind readers can tell apart.
pub const PALETTE: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b4b8a",
];

pub fn colour(i: usize) -> &'static str {
    PALETTE[i % PALETTE.len()]
}

/// Text made safe for XML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// Where text hangs on its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A growing fragment of SVG.
#[derive(Clone, Debug, Default)]
pub struct Svg {
    body: String,
}

impl Svg {
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an element with attributes as given.
    pub fn element(&mut self, name: &str, attributes: &str) -> &mut Self {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(self.body, "<{name} {attributes}/>");
        self
    }

    pub fn line(&mut self, a: (f64, f64), b: (f64, f64), style: &str) -> &mut Self {
        let attributes = format!(
            "x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" {style}",
            a.0, a.1, b.0, b.1
        );
        self.element("line", &attributes)
    }

    pub fn polyline(&mut self, points: &[(f64, f64)], style: &str) -> &mut Self {
        if points.len() < 2 {
            return self;
        }
        let _ = write!(self.body, "<path d=\"{}\" ", path(points));
        let _ = writeln!(self.body, "fill=\"none\" {style}/>");
        self
    }

    /// A filled area between two curves over the same x.
    pub fn band(&mut self, upper: &[(f64, f64)], lower: &[(f64, f64)], style: &str) -> &mut Self {
        let mut outline = upper.to_vec();
        outline.extend(lower.iter().rev());
        let _ = writeln!(self.body, "<path d=\"{}Z\" {style}/>", path(&outline));
        self
    }

    pub fn rect(&mut self, x: f64, y: f64, w: f64, h: f64, style: &str) -> &mut Self {
        let attributes = format!(
            "x=\"{x:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{:.2}\" {style}",
            w.max(0.0),
            h.max(0.0)
        );
        self.element("rect", &attributes)
    }

    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, style: &str, text: &str) -> &mut Self {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"{anchor}\" {style}>{}</text>",
            at.0,
            at.1,
            escape(text)
        );
        self
    }

    /// Appends a fragment inside a group.
    pub fn group(&mut self, attributes: &str, inner: &Svg) -> &mut Self {
        let _ = writeln!(self.body, "<g {attributes}>\n{}</g>", inner.body);
        self
    }

    /// The finished document.
    pub fn document(&self, width: f64, height: f64, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" \
             font-family=\"'Noto Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif\" \
             font-size=\"12\" fill=\"{INK}\">\n<title>{}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            escape(title),
            self.body
        )
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(d, "{}{x:.2} {y:.2}", if i == 0 { 'M' } else { 'L' });
    }
    d
}
