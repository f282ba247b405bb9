//! The scale of colours beside a panel.

use super::axis::Span;
use super::canvas::{Anchor, Canvas, Rect, Type};
use super::ink::{Ink, Palette};
use super::text::{ROW, SMALL, wrap};
use super::{ColourBar, Picture};

/// A colour bar at the right of a panel.
pub(super) struct Bar<'a> {
    bar: &'a ColourBar,
    palette: Palette,
    span: Span,
    title: Vec<String>,
    /// Space that it takes, pixels.
    pub width: f64,
}

impl<'a> Bar<'a> {
    /// Of a panel of a width, pixels.
    pub fn new(bar: &'a ColourBar, palette: Palette, width: f64) -> Self {
        let (lo, hi) = (bar.lo.min(bar.hi), bar.lo.max(bar.hi));
        let span = bar.axis.clone().over(lo, hi).resolve(std::iter::empty());
        let (_, title) = bar.axis.titled(&span);
        let labels = bar.axis.ticks(&span, 200.0, false);
        let small = Type::new(SMALL, Ink::Quiet);
        let widest = labels.iter().map(|t| small.width(&t.1)).fold(0.0, f64::max);
        let title = wrap(
            &title,
            SMALL,
            false,
            (widest + 26.0).max(0.22 * width).max(48.0),
        );
        let named = title.iter().map(|t| small.width(t)).fold(0.0, f64::max);
        Self {
            bar,
            palette,
            span,
            title,
            width: (widest + 20.0).max(named) + 12.0,
        }
    }

    /// The range of its colours, the end of the lowest level first.
    pub fn span(&self) -> (Span, bool) {
        (self.span, self.bar.lo > self.bar.hi)
    }

    /// Its colours from the highest level down: a picture has no seams between them.
    pub fn levels(&self) -> Picture {
        const STEPS: u32 = 256;
        let level = |k: u32| 1.0 - (f64::from(k) + 0.5) / f64::from(STEPS);
        Picture {
            columns: 1,
            pixels: (0..STEPS)
                .map(|k| Some(self.palette.colour(level(k))))
                .collect(),
            x: (0.0, 1.0),
            y: (0.0, 1.0),
        }
    }

    /// Draws the bar; returns its bottom.
    pub fn draw(&self, c: &mut Canvas, area: &Rect) -> f64 {
        let small = Type::new(SMALL, Ink::Quiet);
        let left = area.right() + 12.0;
        let mut top = area.top;
        for line in &self.title {
            top += ROW;
            c.text((left, top - 4.0), Anchor::Start, small, line);
        }
        top += 6.0;
        let height = (area.bottom() - top).max(64.0);
        let place = Rect {
            left,
            top,
            width: 13.0,
            height,
        };
        let page = Rect {
            left: 0.0,
            top: 0.0,
            width: 0.0,
            height: 0.0,
        };
        c.picture(&self.levels(), place, page);
        for (v, label) in self.bar.axis.ticks(&self.span, height, false) {
            let share = self.span.share(v);
            let up = if self.bar.lo > self.bar.hi {
                1.0 - share
            } else {
                share
            };
            let y = top + height * (1.0 - up);
            c.line((left + 13.0, y), (left + 16.0, y), Ink::Quiet, 1.0, "");
            c.text(
                (left + 18.0, y + 0.36 * SMALL),
                Anchor::Start,
                small,
                &label,
            );
        }
        top + height + 6.0
    }
}
