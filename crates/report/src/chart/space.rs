//! The space that parts of a panel take.

use super::axis::{Scale, Span};
use super::canvas::Type;
use super::draw::values;
use super::ink::Ink;
use super::text::{LINE, NORMAL, SMALL, wrap};
use super::{Height, Panel};

/// Greatest share of a panel's width that the labels of its vertical axis take.
pub(super) const WIDEST: f64 = 0.42;

/// Ranges of both axes.
pub(super) fn spans(panel: &Panel) -> (Span, Span) {
    (
        panel.x.resolve(values(panel, true).into_iter()),
        panel.y.resolve(values(panel, false).into_iter()),
    )
}

/// Space for the labels of the vertical axis, whatever width is left for the plotting area.
pub(super) fn margin(panel: &Panel, width: f64) -> f64 {
    if !panel.axes {
        return 4.0;
    }
    let (x_span, y_span) = spans(panel);
    let small = Type::new(SMALL, Ink::Text);
    // Ticks need the height, which needs the width, which needs the ticks' labels: those of all heights fit.
    let heights = (6..=20).map(|k| height(panel, 0.05 * f64::from(k) * width, (&x_span, &y_span)));
    heights
        .flat_map(|h| panel.y.ticks(&y_span, h, false))
        .map(|t| small.width(&t.1).min(WIDEST * width))
        .fold(0.0, f64::max)
        .max(beyond(panel, &x_span, width).0 - 8.0)
        + 10.0
}

/// Pixels by which labels of the horizontal axis pass the left and the right end of the plotting area, at most.
pub(super) fn beyond(panel: &Panel, span: &Span, width: f64) -> (f64, f64) {
    let small = Type::new(SMALL, Ink::Text);
    let mut most = (0.0f64, 0.0f64);
    if !panel.axes || matches!(panel.x.scale, Scale::Names(_)) {
        return most;
    }
    for k in 6..=20 {
        let plot = 0.05 * f64::from(k) * width;
        for (v, label) in panel.x.ticks(span, plot, true) {
            let (half, share) = (0.5 * small.width(&label), span.share(v));
            most.0 = most.0.max(half - share * plot);
            most.1 = most.1.max(half - (1.0 - share) * plot);
        }
    }
    most
}

/// Title of a panel and of its vertical axis in lines, and their height.
pub(super) fn head(panel: &Panel, width: f64) -> (f64, Vec<(String, Type)>) {
    let title = Type::new(NORMAL, Ink::Text).bold();
    let axis = Type::new(SMALL, Ink::Quiet);
    let (_, name) = panel.y.titled(&spans(panel).1);
    let lines: Vec<(String, Type)> = [(panel.title.as_str(), title), (name.as_str(), axis)]
        .into_iter()
        .flat_map(|(text, kind)| {
            wrap(text, kind.size, kind.bold, width - 6.0)
                .into_iter()
                .map(move |line| (line, kind))
        })
        .collect();
    let height = lines.iter().map(|(_, k)| k.size * LINE).sum::<f64>() + 5.0;
    (height, lines)
}

/// Height of the plotting area.
pub(super) fn height(panel: &Panel, width: f64, (x, y): (&Span, &Span)) -> f64 {
    match panel.height {
        Height::Ratio(r) => (r * width).clamp(170.0, if panel.alone { 560.0 } else { 460.0 }),
        Height::Rows(row) => match &panel.y.scale {
            Scale::Names(names) => (row * names.len().max(1) as f64).max(24.0),
            _ => row,
        },
        Height::Equal => (width * aspect(x, y)).max(40.0),
    }
}

/// Height over width of axes of the same scale.
pub(super) fn aspect(x: &Span, y: &Span) -> f64 {
    ((y.hi - y.lo) / (x.hi - x.lo)).clamp(1e-3, 1e3)
}
