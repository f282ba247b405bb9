//! What a drawing consists of, read from its own markup: areas, lines and outlined text in the order in which they are drawn.
//! It knows the elements and attributes that the [`Canvas`] writes, and no other SVG.

use crate::chart::canvas::Canvas;
use crate::chart::text;
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use std::collections::HashMap;
use tiny_skia::{Path, PathBuilder, PathSegment, Rect};

/// Colour and opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Paint {
    pub colour: [u8; 3],
    pub opacity: f32,
}

/// How a line is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    pub width: f32,
    /// Whether its ends are round.
    pub round_ends: bool,
    /// Whether its corners are round.
    pub round_corners: bool,
    /// Lengths of dashes and gaps, an even number; none for a solid line.
    pub dashes: Vec<f32>,
}

/// A part of a drawing, in pixels of the chart.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// An area; whether its edges are smooth.
    Fill(Path, Paint, bool),
    /// A line.
    Stroke(Path, Paint, Line),
    /// Until [`Item::Whole`], nothing outside is drawn.
    Within(Rect),
    /// The end of that.
    Whole,
}

/// Attributes of an element.
type Attributes<'a> = HashMap<&'a str, &'a str>;

/// The parts of a drawing, without its pictures.
pub(super) fn items(canvas: &Canvas) -> Vec<Item> {
    let mut out = Scene::default();
    let mut rest = canvas.body();
    while let Some((_, tag)) = rest.split_once('<') {
        let Some((tag, after)) = tag.split_once('>') else {
            break;
        };
        rest = after;
        if tag == "/svg" {
            out.at = (0.0, 0.0);
            out.items.push(Item::Whole);
        } else if tag.starts_with("text ") {
            let (line, after) = rest.split_once("</text>").unwrap_or((rest, ""));
            rest = after;
            out.text(&attributes(tag), &unescaped(line));
        } else {
            out.element(tag);
        }
    }
    out.items
}

