//! Layers of a panel.

mod boxes;
mod frame;
mod later;
mod marks;
mod placer;
mod shapes;
mod tags;
mod ticks;

pub(super) use frame::{Frame, open, values};
pub(super) use tags::tags;
pub(super) use ticks::{Tick, second_axis, second_width, ticks};

use super::canvas::{CLOUD_UNITS, Canvas, Rect, path, px};
use super::ink::{Ink, Palette};
use super::text::SMALL;
use super::{Chart, Layer, Mark, Panel, What};
use boxes::{bar_text, draw_cell, draw_nodes};
use later::{Later, tip};
use marks::{marks, name_of};

/// Points from which the drawings of a page share one copy of a line.
const LONG: usize = 200;

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
            let shared = c.is_page() && points.len() > LONG;
            let scaled = |p: &(f64, f64)| match shared {
                true => (
                    (CLOUD_UNITS * p.0 / f.area.width).round(),
                    (CLOUD_UNITS * p.1 / f.area.height).round(),
                ),
                false => *p,
            };
            let mut d = String::new();
            for run in points
                .iter()
                .map(|p| f.at(p.0, p.1))
                .collect::<Vec<_>>()
                .split(|p| !(p.0.is_finite() && p.1.is_finite()))
            {
                if run.len() > 1 {
                    d.push_str(&path(&run.iter().map(scaled).collect::<Vec<_>>()));
                }
            }
            if d.is_empty() {
                return;
            }
            let t = tip(tips, text);
            let dash = match *dash {
                "" if ink.has_shape() => " stroke-dasharray=\"8 3\"".to_owned(),
                "" => String::new(),
                dash => format!(" stroke-dasharray=\"{dash}\""),
            };
            let look = if c.is_page() {
                "class=\"l\""
            } else {
                "fill=\"none\" stroke-linejoin=\"round\" vector-effect=\"non-scaling-stroke\""
            };
            let look = format!("{look} stroke=\"{css}\" stroke-width=\"{width}\"{dash}{t}");
            if shared {
                let name = format!("{}l", name_of(f, points.iter().copied()));
                c.cloud((name, d), f.area, &look);
            } else {
                c.raw(&format!("<path d=\"{d}\" {look}/>"));
            }
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
        What::Shapes(all) => shapes::shapes(c, f, all, tips, later),
        What::Arrows(all) => shapes::arrows(c, f, all),
        What::Labels(all) => shapes::labels(f, all, later),
    }
}
