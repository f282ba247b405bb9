//! Layers of a panel.

use super::axis::Span;
use super::canvas::{Anchor, CLOUD_UNITS, Canvas, Rect, Type, escape, path, px};
use super::ink::{Ink, Palette};
use super::labels::Placer;
use super::text::{SMALL, fit};
use super::{Cell, Chart, Layer, Mark, Node, Panel, What};
use std::fmt::Write as _;

/// A panel's plotting area and its axes.
pub(super) struct Frame {
    pub area: Rect,
    pub x: Span,
    pub y: Span,
}

/// Marks in a layer beyond which they are drawn without outline, half transparent.
const CLOUD: usize = 150;
/// Points of a line that labels keep away from.
const SAMPLES: usize = 200;

impl Frame {
    /// Position in the plotting area; not finite where a value has none.
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let limit = |v: f64, size: f64| {
            if v.is_nan() || v.is_infinite() {
                f64::NAN
            } else {
                v.clamp(-10.0 * size, 11.0 * size)
            }
        };
        (
            limit(self.area.width * self.x.share(x), self.area.width),
            limit(self.area.height * (1.0 - self.y.share(y)), self.area.height),
        )
    }

    fn inside(&self, p: (f64, f64)) -> bool {
        p.0 >= -1.0 && p.1 >= -1.0 && p.0 <= self.area.width + 1.0 && p.1 <= self.area.height + 1.0
    }

    fn out(&self, p: (f64, f64)) -> (f64, f64) {
        (self.area.left + p.0, self.area.top + p.1)
    }
}

/// What is drawn over the plotting area after it: texts of bars and cells.
struct Later {
    at: (f64, f64),
    anchor: Anchor,
    kind: Type,
    text: String,
}

/// Draws the layers inside of the plotting area and the texts over them. Tips are appended to `tips`.
pub(super) fn layers(
    c: &mut Canvas,
    chart: &Chart,
    panel: &Panel,
    f: &Frame,
    tips: &mut Vec<String>,
) {
    let mut later = Vec::new();
    for layer in &panel.layers {
        let ink = layer
            .ink
            .or_else(|| chart.series.get(layer.series).map(|s| s.ink))
            .unwrap_or(Ink::Text);
        c.raw(&format!("<g class=\"s{}\">", layer.series));
        draw(c, f, (layer, panel.palette), ink, tips, &mut later);
        c.raw("</g>");
    }
    c.raw("</svg><g class=\"over\">");
    for t in later {
        c.text(t.at, t.anchor, t.kind, &t.text);
    }
    c.raw("</g>");
}

fn tip(tips: &mut Vec<String>, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    tips.push(text.to_owned());
    format!(" data-t=\"{}\"", tips.len() - 1)
}

