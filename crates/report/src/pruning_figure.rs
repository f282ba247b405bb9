//! How filters prune a search space: the size after each filter, and where in the nest of
//! choices each filter cuts (after Haugen and Kurzak, VISSOFT 2014).

use crate::svg::{Anchor, FAINT, INK, QUIET, Svg, colour, escape};

/// One filter of the funnel, in order.
#[derive(Clone, Debug)]
pub struct Step {
    pub name: String,
    pub soft: bool,
    /// Points after it; `None` when not counted.
    pub after: Option<f64>,
    /// The exact count as text.
    pub label: String,
}

/// What becomes of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Alive,
    /// Rejected by this filter of the funnel.
    Rejected(usize),
    DiesBelow,
}

/// A choice: its ring, and its share of the circle.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub ring: usize,
    pub from: f64,
    pub to: f64,
    pub fate: Fate,
}

#[derive(Clone, Debug, Default)]
pub struct PruningFigure {
    pub title: String,
    /// Points before any filter.
    pub cartesian: Option<f64>,
    pub cartesian_label: String,
    pub steps: Vec<Step>,
    /// Names of the rings, innermost first.
    pub rings: Vec<String>,
    pub slices: Vec<Slice>,
    /// Rings left out for want of room.
    pub cut: bool,
}

const ALIVE: &str = "#2f7d4f";
const DIES: &str = "#c9d3dc";
const BARS: f64 = 560.0;
const CIRCLE: f64 = 420.0;
const TOP: f64 = 48.0;
const ROW: f64 = 22.0;

impl PruningFigure {
    pub fn svg(&self) -> String {
        let mut svg = Svg::new();
        svg.text(
            (12.0, 24.0),
            Anchor::Start,
            "font-size=\"15\" font-weight=\"bold\"",
            &self.title,
        );
        let left = self.funnel(&mut svg);
        let right = if self.slices.is_empty() {
            0.0
        } else {
            self.sunburst(&mut svg);
            TOP + CIRCLE + 34.0
        };
        let width = if right > 0.0 {
            BARS + CIRCLE + 24.0
        } else {
            BARS
        };
        svg.document(width, left.max(right) + 14.0, &self.title)
    }

    /// Bars of the sizes on a logarithmic scale; returns the height used.
    fn funnel(&self, svg: &mut Svg) -> f64 {
        const NAMES: f64 = 200.0;
        let largest = self
            .steps
            .iter()
            .filter_map(|s| s.after)
            .chain(self.cartesian)
            .fold(10.0, f64::max);
        let width = BARS - NAMES - 130.0;
        // One point is a sliver, none is nothing.
        let bar = |n: f64| {
            if n < 1.0 {
                0.0
            } else {
                3.0 + (width - 3.0) * n.ln() / largest.ln()
            }
        };
        let mut y = TOP;
        let mut row = |name: &str, size: Option<f64>, label: &str, fill: &str, note: &str| {
            svg.text(
                (NAMES - 8.0, y + 15.0),
                Anchor::End,
                "font-size=\"12\"",
                name,
            );
            match size {
                Some(n) => {
                    svg.rect(
                        NAMES,
                        y + 3.0,
                        bar(n),
                        ROW - 6.0,
                        &format!(
                            "fill=\"{fill}\" data-tip=\"{}\"",
                            escape(&format!("{name}: {label}"))
                        ),
                    );
                    svg.text(
                        (NAMES + bar(n) + 6.0, y + 15.0),
                        Anchor::Start,
                        &format!("font-size=\"12\" fill=\"{INK}\""),
                        &format!("{label}{note}"),
                    );
                }
                None => {
                    svg.text(
                        (NAMES + 6.0, y + 15.0),
                        Anchor::Start,
                        &format!("font-size=\"12\" fill=\"{QUIET}\""),
                        "not counted",
                    );
                }
            }
            y += ROW;
        };
        row(
            "no filter",
            self.cartesian,
            &self.cartesian_label,
            QUIET,
            "",
        );
        let mut before = self.cartesian;
        for (i, s) in self.steps.iter().enumerate().take(60) {
            let idle = s.after.is_some() && s.after == before;
            row(
                &shorten(&s.name),
                s.after,
                &s.label,
                if idle { FAINT } else { colour(i) },
                if idle {
                    "  rejects none"
                } else if s.soft {
                    "  soft"
                } else {
                    ""
                },
            );
            before = s.after;
        }
        svg.text(
            (NAMES, y + 16.0),
            Anchor::Start,
            &format!("font-size=\"11\" fill=\"{QUIET}\""),
            "points left after each filter, logarithmic",
        );
        y + 24.0
    }

