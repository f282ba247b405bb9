//! Sizes and positions of a chart's parts for a given width.

use super::axis::{Axis, Scale, Span};
use super::canvas::{Anchor, Canvas, Rect, Type, px};
use super::colour_bar::Bar;
use super::draw::{Frame, Tick, layers, open, second_axis, second_width, tags, ticks};
use super::ink::{Ink, Style};
use super::space::{WIDEST, aspect, beyond, head, height, margin, spans};
use super::text::{LINE, NORMAL, ROW, SMALL, TITLE, fit, wrap};
use super::{Chart, Height, Panel, Sign, What};
use crate::chart::picture::PngError;
use std::fmt::Write as _;

/// Widths of the drawings on a page, pixels: the page shows the widest that fits, enlarged to the full width.
pub const PAGE_WIDTHS: [u32; 5] = [280, 400, 580, 840, 1200];
/// Least width of a panel beside another, pixels.
const BESIDE: f64 = 330.0;
/// Space between panels, pixels.
const GAP: f64 = 18.0;
/// Greatest height of a picture, pixels.
const TALLEST: f64 = 560.0;
/// Points from which a page can zoom.
const MANY: usize = 60;

/// The colour bar of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BarPlace {
    /// None, or that of the next panel.
    None,
    /// That of a panel above; its space stays empty, so that pictures below each other have one size.
    Empty,
    /// Its own.
    Drawn,
}

/// A drawing of a chart.
pub(crate) struct Drawing {
    pub canvas: Canvas,
    pub height: f64,
    pub tips: Vec<String>,
}

impl Chart {
    /// The chart as an SVG file.
    pub fn svg(&self, style: Style, width: f64) -> String {
        let d = self.draw(style, width);
        self.svg_with_origin(d.canvas.document(width, d.height, &self.title, ""))
    }

    /// The chart as a PNG file with `scale` pixels a unit of `width`.
    ///
    /// # Errors
    /// There is no memory for that many pixels.
    pub fn png(&self, style: Style, width: f64, scale: f32) -> Result<Vec<u8>, PngError> {
        let d = self.draw(style, width);
        let png = crate::chart::files::png::png(&d.canvas, (width, d.height), scale)?;
        Ok(self.png_with_origin(png))
    }

    /// Drawings at all [`PAGE_WIDTHS`] for an HTML page, which shows the one that fits.
    pub fn html(&self) -> String {
        self.html_at(&PAGE_WIDTHS, "chart")
    }

    /// As [`Chart::html`] at two widths, for pages of many figures: over the full width of a page, or half of it.
    pub fn light_html(&self, full: bool) -> String {
        match full {
            true => self.html_at(&[280, 840], "chart light full"),
            false => self.html_at(&[280, 560], "chart light"),
        }
    }

    fn html_at(&self, widths: &[u32], class: &str) -> String {
        let mut out = format!("<div class=\"{class}\">\n");
        for (i, &width) in widths.iter().enumerate() {
            let d = self.draw(Style::Page, f64::from(width));
            if i == 0 {
                out.push_str(&d.canvas.definitions());
                if !d.tips.is_empty() {
                    let json =
                        serde_json::to_string(&(&self.tip_names, &d.tips)).unwrap_or_default();
                    // No tag ends inside of a script.
                    let _ = writeln!(
                        out,
                        "<script type=\"application/json\" class=\"tips\">{}</script>",
                        json.replace('<', "\\u003c")
                    );
                }
            }
            let name = format!("w{width}");
            out.push_str(
                &d.canvas
                    .document(f64::from(width), d.height, &self.title, &name),
            );
        }
        out.push_str("</div>\n");
        out
    }