fn draw(
    c: &mut Canvas,
    f: &Frame,
    (layer, palette): (&Layer, Palette),
    ink: Ink,
    tips: &mut Vec<String>,
    later: &mut Vec<Later>,
) {
    let css = c.css(ink);
    match &layer.what {
        What::Line {
            points,
            width,
            dash,
            tip: text,
        } => {
            let mut d = String::new();
            for run in points
                .iter()
                .map(|p| f.at(p.0, p.1))
                .collect::<Vec<_>>()
                .split(|p| !(p.0.is_finite() && p.1.is_finite()))
            {
                if run.len() > 1 {
                    d.push_str(&path(run));
                }
            }
            if d.is_empty() {
                return;
            }
            let t = tip(tips, text);
            let dash = if dash.is_empty() {
                String::new()
            } else {
                format!(" stroke-dasharray=\"{dash}\"")
            };
            let look = match c.is_page() {
                true => "class=\"l\"",
                false => {
                    "fill=\"none\" stroke-linejoin=\"round\" vector-effect=\"non-scaling-stroke\""
                }
            };
            c.raw(&format!(
                "<path d=\"{d}\" {look} stroke=\"{css}\" stroke-width=\"{width}\"{dash}{t}/>"
            ));
        }
        What::Band { points } => {
            let side = |pick: &dyn Fn(&(f64, f64, f64)) -> f64| -> Vec<(f64, f64)> {
                points
                    .iter()
                    .map(|p| f.at(p.0, pick(p)))
                    .filter(|p| p.0.is_finite() && p.1.is_finite())
                    .collect()
            };
            let mut outline = side(&|p| p.2);
            outline.extend(side(&|p| p.1).into_iter().rev());
            if outline.len() > 2 {
                c.raw(&format!(
                    "<path d=\"{}Z\" fill=\"{css}\" fill-opacity=\"0.18\"/>",
                    path(&outline)
                ));
            }
        }
        What::Points {
            points,
            size,
            hollow,
        } => marks(c, f, points, *size, *hollow, ink, tips),
        What::Bars { bars, along_x } => {
            for b in bars {
                let place = |v: f64, side: f64| {
                    let named = b.at + side * b.thick;
                    if *along_x {
                        f.at(v, named)
                    } else {
                        f.at(named, v)
                    }
                };
                let (p, q) = (place(b.from, 0.5), place(b.to, -0.5));
                let r = Rect {
                    left: p.0.min(q.0),
                    top: p.1.min(q.1),
                    width: (p.0 - q.0).abs(),
                    height: (p.1 - q.1).abs(),
                };
                if !(r.width.is_finite() && r.height.is_finite()) {
                    continue;
                }
                let t = tip(tips, &b.tip);
                c.rect(r, b.ink.unwrap_or(ink), &t);
                let mut end = q;
                if let Some((lo, hi)) = b.interval {
                    let (a, e) = (place(lo, 0.0), place(hi, 0.0));
                    if a.0.is_finite() && e.0.is_finite() && a.1.is_finite() && e.1.is_finite() {
                        c.line(a, e, Ink::Paper, 4.0, "");
                        c.line(a, e, Ink::Text, 1.8, "");
                        end = if *along_x {
                            (end.0.max(e.0), e.1)
                        } else {
                            (e.0, end.1.min(e.1))
                        };
                    }
                }
                bar_text(f, b, *along_x, r, end, later);
            }
        }
        What::Cells { cells } => {
            let (a, b) = (f.at(0.0, 1.0), f.at(1.0, 0.0));
            let widest = cells
                .iter()
                .map(|c| super::text::width(&c.text, SMALL, false))
                .fold(0.0, f64::max);
            // Texts in all cells or in none.
            let texts = widest + 4.0 <= b.0 - a.0 && b.1 - a.1 > SMALL + 2.0;
            for cell in cells {
                draw_cell(c, f, (cell, texts, palette), tips, later);
            }
        }
        What::Rule { x, y, dash } => {
            if let Some(x) = x {
                let p = f.at(*x, f.y.lo).0;
                if p.is_finite() {
                    c.line((p, 0.0), (p, f.area.height), ink, 1.2, dash);
                }
            }
            if let Some(y) = y {
                let p = f.at(f.x.lo, *y).1;
                if p.is_finite() {
                    c.line((0.0, p), (f.area.width, p), ink, 1.2, dash);
                }
            }
        }
        What::Range { x } => {
            let (a, b) = (f.at(x.0, f.y.lo).0, f.at(x.1, f.y.lo).0);
            if a.is_finite() && b.is_finite() {
                let (a, b) = (a.clamp(0.0, f.area.width), b.clamp(0.0, f.area.width));
                c.raw(&format!(
                    "<rect x=\"{}\" y=\"0\" width=\"{}\" height=\"{}\" fill=\"{css}\" fill-opacity=\"0.1\"/>",
                    px(a.min(b)),
                    px((b - a).abs()),
                    px(f.area.height)
                ));
            }
        }
        What::Picture(picture) => {
            let (a, b) = (
                f.at(picture.x.0, picture.y.1),
                f.at(picture.x.1, picture.y.0),
            );
            let r = Rect {
                left: a.0,
                top: a.1,
                width: b.0 - a.0,
                height: b.1 - a.1,
            };
            if r.width > 0.0 && r.height > 0.0 {
                c.picture(picture, r, f.area);
            }
        }
        What::Nodes { nodes } => draw_nodes(c, f, (nodes, ink), tips, later),
    }
}