/// Names and values of `name="value"`, each value without a quotation mark.
fn attributes(tag: &str) -> Attributes<'_> {
    let mut out = HashMap::new();
    let mut rest = tag;
    while let Some((name, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else {
            break;
        };
        let name = name.rsplit(' ').next().unwrap_or(name);
        out.insert(name, value);
        rest = after;
    }
    out
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

fn number(a: &Attributes<'_>, name: &str) -> Option<f32> {
    a.get(name)?.parse().ok()
}

/// The colour `#rrggbb` of an attribute.
fn paint(a: &Attributes<'_>, name: &str) -> Option<Paint> {
    let hex = a.get(name)?.strip_prefix('#')?;
    let part = |i: usize| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok();
    Some(Paint {
        colour: [part(0)?, part(2)?, part(4)?],
        opacity: number(a, &format!("{name}-opacity")).unwrap_or(1.0),
    })
}

fn line(a: &Attributes<'_>) -> Line {
    let dashes = a.get("stroke-dasharray").copied().unwrap_or_default();
    let mut dashes: Vec<f32> = (dashes.split([' ', ',']))
        .filter_map(|w| w.parse().ok())
        .collect();
    if !dashes.len().is_multiple_of(2) {
        dashes = dashes.repeat(2);
    }
    Line {
        width: number(a, "stroke-width").unwrap_or(1.0),
        round_ends: a.get("stroke-linecap") == Some(&"round"),
        round_corners: a.get("stroke-linejoin") == Some(&"round"),
        dashes,
    }
}

#[derive(Default)]
struct Scene {
    items: Vec<Item>,
    /// Where the plotting area begins.
    at: (f32, f32),
}

impl Scene {
    fn element(&mut self, tag: &str) {
        let a = attributes(tag);
        let get = |name: &str| number(&a, name).unwrap_or(0.0);
        let place = |dx: &str, dy: &str| (self.at.0 + get(dx), self.at.1 + get(dy));
        let path = match tag.split([' ', '/']).next() {
            Some("svg") => {
                self.at = (get("x"), get("y"));
                let area = Rect::from_xywh(self.at.0, self.at.1, get("width"), get("height"));
                self.items.extend(area.map(Item::Within));
                return;
            }
            Some("rect") => {
                let (x, y) = place("x", "y");
                let Some(r) = Rect::from_xywh(x, y, get("width"), get("height")) else {
                    return;
                };
                rounded(r, get("rx"))
            }
            Some("circle") => {
                let (x, y) = place("cx", "cy");
                let Some(path) = PathBuilder::from_circle(x, y, get("r")) else {
                    return;
                };
                path
            }
            Some("path") => {
                let data = a.get("d").copied().unwrap_or_default();
                let Some(path) = lines(data, self.at) else {
                    return;
                };
                path
            }
            // Groups have names only, and pictures are drawn by themselves.
            _ => return,
        };
        // Square ends of lines without length: PDF draws none.
        if a.get("stroke-linecap") == Some(&"square") {
            if let (Some(path), Some(p)) =
                (squares(&path, get("stroke-width")), paint(&a, "stroke"))
            {
                self.items.push(Item::Fill(path, p, true));
            }
            return;
        }
        let smooth = !a.contains_key("shape-rendering");
        if let Some(p) = paint(&a, "fill") {
            self.items.push(Item::Fill(path.clone(), p, smooth));
        }
        let line = line(&a);
        if let Some(p) = paint(&a, "stroke").filter(|_| line.width > 0.0) {
            self.items.push(Item::Stroke(path, p, line));
        }
    }

    fn text(&mut self, a: &Attributes<'_>, words: &str) {
        let get = |name| number(a, name).unwrap_or(0.0);
        let (size, bold) = (get("font-size"), a.contains_key("font-weight"));
        let width = text::width(words, f64::from(size), bold) as f32;
        let left = match a.get("text-anchor") {
            Some(&"middle") => 0.5 * width,
            Some(&"end") => width,
            _ => 0.0,
        };
        let at = (self.at.0 + get("x") - left, self.at.1 + get("y"));
        let Some(path) = outlines(words, size, bold, at) else {
            return;
        };
        // The outline lies below.
        if let Some(p) = paint(a, "stroke") {
            self.items.push(Item::Stroke(path.clone(), p, line(a)));
        }
        if let Some(p) = paint(a, "fill") {
            self.items.push(Item::Fill(path, p, true));
        }
    }
}

/// Squares around the points at which parts of a path begin.
fn squares(path: &Path, side: f32) -> Option<Path> {
    let mut out = PathBuilder::new();
    for segment in path.segments() {
        if let PathSegment::MoveTo(p) = segment {
            let half = 0.5 * side;
            out.push_rect(Rect::from_xywh(p.x - half, p.y - half, side, side)?);
        }
    }
    out.finish()
}

/// A rectangle with round corners.
fn rounded(r: Rect, radius: f32) -> Path {
    let c = radius.min(0.5 * r.width()).min(0.5 * r.height());
    if c <= 0.0 {
        return PathBuilder::from_rect(r);
    }
    // A quarter of a circle as a cubic curve.
    let k = c * (1.0 - 0.552_284_8);
    let (l, t, e, b) = (r.left(), r.top(), r.right(), r.bottom());
    let mut p = PathBuilder::new();
    p.move_to(l + c, t);
    p.line_to(e - c, t);
    p.cubic_to(e - k, t, e, t + k, e, t + c);
    p.line_to(e, b - c);
    p.cubic_to(e, b - k, e - k, b, e - c, b);
    p.line_to(l + c, b);
    p.cubic_to(l + k, b, l, b - k, l, b - c);
    p.line_to(l, t + c);
    p.cubic_to(l, t + k, l + k, t, l + c, t);
    p.close();
    p.finish().unwrap_or_else(|| PathBuilder::from_rect(r))
}

/// Path data of `M`, `L`, `H`, `V`, `h` and `Z`.
fn lines(data: &str, (dx, dy): (f32, f32)) -> Option<Path> {
    let mut out = PathBuilder::new();
    let mut last = (0.0, 0.0);
    let mut rest = data;
    while let Some(command) = rest.chars().next() {
        let after = &rest[command.len_utf8()..];
        let end = after
            .find(|c: char| c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (words, next) = after.split_at(end);
        rest = next;
        let mut numbers = words
            .split_whitespace()
            .map_while(|w| w.parse::<f32>().ok());
        let mut next = || numbers.next().unwrap_or(0.0);
        match command {
            'M' | 'L' => last = (next(), next()),
            'H' => last.0 = next(),
            'V' => last.1 = next(),
            'h' => last.0 += next(),
            'Z' => {
                out.close();
                continue;
            }
            _ => continue,
        }
        let (x, y) = (last.0 + dx, last.1 + dy);
        if command == 'M' {
            out.move_to(x, y);
        } else {
            out.line_to(x, y);
        }
    }
    out.finish()
}

/// A line of text as areas, from its left end on its baseline.
fn outlines(line: &str, size: f32, bold: bool, at: (f32, f32)) -> Option<Path> {
    let font = FontRef::new(text::font(bold)).ok()?;
    let (glyphs, map) = (font.outline_glyphs(), font.charmap());
    let mut pen = Pen {
        path: PathBuilder::new(),
        at,
    };
    for c in line.chars() {
        let glyph = map.map(c).unwrap_or(GlyphId::NOTDEF);
        if let Some(g) = glyphs.get(glyph) {
            let settings = DrawSettings::unhinted(Size::new(size), LocationRef::default());
            // A broken outline leaves its place empty.
            let _ = g.draw(settings, &mut pen);
        }
        pen.at.0 += text::width(c.encode_utf8(&mut [0; 4]), f64::from(size), bold) as f32;
    }
    pen.path.finish()
}

/// Draws glyphs at a place; fonts count upwards.
struct Pen {
    path: PathBuilder,
    at: (f32, f32),
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.at.0 + x, self.at.1 - y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.at.0 + x, self.at.1 - y);
    }

    fn quad_to(&mut self, a: f32, b: f32, x: f32, y: f32) {
        let ((l, t), path) = (self.at, &mut self.path);
        path.quad_to(l + a, t - b, l + x, t - y);
    }

    fn curve_to(&mut self, a: f32, b: f32, c: f32, d: f32, x: f32, y: f32) {
        let ((l, t), path) = (self.at, &mut self.path);
        path.cubic_to(l + a, t - b, l + c, t - d, l + x, t - y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_data_is_read() {
        let path = lines("M1 2H5V-3.5L0 0ZM9 9h0", (10.0, 100.0)).unwrap();
        let b = path.bounds();
        assert_eq!(
            (b.left(), b.top(), b.right(), b.bottom()),
            (10.0, 96.5, 19.0, 109.0)
        );
        assert!(lines("", (0.0, 0.0)).is_none());
    }

    #[test]
    fn attributes_have_names_values_and_colours() {
        let a = attributes("rect x=\"1.5\" fill=\"#0a0b0c\" fill-opacity=\"0.5\" stroke=\"none\"/");
        assert_eq!(number(&a, "x"), Some(1.5));
        let want = Paint {
            colour: [10, 11, 12],
            opacity: 0.5,
        };
        assert_eq!(paint(&a, "fill"), Some(want));
        assert_eq!(paint(&a, "stroke"), None);
        assert_eq!(unescaped("a &lt; b &amp;lt; &quot;"), "a < b &lt; \"");
    }

    #[test]
    fn text_is_as_wide_as_it_is_laid_out() {
        for bold in [false, true] {
            let b = outlines("HHHHH", 20.0, bold, (7.0, 50.0)).unwrap().bounds();
            let width = text::width("HHHHH", 20.0, bold) as f32;
            assert!(b.left() > 7.0 && b.right() < 7.0 + width && b.width() > 0.85 * width);
            assert!(b.bottom() <= 50.0 && b.height() > 13.0, "{b:?}");
        }
    }
}
