//! SVG of a chart, and the boxes of its texts.

use super::ink::{Ink, Style};

pub use super::rect::Rect;

use super::text::SMALL;
use super::{Picture, text};
use std::fmt::Write as _;

/// Where text hangs on its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Left end at the point.
    Start,
    /// Centred at the point.
    Middle,
    /// Right end at the point.
    End,
}

/// How text looks.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// Font size, pixels.
    pub size: f64,
    /// Bold.
    pub bold: bool,
    /// Colour.
    pub ink: Ink,
    /// The colour of an outline, for text that stands on data.
    pub outline: Option<Ink>,
}

impl Type {
    /// Normal text.
    pub fn new(size: f64, ink: Ink) -> Self {
        Self {
            size,
            bold: false,
            ink,
            outline: None,
        }
    }

    /// The same, bold.
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same, with an outline in the colour of the background: text on a level of a colour scale, of the dark end of it.
    pub fn outlined(self) -> Self {
        let outline = match self.ink {
            Ink::OnShade(_) => Ink::Shade(0.0),
            _ => Ink::Paper,
        };
        Self {
            outline: Some(outline),
            ..self
        }
    }

    /// Width of a text, pixels.
    pub fn width(&self, line: &str) -> f64 {
        text::width(line, self.size, self.bold)
    }
}

