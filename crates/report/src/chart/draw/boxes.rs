//! Cells, nodes, and the texts of bars.

use super::{Frame, Later, tip};
use crate::chart::canvas::{Anchor, Canvas, Rect, Type};
use crate::chart::ink::{Ink, Palette};
use crate::chart::text::{SMALL, fit};
use crate::chart::{Cell, Node};

/// Boxes with names inside of the plotting area, as many as have room beside the earlier ones.
pub(super) fn draw_nodes(
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

pub(super) fn bar_text(
    f: &Frame,
    b: &crate::chart::Bar,
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

pub(super) fn draw_cell(
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
