//! Axes: grid, ticks and their labels.

use super::Frame;
use crate::chart::canvas::{Anchor, Canvas, Type, px};
use crate::chart::ink::Ink;
use crate::chart::text::{ROW, SMALL, fit, wrap};
use crate::chart::{Axis, Panel, Scale};
use std::fmt::Write as _;

/// Length of tick marks, pixels.
const MARK: f64 = 4.0;

/// A tick: its value and label.
pub(in crate::chart) type Tick = (f64, String);

/// Draws frame, tick labels and the horizontal axis' title; returns the bottom.
pub(in crate::chart) fn ticks(
    c: &mut Canvas,
    panel: &Panel,
    f: &Frame,
    (x, y): (&[Tick], &[Tick]),
    widest: f64,
) -> f64 {
    let a = f.area;
    if !panel.axes {
        return a.bottom();
    }
    let small = Type::new(SMALL, Ink::Quiet);
    c.raw(&format!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"{}\"/>",
        a.left,
        a.top,
        a.width,
        a.height,
        c.css(Ink::Quiet)
    ));
    let numbers = |axis: &Axis| !matches!(axis.scale, Scale::Names(_));
    // Without grid lines marks lead from the labels to the axes.
    if !panel.grid && numbers(&panel.x) && numbers(&panel.y) {
        let mut d = String::new();
        for (v, _) in x {
            let p = a.left + a.width * f.x.share(*v);
            let _ = write!(d, "M{} {}v{MARK}", px(p), px(a.bottom()));
        }
        for (v, _) in y {
            let p = a.top + a.height * (1.0 - f.y.share(*v));
            let _ = write!(d, "M{} {}h-{MARK}", px(a.left), px(p));
        }
        c.raw(&format!(
            "<g class=\"grid\"><path d=\"{d}\" fill=\"none\" stroke=\"{}\"/></g>",
            c.css(Ink::Quiet)
        ));
    }
    c.raw("<g class=\"ty\">");
    let mut last = f64::INFINITY;
    for (v, label) in y {
        let p = a.top + a.height * (1.0 - f.y.share(*v));
        // Rows lower than their names show some of them.
        if (last - p).abs() < SMALL + 1.0 {
            continue;
        }
        last = p;
        let label = fit(label, SMALL, false, widest);
        c.text((a.left - 6.0, p + 0.36 * SMALL), Anchor::End, small, &label);
    }
    c.raw("</g><g class=\"tx\">");
    let mut bottom = a.bottom() + 4.0;
    if panel.shares_x {
        c.raw("</g>");
        return bottom;
    }
    let named = matches!(panel.x.scale, Scale::Names(_));
    let limit = if named {
        (a.width / x.len().max(1) as f64 - 4.0).max(40.0)
    } else {
        f64::INFINITY
    };
    let labels: Vec<(f64, String)> = x
        .iter()
        .map(|(v, l)| {
            (
                a.left + a.width * f.x.share(*v),
                fit(l, SMALL, false, limit),
            )
        })
        .collect();
    // Narrow columns show every second name, or fewer.
    let meets = |step: usize| {
        let shown: Vec<&(f64, String)> = labels.iter().step_by(step).collect();
        shown
            .windows(2)
            .any(|w| w[1].0 - w[0].0 < 0.5 * (small.width(&w[0].1) + small.width(&w[1].1)) + 4.0)
    };
    let step = (1..=labels.len().max(1)).find(|s| !meets(*s)).unwrap_or(1);
    for (p, label) in labels.iter().step_by(step) {
        bottom = a.bottom() + 5.0 + ROW;
        // Clear of the lowest label at the left.
        c.text((*p, a.bottom() + ROW + 1.5), Anchor::Middle, small, label);
    }
    c.raw("</g>");
    let (_, title) = panel.x.titled(&f.x);
    for line in wrap(&title, SMALL, false, a.width) {
        bottom += ROW;
        c.text(
            (a.left + 0.5 * a.width, bottom - 3.0),
            Anchor::Middle,
            small,
            &line,
        );
    }
    bottom
}

/// Room for the axis at the right, pixels.
pub(in crate::chart) fn second_width(panel: &Panel) -> f64 {
    let small = Type::new(SMALL, Ink::Quiet);
    panel.right.as_ref().map_or(0.0, |(_, ticks)| {
        let labels = ticks.iter().map(|t| small.width(&t.1));
        labels.fold(0.0, f64::max) + MARK + 6.0
    })
}

/// Draws the axis at the right; hidden where a page shows a part of the panel.
pub(in crate::chart) fn second_axis(c: &mut Canvas, panel: &Panel, f: &Frame) {
    let Some((title, all)) = &panel.right else {
        return;
    };
    let a = f.area;
    let small = Type::new(SMALL, Ink::Quiet);
    c.raw("<g class=\"over\">");
    let end = (a.right() + second_width(panel), a.top - 6.0);
    c.text(end, Anchor::End, small, title);
    let mut marks = String::new();
    let mut last = f64::INFINITY;
    for (v, label) in all {
        let p = a.top + a.height * (1.0 - f.y.share(*v));
        if !(a.top - 0.5..=a.bottom() + 0.5).contains(&p) || (last - p).abs() < SMALL + 1.0 {
            continue;
        }
        last = p;
        let _ = write!(marks, "M{} {}h{MARK}", px(a.right()), px(p));
        // At the top stands the title.
        if p > a.top + 0.5 * SMALL {
            let at = (a.right() + MARK + 3.0, p + 0.36 * SMALL);
            c.text(at, Anchor::Start, small, label);
        }
    }
    let css = c.css(Ink::Quiet);
    c.raw(&format!(
        "<path d=\"{marks}\" fill=\"none\" stroke=\"{css}\"/></g>"
    ));
}