/// A growing SVG document.
#[derive(Clone, Debug)]
pub struct Canvas {
    style: Style,
    body: String,
    texts: Vec<(Rect, String)>,
    pictures: Vec<(Rect, Picture)>,
    clouds: Vec<(String, String)>,
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
            '\'' => out.push_str("&#39;"),
            // Not allowed in XML, whichever way they are written.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate with at most one decimal.
pub fn px(v: f64) -> String {
    let s = format!("{v:.1}");
    let s = s.strip_suffix(".0").unwrap_or(&s);
    if s == "-0" { "0".into() } else { s.to_owned() }
}

/// Units of a cloud's path along each side of its area.
pub const CLOUD_UNITS: f64 = 4000.0;

/// Points as path data.
pub fn path(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    let mut last = (String::new(), String::new());
    for (i, (x, y)) in points.iter().enumerate() {
        let (x, y) = (px(*x), px(*y));
        // Writing to a string cannot fail, here and below.
        let _ = match i {
            0 => write!(d, "M{x} {y}"),
            _ if y == last.1 => write!(d, "H{x}"),
            _ if x == last.0 => write!(d, "V{y}"),
            _ => write!(d, "L{x} {y}"),
        };
        last = (x, y);
    }
    d
}

impl Canvas {
    /// An empty document.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            body: String::new(),
            texts: Vec::new(),
            pictures: Vec::new(),
            clouds: Vec::new(),
        }
    }

    /// A colour as CSS.
    pub fn css(&self, ink: Ink) -> String {
        ink.css(self.style)
    }

    /// Whether the drawing is part of a page, whose style sheet it uses.
    pub fn is_page(&self) -> bool {
        self.style == Style::Page
    }

    /// Appends markup as it is.
    pub fn raw(&mut self, markup: &str) {
        self.body.push_str(markup);
        self.body.push('\n');
    }

    /// Appends a line.
    pub fn line(&mut self, a: (f64, f64), b: (f64, f64), ink: Ink, width: f64, dash: &str) {
        let dash = if dash.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{dash}\"")
        };
        let _ = writeln!(
            self.body,
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{dash}/>",
            path(&[a, b]),
            self.css(ink)
        );
    }

    /// Appends a filled rectangle.
    pub fn rect(&mut self, r: Rect, ink: Ink, attributes: &str) {
        // Both edges are rounded, not the width: neighbours leave no seam.
        let rounded = |v: f64| (10.0 * v).round() / 10.0;
        let width = rounded(r.left + r.width) - rounded(r.left);
        let height = rounded(r.top + r.height) - rounded(r.top);
        let _ = writeln!(
            self.body,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" {attributes}/>",
            px(r.left),
            px(r.top),
            px(width.max(0.0)),
            px(height.max(0.0)),
            self.css(ink)
        );
    }

    /// Appends a line of text; its baseline starts at the point.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, kind: Type, line: &str) {
        if line.is_empty() {
            return;
        }
        let width = kind.width(line);
        let left = match anchor {
            Anchor::Start => at.0,
            Anchor::Middle => at.0 - 0.5 * width,
            Anchor::End => at.0 - width,
        };
        self.texts.push((
            Rect {
                left,
                top: at.1 - 0.8 * kind.size,
                width,
                height: kind.size,
            },
            line.to_owned(),
        ));
        let word = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let page = self.is_page();
        let outline = match kind.outline {
            None => String::new(),
            Some(Ink::Paper) if page => " class=\"o\"".to_owned(),
            Some(ink) => format!(
                " stroke=\"{}\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
                self.css(ink)
            ),
        };
        // What most texts of a page have is in its style sheet.
        let size = if page && kind.size == SMALL {
            String::new()
        } else {
            format!(" font-size=\"{}\"", kind.size)
        };
        let fill = match (page, kind.ink) {
            (true, Ink::Quiet) => String::new(),
            (true, ink) => format!(" style=\"fill:{}\"", self.css(ink)),
            (false, ink) => format!(" fill=\"{}\"", self.css(ink)),
        };
        let _ = writeln!(
            self.body,
            // Where the font is missing, the width stays.
            "<text x=\"{}\" y=\"{}\"{word}{size}{}{fill}{outline}{}>{}</text>",
            px(at.0),
            px(at.1),
            if kind.bold {
                " font-weight=\"bold\""
            } else {
                ""
            },
            if line.chars().count() > 3 {
                let glyphs = if page {
                    ""
                } else {
                    " lengthAdjust=\"spacingAndGlyphs\""
                };
                format!(" textLength=\"{}\"{glyphs}", px(width))
            } else {
                String::new()
            },
            escape(line)
        );
    }

    /// Appends a picture over a rectangle of the plotting area `area`.
    pub fn picture(&mut self, p: &Picture, r: Rect, area: Rect) {
        let turned = format!(
            "transform=\"translate({} {}) scale({:.3} {:.3})\"",
            px(r.left),
            px(r.top),
            r.width,
            r.height
        );
        match self.style {
            // All drawings of a page share one copy.
            Style::Page => self.raw(&format!("<use href=\"#{}\" {turned}/>", p.id())),
            _ => self.raw(&format!("<g {turned}>{}</g>", p.image(""))),
        }
        let moved = Rect {
            left: area.left + r.left,
            top: area.top + r.top,
            ..r
        };
        self.pictures.push((moved, p.clone()));
    }

    /// Appends round marks, given as path data in units of which each side of `area` has [`CLOUD_UNITS`]; drawings of a
    /// page share one copy by its name.
    pub fn cloud(&mut self, (id, path): (String, String), area: Rect, attributes: &str) {
        let (x, y) = (area.width / CLOUD_UNITS, area.height / CLOUD_UNITS);
        self.raw(&format!(
            "<use href=\"#{id}\" transform=\"scale({x:.6} {y:.6})\" {attributes}/>"
        ));
        if !self.clouds.iter().any(|c| c.0 == id) {
            self.clouds.push((id, path));
        }
    }

    /// The markup of what was drawn.
    pub(super) fn body(&self) -> &str {
        &self.body
    }

    /// Pictures and where they are drawn.
    pub fn pictures(&self) -> &[(Rect, Picture)] {
        &self.pictures
    }

    /// The pictures and clouds that drawings of a page share; nothing without any.
    pub fn definitions(&self) -> String {
        if self.pictures.is_empty() && self.clouds.is_empty() {
            return String::new();
        }
        let mut out = String::from(
            "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>",
        );
        for (_, p) in &self.pictures {
            out.push_str(&p.image(&format!(" id=\"{}\"", p.id())));
        }
        for (id, path) in &self.clouds {
            // What `use` does not hand down is set here.
            let _ = write!(
                out,
                "<path id=\"{id}\" d=\"{path}\" vector-effect=\"non-scaling-stroke\"/>"
            );
        }
        out.push_str("</defs></svg>\n");
        out
    }

    /// Colour of the background of a picture file; none on a page.
    pub fn ground(&self) -> Option<[u8; 3]> {
        let hex = match self.style {
            Style::Page => return None,
            Style::Print => "#ffffff".to_owned(),
            _ => self.css(Ink::Paper),
        };
        let part = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).unwrap_or(255);
        Some([part(1), part(3), part(5)])
    }

    /// Boxes of all texts.
    pub fn texts(&self) -> &[(Rect, String)] {
        &self.texts
    }

    /// The finished document on its background; a page's own shows through, and paper has none.
    pub fn document(&self, width: f64, height: f64, title: &str, class: &str) -> String {
        let ground = match self.style {
            Style::Page | Style::Print => String::new(),
            _ => format!(
                "<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
                self.css(Ink::Paper)
            ),
        };
        let (w, h) = (px(width.ceil()), px(height.ceil()));
        let size = if self.style == Style::Page {
            String::new()
        } else {
            format!(" width=\"{w}\" height=\"{h}\"")
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\"{size}{} role=\"img\" \
             aria-label=\"{}\" font-family=\"'Noto Sans','Segoe UI','Helvetica Neue',Arial,sans-serif\">\n{ground}{}</svg>\n",
            if class.is_empty() {
                String::new()
            } else {
                format!(" class=\"{class}\"")
            },
            escape(title),
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_leave_no_seam() {
        let mut c = Canvas::new(Style::Light);
        let width = 747.9 / 7.0;
        for i in 0..7 {
            let r = Rect {
                left: f64::from(i) * width,
                top: 0.0,
                width,
                height: 34.0,
            };
            c.rect(r, Ink::Grid, "");
        }
        let number = |line: &str, name: &str| -> f64 {
            let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap();
            rest.split_once('"').unwrap().0.parse().unwrap()
        };
        let cells: Vec<(f64, f64)> = c
            .body
            .lines()
            .map(|l| (number(l, "x"), number(l, "width")))
            .collect();
        assert_eq!(cells.len(), 7);
        for w in cells.windows(2) {
            assert!((w[0].0 + w[0].1 - w[1].0).abs() < 1e-9, "{w:?}");
        }
    }
}