/// Boxes with names inside of the plotting area, as many as have room beside the earlier ones.
fn draw_nodes(
    c: &mut Canvas,
    f: &Frame,
    (nodes, ink): (&[Node], Ink),
    tips: &mut Vec<String>,
    later: &mut Vec<Later>,
) {
    let mut taken: Vec<Rect> = Vec::new();
    for node in nodes {
        let p = f.at(node.x, node.y);
        if !(p.0.is_finite() && p.1.is_finite() && f.inside(p)) {
            continue;
        }
        let text = fit(&node.text, SMALL, false, 0.3 * f.area.width);
        let mut kind = Type::new(SMALL, if node.filled { Ink::Paper } else { Ink::Text });
        kind.bold = node.filled;
        let width = kind.width(&text) + 8.0;
        let r = Rect {
            left: (p.0 - 0.5 * width).clamp(0.0, (f.area.width - width).max(0.0)),
            top: p.1 - 0.8 * SMALL,
            width,
            height: 1.6 * SMALL,
        };
        let room = Rect {
            left: r.left - 2.0,
            width: r.width + 4.0,
            ..r
        };
        if taken.iter().any(|t| t.hits(&room)) {
            continue;
        }
        taken.push(r);
        let t = tip(tips, &node.tip);
        let (fill, edge) = if node.filled {
            (ink, ink)
        } else {
            (Ink::Paper, Ink::Quiet)
        };
        let edge = c.css(edge);
        c.rect(r, fill, &format!("rx=\"4\" stroke=\"{edge}\"{t}"));
        later.push(Later {
            at: f.out((r.left + 0.5 * r.width, p.1 + 0.36 * SMALL)),
            anchor: Anchor::Middle,
            kind,
            text,
        });
    }
}

fn bar_text(
    f: &Frame,
    b: &super::Bar,
    along_x: bool,
    r: Rect,
    end: (f64, f64),
    later: &mut Vec<Later>,
) {
    if b.text.is_empty() {
        return;
    }
    let kind = Type::new(SMALL, Ink::Text).outlined();
    let need = kind.width(&b.text);
    if along_x {
        if r.height < SMALL {
            return;
        }
        let y = r.top + 0.5 * r.height + 0.36 * SMALL;
        let after = r.right().max(end.0) + 5.0;
        if after + need <= f.area.width {
            later.push(Later {
                at: f.out((after, y)),
                anchor: Anchor::Start,
                kind,
                text: b.text.clone(),
            });
        } else if r.width > need + 10.0 {
            later.push(Later {
                at: f.out((r.left + 6.0, y)),
                anchor: Anchor::Start,
                kind: Type::new(SMALL, Ink::Paper).bold(),
                text: b.text.clone(),
            });
        }
    } else if need + 2.0 <= r.width && r.top.min(end.1) > SMALL + 3.0 {
        later.push(Later {
            at: f.out((r.left + 0.5 * r.width, r.top.min(end.1) - 4.0)),
            anchor: Anchor::Middle,
            kind,
            text: b.text.clone(),
        });
    }
}

fn draw_cell(
    c: &mut Canvas,
    f: &Frame,
    (cell, text, palette): (&Cell, bool, Palette),
    tips: &mut Vec<String>,
    later: &mut Vec<Later>,
) {
    let (a, b) = (
        f.at(cell.x as f64 - 0.5, cell.y as f64 + 0.5),
        f.at(cell.x as f64 + 0.5, cell.y as f64 - 0.5),
    );
    let r = Rect {
        left: a.0,
        top: a.1,
        width: b.0 - a.0,
        height: b.1 - a.1,
    };
    let t = tip(tips, &cell.tip);
    let Some(level) = cell.level else {
        // A stroke that no background hides.
        c.rect(r, Ink::Grid, &format!("fill-opacity=\"0.35\"{t}"));
        return;
    };
    c.rect(
        r,
        palette.ink(level),
        &format!("shape-rendering=\"crispEdges\"{t}"),
    );
    let kind = Type::new(SMALL, palette.on(level));
    if text && !cell.text.is_empty() {
        later.push(Later {
            at: f.out((
                r.left + 0.5 * r.width,
                r.top + 0.5 * r.height + 0.36 * SMALL,
            )),
            anchor: Anchor::Middle,
            kind,
            text: cell.text.clone(),
        });
    }
}

