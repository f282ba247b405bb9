//! A panel's plotting area.

use crate::chart::axis::Span;
use crate::chart::canvas::{Canvas, Rect, escape, px};
use crate::chart::{Panel, What};

/// A panel's plotting area and its axes.
pub(in crate::chart) struct Frame {
    pub area: Rect,
    pub x: Span,
    pub y: Span,
}

impl Frame {
    /// Position in the plotting area; not finite where a value has none.
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
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

    pub(super) fn inside(&self, p: (f64, f64)) -> bool {
        p.0 >= -1.0 && p.1 >= -1.0 && p.0 <= self.area.width + 1.0 && p.1 <= self.area.height + 1.0
    }

    pub(super) fn out(&self, p: (f64, f64)) -> (f64, f64) {
        (self.area.left + p.0, self.area.top + p.1)
    }
}

/// Values of all layers on an axis, for its range.
pub(in crate::chart) fn values(panel: &Panel, x: bool) -> Vec<f64> {
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
            What::Shapes(all) => all
                .iter()
                .flat_map(|s| &s.corners)
                .for_each(|p| push(p.0, p.1)),
            What::Arrows(all) => all
                .iter()
                .flat_map(|a| &a.points)
                .for_each(|p| push(p.0, p.1)),
            What::Labels(all) => all.iter().for_each(|l| push(l.at.0, l.at.1)),
        }
    }
    all
}

/// Opens the plotting area with its attributes for the script of a page.
pub(in crate::chart) fn open(c: &mut Canvas, f: &Frame, data: &[(&str, String)]) {
    c.raw(&format!(
        "<svg class=\"plot\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" \
         preserveAspectRatio=\"none\"{}>",
        px(f.area.left),
        px(f.area.top),
        px(f.area.width),
        px(f.area.height),
        px(f.area.width),
        px(f.area.height),
        (data.iter())
            .map(|(name, text)| format!(" data-{name}=\"{}\"", escape(text)))
            .collect::<String>()
    ));
    // The pointer meets the plotting area everywhere.
    c.raw(&format!(
        "<rect x=\"-9999\" y=\"-9999\" width=\"{0}\" height=\"{0}\" fill=\"none\" pointer-events=\"all\"/>",
        29_998
    ));
}
