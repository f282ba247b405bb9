//! Outlines, arrows and labels.

use super::{Frame, Later, tip};
use crate::chart::canvas::{Anchor, Canvas, Type, path};
use crate::chart::shapes::{Arrow, Label, Shape};
use crate::chart::text::{LINE, SMALL, fit, wrap};

/// Length of an arrow's head, pixels.
const HEAD: f64 = 8.0;

/// Lines of text around a place, in the middle of the height.
fn lines(
    later: &mut Vec<Later>,
    at: (f64, f64),
    anchor: Anchor,
    kind: Type,
    all: impl ExactSizeIterator<Item = String>,
) {
    let height = SMALL * LINE;
    let first = at.1 - 0.5 * height * (all.len() as f64 - 1.0) + 0.36 * SMALL;
    for (i, text) in all.enumerate() {
        later.push(Later {
            at: (at.0, first + height * i as f64),
            anchor,
            kind,
            text,
        });
    }
}

pub(super) fn shapes(
    c: &mut Canvas,
    f: &Frame,
    shapes: &[Shape],
    tips: &mut Vec<String>,
    later: &mut Vec<Later>,
) {
    for s in shapes {
        let points: Vec<(f64, f64)> = s.corners.iter().map(|p| f.at(p.0, p.1)).collect();
        if points.len() < 2 || points.iter().any(|p| !p.0.is_finite() || !p.1.is_finite()) {
            continue;
        }
        let fill = match s.fill {
            Some(ink) => format!("fill=\"{}\" fill-opacity=\"{}\"", c.css(ink), s.opacity),
            None => "fill=\"none\"".to_owned(),
        };
        let edge = match s.edge {
            Some(ink) => {
                let dash = match s.dash {
                    "" => String::new(),
                    dash => format!(" stroke-dasharray=\"{dash}\""),
                };
                format!(
                    " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash}",
                    c.css(ink),
                    s.width
                )
            }
            None => String::new(),
        };
        let t = tip(tips, &s.tip);
        c.raw(&format!("<path d=\"{}Z\" {fill}{edge}{t}/>", path(&points)));
        if s.text.is_empty() {
            continue;
        }
        let span = |pick: fn(&(f64, f64)) -> f64| {
            let values = || points.iter().map(pick);
            (
                values().fold(f64::INFINITY, f64::min),
                values().fold(f64::NEG_INFINITY, f64::max),
            )
        };
        let (x, y) = (span(|p| p.0), span(|p| p.1));
        let room = x.1 - x.0 - 4.0;
        let mut text: Vec<String> = (s.text.split('\n'))
            .flat_map(|l| wrap(l, SMALL, false, room))
            .map(|l| fit(&l, SMALL, false, room))
            .collect();
        // What does not fit in height is left out.
        text.truncate((((y.1 - y.0) / (SMALL * LINE)) as usize).max(1));
        let middle = (0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1));
        let kind = Type::new(SMALL, s.ink);
        lines(later, f.out(middle), Anchor::Middle, kind, text.into_iter());
    }
}

pub(super) fn arrows(c: &mut Canvas, f: &Frame, arrows: &[Arrow]) {
    for a in arrows {
        let points: Vec<(f64, f64)> = a.points.iter().map(|p| f.at(p.0, p.1)).collect();
        if points.len() < 2 || points.iter().any(|p| !p.0.is_finite() || !p.1.is_finite()) {
            continue;
        }
        let css = c.css(a.ink);
        c.raw(&format!(
            "<path d=\"{}\" fill=\"none\" stroke=\"{css}\" stroke-width=\"{}\" stroke-linejoin=\"round\"/>",
            path(&points),
            a.width
        ));
        let mut head = |from: (f64, f64), to: (f64, f64)| {
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let length = dx.hypot(dy);
            if length < 1e-9 {
                return;
            }
            let (ux, uy) = (dx / length * HEAD, dy / length * HEAD);
            let side = |s: f64| (to.0 - ux - 0.45 * s * uy, to.1 - uy + 0.45 * s * ux);
            let corners = [to, side(1.0), side(-1.0)];
            c.raw(&format!("<path d=\"{}Z\" fill=\"{css}\"/>", path(&corners)));
        };
        head(points[points.len() - 2], points[points.len() - 1]);
        if a.both {
            head(points[1], points[0]);
        }
    }
}

pub(super) fn labels(f: &Frame, labels: &[Label], later: &mut Vec<Later>) {
    for l in labels {
        let p = f.at(l.at.0, l.at.1);
        if !(p.0.is_finite() && p.1.is_finite()) {
            continue;
        }
        let mut kind = Type::new(SMALL, l.ink).outlined();
        kind.bold = l.bold;
        let text: Vec<String> = l.text.split('\n').map(str::to_owned).collect();
        lines(later, f.out(p), l.anchor, kind, text.into_iter());
    }
}