fn marks(
    c: &mut Canvas,
    f: &Frame,
    points: &[Mark],
    size: f64,
    hollow: bool,
    ink: Ink,
    tips: &mut Vec<String>,
) {
    let shown: Vec<(&Mark, (f64, f64))> = points
        .iter()
        .map(|m| (m, f.at(m.x, m.y)))
        .filter(|(_, p)| p.0.is_finite() && p.1.is_finite())
        .collect();
    if shown.is_empty() {
        return;
    }
    let mut bars = String::new();
    for (m, p) in &shown {
        if let Some((lo, hi)) = m.interval {
            let (a, b) = (f.at(m.x, lo).1, f.at(m.x, hi).1);
            if a.is_finite() && b.is_finite() {
                let _ = write!(bars, "M{} {}V{}", px(p.0), px(a), px(b));
            }
        }
    }
    // Attributes of pages are in their style sheet, by class.
    let stroke = |c: &Canvas, d: &str, ink: Ink, width: f64, (class, rest): (&str, &str)| {
        let look = match (c.is_page(), class) {
            (true, _) => format!("class=\"{class}\""),
            (false, "l") => "fill=\"none\" vector-effect=\"non-scaling-stroke\"".to_owned(),
            (false, _) => format!(
                "fill=\"none\" vector-effect=\"non-scaling-stroke\" stroke-linecap=\"round\" class=\"{class}\""
            ),
        };
        format!(
            "<path d=\"{d}\" {look} stroke=\"{}\" stroke-width=\"{}\"{rest}/>",
            c.css(ink),
            px(width)
        )
    };
    if !bars.is_empty() {
        let line = stroke(c, &bars, ink, 1.6, ("l", ""));
        c.raw(&line);
    }
    let first = tips.len();
    let tipped = shown.iter().any(|(m, _)| !m.tip.is_empty());
    if tipped {
        tips.extend(shown.iter().map(|(m, _)| m.tip.clone()));
    }
    let data = if tipped {
        format!(" data-t=\"{first}\"")
    } else {
        String::new()
    };
    let many = shown.len() > CLOUD;
    if many && c.is_page() {
        let look = format!(
            "class=\"r mark\" stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"0.55\"{data}",
            c.css(ink),
            px(size)
        );
        c.cloud(cloud(f, &shown), f.area, &look);
        return;
    }
    let mut d = String::new();
    for (_, p) in &shown {
        let _ = write!(d, "M{} {}h0", px(p.0), px(p.1));
    }
    if !many {
        let ring = stroke(c, &d, Ink::Paper, size + 2.5, ("r", ""));
        c.raw(&ring);
    }
    let opacity = if many { " stroke-opacity=\"0.55\"" } else { "" };
    let dots = stroke(c, &d, ink, size, ("r mark", &format!("{opacity}{data}")));
    c.raw(&dots);
    if hollow {
        let hole = stroke(c, &d, Ink::Paper, size - 3.2, ("r", ""));
        c.raw(&hole);
    }
}