    fn sunburst(&self, svg: &mut Svg) {
        let (cx, cy) = (BARS + CIRCLE / 2.0, TOP + CIRCLE / 2.0);
        let inner = 26.0;
        let ring = (CIRCLE / 2.0 - inner) / self.rings.len().max(1) as f64;
        for s in &self.slices {
            let (r0, r1) = (
                inner + ring * s.ring as f64,
                inner + ring * (s.ring + 1) as f64 - 1.0,
            );
            let fill = match s.fate {
                Fate::Alive => ALIVE,
                Fate::DiesBelow => DIES,
                Fate::Rejected(f) => colour(f),
            };
            let opacity = if matches!(s.fate, Fate::Rejected(_)) {
                0.55
            } else {
                1.0
            };
            svg.element(
                "path",
                &format!(
                    "d=\"{}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"",
                    sector(cx, cy, r0, r1, s.from, s.to)
                ),
            );
        }
        // Ring names on a white ground, straight up from the centre.
        for (i, name) in self.rings.iter().enumerate() {
            let y = cy - inner - ring * (i as f64 + 0.5) + 4.0;
            let text = shorten(name);
            let w = 6.6 * text.chars().count() as f64 + 8.0;
            svg.rect(
                cx - w / 2.0,
                y - 11.0,
                w,
                15.0,
                "fill=\"#ffffff\" fill-opacity=\"0.85\" rx=\"3\"",
            );
            svg.text((cx, y), Anchor::Middle, "font-size=\"11\"", &text);
        }
        let y = TOP + CIRCLE + 18.0;
        let mut x = BARS + 6.0;
        for (fill, text) in [
            (ALIVE, "leads to points"),
            (DIES, "dies deeper"),
            ("", "other colours: the filter that cuts here"),
        ] {
            if !fill.is_empty() {
                svg.rect(x, y - 9.0, 11.0, 11.0, &format!("fill=\"{fill}\""));
                x += 16.0;
            }
            svg.text(
                (x, y),
                Anchor::Start,
                &format!("font-size=\"11\" fill=\"{QUIET}\""),
                text,
            );
            x += 5.9 * text.len() as f64 + 14.0;
        }
        if self.cut {
            svg.text(
                (BARS + 6.0, y + 16.0),
                Anchor::Start,
                &format!("font-size=\"11\" fill=\"{QUIET}\""),
                "deeper levels have too many branches to draw",
            );
        }
    }
}

fn shorten(name: &str) -> String {
    if name.chars().count() <= 28 {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(27).collect();
    short.push('…');
    short
}

fn sector(cx: f64, cy: f64, r0: f64, r1: f64, from: f64, to: f64) -> String {
    use std::f64::consts::TAU;
    // A full circle has no start: two halves.
    if to - from > 0.999 {
        let mid = (from + to) / 2.0;
        return format!(
            "{} {}",
            sector(cx, cy, r0, r1, from, mid),
            sector(cx, cy, r0, r1, mid, to)
        );
    }
    let at = |r: f64, t: f64| {
        let a = t * TAU - TAU / 4.0;
        format!("{:.2} {:.2}", cx + r * a.cos(), cy + r * a.sin())
    };
    let large = u8::from(to - from > 0.5);
    format!(
        "M{} A{r1:.2} {r1:.2} 0 {large} 1 {} L{} A{r0:.2} {r0:.2} 0 {large} 0 {} Z",
        at(r1, from),
        at(r1, to),
        at(r0, to),
        at(r0, from)
    )
}