    pub(crate) fn draw(&self, style: Style, width: f64) -> Drawing {
        let mut c = Canvas::new(style);
        let mut tips = Vec::new();
        let mut y = 4.0;
        for line in wrap(&self.title, TITLE, true, width - 8.0) {
            y += TITLE * LINE;
            c.text(
                (4.0, y - 4.0),
                Anchor::Start,
                Type::new(TITLE, Ink::Text).bold(),
                &line,
            );
        }
        y = self.legend(&mut c, y + 2.0, width);
        let least = if self.least_width > 0.0 {
            self.least_width
        } else {
            BESIDE
        };
        let mut left_out = 0;
        for group in self.panels.chunk_by(|a, b| !a.alone && !b.alone) {
            let most = ((width / least) as usize).clamp(1, group.len());
            // As even rows as possible: four panels are two by two rather than three and one.
            let columns = group.len().div_ceil(group.len().div_ceil(most));
            let each = (width - GAP * (columns - 1) as f64) / columns as f64;
            let margins: Vec<f64> = group.iter().map(|p| margin(p, each)).collect();
            // Panels below each other over the same axis begin at the same place.
            let aligned = |k: usize| {
                let over = |j: usize| {
                    let (a, b) = (&group[j], &group[k]);
                    let curves = [a, b].iter().all(|p| p.height != Height::Equal);
                    j % columns == k % columns && curves && a.x.range.is_some() && a.x == b.x
                };
                (0..margins.len())
                    .filter(|j| over(*j))
                    .fold(margins[k], |m, j| m.max(margins[j]))
            };
            for (first, row) in group.chunks(columns).enumerate() {
                let mut bottom = y;
                let first = columns * first;
                let head = row.iter().map(|p| head(p, each).0).fold(0.0, f64::max);
                let same = |a: &Panel, b: &Panel| a.bar == b.bar && a.palette == b.palette;
                // The next panel of the row has the same bar, and shows it.
                let given = |i: usize| {
                    row[i].bar.is_some() && row.get(i + 1).is_some_and(|b| same(&row[i], b))
                };
                let place = |i: usize| match &row[i].bar {
                    Some(_) if given(i) => BarPlace::None,
                    Some(_) if group[..first].iter().any(|p| same(p, &row[i])) => BarPlace::Empty,
                    Some(_) => BarPlace::Drawn,
                    None => BarPlace::None,
                };
                // Panels beside each other have bars of the same width, so that their pictures are of the same size.
                let bars = row
                    .iter()
                    .filter_map(|p| Some(Bar::new(p.bar.as_ref()?, p.palette, each).width))
                    .fold(0.0, f64::max);
                // What a bar that is left out would take, all panels of the row share.
                let spared = (0..row.len()).filter(|i| given(*i)).count() as f64 * bars;
                let wider = spared / row.len() as f64;
                // Curves beside each other have a common base line.
                let ratio = |p: &Panel| p.axes && matches!(p.height, Height::Ratio(_));
                let even = row.len() > 1 && row.iter().all(ratio);
                let margins = (0..row.len()).map(|i| aligned(first + i));
                let common = margins.filter(|_| even).fold(0.0, f64::max);
                let mut left = 0.0;
                for (i, panel) in row.iter().enumerate() {
                    let own = each + wider - if given(i) { bars } else { 0.0 };
                    let size = (own, aligned(first + i), (place(i), bars, each), common);
                    let (end, lost) = self.panel(&mut c, panel, (left, y + head), size, &mut tips);
                    bottom = bottom.max(end);
                    left_out += lost;
                    left += own + GAP;
                }
                y = bottom + 8.0;
            }
        }
        let lost = match left_out {
            0 => None,
            1 => Some("1 label has no room here.".to_owned()),
            n => Some(format!("{n} labels have no room here.")),
        };
        for note in self.notes.iter().cloned().chain(lost) {
            for line in wrap(&note, SMALL, false, width - 8.0) {
                y += ROW;
                c.text(
                    (4.0, y - 3.0),
                    Anchor::Start,
                    Type::new(SMALL, Ink::Quiet),
                    &line,
                );
            }
        }
        Drawing {
            canvas: c,
            height: y + 4.0,
            tips,
        }
    }