/// Many marks in units that are the same at all widths, and a name that is.
fn cloud(f: &Frame, shown: &[(&Mark, (f64, f64))]) -> (String, String) {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut d = String::new();
    let mut add = |v: f64| {
        for byte in v.to_bits().to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for v in [f.x.lo, f.x.hi, f.y.lo, f.y.hi] {
        add(v);
    }
    for (m, p) in shown {
        add(m.x);
        add(m.y);
        let unit = |v: f64, size: f64| (CLOUD_UNITS * v / size).round() as i64;
        let (x, y) = (unit(p.0, f.area.width), unit(p.1, f.area.height));
        let _ = write!(d, "M{x} {y}h0");
    }
    (format!("c{hash:x}"), d)
}

/// Draws the labels; returns how many found no room.
pub(super) fn tags(c: &mut Canvas, panel: &Panel, f: &Frame) -> usize {
    let mut placer = Placer::new(f.area);
    for (r, _) in c.texts() {
        placer.text(*r);
    }
    for layer in &panel.layers {
        match &layer.what {
            What::Line { points, .. } => {
                let step = points.len().div_ceil(SAMPLES).max(1);
                let line: Vec<(f64, f64)> = points
                    .iter()
                    .step_by(step)
                    .chain(points.last())
                    .map(|p| f.out(f.at(p.0, p.1)))
                    .collect();
                placer.line(&line);
            }
            What::Points { points, size, .. } => {
                for m in points {
                    placer.dot(f.out(f.at(m.x, m.y)), 0.5 * size + 1.5);
                }
            }
            What::Rule { x, y, .. } => {
                if let Some(x) = x {
                    let p = f.area.left + f.at(*x, f.y.lo).0;
                    placer.line(&[(p, f.area.top), (p, f.area.bottom())]);
                }
                if let Some(y) = y {
                    let p = f.area.top + f.at(f.x.lo, *y).1;
                    placer.line(&[(f.area.left, p), (f.area.right(), p)]);
                }
            }
            _ => {}
        }
    }
    let mut left_out = 0;
    for tag in &panel.tags {
        let mut kind = Type::new(SMALL, tag.ink).outlined();
        kind.bold = tag.bold;
        // In narrow panels short labels are whole.
        let most = (0.45 * f.area.width).max(96.0).min(f.area.width - 6.0);
        let text = fit(&tag.text, SMALL, tag.bold, most);
        let anchors: Vec<(f64, f64)> = tag
            .at
            .iter()
            .map(|p| f.at(p.0, p.1))
            .filter(|p| f.inside(*p))
            .map(|p| f.out(p))
            .collect();
        if anchors.is_empty() {
            continue;
        }
        let size = (kind.width(&text), 1.1 * SMALL);
        let Some(placed) = placer.place(&anchors, size) else {
            left_out += 1;
            continue;
        };
        if let Some((a, b)) = placed.leader {
            c.line(a, b, Ink::Quiet, 0.9, "");
        }
        let at = (placed.text.left, placed.text.top + 0.85 * SMALL);
        c.text(at, Anchor::Start, kind, &text);
    }
    left_out
}

/// Values of all layers on an axis, for its range.
pub(super) fn values(panel: &Panel, x: bool) -> Vec<f64> {
    let mut all = Vec::new();
    let mut push = |a: f64, b: f64| all.push(if x { a } else { b });
    for layer in &panel.layers {
        match &layer.what {
            What::Line { points, .. } => points.iter().for_each(|p| push(p.0, p.1)),
            What::Band { points } => points.iter().for_each(|p| {
                push(p.0, p.1);
                push(p.0, p.2);
            }),
            What::Points { points, .. } => points.iter().for_each(|m| {
                push(m.x, m.y);
                if let Some((lo, hi)) = m.interval {
                    push(m.x, lo);
                    push(m.x, hi);
                }
            }),
            What::Bars { bars, along_x } => bars.iter().for_each(|b| {
                let far = b.interval.map_or(b.to, |i| i.1);
                for v in [b.from, b.to, far] {
                    if *along_x {
                        push(v, b.at)
                    } else {
                        push(b.at, v)
                    }
                }
            }),
            What::Cells { cells } => cells.iter().for_each(|c| push(c.x as f64, c.y as f64)),
            What::Rule { x, y, .. } => {
                push(x.unwrap_or(f64::NAN), y.unwrap_or(f64::NAN));
            }
            What::Range { .. } => {}
            What::Picture(p) => {
                push(p.x.0, p.y.0);
                push(p.x.1, p.y.1);
            }
            What::Nodes { nodes } => nodes.iter().for_each(|n| push(n.x, n.y)),
        }
    }
    all
}

/// Opens the plotting area; `zoom` lets a page enlarge parts of it.
pub(super) fn open(c: &mut Canvas, f: &Frame, zoom: Option<String>) {
    c.raw(&format!(
        "<svg class=\"plot\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" \
         preserveAspectRatio=\"none\"{}>",
        px(f.area.left),
        px(f.area.top),
        px(f.area.width),
        px(f.area.height),
        px(f.area.width),
        px(f.area.height),
        zoom.map_or_else(String::new, |z| format!(" data-zoom=\"{}\"", escape(&z)))
    ));
    // The pointer meets the plotting area everywhere.
    c.raw(&format!(
        "<rect x=\"-9999\" y=\"-9999\" width=\"{0}\" height=\"{0}\" fill=\"none\" pointer-events=\"all\"/>",
        29_998
    ));
}
