//! Figures of a tuning sweep: efficiency against performance with hull and winners, correlations
//! as sorted bars, and splits by a metric.

use crate::axis::{Area, Linear};
use crate::si::{si, three};
use crate::svg::{Anchor, FAINT, INK, QUIET, Svg, colour, escape};

/// One config in the plane.
#[derive(Clone, Debug)]
pub struct Dot {
    pub x: f64,
    pub y: f64,
    /// Shown on hovering.
    pub tip: String,
    /// Index of the palette.
    pub colour: usize,
}

/// Efficiency against performance.
#[derive(Clone, Debug, Default)]
pub struct Scatter {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub x_unit: String,
    pub y_unit: String,
    pub dots: Vec<Dot>,
    /// Indices of dots.
    pub hull: Vec<usize>,
    pub fastest: Option<usize>,
    pub greenest: Option<usize>,
    /// Names of colours, for a legend; none without.
    pub legend: Vec<String>,
}

impl Scatter {
    pub fn svg(&self, width: f64, height: f64) -> String {
        let area = Area {
            left: 78.0,
            top: 58.0,
            width: width - 118.0,
            height: height - 114.0,
        };
        let xr = Linear::around(self.dots.iter().map(|d| d.x));
        let yr = Linear::around(self.dots.iter().map(|d| d.y));
        let x = |v: f64| area.left + area.width * xr.share(v);
        let y = |v: f64| area.bottom() - area.height * yr.share(v);
        let mut svg = Svg::new();
        svg.text(
            (12.0, 24.0),
            Anchor::Start,
            "font-size=\"15\" font-weight=\"bold\"",
            &self.title,
        );
        let grid = format!("stroke=\"{FAINT}\"");
        let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
        for v in xr.ticks() {
            svg.line((x(v), area.top), (x(v), area.bottom()), &grid);
            let text = si(v, &self.x_unit);
            svg.text((x(v), area.bottom() + 16.0), Anchor::Middle, &small, &text);
        }
        for v in yr.ticks() {
            svg.line((area.left, y(v)), (area.right(), y(v)), &grid);
            let text = si(v, &self.y_unit);
            svg.text((area.left - 6.0, y(v) + 4.0), Anchor::End, &small, &text);
        }
        svg.text(
            (area.left + area.width / 2.0, area.bottom() + 36.0),
            Anchor::Middle,
            "font-size=\"12\"",
            &self.x_label,
        );
        svg.text(
            (12.0, area.top - 14.0),
            Anchor::Start,
            "font-size=\"12\"",
            &self.y_label,
        );
        for d in &self.dots {
            svg.element(
                "circle",
                &format!(
                    "cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.4\" fill=\"{}\" fill-opacity=\"0.55\" data-tip=\"{}\"",
                    x(d.x),
                    y(d.y),
                    colour(d.colour),
                    escape(&d.tip)
                ),
            );
        }
        if !self.hull.is_empty() {
            let mut line: Vec<(f64, f64)> = self
                .hull
                .iter()
                .map(|&i| (x(self.dots[i].x), y(self.dots[i].y)))
                .collect();
            line.push(line[0]);
            svg.polyline(&line, &format!("stroke=\"{QUIET}\" stroke-width=\"1.2\""));
        }
        let mark = |svg: &mut Svg, at: Option<usize>, name: &str, horizontal: bool, below: bool| {
            let Some(d) = at.map(|i| &self.dots[i]) else {
                return;
            };
            let dash = format!("stroke=\"{INK}\" stroke-dasharray=\"5 4\"");
            if horizontal {
                svg.line((area.left, y(d.y)), (area.right(), y(d.y)), &dash);
            } else {
                svg.line((x(d.x), area.top), (x(d.x), area.bottom()), &dash);
            }
            svg.element(
                "circle",
                &format!(
                    "cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.6\"",
                    x(d.x),
                    y(d.y)
                ),
            );
            let dy = if below { 18.0 } else { -10.0 };
            svg.text(
                (x(d.x) - 8.0, y(d.y) + dy),
                Anchor::End,
                "font-size=\"12\" font-weight=\"bold\"",
                name,
            );
        };
        mark(&mut svg, self.fastest, "fastest", true, true);
        mark(&mut svg, self.greenest, "greenest", false, false);
        let mut lx = area.left;
        for (i, name) in self.legend.iter().enumerate() {
            svg.element(
                "circle",
                &format!(
                    "cx=\"{lx}\" cy=\"{}\" r=\"4\" fill=\"{}\"",
                    height - 10.0,
                    colour(i)
                ),
            );
            svg.text((lx + 8.0, height - 6.0), Anchor::Start, &small, name);
            lx += 20.0 + 6.2 * name.chars().count() as f64;
        }
        svg.document(width, height, &self.title)
    }
}

/// One bar of a sorted chart from −1 to 1.
#[derive(Clone, Debug)]
pub struct SignedBar {
    pub name: String,
    pub value: f64,
    /// Printed bold.
    pub marked: bool,
    pub tip: String,
}

/// Coefficients from −1 to 1, in the order given.
pub fn signed_bars(title: &str, bars: &[SignedBar]) -> String {
    const WIDTH: f64 = 460.0;
    const ROW: f64 = 20.0;
    const NAMES: f64 = 170.0;
    let height = 56.0 + ROW * bars.len() as f64;
    let half = (WIDTH - NAMES - 60.0) / 2.0;
    let zero = NAMES + half + 8.0;
    let mut svg = Svg::new();
    svg.text(
        (12.0, 22.0),
        Anchor::Start,
        "font-size=\"14\" font-weight=\"bold\"",
        title,
    );
    svg.line(
        (zero, 34.0),
        (zero, height - 14.0),
        &format!("stroke=\"{INK}\""),
    );
    for (i, b) in bars.iter().enumerate() {
        let top = 38.0 + ROW * i as f64;
        let w = half * b.value.abs().min(1.0);
        let left = if b.value < 0.0 { zero - w } else { zero };
        let weight = if b.marked {
            " font-weight=\"bold\""
        } else {
            ""
        };
        svg.text(
            (NAMES - 4.0, top + 12.0),
            Anchor::End,
            &format!("font-size=\"12\"{weight}"),
            &b.name,
        );
        svg.rect(
            left,
            top + 2.0,
            w.max(0.8),
            ROW - 6.0,
            &format!(
                "fill=\"{}\" data-tip=\"{}\"",
                colour(usize::from(b.value < 0.0)),
                escape(&b.tip)
            ),
        );
        svg.text(
            (WIDTH - 4.0, top + 12.0),
            Anchor::End,
            &format!("font-size=\"11\" fill=\"{QUIET}\""),
            &three(b.value),
        );
    }
    svg.document(WIDTH, height, title)
}
