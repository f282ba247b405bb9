//! Labels of a panel.

use super::Frame;
use super::placer::Placer;
use crate::chart::canvas::{Anchor, Canvas, Type};
use crate::chart::ink::Ink;
use crate::chart::text::{SMALL, fit};
use crate::chart::{Panel, What};

/// Points of a line that labels keep away from.
const SAMPLES: usize = 200;

/// Draws the labels; returns how many found no room.
pub(in crate::chart) fn tags(c: &mut Canvas, panel: &Panel, f: &Frame) -> usize {
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