    /// Draws the legend of the series that are drawn; returns the bottom.
    fn legend(&self, c: &mut Canvas, top: f64, width: f64) -> f64 {
        let used = |k: usize| {
            self.panels.iter().flat_map(|p| &p.layers).any(|l| {
                l.series == k
                    && l.ink.is_none()
                    && (!l.what.is_empty() || matches!(l.what, What::Rule { .. }))
            })
        };
        let shown: Vec<usize> = (0..self.series.len())
            .filter(|k| !self.series[*k].name.is_empty() && used(*k))
            .collect();
        if shown.len() < 2 {
            return top;
        }
        const MARK: f64 = 26.0;
        let kind = Type::new(SMALL, Ink::Text);
        let (mut x, mut y) = (4.0, top + ROW);
        for k in shown {
            let s = &self.series[k];
            let name = fit(&s.name, SMALL, false, (width - MARK - 8.0).min(320.0));
            let need = MARK + kind.width(&name);
            if x > 4.0 && x + need > width - 4.0 {
                (x, y) = (4.0, y + ROW + 3.0);
            }
            c.raw(&format!("<g class=\"k\" data-s=\"{k}\">"));
            let middle = y - 0.35 * SMALL;
            match s.sign {
                Sign::Line if s.ink.has_shape() => {
                    c.line((x, middle), (x + 20.0, middle), s.ink, 2.4, "8 3");
                }
                Sign::Line => c.line((x, middle), (x + 20.0, middle), s.ink, 2.4, ""),
                Sign::Dashed => c.line((x, middle), (x + 20.0, middle), s.ink, 1.6, "5 3"),
                Sign::Dot if s.ink.has_shape() => {
                    let (left, top) = (x + 6.0, middle - 4.0);
                    let square = Rect {
                        left,
                        top,
                        width: 8.0,
                        height: 8.0,
                    };
                    c.rect(square, s.ink, "");
                }
                Sign::Dot | Sign::Ring => {
                    let (css, paper) = (c.css(s.ink), c.css(Ink::Paper));
                    let look = match s.sign {
                        Sign::Ring => {
                            format!("fill=\"{paper}\" stroke=\"{css}\" stroke-width=\"1.6\"")
                        }
                        _ => format!("fill=\"{css}\""),
                    };
                    c.raw(&format!(
                        "<circle cx=\"{}\" cy=\"{middle:.1}\" r=\"4.5\" {look}/>",
                        x + 10.0
                    ));
                }
                Sign::Area => c.rect(
                    Rect {
                        left: x + 4.0,
                        top: middle - 6.0,
                        width: 12.0,
                        height: 12.0,
                    },
                    s.ink,
                    "",
                ),
            }
            c.text((x + MARK, y), Anchor::Start, kind, &name);
            c.raw("</g>");
            x += need + 16.0;
        }
        y + 8.0
    }

    /// Draws a panel; returns its bottom and the number of labels without room.
    fn panel(
        &self,
        c: &mut Canvas,
        panel: &Panel,
        (left, top): (f64, f64),
        (width, margin, (place, bars, each), common): (f64, f64, (BarPlace, f64, f64), f64),
        tips: &mut Vec<String>,
    ) -> (f64, usize) {
        let (above, lines) = head(panel, width);
        let mut y = top - above;
        for (line, kind) in lines {
            y += kind.size * LINE;
            c.text((left + 4.0, y - 3.0), Anchor::Start, kind, &line);
        }
        let (x_span, y_span) = spans(panel);
        let bar = (panel.bar.as_ref()).map(|b| Bar::new(b, panel.palette, each));
        let least = (beyond(panel, &x_span, width).1 + 2.0).max(12.0);
        let second = second_width(panel);
        let right = second
            + match place {
                BarPlace::None => least,
                BarPlace::Empty | BarPlace::Drawn => bars + 12.0,
            };
        let widest = WIDEST * width;
        let mut plot = (width - margin - right).max(60.0);
        if panel.height == Height::Equal {
            // Not higher than a screen.
            let most = if self.tallest > 0.0 {
                self.tallest * width
            } else {
                TALLEST
            };
            plot = plot.min((most / aspect(&x_span, &y_span)).max(60.0));
        }
        let area = Rect {
            left: left + margin,
            top,
            width: plot,
            height: height(panel, plot - (common - margin).max(0.0), (&x_span, &y_span)),
        };
        let f = Frame {
            area,
            x: x_span,
            y: y_span,
        };
        let x_ticks = panel.x.ticks(&x_span, plot, true);
        let mut y_ticks = panel.y.ticks(&y_span, area.height, false);
        let small = Type::new(SMALL, Ink::Text);
        let wide = |all: &[Tick]| {
            let needs = |t: &Tick| small.width(&t.1).min(widest);
            all.iter().any(|t| needs(t) > margin - 9.0)
        };
        // Coarser ticks have shorter labels.
        let mut pixels = area.height;
        while wide(&y_ticks) && pixels > 20.0 {
            pixels *= 0.8;
            y_ticks = panel.y.ticks(&y_span, pixels, false);
        }
        let points: usize = (panel.layers.iter())
            .map(|l| match &l.what {
                What::Points { points, .. } => points.len(),
                _ => 0,
            })
            .sum();
        let picture = shows_picture(panel);
        let mut data = Vec::new();
        if c.is_page() && (points > MANY || picture) {
            data.push(("zoom", zoom(panel, &x_span, &y_span)));
        }
        if c.is_page() && picture {
            data.push(("read", reading(panel, (&x_span, &y_span), bar.as_ref())));
        }
        c.raw("<g class=\"panel\">");
        // Hit by the pointer where nothing else is.
        c.raw(&format!(
            "<rect class=\"ground\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\"/>",
            area.left, area.top, area.width, area.height
        ));
        open(c, &f, &data);
        if panel.grid && panel.axes {
            let mut grid = String::new();
            for (v, _) in x_ticks
                .iter()
                .filter(|_| !matches!(panel.x.scale, Scale::Names(_)))
            {
                let p = px(plot * x_span.share(*v));
                let _ = write!(grid, "M{p} 0V{}", px(area.height));
            }
            for (v, _) in y_ticks
                .iter()
                .filter(|_| !matches!(panel.y.scale, Scale::Names(_)))
            {
                let p = px(area.height * (1.0 - y_span.share(*v)));
                let _ = write!(grid, "M0 {p}H{}", px(plot));
            }
            let css = c.css(Ink::Grid);
            c.raw(&format!(
                "<g class=\"grid\"><path d=\"{grid}\" fill=\"none\" stroke=\"{css}\"/></g>"
            ));
        }
        layers(c, self, panel, &f, tips);
        let mut bottom = ticks(c, panel, &f, (&x_ticks, &y_ticks), widest);
        second_axis(c, panel, &f);
        if let Some(b) = bar.as_ref().filter(|_| place == BarPlace::Drawn) {
            let with_axis = Rect {
                width: area.width + second,
                ..area
            };
            bottom = bottom.max(b.draw(c, &with_axis));
        }
        if panel.layers.iter().all(|l| l.what.is_empty()) {
            let at = (area.left + 0.5 * plot, area.top + 0.5 * area.height + 4.0);
            c.text(
                at,
                Anchor::Middle,
                Type::new(NORMAL, Ink::Quiet).outlined(),
                "no data",
            );
        }
        c.raw("<g class=\"tags\">");
        let lost = tags(c, panel, &f);
        c.raw("</g></g>");
        (bottom, lost)
    }
}

/// Axes' ranges for a page that zooms: lower and upper end, whether logarithmic, factor of the labels.
fn zoom(panel: &Panel, x: &Span, y: &Span) -> String {
    let one = |axis: &Axis, s: &Span| {
        let (factor, _) = axis.titled(s);
        let si = s.log && matches!(axis.unit, super::Unit::Si(_));
        format!(
            "[{:e},{:e},{},{:e},{}]",
            s.lo,
            s.hi,
            u8::from(s.log),
            factor,
            u8::from(si)
        )
    };
    format!("[{},{}]", one(&panel.x, x), one(&panel.y, y))
}

/// Whether a panel has a picture between axes with numbers.
fn shows_picture(panel: &Panel) -> bool {
    let numbers = |a: &Axis| !matches!(a.scale, Scale::Names(_));
    numbers(&panel.x)
        && numbers(&panel.y)
        && (panel.layers.iter()).any(|l| matches!(l.what, What::Picture(_)))
}

/// What a page reads off a picture: title and range of the axes and of the colours, and the name of their levels.
fn reading(panel: &Panel, (x, y): (&Span, &Span), bar: Option<&Bar>) -> String {
    let one = |axis: &Axis, s: &Span| {
        let (factor, title) = axis.titled(s);
        serde_json::json!([title, s.lo / factor, s.hi / factor, s.log])
    };
    let colours = (panel.bar.as_ref().zip(bar)).map(|(b, drawn)| {
        let (span, down) = drawn.span();
        serde_json::json!([one(&b.axis, &span), down, drawn.levels().id()])
    });
    serde_json::json!([one(&panel.x, x), one(&panel.y, y), colours]).to_string()
}

impl What {
    /// Whether nothing would be drawn.
    fn is_empty(&self) -> bool {
        match self {
            Self::Line { points, .. } => points.len() < 2,
            Self::Band { points } => points.len() < 2,
            Self::Points { points, .. } => points.is_empty(),
            Self::Bars { bars, .. } => bars.is_empty(),
            Self::Cells { cells } => cells.iter().all(|c| c.level.is_none()),
            // Not data.
            Self::Rule { .. } | Self::Range { .. } => true,
            Self::Picture(_) => false,
            Self::Nodes { nodes } => nodes.is_empty(),
            Self::Shapes(all) => all.is_empty(),
            Self::Arrows(all) => all.is_empty(),
            Self::Labels(all) => all.is_empty(),
        }
    }
}
